"""Natural wording for template sentences: articles, number, sides, lists, places.

Template sentences (paper Sec. E.2.1) are filled with the names of findings and regions; these
functions turn a name into a phrase that reads as a radiologist would write it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_COUNTABLE = _words(
    """effusion pneumothorax hemothorax hydropneumothorax nodule mass lesion opacity fracture hernia
    granuloma cyst bulla pneumatocele infiltrate level sign plaque line tube catheter drain port
    pacemaker defibrillator device stent graft valve pump sheath shunt probe recorder implant band
    plate prosthesis filter marker neurostimulator abnormality deformity aneurysm goiter thymoma
    hematoma abscess fistula tear dislocation rib lobe hemidiaphragm body process fragment cannula
    aorta pseudonodule shadow fold artifact silhouette stimulator contour pad pedicle bronchogram
    pneumonectomy resection transplant thoracotomy mastectomy"""
)
"""Head nouns that take "a" or "an"; all other singular names are mass nouns."""

_PLURAL_WORDS = _words(
    """hila atria bronchi humeri scapulae axillae vertebrae apices hemithoraces emboli bullae
    sequelae pneumothoraces metastases"""
)
_SINGULAR_S = frozenset({"ascites", "pancreas", "diabetes", "pus"})
_PLURAL_OF = {
    "pneumothorax": "pneumothoraces",
    "hemothorax": "hemothoraces",
    "hydropneumothorax": "hydropneumothoraces",
    "bulla": "bullae",
    "prosthesis": "prostheses",
    "mass": "masses",
    "process": "processes",
    "abscess": "abscesses",
}
_HEAD_END = re.compile(r"\s(?:of|seen|by)\s")
_AN_LETTERS = frozenset("AEFHILMNORSX")
_VERTEBRA = re.compile(r"vertebra ([a-z]\d+)$")
_DISTANCE = re.compile(
    r"(?:(?:approximately|about|roughly|nearly|at least|less than|more than) )?"
    r"\d+(?:\.\d+)?(?: ?(?:-|to) ?\d+(?:\.\d+)?)? ?(?:cm|mm|centimeters?|millimeters?)"
    r" (?:above|below|from|beyond|proximal to|distal to|superior to|inferior to|lateral to)"
)
_SPACES = re.compile(r"\s+")
_SPACE_BEFORE_MARK = re.compile(r"\s+([.,;:?!])")
_DOUBLED_WORD = re.compile(r"\b([A-Za-z]+)(?: \1)+\b", re.I)
_MAY_DOUBLE = frozenset({"that", "had"})
_DOUBLED_MARK = re.compile(r"[.,;:?!](?:\s*[.,;:?!])+(?=\s|$)")


@lru_cache(maxsize=4096)
def spoken(name: str) -> str:
    """A finding's or region's name as it is said: without bracketed remarks, vertebrae as "T8"."""
    name = re.sub(r"\s*\([^)]*\)", "", name)
    vertebra = _VERTEBRA.match(name)
    if vertebra:
        return f"{vertebra.group(1).upper()} vertebra"
    return re.sub(r" of (left|right) ", r" of the \1 ", name)


@lru_cache(maxsize=4096)
def is_plural(name: str) -> bool:
    """Whether the head noun of ``name`` is plural."""
    head = _head(name)
    if head in _PLURAL_WORDS:
        return True
    if not head.endswith("s") or head in _SINGULAR_S:
        return False
    return not head.endswith(("ss", "us", "is"))


@lru_cache(maxsize=4096)
def with_article(phrase: str) -> str:
    """``phrase`` with "a" or "an" where its head noun is countable and singular."""
    if is_plural(phrase) or _head(phrase) not in _COUNTABLE:
        return phrase
    return f"{'an' if _vowel_sound(phrase.split()[0]) else 'a'} {phrase}"


@lru_cache(maxsize=4096)
def plural(name: str) -> str:
    """The plural where the head noun is the last word and countable, else the name itself."""
    head = _head(name)
    if is_plural(name) or head not in _COUNTABLE or not name.endswith(head) or " or " in name:
        return name
    if head in _PLURAL_OF:
        end = _PLURAL_OF[head]
    elif head.endswith("y"):
        end = head[:-1] + "ies"
    else:
        end = head + "s"
    return name[: len(name) - len(head)] + end


def finding_phrase(name: str, side: str | None = None, severity: str | None = None) -> str:
    """A noun phrase such as "a small left pleural effusion" or "bilateral pleural effusions"."""
    noun = spoken(name)
    if side == "bilateral":
        noun = plural(noun)
    words = [w for w in (severity, side) if w and w not in noun.split()]
    return with_article(" ".join([*words, noun]))


def listing(items: Sequence[str]) -> str:
    """ "a", "a and b", "a, b, and c"."""
    if len(items) <= 2:
        return " and ".join(items)
    return f"{', '.join(items[:-1])}, and {items[-1]}"


def place(region: str, distances: Sequence[str]) -> str:
    """Where something lies: "in the left lung", "4 cm above the carina", "near the carina"."""
    exact = [d.strip().lower() for d in distances]
    for distance in exact:
        if _DISTANCE.fullmatch(distance):
            return f"{distance} the {spoken(region)}"
    return f"{'near' if exact else 'in'} the {spoken(region)}"


@lru_cache(maxsize=65536)
def sentence(text: str) -> str:
    """``text`` as one clean sentence: single spaces, no doubled words or marks, capital, full stop.

    Words of a report sentence are kept; only an accidental repetition ("the the") goes.
    """
    text = _SPACE_BEFORE_MARK.sub(r"\1", _SPACES.sub(" ", text)).strip(" ,;:-")
    text = _DOUBLED_WORD.sub(_once, text)
    text = _DOUBLED_MARK.sub(_strongest_mark, text)
    if not any(c.isalnum() for c in text):
        return ""
    if text[-1] not in ".?!":
        text += "."
    return text[0].upper() + text[1:]


def filled(text: str, fill: Mapping[str, str]) -> str:
    """A template's wording with its placeholders filled, as one clean sentence."""
    return sentence(text.format_map(fill) if "{" in text else text)


def _once(match: re.Match[str]) -> str:
    return match.group(0) if match.group(1).lower() in _MAY_DOUBLE else match.group(1)


def _strongest_mark(match: re.Match[str]) -> str:
    return next(mark for mark in "?!.;:," if mark in match.group(0))


def _head(name: str) -> str:
    return _HEAD_END.split(name, maxsplit=1)[0].rsplit(" ", 1)[-1].lower()


def _vowel_sound(word: str) -> bool:
    if len(word) > 1 and word[:2].isupper():
        return word[0] in _AN_LETTERS
    word = word.lower()
    return word[0] in "aeio" or (word[0] == "u" and not word.startswith(("uni", "use", "uti")))

"""Words of a sentence and their normal forms.

Reports write one term in many ways: plural or singular, hyphen or space, British or American
spelling, capitals. The phrases of the reference tables and the words of a report go through the
same normal form, so that "Effusions", "effusion" and "EFFUSION" meet; the report's characters
stay reachable through the spans of the words (paper Sec. E.1.2: observations lead back to text).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

_WORD = re.compile(
    r"\d+(?:\.\d+)?|\bb/l\b|\bw/o\b|\bw/(?=\s|[a-z])|\+/-"
    r"|can['\u2019]t\b|[^\W\d_]+(?=n['\u2019]t\b)|n['\u2019]t\b"
    r"|[^\W\d_]+(?:['\u2019]s)?|_+|[^\w\s]",
    re.IGNORECASE,
)
"""A word or a short form with a slash ("w/o"); a "not" drawn into a word is one of its own."""

_IRREGULAR = {
    "&": "and",
    "+": "and",
    "+/-": "possible",
    "apices": "apex",
    "assoc": "associated",
    "atria": "atrium",
    "b/l": "bilateral",
    "bilat": "bilateral",
    "bronchi": "bronchus",
    "bullae": "bulla",
    "caecum": "cecum",
    "calibre": "caliber",
    "calculi": "calculus",
    "can't": "cannot",
    "centre": "center",
    "centred": "centered",
    "consol": "consolidation",
    "diagnoses": "diagnosis",
    "disk": "disc",
    "disks": "disc",
    "dilatation": "dilation",
    "dilatations": "dilation",
    "distention": "distension",
    "eff": "effusion",
    "effs": "effusion",
    "emboli": "embolus",
    "fx": "fracture",
    "fxs": "fracture",
    "fibre": "fiber",
    "foci": "focus",
    "granulomata": "granuloma",
    "hila": "hilum",
    "humeri": "humerus",
    "indices": "index",
    "mod": "moderate",
    "n't": "not",
    "poss": "possible",
    "prob": "probable",
    "orthopaedic": "orthopedic",
    "paediatric": "pediatric",
    "sm": "small",
    "sulci": "sulcus",
    "thrombi": "thrombus",
    "tumour": "tumor",
    "tumours": "tumor",
    "vertebrae": "vertebra",
    "vol": "volume",
    "vols": "volume",
    "w/": "with",
    "w/o": "without",
}
_BRITISH = re.compile(r"(?<=al|er|an|ur|in|og)is(?=(e|ed|es|ing|ation)$)")
"""The "s" of "demineralised" and "visualisation", which is a "z" in American spelling."""
_ORDINALS = ("st", "nd", "rd", "th")
_SHORT_SIDES = {"L": "left", "LT": "left", "R": "right", "RT": "right"}
_KEPT = frozenset(("has", "was", "is", "its", "this", "as", "us", "gas", "lens", "always", "thus"))


@dataclass(frozen=True, slots=True)
class Word:
    """A word or punctuation mark; [start, end) in characters of the report."""

    text: str
    norm: str
    start: int
    end: int
    supplied: bool = False  # left out by the report; the span is of the word that stands for it


def word_set(text: str) -> frozenset[str]:
    """The words of ``text``, for the small closed classes of English."""
    return frozenset(text.split())


def words(text: str, offset: int = 0) -> list[Word]:
    """Words of ``text``, spans shifted by ``offset``; hyphens and slashes between words vanish."""
    found = []
    for match in _WORD.finditer(text):
        raw = match.group()
        if raw in "-/\u2010\u2011" and _between_letters(text, match.start()):
            continue
        found.append(Word(raw, normal_form(raw), offset + match.start(), offset + match.end()))
    return found


def with_sides(found: Sequence[Word]) -> list[Word]:
    """``found`` with "Lt", "Rt" and a single "L" or "R" in front of a word read as sides.

    "L1" is a vertebra and "R/O" a question; "L > R" compares sides.
    """
    spelled = []
    for at, word in enumerate(found):
        side = _SHORT_SIDES.get(word.text.upper())
        if side is None or (len(word.text) == 1 and not _is_side(found, at)):
            spelled.append(word)
        else:
            spelled.append(replace(word, norm=side))
    return spelled


def _is_side(found: Sequence[Word], at: int) -> bool:
    word = found[at]
    near = [found[i] for i in (at - 1, at + 1) if 0 <= i < len(found)]
    if word.text.islower():
        return False
    if any(w.text in "<>" for w in near):
        return True
    after = found[at + 1] if at + 1 < len(found) else None
    if after is not None and after.start > word.end and after.text.isdigit():
        return at + 2 < len(found) and found[at + 2].norm in _ORDINALS  # "L 5th rib"
    return (
        after is not None
        and after.start > word.end
        and len(after.text) > 1
        and (after.text.isalpha())
    )


def _between_letters(text: str, at: int) -> bool:
    return 0 < at < len(text) - 1 and text[at - 1].isalnum() and text[at + 1].isalnum()


@lru_cache(maxsize=20_000)
def normal_form(word: str) -> str:
    """Lower case, singular, American spelling; the same function serves tables and reports."""
    form = word.lower().replace("\u2019", "'").removesuffix("'s")
    if form in _IRREGULAR:
        return _IRREGULAR[form]
    if form.startswith(("oedem", "oesoph")):
        form = form[1:]
    elif form.startswith("haem"):
        form = "hem" + form[4:]
    if "is" in form:
        form = _BRITISH.sub("iz", form)
    if len(form) <= 3 or form in _KEPT:
        return form
    for ending, singular in (
        ("thoraces", "thorax"),
        ("stases", "stasis"),
        ("tases", "tasis"),
        ("ies", "y"),
        ("sses", "ss"),
        ("xes", "x"),
        ("ches", "ch"),
        ("shes", "sh"),
    ):
        if form.endswith(ending):
            return form.removesuffix(ending) + singular
    if form.endswith("s") and not form.endswith(("ss", "us", "is")):
        return form[:-1]
    return form

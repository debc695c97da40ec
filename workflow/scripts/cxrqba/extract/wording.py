"""Name and summary sentence of an observation, in the report's words without the change.

Both stay close to the clause (paper Sec. E.1.2); what changed since the prior study moves to the
change sentence, together with the words that only introduce it ("has ... in size", "since the
prior study"). A finding that is gone is told as absent: "resolved" is a change.
"""

from __future__ import annotations

import re

from cxrqba.extract.lexicon import FINITE, JOINED, PREPOSITIONS, SIDES, Reading
from cxrqba.extract.links import SEPARATORS
from cxrqba.extract.matcher import ARTICLES, Match
from cxrqba.extract.reach import PARTICIPLES
from cxrqba.extract.scope import Claim
from cxrqba.extract.words import normal_form, word_set
from cxrqba.extract.zones import PASSIVE, Zone, surface

_OPENERS = word_set(
    ", and or nor with but there is are was were has have been also again : ; now which this these "
    "that / noted seen however without no ) [ to versus vs of for such as any after by given "
    "following"
)
_CLOSERS = word_set(
    ", and or nor with is are was were has have been in of : ; the a an which ( / remain appear "
    "to since from no without on at by not as . may could might be versus vs for such its whose "
    "well both that this these those"
)
_MARKS = ' ,;:."\u201c\u201d'
"""Marks that neither open nor end a name."""
_LOOSE_ENDS = word_set(", and or but for with which that ; .")
_BEFORE_CHANGE = word_set(
    "is are was were has have been be remain appear slightly significantly minimally mildly "
    "markedly moderately grossly essentially overall relatively somewhat now again interval the "
    "an a slight mild moderate marked significant minimal not otherwise probably largely mostly "
    "further continued"
)
_HOW_MUCH = word_set(
    "slightly significantly minimally mildly markedly moderately substantially considerably "
    "somewhat greatly"
)
_SINCE = word_set("since from compared relative than")
_PRIOR = word_set("prior previous last earlier preceding recent comparison")
_STUDY = word_set("study exam examination radiograph film image chest x ray xray ct date")
_AFTER_CHANGE = re.compile(
    r"in (?:the |overall )?(?:size|extent|appearance|severity|position|interval|number|degree)"
)
_REMOVED = re.compile(r"_+$|xx+$|\d")
_ENDS = word_set(", . ; ) and or with but on of from at dated")
_POSED = ("position", "configuration", "location", "alignment")
_NOMINAL = frozenset(("in", "of"))
_ABSENT = {"negative": "No", "unlikely": "No definite"}


def change_words(reading: Reading, changes: list[Match]) -> set[int]:
    """Indices of the words that tell a change, with the words that only introduce it."""
    gone: set[int] = set()
    for change in changes:
        first, last = change.first, change.last
        while first > 0 and reading.norm(first - 1) in _BEFORE_CHANGE:
            if reading.norm(first - 1) == "no":
                break
            first -= 1
        while reading.norm(last) in _HOW_MUCH:
            last += 1
        rest = " ".join(reading.norm(i) for i in range(last, last + 4))
        following = _AFTER_CHANGE.match(rest)
        if following:
            last += len(following.group().split())
        elif reading.norm(last - 1) in _PRIOR and reading.norm(last) in _STUDY:
            while reading.norm(last) in _STUDY:
                last += 1
        elif reading.norm(last) in _POSED and reading.norm(first - 1) == "in":
            first, last = first - 1, last + 1
        elif reading.norm(last) in _NOMINAL and _is_noun(reading, change):
            last += 1
        gone.update(range(first, last))
    return gone | prior_words(reading)


def _is_noun(reading: Reading, change: Match) -> bool:
    ending = reading.norm(change.last - 1)
    return ending.endswith(("ment", "tion", "sion", "ance", "crease", "change", "ing", "al"))


def prior_words(reading: Reading) -> set[int]:
    """Words that point at the prior study: "compared to the prior radiograph from ..."."""
    gone: set[int] = set()
    n = len(reading.words)
    for i in range(n):
        if reading.norm(i) == "previously" and reading.norm(i + 1) in (*PARTICIPLES, "described"):
            gone.update((i, i + 1))
        comma = _lead_in_end(reading, i)
        if comma is not None:
            gone.update(range(comma))
        if reading.norm(i) not in _SINCE:
            continue
        k = i + 1
        than = reading.norm(i) == "than"
        while not than and k < n and _REMOVED.match(reading.norm(k)):  # "since ___"
            k += 1
            gone.update(range(i, k))
        while k < n and k < i + 5 and reading.norm(k) not in _PRIOR:
            k += 1
        if k >= n or reading.norm(k) not in _PRIOR:
            continue
        prior = k
        while k < n and (reading.norm(k) in _PRIOR or reading.norm(k) in _STUDY):
            k += 1
        if k == prior + 1 and k < n and reading.norm(k) not in _ENDS:
            continue  # "clips from prior surgery" compares nothing
        first = i - 1 if i and reading.norm(i - 1) in ("as", "when") else i
        gone.update(range(first, k))
    return gone


def _lead_in_end(reading: Reading, at: int) -> int | None:
    """Behind "as compared to the study of ___," that opens a sentence; else None."""
    if at > 2 or reading.norm(at) not in ("compared", "comparison"):
        return None
    ends = [i for i in range(at, min(at + 12, len(reading.words))) if reading.norm(i) == ","]
    return ends[0] + 1 if ends else None


def item_text(reading: Reading, first: int, last: int, dropped: set[int]) -> str:
    """Words [first, last) without ``dropped``, trimmed of words that only join or introduce."""
    kept = [i for i in range(first, last) if i not in dropped]
    while kept and reading.norm(kept[0]) in _OPENERS | ARTICLES:
        kept.pop(0)
    while kept and (reading.norm(kept[-1]) in _CLOSERS or reading.norm(kept[-1]) in PARTICIPLES):
        kept.pop()
    return _join(reading, kept)


def _join(reading: Reading, kept: list[int]) -> str:
    parts: list[str] = []
    start = 0
    for i in range(1, len(kept) + 1):
        if i == len(kept) or kept[i] != kept[i - 1] + 1:
            parts.append(surface(reading, kept[start], kept[i - 1] + 1))
            start = i
    text = " ".join(p for p in parts if p)
    text = re.sub(r"\s+([,.;:])", r"\1", text)
    return re.sub(r"([,;:])(?:\s*[,;:])+", r"\1", text).strip(_MARKS)


def name_of(
    reading: Reading, finding: Match, zone: Zone, claim: Claim, changes: list[Match]
) -> str:
    """Short name of an observation: its claim and its own words, without the change."""
    dropped = change_words(reading, changes)
    for cue in claim.cues:
        dropped.update(range(cue.first, cue.last))
    if claim.link is not None:
        dropped.update(range(claim.link.first, claim.link.last))
    dropped -= set(range(finding.first, finding.last))
    first, last = zone.own
    leading = [c for c in claim.cues[-1:] if first <= c.first < finding.first]
    if leading and not _is_lead_in(reading, first, leading[0].first):
        first = min(leading[0].last, finding.first)
    if claim.link is not None:
        first = max(first, min(claim.link.last, finding.first))
    dropped |= _passive(reading, finding.last, last)
    text = item_text(reading, first, last, dropped)
    if finding.skipped == JOINED:  # "... and tortuous": the structure stands elsewhere
        text = str(finding.value.finding.name)
    cue_text = surface(reading, claim.cues[-1].first, claim.cues[-1].last) if claim.cues else ""
    if claim.cues and any(
        reading.norm(i) in SEPARATORS for i in range(claim.cues[-1].last, finding.first)
    ):
        cue_text = ""  # "no focal X or Y" is no "no focal Y"
    return sentence_case(claimed(claim, text, cue_text, finding))


def _passive(reading: Reading, first: int, last: int) -> set[int]:
    """Words of "is seen" in "opacity *is seen* at the left base"; none without a place behind."""
    end = first
    while end < last and reading.norm(end) in PASSIVE:
        end += 1
    is_placed = end < last and reading.norm(end) in PREPOSITIONS
    said = any(reading.norm(i) in PARTICIPLES for i in range(first, end))
    return set(range(first, end)) if is_placed and said else set()


def _is_lead_in(reading: Reading, first: int, last: int) -> bool:
    """Whether words [first, last) give the side or region of what a cue then speaks of."""
    if any(reading.norm(i) in FINITE or reading.norm(i) == ":" for i in range(first, last)):
        return False
    return any(reading.norm(i) in SIDES for i in range(first, last)) or any(
        first <= r.first and r.last <= last for r in reading.regions
    )


def claimed(claim: Claim, text: str, cue: str, finding: Match) -> str:
    """``text`` with what is claimed of it: "No ...", "Likely ..."; ``cue`` as the report has it."""
    inner = any(s in ("not", "neither") for s in finding.skipped)
    if claim.level in _ABSENT and not inner:
        before = bool(claim.cues) and claim.cues[-1].last <= finding.first
        before = before and claim.cues[-1].value == claim.level
        own = (
            before and re.match(r"no (?!longer)\w+", cue.lower()) and "evidence" not in cue.lower()
        )
        return f"{cue if own else _ABSENT[claim.level]} {decapitalised(text)}"
    if claim.level == "cannot_exclude":
        return f"{text} cannot be excluded"
    if claim.level == "indeterminate":
        return f"{text}, not well assessed"
    hedged = {"likely": "Likely", "possible": "Possible"}.get(claim.level)
    inside = any(s in ("likely", "probably", "may", "possibly") for s in finding.skipped)
    if hedged and not inside and not text.lower().startswith(("likely", "possibl", "probab")):
        return f"{hedged} {decapitalised(text)}"
    return text


def summary_of(name: str, clause_text: str, is_alone: bool) -> str:
    """A full sentence: the clause where it tells this observation only, else the name."""
    text = clause_text if is_alone else name
    return sentence_case(text.strip(_MARKS)) + "."


def clause_text(reading: Reading, clause: tuple[int, int]) -> str:
    """The clause as written, without a number or conjunction in front."""
    first, last = clause
    while first < last:
        numbered = reading.norm(first).isdigit() and reading.norm(first + 1) in (".", ")")
        if not numbered and reading.norm(first) not in (",", "and", "but", ".", ":", ")"):
            break
        first += 1
    while first < last and reading.norm(last - 1) in _LOOSE_ENDS:
        last -= 1
    return surface(reading, first, last).strip(_MARKS)


def singular(text: str) -> str:
    """``text`` with its last word in the singular."""
    head, _, last = text.rpartition(" ")
    return f"{head} {normal_form(last)}".strip() if last.islower() else text


def decapitalised(text: str) -> str:
    """Lower the first letter, unless the word is an abbreviation or a name with capitals."""
    word = text.split(" ", 1)[0]
    return text[:1].lower() + text[1:] if word[1:].islower() or len(word) == 1 else text


def sentence_case(text: str) -> str:
    """Raise the first letter."""
    return text[:1].upper() + text[1:]


def has_verb(reading: Reading, first: int, last: int) -> bool:
    """Whether words [first, last) contain a finite verb."""
    return any(reading.norm(i) in FINITE for i in range(first, last))

"""Clauses of a sentence and what they say of a word in them: denied, doubted, silent, which side.

Polarity comes from a look-around between clause boundaries, sides and zones from the nearest words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from cxrqba.judge.words import sides_of, words

Polarity = Literal["pos", "hedged", "weak_neg", "neg", "silent"]
"""silent: named, but nothing is asserted (history, recommendation, \"no change in\")."""

NEGATORS = words("no nothing nil without not nor neither cannot absent denies never")
LIMITS = words("large significant gross sizable sizeable new acute other additional further")
"""Words that narrow a denial: "no large effusion" leaves room for a small one."""
HEDGES = words(
    "possible possibly may might could questionable question questioned perhaps potentially "
    "potential equivocal borderline versus vs indeterminate"
)
_BREAKS = words("but however although though except whereas nevertheless yet otherwise")
_VERBS = words(
    "is are was were has have had remains remain shows show demonstrates demonstrate appears "
    "appear persists persist projects project lies terminates terminate ends measures there"
)
_EMPTY_OF = words("free negative clear absence lack resolution removal clearance devoid")
_STARTS = words("the there a an this these heart lungs")
_NO_CHANGE = re.compile(
    r"\b(?:no|without|not) (?:(?:interval|significant\w*|appreciabl\w+|substantial\w*|definite\w*"
    r"|major|relevant|great\w*|other|overall|obvious\w*|gross\w*|short|term|much|further) )*"
    r"(?:change|changed|increase|decrease|increased|decreased)\b"
    r"|\bnot only\b|\bno longer as\b"
)
_NOT_EXCLUDED = re.compile(
    r"\b(?:cannot|can not|could not|not|difficult to|unable to|impossible to)(?: \w+){0,2} "
    r"(?:exclud\w+|ruled? out|determined|assessed|evaluated)\b|\bnot excluded\b|\bwhether\b"
)
_LEFT_OPEN = words("exclude excluded rule ruled determined assessed evaluated")
_GONE_AFTER = re.compile(
    r"^(?:removal|withdrawal|out)\b"
    r"|^(?:: )?(?:none|nil|absent|negative|not (?:yet|seen|identified|present|visible))\b"
    r"|^(?:\w+ ){0,5}?"
    r"(?:(?:is|are|was|were|be|been) (?:\w+ )?(?:absent|excluded|gone|negative|out)\b"
    r"|(?:has|have|had) (?:\w+ ){0,2}?"
    r"(?:resolved|cleared|disappeared|vanished|gone|melted away|resorbed|reabsorbed"
    r"|(?:been )?withdrawn|been removed|been taken out)\b"
    r"|(?:is|are) no longer\b|no longer\b"
    r"|not (?:\w+ )?(?:seen|identified|present|visible|evident)\b"
    r"|(?:is|are|was|were) (?:resolved|removed)\b|resolved\b|ruled out\b|: (?:none|no|absent)\b)"
)
_GONE_BEFORE = re.compile(
    r"\b(?:absence|lack|resolution|removal|clearance|free|clear|negative) (?:of|for|from) "
    r"(?:\w+ ){0,3}$|\b(?:resolved|cleared|removed) (?:\w+ ){0,2}$"
)
_SILENT_BEFORE = re.compile(
    r"\b(?:history of|h o|hx of|rule out|r o|evaluate for|evaluation for|assess for|concern for"
    r"|recommend\w*|correlat\w+ (?:with|for)|follow ?up (?:of|for|to)|to exclude|to confirm"
    r"|if (?:there is|clinical\w*)|prior|previously seen|status post|check for|look for|exclude"
    r"|screen for)(?: \w+){0,4} $|\bif (?:\w+ ){0,2}$"
)
_HEDGED_AFTER = re.compile(
    r"^(?:\w+ ){0,4}?(?:(?:, )?if (?:present|any)"
    r"|(?:is|are) (?:possible|questioned|suspected)|cannot be|not excluded"
    r"|(?:may|might|could) be (?:present|considered)|difficult to exclude|is not excluded)\b"
)


class Marks:
    """Clause boundaries and negation of one sentence, token by token."""

    def __init__(self, raw: Sequence[str], text: str):
        self.raw = raw
        self.negated = [False] * len(raw)
        self.weak = [False] * len(raw)
        self.clause = [0] * len(raw)
        self.chunk = [0] * len(raw)
        no_change = _NO_CHANGE.search(text) is not None
        active = weak = verb = False
        clause = chunk = 0
        for i, word in enumerate(raw):
            following = raw[i + 1 : i + 6]
            if word in _BREAKS or word == ";":
                active, clause, chunk, verb = False, clause + 1, chunk + 1, False
            elif word in (":", "(", ")"):  # "heart: normal" is one statement
                active, chunk = False, chunk + 1
            elif word in (",", "and", "or", "with", "which", "while"):
                chunk += 1
                # "no effusion or pneumothorax is seen", "the drain and the tube have been removed"
                listed = not verb and not (active and word != "or" and _STARTS & {*following[:1]})
                if word in ("which", "while") or (not listed and _new_clause(following)):
                    active, clause, verb = False, clause + 1, False
            verb = verb or word in _VERBS
            self.negated[i] = active
            self.weak[i] = weak and active
            self.clause[i] = clause
            self.chunk[i] = chunk
            if word in ("of", "from", "for") and raw[i - 1] in _EMPTY_OF and i:
                active, weak = True, False
            if word in NEGATORS:
                leading_answer = i == 0 and raw[1:2] == [","]
                about_change = no_change and "chang" in " ".join(following[:3])
                left_open = any(w in _LEFT_OPEN for w in following[:4])
                if not (leading_answer or about_change or left_open):
                    active, weak = True, following[:1] != [] and following[0] in LIMITS
        self.no_change = no_change


def _new_clause(following: Sequence[str]) -> bool:
    """Whether the words after a comma or "and" start a clause of their own, with a verb."""
    for word in following:
        if word in (",", "and", "or", ".", ";"):
            return False
        if word in _VERBS:
            return True
    return False


def polarity(start: int, end: int, marks: Marks, before: str, after: str) -> Polarity:
    """What is said of the tokens [start, end); ``before``, ``after``: the rest of their clause."""
    if _SILENT_BEFORE.search(before):
        return "silent"
    if _GONE_AFTER.match(after):
        return "hedged" if _HEDGED_AFTER.match(after) else "neg"
    if _GONE_BEFORE.search(before):
        return "neg"
    if marks.negated[start] or marks.negated[end - 1]:
        return "weak_neg" if marks.weak[end - 1] else "neg"
    near = before.split()[-6:]
    if "unlikely" in near or after.startswith(("is unlikely", "unlikely", "are unlikely")):
        return "weak_neg"
    if _NOT_EXCLUDED.search(f"{before}{' '.join(marks.raw[start:end])} {after}"):
        return "hedged"
    if _HEDGED_AFTER.match(after) or after.startswith("?"):
        return "hedged"
    if any(w in HEDGES or w == "?" for w in near):
        return "hedged"
    return "silent" if marks.no_change and not after and "in" in near else "pos"


def chunk_of(marks: Marks, position: int) -> tuple[int, int]:
    """[start, end) of the piece between commas and "and" that holds a token."""
    number = marks.chunk[position]
    return marks.chunk.index(number), len(marks.chunk) - marks.chunk[::-1].index(number)


def near_sides(
    raw: Sequence[str], marks: Marks, first: int, last: int, start: int, end: int
) -> frozenset[str]:
    """Sides in the finding's own part of the clause, else before it, else after it."""
    low, high = chunk_of(marks, start)
    own = sides_of(raw[low : max(high, end)])
    if own:
        # "on the right and left": the other side follows behind "and"
        tail = raw[high : high + 2] if raw[high : high + 1] in (["and"], ["or"]) else []
        return own | (sides_of(tail) if len(tail) == 2 and high + 2 in (last, len(raw)) else own)
    before = sides_of(raw[first:low])
    return before if len(before) == 1 else (sides_of(raw[high:last]) or before)

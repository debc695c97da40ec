"""Clauses that take back or weaken what the clause before them said.

"Pneumonia was considered *but is thought unlikely*": a clause without a subject of its own sets the
claim of the finding it goes on about.
"""

from __future__ import annotations

from cxrqba.extract.drafts import ASSERTING, Clause, Draft
from cxrqba.extract.matcher import ARTICLES
from cxrqba.extract.words import word_set

_HESITATING = ARTICLES | word_set(
    "is are was were has have been thought felt considered deemed judged now"
)
_RETRACTING = ("negative", "unlikely", "likely", "possible", "cannot_exclude")


def taken_back(clause: Clause, target: Draft) -> bool:
    """Whether "... but is thought unlikely", said of ``target``, sets its level.

    The clause has no subject and begins with a cue that would stand behind a finding, or ends with
    one that would stand before it.
    """
    reading = clause.reading
    at = clause.first
    while at < clause.last and reading.norm(at) in _HESITATING:
        at += 1
    cues = [
        c
        for c in (*reading.after, *reading.before)
        if clause.first <= c.first <= at < c.last <= clause.last and c.value in _RETRACTING
    ]
    if not cues or target.level not in ASSERTING:
        return False
    cue = max(cues, key=lambda c: c.last - c.first)
    if cue.last < clause.last and reading.norm(cue.last)[:1].isalpha() and cue in reading.before:
        return False
    target.level = str(cue.value)
    target.spans = sorted({*target.spans, *clause.spans([(cue.first, cue.last)])})
    return True

"""Clauses of a sentence: the stretches of words that make a statement of their own.

A conjunction that starts a new subject ("no effusion, but the heart is enlarged") ends a clause,
one that goes on with a list does not.
"""

from __future__ import annotations

from cxrqba.extract.lexicon import ADVERBS, ALTERNATIVES, FINITE, Reading
from cxrqba.extract.matcher import ARTICLES
from cxrqba.extract.words import word_set, words

MAX_WORDS = 250
"""Words without a stop from which a text is no sentence: a claim in it could be anybody's."""
_LONG = 1000
"""Characters up to which a sentence is read at once."""
_STOPS = (".", ";", "!")
DANGLING = word_set(
    "suggest of for no without to with and or nor the a an suggesting versus vs associated"
)
"""Words that wait for what follows, so that a full stop behind them ends nothing."""
PLURAL_VERBS = frozenset(("have", "are", "were"))


_SHORT_TITLE = 5


def pieces(text: str) -> list[tuple[int, int]]:
    """[start, end) of the pieces in which a sentence is read; cut at stops, so no claim is cut.

    The time to read a piece grows faster than its length, so long sentences are read in pieces.
    """
    if len(text) <= _LONG:
        return [(0, len(text))]
    found: list[tuple[int, int]] = []
    start = 0
    for word in words(text):
        if word.norm in _STOPS:
            if found and word.end - found[-1][0] <= _LONG:
                found[-1] = (found[-1][0], word.end)
            else:
                found.append((start, word.end))
            start = word.end
    return [*found, (start, len(text))] if text[start:].strip() else found


def clauses(reading: Reading) -> list[tuple[int, int]]:
    """Word ranges of the clauses, in order; separators between clauses belong to none."""
    found: list[tuple[int, int]] = []
    for first, last in _segments(reading):
        start = first
        verbs = [i for i in range(first, last) if reading.norm(i) in FINITE]
        previous = -1
        for verb in verbs:
            if verb < start:
                continue
            at = _own_subject(reading, start, previous, verb)
            if at is not None:
                found.append((start, at))
                start = at
                while start < last and reading.norm(start) in (",", "and"):
                    start += 1
            previous = verb
        found.append((start, last))
    parts = [part for clause in found for part in _relative_parts(reading, *clause)]
    return [(a, b) for a, b in parts if a < b]


def _relative_parts(reading: Reading, first: int, last: int) -> list[tuple[int, int]]:
    """Cut "which has decreased, with a small B" behind what it tells of the finding before."""
    if reading.norm(first - 1) != "which":
        return [(first, last)]
    named = next((f.first for f in reading.findings if first <= f.first < last), last)
    joints = [i for i in range(first, named) if reading.norm(i) in (",", "with", "and")]
    told = (*reading.changes, *reading.regions)
    if not joints or not any(first <= m.first and m.last <= joints[0] for m in told):
        return [(first, last)]
    return [(first, joints[0]), (joints[0], last)]


def _segments(reading: Reading) -> list[tuple[int, int]]:
    """Split at semicolons, full stops and words like "but"."""
    cuts: list[tuple[int, int]] = [(m.first, m.last) for m in reading.terminators]
    start = 0
    for i, word in enumerate(reading.words):
        title = word.norm == ":" and i - start > _SHORT_TITLE
        if word.norm == "." and reading.norm(i - 1) in DANGLING:
            continue  # "no cavity to suggest. active tuberculosis": a slip of the typist
        if word.norm in _STOPS or title:
            cuts.append((i, i + 1))
            start = i + 1
        elif word.norm == "?" and i and reading.words[i - 1].end == word.start:
            cuts.append((i + 1, i + 1))  # "effusion?" is a question; "?effusion" opens one
            start = i + 1
    segments, start = [], 0
    for first, last in sorted(cuts):
        segments.append((start, first))
        start = max(start, last)
    segments.append((start, len(reading.words)))
    return [(a, b) for a, b in segments if a < b]


def _own_subject(reading: Reading, start: int, previous: int, verb: int) -> int | None:
    """Where the clause of ``verb`` begins, if it has a subject of its own behind a conjunction."""
    places = [
        i
        for i in range(max(start + 1, previous + 1), verb - 1)
        if reading.norm(i) in (",", "and")
        and not any(reading.norm(k) in ALTERNATIVES for k in range(i, verb))
    ]
    if not places:
        return None
    at = places[-1]
    if reading.norm(at) == "and" and reading.norm(at - 1) == ",":
        at -= 1
    while True:  # "heart and mediastinum are normal" has one subject
        earlier = [p for p in places if p < at and reading.norm(p - 1) != ","]
        if not earlier or not _only_structure(reading, earlier[-1] + 1, at):
            break
        at = earlier[-1]
    after = at + 1 + (reading.norm(at + 1) == "and")
    if all(reading.norm(i) in (*ADVERBS, "and", "then") for i in range(after, verb)):
        return None  # "has been advanced and now terminates": the same subject
    if previous < start and not _says_something(reading, start, at):
        return None
    named = any(after <= m.first and m.last <= verb for m in reading.findings)
    if previous < start and named and reading.norm(verb) in PLURAL_VERBS:
        return None  # "the tube, the drain and the line have been removed": one list, one verb
    complete = previous >= start or reading.norm(start) in ("no", "without", "negative")
    opens = reading.norm(after) in (*ARTICLES, "there")
    return at if complete or opens else None


def _says_something(reading: Reading, first: int, last: int) -> bool:
    """Whether words [first, last) are more than a place ("in the left base, ...")."""
    return any(
        first <= m.first and m.last <= last for m in (*reading.findings, *reading.predicates)
    )


def _only_structure(reading: Reading, first: int, last: int) -> bool:
    rest = [i for i in range(first, last) if reading.norm(i) not in (*ARTICLES, ",", "and")]
    return bool(rest) and all(any(m.first <= i < m.last for m in reading.structures) for i in rest)

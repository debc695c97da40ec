"""What a text says about which finding: the rules judge's own reading (paper Sec. 3.3, E.3).

A judge is worth something only if it can disagree with what it judges. It therefore reads texts by
itself, with its own words (``resources/judge``): neither the tables, the matcher, the scope rules
nor the side rules of the extraction have a part in it. The same reading is applied to reports,
questions and answers, so that what both say is compared like with like.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from cxrqba.judge.clauses import HEDGES, LIMITS, NEGATORS, Marks, Polarity, chunk_of, near_sides
from cxrqba.judge.clauses import polarity as polarity_of
from cxrqba.judge.phrases import Hit, Phrases
from cxrqba.judge.vocabulary import Vocabulary
from cxrqba.judge.words import (
    FUNCTION_WORDS,
    SEVERITIES,
    normalise,
    plain,
    report_sentences,
    sides_of,
    split_sentences,
    stem,
    tokenise,
    words,
    zones_of,
)

_CACHED = 30_000
"""Texts remembered; the same few thousand come up again and again."""


@dataclass(frozen=True, slots=True)
class Mention:
    """One finding named in a text and what is said of it."""

    finding: str
    polarity: Polarity
    sides: frozenset[str]  # subset of {"left", "right"}; empty: none given
    zones: frozenset[str]  # subset of {"upper", "middle", "lower"}
    severities: frozenset[str]  # subset of {"mild", "moderate", "severe"}
    limits: frozenset[str]  # words such as "large", "acute" that narrow a denial
    regions: frozenset[str]  # regions named in the same clause


@dataclass(frozen=True, slots=True)
class Normal:
    """A statement that a region is normal or clear, or (``abnormal``) that it is not."""

    regions: frozenset[str]
    groups: frozenset[str]
    sides: frozenset[str]
    abnormal: bool
    hedged: bool  # "there may be an abnormality"


@dataclass(frozen=True, slots=True)
class Reading:
    """All that one sentence or short text says."""

    tokens: tuple[str, ...]  # content words, stemmed; a minus sign before what is negated
    mentions: tuple[Mention, ...]
    normals: tuple[Normal, ...]
    regions: frozenset[str]
    groups: frozenset[str]
    sides: frozenset[str]
    words: int
    vocabulary: frozenset[str]  # the tokens as a set
    said: frozenset[Mention]  # the mentions as a set


@dataclass(frozen=True, slots=True)
class ReportReading:
    """A report as its sentences, each with the rank of its block."""

    sentences: tuple[Reading, ...]
    ranks: tuple[int, ...]  # 3 addendum, 2 impression, 1 elsewhere
    by_finding: dict[str, list[tuple[int, int, Mention]]] = field(hash=False)
    """finding -> (rank, sentence number, mention)"""
    quotes: frozenset[tuple[str, ...]]
    """the tokens of each sentence"""


class Reader:
    """Reads texts with the words of a vocabulary; readings are remembered by text."""

    def __init__(self, vocabulary: Vocabulary):
        self._phrases = Phrases(vocabulary)
        self._readings: dict[str, Reading] = {}

    def read(self, text: str) -> Reading:
        """Read one short text (a sentence, a question, an answer part)."""
        reading = self._readings.get(text)
        if reading is None:
            if len(self._readings) >= _CACHED:
                self._readings.clear()
            reading = self._readings[text] = self._read(text)
        return reading

    def read_report(self, report: str) -> ReportReading:
        """Read a report sentence by sentence, leaving out indication, history and examination."""
        sentences: list[Reading] = []
        ranks: list[int] = []
        by_finding: dict[str, list[tuple[int, int, Mention]]] = {}
        for rank, sentence in report_sentences(report):
            reading = self.read(sentence)
            for mention in reading.mentions:
                by_finding.setdefault(mention.finding, []).append((rank, len(sentences), mention))
            sentences.append(reading)
            ranks.append(rank)
        quotes = frozenset(s.tokens for s in sentences)
        return ReportReading(tuple(sentences), tuple(ranks), by_finding, quotes)

    def _read(self, text: str) -> Reading:
        mentions: list[Mention] = []
        normals: list[Normal] = []
        content: list[str] = []
        regions: set[str] = set()
        groups: set[str] = set()
        sides: set[str] = set()
        number = 0
        for sentence in split_sentences(text):
            normal = normalise(sentence)
            raw = tokenise(plain(normal))
            stems = [stem(t) for t in raw]
            number += sum(t[0].isalpha() for t in raw)
            hits = self._phrases.hits(stems)
            regions.update(h.name for h in hits if h.kind == "region")
            groups.update(h.name for h in hits if h.kind == "group")
            sides |= sides_of(raw)
            marks = Marks(raw, normal)
            content += [
                f"-{s}" if negated else s
                for s, t, negated in zip(stems, raw, marks.negated, strict=True)
                if t not in FUNCTION_WORDS and t not in NEGATORS
            ]
            mentions += [_mention(h, hits, raw, marks) for h in hits if h.kind == "finding"]
            normals += _normals(raw, hits, marks)
        return Reading(
            tokens=tuple(content),
            mentions=tuple(dict.fromkeys(mentions)),
            normals=tuple(normals),
            regions=frozenset(regions),
            groups=frozenset(groups),
            sides=frozenset(sides),
            words=number,
            vocabulary=frozenset(content),
            said=frozenset(mentions),
        )


def _mention(hit: Hit, hits: Sequence[Hit], raw: Sequence[str], marks: Marks) -> Mention:
    start, end = hit.start, hit.end
    clause = marks.clause[start]
    first = marks.clause.index(clause)
    last = len(raw) - marks.clause[::-1].index(clause)
    before = " ".join(raw[first:start]) + " " if start > first else ""
    after = " ".join(raw[end:last])
    chunk = range(*chunk_of(marks, start))
    own = [raw[i] for i in chunk]
    sides = near_sides(raw, marks, first, last, start, end)
    regions = frozenset(
        h.name
        for h in hits
        if h.kind == "region"
        and marks.clause[h.start] == clause
        and not (start <= h.start and h.end <= end)  # "pleural" of "pleural effusion"
    )
    alone = all(h is hit or h.kind != "finding" or marks.clause[h.start] != clause for h in hits)
    return Mention(
        hit.name,
        polarity_of(start, end, marks, before, after),
        sides,
        zones_of(own) or zones_of(raw[first:start]),
        _severities(own) or (_severities(raw[first:last]) if alone else frozenset()),
        LIMITS.intersection(own),
        regions,
    )


def _severities(words: Iterable[str]) -> frozenset[str]:
    return frozenset(SEVERITIES[w] for w in words if w in SEVERITIES)


_NORMAL = words(
    "normal clear unremarkable sharp intact midline aerated negative normally nad satisfactory"
)
_ABNORMAL = words("abnormal abnormality abnormalities abnormally pathological")
_PROCESS = words("process disease pathology finding findings problem")


def _normals(raw: Sequence[str], hits: Sequence[Hit], marks: Marks) -> list[Normal]:
    """Statements of normality ("the lungs are clear") and of abnormality, clause by clause.

    Naming a group of findings ("there are no cardiac devices") is such a statement as well.
    """
    groups = [h for h in hits if h.kind == "group"]
    found: list[Normal] = []
    stated: set[int] = set()
    for i, word in enumerate(raw):
        is_process = word in _PROCESS and marks.negated[i]
        if not (word in _NORMAL or word in _ABNORMAL or is_process):
            continue
        if word == "clear" and raw[i + 1 : i + 2] == ["of"]:
            continue
        if word in _NORMAL and marks.weak[i]:
            continue
        if word in _NORMAL and _is_of_finding(marks.clause[i], hits, marks):
            continue  # "the wires are intact"
        abnormal = marks.negated[i] if word in _NORMAL else not marks.negated[i]
        found.append(_normal(marks.clause[i], raw, hits, marks, abnormal))
        stated.add(marks.clause[i])
    for group in groups:
        clause = marks.clause[group.start]
        if clause not in stated:
            found.append(_normal(clause, raw, hits, marks, not marks.negated[group.start]))
            stated.add(clause)
    return found


def _is_of_finding(clause: int, hits: Sequence[Hit], marks: Marks) -> bool:
    """Whether a clause names findings and no place or group that could be what is normal."""
    kinds = {h.kind for h in hits if marks.clause[h.start] == clause}
    return kinds == {"finding"}


def _normal(
    clause: int, raw: Sequence[str], hits: Sequence[Hit], marks: Marks, abnormal: bool
) -> Normal:
    own = [raw[j] for j in range(len(raw)) if marks.clause[j] == clause]
    named = [h for h in hits if marks.clause[h.start] == clause]
    return Normal(
        frozenset(h.name for h in named if h.kind == "region"),
        frozenset(h.name for h in named if h.kind == "group"),
        sides_of(own),
        abnormal,
        any(w in HEDGES or w == "whether" for w in own),
    )

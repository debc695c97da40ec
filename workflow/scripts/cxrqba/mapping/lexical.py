"""Entity mapping, backend ``lexical``: equal names first, then character n-grams (Sec. E.1.3).

The paper compares text embeddings by cosine and keeps the nearest reference tag from 0.5 on. This
backend needs no model: after normalisation (case, plural, hyphens, abbreviations) a string that
equals a name or synonym is mapped exactly; any other by the cosine of TF-IDF weights of the
character n-grams of its words. Near neighbours of opposite meaning (left and right, upper and
lower, T7 and T8) are never mapped to each other, however alike they look.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from cxrqba.config import EmbeddingConfig
from cxrqba.extract.words import words
from cxrqba.mapping.mentions import PAIR
from cxrqba.reference.tables import Reference
from cxrqba.schema import MAPPINGS
from cxrqba.tables import frame

BATCH = 1024
"""Mentions compared at once: bounds the memory (1024 x 4000 candidates x 8 bytes = 32 MB)."""

NEIGHBOURS = 24
"""Nearest candidates looked at; several may be synonyms of one reference tag."""

NGRAMS = (2, 3, 4)

_OPPOSITES = (
    ("left", "right"),
    ("upper", "lower"),
    ("superior", "inferior"),
    ("anterior", "posterior"),
    ("medial", "lateral"),
    ("ascending", "descending"),
    ("proximal", "distal"),
    ("acute", "chronic"),
    ("increased", "decreased"),
    ("increase", "decrease"),
    ("elevated", "depressed"),
    ("elevation", "depression"),
    ("improved", "worsened"),
    ("improving", "worsening"),
    ("high", "low"),
    ("hyper", "hypo"),
    ("large", "small"),
    ("unilateral", "bilateral"),
    ("normal", "abnormal"),
)
_OPPOSITE = {a: b for x, y in _OPPOSITES for a, b in ((x, y), (y, x))}
_ASKING = frozenset(("left", "right", "upper", "lower", "anterior", "posterior", "bilateral"))
"""Words of place a candidate may have only if the mention has them."""
_PLACING = _ASKING | frozenset(
    ("side", "sided", "both", "middle", "mid", "medial", "lateral", "superior", "inferior")
)
"""Words that say nothing by themselves: "left" alone is neither a finding nor a region."""
_LINKING = frozenset(("a", "an", "the", "of", "in", "to", "with"))
_NEGATING = frozenset(("no", "not", "non", "without", "absent", "never"))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A name or synonym of a reference tag in normal form."""

    reference: str
    kind: str | None  # modifier type
    normal: str
    is_name: bool
    only_exact: bool = False
    """Never guessed by likeness: "no finding" would deny whatever it is mistaken for."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a mention is mapped to; ``reference`` is None below the threshold."""

    reference: str | None
    kind: str | None
    score: float
    runner_up: str | None
    runner_up_score: float
    method: str


class LexicalMapper:
    """Maps mentions to one set of reference definitions."""

    def __init__(self, reference: Reference):
        normalise = Normaliser(reference.abbreviations)
        tags = candidates(reference, normalise)
        self._index = {
            kind: CandidateIndex(tags[kind], normalise, kind in _NAMED_BY_PART)
            for kind in sorted(tags)
        }

    def map(self, mentions: pl.DataFrame, threshold: float) -> pl.DataFrame:
        """MAPPINGS of all mentions (table MENTIONS), sorted by kind and text."""
        rows: list[dict[str, Any]] = []
        unique = mentions.select("kind", "text").unique().sort("kind", "text")
        for (kind,), group in unique.group_by("kind", maintain_order=True):
            texts = group["text"].to_list()
            decided = self._index[TARGETS[str(kind)]].decide(texts, threshold)
            rows += [_row(str(kind), t, d) for t, d in zip(texts, decided, strict=True)]
        return frame(rows, MAPPINGS).sort("kind", "text")


def map_mentions(
    mentions: pl.DataFrame, reference: Reference, config: EmbeddingConfig
) -> pl.DataFrame:
    """Map all mentions (table MENTIONS) to the reference; returns MAPPINGS, sorted."""
    return LexicalMapper(reference).map(mentions, config.threshold)


TARGETS = {
    "entity": "finding",
    "entity_region": "finding",
    "summary": "finding",
    "name": "finding",
    "region": "region",
    "modifier": "modifier",
    "change": "change",
}
"""Kind of mention -> kind of reference tag it is compared with."""


_NAMED_BY_PART = ("finding", "region")
"""Kinds of tags that a part of their words may name ("costophrenic"); "one" is not "one-sided"."""


def _row(kind: str, text: str, decision: Decision) -> dict[str, Any]:
    return {
        "kind": kind,
        "text": text,
        "reference": decision.reference,
        "reference_type": decision.kind,
        "score": decision.score,
        "runner_up": decision.runner_up,
        "runner_up_score": decision.runner_up_score,
        "method": decision.method,
    }


class Normaliser:
    """Normal forms of free values: lower case, singular, no hyphens, abbreviations expanded."""

    def __init__(self, abbreviations: dict[str, str]):
        self._expansions = {
            short: re.sub(r"\s*\(.*?\)", "", long) for short, long in abbreviations.items()
        }
        alternatives = "|".join(
            re.escape(a) for a in sorted(self._expansions, key=lambda a: (-len(a), a))
        )
        self._pattern = re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)") if alternatives else None

    def plain(self, text: str) -> str:
        """Normal form with abbreviations as written."""
        return " ".join(w.norm for w in words(text) if w.norm[:1].isalnum())

    def expanded(self, text: str) -> str:
        """Normal form with abbreviations (written as in the reference) expanded."""
        if self._pattern is None:
            return self.plain(text)
        return self.plain(self._pattern.sub(lambda m: self._expansions[m.group()], text))


def candidates(reference: Reference, normalise: Normaliser) -> dict[str, list[Candidate]]:
    """Names and synonyms by kind of tag; names before synonyms, then in table order."""
    findings = sorted(reference.findings.values(), key=lambda f: f.tier)
    return {
        "finding": _candidates(
            ((f.name, None, f.synonyms) for f in findings),
            normalise,
            frozenset(f.name for f in findings if f.polarity == "normal"),
        ),
        "region": _candidates(
            ((r.name, None, r.synonyms) for r in reference.regions.values()), normalise
        ),
        "modifier": _candidates(
            ((v.name, v.kind, v.synonyms) for v in reference.modifiers), normalise
        ),
        "change": _candidates(((v.name, None, v.synonyms) for v in reference.changes), normalise),
    }


def _candidates(
    tags: Iterable[tuple[str, str | None, Sequence[str]]],
    normalise: Normaliser,
    only_exact: frozenset[str] = frozenset(),
) -> list[Candidate]:
    tags = list(tags)
    found: dict[tuple[str, str | None, str], Candidate] = {}
    for is_name in (True, False):
        for name, kind, synonyms in tags:
            for text in (name,) if is_name else synonyms:
                for normal in (normalise.plain(text), normalise.expanded(text)):
                    key = (name, kind, normal)
                    if normal and key not in found:
                        found[key] = Candidate(name, kind, normal, is_name, name in only_exact)
    return list(found.values())


class CandidateIndex:
    """All candidates of one kind of tag, ready for exact and approximate look-up."""

    def __init__(self, tags: Sequence[Candidate], normalise: Normaliser, named_by_part: bool):
        self._tags = tags
        self._vague_from = 2 if named_by_part else 1
        self._normalise = normalise
        self._exact: dict[str, int] = {}
        for number, tag in enumerate(tags):
            self._exact.setdefault(tag.normal, number)
        for number, tag in enumerate(tags):
            self._exact.setdefault(tag.normal.replace(" ", ""), number)
        self._words = [frozenset(t.normal.split()) for t in tags]
        self._grams: dict[str, int] = {}
        counted = [_counted(t.normal) for t in tags]
        for grams in counted:
            for gram in grams:
                self._grams.setdefault(gram, len(self._grams))
        seen = np.zeros(len(self._grams))
        for grams in counted:
            seen[[self._grams[g] for g in grams]] += 1
        self._idf = np.log((1 + len(tags)) / (1 + seen)) + 1
        self._unseen = float(np.log(1 + len(tags)) + 1)  # n-grams no candidate has
        self._matrix = self._weights([t.normal for t in tags]).T.tocsr()

    def decide(self, texts: Sequence[str], threshold: float) -> list[Decision]:
        """Decisions for ``texts``, in their order; each text is decided on its own."""
        decisions: list[Decision] = []
        for start in range(0, len(texts), BATCH):
            batch = texts[start : start + BATCH]
            forms = [self._forms(t) for t in batch]
            queries = self._weights([f[-1] for f in forms])
            scores = np.asarray((queries @ self._matrix).todense())
            decisions += [
                self._decision(f, row, threshold) for f, row in zip(forms, scores, strict=True)
            ]
        return decisions

    def _forms(self, text: str) -> list[str]:
        """Normal forms of a mention, the one for comparison last."""
        if PAIR in text:
            entity, _, region = text.partition(PAIR)
            both = [f"{region} {entity}", f"{entity} {region}", f"{entity} of {region}"]
        else:
            both = [text]
        forms = [self._normalise.plain(t) for t in both]
        return [*forms, self._normalise.expanded(both[0])]

    def _decision(
        self, forms: Sequence[str], scores: NDArray[np.float64], threshold: float
    ) -> Decision:
        exact = next((self._exact[f] for f in forms if f in self._exact), None)
        if exact is None:
            compact = (f.replace(" ", "") for f in forms)
            exact = next((self._exact[f] for f in compact if f and f in self._exact), None)
        ranked = self._ranked(forms[-1], scores)
        if exact is not None:
            tag = self._tags[exact]
            other = next((r for r in ranked if r[0].reference != tag.reference), None)
            return _decision(tag, 1.0, other, "exact")
        if not ranked:
            return Decision(None, None, 0.0, None, 0.0, "lexical")
        tag, score = ranked[0]
        if score < threshold or self._is_vague(forms[-1], ranked):
            return Decision(None, None, score, tag.reference, score, "lexical")
        other = next((r for r in ranked if r[0].reference != tag.reference), None)
        return _decision(tag, score, other, "lexical")

    def _is_vague(self, normal: str, ranked: Sequence[tuple[Candidate, float]]) -> bool:
        """Whether the mention is only a part of several tags' words: "tube" is not a chest tube."""
        mentioned = _content(normal)
        if _content(ranked[0][0].normal) == mentioned:
            return False
        near = {t.reference for t, _ in ranked if mentioned <= _content(t.normal)}
        return len(near) >= self._vague_from

    def _ranked(self, normal: str, scores: NDArray[np.float64]) -> list[tuple[Candidate, float]]:
        """Admissible candidates, nearest first; ties in table order."""
        rounded = np.round(scores, 6)
        kept = min(NEIGHBOURS, len(rounded))
        least = np.partition(rounded, -kept)[-kept]  # ties with the last one are all looked at
        near = np.flatnonzero((rounded >= least) & (rounded > 0))
        near = near[np.argsort(-rounded[near], kind="stable")]
        mentioned = frozenset(normal.split())
        if mentioned <= _PLACING:
            return []
        return [
            (self._tags[i], round(float(min(scores[i], 1.0)), 6))
            for i in near.tolist()
            if not self._tags[i].only_exact and compatible(mentioned, self._words[i])
        ]

    def _weights(self, normals: Sequence[str]) -> sparse.csr_matrix:
        """TF-IDF rows of unit length (n, n-grams); unseen n-grams count in the length only.

        A text is the sum of its words, so the n-grams of a word are looked up once.
        """
        vocabulary: dict[str, int] = {}
        columns: list[int] = []
        ends = [0]
        for normal in normals:
            columns += [vocabulary.setdefault(w, len(vocabulary)) for w in normal.split()]
            ends.append(len(columns))
        ones = np.ones(len(columns))
        counts = sparse.csr_matrix((ones, columns, ends), shape=(len(normals), len(vocabulary)))
        counts.sum_duplicates()
        by_word, unseen = self._word_weights(vocabulary)
        weights = counts @ by_word
        weights.sort_indices()
        squares = np.asarray(weights.multiply(weights).sum(axis=1)).ravel()
        squares += counts.multiply(counts) @ unseen
        length = np.sqrt(np.where(squares > 0, squares, 1.0))
        return sparse.csr_matrix(sparse.diags(1 / length) @ weights)

    def _word_weights(
        self, vocabulary: Iterable[str]
    ) -> tuple[sparse.csr_matrix, NDArray[np.float64]]:
        """Weights (words, n-grams) and, per word, the squared weights of n-grams never seen."""
        data: list[float] = []
        columns: list[int] = []
        ends = [0]
        unseen: list[float] = []
        for word in vocabulary:
            rest = 0.0
            for gram, count in _counted(word).items():
                column = self._grams.get(gram)
                if column is None:
                    rest += (count * self._unseen) ** 2
                else:
                    columns.append(column)
                    data.append(count * float(self._idf[column]))
            unseen.append(rest)
            ends.append(len(columns))
        matrix = sparse.csr_matrix((data, columns, ends), shape=(len(unseen), len(self._grams)))
        return matrix, np.array(unseen)


def _decision(
    tag: Candidate, score: float, other: tuple[Candidate, float] | None, method: str
) -> Decision:
    return Decision(
        tag.reference,
        tag.kind,
        score,
        other[0].reference if other else None,
        other[1] if other else 0.0,
        method,
    )


def compatible(mentioned: frozenset[str], tag: frozenset[str]) -> bool:
    """Whether words of a mention and of a tag may mean the same: no opposite, no other number."""
    if any(_OPPOSITE.get(w) in mentioned and w not in mentioned for w in tag):
        return False
    if (tag & _ASKING) - mentioned or (tag & _NEGATING) != (mentioned & _NEGATING):
        return False
    return _numbers(tag) == _numbers(mentioned) or not _numbers(tag)


def _content(normal: str) -> frozenset[str]:
    return frozenset(normal.split()) - _LINKING


def _numbers(words_: frozenset[str]) -> frozenset[str]:
    return frozenset(w for w in words_ if w[:1].isdigit())


def _counted(normal: str) -> dict[str, int]:
    """Counts of the n-grams within the words of a normal form (of long words, their start)."""
    counts: dict[str, int] = {}
    for word in normal.split():
        padded = f" {word[:64]} "
        for n in NGRAMS:
            for i in range(len(padded) - n + 1):
                gram = padded[i : i + n]
                counts[gram] = counts.get(gram, 0) + 1
    return counts

"""Entity mapping: free values to the nearest reference tag of their kind (paper Sec. E.1.3).

As in the paper every value is compared by cosine with the names and synonyms of all tags of its
kind (modifiers with all types at once, findings also as pairs with a region, by summary and by
name), and the nearest is kept from a threshold on. What equals a name or synonym is mapped before
anything is compared; what contradicts a mention is no candidate (``compatible``); polarity and
certainty are read from the cue table and never from likeness.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxrqba.mapping.candidates import TARGETS, Candidate, candidates
from cxrqba.mapping.compatible import OUTSIDE, PLACING, SIDES, Anatomy, Traits, compatible, traits
from cxrqba.mapping.mentions import PAIR
from cxrqba.mapping.normal import CHANGE_FILLERS, FILLERS, Normaliser, Spelling, content
from cxrqba.mapping.similarity import Backend, Form
from cxrqba.reference.tables import Reference
from cxrqba.schema import MAPPINGS
from cxrqba.tables import frame

BATCH = 1024
"""Mentions compared at once: bounds the memory (1024 x 4000 candidates x 8 bytes = 32 MB)."""

NEIGHBOURS = 32
"""Nearest candidates looked at; several may be synonyms of one reference tag."""

MISSING_PLACE = 0.85
"""Factor for each word of place of a mention that a candidate lacks and a near rival has."""

MISSING_SIDE = 0.75
"""The same for a side."""

RIVAL = 0.15
"""Candidates this far below the nearest are rivals."""

MISSPELT = 0.97
"""Factor for a mention read as another spelling: near, never equal."""

STEM = 5
"""Letters in which forms of one word agree."""

_NAMED_BY_PART = ("finding", "region")
"""Kinds of tags that a part of their words may name ("costophrenic"); "one" is not "one-sided"."""

_ONE_SIDE = frozenset(("left", "right"))
_BOTH = frozenset(("bilateral", "both"))
"""A region in the plural is both of a pair without saying so."""

_CUED = ("modifier", "change")
_OF_PLACE = ("entity", "region")
_NO_REGION = ("entity", "name", "summary")


@dataclass(frozen=True, slots=True)
class Decision:
    """What a mention is mapped to; ``reference`` is None where nothing is near enough."""

    reference: str | None
    kind: str | None
    score: float
    runner_up: str | None
    runner_up_score: float
    method: str


@dataclass(frozen=True, slots=True)
class _Mention:
    exact: tuple[str, ...]
    traits: Traits
    form: Form
    factor: float


Ranked = Sequence[tuple[Candidate, float]]


class Mapper:
    """Maps mentions to one set of reference definitions with one backend."""

    def __init__(self, reference: Reference, backend: Backend):
        self._backend = backend
        self._normalise = Normaliser(reference.abbreviations)
        tags = candidates(reference, self._normalise)
        self._spelling = Spelling(t.normal for found in tags.values() for t in found)
        self._anatomy = Anatomy(reference, self._normalise, tags["region"])
        self._regions = frozenset(t.normal for t in tags["region"])
        self._ancestors = reference.finding_ancestors
        regions = PLACING.union(
            *(
                t.normal.split()
                for t in tags["region"]
                if t.normal == t.named or " " not in t.normal
            )
        )
        self._indexes = {
            kind: _TagIndex(
                kind,
                tags[kind],
                backend,
                known=self._spelling.known,
                where=regions if kind == "finding" else PLACING,
            )
            for kind in sorted(tags)
        }
        cues = {c.text for c in reference.cues} | {n.replace("_", " ") for n in reference.levels}
        self._cues = frozenset(self._normalise.plain(c) for c in cues)

    def map(self, mentions: pl.DataFrame, threshold: float) -> pl.DataFrame:
        """MAPPINGS of all mentions (table MENTIONS), sorted by kind and text."""
        totals = mentions.group_by("kind", "text").agg(pl.col("count").sum())
        unique = totals.sort("kind", "text")
        parts = [pl.DataFrame(schema=MAPPINGS)]
        for (kind,), group in unique.group_by("kind", maintain_order=True):
            for batch in group.iter_slices(BATCH):
                decided = self.decide(str(kind), batch["text"].to_list(), threshold)
                rows = zip(batch.iter_rows(named=True), decided, strict=True)
                parts.append(frame((_row(m, d) for m, d in rows), MAPPINGS))
        return pl.concat(parts).sort("kind", "text")

    def decide(self, kind: str, texts: Sequence[str], threshold: float) -> list[Decision]:
        """Decisions for ``texts`` of one kind, in their order; each is decided on its own."""
        index = self._indexes[TARGETS[kind]]
        read = [self._read(t, index) for t in texts]
        scores = index.scores([m.form for m in read])
        return [
            self._decision(kind, index, mention, row, threshold)
            for mention, row in zip(read, scores, strict=True)
        ]

    def _read(self, text: str, index: _TagIndex) -> _Mention:
        entity, paired, region = text.partition(PAIR)
        orders = [text]
        if paired:
            orders = [f"{region} {entity}", f"{entity} {region}", f"{entity} of {region}"]
        expanded = self._normalise.expanded(orders[0])
        spelt = self._spelling.corrected_text(expanded)
        said = content(spelt, index.fillers)
        asked = said
        if paired:
            asked = content(
                self._spelling.corrected_text(self._normalise.expanded(entity)), index.fillers
            )
        return _Mention(
            exact=(*(self._normalise.plain(t) for t in orders), expanded),
            traits=traits(frozenset(spelt.split()), self._spelling.known),
            form=Form(said, index.head(asked)),
            factor=1.0 if spelt == expanded else MISSPELT,
        )

    def _decision(
        self,
        kind: str,
        index: _TagIndex,
        mention: _Mention,
        scores: NDArray[np.float64],
        threshold: float,
    ) -> Decision:
        ranked = self._ranked(index, mention, scores)
        exact = index.equal_to(mention.exact)
        if exact is not None:
            return _resolved(exact, 1.0, ranked, "exact")
        if kind in _CUED and not self._cues.isdisjoint(mention.exact):
            return _unresolved(ranked, "cue_table")
        if kind in _OF_PLACE and self._anatomy.is_outside(mention.form.text):
            return _unresolved(ranked, OUTSIDE)
        is_region = kind in _NO_REGION and not self._regions.isdisjoint(mention.exact)
        if (
            not ranked
            or is_region
            or ranked[0][1] < threshold
            or index.is_vague(mention.form.text, ranked)
        ):
            return _unresolved(ranked, self._backend.name)
        return _resolved(*ranked[0], ranked, self._backend.name)

    def _ranked(self, index: _TagIndex, mention: _Mention, scores: NDArray[np.float64]) -> Ranked:
        """Admissible candidates, nearest first; ties in table order."""
        words = mention.traits.words
        if words <= PLACING | index.fillers:
            return []
        place = self._anatomy.of_text(mention.form.text)
        near = [
            (tag, said, score * mention.factor)
            for tag, said, score in index.nearest(scores)
            if index.admits(tag, said, mention.traits)
            and compatible(mention.traits, said)
            and self._anatomy.allows(place, tag, index.kind)
        ]
        if not near:
            return []
        rivals = frozenset[str]().union(*(w.words for _, w, s in near if s >= near[0][2] - RIVAL))
        placing = PLACING - (SIDES if index.kind == "finding" else _BOTH)
        contested = words & placing & rivals
        ranked = [(t, round(s * _lack(contested - w.words), 6)) for t, w, s in near]
        ranked.sort(key=lambda r: -r[1])
        stated = {t.reference: t for t, w, _ in reversed(near) if not _adds(w.content, words)}
        return self._no_more_than_said(ranked, stated)

    def _no_more_than_said(self, ranked: Ranked, stated: Mapping[str, Candidate]) -> Ranked:
        """An ancestor that the mention states in full goes before a tag that adds to it.

        "Left chest wall pacemaker" looks like "chest wall dual-chamber pacemaker", but says less;
        the tags below the ancestor are then no rivals of it.
        """
        tag, score = ranked[0]
        if tag.reference in stated:
            return ranked
        for above in self._ancestors.get(tag.reference, ()):
            if above in stated:
                others = [r for r in ranked if above not in self._ancestors.get(r[0].reference, ())]
                return [(stated[above], score), *others]
        return ranked


def _adds(said: frozenset[str], mentioned: frozenset[str]) -> bool:
    """Whether ``said`` has a word that no mentioned word begins like ("pericardial", "-ium")."""
    starts = {w[:STEM] for w in mentioned}
    return any(w[:STEM] not in starts for w in said)


def _without(normal: str, words: frozenset[str]) -> str:
    return " ".join(w for w in normal.split() if w not in words)


def _lack(places: frozenset[str]) -> float:
    sides = len(places & SIDES)
    return float(MISSING_SIDE**sides * MISSING_PLACE ** (len(places) - sides))


class _TagIndex:
    """All candidates of one kind of tag, ready for exact and approximate look-up."""

    def __init__(
        self,
        kind: str,
        tags: Sequence[Candidate],
        backend: Backend,
        *,
        known: frozenset[str],
        where: frozenset[str],
    ):
        self._where = where
        self.kind = kind
        self._tags = tags
        self._exact: dict[str, Candidate] = {}
        for tag in tags:
            self._exact.setdefault(tag.normal, tag)
        for tag in tags:
            self._exact.setdefault(tag.normal.replace(" ", ""), tag)
        self.fillers = CHANGE_FILLERS if kind == "change" else FILLERS
        said = [content(t.normal, self.fillers) for t in tags]
        for tag, form in zip(tags, said, strict=True):
            self._exact.setdefault(form, tag)
        self._traits = [
            traits(frozenset(t.normal.split()), known, frozenset(t.named.split())) for t in tags
        ]
        self._by_part = kind in _NAMED_BY_PART
        self._index = backend.index([Form(s, self.head(s)) for s in said])

    def scores(self, forms: Sequence[Form]) -> NDArray[np.float64]:
        """Cosines (forms, candidates)."""
        return self._index.scores(forms)

    def head(self, said: str) -> str:
        """The words of what: without those of where, unless nothing is left."""
        return _without(said, self._where) or _without(said, PLACING) or said

    def equal_to(self, forms: Iterable[str]) -> Candidate | None:
        """The candidate that equals one of ``forms``, with or without spaces."""
        said = (content(f, self.fillers) for f in forms)
        for form in (*forms, *(f.replace(" ", "") for f in forms), *said):
            if form in self._exact:
                return self._exact[form]
        return None

    def nearest(self, scores: NDArray[np.float64]) -> Iterator[tuple[Candidate, Traits, float]]:
        """The nearest candidates with their traits and scores, nearest first."""
        rounded = np.round(np.clip(scores, 0.0, 1.0), 6)
        kept = min(NEIGHBOURS, len(rounded))
        least = np.partition(rounded, -kept)[-kept]  # ties with the last one are all looked at
        near = np.flatnonzero((rounded >= least) & (rounded > 0))
        near = near[np.argsort(-rounded[near], kind="stable")]
        for i in near.tolist():
            yield self._tags[i], self._traits[i], float(rounded[i])

    def admits(self, tag: Candidate, said: Traits, mention: Traits) -> bool:
        """Whether ``tag`` may be guessed at all for a mention."""
        if tag.only_exact or (tag.has_sides and not _ONE_SIDE.isdisjoint(mention.words)):
            return False
        if self._by_part:
            return True
        if not mention.numbers <= said.numbers:
            return False
        return not mention.words - self.fillers < said.words - self.fillers

    def is_vague(self, normal: str, ranked: Ranked) -> bool:
        """Whether the mention is only a part of several tags' words: "tube" is not a chest tube."""
        mentioned = frozenset(normal.split()) - FILLERS
        parts = [(t.reference, frozenset(t.normal.split()) - FILLERS) for t, _ in ranked]
        if parts[0][1] == mentioned:
            return False
        return len({reference for reference, part in parts if mentioned <= part}) > 1


def _resolved(tag: Candidate, score: float, ranked: Ranked, method: str) -> Decision:
    other = next(((t, s) for t, s in ranked if t.reference != tag.reference), None)
    return Decision(
        tag.reference,
        tag.kind,
        score,
        other[0].reference if other else None,
        other[1] if other else 0.0,
        method,
    )


def _unresolved(ranked: Ranked, method: str) -> Decision:
    """Nothing is near enough; the nearest is told as the runner-up."""
    if not ranked:
        return Decision(None, None, 0.0, None, 0.0, method)
    tag, score = ranked[0]
    return Decision(None, None, score, tag.reference, score, method)


def _row(mention: dict[str, Any], decision: Decision) -> dict[str, Any]:
    return {
        "kind": mention["kind"],
        "text": mention["text"],
        "count": mention["count"],
        "reference": decision.reference,
        "reference_type": decision.kind,
        "score": decision.score,
        "runner_up": decision.runner_up,
        "runner_up_score": decision.runner_up_score,
        "method": decision.method,
    }

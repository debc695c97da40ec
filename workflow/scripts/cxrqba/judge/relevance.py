"""Relevance: does an answer part answer, or belong to, the question (paper Sec. 3.3, Tab. 12)?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cxrqba.judge.knowledge import Knowledge
from cxrqba.judge.text import Reader, Reading
from cxrqba.judge.wording import ADVICE, CHEST, TECHNICAL, lead, matches


@dataclass(frozen=True, slots=True)
class Scope:
    """What a question asks about; all sets empty: about the whole study."""

    named: frozenset[str]  # findings
    findings: frozenset[str]  # named, with narrower and wider ones
    regions: frozenset[str]  # named, with what lies within
    subcategories: frozenset[str]
    sides: frozenset[str]
    technical: bool
    near_findings: frozenset[str]  # clinically linked to the named ones
    near_regions: frozenset[str]  # around the named regions or usual for the named findings
    near_subcategories: frozenset[str]

    @property
    def whole(self) -> bool:
        """Whether the question names nothing in particular."""
        return not (self.findings or self.regions or self.subcategories)


class Relevance:
    """Levels of the relevance criterion; scopes and pairs are remembered."""

    def __init__(self, reader: Reader, known: Knowledge):
        self.reader = reader
        self.known = known
        self._scopes: dict[str, Scope] = {}
        self._levels: dict[tuple[str, str], str] = {}

    def levels(self, question: str, parts: Sequence[str]) -> list[str]:
        """Level of Tab. 12 for each part; a part that says nothing new is redundant."""
        earlier: list[Reading] = []
        levels = []
        for part in parts:
            own = self.reader.read(part)
            repeated = own.tokens and any(
                own.vocabulary <= e.vocabulary and own.said <= e.said for e in earlier
            )
            levels.append("REDUNDANT_INFO" if repeated else self._level(question, part, own))
            earlier.append(own)
        return levels

    def _level(self, question: str, part: str, own: Reading) -> str:
        key = (question, part)
        level = self._levels.get(key)
        if level is None:
            if len(self._levels) >= 200_000:
                self._levels.clear()
            level = self._levels[key] = self._judge(question, part, own)
        return level

    def _judge(self, question: str, part: str, own: Reading) -> str:
        scope = self.scope(question)
        if self.is_direct(scope, part, own):
            return "RELEVANT_MAIN_ANSWER"
        return "RELATED_INFO" if self._is_related(scope, part, own) else "IRRELEVANT_INFO"

    def scope(self, question: str) -> Scope:
        """What ``question`` asks about."""
        if question not in self._scopes:
            if len(self._scopes) >= 50_000:
                self._scopes.clear()
            self._scopes[question] = self._scope(question)
        return self._scopes[question]

    def _scope(self, question: str) -> Scope:
        known = self.known
        asked = self.reader.read(question)
        named = frozenset(m.finding for m in asked.mentions)
        linked = {f for n in named for f in known.findings[n].indicative_of}
        linked |= {f for f, row in known.findings.items() if named.intersection(row.indicative_of)}
        sided = {
            f
            for r in asked.regions
            for side in (known.regions[r].left, known.regions[r].right)
            if side
            for f in known.region_family[side]
        }
        around = {f for r in asked.regions for f in known.region_family[r]}
        usual = {r for n in named for r in known.default_family[n]}
        return Scope(
            named=named,
            findings=frozenset(
                f for n in named for f in (n, *known.ancestors[n], *known.descendants[n])
            ),
            regions=frozenset(b for r in asked.regions for b in known.region_below[r]),
            subcategories=asked.subcategories,
            sides=asked.sides,
            technical=matches(TECHNICAL, question),
            near_findings=frozenset(linked),
            near_regions=frozenset(sided | around | usual),
            near_subcategories=frozenset(s for n in named for s in known.findings[n].subcategories)
            | asked.subcategories,
        )

    def is_direct(self, scope: Scope, part: str, own: Reading) -> bool:
        """Whether a part answers the question itself."""
        if lead(part) is not None and (not own.mentions or not scope.findings):
            return True
        if scope.technical and matches(TECHNICAL, part):
            return True
        if scope.whole:
            return bool(own.mentions or own.regions or own.normals or matches(CHEST, part))
        return self._shares_subject(scope, own)

    def _shares_subject(self, scope: Scope, own: Reading) -> bool:
        findings = {m.finding for m in own.mentions} | self._denied_as_normal(own)
        if scope.findings:
            return not scope.findings.isdisjoint(findings)
        if scope.sides and own.sides and not scope.sides & own.sides:
            return False
        return (
            bool(own.subcategories & scope.subcategories)
            or bool(own.regions & scope.regions)
            or any(self.known.default_family[f] & scope.regions for f in findings)
            or any(
                scope.subcategories.intersection(self.known.findings[f].subcategories)
                for f in findings
            )
        )

    def _denied_as_normal(self, own: Reading) -> set[str]:
        """Findings that a part denies by calling a region normal."""
        return {
            f for n in own.normals for r in n.regions for f in self.known.normal_means.get(r, ())
        }

    def _is_related(self, scope: Scope, part: str, own: Reading) -> bool:
        if own.regions & scope.near_regions or (own.normals and not own.mentions):
            return True
        if matches(ADVICE, part):
            return True
        return any(
            m.finding in scope.near_findings
            or self.known.defaults[m.finding] & scope.near_regions
            or scope.near_subcategories.intersection(self.known.findings[m.finding].subcategories)
            for m in own.mentions
        )

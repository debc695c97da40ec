"""Relevance: does an answer part answer, or belong to, the question (paper Sec. 3.3, Tab. 12)?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cxrqba.judge.knowledge import Knowledge
from cxrqba.judge.text import Reader, Reading
from cxrqba.judge.vocabulary import WHOLE
from cxrqba.judge.wording import ADVICE, CHEST, TECHNICAL, lead, matches


@dataclass(frozen=True, slots=True)
class Scope:
    """What a question asks about; all sets empty: about the whole study."""

    named: frozenset[str]  # findings
    findings: frozenset[str]  # named, with narrower and wider ones
    regions: frozenset[str]  # named, with what lies within
    groups: frozenset[str]
    wanted: tuple[str, ...]  # findings a full answer holds, where some are named
    sides: frozenset[str]
    technical: bool
    near_findings: frozenset[str]  # clinically linked to the named ones
    near_regions: frozenset[str]  # around the named regions or usual for the named findings
    near_groups: frozenset[str]

    @property
    def whole(self) -> bool:
        """Whether the question names nothing in particular."""
        return not (self.findings or self.regions or self.groups)


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
        places = asked.regions - {WHOLE}
        below = _union(known.below, named)
        return Scope(
            named=named,
            findings=below | _union(known.ancestors, named),
            regions=_union(known.region_below, places),
            groups=asked.groups,
            wanted=tuple(sorted(below | _union(known.members, asked.groups))),
            sides=asked.sides,
            technical=matches(TECHNICAL, question),
            near_findings=_union(known.linked, named),
            near_regions=_union(known.region_family, places) | _union(known.default_family, named),
            near_groups=_union(known.groups, named) | asked.groups,
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
        if scope.findings and not scope.findings.isdisjoint(findings):
            return True
        if scope.groups and any(
            not scope.groups.isdisjoint(self.known.groups[f]) for f in findings
        ):
            return True
        if scope.findings:
            return False
        if scope.sides and own.sides and not scope.sides & own.sides:
            return False
        return (
            bool(own.groups & scope.groups)
            or bool(own.regions & scope.regions)
            or any(self.known.default_family[f] & scope.regions for f in findings)
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
            or not scope.near_groups.isdisjoint(self.known.groups[m.finding])
            for m in own.mentions
        )


def _union(sets: Mapping[str, frozenset[str]], names: Iterable[str]) -> frozenset[str]:
    return frozenset().union(*(sets[n] for n in names))

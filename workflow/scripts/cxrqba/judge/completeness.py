"""Completeness: does the answer hold what the report says to the question (Sec. 3.3, Tab. 12)?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cxrqba.judge.knowledge import Knowledge
from cxrqba.judge.relevance import Relevance, Scope
from cxrqba.judge.text import Mention, Reading, ReportReading
from cxrqba.judge.wording import (
    GENERAL,
    HOW_SEVERE,
    SEVERITY_ANSWER,
    WHERE,
    YES_NO_QUESTION,
    lead,
    matches,
)


class Completeness:
    """Levels of the completeness criterion."""

    def __init__(self, known: Knowledge, relevance: Relevance):
        self.known = known
        self.relevance = relevance

    def level(
        self, report: ReportReading, question: str, parts: Sequence[str], answers: Sequence[Reading]
    ) -> str:
        """Level of Tab. 12 for the whole answer; ``answers`` are the parts as read."""
        scope = self.relevance.scope(question)
        if not self._is_answered(question, scope, parts, answers):
            return "NOT_ANSWERED"
        if scope.technical:
            return "FULLY_COMPLETE"
        wanted = [m for m in self._wanted(report, scope) if m.polarity in ("pos", "hedged")]
        given = [m for a in answers for m in a.mentions if m.polarity in ("pos", "hedged")]
        return self._coverage(question, wanted, given, parts, answers)

    def _is_answered(
        self, question: str, scope: Scope, parts: Sequence[str], answers: Sequence[Reading]
    ) -> bool:
        if matches(HOW_SEVERE, question) and not any(matches(SEVERITY_ANSWER, p) for p in parts):
            return any(m.polarity == "neg" for a in answers for m in a.mentions)
        if matches(WHERE, question) and not any(a.regions or a.sides for a in answers):
            return any(m.polarity == "neg" for a in answers for m in a.mentions) or any(
                matches(GENERAL, p) for p in parts
            )
        return any(
            matches(GENERAL, p) or self.relevance.is_direct(scope, p, a)
            for p, a in zip(parts, answers, strict=True)
        )

    def _wanted(self, report: ReportReading, scope: Scope) -> Iterable[Mention]:
        """What the report states within the scope of the question."""
        if scope.named:
            for finding in scope.wanted:
                usual = self.known.default_family[finding]
                for _, _, m in report.by_finding.get(finding, ()):
                    if not scope.regions or (m.regions | usual) & scope.regions:
                        yield m
            return
        for finding, mentions in report.by_finding.items():
            grouped = not scope.groups.isdisjoint(self.known.groups[finding])
            if self.known.findings[finding].kind != "abnormal" and not grouped:
                continue
            if scope.groups and not grouped:
                continue
            inside = scope.whole or (grouped and not scope.regions)
            for _, _, m in mentions:
                if scope.sides and m.sides and not scope.sides & m.sides:
                    continue
                if inside or m.regions & scope.regions:
                    yield m

    def _coverage(
        self,
        question: str,
        wanted: Sequence[Mention],
        given: Sequence[Mention],
        parts: Sequence[str],
        answers: Sequence[Reading],
    ) -> str:
        needed = dict.fromkeys(m.finding for m in wanted)
        named = {m.finding for m in given}
        related = named | {
            r for n in named for r in (*self.known.ancestors[n], *self.known.descendants[n])
        }
        missing = [f for f in needed if f not in related]
        certain = {m.finding for m in wanted if m.polarity == "pos"}
        if needed and len(missing) == len(needed):
            if any(lead(p) in ("yes", "possibly") for p in parts):
                return "DETAILS_MISSING"
            affirmed = any(n.abnormal for a in answers for n in a.normals)
            if certain and not affirmed:
                return "INCOMPLETE_MISLEADING"
            return "INCOMPLETE_NON_MISLEADING"
        if missing:
            yes_no = matches(YES_NO_QUESTION, question)
            if 2 * len(missing) > len(needed) and not yes_no:
                return "INCOMPLETE_NON_MISLEADING"
            return "DETAILS_MISSING"
        if _lacks_detail(wanted, given):
            return "DETAILS_MISSING"
        return "FULLY_COMPLETE"


def _lacks_detail(wanted: Sequence[Mention], given: Sequence[Mention]) -> bool:
    """Whether a side or severity that the report gives is nowhere in the answer."""
    for finding in {m.finding for m in given}:
        said = [m for m in given if m.finding == finding]
        asked = [m for m in wanted if m.finding == finding]
        for name in ("sides", "severities"):
            stated = {v for m in asked for v in getattr(m, name)}
            if stated and not any(getattr(m, name) for m in said):
                return True
    return False

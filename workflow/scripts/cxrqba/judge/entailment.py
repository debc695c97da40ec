"""Entailment: does an answer part agree with the report (paper Sec. 3.3, Tab. 12)?

The statements of the part are held one by one against what the report says of the same finding,
then of narrower and of wider findings, then against statements of normality; side, zone, region,
degree and certainty must agree as well. The level of a part is that of its worst statement.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from cxrqba.judge.clauses import Polarity
from cxrqba.judge.knowledge import Knowledge
from cxrqba.judge.text import Mention, Normal, Reader, Reading, ReportReading
from cxrqba.judge.wording import GENERAL, lead, matches
from cxrqba.schema import TEXT_QUALITY

_ORDER = {level: i for i, level in enumerate(TEXT_QUALITY["entailment"])}


@dataclass(frozen=True, slots=True)
class _Place:
    """What a statement of normality is about; no regions and no groups: the whole study."""

    regions: frozenset[str]
    groups: frozenset[str]
    sides: frozenset[str]


class Entailment:
    """Levels of the entailment criterion."""

    def __init__(self, reader: Reader, known: Knowledge):
        self.reader = reader
        self.known = known

    def level(self, report: ReportReading, question: str, part: str, own: Reading) -> str:
        """Level of Tab. 12 for one part; ``own`` is the part as read."""
        if not own.words:
            return "NON_ALIGNED_NON_INFERABLE"
        mentions = [m for m in own.mentions if m.polarity != "silent"]
        normals: Sequence[Normal] = own.normals
        opening = lead(part)
        if not own.mentions and not normals and opening is not None and not own.regions:
            mentions = self._meant_by_question(question, opening)
        if self._is_quoted(own, report):
            return "ALIGNED_MENTIONED"
        if not mentions:
            support = _support(own, report)
            if support >= 0.95:
                return "ALIGNED_MENTIONED"
            if normals:
                asked = self.reader.read(question)
                return _worst(self._normal(report, n, asked) for n in normals)
            if support >= 0.6:
                return "ALIGNED_INFERABLE"
            if matches(GENERAL, part):
                return "ALIGNED_GENERAL_STATEMENT"
            return "NON_ALIGNED_NON_INFERABLE"
        level = _worst(self._mention(report, m) for m in mentions)
        unknown = not any(m.finding in report.by_finding for m in mentions)
        if level == "NON_ALIGNED_NON_INFERABLE" and unknown and _support(own, report) >= 0.85:
            return "ALIGNED_INFERABLE"  # the report's own words for what the tables do not name
        return level

    def _is_quoted(self, own: Reading, report: ReportReading) -> bool:
        """Whether the report has the very sentence, and no addendum speaks of what it names."""
        if not own.tokens or own.tokens not in report.quotes:
            return False
        return not any(
            rank == 3 for m in own.mentions for rank, _, _ in report.by_finding.get(m.finding, ())
        )

    def _meant_by_question(self, question: str, opening: str) -> list[Mention]:
        said: dict[str, Polarity] = {"yes": "pos", "no": "neg"}
        polarity = said.get(opening, "hedged")
        return [replace(m, polarity=polarity) for m in self.reader.read(question).mentions]

    def _mention(self, report: ReportReading, part: Mention) -> str:
        if part.polarity in ("pos", "hedged"):
            return self._positive(report, part)
        return self._negative(report, part)

    def _positive(self, report: ReportReading, part: Mention) -> str:
        exact = report.by_finding.get(part.finding, [])
        same = [(r, m) for r, _, m in exact if m.polarity in ("pos", "hedged")]
        denied = [(r, m) for r, _, m in exact if m.polarity == "neg"]
        opposite = [(r, m) for r, m in denied if _covers(m, part)]
        if any(r == 3 for r, _ in opposite) and not any(r == 3 for r, _ in same):
            return "NON_ALIGNED_CONTRADICTING"
        narrowed = [m for _, _, m in exact if m.polarity == "weak_neg" and part.limits & m.limits]
        if narrowed and not any(part.limits & m.limits for _, m in same):
            return "NON_ALIGNED_CONTRADICTING"  # "no acute fracture" against "acute fracture"
        if same:
            said = [m for _, m in same]
            return self._compare(part, said, [m for _, m in denied], "ALIGNED_MENTIONED")
        if opposite:
            return "NON_ALIGNED_CONTRADICTING"
        below = [
            m
            for d in self.known.descendants[part.finding]
            for _, _, m in report.by_finding.get(d, ())
            if m.polarity in ("pos", "hedged")
        ]
        if below:
            return self._compare(part, below, [], "ALIGNED_INFERABLE")
        if any(m.polarity == "weak_neg" for _, _, m in exact):
            return "NON_ALIGNED_MISLEADING"
        for ancestor in self.known.ancestors[part.finding]:
            if any(
                m.polarity == "neg" and _covers(m, part)
                for _, _, m in report.by_finding.get(ancestor, ())
            ):
                return "NON_ALIGNED_CONTRADICTING"
        if self._said_normal(report, part):
            return "NON_ALIGNED_CONTRADICTING"
        return "NON_ALIGNED_NON_INFERABLE"

    def _compare(
        self,
        part: Mention,
        same: Sequence[Mention],
        denied: Sequence[Mention],
        best: str,
    ) -> str:
        """Side, zone, region, severity and certainty of ``part`` against what the report says."""
        candidates, level = self._by_side(part, same, denied, best)
        if not candidates:
            return level
        levels = [level]
        levels.append(self._by_zone(part, candidates, best))
        levels.append(self._by_region(part, candidates, best))
        if part.severities:
            if any(part.severities & m.severities for m in candidates):
                pass
            elif all(m.severities for m in candidates):
                levels.append("NON_ALIGNED_MISLEADING")
            else:
                levels.append("NON_ALIGNED_NON_INFERABLE")
        certain = any(m.polarity == "pos" for m in candidates)
        if part.polarity == "pos" and not certain:
            levels.append("NON_ALIGNED_MISLEADING")
        elif part.polarity == "hedged" and not any(m.polarity == "hedged" for m in candidates):
            levels.append("ALIGNED_INFERABLE")
        return _worst(levels)

    def _by_side(
        self,
        part: Mention,
        same: Sequence[Mention],
        denied: Sequence[Mention],
        best: str,
    ) -> tuple[Sequence[Mention], str]:
        if not part.sides or not self.known.findings[part.finding].sided:
            return same, best
        exact = [m for m in same if part.sides <= m.sides]
        if exact:
            return exact, best
        stated = frozenset(s for m in same for s in m.sides)
        if part.sides <= stated:
            return same, best
        unsided = [m for m in same if not m.sides]
        if unsided and not any(m.sides & part.sides for m in denied):
            both = len(part.sides) == 2 and self.known.findings[part.finding].diffuse
            return unsided, "ALIGNED_INFERABLE" if both else "NON_ALIGNED_NON_INFERABLE"
        if not part.sides & stated or any(m.sides & (part.sides - stated) for m in denied):
            return [], "NON_ALIGNED_CONTRADICTING"
        return [], "NON_ALIGNED_MISLEADING"

    def _by_zone(self, part: Mention, same: Sequence[Mention], best: str) -> str:
        if not part.zones or any(part.zones & m.zones for m in same):
            return best
        if all(m.zones for m in same):
            return "NON_ALIGNED_CONTRADICTING"
        usual = part.zones <= self.known.usual_zones[part.finding]
        return "ALIGNED_INFERABLE" if usual else "NON_ALIGNED_NON_INFERABLE"

    def _by_region(self, part: Mention, same: Sequence[Mention], best: str) -> str:
        stated = {r for m in same for r in m.regions}
        regions = part.regions - self.known.default_family[part.finding]
        if not regions or not all(m.regions for m in same):
            return best
        known = {r for x in stated for r in self.known.region_family[x]}
        known |= {r for m in same for r in self.known.default_family[m.finding]}
        return best if regions & known else "NON_ALIGNED_MISLEADING"

    def _negative(self, report: ReportReading, part: Mention) -> str:
        exact = report.by_finding.get(part.finding, [])
        denied = [(r, m) for r, _, m in exact if m.polarity in ("neg", "weak_neg")]
        family = (part.finding, *self.known.descendants[part.finding])
        stated = [
            (r, m)
            for f in family
            for r, _, m in report.by_finding.get(f, ())
            if m.polarity in ("pos", "hedged") and not self._elsewhere(m, part)
        ]
        corrected = any(r == 3 for r, _ in denied) and not any(r == 3 for r, _ in stated)
        certain = [(r, m) for r, m in stated if m.polarity == "pos"]
        if certain and not corrected:
            return self._denial_of_stated(part, denied, certain)
        if stated and not denied:
            return "NON_ALIGNED_MISLEADING"
        if denied:
            return self._denial(part, [m for _, m in denied])
        for ancestor in self.known.ancestors[part.finding]:
            if any(
                m.polarity == "neg" and _covers(m, part)
                for _, _, m in report.by_finding.get(ancestor, ())
            ):
                return "ALIGNED_INFERABLE"
        if self._said_normal(report, part):
            return "ALIGNED_INFERABLE"
        return "ALIGNED_NEGATIVE_NOT_MENTIONED"

    def _denial_of_stated(
        self,
        part: Mention,
        denied: Sequence[tuple[int, Mention]],
        stated: Sequence[tuple[int, Mention]],
    ) -> str:
        """The report states what the part denies: harmless only where it denies it as well."""
        if any(r == 3 for r, _ in stated) and not any(r == 3 for r, _ in denied):
            return "NON_ALIGNED_CONTRADICTING"
        if part.polarity == "weak_neg" and any(m.polarity == "weak_neg" for _, m in denied):
            return "ALIGNED_MENTIONED"
        if part.sides and any(m.sides == part.sides for _, m in denied):
            return "ALIGNED_MENTIONED"
        if any(m.polarity == "neg" and _covers(m, part) for _, m in denied):
            only_narrower = all(m.finding != part.finding for _, m in stated)
            return "ALIGNED_MENTIONED" if only_narrower else "NON_ALIGNED_MISLEADING"
        return "NON_ALIGNED_CONTRADICTING"

    def _denial(self, part: Mention, denied: Sequence[Mention]) -> str:
        covering = [m for m in denied if _covers(m, part)]
        if not covering:
            return "ALIGNED_NEGATIVE_NOT_MENTIONED"
        if part.polarity == "neg" and all(m.polarity == "weak_neg" for m in covering):
            return "ALIGNED_INFERABLE"
        return "ALIGNED_MENTIONED"

    def _elsewhere(self, stated: Mention, part: Mention) -> bool:
        """Whether a stated finding lies outside the side, place or degree that ``part`` denies."""
        for name in ("sides", "severities", "zones"):
            ours, theirs = getattr(part, name), getattr(stated, name)
            if ours and theirs and not ours & theirs:
                return True
        if not part.regions:
            return False
        near = {f for r in stated.regions for f in self.known.region_family[r]}
        return not part.regions & (near | self.known.default_family[stated.finding])

    def _said_normal(self, report: ReportReading, part: Mention) -> bool:
        return any(
            not (n.abnormal or n.hedged)
            and (not n.sides or (bool(part.sides) and part.sides <= n.sides))
            and any(
                part.finding in self.known.normal_means.get(r, ())
                and (r in self.known.normal_whole or part.regions & self.known.region_below[r])
                for r in n.regions
            )
            for s in report.sentences
            for n in s.normals
        )

    def _normal(self, report: ReportReading, said: Normal, asked: Reading) -> str:
        """ "The heart is normal", "there are abnormal findings": against all that is stated."""
        own = said if said.regions or said.groups else asked
        place = _Place(own.regions, own.groups, said.sides or asked.sides)
        explicit = implied = hedged = denied = False
        for mentions in report.by_finding.values():
            for _, _, m in mentions:
                where = self._lies(m, place)
                if where is None:
                    continue
                if m.polarity == "pos":
                    explicit, implied = explicit or where, True
                hedged = hedged or m.polarity == "hedged"
                denied = denied or m.polarity in ("neg", "weak_neg")
        normals = [n for s in report.sentences for n in s.normals if self._covers_place(n, place)]
        called_normal = any(not (n.abnormal or n.hedged) for n in normals)
        hedged = hedged or any(n.abnormal or n.hedged for n in normals)
        denied = denied or called_normal
        if said.hedged or said.abnormal:
            if implied or hedged:
                return "ALIGNED_INFERABLE"
            if called_normal:
                return "NON_ALIGNED_MISLEADING" if said.hedged else "NON_ALIGNED_CONTRADICTING"
            if denied:
                return "NON_ALIGNED_MISLEADING"
            return "ALIGNED_GENERAL_STATEMENT" if said.hedged else "NON_ALIGNED_NON_INFERABLE"
        if explicit:
            return "NON_ALIGNED_CONTRADICTING"
        if implied or (hedged and not denied):
            return "NON_ALIGNED_MISLEADING"
        return "ALIGNED_INFERABLE" if denied else "ALIGNED_NEGATIVE_NOT_MENTIONED"

    def _lies(self, m: Mention, place: _Place) -> bool | None:
        """Whether a finding of the report surely lies in ``place``; None: it does not lie there."""
        if place.sides and m.sides and not place.sides & m.sides:
            return None
        known = self.known
        grouped = not place.groups.isdisjoint(known.groups[m.finding])
        if known.findings[m.finding].kind != "abnormal" and not grouped:
            return None
        if not place.regions:
            return True if grouped or not place.groups else None
        if place.groups and not grouped:
            return None
        scope = frozenset(b for r in place.regions for b in known.region_below[r])
        usual = known.defaults[m.finding]
        here = bool(m.regions & scope) or (bool(usual) and not m.regions and usual <= scope)
        if not here and (m.regions or known.home[m.finding] not in scope):
            return None
        return here and (not place.sides or bool(m.sides))

    def _covers_place(self, said: Normal, place: _Place) -> bool:
        """Whether a statement of normality speaks of all of ``place``."""
        if said.sides and not (place.sides and place.sides <= said.sides):
            return False
        if place.groups and not said.groups & place.groups:
            return False
        if not said.regions:
            return not said.groups or bool(place.groups)
        below = {b for r in said.regions for b in self.known.region_below[r]}
        return bool(place.regions & below)


def _covers(denial: Mention, part: Mention) -> bool:
    """Whether a denial in the report holds for the side and zone that ``part`` names."""
    if denial.sides and not (part.sides and part.sides <= denial.sides):
        return False
    return not denial.zones or bool(part.zones and part.zones <= denial.zones)


def _worst(levels: Iterable[str]) -> str:
    return max(levels, key=_ORDER.__getitem__)


def _support(own: Reading, report: ReportReading) -> float:
    """Share of a text's content words that one sentence with its sides holds, at best.

    One or two words are no sign of a common source.
    """
    words = own.vocabulary
    if len(words) < 3:
        return 0.0
    return max(
        (len(words & s.vocabulary) / len(words) for s in report.sentences if own.sides <= s.sides),
        default=0.0,
    )

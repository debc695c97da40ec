"""The rules judge: five criteria over texts alone (paper Sec. 3.3, E.3, Tab. 12).

Each method receives exactly what the paper shows to the judge for that criterion: entailment and
completeness the report, the question and the answer; relevance the question and the parts;
question clarity the question; answer clarity the parts. Tags, identifiers and the scene graph are
out of reach. It is deterministic and cheap; it is no language model, and what it says about
quality is a check of consistency between texts, not an expert's opinion.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from cxrqba.judge.grammar import faults, has_letters, has_placeholder, has_verb
from cxrqba.judge.text import ZONES, Mention, Normal, Reader, Reading, ReportReading, stem
from cxrqba.reference.tables import Reference
from cxrqba.schema import TEXT_QUALITY

VERSION = "rules/1"

_YES = re.compile(r"^\s*yes\b", re.I)
_NO = re.compile(r"^\s*no\s*(?:[.,]|$)", re.I)
_MAYBE = re.compile(r"^\s*(?:possibly|maybe|perhaps|uncertain)\b", re.I)
_YES_NO_QUESTION = re.compile(
    r"^\s*(?:is|are|was|were|does|do|did|has|have|can|could|any)\b|\bis there\b|\bare there\b", re.I
)
_ASKING = re.compile(r"\s*(?:what|where|which|how)\b", re.I)
_WHERE = re.compile(r"\b(?:where|location|located|position)\b", re.I)
_HOW_SEVERE = re.compile(r"\bhow (?:severe|large|big|marked)\b|\bseverity\b", re.I)
_SEVERITY_ANSWER = re.compile(
    r"\b(?:mild|moderate|severe|small|large|minimal|trace|tiny|massive|marked|slight|severity)\w*",
    re.I,
)
_TECHNICAL = re.compile(
    r"\b(?:artifacts?|artefacts?|acquisition|acquired|projection|technique|technical|quality"
    r"|positioning|exposure|rotation)\b",
    re.I,
)
_CHEST = re.compile(
    r"\b(?:chest|lungs?|radiograph\w*|x ?-?rays?|study|image|images|film|thora\w+|pulmon\w+"
    r"|cardi\w+|findings?|abnormal\w*|normal|devices?|lines?|tubes?|catheters?|view|pleur\w+|imaging)\b",
    re.I,
)
_NEEDS_OTHER_DATA = re.compile(
    r"\b(?:interval change|changed? since|compared (?:to|with)"
    r"|prior (?:study|exam\w*|radiograph\w*)|previous (?:study|exam\w*|radiograph\w*)"
    r"|how old|what medication|which medication|tomorrow"
    r"|what is the (?:patient'?s? )?(?:name|age|date)|blood pressure|laborator\w+)\b",
    re.I,
)
_GENERAL = re.compile(
    r"\b(?:not (?:further )?(?:described|specified|mentioned|reported|stated|available)"
    r"|no (?:further|other|specific|additional) (?:\w+ )?"
    r"(?:details?|findings?|information|observations?)"
    r"|(?:should|must) be (?:interpreted|correlated)|no observations?)\b",
    re.I,
)
_ORDER = {c: {level: i for i, level in enumerate(levels)} for c, levels in TEXT_QUALITY.items()}


class RulesJudge:
    """Judges one question at a time; reports and texts are read once and remembered."""

    def __init__(self, reference: Reference):
        self.reader = Reader(reference)
        self.reference = reference
        self._ancestors = {n: frozenset(a) for n, a in reference.finding_ancestors.items()}
        self._descendants = _inverse(self._ancestors)
        self._region_below = {
            n: s | {n} for n, s in _inverse(_frozen(reference.region_ancestors)).items()
        }
        self._region_family = {
            n: self._region_below[n] | set(reference.region_ancestors[n]) for n in reference.regions
        }
        self._defaults = {n: frozenset(f.default_regions) for n, f in reference.findings.items()}
        self._default_family = {
            n: frozenset(r for d in regions for r in self._region_family[d])
            for n, regions in self._defaults.items()
        }
        self._normal_whole: set[str] = set()  # regions whose normality needs no place to deny
        self._normal_means = self._negated_by_normality()
        self._report: tuple[str, ReportReading] | None = None
        self._entailed: dict[tuple[str, str | None], str] = {}

    # --- criteria, each with its own view ---------------------------------------------------------

    def entailment(self, report: str, question: str, parts: Sequence[str]) -> list[str]:
        """Does each part agree with the report?"""
        reading = self._read_report(report)
        levels = []
        for part in parts:
            own = self.reader.read(part)
            # only an answer such as "Yes." takes its meaning from the question
            bare = not own.mentions and not own.regions and _lead(part) is not None
            key = (part, question if bare or own.normals else None)
            if key not in self._entailed:
                self._entailed[key] = self._entail(reading, question, part, own)
            levels.append(self._entailed[key])
        return levels

    def relevance(self, question: str, parts: Sequence[str]) -> list[str]:
        """Does each part answer, or belong to, the question?"""
        asked = self.reader.read(question)
        earlier: list[Reading] = []
        levels = []
        for part in parts:
            own = self.reader.read(part)
            levels.append(self._relevance(question, asked, part, own, earlier))
            earlier.append(own)
        return levels

    def completeness(self, report: str, question: str, parts: Sequence[str]) -> str:
        """Does the whole answer hold what the report says to the question?"""
        reading = self._read_report(report)
        asked = self.reader.read(question)
        answers = [self.reader.read(p) for p in parts]
        if not self._is_answered(question, asked, parts, answers):
            return "NOT_ANSWERED"
        if _TECHNICAL.search(question):
            return "FULLY_COMPLETE"
        wanted = [m for m in self._wanted(reading, asked) if m.polarity in ("pos", "hedged")]
        given = [m for a in answers for m in a.mentions if m.polarity in ("pos", "hedged")]
        return self._coverage(question, wanted, given, parts, answers)

    def question_clarity(self, question: str) -> str:
        """Is the question clear, well formed and answerable from one chest X-ray?"""
        if not has_letters(question) or has_placeholder(question):
            return "UNCLEAR_QUESTION"
        if _NEEDS_OTHER_DATA.search(question):
            return "UNANSWERABLE"
        reading = self.reader.read(question)
        if not (reading.mentions or reading.regions or _CHEST.search(question)):
            return "UNRELATED_TO_CHEST_XRAY"
        if reading.words < 3:
            return "UNCLEAR_QUESTION"
        if faults(question, endings="?."):
            return "GRAMMATICAL_ERRORS"
        if not has_verb(question) and not re.match(
            r"\s*(?:what|where|which|how)\b", question, re.I
        ):
            return "UNUSUAL_SENTENCE_STRUCTURE"
        return "OPTIMAL"

    def answer_clarity(self, parts: Sequence[str]) -> list[str]:
        """Is each part clear and well formed?"""
        return [self._answer_clarity(part) for part in parts]

    # --- entailment -------------------------------------------------------------------------------

    def _read_report(self, report: str) -> ReportReading:
        if self._report is None or self._report[0] != report:
            self._report = (report, self.reader.read_report(report))
            self._entailed.clear()
        return self._report[1]

    def _entail(self, report: ReportReading, question: str, part: str, own: Reading) -> str:
        if not own.words:
            return "NON_ALIGNED_NON_INFERABLE"
        mentions = [m for m in own.mentions if m.polarity != "silent"]
        normals: Sequence[Normal] = own.normals
        lead = _lead(part)
        if not own.mentions and not normals and lead is not None and not own.regions:
            mentions = self._meant_by_question(question, lead)
        support = _support(own, report)
        if not mentions:
            if support >= 0.95:
                return "ALIGNED_MENTIONED"
            if normals:
                asked = self.reader.read(question)
                return _worst("entailment", (self._normal(report, n, asked) for n in normals))
            if support >= 0.6:
                return "ALIGNED_INFERABLE"
            if _GENERAL.search(part):
                return "ALIGNED_GENERAL_STATEMENT"
            return "NON_ALIGNED_NON_INFERABLE"
        level = _worst("entailment", (self._mention(report, m) for m in mentions))
        if level == "NON_ALIGNED_NON_INFERABLE" and support >= 0.85:
            return "ALIGNED_INFERABLE"
        return level

    def _meant_by_question(self, question: str, lead: str) -> list[Mention]:
        polarity = {"yes": "pos", "no": "neg"}.get(lead, "hedged")
        return [
            Mention(m.finding, polarity, m.sides, m.zones, m.severities, m.regions)  # type: ignore[arg-type]
            for m in self.reader.read(question).mentions
        ]

    def _mention(self, report: ReportReading, part: Mention) -> str:
        if part.polarity in ("pos", "hedged"):
            return self._positive(report, part)
        return self._negative(report, part)

    def _positive(self, report: ReportReading, part: Mention) -> str:
        exact = report.by_finding.get(part.finding, [])
        same = [(r, m) for r, _, m in exact if m.polarity in ("pos", "hedged")]
        denied = [(r, m) for r, _, m in exact if m.polarity == "neg"]
        opposite = [(r, m) for r, m in denied if self._covers(m, part)]
        if any(r == 3 for r, _ in opposite) and not any(r == 3 for r, _ in same):
            return "NON_ALIGNED_CONTRADICTING"
        if same:
            said = [m for _, m in same]
            return self._compare(part, said, [m for _, m in denied], "ALIGNED_MENTIONED")
        if opposite:
            return "NON_ALIGNED_CONTRADICTING"
        below = [
            m
            for d in self._descendants[part.finding]
            for _, _, m in report.by_finding.get(d, ())
            if m.polarity in ("pos", "hedged")
        ]
        if below:
            return self._compare(part, below, [], "ALIGNED_INFERABLE")
        if any(m.polarity == "weak_neg" for _, _, m in exact):
            return "NON_ALIGNED_MISLEADING"
        for ancestor in self._ancestors[part.finding]:
            if any(
                m.polarity == "neg" and self._covers(m, part)
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
        return _worst("entailment", levels)

    def _by_side(
        self,
        part: Mention,
        same: Sequence[Mention],
        denied: Sequence[Mention],
        best: str,
    ) -> tuple[Sequence[Mention], str]:
        if not part.sides or self.reference.findings[part.finding].laterality in (
            "midline",
            "none",
        ):
            return same, best
        exact = [m for m in same if part.sides <= m.sides]
        if exact:
            return exact, best
        stated = frozenset(s for m in same for s in m.sides)
        if part.sides <= stated:
            return same, best
        unsided = [m for m in same if not m.sides]
        if unsided and not any(m.sides & part.sides for m in denied):
            return unsided, "NON_ALIGNED_NON_INFERABLE"
        if not part.sides & stated or any(m.sides & (part.sides - stated) for m in denied):
            return [], "NON_ALIGNED_CONTRADICTING"
        return [], "NON_ALIGNED_MISLEADING"

    def _by_zone(self, part: Mention, same: Sequence[Mention], best: str) -> str:
        if not part.zones or any(part.zones & m.zones for m in same):
            return best
        if all(m.zones for m in same):
            return "NON_ALIGNED_CONTRADICTING"
        usual = {z for r in self._defaults[part.finding] for z in _zones_of(r)}
        return "ALIGNED_INFERABLE" if part.zones <= usual else "NON_ALIGNED_NON_INFERABLE"

    def _by_region(self, part: Mention, same: Sequence[Mention], best: str) -> str:
        regions = part.regions - self._default_family[part.finding]
        if not regions or not all(m.regions for m in same):
            return best
        known = {r for m in same for x in m.regions for r in self._region_family[x]}
        known |= {self.reference.regions[r].bilateral or r for r in known}
        return best if regions & known else "NON_ALIGNED_MISLEADING"

    def _negative(self, report: ReportReading, part: Mention) -> str:
        exact = report.by_finding.get(part.finding, [])
        denied = [(r, m) for r, _, m in exact if m.polarity in ("neg", "weak_neg")]
        family = (part.finding, *self._descendants[part.finding])
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
        for ancestor in self._ancestors[part.finding]:
            if any(
                m.polarity == "neg" and self._covers(m, part)
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
        if any(m.polarity == "neg" and self._covers(m, part) for _, m in denied):
            only_narrower = all(m.finding != part.finding for _, m in stated)
            return "ALIGNED_MENTIONED" if only_narrower else "NON_ALIGNED_MISLEADING"
        return "NON_ALIGNED_CONTRADICTING"

    def _denial(self, part: Mention, denied: Sequence[Mention]) -> str:
        covering = [m for m in denied if self._covers(m, part)]
        if not covering:
            return "ALIGNED_NEGATIVE_NOT_MENTIONED"
        if part.polarity == "neg" and all(m.polarity == "weak_neg" for m in covering):
            return "ALIGNED_INFERABLE"
        return "ALIGNED_MENTIONED"

    def _covers(self, denial: Mention, part: Mention) -> bool:
        """Whether a denial in the report holds for the side and zone that ``part`` names."""
        if denial.sides and not (part.sides and part.sides <= denial.sides):
            return False
        return not denial.zones or bool(part.zones and part.zones <= denial.zones)

    def _elsewhere(self, stated: Mention, part: Mention) -> bool:
        """Whether a stated finding lies outside the side, zone or degree that ``part`` denies."""
        if part.sides and stated.sides and not part.sides & stated.sides:
            return True
        if part.severities and stated.severities and not part.severities & stated.severities:
            return True
        return bool(part.zones and stated.zones and not part.zones & stated.zones)

    def _said_normal(self, report: ReportReading, part: Mention) -> bool:
        return any(
            not n.abnormal
            and (not n.sides or (bool(part.sides) and part.sides <= n.sides))
            and any(
                part.finding in self._normal_means.get(r, ())
                and (r in self._normal_whole or part.regions & self._region_below[r])
                for r in n.regions
            )
            for s in report.sentences
            for n in s.normals
        )

    def _negated_by_normality(self) -> dict[str, frozenset[str]]:
        """Region -> findings that "the region is normal" denies (normality.yaml, with narrower)."""
        names = {n.replace(" ", "_").replace("-", "_"): n for n in self.reference.findings}
        means: dict[str, set[str]] = {}
        for statement, findings in self.reference.normality["implied_negatives"].items():
            for region in self.reader.read(statement).regions:
                node = self.reference.regions[region]
                self._normal_whole.update(r for r in (region, node.left, node.right) if r)
                for finding in (names[f] for f in findings if f in names):
                    for below in self._region_below[region]:
                        means.setdefault(below, set()).update(
                            {finding, *self._descendants[finding]}
                        )
        return {region: frozenset(found) for region, found in means.items()}

    def _normal(self, report: ReportReading, said: Normal, asked: Reading) -> str:
        """ "The heart is normal", "there are abnormal findings": against all that is stated."""
        regions = said.regions or asked.regions
        subcategories = frozenset() if said.regions else asked.subcategories
        sides = said.sides or asked.sides
        scope = frozenset(b for r in regions for b in self._region_below[r])
        whole = not regions and not subcategories
        explicit = implied = hedged = denied = False
        for sentence in report.sentences:
            for m in sentence.mentions:
                finding = self.reference.findings[m.finding]
                if finding.polarity != "abnormal" or (sides and m.sides and not sides & m.sides):
                    continue
                here = whole or bool(m.regions & scope)
                near = bool(self._defaults[m.finding] & scope) or bool(
                    subcategories.intersection(finding.subcategories)
                )
                if not here and not near:
                    continue
                if m.polarity == "pos":
                    explicit, implied = explicit or here, True
                hedged = hedged or m.polarity == "hedged"
                denied = denied or m.polarity in ("neg", "weak_neg")
            for n in sentence.normals:
                if whole or n.regions & scope or not n.regions:
                    denied = denied or not n.abnormal
                    hedged = hedged or n.abnormal
        if said.abnormal:
            if implied or hedged:
                return "ALIGNED_INFERABLE"
            return "NON_ALIGNED_CONTRADICTING" if denied else "NON_ALIGNED_NON_INFERABLE"
        if explicit:
            return "NON_ALIGNED_CONTRADICTING"
        if implied or (hedged and not denied):
            return "NON_ALIGNED_MISLEADING"
        return "ALIGNED_INFERABLE" if denied else "ALIGNED_NEGATIVE_NOT_MENTIONED"

    # --- relevance --------------------------------------------------------------------------------

    def _relevance(
        self, question: str, asked: Reading, part: str, own: Reading, earlier: Sequence[Reading]
    ) -> str:
        if own.tokens and any(
            set(own.tokens) <= set(e.tokens) and set(own.mentions) <= set(e.mentions)
            for e in earlier
        ):
            return "REDUNDANT_INFO"
        if self._is_direct(question, asked, part, own):
            return "RELEVANT_MAIN_ANSWER"
        if self._is_related(asked, own):
            return "RELATED_INFO"
        return "IRRELEVANT_INFO"

    def _is_direct(self, question: str, asked: Reading, part: str, own: Reading) -> bool:
        if _lead(part) is not None and (
            not own.mentions or self._shares_subject(asked, own) or not asked.mentions
        ):
            return True
        if _TECHNICAL.search(question) and _TECHNICAL.search(part):
            return True
        if not (asked.mentions or asked.regions or asked.subcategories):
            return bool(own.mentions or own.regions or own.normals or _CHEST.search(part))
        return self._shares_subject(asked, own)

    def _shares_subject(self, asked: Reading, own: Reading) -> bool:
        if asked.mentions:
            named = {m.finding for m in asked.mentions}
            return any(
                m.finding in named
                or not named.isdisjoint(self._ancestors[m.finding])
                or not named.isdisjoint(self._descendants[m.finding])
                for m in own.mentions
            )
        if asked.regions:
            below = {b for r in asked.regions for b in self._region_below[r]}
            if asked.sides and own.sides and not asked.sides & own.sides:
                return False
            return bool(own.regions & below) or any(
                self._defaults[m.finding] & below for m in own.mentions
            )
        return any(
            asked.subcategories.intersection(self.reference.findings[m.finding].subcategories)
            for m in own.mentions
        ) or bool(own.subcategories & asked.subcategories)

    def _is_related(self, asked: Reading, own: Reading) -> bool:
        findings = self.reference.findings
        named = {m.finding for m in asked.mentions}
        groups = {s for n in named for s in findings[n].subcategories} | asked.subcategories
        regions = {r for n in named for r in self._default_family[n]}
        regions |= {f for r in asked.regions for f in self._region_family[r]}
        regions |= {
            side
            for r in asked.regions
            for side in (self.reference.regions[r].left, self.reference.regions[r].right)
            if side
        }
        if own.regions & regions or (own.normals and not own.mentions):
            return True
        return any(
            groups.intersection(findings[m.finding].subcategories)
            or self._defaults[m.finding] & regions
            or named.intersection(findings[m.finding].indicative_of)
            or any(m.finding in findings[n].indicative_of for n in named)
            for m in own.mentions
        )

    # --- completeness -----------------------------------------------------------------------------

    def _is_answered(
        self, question: str, asked: Reading, parts: Sequence[str], answers: Sequence[Reading]
    ) -> bool:
        if _HOW_SEVERE.search(question) and not any(_SEVERITY_ANSWER.search(p) for p in parts):
            return any(m.polarity == "neg" for a in answers for m in a.mentions)
        if _WHERE.search(question) and not any(a.regions or a.sides for a in answers):
            return any(m.polarity == "neg" for a in answers for m in a.mentions) or any(
                _GENERAL.search(p) for p in parts
            )
        return any(
            _GENERAL.search(p) or self._is_direct(question, asked, p, a)
            for p, a in zip(parts, answers, strict=True)
        )

    def _wanted(self, report: ReportReading, asked: Reading) -> Iterable[Mention]:
        """What the report states within the scope of the question."""
        if asked.mentions:
            for named in dict.fromkeys(m.finding for m in asked.mentions):
                for finding in (named, *sorted(self._descendants[named])):
                    yield from (m for _, _, m in report.by_finding.get(finding, ()))
            return
        scope = frozenset(b for r in asked.regions for b in self._region_below[r])
        for finding, mentions in report.by_finding.items():
            reference = self.reference.findings[finding]
            if reference.polarity != "abnormal":
                continue
            inside = bool(asked.subcategories.intersection(reference.subcategories))
            for _, _, m in mentions:
                if asked.sides and m.sides and not asked.sides & m.sides:
                    continue
                if not (asked.regions or asked.subcategories) or inside or m.regions & scope:
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
        related = named | {r for n in named for r in (*self._ancestors[n], *self._descendants[n])}
        missing = [f for f in needed if f not in related]
        certain = {m.finding for m in wanted if m.polarity == "pos"}
        if needed and len(missing) == len(needed):
            if any(_YES.match(p) or _MAYBE.match(p) for p in parts):
                return "DETAILS_MISSING"
            affirmed = any(n.abnormal for a in answers for n in a.normals)
            if certain and not affirmed:
                return "INCOMPLETE_MISLEADING"
            return "INCOMPLETE_NON_MISLEADING"
        if missing:
            yes_no = _YES_NO_QUESTION.search(question) is not None
            if 2 * len(missing) > len(needed) and not yes_no:
                return "INCOMPLETE_NON_MISLEADING"
            return "DETAILS_MISSING"
        if self._lacks_detail(wanted, given):
            return "DETAILS_MISSING"
        return "FULLY_COMPLETE"

    def _lacks_detail(self, wanted: Sequence[Mention], given: Sequence[Mention]) -> bool:
        """Whether a side or severity that the report gives is nowhere in the answer."""
        for finding in {m.finding for m in given}:
            said = [m for m in given if m.finding == finding]
            asked = [m for m in wanted if m.finding == finding]
            for name in ("sides", "severities"):
                stated = {v for m in asked for v in getattr(m, name)}
                if stated and not any(getattr(m, name) for m in said):
                    return True
        return False

    # --- clarity ----------------------------------------------------------------------------------

    def _answer_clarity(self, part: str) -> str:
        if not has_letters(part):
            return "NOT_UNDERSTANDABLE"
        if has_placeholder(part):
            return "UNCLEAR_ANSWER"
        if faults(part, endings=".!"):
            return "GRAMMATICAL_ERRORS"
        if not has_verb(part) or (part.isupper() and len(part.split()) > 3):
            return "UNUSUAL_SENTENCE_STRUCTURE"
        return "OPTIMAL"


def _lead(text: str) -> str | None:
    """The answer word a text opens with: yes, no, possibly, or none."""
    for word, pattern in (("yes", _YES), ("no", _NO), ("possibly", _MAYBE)):
        if pattern.match(text):
            return word
    return None


def _worst(criterion: str, levels: Iterable[str]) -> str:
    """The worst of several levels of one criterion."""
    order = _ORDER[criterion]
    return max(levels, key=order.__getitem__)


def _support(own: Reading, report: ReportReading) -> float:
    """Share of a text's content words that one sentence of the report holds, at best.

    One or two words are no sign of a common source.
    """
    words = frozenset(own.tokens)
    if len(words) < 3:
        return 0.0
    return max(
        (len(words.intersection(s.tokens)) / len(words) for s in report.sentences), default=0
    )


def _zones_of(region: str) -> frozenset[str]:
    return frozenset(ZONES[s] for w in region.split() if (s := stem(w)) in ZONES)


def _frozen(relation: dict[str, tuple[str, ...]]) -> dict[str, frozenset[str]]:
    return {name: frozenset(others) for name, others in relation.items()}


def _inverse(ancestors: dict[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    below: dict[str, set[str]] = {name: set() for name in ancestors}
    for name, above in ancestors.items():
        for ancestor in above:
            below[ancestor].add(name)
    return {name: frozenset(found) for name, found in below.items()}

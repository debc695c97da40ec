"""The rules judge: five criteria over texts alone (paper Sec. 3.3, E.3, Tab. 12).

Each method receives exactly what the paper shows to the judge for that criterion: entailment and
completeness the report, the question and the answer; relevance the question and the parts;
question clarity the question; answer clarity the parts. Tags, identifiers and the scene graph are
out of reach. It is deterministic and cheap; it is no language model, and what it says about
quality is a check of consistency between texts, not an expert's opinion.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from cxrqba.judge.completeness import Completeness
from cxrqba.judge.entailment import Entailment
from cxrqba.judge.grammar import faults, has_letters, has_placeholder, has_verb
from cxrqba.judge.knowledge import Knowledge
from cxrqba.judge.prompts import View
from cxrqba.judge.relevance import Relevance
from cxrqba.judge.text import Reader, ReportReading
from cxrqba.judge.verdict import Verdict
from cxrqba.judge.vocabulary import Vocabulary
from cxrqba.judge.wording import ASKING, CHEST, NEEDS_OTHER_DATA, lead, matches

VERSION = "rules/2"


class RulesJudge:
    """Judges one question at a time; reports and texts are read once and remembered."""

    def __init__(self, vocabulary: Vocabulary):
        self.reader = Reader(vocabulary)
        self.known = known = Knowledge(vocabulary)
        self._entailment = Entailment(self.reader, known)
        self._relevance = Relevance(self.reader, known)
        self._completeness = Completeness(known, self._relevance)
        self._report: tuple[str, ReportReading] | None = None
        self._entailed: dict[tuple[str, str | None], str] = {}
        self._clarity: dict[str, str] = {}

    def judge(self, shown: View) -> Verdict:
        """The verdict on one view."""
        report, question, parts = shown.report, shown.question, shown.parts
        match shown.criterion:
            case "entailment":
                levels = self.entailment(report, question, parts)
            case "relevance":
                levels = self.relevance(question, parts)
            case "completeness":
                levels = [self.completeness(report, question, parts)]
            case "question_clarity":
                levels = [self.question_clarity(question)]
            case _:
                levels = self.answer_clarity(parts)
        return Verdict(tuple(levels), "ok", VERSION)

    def entailment(self, report: str, question: str, parts: Sequence[str]) -> list[str]:
        """Does each part agree with the report?"""
        reading = self._read_report(report)
        levels = []
        for part in parts:
            own = self.reader.read(part)
            # only answers such as "Yes." or "It is normal." take their meaning from the question
            bare = not own.mentions and not own.regions and lead(part) is not None
            key = (part, question if bare or own.normals else None)
            if key not in self._entailed:
                self._entailed[key] = self._entailment.level(reading, question, part, own)
            levels.append(self._entailed[key])
        return levels

    def relevance(self, question: str, parts: Sequence[str]) -> list[str]:
        """Does each part answer, or belong to, the question?"""
        return self._relevance.levels(question, parts)

    def completeness(self, report: str, question: str, parts: Sequence[str]) -> str:
        """Does the whole answer hold what the report says to the question?"""
        answers = [self.reader.read(part) for part in parts]
        return self._completeness.level(self._read_report(report), question, parts, answers)

    def question_clarity(self, question: str) -> str:
        """Is the question clear, well formed and answerable from one chest X-ray?"""
        if question not in self._clarity:
            if len(self._clarity) >= 50_000:
                self._clarity.clear()
            self._clarity[question] = self._question_clarity(question)
        return self._clarity[question]

    def answer_clarity(self, parts: Sequence[str]) -> list[str]:
        """Is each part clear and well formed?"""
        return [_answer_clarity(part) for part in parts]

    def _read_report(self, report: str) -> ReportReading:
        if self._report is None or self._report[0] != report:
            self._report = (report, self.reader.read_report(report))
            self._entailed.clear()
        return self._report[1]

    def _question_clarity(self, question: str) -> str:
        if not has_letters(question) or has_placeholder(question):
            return "UNCLEAR_QUESTION"
        if matches(NEEDS_OTHER_DATA, question):
            return "UNANSWERABLE"
        reading = self.reader.read(question)
        named = reading.mentions or reading.regions or reading.groups
        if not (named or matches(CHEST, question)):
            return "UNRELATED_TO_CHEST_XRAY"
        if reading.words < 3:
            return "UNCLEAR_QUESTION"
        if faults(question, endings="?."):
            return "GRAMMATICAL_ERRORS"
        if not has_verb(question) and not matches(ASKING, question):
            return "UNUSUAL_SENTENCE_STRUCTURE"
        return "OPTIMAL"


@lru_cache(maxsize=100_000)
def _answer_clarity(part: str) -> str:
    if not has_letters(part):
        return "NOT_UNDERSTANDABLE"
    if has_placeholder(part):
        return "UNCLEAR_ANSWER"
    if faults(part, endings=".!"):
        return "GRAMMATICAL_ERRORS"
    if not has_verb(part) or (part.isupper() and len(part.split()) > 3):
        return "UNUSUAL_SENTENCE_STRUCTURE"
    return "OPTIMAL"

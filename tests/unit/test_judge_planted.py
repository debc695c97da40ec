"""The judge on whole reports: what they say passes, what they deny or place elsewhere fails."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from cxrqba.judge.rules import RulesJudge
from cxrqba.judge.text import Mention, report_sentences
from cxrqba.judge.vocabulary import load_vocabulary

ROOT = Path(__file__).parents[2]
REPORTS = sorted((ROOT / "resources" / "demo" / "mimic-cxr" / "files").rglob("s*.txt"))
ASK = "Describe the given study."
OTHER = {"left": "right", "right": "left"}


@pytest.fixture(scope="module")
def judge() -> RulesJudge:
    return RulesJudge(load_vocabulary(ROOT / "resources" / "judge"))


def sentences(report: str) -> list[str]:
    found = [" ".join(s.split()).strip(" .") + "." for _, s in report_sentences(report)]
    return [s for s in found if len(s) > 6]


def share(levels: Counter[str], start: str) -> float:
    return sum(n for level, n in levels.items() if level.startswith(start)) / levels.total()


def test_a_reports_own_sentences_pass(judge: RulesJudge) -> None:
    levels: Counter[str] = Counter()
    for path in REPORTS:
        report = path.read_text(encoding="utf-8")
        levels.update(judge.entailment(report, ASK, sentences(report)))
    assert levels.total() > 500
    assert share(levels, "NON_ALIGNED") < 0.02


def test_denying_what_the_report_states_fails(judge: RulesJudge) -> None:
    levels: Counter[str] = Counter()
    for path in REPORTS:
        report = path.read_text(encoding="utf-8")
        for sentence in sentences(report):
            mentions = judge.reader.read(sentence).mentions
            if len(mentions) == 1 and mentions[0].polarity == "pos":
                levels.update(
                    judge.entailment(report, ASK, [f"There is no {mentions[0].finding}."])
                )
    assert levels.total() > 100
    assert share(levels, "NON_ALIGNED") > 0.99


def test_the_other_side_fails(judge: RulesJudge) -> None:
    levels: Counter[str] = Counter()
    for path in REPORTS:
        report = path.read_text(encoding="utf-8")
        for sentence in sentences(report):
            mentions = judge.reader.read(sentence).mentions
            words = re.findall(r"\b(left|right)\b", sentence, re.IGNORECASE)
            if len(mentions) == len(words) == 1 and _is_one_sided(judge, report, mentions[0]):
                swapped = sentence.replace(words[0], OTHER[words[0].lower()])
                levels.update(judge.entailment(report, ASK, [swapped]))
    assert levels.total() > 30
    assert share(levels, "NON_ALIGNED") > 0.95


def _is_one_sided(judge: RulesJudge, report: str, mention: Mention) -> bool:
    """Whether a sided finding is stated, and nowhere in the report on the other side."""
    said = judge.reader.read_report(report).by_finding[mention.finding]
    sides = {side for _, _, m in said for side in m.sides}
    sided = judge.known.findings[mention.finding].sided
    return mention.polarity == "pos" and sided and len(sides) == 1

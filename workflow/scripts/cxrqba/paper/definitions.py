"""Tables 11 to 15: what the grades and the questions are, from what implements them.

Tables 11 and 12 are the levels of quality with the best grade each allows, as ``judge.ratings``
applies them; Tables 13 to 15 are the templates of ``resources/templates`` with the number of
questions the dataset has of each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from cxrqba.judge.ratings import BY_PART_TYPE
from cxrqba.paper.scan import slices
from cxrqba.paper.tables import Block, Table, count
from cxrqba.qa.templates import PartRule, Sentence, Template, TemplateFile
from cxrqba.schema import EXTRACTION_QUALITY, PART_CRITERIA, QUESTIONS, TEXT_QUALITY

STRATEGIES = {
    "Table 13": (
        "Templates of indication and study abnormality",
        ("indication", "abnormal"),
    ),
    "Table 14": ("Templates of region abnormality", ("region_abnormal",)),
    "Table 15": ("Templates of findings and devices", ("finding",)),
}
"""Table -> caption, strategies of its templates."""
_LEVELS = ("Aspect", "Level", "Allows at best")
_LEVEL_NOTE = (
    "Levels from worst to best. The grade of a pair is the worst that any of its aspects allows; "
    "an aspect that does not apply does not limit."
)
_TEMPLATE_NOTES = (
    "Answers: the template sentence of each state, in one of its wordings; the first that fits is "
    "taken. Parts: subsets of observations in order, with their role; a fallback is said in place "
    "of an empty subset.",
    "Questions: how many of the dataset; a question is skipped where its answer is unknown, or "
    "would deny something of a study that was not read completely.",
)


def extraction_quality_table(dataset: str) -> Table:
    """Table 11: levels of extraction quality."""
    rows = [
        {"Aspect": _words(aspect), "Level": level, "Allows at best": rating}
        for aspect, levels in EXTRACTION_QUALITY.items()
        for level, rating in levels.items()
    ]
    data = pl.DataFrame(rows)
    caption = "Extraction quality and the best grade it allows"
    return Table("Table 11", caption, dataset, data, (Block(data, None, _LEVELS),), (_LEVEL_NOTE,))


def text_quality_table(dataset: str) -> Table:
    """Table 12: levels of the judge's criteria, with those that depend on the part's type."""
    rows = []
    for criterion, levels in TEXT_QUALITY.items():
        unit = "answer part" if criterion in PART_CRITERIA else "question"
        for level, rating in levels.items():
            rows.append(
                {
                    "Aspect": _words(criterion),
                    "Judged of each": unit,
                    "Level": level,
                    "Allows at best": _by_part_type(criterion, level, rating),
                }
            )
    data = pl.DataFrame(rows)
    caption = "Text quality and the best grade it allows"
    note = "Levels from best to worst. A pair of which one criterion was not judged is not rated."
    block = Block(data, None, (*_LEVELS, "Judged of each"))
    return Table("Table 12", caption, dataset, data, (block,), (note,))


def template_table(
    name: str, files: Sequence[TemplateFile], questions: Sequence[Path], dataset: str
) -> Table:
    """Table 13, 14 or 15: templates of its strategies; ``questions``: files of QUESTIONS."""
    caption, strategies = STRATEGIES[name]
    counts = question_counts(questions)
    rows = [
        _template(template, file, counts)
        for file in files
        if file.strategy in strategies
        for template in file.templates
    ]
    data = pl.DataFrame(rows)
    shown = data.with_columns(
        pl.Series("Questions", [count(n) for n in data["Questions"]], dtype=pl.String)
    )
    text = ("Template", "Asked for each", "First wording", "Answers", "Parts")
    return Table(name, caption, dataset, data, (Block(shown, None, text),), _TEMPLATE_NOTES)


def question_counts(questions: Sequence[Path]) -> dict[str, int]:
    """Question type -> number of questions."""
    counts: dict[str, int] = {}
    for table in slices(questions, ["question_type"], QUESTIONS):
        for kind, number in table.group_by("question_type").len().iter_rows():
            counts[kind] = counts.get(kind, 0) + number
    return counts


def _template(
    template: Template, file: TemplateFile, counts: Mapping[str, int]
) -> dict[str, object]:
    return {
        "Template": template.id,
        "Asked for each": _words(template.variable or "study"),
        "Wordings": len(template.questions),
        "First wording": template.questions[0],
        "Answers": "; ".join(_answer(s) for s in template.answers) or "from its parts",
        "Parts": "; ".join(_part(rule) for rule in template.parts),
        "Questions": counts.get(template.id, 0),
    }


def _answer(sentence: Sentence) -> str:
    states = " or ".join(sentence.states) or "any state"
    needs = f" and {', '.join(sentence.needs)}" if sentence.needs else ""
    return f"{states}{needs}: {sentence.texts[0]}"


def _part(rule: PartRule) -> str:
    limit = f", at most {rule.limit}" if rule.limit else ""
    reported = ", from the report" if rule.reported_only else ""
    fallback = f", else “{rule.fallback.texts[0]}”" if rule.fallback else ""
    unless = f", not if {' or '.join(rule.unless)}" if rule.unless else ""
    return f"{_words(rule.role)}: {_words(rule.subset)}{reported}{limit}{unless}{fallback}"


def _by_part_type(criterion: str, level: str, rating: str) -> str:
    if criterion != "relevance":
        return rating
    others: dict[str, list[str]] = {}
    for (special, kind), allowed in BY_PART_TYPE.items():
        if special == level:
            others.setdefault(allowed, []).append(_words(kind))
    return "; ".join([rating, *(f"{r} for {' and '.join(k)}" for r, k in others.items())])


def _words(name: str) -> str:
    return name.replace("_", " ")

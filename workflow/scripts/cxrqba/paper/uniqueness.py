"""Table 3: how often questions, answers and tag sets repeat (paper Sec. 4.2).

The duplication factor is the number of texts (or tag sets) over the number of distinct ones.
Question texts and whole answers count once per QA pair; answer texts and tag sets once per answer
part, as in the paper's rows by answer type. A tag set is the sorted set of the part's tags; the
empty set is a set too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from cxrqba.paper.names import ANSWER_TYPE_NAMES, STRATEGY_NAMES
from cxrqba.paper.scan import KEY, slices, whole_questions
from cxrqba.paper.tables import Block, Table, count, no_data, number
from cxrqba.schema import ANSWERS, QUESTIONS

NAME = "Table 3"
CAPTION = "Uniqueness of questions, answers and tag sets"
OVERALL = "overall"
QUESTION_KINDS = ("questions", "answers")
PART_KINDS = ("answer_texts", "finding_sets", "region_sets")
KINDS = (*QUESTION_KINDS, *PART_KINDS)
HEADINGS = {
    "questions": "Questions",
    "answers": "Whole answers",
    "answer_texts": "Part texts",
    "finding_sets": "Finding sets",
    "region_sets": "Region sets",
}
QUESTION_COLUMNS = ["question_strategy", "question"]
ANSWER_COLUMNS = [*KEY, "question_strategy", "answer_type", "text", "obs_entities", "regions"]
Key = tuple[str, str]
"""(column grouped by, value)."""

SCHEMA = pl.Schema(
    {
        "group_by": pl.String,  # overall, question_strategy or answer_type
        "group": pl.String,
        "qa_pairs": pl.Int64,
        "answer_parts": pl.Int64,
        **{
            column: dtype
            for kind in KINDS
            for column, dtype in ((f"unique_{kind}", pl.Int64), (f"{kind}_duplication", pl.Float64))
        },
    }
)


class _Distinct:
    """Number of distinct 64-bit hashes; compacts only when doubled, so adding stays cheap."""

    def __init__(self) -> None:
        self.parts: list[pl.Series] = []
        self.compacted = 0
        self.pending = 0

    def add(self, values: pl.Series) -> None:
        """Add hashes, repeated or not."""
        self.parts.append(values.unique())
        self.pending += self.parts[-1].len()
        if self.pending > max(self.compacted, 1_000_000):
            self.count()

    def count(self) -> int:
        """Distinct hashes so far."""
        if self.parts:
            self.parts = [pl.concat(self.parts).unique()]
            self.compacted, self.pending = self.parts[0].len(), 0
        return self.compacted


@dataclass
class _Group:
    """Counts of one row; texts and tag sets are kept as hashes."""

    qa_pairs: int = 0
    parts: int = 0
    seen: dict[str, _Distinct] = field(default_factory=lambda: {k: _Distinct() for k in KINDS})


def uniqueness(questions: Sequence[Path], answers: Sequence[Path]) -> pl.DataFrame:
    """Count over all shards of QUESTIONS and ANSWERS; one row per group, columns as ``SCHEMA``."""
    groups: dict[Key, _Group] = defaultdict(_Group)
    for table in slices(questions, QUESTION_COLUMNS, QUESTIONS):
        _add_questions(groups, table)
    for table in whole_questions(answers, ANSWER_COLUMNS, ANSWERS):
        _add_answers(groups, table)
        _add_parts(groups, table)
    order = [
        (OVERALL, OVERALL),
        *(("question_strategy", s) for s in STRATEGY_NAMES),
        *(("answer_type", t) for t in ANSWER_TYPE_NAMES),
    ]
    rows = [_row(key, groups[key]) for key in order if key in groups]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def uniqueness_table(questions: Sequence[Path], answers: Sequence[Path], dataset: str) -> Table:
    """Table 3 of one dataset."""
    data = uniqueness(questions, answers)
    if data.is_empty():
        return no_data(NAME, CAPTION, dataset, data, "there are no QA pairs")
    names = {**STRATEGY_NAMES, **ANSWER_TYPE_NAMES}
    labels = {"question_strategy": "strategy", "answer_type": "answer part"}
    rows = [
        {
            "Group": f"{labels[r['group_by']]}: {names[r['group']]}"
            if r["group_by"] in labels
            else r["group"],
            "QA pairs": count(r["qa_pairs"]),
            "Answer parts": count(r["answer_parts"]),
            **{
                f"{HEADINGS[kind]}{suffix}": text
                for kind in KINDS
                for suffix, text in (
                    ("", count(r[f"unique_{kind}"])),
                    (" ×", number(r[f"{kind}_duplication"], 1)),
                )
            },
        }
        for r in data.iter_rows(named=True)
    ]
    notes = (
        "Columns named × give the average duplication factor: all texts or tag sets of the group "
        "over the distinct ones. Questions and whole answers are counted per QA pair (a row by "
        "answer part has none), part texts, finding sets and region sets per answer part.",
    )
    return Table(
        NAME, CAPTION, dataset, data, (Block(pl.DataFrame(rows), None, ("Group",)),), notes
    )


def _add_questions(groups: dict[Key, _Group], questions: pl.DataFrame) -> None:
    hashed = questions.select("question_strategy", questions=pl.col("question").hash())
    for key, group in _by(hashed, "question_strategy"):
        groups[key].qa_pairs += group.height
        groups[key].seen["questions"].add(group["questions"])


def _add_answers(groups: dict[Key, _Group], parts: pl.DataFrame) -> None:
    """Whole answers: the texts of all parts of a question."""
    whole = parts.group_by(*KEY, "question_strategy", maintain_order=True).agg("text")
    hashed = whole.select("question_strategy", answers=pl.col("text").list.join("\n").hash())
    for key, group in _by(hashed, "question_strategy"):
        groups[key].seen["answers"].add(group["answers"])


def _add_parts(groups: dict[Key, _Group], parts: pl.DataFrame) -> None:
    hashed = parts.select(
        "question_strategy",
        "answer_type",
        answer_texts=pl.col("text").hash(),
        finding_sets=_set_hash("obs_entities"),
        region_sets=_set_hash("regions"),
    )
    for key, group in _by(hashed, "question_strategy", "answer_type"):
        groups[key].parts += group.height
        for kind in PART_KINDS:
            groups[key].seen[kind].add(group[kind])


def _by(table: pl.DataFrame, *columns: str) -> Iterator[tuple[Key, pl.DataFrame]]:
    """The whole table as the overall group, then one group a value of each column."""
    if table.height:
        yield (OVERALL, OVERALL), table
    for column in columns:
        for (value,), group in table.group_by(column):
            yield (column, str(value)), group


def _set_hash(column: str) -> pl.Expr:
    return pl.col(column).list.unique().list.sort().list.join("|").hash()


def _row(key: Key, group: _Group) -> dict[str, str | int | float | None]:
    by_part = key[0] == "answer_type"
    row: dict[str, str | int | float | None] = {
        "group_by": key[0],
        "group": key[1],
        "qa_pairs": None if by_part else group.qa_pairs,
        "answer_parts": group.parts,
    }
    for kind in KINDS:
        total = group.parts if kind in PART_KINDS else group.qa_pairs
        unique = group.seen[kind].count()
        defined = not (by_part and kind in QUESTION_KINDS) and unique > 0
        row[f"unique_{kind}"] = unique if defined else None
        row[f"{kind}_duplication"] = total / unique if defined else None
    return row

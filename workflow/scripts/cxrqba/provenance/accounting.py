"""Accounting: what came in, what went on, what was lost, where and why.

Nothing is lost in silence: every study the source names is a study of the last stage or stands in
a ledger with the stage and the reason. The check fails the run and names the study otherwise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from cxrqba.errors import UserError
from cxrqba.paper.accounting import STAGES
from cxrqba.paper.scan import scan, slices
from cxrqba.schema import (
    ACCOUNTING,
    ANSWERS,
    GRAPHS,
    IMAGE_STATUS,
    LEDGER,
    OBSERVATIONS,
    PASS_STATUS,
    QUESTIONS,
    RATED,
    RATINGS,
    SKIPPED_QUESTIONS,
    STUDIES,
)

PREPARE = "prepare_studies"
BEFORE_GRAPHS = STAGES[: STAGES.index("build_graphs") + 1]
"""A study lost at one of these has no graph; one lost later has."""

_LOST = {"study": "studies lost", "image": "images left out", "item": "items left out"}


@dataclass(frozen=True)
class Tables:
    """Files of the tables that are accounted for; a stage that did not run has none."""

    studies: Sequence[Path]
    ledgers: Sequence[Path]
    statuses: Sequence[Path]
    graphs: Sequence[Path]
    observations: Sequence[Path]
    questions: Sequence[Path]
    answers: Sequence[Path]
    skipped: Sequence[Path]
    rated: Sequence[Path]
    image_status: Sequence[Path]


class _Rows:
    """Rows of ACCOUNTING in the order they are added."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, str, str | None, int]] = []

    def add(self, stage: str, what: str, reason: str | None, count: int) -> None:
        self.rows.append((stage, what, reason, count))

    def counts(self, stage: str, what: str, counts: Iterable[tuple[str | None, int]]) -> None:
        for reason, count in sorted(counts, key=lambda c: (c[0] is None, c[0] or "")):
            self.add(stage, what, reason, count)

    def table(self) -> pl.DataFrame:
        return pl.DataFrame(self.rows, schema=ACCOUNTING, orient="row")


def account(tables: Tables) -> pl.DataFrame:
    """Return ACCOUNTING; :class:`UserError` names a study that is neither out nor in a ledger."""
    studies = scan(tables.studies, ["study_id"], STUDIES).collect()["study_id"].to_list()
    ledger = scan(tables.ledgers, list(LEDGER), LEDGER).collect()
    at_reading = ledger.filter(pl.col("stage") == PREPARE, pl.col("scope") == "study").height
    lost = _first_losses(ledger)
    out = _check(tables, studies, lost)
    rows = _Rows()
    rows.add(PREPARE, "studies in", None, len(studies) + at_reading)
    _losses(rows, ledger, lost)
    _images(rows, tables.image_status)
    _passes(rows, tables.statuses)
    _graphs(rows, tables)
    rows.add(STAGES[-1] if tables.graphs else PREPARE, "studies out", None, out)
    _questions(rows, tables)
    return rows.table()


def _first_losses(ledger: pl.DataFrame) -> dict[str, tuple[str, str]]:
    """Study id -> (stage, reason) where it was lost first, after reading."""
    order = {stage: i for i, stage in enumerate(STAGES)}
    rows = ledger.filter(pl.col("scope") == "study", pl.col("stage") != PREPARE)
    lost: dict[str, tuple[str, str]] = {}
    for study_id, stage, reason in sorted(
        rows.select("study_id", "stage", "reason").iter_rows(),
        key=lambda r: (order.get(r[1], len(order)), r),
    ):
        lost.setdefault(study_id, (stage, reason))
    return lost


def _check(tables: Tables, studies: list[str], lost: Mapping[str, tuple[str, str]]) -> int:
    """Number of studies out, after checking in = out + ledger study by study."""
    known = set(studies)
    if len(known) != len(studies):
        twice = min(s for s, times in Counter(studies).items() if times > 1)
        raise UserError(f"study {twice}: read twice by {PREPARE}; give each study one id")
    unknown = sorted(set(lost) - known)
    if unknown:
        stage = lost[unknown[0]][0]
        raise UserError(f"study {unknown[0]}: lost at {stage}, but {PREPARE} never read it")
    if not tables.graphs:
        return len(known - set(lost))
    out = scan(tables.graphs, ["study_id"], GRAPHS).collect()["study_id"].to_list()
    built = set(out)
    early = {study for study, (stage, _) in lost.items() if stage in BEFORE_GRAPHS}
    if len(built) != len(out):
        twice = min(s for s, times in Counter(out).items() if times > 1)
        raise UserError(f"study {twice}: two graphs; delete results of build_graphs and run again")
    for study_id in sorted(built & early):
        stage, reason = lost[study_id]
        raise UserError(f"study {study_id}: has a graph, yet {stage} lost it ({reason})")
    for study_id in sorted(known - built - set(lost)):
        raise UserError(
            f"study {study_id}: has no graph and stands in no ledger; "
            "delete its shard's results and run again, and report it if it stays so"
        )
    for study_id in sorted(built - known):
        raise UserError(f"study {study_id}: has a graph, but {PREPARE} never read it")
    return len(built - set(lost))


def _losses(rows: _Rows, ledger: pl.DataFrame, lost: Mapping[str, tuple[str, str]]) -> None:
    reading = ledger.filter(pl.col("stage") == PREPARE, pl.col("scope") == "study")
    _counted(rows, reading, "study")
    after = pl.DataFrame(
        [(stage, reason) for stage, reason in lost.values()],
        schema={"stage": pl.String, "reason": pl.String},
        orient="row",
    )
    _counted(rows, after, "study")
    for scope in ("image", "item"):
        _counted(rows, ledger.filter(pl.col("scope") == scope), scope)


def _counted(rows: _Rows, table: pl.DataFrame, scope: str) -> None:
    counts = table.group_by("stage", "reason").len().sort("stage", "reason", nulls_last=True)
    for stage, reason, count in counts.iter_rows():
        rows.add(stage, _LOST[scope], reason, count)


def _images(rows: _Rows, paths: Sequence[Path]) -> None:
    status = scan(paths, ["status"], IMAGE_STATUS).collect()
    rows.counts("segment_anatomy", "images", _by(status, "status"))


def _passes(rows: _Rows, paths: Sequence[Path]) -> None:
    status = scan(paths, ["step", "status", "num_items"], PASS_STATUS).collect()
    for step in sorted(status["step"].unique().to_list(), key=_position):
        part = status.filter(pl.col("step") == step)
        rows.counts(step, "studies", _by(part, "status"))
        rows.add(step, "items", None, int(part["num_items"].sum()))


def _graphs(rows: _Rows, tables: Tables) -> None:
    if not tables.graphs:
        return
    complete = scan(tables.graphs, ["is_complete", "incomplete_reasons"], GRAPHS).collect()
    rows.add("build_graphs", "complete studies", None, int(complete["is_complete"].sum()))
    reasons = complete.filter(~pl.col("is_complete"), pl.col("incomplete_reasons").list.len() > 0)
    kinds = pl.element().str.split(":").list.first()  # without the sentence a reason names
    names = reasons.select(
        pl.col("incomplete_reasons").list.eval(kinds).list.unique().explode(empty_as_null=True)
    )
    rows.counts("build_graphs", "incomplete studies", _by(names, "incomplete_reasons"))
    origin = (
        scan(tables.observations, ["from_report", "positiveness"], OBSERVATIONS)
        .select(
            pl.when("from_report")
            .then(pl.lit("from the report, ") + pl.col("positiveness").fill_null("unknown"))
            .otherwise(pl.lit("added by default"))
            .alias("reason")
        )
        .collect()
    )
    rows.counts("build_graphs", "observations", _by(origin, "reason"))


def _questions(rows: _Rows, tables: Tables) -> None:
    if not tables.questions:
        return
    strategies: dict[str | None, int] = {}
    parts: dict[str | None, int] = {}
    for table in slices(tables.questions, ["question_strategy"], QUESTIONS):
        _sum(strategies, _by(table, "question_strategy"))
    for table in slices(tables.answers, ["answer_type"], ANSWERS):
        _sum(parts, _by(table, "answer_type"))
    rows.counts("generate_qa", "questions", strategies.items())
    rows.counts("generate_qa", "answer parts", parts.items())
    skipped = scan(tables.skipped, ["reason", "count"], SKIPPED_QUESTIONS).collect()
    reasons = skipped.group_by("reason").agg(pl.col("count").sum())
    rows.counts("generate_qa", "questions skipped", list(reasons.iter_rows()))
    rated = scan(tables.rated, ["rating", "pre_training", "fine_tuning"], RATED).collect()
    ratings = dict(_by(rated, "rating"))
    for rating in reversed(RATINGS):
        rows.add("rate_qa", "questions rated", rating, ratings.get(rating, 0))
    rows.add("rate_qa", "questions not rated", None, ratings.get(None, 0))
    rows.add("rate_qa", "pre-training grade", None, int(rated["pre_training"].sum()))
    rows.add("rate_qa", "fine-tuning grade", None, int(rated["fine_tuning"].sum()))


def _by(table: pl.DataFrame, column: str) -> list[tuple[str | None, int]]:
    return list(table.group_by(column).len().iter_rows())


def _sum(total: dict[str | None, int], counts: Iterable[tuple[str | None, int]]) -> None:
    for name, count in counts:
        total[name] = total.get(name, 0) + count


def _position(stage: str) -> tuple[int, str]:
    return (STAGES.index(stage) if stage in STAGES else len(STAGES), stage)

"""Rows of one study from all tables of a run: the one place where the chain is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from cxrqba.browse.gather import Row, StudyRows, files_of_study, read_studies
from cxrqba.errors import UserError, nearest
from cxrqba.schema import JUDGEMENTS, MAPPINGS, MODEL_REQUESTS, RECEIPTS
from cxrqba.tables import read_table, scan_table


@dataclass
class Chain:
    """What explains the answers of one study."""

    rows: StudyRows
    judgements: list[Row] = field(default_factory=list)
    runner_up: dict[tuple[str, str], float | None] = field(default_factory=dict)
    calls: dict[str, Row] = field(default_factory=dict)  # first digits of a request's key -> call

    def question(self, question_id: str) -> Row:
        """The question's row; :class:`UserError` names the nearest of an unknown id."""
        known = {q["question_id"]: q for q in self.rows.questions}
        if question_id not in known:
            raise UserError(
                f"no question '{question_id}' about {self.rows.study['study_id']}"
                f"{nearest(question_id, known)}; it has {len(known)} questions, "
                "which `cxrqba show` lists"
            )
        return known[question_id]

    def parts(self, question_id: str) -> list[Row]:
        """Answer parts of a question, depth-first."""
        return [a for a in self.rows.answers if a["question_id"] == question_id]


KEY_DIGITS = 16
"""Digits of a request's key that tables quote."""


def read_chain(results: Path, study_id: str) -> Chain:
    """All rows about a study; :class:`UserError` names the nearest study of an unknown id."""
    files = files_of_study(results, study_id)
    if "questions" not in files:
        raise UserError(f"{results}: a dataset without reports has no questions to explain")
    shard = files["questions"][0].name.partition(".")[0]
    rows = read_studies(files, [study_id])[0]
    judged = results / "judge_qa" / f"{shard}.judgements.parquet"
    own = pl.col("study_id") == study_id
    return Chain(
        rows=rows,
        judgements=scan_table(judged, JUDGEMENTS).filter(own).collect().to_dicts(),
        runner_up=_runner_up(results, rows),
        calls=_calls(results, shard, study_id),
    )


def _runner_up(results: Path, rows: StudyRows) -> dict[tuple[str, str], float | None]:
    """Scores of the second best, which observations do not repeat."""
    nodes = list(rows.graph.observations.values()) if rows.graph else []
    if rows.graph and rows.graph.answer_for_indication:
        nodes.append(rows.graph.answer_for_indication)
    texts = {d["text"] for node in nodes for d in node.decisions}
    table = scan_table(results / "map_entities" / "mappings.parquet", MAPPINGS)
    found = table.filter(pl.col("text").is_in(sorted(texts))).collect()
    return {(r["kind"], r["text"]): r["runner_up_score"] for r in found.iter_rows(named=True)}


def _calls(results: Path, shard: str, study_id: str) -> dict[str, Row]:
    """Model calls about the study, where a model ran the passes."""
    calls: dict[str, Row] = {}
    for step in ("sentences", "contents"):
        requests = results / f"request_{step}" / f"{shard}.requests.parquet"
        receipts = results / f"infer_{step}" / f"{shard}.receipts.parquet"
        if not (requests.is_file() and receipts.is_file()):
            continue
        asked = read_table(requests, MODEL_REQUESTS).filter(pl.col("study_id") == study_id)
        told = asked.join(read_table(receipts, RECEIPTS), on="key", how="left")
        for row in told.drop("request").iter_rows(named=True):
            calls[_short(row)] = row
    return calls


def _short(row: dict[str, Any]) -> str:
    return str(row["key"])[:KEY_DIGITS]

"""What the models are asked about each study: rows of MODEL_REQUESTS (paper Sec. 3.1, E.1.2).

Sentences are asked for once a report. Observations are asked for once a cluster of related
sentences, the indication once a study that has one; both need the sentences alone, so they are
asked in one go.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from cxrqba.config import AskingConfig
from cxrqba.extract.indication_records import ASKING_SECTION_TYPES
from cxrqba.extract.observations import by_study
from cxrqba.extract.prompts import load_prompt, show_indication, show_report, show_sentences
from cxrqba.llm.messages import Request
from cxrqba.schema import MODEL_REQUESTS, REPORTED_SECTION_TYPES
from cxrqba.tables import frame

Row = Mapping[str, Any]


def request_sentences(studies: pl.DataFrame, prompts: Path, asking: AskingConfig) -> pl.DataFrame:
    """One request a report that holds a word."""
    prompt = load_prompt(prompts, "sentences")
    reports = studies.select("study_id", "report").drop_nulls().sort("study_id").iter_rows()
    rows = [
        _row("sentences", study_id, 0, (), prompt.ask(show_report(report), asking))
        for study_id, report in reports
        if re.search(r"\w", report)
    ]
    return frame(rows, MODEL_REQUESTS)


def request_contents(
    studies: pl.DataFrame, sentences: pl.DataFrame, prompts: Path, asking: AskingConfig
) -> pl.DataFrame:
    """Requests of the observation pass, then of the indication pass: each shares its prefix."""
    observations, indication = (
        load_prompt(prompts, "observations"),
        load_prompt(prompts, "indication"),
    )
    rows: list[dict[str, Any]] = []
    asked: list[dict[str, Any]] = []
    for study_id, _, of_study in by_study(studies, sentences):
        for cluster, together in clusters(of_study).items():
            request = observations.ask(show_sentences(_texts(together)), asking)
            rows.append(_row("observations", study_id, cluster, _ids(together), request))
        why = asking_sentences(of_study)
        if why:
            told = [r for r in of_study if r["cluster"] is not None]
            shown = show_indication(_texts(why), _texts(told))
            request = indication.ask(shown, asking)
            asked.append(_row("indication", study_id, 0, _ids([*why, *told]), request))
    return frame([*rows, *asked], MODEL_REQUESTS)


def clusters(rows: Iterable[Row]) -> dict[int, list[Row]]:
    """Cluster -> its sentences in text order."""
    found: dict[int, list[Row]] = {}
    for row in rows:
        if row["cluster"] is not None and row["section_type"] in REPORTED_SECTION_TYPES:
            found.setdefault(row["cluster"], []).append(row)
    return found


def asking_sentences(rows: Iterable[Row]) -> list[Row]:
    """Sentences that say why the images were made."""
    return [r for r in rows if r["section_type"] in ASKING_SECTION_TYPES and r["discarded"] is None]


def _texts(rows: Iterable[Row]) -> dict[str, str]:
    return {row["sent_id"]: row["sentence"] for row in rows}


def _ids(rows: Iterable[Row]) -> list[str]:
    return [row["sent_id"] for row in rows]


def _row(
    name: str, study_id: str, item: int, sent_ids: Sequence[str], request: Request
) -> dict[str, Any]:
    return {
        "pass": name,
        "study_id": study_id,
        "item": item,
        "sent_ids": list(sent_ids),
        "key": request.key,
        "request": request.model_dump_json(),
    }

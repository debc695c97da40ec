"""The part of a release that one shard gives: JSON zips, exports, metadata, rows for loaders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from cxrqba.graph import store as graphs_store
from cxrqba.graph.model import SceneGraph
from cxrqba.qa.export import localization
from cxrqba.qa.export import to_json as qa_json
from cxrqba.release import metadata
from cxrqba.release.files import ZipWriter, study_path, zip_writer
from cxrqba.release.withhold import without_text
from cxrqba.schema import EXTRACTION_QUALITY, TEXT_QUALITY

Json = dict[str, Any]
GRADES = {"A_frontal": "fine_tuning", "B_frontal": "pre_training"}
"""Export -> column of RATED: frontal images alone, A or B or better (paper Sec. D.3)."""

_RANK = {a: {level: i for i, level in enumerate(ls)} for a, ls in TEXT_QUALITY.items()}
_LOCALIZED = {level: i for i, level in enumerate(EXTRACTION_QUALITY["localization_quality"])}


@dataclass(frozen=True)
class ShardTables:
    """Tables of a shard by their names in ``schema``."""

    studies: pl.DataFrame
    images: pl.DataFrame
    image_status: pl.DataFrame
    graphs: pl.DataFrame
    observations: pl.DataFrame
    regions: pl.DataFrame
    questions: pl.DataFrame
    answers: pl.DataFrame
    judgements: pl.DataFrame
    rated: pl.DataFrame
    rated_answers: pl.DataFrame


def zips(folder: Path, shard: str) -> dict[str, Path]:
    """Name of a zip -> its place in ``folder``."""
    return {
        "scene_data": folder / f"{shard}.scene_data.zip",
        "qa": folder / f"{shard}.qa.zip",
        **{
            f"{export}.{kind}": folder / f"{shard}.{export}.{kind}.zip"
            for export in GRADES
            for kind in ("scene_graph", "qa")
        },
    }


def write_shard(tables: ShardTables, folder: Path, shard: str, text: bool) -> dict[str, int]:
    """Write the zips; returns how many studies and questions went into each.

    Without ``text`` nothing that quotes a report is written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    grades = _grades(tables.rated)
    counts = dict.fromkeys(("studies", "questions"), 0)
    with ExitStack() as stack:
        out = {n: stack.enter_context(zip_writer(p)) for n, p in zips(folder, shard).items()}
        for graph, qa in studies_json(tables, text):
            _write_study(out, graph, qa, grades)
            counts["studies"] += 1
            counts["questions"] += len(qa["questions"])
    return counts


def _write_study(
    out: Mapping[str, ZipWriter], graph: Json, qa: Json, grades: Mapping[str, set[tuple[str, str]]]
) -> None:
    patient_id, study_id = graph["patient_id"], graph["study_id"]
    name = study_path(patient_id, study_id, "scene_graph")
    out["scene_data"].add(name, graph)
    about = {
        "patient_id": patient_id,
        "study_id": study_id,
        "study_quality": graph["study_quality"],
        "num_observations": len(graph["observations"]),
        "num_questions": len(qa["questions"]),
    }
    out["scene_data"].add(study_path(patient_id, study_id, "metadata"), about)
    out["qa"].add(study_path(patient_id, study_id, "qa"), qa)
    for export, kept in grades.items():
        chosen = [q for q in qa["questions"] if (study_id, q["question_id"]) in kept]
        if chosen:
            out[f"{export}.scene_graph"].add(name, graph)
            out[f"{export}.qa"].add(
                study_path(patient_id, study_id, "qa"), {**qa, "questions": chosen}
            )


def _grades(rated: pl.DataFrame) -> dict[str, set[tuple[str, str]]]:
    key = ("study_id", "question_id")
    found: dict[str, set[tuple[str, str]]] = {}
    for export, column in GRADES.items():
        found[export] = set(rated.filter(pl.col(column)).select(key).iter_rows())
    return found


def studies_json(tables: ShardTables, text: bool) -> Iterator[tuple[Json, Json]]:
    """Scene graph and questions of each study, by study id."""
    questions = _by_study(tables.questions)
    answers = _by_study(tables.answers)
    judged = _judged(tables.judgements)
    ratings = _ratings(tables)
    for graph in _graphs(tables):
        own = questions.get(graph.study_id, tables.questions.clear())
        parts = answers.get(graph.study_id, tables.answers.clear())
        qa = qa_json(own, parts, graph)
        for question in qa["questions"]:
            _add_quality(question, graph.study_id, judged, ratings)
        both = graphs_store.to_json(graph), qa
        yield both if text else without_text(*both)


def _graphs(tables: ShardTables) -> list[SceneGraph]:
    ordered = tables.graphs.sort("study_id")
    return graphs_store.from_tables(ordered, tables.observations, tables.regions)


Judged = Mapping[tuple[str, str, str | None], Mapping[str, int]]


def _judged(judgements: pl.DataFrame) -> Judged:
    found: dict[tuple[str, str, str | None], dict[str, int]] = {}
    columns = ("study_id", "question_id", "answer_id", "criterion", "level")
    for study_id, question_id, answer_id, criterion, level in judgements.select(
        columns
    ).iter_rows():
        if level is not None:
            place = found.setdefault((study_id, question_id, answer_id), {})
            place[criterion] = _RANK[criterion][level]
    return found


def _ratings(tables: ShardTables) -> dict[tuple[str, str, str | None], str | None]:
    written = metadata.RATED.get
    key = ("study_id", "question_id")
    found: dict[tuple[str, str, str | None], str | None] = {
        (s, q, None): written(r) for s, q, r in tables.rated.select(*key, "rating").iter_rows()
    }
    parts = tables.rated_answers.select(*key, "answer_id", "rating")
    return found | {(s, q, a): written(r) for s, q, a, r in parts.iter_rows()}


def _add_quality(
    question: Json,
    study_id: str,
    judged: Judged,
    ratings: Mapping[tuple[str, str, str | None], str | None],
) -> None:
    def quality(answer_id: str | None) -> Json:
        key = (study_id, question["question_id"], answer_id)
        return {**judged.get(key, {}), "rating": ratings.get(key)}

    def fill(part: Json) -> None:
        part["answer_quality"] = quality(part["answer_id"])
        for child in part["sub_answers"]:
            fill(child)

    question["question_quality"] = quality(None)
    for part in question["answers"]:
        fill(part)


def metadata_tables(tables: ShardTables) -> dict[str, pl.DataFrame]:
    """Metadata of a shard; patients are counted over the whole dataset."""
    studies = metadata.study_table(tables.studies, tables.graphs, tables.observations)
    return {
        "study": studies,
        "image": metadata.image_table(tables.images, tables.image_status, studies, tables.graphs),
        "question": metadata.question_table(
            tables.questions, tables.answers, tables.rated, studies
        ),
        "question_image": metadata.question_image_table(tables.questions),
        "answer": metadata.answer_table(tables.answers, tables.rated_answers, studies),
        "answer_image": answer_images(tables),
    }


def answer_images(tables: ShardTables) -> pl.DataFrame:
    """Images with boxes of each answer part."""
    parts = _by_study(tables.answers)
    rows: list[tuple[Any, ...]] = []
    for graph in _graphs(tables):
        own = parts.get(graph.study_id)
        for part in own.iter_rows(named=True) if own is not None else ():
            key = (graph.patient_id, graph.study_id, part["question_id"], part["answer_id"])
            for one in localization(part, graph):
                if one.bboxes:
                    places = len(one.localization_reference_ids)
                    rows.append((*key, one.image_id, places, _LOCALIZED[one.localization_quality]))
    table = pl.DataFrame(rows, schema=metadata.ANSWER_IMAGES, orient="row")
    return table.sort("study_id", "question_id", "answer_id", "image_id")


def loader_rows(tables: ShardTables, text: bool) -> pl.DataFrame:
    """One row a question with its parts, for libraries that load parquet.

    Texts that stem from a report are null without ``text``.
    """
    key = ["study_id", "question_id"]
    shown = pl.col("text") if text else pl.when(~pl.col("from_report")).then("text")
    parts = tables.answers.with_columns(text=shown).select(
        *key,
        pl.struct(
            "answer_id", "answer_type", "answer_level", "text", "regions", "obs_entities",
            "laterality", "certainty", "positiveness", "from_report",
        ).alias("answers"),
    )  # fmt: skip
    frontal = tables.images.filter(pl.col("view") == "frontal")
    images = {
        name: of.group_by("study_id").agg(pl.col("image_id").sort().alias(name))
        for name, of in (("image_ids", tables.images), ("frontal_image_ids", frontal))
    }
    own = pl.col("question_strategy") == "indication"
    asked = pl.col("question") if text else pl.when(~own).then("question")
    grades = tables.rated.select(*key, metadata.rated("rating"), "pre_training", "fine_tuning")
    empty = pl.lit([], dtype=pl.List(pl.String))
    return (
        tables.questions.join(tables.studies.select("study_id", "split"), on="study_id")
        .join(parts.group_by(key, maintain_order=True).agg("answers"), on=key, how="left")
        .join(grades, on=key, how="left")
        .join(images["image_ids"], on="study_id", how="left")
        .join(images["frontal_image_ids"], on="study_id", how="left")
        .sort(key)
        .select(
            "patient_id", *key, "split", "question_type", "question_strategy",
            pl.col("image_ids").fill_null(empty), pl.col("frontal_image_ids").fill_null(empty),
            asked.alias("question"), "answers", "rating", "pre_training", "fine_tuning",
        )
    )  # fmt: skip


def _by_study(table: pl.DataFrame) -> dict[str, pl.DataFrame]:
    parts = table.partition_by("study_id", as_dict=True, maintain_order=True)
    return {str(key[0]): part for key, part in parts.items()}

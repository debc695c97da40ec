"""Invented tables with the exact schemas: what the paper's tables and figures are tested on."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from PIL import Image
from qa_rows import qa_frames

from cxrqba import schema
from cxrqba.tables import frame, write_table

TYPES = {
    "A_indication": "indication",
    "B01_describe_all": "abnormal",
    "B03_is_abnormal": "abnormal",
    "B10_is_abnormal_subcat": "abnormal",
    "C01_describe_region": "region_abnormal",
    "C03_is_abnormal_region": "region_abnormal",
    "D02_has_finding": "finding",
    "D03_where_is_finding": "finding",
}
FINDINGS = ("pleural effusion", "consolidation", "pneumothorax", "cardiomegaly", "lung opacity")
REGIONS = ("left lung", "right lung", "heart", "right lower lung zone", "mediastinum")
SUBCATEGORIES = ("PLEURA", "LUNG FIELD", "HEART", "MEDIASTINUM")
SIZE = (700, 560)  # height, width of every image


def part(question_id: str, number: int, text: str, **values: Any) -> dict[str, Any]:
    """One answer part; unnamed fields get an unremarkable value."""
    return {
        "answer_id": f"{question_id}.a{number:02d}",
        "parent_answer_id": None,
        "answer_type": "main_answer",
        "answer_level": 0,
        "text": text,
        "name_tag": None,
        "laterality": "unknown",
        "regions": [],
        "obs_entities": [],
        "obs_entities_parents": [],
        "obs_categories": [],
        "obs_subcategories": [],
        "certainty": "certain",
        "positiveness": "pos",
        "modifiers": [],
        "localization": [],
        "from_report": True,
        "extraction_quality": None,
        "obs_ids": [],
        "template": None,
        **values,
    }


def localization(image_id: str, *boxes: tuple[float, float, float, float]) -> dict[str, Any]:
    """Boxes of a part in one image."""
    return {
        "image_id": image_id,
        "bboxes": [list(b) for b in boxes],
        "localization_reference_ids": [],
        "instance_mask_ids": [],
        "missing_localization": [],
        "is_fallback": False,
        "localization_quality": "BBOX_LOCALIZATION",
    }


def question(
    study_id: str, question_id: str, question_type: str, text: str, answers: list[dict[str, Any]]
) -> dict[str, Any]:
    """One QA pair."""
    return {
        "patient_id": f"p{study_id[1:]}",
        "study_id": study_id,
        "question_id": question_id,
        "question_type": question_type,
        "question_strategy": TYPES[question_type],
        "question": text,
        "answers": answers,
    }


def rated(row: dict[str, Any], rating: str | None, limit: str | None) -> dict[str, Any]:
    """The rating of one QA pair."""
    keys = ("patient_id", "study_id", "question_id", "question_type", "question_strategy")
    return {
        **{k: row[k] for k in keys},
        "rating": rating,
        "limiting_aspect": limit,
        "frontal_rating": rating,
        "frontal_limiting_aspect": limit,
        "has_frontal": True,
        "pre_training": rating in ("B", "A", "A+", "A++"),
        "fine_tuning": rating in ("A", "A+", "A++"),
    }


LIMITS = {
    "A++": None,
    "A+": "completeness=DETAILS_MISSING",
    "A": "entailment=ALIGNED_NEGATIVE_NOT_MENTIONED",
    "B": "region_quality=DEFAULT_REGIONS_ONLY",
    "C": "completeness=INCOMPLETE_MISLEADING",
    "D": "entailment=NON_ALIGNED_CONTRADICTING",
    None: "entailment=missing_response",
}
SENTENCES = (
    "There is a small {finding} in the {region}, which is best seen on the frontal view.",
    "No {finding} is seen in the {region}.",
    "The {region} shows a moderate {finding} with adjacent volume loss and blunting of the "
    "costophrenic angle, likely reflecting a combination of fluid and compressive change.",
)


def invented_study(number: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """All questions of one invented study and their ratings."""
    study_id = f"s{50_000_000 + number}"
    random = np.random.default_rng(number)
    questions, ratings = [], []
    for index, question_type in enumerate(TYPES):
        question_id = f"{question_type}_{index:03d}"
        answers = []
        for k in range(int(random.integers(1, 5))):
            finding = FINDINGS[int(random.integers(len(FINDINGS)))]
            region = REGIONS[int(random.integers(len(REGIONS)))]
            kind = int(random.integers(3))
            x, y = (float(v) for v in random.integers(40, 260, 2))
            answers.append(
                part(
                    question_id,
                    k + 1,
                    SENTENCES[kind].format(finding=finding, region=region),
                    answer_type=schema.ANSWER_TYPES[min(k, 2)],
                    answer_level=int(k == 2),
                    positiveness="neg" if kind == 1 else "pos",
                    obs_entities=[finding],
                    regions=[region],
                    obs_subcategories=[SUBCATEGORIES[int(random.integers(len(SUBCATEGORIES)))]],
                    localization=[localization(f"i{number}", (x, y, x + 200, y + 260))],
                )
            )
        text = {
            "A_indication": f"A {30 + number}-year-old patient with cough; is there pneumonia?",
            "B01_describe_all": "Describe the given study.",
        }.get(question_type, f"Is there {FINDINGS[index % 5]} in the {REGIONS[number % 5]}?")
        row = question(study_id, question_id, question_type, text, answers)
        rating = random.choice(
            np.array([*LIMITS], dtype=object), p=[0.1, 0.1, 0.3, 0.3, 0.07, 0.03, 0.1]
        )
        questions.append(row)
        ratings.append(rated(row, rating, LIMITS[rating]))
    return questions, ratings


def write_demo(
    folder: Path, studies: int = 12, shards: int = 2, images: bool = True
) -> dict[str, list[Path]]:
    """Invented tables of ``studies`` studies in ``shards`` shards; paths by table name."""
    tables: dict[str, list[dict[str, Any]]]
    paths: dict[str, list[Path]] = {}
    schemas = {
        "rated": schema.RATED,
        "rated_answers": schema.RATED_ANSWERS,
        "images": schema.IMAGES,
        "studies": schema.STUDIES,
    }
    for shard in range(shards):
        numbers = range(shard, studies, shards)
        made = [invented_study(n) for n in numbers]
        questions = list(itertools.chain.from_iterable(q for q, _ in made))
        ratings = list(itertools.chain.from_iterable(r for _, r in made))
        tables = {
            "rated": ratings,
            "rated_answers": [
                {
                    "study_id": q["study_id"],
                    "question_id": q["question_id"],
                    "answer_id": a["answer_id"],
                    "answer_type": a["answer_type"],
                    "rating": r["rating"],
                    "limiting_aspect": r["limiting_aspect"],
                }
                for q, r in zip(questions, ratings, strict=True)
                for a in q["answers"]
            ],
            "images": [
                {
                    "study_id": f"s{50_000_000 + n}",
                    "image_id": f"i{n}",
                    "path": str(draw_image(folder / f"i{n}.png", n)),
                    "view_position": "PA",
                    "view": "frontal",
                    "height": SIZE[0],
                    "width": SIZE[1],
                }
                for n in numbers
                if images
            ],
            "studies": [
                {"study_id": f"s{50_000_000 + n}", "procedure": "CHEST (PA AND LAT)"}
                for n in numbers
            ],
        }
        for name, rows in tables.items():
            path = folder / f"{shard}.{name}.parquet"
            write_table(frame(rows, schemas[name]), path, schemas[name])
            paths.setdefault(name, []).append(path)
        for name, write in WRITERS.items():
            path = write(folder / f"{shard}.{name}.parquet", questions)
            paths.setdefault(name, []).append(path)
    return {**paths, "regions": []}


def draw_image(path: Path, seed: int) -> Path:
    """A grey gradient with two dark lungs: enough to see boxes on."""
    y, x = np.mgrid[: SIZE[0], : SIZE[1]] / np.array(SIZE)[:, None, None]
    pixels = 150 + 40 * y
    for centre in (0.3, 0.7):
        pixels = np.where(((x - centre) / 0.16) ** 2 + ((y - 0.5) / 0.32) ** 2 < 1, 60, pixels)
    pixels = pixels + np.random.default_rng(seed).normal(0, 6, pixels.shape)
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels.clip(0, 255).astype(np.uint8)).save(path)
    return path


def write_rows(path: Path, rows: list[dict[str, Any]], columns: pl.Schema) -> Path:
    """One table from rows."""
    write_table(frame(rows, columns), path, columns)
    return path


def write_questions(path: Path, rows: list[dict[str, Any]]) -> Path:
    """The questions of rows that hold their answer parts."""
    asked, _ = qa_frames({**row, "answers": []} for row in rows)
    write_table(asked, path, schema.QUESTIONS)
    return path


def write_parts(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Their answer parts; each shows the boxes of an observation of its own."""
    parts = [
        {
            **row,
            "answers": [
                {
                    **{k: v for k, v in a.items() if k != "localization"},
                    "box_obs_ids": [f"{row['question_id']} {a['answer_id']}"],
                    "box_regions": [],
                }
                for a in row["answers"]
            ],
        }
        for row in rows
    ]
    write_table(qa_frames(parts)[1], path, schema.ANSWERS)
    return path


def write_boxes(path: Path, rows: list[dict[str, Any]]) -> Path:
    """The observations that :func:`write_parts` refers to."""
    observations = [
        {
            "study_id": row["study_id"],
            "obs_id": f"{row['question_id']} {a['answer_id']}",
            "localization": a["localization"],
        }
        for row in rows
        for a in row["answers"]
    ]
    return write_rows(path, observations, schema.OBSERVATIONS)


WRITERS = {"questions": write_questions, "answers": write_parts, "observations": write_boxes}


def label_row(name: str, class_set: str, metric: str, value: float, **more: Any) -> dict[str, Any]:
    """One row of the label scores."""
    return {
        "dataset": "Demo", "reference": "gold", "system": "ours", "class": name,
        "class_set": class_set, "metric": metric, "value": value, "low": value - 0.1,
        "high": value + 0.1, "support": 7, "predicted": 8, "studies": 1200, "closure": "exact",
        "protocol": "-1 excluded", **more,
    }  # fmt: skip

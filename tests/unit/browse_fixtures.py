"""One invented study with everything a page shows, in memory or as the tables of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from cxrqba.browse.gather import TABLES, StudyRows
from cxrqba.graph.model import Indication, Localization, Observation, RegionNode, SceneGraph
from cxrqba.graph.store import to_tables
from cxrqba.tables import frame, write_table

REPORT = (
    "FINDINGS:\n There is a small left effusion.  No pneumothorax.\n"
    'IMPRESSION: </script><script>top.bad = 1; window.bad = 1</script> "quoted" & <b>bold</b> '
    "\u202eno mass\u202c <img src=x onerror='window.bad = 2'>.\r\n"
)
EFFUSION, PNEUMOTHORAX, HOSTILE = "There is a small left effusion.", "No pneumothorax.", "</script>"


def span(words: str, sent_id: str) -> dict[str, Any]:
    start = REPORT.index(words)
    return {"sent_id": sent_id, "start": start, "end": start + len(words)}


def boxes(image_id: str, *found: list[float], wider: bool = False) -> Localization:
    level = "FALLBACK_LOCALIZATION" if wider else "BBOX_LOCALIZATION"
    return Localization(image_id, list(found), [], [], [], wider, level)


def graph(study_id: str = "s1") -> SceneGraph:
    effusion = Observation(
        "O01", "small left effusion", EFFUSION, laterality="left",
        obs_entities=["pleural effusion"], sent_ids=["S01"],
        regions=[{"region": "left pleural space", "distances": []}],
        spans=[span("left effusion", "S01")], modifiers={"severity": ["small"]},
        localization=[boxes("i1", [10, 20, 60, 80])],
    )  # fmt: skip
    part = Observation(
        "O01.01", "<b>child</b>", EFFUSION, child_type="associated with", child_level=1,
        sent_ids=["S01"], spans=[span("small", "S01")],
    )  # fmt: skip
    denied = Observation(
        "O02", "no pneumothorax", PNEUMOTHORAX, positiveness="neg", probability="negative",
        obs_entities=["pneumothorax"], sent_ids=["S02"], spans=[span("No pneumothorax", "S02")],
        localization=[boxes("i1", [5, 5, 90, 90], [1, 1, 3, 3], wider=True)],
    )  # fmt: skip
    added = Observation("D01", "no mass", "No mass.", positiveness="neg", from_report=False)
    return SceneGraph(
        patient_id="p1", study_id=study_id, sentences=[],
        observations={o.obs_id: o for o in (effusion, part, denied, added)},
        regions={"lungs": RegionNode("lungs", "bilateral", [boxes("i1", [5, 5, 90, 90])])},
        indication=Indication("Is there <i>an effusion</i>?", None, None, None, ["S01"], ["O01"]),
        answer_for_indication=None, top_level_obs_ids=["O01", "O02", "D01"],
        located_at_relations=[],
        obs_relations=[
            {"parent_observation_id": "O01", "child_observation_id": "O01.01",
             "child_type": "associated with"},
        ],
        obs_sent_relations=[], region_region_relations=[], study_quality={},
        study_img_localization_quality=[], is_complete=False,
        incomplete_reasons=["uncovered_sentence: S03"],
    )  # fmt: skip


def answer(number: int, text: str, **values: Any) -> dict[str, Any]:
    row = dict.fromkeys(TABLES["answers"][1])
    lists = [c for c, kind in TABLES["answers"][1].items() if str(kind).startswith("List")]
    row |= {c: [] for c in lists}
    row |= {
        "study_id": "s1", "question_id": "Q1", "question_strategy": "finding",
        "answer_id": f"Q1.a{number:02d}", "answer_type": "main_answer", "answer_level": 0,
        "text": text, "laterality": "unknown", "certainty": "certain", "positiveness": "pos",
        "from_report": True,
    }  # fmt: skip
    return row | values


def study_rows(folder: Path, study_id: str = "s1", report: str | None = REPORT) -> StudyRows:
    """The study; its film is drawn into ``folder``, a second one is missing there."""
    path = folder / "film.png"
    grey = np.tile(np.arange(200, dtype=np.uint8), (150, 1))
    Image.fromarray(grey).save(path)
    sentences = [
        {"sent_id": s, "start": REPORT.index(words), "end": REPORT.index(words) + length}
        for s, words, length in (
            ("S01", EFFUSION, len(EFFUSION)),
            ("S02", PNEUMOTHORAX, len(PNEUMOTHORAX)),
            ("S03", HOSTILE, len(REPORT) - REPORT.index(HOSTILE) - 2),
        )
    ]
    image = {"study_id": study_id, "view_position": "PA", "view": "frontal"}
    answers = [
        answer(1, "There is a <b>small</b> effusion.", obs_ids=["O01"], box_obs_ids=["O01"]),
        answer(2, "No mass.", positiveness="neg", from_report=False, obs_ids=["D01"],
               answer_level=1),
        answer(3, "The lungs are shown.", box_regions=["lungs"], template="t"),
    ]  # fmt: skip
    return StudyRows(
        study={
            "patient_id": 'p"1', "study_id": study_id, "split": "train", "study_date": None,
            "study_time": None, "procedure": "<u>CHEST</u>", "report": report, "num_images": 2,
        },
        images=[
            {**image, "image_id": "i1", "path": str(path)},
            {**image, "image_id": "i2", "path": str(folder / "gone.png")},
        ],
        boxes=[
            {"study_id": study_id, "image_id": "i1", "region": region, "is_fallback": wider,
             "reference_region": "lungs", "bboxes": [[5.0, 5.0, 90.0, 90.0]]}
            for region, wider in (("lungs", False), ("left apex", True))
        ],
        sentences=[{"study_id": study_id, **s} for s in sentences],
        graph=graph(study_id),
        questions=[{
            "study_id": study_id, "question_id": "Q1", "question_type": "D01_is_finding",
            "question_strategy": "finding", "question": "Is there </script><script>bad()?",
        }],
        answers=[{**a, "study_id": study_id} for a in answers],
        rated=[{"study_id": study_id, "question_id": "Q1", "rating": "A+",
                "limiting_aspect": "completeness=DETAILS_MISSING"}],
        rated_answers=[{"study_id": study_id, "question_id": "Q1", "answer_id": "Q1.a01",
                        "rating": "A++", "limiting_aspect": None}],
    )  # fmt: skip


def write_run(results: Path, rows: list[StudyRows], shard: str = "0") -> dict[str, list[Path]]:
    """The tables of one shard that hold ``rows``."""
    names = ("images", "boxes", "sentences", "questions", "answers", "rated", "rated_answers")
    tables = {
        name: frame((row for r in rows for row in getattr(r, name)), TABLES[name][1])
        for name in names
    }
    tables["studies"] = frame((r.study for r in rows), TABLES["studies"][1])
    graphs = to_tables(r.graph for r in rows if r.graph)
    tables |= dict(zip(("graphs", "observations", "regions"), graphs, strict=True))
    files = {}
    for name, (step, schema) in TABLES.items():
        path = results / step / f"{shard}.{name}.parquet"
        write_table(tables[name], path, schema)
        files[name] = [path]
    return files

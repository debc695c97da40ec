"""Raw rows written by hand, and the graphs they become."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from cxrqba.config import SiteConfig
from cxrqba.extract.indication import extract_shard as indication_pass
from cxrqba.extract.observations import extract_shard as observation_pass
from cxrqba.extract.sentences import SentenceExtractor
from cxrqba.extract.sentences import extract_shard as sentence_pass
from cxrqba.graph.build import StudyInput, build_graph
from cxrqba.graph.model import Observation, SceneGraph
from cxrqba.graph.observe import observation_of
from cxrqba.graph.run import ShardInput, build_shard
from cxrqba.graph.store import from_tables
from cxrqba.graph.tags import Mappings, mappings_by_text
from cxrqba.graph.vocabulary import Vocabulary
from cxrqba.ledger import Ledger
from cxrqba.mapping.lexical import LexicalBackend
from cxrqba.mapping.mapper import Mapper
from cxrqba.mapping.mentions import collect
from cxrqba.reference.tables import Reference, load_reference
from cxrqba.schema import (
    IMAGE_STATUS,
    IMAGES,
    INDICATIONS,
    RAW_OBSERVATIONS,
    REGION_BOXES,
    STUDIES,
)
from cxrqba.tables import frame

ROOT = Path(__file__).resolve().parents[2]
STUDY = "s1"


@lru_cache(maxsize=1)
def reference() -> Reference:
    """The project's reference definitions."""
    return load_reference(ROOT / "resources/reference")


@lru_cache(maxsize=1)
def mapper() -> Mapper:
    """The lexical mapper of the project's reference."""
    return Mapper(reference(), LexicalBackend())


@lru_cache(maxsize=1)
def vocabulary() -> Vocabulary:
    """Look-ups of the project's reference."""
    return Vocabulary(reference())


def raw(raw_id: str = "R01", entity: str | list[str] = "pleural effusion", **values: Any) -> dict:
    """A row of RAW_OBSERVATIONS; ``regions`` and ``modifiers`` may be plain strings."""
    entities = [entity] if isinstance(entity, str) else entity
    row: dict[str, Any] = {
        "study_id": STUDY,
        "raw_id": raw_id,
        "parent_raw_id": None,
        "child_type": None,
        "name": ", ".join(entities).capitalize(),
        "summary_sentence": ", ".join(entities).capitalize() + ".",
        "entities": entities,
        "regions": [],
        "probability": "positive",
        "modifiers": [],
        "laterality_text": None,
        "changes": [],
        "change_sentence": None,
        "sent_ids": ["S01"],
        "spans": [],
        "issue_level": "NO_ISSUES",
        "origin": "rules:finding",
    }
    row.update(values)
    row["regions"] = [
        {"region": r, "distances": []} if isinstance(r, str) else r for r in row["regions"]
    ]
    row["modifiers"] = [
        {"type": "severity", "value": m} if isinstance(m, str) else m for m in row["modifiers"]
    ]
    return row


def sentence(sent_id: str = "S01", section: str = "FINDINGS", **values: Any) -> dict[str, Any]:
    """A row of SENTENCES."""
    return {
        "study_id": STUDY,
        "sent_id": sent_id,
        "section": section,
        "section_type": section,
        "sentence": "Text.",
        "discarded": None,
    } | values


def indication(**values: Any) -> dict[str, Any]:
    """A row of INDICATIONS."""
    return {
        "study_id": STUDY,
        "indication_summary": "Is there any evidence of effusion?",
        "patient_info": None,
        "indication": "dyspnea",
        "evaluation": "effusion",
        "sent_ids": [],
        "associated_sentence_ids": ["S01"],
        "answer_name": "Small left pleural effusion",
        "answer_sentence": "Small left pleural effusion.",
        "origin": "rules:indication",
    } | values


def mappings(rows: list[dict[str, Any]], asked: list[dict[str, Any]] | None = None) -> Mappings:
    """Mapping decisions of all values of the rows."""
    mentions = collect(frame(rows, RAW_OBSERVATIONS), frame(asked or [], INDICATIONS))
    return mappings_by_text(mapper().map(mentions, 0.5))


def observed(row: dict[str, Any]) -> Observation:
    """The observation of one raw row."""
    return observation_of(row, mappings([row]), vocabulary())


def box(region: str, image_id: str = "i1", **values: Any) -> dict[str, Any]:
    """A row of REGION_BOXES."""
    return {
        "study_id": STUDY,
        "image_id": image_id,
        "region": region,
        "bboxes": [[0.0, 0.0, 10.0, 10.0]],
        "source": "mask",
        "is_fallback": False,
        "reference_region": region,
        "mask_ids": [region],
        "localization_quality": "BBOX_AND_MASK_LOCALIZATION",
    } | values


def build(rows: list[dict[str, Any]], ledger: Ledger | None = None, **values: Any) -> SceneGraph:
    """The graph of a study with these raw rows; one reported sentence S01 unless given."""
    asked = values.get("indication")
    study = StudyInput(
        patient_id="p1",
        study_id=STUDY,
        sentences=values.pop("sentences", [sentence()]),
        observations=rows,
        boxes=frame(values.pop("boxes", []), REGION_BOXES),
        **values,
    )
    decided = mappings(rows, [asked] if asked else [])
    return build_graph(study, decided, vocabulary(), ledger or Ledger("build_graphs"))


def read(report: str) -> SceneGraph:
    """The graph of a report's text, by way of all passes and their ledgers."""
    studies = frame([{"study_id": STUDY, "patient_id": "p1", "report": report}], STUDIES)
    told = sentence_pass(studies, SentenceExtractor(reference(), SiteConfig()))
    observations, status, ledger = observation_pass(studies, told.sentences, reference())
    indications, asked, asking = indication_pass(studies, told.sentences, reference(), SiteConfig())
    mentions = collect(observations, indications)
    shard = ShardInput(
        studies=studies,
        images=pl.DataFrame(schema=IMAGES),
        boxes=pl.DataFrame(schema=REGION_BOXES),
        image_status=pl.DataFrame(schema=IMAGE_STATUS),
        sentences=told.sentences,
        observations=observations,
        indications=indications,
        mappings=mapper().map(mentions, 0.5),
        statuses=pl.concat([told.status, status, asked]),
        ledgers=pl.concat([told.ledger, ledger, asking]),
    )
    graphs, nodes, regions, _ = build_shard(shard, reference())
    return from_tables(graphs, nodes, regions)[0]


def denied_by_silence(graph: SceneGraph) -> set[str]:
    """Findings of the default negative observations."""
    return {e for o in graph.observations.values() if not o.from_report for e in o.obs_entities}


def reasons(ledger: Ledger) -> list[str]:
    """Reasons of the rows of a ledger, sorted."""
    table: pl.DataFrame = ledger.table()
    return sorted(table["reason"].to_list())

"""Whatever a model returns: no crash, rows that fit their tables, nothing lost in silence."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))
from graph_fixtures import build, reference

from cxrqba.config import SiteConfig
from cxrqba.extract.indication_records import IndicationReader
from cxrqba.extract.observation_record import ALIASES
from cxrqba.extract.records import Answer, ObservationReader
from cxrqba.extract.sentence_records import SentenceReader
from cxrqba.extract.sentences import DISCARD_REASONS, SentenceExtractor
from cxrqba.extract.splitters import numbered, parts
from cxrqba.ledger import Ledger
from cxrqba.schema import (
    CHILD_TYPES,
    EXTRACTION_QUALITY,
    INDICATIONS,
    RAW_OBSERVATIONS,
    SECTION_TYPES,
    SENTENCES,
)
from cxrqba.tables import frame

REPORT = "INDICATION: Cough.\nFINDINGS: Small left effusion. No edema.\nIMPRESSION: Effusion.\n"
EXTRACTOR = SentenceExtractor(reference(), SiteConfig())
ROWS = EXTRACTOR.extract("s1", REPORT)
OBSERVATIONS = ObservationReader(reference())
SENTENCE_READER = SentenceReader(reference(), EXTRACTOR)
INDICATION = IndicationReader(reference())

KEYS = st.sampled_from(
    [
        *sorted({*ALIASES, *(name for names in ALIASES.values() for name in names)}),
        *("section", "section_type", "related", "irrelevant", "indication_summary", "severity"),
        *("answer_for_indication", "observations", "spans", "type", "value", "Name", ""),
    ]
)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=12),
    st.sampled_from(
        ["left effusion", "No edema.", "S02", "S99", "2", "[1, 2]", '{"a": "b"}', "<p>x</p>"]
    ),
    st.sampled_from(["positive", "device part", "FINDINGS", "Effusion.", "Cough.", "\x00\ud800"]),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=25,
)
ANSWERS = st.one_of(
    VALUES,
    VALUES.map(lambda value: json.dumps(value)),
    st.tuples(VALUES, st.integers(0, 80)).map(lambda pair: json.dumps(pair[0])[: pair[1]]),
    st.text(max_size=60),
)
COMMON = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@COMMON
@given(st.lists(ANSWERS, min_size=1, max_size=3))
@example([[{"children": {"children": {}}}]])
@example([{"observations": {"observations": "[]"}}])
def test_any_answer_of_the_observation_pass(contents: list[Any]) -> None:
    ledger = Ledger("extract_observations")
    answers = [Answer(("S02", "S03"), content, "call") for content in contents]
    rows = OBSERVATIONS.read("s1", answers, ROWS, ledger)
    again = Ledger("extract_observations")
    assert rows == OBSERVATIONS.read("s1", answers, ROWS, again)
    assert ledger.rows == again.rows
    frame(rows, RAW_OBSERVATIONS)
    ids = [row["raw_id"] for row in rows]
    assert len(set(ids)) == len(ids)
    for row in rows:
        assert row["issue_level"] in EXTRACTION_QUALITY["issue_level"]
        assert row["parent_raw_id"] is None or row["parent_raw_id"] in ids
        assert (row["child_type"] in CHILD_TYPES) == (row["parent_raw_id"] is not None)
        assert row["name"] or row["issue_level"] == "DISCARDED"
        assert row["sent_ids"]
        assert row["issue_level"] == "NO_ISSUES" or ledger.rows
        row["name"] and row["name"].encode()
    known = [{**row, "study_id": "s1"} for row in ROWS]
    build(rows, sentences=known)


@COMMON
@given(ANSWERS)
def test_any_answer_of_the_sentence_pass(content: Any) -> None:
    ledger = Ledger("extract_sentences")
    rows = SENTENCE_READER.read("s1", REPORT, content, ledger)
    if rows is None:
        assert ledger.rows
        return
    frame(rows, SENTENCES)
    assert [row["sent_id"] for row in rows] == [f"S{i:02d}" for i in range(1, len(rows) + 1)]
    for row in rows:
        assert REPORT[row["start"] : row["end"]] == row["sentence"] != ""
        assert row["section_type"] in SECTION_TYPES
        assert row["discarded"] is None or row["discarded"] in DISCARD_REASONS
    text = " ".join(row["sentence"] for row in rows if not row["discarded"])
    assert all(told in text for told in ("Small left effusion.", "No edema.", "Effusion."))


@COMMON
@given(ANSWERS)
def test_any_answer_of_the_indication_pass(content: Any) -> None:
    ledger = Ledger("extract_indication")
    row = INDICATION.read("s1", content, ROWS, "call", ledger)
    frame([row] if row else [], INDICATIONS)
    assert row is not None or ledger.rows


@COMMON
@given(
    st.text(alphabet="aB1 .\n-;\u00df\u2028\u0301no", max_size=60),
    st.lists(st.tuples(st.integers(-3, 70), st.integers(-3, 70)), max_size=8),
)
def test_parts_of_a_sentence_lose_nothing(text: str, spans: list[tuple[int, int]]) -> None:
    found = parts(text, spans)
    told = "".join(text[a:b] for a, b in found)
    assert "".join(told.split()) == "".join(text.split())
    assert all(a < b for a, b in found)
    rows = [{"start": a, "end": b} for a, b in found]
    assert [r["sent_id"] for r in numbered(rows[::-1])] == [
        f"S{i:02d}" for i in range(1, len(rows) + 1)
    ]

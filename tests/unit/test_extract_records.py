"""Records of a model: whatever it returns ends in a row with an issue level or in the ledger."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from graph_fixtures import build, reference

from cxrqba.config import SiteConfig
from cxrqba.extract.observations import ObservationExtractor
from cxrqba.extract.records import MAX_OBSERVATIONS, Answer, ObservationReader
from cxrqba.extract.repair import KINDS, LEVEL_OF
from cxrqba.extract.sentences import DISCARD_REASONS, SentenceExtractor
from cxrqba.ledger import Ledger
from cxrqba.llm.loose_json import loads
from cxrqba.schema import CHILD_TYPES, EXTRACTION_QUALITY, RAW_OBSERVATIONS
from cxrqba.tables import frame

ROOT = Path(__file__).resolve().parents[2]
READER = ObservationReader(reference())
TEXT = "Small left pleural effusion, unchanged. PICC ends in the SVC. No pneumothorax."
SENTENCES = [
    {"sent_id": f"S{i:02d}", "sentence": TEXT[a:b], "start": a, "end": b}
    for i, (a, b) in enumerate([(0, 39), (40, 61), (62, len(TEXT))], start=1)
]
GOOD = {
    "name": "Small left pleural effusion",
    "summary_sentence": "Small left pleural effusion.",
    "entities": ["pleural effusion"],
    "regions": [{"region": "left pleural space", "distances": []}],
    "probability": "positive",
    "modifiers": [{"type": "severity", "value": "small"}],
    "laterality": "left",
    "changes": ["unchanged"],
    "change_sentence": "The effusion is unchanged.",
    "sentence_ids": ["S01"],
}


def read(content: Any, sent_ids: tuple[str, ...] = ("S01",)) -> tuple[list[dict], Ledger]:
    ledger = Ledger("extract_observations")
    rows = READER.read("s1", [Answer(sent_ids, content, "call-1")], SENTENCES, ledger)
    frame(rows, RAW_OBSERVATIONS)  # every row fits the table
    for row in rows:
        assert row["issue_level"] in EXTRACTION_QUALITY["issue_level"]
        assert row["parent_raw_id"] is None or row["child_type"] in CHILD_TYPES
    return rows, ledger


def with_(**values: Any) -> dict[str, Any]:
    return {**GOOD, **values}


def test_a_good_record_is_taken_as_it_is() -> None:
    for content in (GOOD, [GOOD], {"observations": [GOOD]}, json.dumps([GOOD])):
        rows, ledger = read(content)
        assert rows == [
            {
                "study_id": "s1",
                "raw_id": "R01",
                "parent_raw_id": None,
                "child_type": None,
                **{k: v for k, v in GOOD.items() if k not in ("laterality", "sentence_ids")},
                "laterality_text": "left",
                "sent_ids": ["S01"],
                "spans": [{"sent_id": "S01", "start": 0, "end": 39}],
                "issue_level": "NO_ISSUES",
                "origin": "call-1",
            }
        ]
        assert not ledger.rows


NAN, DEEP = float("nan"), "[" * 100_000
ODDITIES: dict[str, tuple[Any, str, dict[str, Any]]] = {
    # what is odd: (record, kind of repair, what the row holds then)
    "another name of a field": (
        {"finding": "pleural effusion", "summary": "Small left pleural effusion."},
        "alias_key",
        {"entities": ["pleural effusion"]},
    ),
    "a number for a text": (
        with_(change_sentence=3.5),
        "text_from_number",
        {"change_sentence": "3.5"},
    ),
    "a list for a text": (
        with_(laterality=["left", "base"]),
        "text_from_list",
        {"laterality_text": "left; base"},
    ),
    "a text for a list": (
        with_(entities="pleural effusion"),
        "list_from_value",
        {"entities": ["pleural effusion"]},
    ),
    "null for a list": (with_(regions=None), "null_list", {"regions": []}),
    "a list in a list": (with_(changes=[["unchanged"]]), "nested_list", {"changes": ["unchanged"]}),
    "JSON inside a string": (
        with_(entities='["pleural effusion", "opacity"]'),
        "json_in_string",
        {"entities": ["pleural effusion", "opacity"]},
    ),
    "HTML": (
        with_(name="<b>Small</b> left pleural effusion &amp; more<br/>"),
        "markup",
        {"name": "Small left pleural effusion & more"},
    ),
    "control characters": (
        with_(name="Small\x00 left pleural ef\u200bfusion\ud800"),
        "control_characters",
        {"name": "Small left pleural effusion"},
    ),
    "a value twice": (
        with_(changes=["unchanged", "unchanged"]),
        "repeated_value",
        {"changes": ["unchanged"]},
    ),
    "the word null": (with_(change_sentence="null"), "placeholder", {"change_sentence": None}),
    "regions as an object": (
        with_(regions={"left pleural space": ["1 cm above"]}),
        "other_form",
        {"regions": [{"region": "left pleural space", "distances": ["1 cm above"]}]},
    ),
    "a sentence id in other letters": (
        with_(sentence_ids=["sentence 1"]),
        "sentence_id_spelling",
        {"sent_ids": ["S01"]},
    ),
    "a number for a sentence id": (
        with_(sentence_ids=1),
        "sentence_id_spelling",
        {"sent_ids": ["S01"]},
    ),
    "no name": (
        with_(name=None),
        "name_or_summary_missing",
        {"name": "Small left pleural effusion."},
    ),
    "no summary": (
        with_(summary_sentence="  "),
        "name_or_summary_missing",
        {"summary_sentence": "Small left pleural effusion"},
    ),
    "an unknown field": (with_(mood="good"), "unknown_field", {}),
    "an empty string in a list": (
        with_(changes=["", "unchanged"]),
        "empty_value",
        {"changes": ["unchanged"]},
    ),
    "null in a list": (
        with_(entities=[None, "pleural effusion"]),
        "empty_value",
        {"entities": ["pleural effusion"]},
    ),
    "not a number": (with_(laterality=NAN), "not_a_number", {"laterality_text": None}),
    "a key twice": (
        '{"name": "Small left pleural effusion", "changes": ["stable"], "changes": []}',
        "key_twice",
        {"changes": ["stable"]},
    ),
    "an unknown sentence besides": (
        with_(sentence_ids=["S01", "S77"]),
        "unknown_sentence",
        {"sent_ids": ["S01"]},
    ),
    "unknown sentences alone": (
        with_(sentence_ids=["S77"]),
        "only_unknown_sentences",
        {"sent_ids": ["S01"]},
    ),
    "a boolean for a region": (with_(regions=True), "unreadable_field", {"regions": []}),
    "an object for a text": (
        with_(laterality={"a": 1}),
        "unreadable_field",
        {"laterality_text": None},
    ),
    "an endless text": (with_(change_sentence="stable " * 9_999), "long_text", {}),
    "a text for an observation": (
        "Small left pleural effusion.",
        "bare_text",
        {"name": "Small left pleural effusion.", "entities": []},
    ),
    "its own parent": (with_(id="O1", parent="O1"), "self_parent", {"parent_raw_id": None}),
    "a parent that does not exist": (with_(id="O1", parent="O9"), "unknown_parent", {}),
    "a probability nobody can read": (
        with_(probability=True),
        "unreadable_claim",
        {"probability": None},
    ),
    "findings nobody can read": (with_(entities={1, 2}), "unreadable_claim", {"entities": []}),
    "two probabilities": (
        '{"name": "left effusion", "probability": "positive", "probability": "negative"}',
        "claim_twice",
        {},
    ),
    "10,000 findings": (with_(entities=[f"f{i}" for i in range(10_000)]), "too_many_values", {}),
    "empty strings alone": (with_(name="", summary_sentence="", entities=[""]), "no_text", {}),
    "an empty object": ({"regions": []}, "no_text", {}),
    "a number for an observation": (7, "not_an_observation", {}),
    "null for an observation": (None, "not_an_observation", {}),
    "a list for an observation": ([[]], "not_an_observation", {}),
}


@pytest.mark.parametrize("what", ODDITIES)
def test_every_oddity_has_its_repair_and_level(what: str) -> None:
    content, kind, expected = ODDITIES[what]
    is_answer = isinstance(content, str) and content.startswith("{")
    rows, ledger = read(content if is_answer else [content])
    (row,) = rows
    assert {k: row[k] for k in expected} == expected
    kinds = {k for line in ledger.rows for k in (line["detail"] or "").split(", ")}
    assert kind in kinds
    worst = list(EXTRACTION_QUALITY["issue_level"])
    assert worst.index(row["issue_level"]) <= worst.index(LEVEL_OF[kind])
    if len(kinds) == 1:
        assert row["issue_level"] == LEVEL_OF[kind]
    assert TEXT[:10] not in str(ledger.rows)  # no report text in the ledger


def test_there_are_levels_for_every_kind_and_a_kind_for_every_level() -> None:
    assert set(KINDS) == set(EXTRACTION_QUALITY["issue_level"]) - {"NO_ISSUES"}
    assert all(KINDS.values())
    assert len(ODDITIES) >= 25


# --- answers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "unreadable_answer"),
        ("I cannot help with that.", "unreadable_answer"),
        ("Der Befund ist unauff\u00e4llig.", "unreadable_answer"),
        ("<html><body>503</body></html>", "unreadable_answer"),
        (DEEP, "unreadable_answer"),
        ('{"a":' * 50_000, "unreadable_answer"),
        (17, "unreadable_answer"),
        ({"verdict": "normal"}, "unreadable_answer"),
        (json.dumps([GOOD])[:-30], "unreadable_answer"),
        (json.dumps([GOOD, GOOD])[:-30], "answer_cut_off"),
        ([GOOD] * (MAX_OBSERVATIONS + 3), "too_many_observations"),
    ],
)
def test_an_answer_that_is_lost_leaves_a_trace(content: Any, reason: str) -> None:
    rows, ledger = read(content)
    assert reason in {line["reason"] for line in ledger.rows}
    assert rows[-1]["issue_level"] == "DISCARDED"
    assert not build(rows).is_complete


@pytest.mark.parametrize(
    "content", ["[]", [], None, {}, "null", '{"observations": []}', "```json\n[]\n```"]
)
def test_nothing_observed_is_no_fault(content: Any) -> None:
    assert read(content)[0] == []


@pytest.mark.parametrize(
    "content",
    [
        f"```json\n{json.dumps([GOOD])}\n```",
        f"Here it is [as asked]: {json.dumps([GOOD])} Anything else?",
        json.dumps([GOOD])[:-1] + ",]",
        json.dumps(json.dumps([GOOD])),
        {"O01": GOOD},
        {"result": "ok", "observations": [GOOD]},
        json.dumps(GOOD),
    ],
)
def test_what_stands_around_an_answer_is_left_out(content: Any) -> None:
    rows, _ = read(content)
    assert [r["name"] for r in rows] == [GOOD["name"]]
    assert rows[0]["issue_level"] in ("NO_ISSUES", "FIXABLE")


def test_objects_one_after_another_are_a_list() -> None:
    second = json.dumps(with_(name="Left effusion"))
    assert len(read(f"{json.dumps(GOOD)}\n{second}")[0]) == 2


@pytest.mark.parametrize(
    ("text", "status", "value"),
    [
        ("[1]", "ok", [1]),
        ("\ufeff[1]", "ok", [1]),
        ("[NaN]", "ok", [None]),
        ("9" * 5_000, "ok", "9" * 5_000),
        ('[{"a": 1}, {"b": ', "truncated", [{"a": 1}]),
        ('{"x": [{"a": "}"}, {"b"', "truncated", [{"a": "}"}]),
        ("{'a': 1}", "invalid_json", None),
    ],
)
def test_loose_json(text: str, status: str, value: Any) -> None:
    loaded = loads(text)
    assert (loaded.status, loaded.value) == (status, value)


# --- children -----------------------------------------------------------------------------------


def child(**values: Any) -> dict[str, Any]:
    told = "PICC ends in the SVC"
    return {"name": told, "summary_sentence": f"{told}.", "entities": ["PICC"], **values}


@pytest.mark.parametrize(
    ("child_type", "expected", "level"),
    [
        *((t, t, "NO_ISSUES") for t in CHILD_TYPES),
        ("device_part", "device part", "FIXABLE"),
        ("Device-Part", "device part", "FIXABLE"),
        ("sibling", "associated with", "IGNORABLE"),
        (None, "associated with", "IGNORABLE"),
        (5, "associated with", "IGNORABLE"),
    ],
)
def test_child_types(child_type: Any, expected: str, level: str) -> None:
    rows, _ = read(with_(children=[child(child_type=child_type)]), ("S01", "S02"))
    assert rows[1]["sent_ids"] == rows[0]["sent_ids"] == ["S01"]
    assert [(r["raw_id"], r["parent_raw_id"]) for r in rows] == [("R01", None), ("R01.01", "R01")]
    assert (rows[1]["child_type"], rows[1]["issue_level"]) == (expected, level)


def test_flat_answers_are_hung_below_the_parents_they_name() -> None:
    flat = [
        child(id="B", parent="A", child_type="device part"),
        with_(id="A"),
        child(id="C", parent_id="B"),
    ]
    rows, _ = read(flat, ("S01", "S02"))
    assert [(r["raw_id"], r["parent_raw_id"]) for r in rows] == [
        ("R01", None),
        ("R01.01", "R01"),
        ("R01.01.01", "R01.01"),
    ]
    named = [with_(id="O01", children=["O02"]), child(id="O02")]
    assert [r["raw_id"] for r in read(named, ("S01", "S02"))[0]] == ["R01", "R01.01"]


def test_a_circle_of_parents_is_cut() -> None:
    rows, ledger = read([with_(id="A", parent="B"), with_(id="B", parent="A")])
    assert [r["parent_raw_id"] for r in rows] == [None, "R01"]
    assert any("parent_cycle" in line["detail"] for line in ledger.rows)


def test_a_thousand_levels_are_flattened() -> None:
    nested = child()
    for _ in range(400):
        nested = child(children=[nested], child_type="device part")
    rows, _ = read([nested], ("S02",))
    assert len(rows) == 401
    graph = build([{**r, "sent_ids": ["S01"]} for r in rows])
    assert max(o.child_level for o in graph.observations.values()) <= 20


def test_what_stands_in_no_sentence_is_no_observation() -> None:
    invented = with_(
        name="Rib fracture", summary_sentence="There is a rib fracture.", entities=["rib fracture"]
    )
    rows, ledger = read([invented, GOOD])
    assert [r["name"] for r in rows] == [GOOD["name"]]
    assert [line["reason"] for line in ledger.rows] == ["not_in_report"]
    rows, ledger = read([with_(children=[invented]), {**invented, "children": [GOOD]}])
    assert [(r["raw_id"], r["parent_raw_id"]) for r in rows] == [("R01", None), ("R02.01", None)]
    assert [line["reason"] for line in ledger.rows] == ["not_in_report", "not_in_report"]


@pytest.mark.parametrize(
    ("sentence", "finding", "probability", "kept"),
    [
        ("No pneumothorax.", "pneumothorax", "positive", None),
        ("No pneumothorax.", "pneumothorax", "likely", None),
        ("No pneumothorax.", "pneumothorax", "negative", "negative"),
        ("There is a left pneumothorax.", "pneumothorax", "negative", None),
        ("There is a left pneumothorax.", "pneumothorax", "absent", None),
        ("There is a left pneumothorax.", "pneumothorax", "possible", "possible"),
        ("No right but a small left effusion.", "effusion", "positive", "positive"),
        ("No change in the pneumothorax.", "pneumothorax", "negative", None),
    ],
)
def test_a_statement_turned_around_is_left_open(
    sentence: str, finding: str, probability: str, kept: str | None
) -> None:
    rows = [{"sent_id": "S01", "sentence": sentence, "start": 0, "end": len(sentence)}]
    record = {"name": finding, "entities": [finding], "probability": probability}
    ledger = Ledger("x")
    (row,) = READER.read("s1", [Answer(("S01",), [record], "m")], rows, ledger)
    assert row["probability"] == kept
    assert (row["issue_level"] == "NON_INTERPRETABLE") == (kept is None)
    if kept is None:
        graph = build([row])
        assert {o.probability for o in graph.observations.values()} == {"indeterminate"}
        assert not graph.is_complete


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("Endotracheal tube above the carina", "ETT 4 cm above carina."),
        ("Aortic calcification", "The aorta is calcified."),
        ("Hydrothorax", "Small pleural effusion."),
    ],
)
def test_other_words_for_the_same_are_known(name: str, sentence: str) -> None:
    rows = [{"sent_id": "S01", "sentence": sentence, "start": 0, "end": len(sentence)}]
    ledger = Ledger("x")
    found = READER.read("s1", [Answer(("S01",), [{"name": name}], "m")], rows, ledger)
    assert [r["name"] for r in found] == [name]


# --- round trip and the road to the graph ---------------------------------------------------------

REPORTS = [
    "FINDINGS: The heart is mildly enlarged. There is no pleural effusion or pneumothorax. ET tube"
    " tip is 4.5 cm above the carina.\nIMPRESSION: Possible right lower lobe pneumonia, new since"
    " the prior study. Mild cardiomegaly.",
    "IMPRESSION: Moderate right and small left effusions, increased. Right IJ line ends in the SVC."
    " No change in the left apical nodule, for which CT is recommended.",
]


def as_records(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """RAW_OBSERVATIONS rows as a model would return them: children nested, no ids."""
    same = ("name", "summary_sentence", "entities", "regions", "probability", "modifiers")
    same += ("changes", "change_sentence", "spans", "child_type")
    made: dict[str | None, dict[str, Any]] = {None: {"children": []}}
    for row in rows:
        record = {k: row[k] for k in same}
        record |= {"laterality": row["laterality_text"], "sentence_ids": row["sent_ids"]}
        made[row["raw_id"]] = record | {"children": []}
        made[row["parent_raw_id"]]["children"].append(made[row["raw_id"]])
    return list(made[None]["children"])


@pytest.mark.parametrize("report", REPORTS)
def test_rows_of_the_rules_backend_survive_the_way_through_json(report: str) -> None:
    sentences = SentenceExtractor(reference(), SiteConfig()).extract("s1", report)
    rows = ObservationExtractor(reference()).extract("s1", report, sentences)
    answer = Answer(
        tuple(s["sent_id"] for s in sentences), json.dumps(as_records(rows)), "rules:json"
    )
    ledger = Ledger("extract_observations")
    assert len(rows) > 3
    assert READER.read("s1", [answer], sentences, ledger) == [
        {**row, "origin": "rules:json"} for row in rows
    ]
    assert not ledger.rows


def test_hostile_answers_become_a_graph_without_a_crash() -> None:
    contents = [[content] for content, _, _ in ODDITIES.values()]
    ledger = Ledger("extract_observations")
    answers = [Answer(("S01", "S02"), c, f"call-{i}") for i, c in enumerate(contents)]
    rows = READER.read("s1", answers, SENTENCES, ledger)
    assert len({r["raw_id"] for r in rows}) == len(rows) >= len(contents)
    graph = build(
        rows,
        sentences=[
            {**s, "section": "FINDINGS", "section_type": "FINDINGS", "discarded": None}
            for s in SENTENCES
        ],
    )
    assert graph.observations
    assert not graph.is_complete
    assert all(o.from_report for o in graph.observations.values())


def test_the_documentation_names_every_repair_and_every_reason() -> None:
    text = (ROOT / "docs" / "extraction.md").read_text(encoding="utf-8")
    for level, kinds in KINDS.items():
        for kind, done in kinds.items():
            assert f"| {level} | `{kind}` | {done} |" in text
    for reason in DISCARD_REASONS:
        assert f"`{reason}`" in text

"""The rules backend of the observation pass: claims, places, changes, children, accounting."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from cxrqba.config import HashShards, OpeniSource, SiteConfig
from cxrqba.extract.observations import ObservationExtractor, extract_shard
from cxrqba.extract.sentences import SentenceExtractor
from cxrqba.extract.sentences import extract_shard as extract_sentences
from cxrqba.ledger import Ledger
from cxrqba.reference.tables import load_reference
from cxrqba.reports.readers import prepare
from cxrqba.schema import LEDGER, PASS_STATUS, RAW_OBSERVATIONS, SENTENCES, STUDIES
from cxrqba.tables import frame, read_table, write_table

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "resources" / "reference"

Row = dict[str, Any]


@pytest.fixture(scope="module")
def extractor() -> ObservationExtractor:
    return ObservationExtractor(load_reference(REFERENCE))


def sentence_rows(*lines: tuple[str, str, int | None]) -> tuple[str, list[Row]]:
    """A report of (section type, sentence, cluster) lines and its SENTENCES rows."""
    report, rows = "", []
    for number, (section, text, cluster) in enumerate(lines, start=1):
        start = len(report)
        report += text + "\n"
        rows.append(
            {
                "study_id": "s1",
                "sent_id": f"S{number:02d}",
                "section": section,
                "section_type": section,
                "sentence": text,
                "start": start,
                "end": start + len(text),
                "cluster": cluster,
                "discarded": None,
            }
        )
    return report, rows


def read(extractor: ObservationExtractor, *texts: str) -> list[Row]:
    """Observations of FINDINGS sentences, each its own cluster."""
    report, rows = sentence_rows(*(("FINDINGS", t, None) for t in texts))
    return extractor.extract("s1", report, rows)


def claims(extractor: ObservationExtractor, text: str) -> dict[str, str]:
    """Finding -> probability of one sentence; entities resolved by the lexicon itself."""
    found: dict[str, str] = {}
    for row in read(extractor, text):
        for entity in row["entities"]:
            if entity in extractor.reference.findings:
                found[entity] = row["probability"]
                continue
            for match in extractor._lexicon.read(entity, 0).findings:
                found[match.value.finding.name] = row["probability"]
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("No pneumothorax.", {"pneumothorax": "negative"}),
        (
            "No focal consolidation, pleural effusion, or pneumothorax.",
            dict.fromkeys(("consolidation", "pleural effusion", "pneumothorax"), "negative"),
        ),
        (
            "No pneumothorax, but there is a small pleural effusion.",
            {"pneumothorax": "negative", "pleural effusion": "positive"},
        ),
        (
            "There is no pneumothorax, and the heart is mildly enlarged.",
            {"pneumothorax": "negative", "cardiomegaly": "positive"},
        ),
        (
            "No pleural effusion or pneumothorax, small hiatal hernia.",
            {
                "pleural effusion": "negative",
                "pneumothorax": "negative",
                "hiatal hernia": "positive",
            },
        ),
        (
            "Neither pneumothorax nor pleural effusion is seen.",
            {"pneumothorax": "negative", "pleural effusion": "negative"},
        ),
        (
            "Cardiomegaly without pulmonary edema.",
            {"cardiomegaly": "positive", "pulmonary edema": "negative"},
        ),
        ("Pneumothorax: none.", {"pneumothorax": "negative"}),
        ("The previously seen effusion has resolved.", {"pleural effusion": "negative"}),
        ("The right effusion is no longer seen.", {"pleural effusion": "negative"}),
        ("The heart is not enlarged.", {"cardiomegaly": "negative"}),
        ("No evidence of resolution of the effusion.", {"pleural effusion": "positive"}),
        ("A small effusion cannot be excluded.", {"pleural effusion": "cannot_exclude"}),
        ("Cannot exclude a small effusion.", {"pleural effusion": "cannot_exclude"}),
        ("Possible pneumonia.", {"pneumonia": "possible"}),
        ("Probable atelectasis.", {"atelectasis": "likely"}),
        ("Pneumonia is unlikely.", {"pneumonia": "unlikely"}),
        ("No definite pneumothorax.", {"pneumothorax": "unlikely"}),
        (
            "No large pleural effusion or pneumothorax.",
            {"pleural effusion": "negative", "pneumothorax": "negative"},
        ),
        (
            "Atelectasis or pneumonia.",
            {"atelectasis": "possible", "pneumonia": "possible"},
        ),
        ("No findings to suggest pneumonia.", {"pneumonia": "negative"}),
        ("Unchanged small pleural effusion.", {"pleural effusion": "positive"}),
        ("Cardiomegaly is unchanged.", {"cardiomegaly": "positive"}),
        ("History of pneumonia.", {}),
        ("CT to rule out pneumonia.", {}),
        ("Recommend CT to evaluate the nodule.", {"pulmonary nodule": "recommendation"}),
        ("Blunting of the right costophrenic angle.", {"costophrenic angle blunting": "positive"}),
        (
            "The aorta is calcified and tortuous.",
            {"aortic calcification": "positive", "tortuous aorta": "positive"},
        ),
        (
            "Heart size and mediastinal contours are normal.",
            {
                "cardiomegaly": "negative",
                "mediastinal widening": "negative",
                "enlarged cardiomediastinum": "negative",
            },
        ),
        ("Trachea is midline.", {"tracheal deviation": "negative"}),
        ("TIPS noted.", {"biliary or ureteral stent": "positive"}),
        ("If there is pneumothorax, call.", {}),
    ],
)
def test_claims(extractor: ObservationExtractor, text: str, expected: dict[str, str]) -> None:
    assert claims(extractor, text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "No pneumothorax after removal of the left chest tube.",
            {"pneumothorax": "negative", "chest tube": "negative"},
        ),
        (
            "No focal consolidation to suggest pneumonia.",
            {"consolidation": "negative", "pneumonia": "negative"},
        ),
        (
            "The lungs are hyperinflated but clear.",
            {
                "hyperinflation": "positive",
                "lung opacity": "negative",
                "consolidation": "negative",
                "pneumonia": "negative",
                "pulmonary edema": "negative",
            },
        ),
        ("Please note that nondisplaced rib fractures may not be demonstrated.", {}),
    ],
)
def test_claims_over_several_findings(
    extractor: ObservationExtractor, text: str, expected: dict[str, str]
) -> None:
    assert claims(extractor, text) == expected


def test_a_relative_clause_explains_the_finding_before_it(extractor: ObservationExtractor) -> None:
    blunting, effusion, thickening = read(
        extractor,
        "Blunting of the right costophrenic angle, which may represent a small effusion or "
        "pleural thickening.",
    )
    for row in (effusion, thickening):
        assert row["parent_raw_id"] == blunting["raw_id"]
        assert row["probability"] == "possible"
        assert "right" in row["laterality_text"]


def test_names_lose_the_comparison_and_keep_the_asymmetry(extractor: ObservationExtractor) -> None:
    tube, _ = read(
        extractor,
        "In comparison with the study of ___, the endotracheal tube and nasogastric tube have "
        "been removed.",
    )
    assert (tube["name"], tube["changes"]) == ("No endotracheal tube", ["removed"])
    row, apart = read(extractor, "Bilateral pleural effusions, more prominent on the left.")
    assert row["changes"] == []
    assert row["name"] == "Bilateral pleural effusions, more prominent on the left"
    assert apart["child_type"] == "regional distinction"
    (row,) = read(extractor, "No acute cardiopulmonary abnormality.")
    assert row["name"] == "No acute cardiopulmonary abnormality"


@pytest.mark.shared
def test_open_i_reports_are_read_almost_completely(
    extractor: ObservationExtractor, shared: Path
) -> None:
    source = OpeniSource(reports=str(shared / "data" / "openi" / "openi_reports.tgz"))
    studies = prepare(source, HashShards(by="hash", count=1), "0").studies
    sentences = extract_sentences(
        studies, SentenceExtractor(extractor.reference, SiteConfig())
    ).sentences
    found, status, ledger = extract_shard(studies, sentences, extractor.reference)
    assert "failed" not in status["status"].to_list()
    reported = sentences.filter(
        pl.col("section_type").is_in(["FINDINGS", "IMPRESSION"]), pl.col("discarded").is_null()
    )
    uncovered = ledger.filter(pl.col("reason") == "uncovered_sentence").height
    assert uncovered / reported.height < 0.06
    assert found.height / studies.height > 6


def test_clear_lungs_deny_findings_in_the_lungs(extractor: ObservationExtractor) -> None:
    (row,) = read(extractor, "The left lung is clear.")
    assert row["probability"] == "negative"
    assert "consolidation" in row["entities"]
    assert row["regions"] == [{"region": "left lung", "distances": []}]
    assert row["summary_sentence"] == "Left lung is clear."


def test_otherwise_clear_does_not_deny_what_is_asserted(extractor: ObservationExtractor) -> None:
    rows = read(extractor, "Left lower lobe consolidation.", "The lungs are otherwise clear.")
    denied = [e for r in rows if r["probability"] == "negative" for e in r["entities"]]
    assert "consolidation" not in denied
    assert "pulmonary edema" in denied


def test_a_side_stays_with_its_finding(extractor: ObservationExtractor) -> None:
    effusion, atelectasis = read(
        extractor, "Small left pleural effusion and right basilar atelectasis."
    )
    assert "left" in effusion["laterality_text"]
    assert "right" not in effusion["laterality_text"]
    assert "right" in atelectasis["laterality_text"]
    assert [r["region"] for r in atelectasis["regions"]] == ["right basilar"]
    gone, there = read(extractor, "No left pleural effusion, right effusion persists.")
    assert (gone["probability"], there["probability"]) == ("negative", "positive")
    assert "right" not in gone["laterality_text"]
    assert "left" not in there["laterality_text"]


@pytest.mark.parametrize(
    "text",
    [
        "The right heart border is obscured by an opacity.",
        "Swan-Ganz catheter tip is in the right pulmonary artery.",
        "The patient is rotated to the left.",
        "Pacemaker leads in the right ventricle.",
        "Enlarged left atrium.",
    ],
)
def test_fixed_names_give_no_side(extractor: ObservationExtractor, text: str) -> None:
    for row in read(extractor, text):
        words = (row["laterality_text"] or "").lower().split()
        assert "left" not in words
        assert "right" not in words


def test_a_shared_place_reaches_all_items_of_a_bare_list(extractor: ObservationExtractor) -> None:
    for text in (
        "Effusion and atelectasis on the right.",
        "In the right base, there is atelectasis and a small effusion.",
    ):
        rows = read(extractor, text)
        assert len(rows) == 2
        assert all("right" in r["laterality_text"] for r in rows), text


def test_regions_with_distances(extractor: ObservationExtractor) -> None:
    (row,) = read(extractor, "The endotracheal tube tip is 4.5 cm above the carina.")
    assert row["regions"] == [{"region": "carina", "distances": ["4.5 cm above"]}]
    (row,) = read(extractor, "ET tube ends 3-4 cm above the carina.")
    assert row["regions"] == [{"region": "carina", "distances": ["3-4 cm above"]}]
    (row,) = read(extractor, "Patchy opacity in the right upper lobe and lingula.")
    assert [r["region"] for r in row["regions"]] == ["right upper lobe", "lingula"]


def test_change_leaves_name_and_summary(extractor: ObservationExtractor) -> None:
    (row,) = read(extractor, "The small left effusion has decreased in size since the prior study.")
    assert row["name"] == "Small left effusion"
    assert row["summary_sentence"] == "Small left effusion."
    assert row["changes"] == ["has decreased"]
    assert row["change_sentence"].startswith("The small left effusion has decreased")
    assert row["modifiers"] == [{"type": "severity", "value": "small"}]
    (row,) = read(extractor, "No change in the effusion.")
    assert (row["probability"], row["changes"]) == ("positive", ["No change"])
    (row,) = read(extractor, "No new focal consolidation.")
    assert (row["probability"], row["changes"]) == ("negative", ["No new"])


def test_comparison_alone_asserts_nothing(extractor: ObservationExtractor) -> None:
    for text in ("No interval change.", "Heart size is stable."):
        (row,) = read(extractor, text)
        assert row["probability"] == "comparison_only"
        assert row["entities"] == []


def test_causes_and_device_parts_are_children(extractor: ObservationExtractor) -> None:
    opacity, atelectasis = read(
        extractor, "Opacity at the left lung base, likely representing atelectasis."
    )
    assert atelectasis["parent_raw_id"] == opacity["raw_id"]
    assert atelectasis["child_type"] == "associated with"
    assert atelectasis["probability"] == "likely"
    assert "left" in atelectasis["laterality_text"]
    line, tip = read(extractor, "Right IJ central venous catheter with tip in the lower SVC.")
    assert (tip["parent_raw_id"], tip["child_type"]) == (line["raw_id"], "device part")
    assert [r["region"] for r in tip["regions"]] == ["lower SVC"]
    assert "right" not in tip["laterality_text"].lower()
    nodule, advice = read(extractor, "Nodule in the right upper lobe, for which CT is recommended.")
    assert nodule["probability"] == "positive"
    assert (advice["child_type"], advice["probability"]) == ("recommendation", "recommendation")


def test_the_same_statement_twice_in_a_cluster_is_one_observation(
    extractor: ObservationExtractor,
) -> None:
    report, rows = sentence_rows(
        ("FINDINGS", "There is a small left pleural effusion.", 1),
        ("FINDINGS", "Right pleural effusion is large.", 1),
        ("IMPRESSION", "Left effusion, likely.", 1),
        ("IMPRESSION", "No pneumothorax.", 2),
    )
    found = extractor.extract("s1", report, rows)
    left, right, other = found
    assert left["sent_ids"] == ["S01", "S03"]
    assert left["probability"] == "likely"  # the impression counts
    assert right["sent_ids"] == ["S02"]
    assert other["entities"] == ["pneumothorax"]


def test_spans_are_exact(extractor: ObservationExtractor) -> None:
    report, rows = sentence_rows(
        ("FINDINGS", "No\nfocal  consolidation in the right lower lobe.", None)
    )
    (row,) = extractor.extract("s1", report, rows)
    texts = [report[s["start"] : s["end"]] for s in row["spans"]]
    assert texts == ["No\nfocal", "consolidation", "right lower lobe"]
    assert row["regions"][0]["region"] == "right lower lobe"


def test_only_reported_sentences_count(extractor: ObservationExtractor) -> None:
    report, rows = sentence_rows(
        ("INDICATION", "Pneumonia.", None), ("FINDINGS", "Pneumothorax.", None)
    )
    rows[1]["discarded"] = "technique"
    assert extractor.extract("s1", report, rows) == []


def test_sentences_without_observation_go_to_the_ledger(extractor: ObservationExtractor) -> None:
    report, rows = sentence_rows(
        ("FINDINGS", "The zorble shows a frumious whiffle.", None),
        ("FINDINGS", "Two views of the chest were obtained.", None),
        ("IMPRESSION", "Discussed with Dr. Smith by telephone.", None),
        ("IMPRESSION", "No pneumothorax.", None),
    )
    ledger = Ledger("extract_observations")
    extractor.extract("s1", report, rows, ledger)
    assert [(r["item_id"], r["reason"], r["scope"]) for r in ledger.rows] == [
        ("S01", "uncovered_sentence", "item"),
        ("S02", "non_observational", "item"),
        ("S03", "non_observational", "item"),
    ]
    assert not any("zorble" in str(r["detail"]) for r in ledger.rows)


def test_one_bad_study_does_not_stop_the_shard(monkeypatch: pytest.MonkeyPatch) -> None:
    reference = load_reference(REFERENCE)
    report, rows = sentence_rows(("FINDINGS", "No pneumothorax.", None))
    others = [{**r, "study_id": "s0"} for r in rows]
    studies = frame([{"study_id": s, "report": report} for s in ("s0", "s1")], STUDIES)
    original = ObservationExtractor.extract

    def fail(self: ObservationExtractor, study_id: str, *args: Any, **kw: Any) -> list[Row]:
        if study_id == "s0":
            raise ZeroDivisionError("secret text")
        return original(self, study_id, *args, **kw)

    monkeypatch.setattr(ObservationExtractor, "extract", fail)
    found, status, ledger = extract_shard(studies, frame([*rows, *others], SENTENCES), reference)
    assert found["study_id"].to_list() == ["s1"]
    assert status.select("study_id", "status").rows() == [("s0", "failed"), ("s1", "ok")]
    assert ledger.select("study_id", "scope", "reason", "detail").rows() == [
        ("s0", "study", "extraction_failed", "ZeroDivisionError")
    ]


def test_script_writes_its_tables_and_rows_do_not_depend_on_order(tmp_path: Path) -> None:
    report, rows = sentence_rows(
        ("FINDINGS", "Small left effusion.", 1), ("IMPRESSION", "No pneumothorax.", 2)
    )
    outputs = []
    for name, order in (("a", rows), ("b", rows[::-1])):
        folder = tmp_path / name
        write_table(
            frame([{"study_id": "s1", "report": report}], STUDIES), folder / "st.parquet", STUDIES
        )
        write_table(frame(order, SENTENCES), folder / "se.parquet", SENTENCES)
        subprocess.run(
            [
                sys.executable,
                str(ROOT / "workflow" / "scripts" / "extract_observations.py"),
                *("--studies", folder / "st.parquet", "--sentences", folder / "se.parquet"),
                *("--reference", REFERENCE, "--observations", folder / "o.parquet"),
                *("--status", folder / "s.parquet", "--ledger", folder / "l.parquet"),
                *("--settings", json.dumps({"site": {}})),
            ],
            check=True,
            capture_output=True,
        )
        outputs.append((folder / "o.parquet").read_bytes())
    assert outputs[0] == outputs[1]
    found = read_table(tmp_path / "a" / "o.parquet", RAW_OBSERVATIONS)
    assert found["raw_id"].to_list() == ["R01", "R02"]
    status = read_table(tmp_path / "a" / "s.parquet", PASS_STATUS)
    assert status.select("step", "status", "num_items").rows() == [
        ("extract_observations", "ok", 2)
    ]
    assert read_table(tmp_path / "a" / "l.parquet", LEDGER).height == 0
    assert isinstance(found, pl.DataFrame)


@pytest.mark.parametrize(
    ("text", "finding", "probability"),
    [
        ("Obtain a film to check for pneumothorax.", "pneumothorax", "recommendation"),
        ("CT is recommended to exclude a mass.", "mass", "recommendation"),
        ("Whether it harbors pneumonia is impossible to tell.", "pneumonia", "indeterminate"),
        ("Underlying pneumonia would be invisible.", "pneumonia", "indeterminate"),
        ("Empyema must be considered.", "Empyema", "possible"),
        ("It is not true that there is no pneumothorax.", "pneumothorax", "positive"),
        ("The pneumothorax has not resolved.", "pneumothorax", "positive"),
        ("The effusion has not budged and is joined by collapse.", "collapse", "positive"),
        ("The effusion has not increased.", "effusion", "positive"),
        ("No pneumothorax is visible on this supine view.", "supine", "positive"),
        ("The drain, the ETT and the NG tube have been taken out.", "ETT", "negative"),
        ("The tunnelled catheter is out.", "tunnelled catheter", "negative"),
    ],
)
def test_requests_doubts_and_denied_changes_deny_nothing(
    text: str, finding: str, probability: str
) -> None:
    report = f"FINDINGS: {text}"
    site = SiteConfig()
    sentences = SentenceExtractor(load_reference(REFERENCE), site).extract("s1", report)
    rows = ObservationExtractor(load_reference(REFERENCE)).extract("s1", report, sentences)
    told = {e: r["probability"] for r in rows for e in r["entities"]}
    assert [p for entity, p in told.items() if finding in entity][:1] == [probability]


@pytest.mark.parametrize(
    "text",
    [
        "In line with the history.",
        "A net-like pattern of intersecting lines.",
        "In the absence of recent laparotomy this means a perforated viscus.",
    ],
)
def test_words_of_every_day_are_no_devices_and_conditions_deny_nothing(text: str) -> None:
    report = f"FINDINGS: {text}"
    reference = load_reference(REFERENCE)
    sentences = SentenceExtractor(reference, SiteConfig()).extract("s1", report)
    rows = ObservationExtractor(reference).extract("s1", report, sentences)
    assert not [r["entities"] for r in rows if r["entities"]]

"""Matching, counting and tracing of the extraction against annotated reports."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from cxrqba.config import ExtractionReference, load_config
from cxrqba.errors import UserError
from cxrqba.evaluate.extraction import OURS, PEER, Evaluation, Settings, Tables, evaluate
from cxrqba.evaluate.extraction_claims import Claim, PlainWords
from cxrqba.evaluate.extraction_counts import names_side, scores, study_counts
from cxrqba.evaluate.extraction_gold import (
    GoldRow,
    findings_to_translate,
    locate,
    read_gold,
    section_at,
)
from cxrqba.evaluate.extraction_match import Matching, match
from cxrqba.evaluate.negex import NegEx, negex_claims
from cxrqba.paper.extraction import extraction_table
from cxrqba.paper.tables import to_markdown
from cxrqba.reference.tables import Reference, load_reference
from cxrqba.schema import (
    EXTRACTION_CLAIMS,
    EXTRACTION_SCORES,
    EXTRACTION_STAGES,
    MAPPINGS,
    OBSERVATIONS,
    RAW_OBSERVATIONS,
    SENTENCES,
    STUDIES,
)
from cxrqba.tables import frame, read_table, write_table

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "workflow" / "scripts"
SENTENCE = {"S1": (0, 50), "S2": (50, 100)}


@pytest.fixture(scope="module")
def reference() -> Reference:
    return load_reference(ROOT / "resources" / "reference")


def row(finding: str, polarity: str = "pos", at: tuple[int, int] = (0, 5), **more: Any) -> GoldRow:
    accepted = frozenset(more.pop("accepted", (finding,)))
    values = {"certainty": "certain", "side": "unknown", "region": "", "severity": "", "change": ""}
    return GoldRow("s1", (at,), finding, accepted, polarity, **{**values, **more})


def claim(finding: str, polarity: str = "pos", sent_id: str = "S1", **more: Any) -> Claim:
    values: dict[str, Any] = {
        "claim_id": finding,
        "parent_id": None,
        "findings": (finding,),
        "spans": (),
        "certainty": "certain",
        "side": "unknown",
    }
    return Claim(**{**values, "sent_ids": (sent_id,), "polarity": polarity, **more})


def found(rows: Sequence[GoldRow], claims: Sequence[Claim]) -> Matching:
    return match(rows, claims, SENTENCE)


# --- matching -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ours", "is_match"),
    [
        (claim("pleural effusion"), True),
        (claim("pleural effusion", "neg"), False),
        (claim("pleural effusion", sent_id="S2"), False),
        (claim("pneumothorax"), False),
    ],
    ids=["same", "other polarity", "other sentence", "other finding"],
)
def test_a_match_is_finding_polarity_and_sentence(ours: Claim, is_match: bool) -> None:
    assert bool(found([row("pleural effusion")], [ours]).pairs) is is_match


def test_rows_and_claims_are_paired_one_to_one_by_words_and_side() -> None:
    rows = [row("rib fracture", side="left"), row("rib fracture", at=(20, 25), side="right")]
    ours = [
        claim("rib fracture", side="right", spans=((20, 25),)),
        claim("rib fracture", side="left", spans=((0, 5),)),
        claim("rib fracture", side="left"),
    ]
    matching = found(rows, ours)
    assert [(p.row, p.claim) for p in matching.pairs] == [(0, 1), (1, 0)]
    assert not matching.repeated  # the third is a spurious observation


def test_one_observation_of_two_sentences_answers_a_row_in_each() -> None:
    rows = [row("pneumonia"), row("pneumonia", at=(60, 65))]
    matching = found(rows, [claim("pneumonia", sent_ids=("S1", "S2"))])
    assert matching.rows == {0, 1}
    assert matching.claims == {0}


def test_more_negatives_of_one_normal_statement_are_not_spurious() -> None:
    lungs = row("lung abnormality", "neg", accepted=("consolidation", "pulmonary edema"))
    ours = [claim("consolidation", "neg"), claim("pulmonary edema", "neg")]
    assert len(found([lungs], ours).repeated) == 1
    assert not found([lungs], [*ours, claim("fracture", "neg")]).repeated >= {2}
    both_stated = [claim("consolidation"), claim("pulmonary edema")]
    stated = row("opacity", accepted=("consolidation", "pulmonary edema"))
    assert not found([stated], both_stated).repeated, "a positive too many counts"


def test_children_that_repeat_their_parent_are_not_spurious() -> None:
    ours = [
        claim("endotracheal tube", claim_id="O1"),
        claim("endotracheal tube", claim_id="O1.01", parent_id="O1"),
        claim("pneumothorax", claim_id="O1.02", parent_id="O1"),
    ]
    assert found([row("endotracheal tube")], ours).repeated == {1}


def test_remarks_on_the_image_are_counted_only_if_annotated() -> None:
    ours = claim("patient rotation", is_technical=True)
    assert found([], [ours]).repeated == {0}
    assert found([row("patient rotation")], [ours]).claims == {0}


def test_left_and_right_answer_one_bilateral_row_and_the_reverse() -> None:
    both = [row("pleural effusion", side="bilateral")]
    ours = [claim("pleural effusion", side="left"), claim("pleural effusion", side="right")]
    matching = found(both, ours)
    assert matching.pairs[0].side == "bilateral"
    assert len(matching.repeated) == 1
    rows = [row("pleural effusion", side="left"), row("pleural effusion", side="right")]
    matching = found(rows, [claim("pleural effusion", side="bilateral")])
    assert [p.side for p in matching.pairs] == ["left", "right"]
    matching = found(rows[:1], [claim("pleural effusion", side="bilateral")])
    assert [p.side for p in matching.pairs] == ["bilateral"], "one side alone makes it wrong"


# --- counts -------------------------------------------------------------------------------------


def counted(
    rows: Sequence[GoldRow],
    claims: Sequence[Claim],
    reference: Reference,
    texts: Mapping[str, str] | None = None,
) -> Mapping[str, list[int]]:
    counts = study_counts(rows, claims, found(rows, claims), PlainWords(reference), texts or {})
    return {aspect: numbers.tolist() for aspect, numbers in counts.items()}


def test_polarity_and_certainty_are_counted_apart(reference: Reference) -> None:
    rows = [
        row("pneumonia", certainty="uncertain"),
        row("pneumothorax", "neg"),
        row("pulmonary edema", certainty="likely"),
    ]
    ours = [
        claim("pneumonia", certainty="likely"),
        claim("pulmonary edema"),
        claim("fracture", "neg"),
    ]
    counts = counted(rows, ours, reference)
    assert counts["observations"] == [3, 2, 3, 2]
    assert counts["positive"] == [2, 2, 2, 2]
    assert counts["negated"] == [1, 0, 1, 0]
    assert counts["uncertain"] == [2, 1, 1, 1]
    assert counts["certainty"] == [2, 0, 2, 0]


def test_a_wrong_side_is_counted_apart_from_none(reference: Reference) -> None:
    rows = [
        row("pneumonia", side="left"),
        row("pneumothorax", side="left"),
        row("pulmonary edema", side="bilateral"),
        row("cardiomegaly", side="none"),
    ]
    ours = [
        claim("pneumonia", side="right"),
        claim("pneumothorax"),
        claim("pulmonary edema", side="bilateral"),
        claim("cardiomegaly", side="left"),
    ]
    counts = counted(rows, ours, reference)
    assert counts["side, annotated"] == [3, 1, 1, 1]
    assert counts["side, stated"] == [0, 0, 0, 0]
    stated = counted(rows, ours, reference, {"S1": "Left pneumonia."})
    assert stated["side, stated"] == [3, 1, 1, 1]


@pytest.mark.parametrize(
    ("text", "is_sided"),
    [
        ("Bibasilar opacities", True),
        ("LLL collapse", True),
        ("on both sides", True),
        ("R IJ line", True),
        ("what is left", True),  # a word is a word: the row must have a side as well
        ("No pleural effusion", False),
        ("Lungs are clear", False),
        ("all the same", False),
    ],
)
def test_sides_are_stated_by_words(text: str, is_sided: bool) -> None:
    assert names_side(text) is is_sided


def test_a_wrong_side_needs_words_in_the_same_sentence(reference: Reference) -> None:
    rows = [row("pneumonia", side="left")]
    ours = [claim("pneumonia", side="right")]
    assert counted(rows, ours, reference, {"S2": "Left."})["side, stated"] == [0, 0, 0, 0]


def test_values_are_compared_as_reference_names(reference: Reference) -> None:
    rows = [
        row("pneumonia", side="right", region="lower lobe", severity="small", change="worse"),
        row("fracture", severity="2 cm", change="as described"),
    ]
    plain = PlainWords(reference)
    lobe = plain.family("right lower lobe")
    ours = [
        claim(
            "pneumonia",
            regions=frozenset((lobe,)),
            default_regions=frozenset(("lungs",)),
            severities=frozenset(("small",)),
            changes=frozenset(("improved",)),
        ),
        claim("fracture", severities=frozenset(("small",))),
    ]
    counts = counted(rows, ours, reference)
    assert counts["regions"] == [1, 1, 1, 1], "a default region is never wrong"
    assert counts["severity"] == [1, 1, 1, 1], "plain words without a name are left out"
    assert counts["change"] == [1, 0, 1, 0]


def test_kin_regions_are_right_in_their_own_aspect_only(reference: Reference) -> None:
    ours = claim("pneumonia", regions=frozenset(("lungs",)))
    counts = counted([row("pneumonia", side="right", region="lower lobe")], [ours], reference)
    assert counts["regions"] == [1, 0, 1, 0]
    assert counts["regions, kin"] == [1, 1, 1, 1]


def test_undefined_scores_are_nan_and_nothing_found_is_zero() -> None:
    nothing = scores(np.array([[3, 0, 0, 0]]), "observations", 10, 0)
    assert nothing["f1"].value == 0
    assert np.isnan(nothing["precision"].value)
    assert np.isnan(scores(np.zeros((1, 4), dtype=np.int64), "certainty", 10, 0)["accuracy"].value)


# --- gold files ---------------------------------------------------------------------------------

REPORT = "FINDINGS: Small left effusion.\nNo pneumothorax. The heart is\nnormal in size.\n"
GOLD = [
    ("1", "Small left", "fluid", "pos", "certain", "left", "pleura", "small", ""),
    ("1", "No pneumothorax", "air", "neg", "certain", "unknown", "", "", ""),
    ("1", "The heart is normal", "large heart", "neg", "certain", "none", "heart", "", ""),
    ("2", "Small left", "secret finding", "pos", "certain", "left", "", "", ""),
]
COLUMNS = "study_id,evidence,finding,polarity,certainty,side,region,severity,change"
NAMES = [
    ("fluid", "pleural effusion+", ""),
    ("air", "pneumothorax", ""),
    ("large heart", "@CARDIAC", ""),
    ("secret finding", "", ""),
]


def write(path: Path, header: str, rows: Sequence[Sequence[str]]) -> str:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header.split(","), *rows])
    return str(path)


def gold_files(
    folder: Path, parts: Sequence[str] = ("dev",), **changed: Sequence[Sequence[str]]
) -> ExtractionReference:
    return ExtractionReference(
        name="gold",
        observations=write(folder / "observations.csv", COLUMNS, changed.get("rows", GOLD)),
        split=write(folder / "split.csv", "study_id,part", [("1", "dev"), ("2", "sealed")]),
        names=write(folder / "n.csv", "finding,reference,note", changed.get("names", NAMES)),
        sections=write(
            folder / "sections.csv",
            "study_id,section_type,start_text",
            [("1", "FINDINGS", "Small left"), ("2", "IMPRESSION", "Small left")],
        ),
        parts=list(parts),
    )


def test_gold_is_read_for_the_wanted_parts_alone(tmp_path: Path, reference: Reference) -> None:
    gold = read_gold(gold_files(tmp_path), {"s1": REPORT, "s2": REPORT}, reference)
    assert gold.part_of == {"s1": "dev"}
    assert {r.study_id for r in gold.rows} == {"s1"}
    assert [s.study_id for s in gold.sections] == ["s1"]
    assert "loculated pleural effusion" in gold.rows[0].accepted
    assert "cardiomegaly" in gold.rows[2].accepted
    assert gold.rows[2].spans == ((48, 67),), "white space may differ"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"rows": [("1", "Big", *GOLD[0][2:])]}, "line 2, evidence: this text does not stand"),
        ({"rows": [(*GOLD[0][:3], "maybe", *GOLD[0][4:])]}, "'maybe' is none of pos, neg"),
        ({"names": [("fluid", "pleural effusio", "")]}, "did you mean 'pleural effusion"),
        ({"names": [*NAMES, NAMES[0]]}, "'fluid' occurs twice"),
    ],
)
def test_broken_gold_is_named_by_file_and_line(
    tmp_path: Path, reference: Reference, changed: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        read_gold(gold_files(tmp_path, **changed), {"s1": REPORT}, reference)


@pytest.mark.parametrize("dataset", ["demo", "routine"])
def test_the_shipped_translations_name_known_findings(dataset: str, reference: Reference) -> None:
    _, config = load_config({"dataset": dataset}, ROOT)
    for settings in config.evaluate.extraction:
        assert read_gold(settings, {}, reference).absent > 0  # all are: this reads the names alone


def test_words_without_translation_count_as_missed(tmp_path: Path, reference: Reference) -> None:
    gold = read_gold(gold_files(tmp_path, names=NAMES[1:]), {"s1": REPORT}, reference)
    assert gold.untranslated == 1
    assert not gold.rows[0].accepted


def test_the_list_for_the_translator_holds_the_words_alone(tmp_path: Path) -> None:
    path = Path(gold_files(tmp_path).observations)
    assert findings_to_translate([path, path]) == ["air", "fluid", "large heart", "secret finding"]


@pytest.mark.parametrize(
    ("sections", "kept"),
    [
        (["WET_READ", "INDICATION", "FINDINGS"], ["Small fluid"]),
        (["WET_READ", "INDICATION", "NOTIFICATION"], ["Left fluid", "Small fluid"]),
    ],
    ids=["superseded", "the wet read is all there is"],
)
def test_silent_and_superseded_sections_give_no_rows(
    tmp_path: Path, reference: Reference, sections: list[str], kept: list[str]
) -> None:
    report = "WET READ: Left fluid.\nREASON: Right fluid?\nREPORT: Small fluid.\n"
    pieces = ["Left fluid", "Right fluid", "Small fluid"]
    settings = gold_files(tmp_path, rows=[("1", piece, *GOLD[0][2:]) for piece in pieces])
    starts = [("1", kind, piece) for kind, piece in zip(sections, pieces, strict=True)]
    write(tmp_path / "sections.csv", "study_id,section_type,start_text", starts)
    gold = read_gold(settings, {"s1": report}, reference)
    assert [report[slice(*r.spans[0])] for r in gold.rows] == kept
    assert gold.left_out == 3 - len(kept)


def test_words_that_stand_twice_start_a_section_where_a_line_begins(
    tmp_path: Path, reference: Reference
) -> None:
    report = "FINDINGS: As before. No air.\nIMPRESSION: No air.\n"
    settings = gold_files(tmp_path, rows=[])
    starts = [("1", "FINDINGS", "As before"), ("1", "IMPRESSION", "No air")]
    write(tmp_path / "sections.csv", "study_id,section_type,start_text", starts)
    sections = read_gold(settings, {"s1": report}, reference).sections
    assert [s.start for s in sections] == [10, 41]
    assert section_at(25, "s1", sections) == "FINDINGS"
    assert section_at(5, "s1", sections) is None


def test_a_piece_that_stands_twice_has_two_places() -> None:
    assert locate("a  b", "a b, a\nb", "x") == ((0, 3), (5, 8))


# --- end to end ---------------------------------------------------------------------------------


def run(tmp_path: Path, reference: Reference, peer: pl.DataFrame | None = None) -> Evaluation:
    """Two equal studies; ours finds the effusion on the wrong side and lost the negation."""
    places = [("S01", 10, 30), ("S02", 31, 47), ("S03", 48, 77)]
    studies = [
        {"patient_id": f"p{n}", "study_id": f"s{n}", "report": REPORT, "num_images": 0}
        for n in (1, 2)
    ]
    ids = [s["study_id"] for s in studies]
    sentences = [
        {
            "study_id": study_id,
            "sent_id": sent_id,
            "section": "FINDINGS",
            "section_type": "FINDINGS",
            "sentence": REPORT[start:end],
            "start": start,
            "end": end,
        }
        for study_id in ids
        for sent_id, start, end in places
    ]
    told = [
        ("effusion", "pleural effusion", "S01", "right"),
        ("ptx", "pneumothorax", "S02", "unknown"),
    ]
    raw = [
        {
            "study_id": study_id,
            "raw_id": f"R{n}",
            "entities": [text],
            "regions": [],
            "modifiers": [],
            "changes": [],
            "probability": "positive",
            "sent_ids": [sent_id],
            "spans": [],
        }
        for study_id in ids
        for n, (text, _, sent_id, _) in enumerate(told)
    ]
    mappings = [
        {"kind": "entity", "text": text, "reference": name, "score": 1.0, "method": "exact"}
        for text, name, _, _ in told
    ]
    observations = [
        {
            "study_id": study_id,
            "obs_id": f"O{n}",
            "obs_entities": [name],
            "positiveness": "pos",
            "certainty": "certain",
            "laterality": side,
            "from_report": True,
            "sent_ids": [sent_id],
            "regions": [],
        }
        for study_id in ids
        for n, (_, name, sent_id, side) in enumerate(told)
    ]
    tables = Tables(
        frame(studies, STUDIES),
        frame(sentences, SENTENCES),
        frame(raw, RAW_OBSERVATIONS),
        frame(mappings, MAPPINGS),
        frame(observations, OBSERVATIONS),
        peer,
    )
    wanted = [gold_files(tmp_path, ("dev", "sealed"))]
    return evaluate(tables, wanted, reference, Settings("demo", bootstrap=20))


def test_every_error_is_traced_to_its_step(tmp_path: Path, reference: Reference) -> None:
    errors = run(tmp_path, reference).errors
    assert errors.select("sent_id", "error", "stage").rows() == [
        ("S02", "missed", "scope"),
        ("S03", "missed", "mention"),
        ("S02", "spurious", "scope"),
        ("S01", "side wrong", "side"),
    ]


def test_of_the_sealed_part_only_sums_come_out(tmp_path: Path, reference: Reference) -> None:
    result = run(tmp_path, reference)
    assert set(result.errors["study_id"]) == {"s1"}
    assert set(result.scores["part"]) == {"dev", "sealed"}
    for table in (result.scores, result.stages):
        assert not {"study_id", "sent_id", "gold_text"} & set(table.columns)
        assert "secret finding" not in str(table.to_dicts())
    sealed = result.scores.filter(pl.col("part") == "sealed")
    assert set(sealed["studies"]) == {1}


def test_parts_and_systems_are_scored_apart(tmp_path: Path, reference: Reference) -> None:
    claims = frame(
        [
            {
                "study_id": "s1",
                "sent_id": "S02",
                "finding": "pneumothorax",
                "positiveness": "neg",
                "certainty": "certain",
                "laterality": "unknown",
                "start": 34,
                "end": 46,
            }
        ],
        EXTRACTION_CLAIMS,
    )
    table = run(tmp_path, reference, claims).scores.filter(
        pl.col("aspect") == "observations", pl.col("metric") == "recall", pl.col("part") == "dev"
    )
    values = dict(table.select("system", "value").iter_rows())
    assert values[OURS] == pytest.approx(1 / 3)
    assert values[PEER] == pytest.approx(1 / 3)
    assert PEER not in run(tmp_path, reference).scores["system"]
    of_other_sentences = claims.with_columns(pl.col("start") + 30, pl.col("end") + 30)
    assert PEER not in run(tmp_path, reference, of_other_sentences).scores["system"]


def test_sections_are_scored_by_the_sentence_they_start_with(
    tmp_path: Path, reference: Reference
) -> None:
    table = run(tmp_path, reference).scores.filter(pl.col("aspect") == "sections")
    rows = {(r["part"], r["metric"]): r["value"] for r in table.iter_rows(named=True)}
    assert rows["dev", "f1"] == 1
    assert rows["sealed", "f1"] == 0


def test_the_table_says_what_was_not_run(tmp_path: Path, reference: Reference) -> None:
    result = run(tmp_path, reference)
    write_table(result.scores, tmp_path / "scores.parquet", EXTRACTION_SCORES)
    write_table(result.stages, tmp_path / "stages.parquet", EXTRACTION_STAGES)
    table = extraction_table(tmp_path / "scores.parquet", tmp_path / "stages.parquet", "demo")
    text = to_markdown(table)
    assert text.count("not run") == 3 * 3, "nothing is matched in the sealed part"
    assert "gold, dev (1 studies of 1 patients)" in text
    assert "gold, sealed" in text


# --- baseline -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentence", "finding", "polarity", "certainty", "side"),
    [
        ("No pleural effusion or pneumothorax.", "pneumothorax", "neg", "certain", "unknown"),
        ("Left pneumothorax has resolved.", "pneumothorax", "neg", "certain", "left"),
        ("No edema but right pneumothorax.", "pneumothorax", "pos", "certain", "right"),
        ("No change in left effusion.", "pleural effusion", "pos", "certain", "left"),
        ("Pneumonia cannot be excluded.", "pneumonia", "pos", "uncertain", "unknown"),
        ("Opacity may represent pneumonia.", "pneumonia", "pos", "uncertain", "unknown"),
        ("Bilateral pleural effusions.", "pleural effusion", "pos", "certain", "bilateral"),
    ],
)
def test_negex_reads_triggers(
    reference: Reference, sentence: str, finding: str, polarity: str, certainty: str, side: str
) -> None:
    claims = {c["finding"]: c for c in NegEx(reference).claims(sentence, 100)}
    told = claims[finding]
    assert (told["positiveness"], told["certainty"]) == (polarity, certainty)
    assert told["laterality"] == side
    assert told["start"] >= 100


def test_negex_reads_the_sentences_that_we_read(reference: Reference) -> None:
    rows = [
        {"study_id": "s", "sent_id": "S1", "section_type": "HISTORY", "sentence": "Edema."},
        {"study_id": "s", "sent_id": "S2", "section_type": "FINDINGS", "sentence": "Edema."},
    ]
    table = frame([{**r, "start": 0, "end": 6} for r in rows], SENTENCES)
    assert negex_claims(table, reference)["sent_id"].to_list() == ["S2"]


# --- peer ---------------------------------------------------------------------------------------


def test_the_peer_asks_for_a_run_first() -> None:
    script = [sys.executable, "-m", "cxrqba.evaluate.peer", "--reference", "r", "--claims", "c"]
    done = subprocess.run(script, cwd=SCRIPTS, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "run the dataset first" in done.stderr


def test_the_peer_gives_claims_in_our_sentences(tmp_path: Path) -> None:
    python = ROOT / ".venv-peer" / "bin" / "python"
    if not (python.parent.parent / ".ready").is_file():
        pytest.skip("medspaCy is not installed; `make peer` does it")
    rows = [
        {"sent_id": "S1", "start": 10, "sentence": "No right pneumothorax."},
        {"sent_id": "S2", "start": 33, "sentence": "Possible left pneumonia."},
    ]
    shared = {"study_id": "s", "section_type": "FINDINGS", "end": 90}
    table = frame([{**row, **shared} for row in rows], SENTENCES)
    write_table(table, tmp_path / "sentences.parquet", SENTENCES)
    script = [python, "-m", "cxrqba.evaluate.peer", "--sentences", tmp_path / "sentences.parquet"]
    script += ["--reference", ROOT / "resources" / "reference", "--claims", tmp_path / "claims"]
    subprocess.run(script, cwd=SCRIPTS, check=True, capture_output=True)
    claims = read_table(tmp_path / "claims", EXTRACTION_CLAIMS).sort("start")
    assert claims.drop("study_id", "sent_id", "end").rows() == [
        ("pneumothorax", "neg", "certain", "right", 19),
        ("pneumonia", "pos", "uncertain", "left", 47),
    ]

"""A release: its layout, what may leave, its bytes, its cards, and reading it back."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import re
import shutil
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mlcroissant
import numpy as np
import polars as pl
import pytest
import yaml
from run_fixtures import REPORTS, make_project, release_run

from cxrqba.errors import UserError
from cxrqba.release.build import drawn
from cxrqba.release.metadata import KEYS
from cxrqba.release.reader import Release
from cxrqba.schema import EXTRACTION_QUALITY, TEXT_QUALITY


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_project(tmp_path_factory.mktemp("release"))


@pytest.fixture(scope="module")
def folder(results: Path) -> Path:
    return release_run(results, text=True, licence="MIT", sample=10, authors=["A. Nobody"])


def everything(folder: Path) -> dict[str, bytes]:
    return {
        p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()
    }


def member(path: Path, name: str) -> dict[str, Any]:
    with zipfile.ZipFile(path) as archive:
        found: dict[str, Any] = json.loads(archive.read(name))
    return found


def test_the_layout_is_that_of_the_published_release(folder: Path) -> None:
    names = everything(folder).keys()
    for table in KEYS:
        for ending in ("csv.gz", "parquet"):
            assert f"metadata/{table}_metadata.{ending}" in names
    subsets = {
        "A_frontal": ("", "Ap/", "App/", "q1M/", "Ap_q1M/", "App_q1M/"),
        "B_frontal": ("", "q1M/"),
    }
    for export, parts in subsets.items():
        assert f"exports/{export}/scene_graph/0.zip" in names
        assert f"exports/{export}/qa/0.zip" in names
        for part in parts:
            assert f"exports/{export}/metadata/{part}question_metadata.csv.gz" in names
    for name in ("metadata/dataset_info.json", "quality_mappings.csv", "README.md", "LICENSE.txt",
                 "LICENSES.csv", "croissant.json", "SHA256SUMS.txt", "scene_data/0.zip",
                 "qa/0.zip", "stats/all_obs_findings.csv", "stats/all_ans_types.csv",
                 "stats/study_counts.csv"):  # fmt: skip
        assert name in names


def test_json_lies_where_users_look_and_has_the_fields_they_read(folder: Path) -> None:
    base = "p10/p10000000/s70000001"
    graph = member(folder / "scene_data" / "0.zip", f"{base}.scene_graph.json")
    qa = member(folder / "qa" / "0.zip", f"{base}.qa.json")
    about = member(folder / "scene_data" / "0.zip", f"{base}.metadata.json")
    assert {"sentences", "observations", "regions", "located_at_relations", "indication"} <= set(
        graph
    )
    assert about["num_questions"] == len(qa["questions"]) > 100
    question = next(q for q in qa["questions"] if q["question_type"] == "D02_has_finding"
                    and q["variables"] == {"finding": "pleural effusion"})  # fmt: skip
    assert set(question["question_quality"]) == {"completeness", "question_clarity", "rating"}
    part = question["answers"][0]
    assert set(part["answer_quality"]) == {"entailment", "relevance", "answer_clarity", "rating"}
    assert re.fullmatch(r"[1-6]_[ABCD]\+*", part["answer_quality"]["rating"])
    box = part["localization"]
    assert all(len(b) == 4 for one in box.values() for b in one["bboxes"])


def test_metadata_join_by_their_keys_without_loss(folder: Path) -> None:
    tables = {n: pl.read_parquet(folder / "metadata" / f"{n}_metadata.parquet") for n in KEYS}
    for name, key in KEYS.items():
        assert not tables[name].select(key).is_duplicated().any(), name
        assert tables[name].columns[: len(key)] == list(key)
        assert tables[name].equals(tables[name].sort(key)), name
    assert tables["patient"]["patient.total_studies"].sum() == tables["study"].height == 4
    on = ["study_id", "question_id"]
    answers = tables["answer"].group_by(on).len()
    joined = tables["question"].join(answers, on=on)
    assert joined.height == tables["question"].height
    assert (joined["num_answers"] == joined["len"]).all()
    for child, parent, key in (
        ("question_image", "question", on),
        ("answer_image", "answer", [*on, "answer_id"]),
        ("question_image", "image", ["study_id", "image_id"]),
    ):
        assert tables[child].join(tables[parent], on=key, how="anti").height == 0


def test_csv_and_parquet_hold_the_same_rows(folder: Path) -> None:
    for name in KEYS:
        base = folder / "metadata" / f"{name}_metadata"
        with gzip.open(f"{base}.csv.gz", "rt", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        table = pl.read_parquet(f"{base}.parquet")
        assert len(rows) == table.height
        assert list(rows[0]) == table.columns
        key = KEYS[name][-1]
        assert [r[key] for r in rows] == table[key].to_list()


def test_exports_hold_the_grades_and_frontal_images_alone(results: Path, folder: Path) -> None:
    rated = pl.read_parquet(results / "rate_qa" / "0.rated.parquet")
    for export, column in (("A_frontal", "fine_tuning"), ("B_frontal", "pre_training")):
        at = folder / "exports" / export
        kept = pl.read_parquet(at / "metadata" / "question_metadata.parquet")
        assert kept.height == rated[column].sum() > 0
        drawn_here = pl.read_parquet(at / "metadata" / "q1M" / "question_metadata.parquet")
        assert drawn_here.height == min(10, kept.height)
        with zipfile.ZipFile(at / "qa" / "0.zip") as archive:
            count = sum(len(json.loads(archive.read(n))["questions"]) for n in archive.namelist())
        assert count == kept.height
    better = folder / "exports" / "A_frontal" / "metadata" / "App" / "question_metadata.parquet"
    assert set(pl.read_parquet(better)["frontal_rating"]) <= {"6_A++"}


def test_a_sample_depends_on_neither_order_nor_shards() -> None:
    table = pl.DataFrame({"study_id": [f"s{i}" for i in range(50)], "question_id": ["q"] * 50})
    first = drawn(table, 7, 0)
    assert set(first["study_id"]) == set(drawn(table.reverse(), 7, 0)["study_id"])
    assert set(first["study_id"]) != set(drawn(table, 7, 1)["study_id"])
    assert first.height == 7


def test_the_same_run_gives_the_same_bytes(results: Path, folder: Path) -> None:
    before = everything(folder)
    again = release_run(results, text=True, licence="MIT", sample=10, authors=["A. Nobody"])
    assert everything(again) == before


def test_checksums_are_of_every_file(folder: Path) -> None:
    files = everything(folder)
    lines = files.pop("SHA256SUMS.txt").decode().splitlines()
    stated = {name: digest for digest, name in (line.split("  ", 1) for line in lines)}
    assert stated == {n: hashlib.sha256(c).hexdigest() for n, c in files.items()}


def test_quality_mappings_decode_every_level(folder: Path) -> None:
    table = pl.read_csv(folder / "quality_mappings.csv")
    for aspect, levels in {**EXTRACTION_QUALITY, **TEXT_QUALITY}.items():
        assert table.filter(pl.col("aspect") == aspect)["level"].to_list() == list(levels)


def test_the_card_names_the_parquet_of_each_split(folder: Path) -> None:
    header = (folder / "README.md").read_text(encoding="utf-8").split("---\n")[1]
    files = yaml.safe_load(header)["configs"][0]["data_files"]
    assert [f["split"] for f in files] == ["test", "train", "validation"]
    rows = sum(pl.read_parquet(folder / f["path"]).height for f in files)
    assert rows == Release(folder).table("question").collect().height


def test_croissant_is_valid_and_its_records_can_be_read(folder: Path) -> None:
    dataset = mlcroissant.Dataset(jsonld=folder / "croissant.json")
    assert not dataset.metadata.ctx.issues.errors
    record = next(iter(dataset.records("question")))
    assert record["question/study_id"] == b"s70000001"
    study = [r["study/study.is_complete"] for r in dataset.records("study")]
    assert len(study) == 4
    answer = next(iter(dataset.records("answer")))
    assert "answer/obs_entities" in answer


# --- what may leave -------------------------------------------------------------------------------


def test_without_the_flag_no_words_of_a_report_leave(results: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    shutil.copytree(results.parents[1], project, symlinks=True)
    bare = release_run(project / "results" / "own", text=False, licence="MIT")
    sentences = pl.read_parquet(results / "extract_sentences" / "0.sentences.parquet")
    nodes = pl.read_parquet(results / "build_graphs" / "0.observations.parquet")
    said = nodes.filter("from_report")
    words = {*sentences["sentence"], *said["summary_sentence"], *REPORTS.values()}
    words |= {w for w in said["name"] if len(w.split()) > 2}
    released = []
    for path in bare.rglob("*"):
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                released += [archive.read(n).decode() for n in archive.namelist()]
        elif path.suffix == ".parquet":
            released.append(json.dumps(pl.read_parquet(path).to_dicts(), default=str))
        elif path.is_file() and path.suffix != ".gz":
            released.append(path.read_text(encoding="utf-8"))
    whole = "\n".join(released)
    templates = pl.read_parquet(results / "generate_qa" / "0.answers.parquet").filter(
        ~pl.col("from_report")
    )
    own = set(templates["text"])
    own |= set(nodes.filter(~pl.col("from_report"))["name"])
    public = "\n".join(own)
    leaked = [w for w in words if w and w not in public and json.dumps(w)[1:-1] in whole]
    assert leaked == []
    assert "There is" in whole, "template answers stay"
    assert "cough" not in whole
    info = json.loads((bare / "metadata" / "dataset_info.json").read_text(encoding="utf-8"))
    assert info["contains_report_text"] is False
    assert "Report text is left out" in (bare / "README.md").read_text(encoding="utf-8")


def test_a_gate_that_has_not_passed_stops_the_release(
    results: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = everything(folder)
    with pytest.raises(UserError, match="2 patients are in more than one split"):
        release_run(results, passed=False, text=True)
    assert everything(folder) == before


def test_the_ledger_names_cxas_and_mimic_where_they_apply() -> None:
    from cxrqba.config import DatasetConfig
    from cxrqba.release.cards import licence_ledger

    block = DatasetConfig.model_validate(
        {
            "name": "x",
            "title": "X",
            "source": {"kind": "mimic", "reports": "r", "tables": "t", "images": "i"},
            "segmentation": {"backend": "cxas", "weights": "w"},
        }
    )
    ledger = {r["component"]: r for r in licence_ledger(block).iter_rows(named=True)}
    assert ledger["weights of CXAS"]["licence"] == "CC BY-NC-SA 4.0"
    assert ledger["weights of CXAS"]["applies"]
    assert ledger["MIMIC-CXR and MIMIC-CXR-JPG"]["applies"]
    assert not ledger["reports of the source"]["applies"]


# --- reading it back ------------------------------------------------------------------------------


def test_filters_by_grade_tag_view_and_split_stay_lazy(folder: Path) -> None:
    release = Release(folder)
    every = release.questions()
    assert isinstance(every, pl.LazyFrame)
    table = every.collect()
    good = release.questions(grade="A", view="frontal", split="train")
    assert isinstance(good, pl.LazyFrame)
    rows = good.collect()
    assert 0 < rows.height < table.height
    assert set(rows["split"]) == {"train"}
    assert set(rows["frontal_rating"]) <= {"4_A", "5_A+", "6_A++"}
    tagged = release.questions(tags=["pleural effusion"])
    parts = release.answers(tagged).collect()
    assert parts["obs_entities"].list.contains("pleural effusion").any()
    both = release.questions(tags=["pleural effusion"], types=["D02_has_finding"]).collect()
    assert set(both["question_type"]) == {"D02_has_finding"}
    assert release.questions(view="lateral").collect().height == 0
    boxes = release.boxes(tagged).collect()
    assert boxes.height > 0
    assert boxes.join(tagged.collect(), on=["study_id", "question_id"], how="anti").height == 0


def test_wrong_names_are_one_line_with_the_nearest(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="did you mean 'question'"):
        Release(folder).table("questions")
    with pytest.raises(UserError, match="no rating 'E'"):
        Release(folder).questions(grade="E")
    with pytest.raises(UserError, match="no release here"):
        Release(tmp_path)


def test_samples_are_ready_for_training(
    results: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    images = results.parents[1] / "images"

    def place(row: dict[str, Any]) -> Path:
        return images / f"{row['study_id']}.png"

    release = Release(folder)
    chosen = release.questions(tags=["pleural effusion"], split="train")
    samples = release.samples(chosen, place, size=32, as_torch=False)
    assert len(samples) == chosen.collect().height
    one = samples[0]
    assert one["image"].shape == (1, 32, 32)
    assert one["image"].dtype == np.float32
    assert 0 <= one["image"].min() <= one["image"].max() <= 1
    assert one["question"]
    assert one["answer"]
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(from_numpy=lambda a: ("tensor", a)))
    kind, array = release.samples(chosen, place, size=32)[0]["image"]
    assert kind == "tensor"
    assert array.shape == (1, 32, 32)


def test_samples_without_torch_or_image_say_what_to_do(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = Release(folder)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(UserError, match="as_torch=False"):
        release.samples(release.questions(), lambda row: "x.png")
    samples = release.samples(release.questions(), lambda row: "x.png", as_torch=False)
    with pytest.raises(UserError, match=r"x\.png: no image"):
        samples[0]

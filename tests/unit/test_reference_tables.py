"""The reference folder: its counts, its links, and one clear line for every mistake in it."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from cxrqba.errors import UserError
from cxrqba.evaluate.gold import MeshFindings
from cxrqba.evaluate.tags import load_tag_classes
from cxrqba.extract.words import words
from cxrqba.mapping.lexical import LexicalBackend
from cxrqba.mapping.mapper import Mapper
from cxrqba.reference.columns import FINDING_COLUMNS, LABEL_COLUMNS, REGION_COLUMNS
from cxrqba.reference.equivalents import load_equivalents
from cxrqba.reference.tables import load_reference

FOLDER = Path(__file__).parents[2] / "resources" / "reference"
REFERENCE = load_reference(FOLDER)
DATASETS = {
    "chexpert": 14,
    "cxr_lt_2024": 45,
    "ms_cxr": 8,
    "reflacx": 26,
    "nih14": 14,
    "vindr": 28,
    "padchest": 190,
    "chest_imagenome": 75,
    "openi_mesh": 110,
}
"""Data set -> labels it has at least."""


def test_as_many_regions_and_findings_as_the_paper() -> None:
    assert len(REFERENCE.regions) == 310
    assert len(REFERENCE.localized_regions) == 257
    assert sum(f.tier == 1 for f in REFERENCE.findings.values()) == 221


def test_no_row_is_said_to_be_checked() -> None:
    rows = (*REFERENCE.findings.values(), *REFERENCE.regions.values())
    assert not any(row.radiologist_checked for row in rows)


@pytest.mark.parametrize("dataset", DATASETS)
def test_labels_of_every_data_set_are_mapped(dataset: str) -> None:
    labels = REFERENCE.labels[dataset]
    assert len(labels) >= DATASETS[dataset]
    assert not [n for n, row in labels.items() if set(row["exact"]) & set(row["implied"])]


NOT_CLOSED = {
    "Enlarged Cardiomediastinum",  # an abnormal contour need not be enlarged
    "Pleural Other",  # all of the pleura but effusion
    "metal",  # a cholecystectomy leaves clips, but is none
    "Support Devices",
    "Support devices",
}


@pytest.mark.parametrize("dataset", DATASETS)
def test_what_counts_for_a_label_brings_its_descendants_along(dataset: str) -> None:
    for label, row in REFERENCE.labels[dataset].items():
        counted = {*row["exact"], *row["implied"]}
        below = {n for n, above in REFERENCE.finding_ancestors.items() if counted & set(above)}
        assert label in NOT_CLOSED or below <= counted, label


@pytest.mark.parametrize("table", ["findings", "regions"])
def test_a_phrase_names_one_row_in_the_form_the_extraction_compares(table: str) -> None:
    """The loader knows no plurals; the extraction does."""
    owners: dict[str, str] = {}
    for row in getattr(REFERENCE, table).values():
        for phrase in (row.name, *row.synonyms):
            normal = " ".join(w.norm for w in words(phrase) if w.norm[:1].isalnum())
            assert owners.setdefault(normal, row.name) == row.name, phrase


def test_open_i_headings_and_classes_load() -> None:
    assert MeshFindings(REFERENCE).findings(["Cardiac Shadow/enlarged"]) == {"cardiomegaly"}
    classes = load_tag_classes(REFERENCE)
    assert sum(c.in_ten for c in classes) == 10
    assert sum(c.in_all for c in classes) == 44


# --- mistakes ---------------------------------------------------------------------------------


def edited(folder: Path, file: str, change: Callable[[list[dict[str, str]]], None]) -> Path:
    """A copy of the reference whose ``file`` was changed row by row."""
    shutil.copytree(FOLDER, folder)
    path = folder / file
    with path.open(encoding="utf-8", newline="") as source:
        rows = list(csv.DictReader(source))
    columns = list(rows[0])
    change(rows)
    with path.open("w", encoding="utf-8", newline="") as target:
        writer = csv.DictWriter(target, columns)
        writer.writeheader()
        writer.writerows(rows)
    return folder


def set_cell(column: str, value: str, row: int = 5) -> Callable[[list[dict[str, str]]], None]:
    def change(rows: list[dict[str, str]]) -> None:
        rows[row][column] = value

    return change


def cycle(rows: list[dict[str, str]]) -> None:
    rows[0]["parents"] = rows[1]["id"]
    rows[1]["parents"] = rows[0]["id"]


MISTAKES = {
    "doubled synonym": ("findings.csv", set_cell("synonyms", "Air-Trapping"), "already stands for"),
    "unknown parent": ("findings.csv", set_cell("parents", "lung_opacty"), "mean 'lung_opacity'"),
    "cycle": ("findings.csv", cycle, "is its own ancestor"),
    "unknown region": ("findings.csv", set_cell("default_regions", "lung"), "no row named 'lung'"),
    "bad laterality": ("findings.csv", set_cell("laterality", "side"), "laterality 'side' is none"),
    "bad polarity": ("findings.csv", set_cell("polarity", ""), "polarity '' is none of"),
    "no category": ("findings.csv", set_cell("categories", ""), "no category"),
    "bad category": ("findings.csv", set_cell("categories", "FINDING"), "category 'FINDING'"),
    "bad modifier": ("findings.csv", set_cell("modifiers", "colour"), "modifier 'colour'"),
    "bad tier": ("findings.csv", set_cell("tier", "one"), "tier 'one' is none of"),
    "bad flag": ("findings.csv", set_cell("key_finding", "yes"), "key_finding 'yes' is none of"),
    "empty name": ("findings.csv", set_cell("name", ""), "must not be empty"),
    "doubled id": ("findings.csv", set_cell("id", "lung_opacity"), "occurs twice"),
    "region cycle": ("regions.csv", cycle, "is its own ancestor"),
    "region side": ("regions.csv", set_cell("laterality", "both"), "laterality 'both' is none"),
    "unknown region side": ("regions.csv", set_cell("left_id", "lft"), "no row with id 'lft'"),
    "unknown label finding": ("labels.csv", set_cell("exact_findings", "oedema"), "'oedema'"),
    "doubled label": ("labels.csv", lambda rows: rows.append(rows[0]), "occurs twice"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_with_file_and_line(tmp_path: Path, mistake: str) -> None:
    file, change, message = MISTAKES[mistake]
    folder = edited(tmp_path / "reference", file, change)
    with pytest.raises(UserError) as caught:
        load_reference(folder)
    text = str(caught.value)
    assert f"{file}, line " in text
    assert message in text
    assert "\n" not in text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: "", "no column 'id'"),
        (lambda text: text.splitlines()[0] + "\n", "no rows"),
        (lambda text: text.replace("synonyms", "synonym", 1), "no column 'synonyms' (did you mean"),
        (lambda text: text + "stray\n", "not the 14 cells of the header"),
        (lambda text: text.replace(",0\n", ",0,0\n", 1), "not the 14 cells of the header"),
    ],
)
def test_a_damaged_file_is_named(
    tmp_path: Path, change: Callable[[str], str], message: str
) -> None:
    folder = tmp_path / "reference"
    shutil.copytree(FOLDER, folder)
    path = folder / "findings.csv"
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(UserError) as caught:
        load_reference(folder)
    assert message.replace("14", str(header_cells())) in str(caught.value)


def header_cells() -> int:
    return len((FOLDER / "findings.csv").read_text(encoding="utf-8").splitlines()[0].split(","))


KEYED = (
    *("probability.yaml", "normality.yaml", "laterality.yaml", "devices.yaml", "sections.yaml"),
    *("modifiers.yaml", "equivalents.yaml", "outside.yaml"),
)
"""Files of named parts."""
ROWS = ("changes.yaml", "compositions.yaml")
READ_BY_GROUP = ("abbreviations.yaml", "function_words.yaml", "indications.yaml")
"""Files whose keys are entries or groups: any is read."""


def load_all(folder: Path) -> None:
    """Everything that the reference files feed."""
    reference = load_reference(folder)
    load_equivalents(reference)
    Mapper(reference, LexicalBackend())


def copied(tmp_path: Path, file: str, change: Callable[[Any], None]) -> Path:
    """A copy of the folder in which the content of a YAML file is changed."""
    folder = tmp_path / "reference"
    shutil.copytree(FOLDER, folder)
    content = yaml.safe_load((folder / file).read_text(encoding="utf-8"))
    change(content)
    (folder / file).write_text(yaml.safe_dump(content), encoding="utf-8")
    return folder


def test_every_yaml_file_is_checked_for_keys_that_nothing_reads() -> None:
    assert {*KEYED, *ROWS, *READ_BY_GROUP} == {p.name for p in FOLDER.glob("*.yaml")}


@pytest.mark.parametrize("file", KEYED)
def test_a_key_that_nothing_reads_is_refused(tmp_path: Path, file: str) -> None:
    folder = copied(tmp_path, file, lambda content: content.update(zorblax=[]))
    with pytest.raises(UserError, match=rf"{file}: unknown key 'zorblax'"):
        load_all(folder)


@pytest.mark.parametrize("file", KEYED)
def test_a_key_that_is_missing_is_named(tmp_path: Path, file: str) -> None:
    key = next(iter(yaml.safe_load((FOLDER / file).read_text(encoding="utf-8"))))
    folder = copied(tmp_path, file, lambda content: content.pop(key))
    with pytest.raises(UserError, match=rf"{file}: no key '{key}'"):
        load_all(folder)


@pytest.mark.parametrize(
    ("file", "row_of"),
    [
        ("changes.yaml", lambda content: content[0]),
        ("compositions.yaml", lambda content: content[0]),
        ("modifiers.yaml", lambda content: content["texture"][0]),
        ("normality.yaml", lambda content: content["structures"][0]),
        ("probability.yaml", lambda content: content["cues"][0]),
        ("sections.yaml", lambda content: content["headers"][0]),
        ("laterality.yaml", lambda content: content["keywords"]),
        ("devices.yaml", lambda content: content["children"]["phrases"]),
    ],
)
def test_a_key_of_a_row_that_nothing_reads_is_refused(
    tmp_path: Path, file: str, row_of: Callable[[Any], dict[str, Any]]
) -> None:
    folder = copied(tmp_path, file, lambda content: row_of(content).update(synonym=["x"]))
    with pytest.raises(UserError, match=rf"{file}.*: unknown key 'synonym'"):
        load_all(folder)


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        (
            "sections.yaml",
            lambda content: content["headers"][0].update(type="FINDING"),
            "type 'FINDING' is none of",
        ),
        (
            "normality.yaml",
            lambda content: content["structures"][0].update(predicates=["clean"]),
            "predicates 'clean' is none of",
        ),
    ],
)
def test_a_name_that_does_not_exist_is_named(
    tmp_path: Path, file: str, change: Callable[[Any], None], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        load_all(copied(tmp_path, file, change))


def test_columns_are_those_that_are_read_and_notes() -> None:
    notes = {"origin", "note", "radiologist_checked"}
    for file, columns in (
        ("findings.csv", FINDING_COLUMNS),
        ("regions.csv", REGION_COLUMNS),
        ("labels.csv", LABEL_COLUMNS),
    ):
        with (FOLDER / file).open(encoding="utf-8", newline="") as lines:
            assert set(next(csv.reader(lines))) - notes == set(columns) - notes


def test_a_binary_file_and_a_missing_one_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "reference"
    shutil.copytree(FOLDER, folder)
    (folder / "findings.csv").write_bytes(b"\xff\xfe\x00id")
    with pytest.raises(UserError, match=r"findings.csv: not a readable CSV file"):
        load_reference(folder)
    shutil.copytree(FOLDER, tmp_path / "other")
    (tmp_path / "other" / "labels.csv").unlink()
    with pytest.raises(UserError, match=r"labels.csv: no such file"):
        load_reference(tmp_path / "other")


@pytest.mark.parametrize(
    ("file", "column", "load"),
    [
        ("openi_classes.csv", "findings", load_tag_classes),
        ("openi_qualifiers.csv", "finding", MeshFindings),
    ],
)
def test_open_i_files_name_an_unknown_finding(
    tmp_path: Path, file: str, column: str, load: Callable[..., object]
) -> None:
    folder = edited(tmp_path / "reference", file, set_cell(column, "cardiomegally"))
    with pytest.raises(UserError, match=rf"{file}, line 7: .*did you mean 'cardiomegaly'"):
        load(load_reference(folder))

"""Readers: every study named is kept or in the ledger; every wrong input gets one helpful line."""

from __future__ import annotations

import gzip
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from cxrqba.config import (
    HashShards,
    ImageSource,
    MimicSource,
    OpeniSource,
    SubjectPrefixShards,
    TableSource,
    TextSource,
)
from cxrqba.errors import UserError
from cxrqba.reports.own import image_ids
from cxrqba.reports.readers import Prepared, prepare, read_openi_mesh, shard_of
from cxrqba.schema import IMAGES, LEDGER, STUDIES

ONE = HashShards(by="hash", count=1)


def read(source: Any, shards: Any = ONE, shard: str = "0") -> Prepared:
    prepared = prepare(source, shards, shard)
    assert prepared.studies.schema == STUDIES
    assert prepared.images.schema == IMAGES
    assert prepared.ledger.schema == LEDGER
    return prepared


def lost(prepared: Prepared) -> dict[str, str]:
    """Study id -> reason of every study that left the pipeline."""
    rows = prepared.ledger.filter(pl.col("scope") == "study")
    return dict(rows.select("study_id", "reason").iter_rows())


METADATA = "dicom_id,subject_id,study_id,ViewPosition,Rows,Columns,StudyDate,StudyTime"


@pytest.fixture
def mimic(tmp_path: Path) -> Path:
    """Two patients, three studies in the layout of MIMIC-CXR and MIMIC-CXR-JPG."""
    studies = [("90000001", "90000011"), ("90000001", "90000012"), ("90000002", "90000013")]
    lines = ["subject_id,study_id,path"]
    for patient, study in studies:
        member = f"files/p90/p{patient}/s{study}.txt"
        lines.append(f"{patient},{study},{member}")
        path = tmp_path / member
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f" FINDINGS: Report of {study}.", encoding="utf-8")
    write_gz(tmp_path / "cxr-study-list.csv.gz", "\n".join(lines))
    rows = [
        "aa,90000001,90000011,PA,3056,2544,21800506,72804.968",
        "ab,90000001,90000011,LATERAL,3056,2544,21800506,72804.968",
        "ba,90000002,90000013,,100.0,90.0,21800507,213014.531",
    ]
    write_gz(tmp_path / "mimic-cxr-2.0.0-metadata.csv.gz", "\n".join([METADATA, *rows]))
    split = ["dicom_id,study_id,subject_id,split", "aa,90000011,90000001,train"]
    write_gz(tmp_path / "mimic-cxr-2.0.0-split.csv.gz", "\n".join(split))
    return tmp_path


def write_gz(path: Path, text: str) -> None:
    path.write_bytes(gzip.compress(text.encode()))


def mimic_source(folder: Path) -> MimicSource:
    return MimicSource(reports=str(folder), tables=str(folder), images=str(folder))


def test_mimic_ids_views_sizes_and_times(mimic: Path) -> None:
    prepared = read(mimic_source(mimic))
    assert prepared.studies["study_id"].to_list() == ["s90000011", "s90000012", "s90000013"]
    first = prepared.studies.row(0, named=True)
    assert first["patient_id"] == "p90000001"
    assert first["report"] == " FINDINGS: Report of 90000011."
    assert first["split"] == "train"
    assert (first["study_date"], first["study_time"]) == ("21800506", "072804")
    assert prepared.studies["num_images"].to_list() == [2, 0, 1]
    views = dict(prepared.images.select("image_id", "view").iter_rows())
    assert views == {"aa": "frontal", "ab": "lateral", "ba": "unknown"}
    image = prepared.images.filter(pl.col("image_id") == "ba").row(0, named=True)
    assert (image["height"], image["width"]) == (100, 90)
    assert image["path"].endswith("files/p90/p90000002/s90000013/ba.jpg")
    assert prepared.ledger.is_empty()


def test_mimic_reports_from_the_zip_are_the_same(mimic: Path, tmp_path: Path) -> None:
    before = read(mimic_source(mimic)).studies
    with zipfile.ZipFile(mimic / "mimic-cxr-reports.zip", "w") as archive:
        for path in (mimic / "files").rglob("*.txt"):
            archive.write(path, path.relative_to(mimic))
    (mimic / "files").rename(tmp_path / "moved")
    assert read(mimic_source(mimic)).studies.equals(before)


def test_bad_reports_go_to_the_ledger_and_the_others_go_on(mimic: Path) -> None:
    folder = mimic / "files" / "p90"
    (folder / "p90000001" / "s90000011.txt").unlink()
    (folder / "p90000001" / "s90000012.txt").write_bytes(b"\xff\xfe broken")
    (folder / "p90000002" / "s90000013.txt").write_text(" \n ", encoding="utf-8")
    prepared = read(mimic_source(mimic))
    assert prepared.studies.is_empty()
    assert lost(prepared) == {
        "s90000011": "report_missing",
        "s90000012": "undecodable",
        "s90000013": "empty_report",
    }
    assert set(prepared.ledger.filter(pl.col("scope") == "image")["reason"]) == {"study_lost"}
    for detail in prepared.ledger["detail"]:
        assert "files/p90" in detail or "metadata" in detail


@pytest.mark.parametrize(
    ("table", "column", "nearest"),
    [
        ("cxr-study-list.csv.gz", "study_id", "studyid"),
        ("mimic-cxr-2.0.0-metadata.csv.gz", "ViewPosition", "View_Position"),
        ("mimic-cxr-2.0.0-split.csv.gz", "split", "splits"),
    ],
)
def test_a_renamed_column_is_named_with_its_nearest(
    mimic: Path, table: str, column: str, nearest: str
) -> None:
    text = gzip.decompress((mimic / table).read_bytes()).decode()
    write_gz(mimic / table, text.replace(f",{column}", f",{nearest}", 1))
    with pytest.raises(UserError) as error:
        read(mimic_source(mimic))
    assert table in str(error.value)
    assert f"no column '{column}' (did you mean '{nearest}'?)" in str(error.value)


@pytest.mark.parametrize("prefixed", [True, False])
def test_a_row_with_a_wrong_id_is_named_once_and_the_others_go_on(
    mimic: Path, prefixed: bool
) -> None:
    path = mimic / "cxr-study-list.csv.gz"
    text = gzip.decompress(path.read_bytes()).decode()
    if prefixed:
        text = text.replace("90000001,90000011", "p90000001,s90000011")
    text += "\n90000001,123,files/x.txt\n9000000X,90000014,files/y.txt\n90000001,,files/z.txt"
    write_gz(path, text)
    shards = HashShards(by="hash", count=3)
    parts = [read(mimic_source(mimic), shards, str(i)) for i in range(3)]
    assert sum(p.studies.height for p in parts) == 3
    rows = pl.concat([p.ledger for p in parts]).select("study_id", "reason", "detail").rows()
    assert [r[:2] for r in rows] == [
        (f"{path}, row 7", "no_study_id"),
        ("123", "wrong_id"),
        ("s90000014", "wrong_id"),
    ]
    assert f"{path}, row 5: study_id '123' is no id of eight digits" in rows[1][2]
    assert f"{path}, row 6: subject_id '9000000X' is no id of eight digits" in rows[2][2]


def test_image_rows_with_wrong_ids_or_another_patient_are_in_the_ledger(mimic: Path) -> None:
    path = mimic / "mimic-cxr-2.0.0-metadata.csv.gz"
    text = gzip.decompress(path.read_bytes()).decode()
    text += "\nxa,90000001,12,PA,1,1,21800506,1.0\n,90000001,90000011,PA,1,1,21800506,1.0"
    text += "\nxc,90000002,90000011,PA,1,1,21800506,1.0"
    write_gz(path, text)
    prepared = read(mimic_source(mimic))
    rows = prepared.ledger.select("study_id", "item_id", "reason").rows()
    assert rows == [
        ("12", "xa", "wrong_id"),
        ("s90000011", "", "wrong_id"),
        ("s90000011", "xc", "other_patient"),
    ]
    assert prepared.images["image_id"].to_list() == ["aa", "ab", "ba"]


def test_a_study_list_without_rows_or_without_one_right_id_is_refused(mimic: Path) -> None:
    path = mimic / "cxr-study-list.csv.gz"
    write_gz(path, "subject_id,study_id,path\n")
    with pytest.raises(UserError, match=r"study-list\.csv\.gz: the table has no rows"):
        read(mimic_source(mimic))
    write_gz(path, "subject_id,study_id,path\n1,2,files/x.txt\n")
    with pytest.raises(UserError, match=r"row 2: study_id '2' is no id of eight digits, nor"):
        read(mimic_source(mimic))


def test_reports_are_found_in_the_zip_where_files_holds_images_alone(mimic: Path) -> None:
    before = read(mimic_source(mimic)).studies
    with zipfile.ZipFile(mimic / "mimic-cxr-reports.zip", "w") as archive:
        for path in (mimic / "files").rglob("*.txt"):
            archive.write(path, path.relative_to(mimic))
            path.unlink()
    assert read(mimic_source(mimic)).studies.equals(before)


def test_images_end_as_the_first_that_is_there(mimic: Path) -> None:
    film = mimic / "files" / "p90" / "p90000001" / "s90000011" / "ab.dcm"
    film.parent.mkdir()
    film.write_bytes(b"")
    assert read(mimic_source(mimic)).images["path"].str.ends_with(".dcm").all()


def test_metadata_cut_down_to_what_is_needed_is_read(mimic: Path) -> None:
    wanted = "dicom_id,subject_id,study_id,ViewPosition,Rows,Columns"
    write_gz(
        mimic / "mimic-cxr-2.0.0-metadata.csv.gz",
        f"{wanted}\naa,90000001,90000011, PA ,3056,not measured",
    )
    image = read(mimic_source(mimic)).images.row(0, named=True)
    assert (image["view"], image["height"], image["width"]) == ("frontal", 3056, None)


def test_a_missing_or_torn_table_is_named(mimic: Path) -> None:
    path = mimic / "mimic-cxr-2.0.0-metadata.csv.gz"
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(UserError, match=r"metadata\.csv\.gz: cannot be read"):
        read(mimic_source(mimic))
    path.unlink()
    with pytest.raises(UserError, match=r"metadata\.csv\.gz: no such file"):
        read(mimic_source(mimic))


def test_images_of_unknown_studies_and_doubled_images_are_in_the_ledger(mimic: Path) -> None:
    path = mimic / "mimic-cxr-2.0.0-metadata.csv.gz"
    text = gzip.decompress(path.read_bytes()).decode()
    text += "\nzz,90000001,90000099,PA,10,10,21800506,1.0\naa,90000001,90000011,PA,1,1,21800506,1.0"
    write_gz(path, text)
    prepared = read(mimic_source(mimic))
    reasons = dict(prepared.ledger.select("item_id", "reason").iter_rows())
    assert reasons == {"zz": "unknown_study", "aa": "duplicate_id"}
    assert prepared.images.height == 3


def table_source(path: Path, **changes: Any) -> TableSource:
    columns = {"study_id": "accession", "report": "text", "patient_id": "mrn"}
    return TableSource(**{"reports": str(path), "columns": columns, **changes})


def test_a_table_keeps_its_own_ids_and_reports_each_bad_row(tmp_path: Path) -> None:
    path = tmp_path / "reports.csv"
    path.write_text(
        'accession,text,mrn\nA-007,"Clear, no edema.",m1\nA-007,Other.,m1\n,Lost.,m2\nA-008,,m3\n',
        encoding="utf-8",
    )
    prepared = read(table_source(path))
    assert prepared.studies.select("study_id", "patient_id", "report").rows() == [
        ("A-007", "m1", "Clear, no edema.")
    ]
    by_reason = dict(prepared.ledger.select("reason", "detail").iter_rows())
    assert by_reason.keys() == {"duplicate_id", "no_study_id", "empty_report"}
    assert "row 2" in by_reason["duplicate_id"]
    assert "row 3" in by_reason["no_study_id"]
    assert "row 4" in by_reason["empty_report"]


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
def test_tables_of_all_kinds_read_alike(tmp_path: Path, ending: str) -> None:
    table = pl.DataFrame({"accession": ["1"], "text": ["No edema."], "mrn": ["m"]})
    path = tmp_path / f"reports.{ending}"
    write = {
        "csv": table.write_csv,
        "tsv": lambda p: table.write_csv(p, separator="\t"),
        "jsonl": table.write_ndjson,
        "parquet": table.write_parquet,
    }[ending]
    write(path)
    assert read(table_source(path)).studies["report"].to_list() == ["No edema."]


def test_a_table_in_another_encoding(tmp_path: Path) -> None:
    path = tmp_path / "reports.csv"
    path.write_bytes("accession,text,mrn\n1,Kein Pleuraerguß.,m\n".encode("latin-1"))
    with pytest.raises(UserError, match=r"byte \d+ is not utf-8; set source.encoding"):
        read(table_source(path))
    report = read(table_source(path, encoding="latin-1")).studies["report"][0]
    assert report == "Kein Pleuraerguß."
    with pytest.raises(UserError, match="'klingon' is no known encoding"):
        read(table_source(path, encoding="klingon"))


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"study_id": "acession", "report": "text"}, "no column 'acession'.*mean 'accession'"),
        ({"study": "accession", "report": "text"}, "unknown name 'study'.*mean 'study_id'"),
        ({"study_id": "accession"}, "name the column of 'report'"),
    ],
)
def test_wrong_column_maps_are_explained(
    tmp_path: Path, columns: dict[str, str], words: str
) -> None:
    path = tmp_path / "reports.csv"
    path.write_text("accession,text,mrn\n1,No edema.,m\n", encoding="utf-8")
    with pytest.raises(UserError, match=words):
        read(table_source(path, columns=columns))


def test_a_table_without_rows_or_of_unknown_kind_is_refused(tmp_path: Path) -> None:
    empty = tmp_path / "reports.csv"
    empty.write_text("accession,text,mrn\n", encoding="utf-8")
    with pytest.raises(UserError, match="no rows"):
        read(table_source(empty))
    odd = tmp_path / "reports.xlsx"
    odd.write_bytes(b"PK")
    with pytest.raises(UserError, match=r"use \.csv"):
        read(table_source(odd))


WITH_IMAGES = {"study_id": "accession", "report": "text", "image": "files", "view": "v"}


def test_a_table_with_images(tmp_path: Path) -> None:
    path = tmp_path / "reports.csv"
    path.write_text("accession,text,mrn,files,v\n1,No edema.,m,a.png|b.png,PA\n", encoding="utf-8")
    prepared = read(table_source(path, columns=WITH_IMAGES, images=str(tmp_path)))
    assert prepared.images.select("image_id", "path", "view").rows() == [
        ("a", f"{tmp_path}/a.png", "frontal"),
        ("b", f"{tmp_path}/b.png", "frontal"),
    ]
    with pytest.raises(UserError, match=r"films: no such folder \(source.images\)"):
        read(table_source(path, columns=WITH_IMAGES, images=str(tmp_path / "films")))


def test_images_that_share_a_file_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    path = tmp_path / "reports.csv"
    path.write_text(
        "accession,text,files,v\n1,No edema.,one/pa.png|one/lat.png,\n2,No edema.,two/pa.png,\n",
        encoding="utf-8",
    )
    images = read(table_source(path, columns=WITH_IMAGES)).images
    assert images.select("study_id", "image_id").rows() == [
        ("1", "lat"),
        ("1", "one_pa"),
        ("2", "two_pa"),
    ]


def test_a_row_with_images_and_no_report_stays_as_a_study_without_report(tmp_path: Path) -> None:
    path = tmp_path / "reports.csv"
    path.write_text("accession,text,files,v\n1,,a.png,PA\n2,,,\n", encoding="utf-8")
    prepared = read(table_source(path, columns=WITH_IMAGES))
    assert prepared.studies.select("study_id", "report", "num_images").rows() == [("1", None, 1)]
    assert lost(prepared) == {"2": "empty_report"}


def test_a_byte_order_mark_is_no_part_of_a_header_or_a_report(tmp_path: Path) -> None:
    table = tmp_path / "reports.csv"
    table.write_text("\ufeffaccession,text,mrn\n1,No edema.,m\n", encoding="utf-8")
    assert read(table_source(table)).studies["report"].to_list() == ["No edema."]
    lines = tmp_path / "reports.jsonl"
    lines.write_text('\ufeff{"accession":"1","text":"No edema.","mrn":"m"}\n', encoding="utf-8")
    assert read(table_source(lines)).studies["report"].to_list() == ["No edema."]
    (tmp_path / "a.txt").write_text("\ufeffNo edema.", encoding="utf-8")
    assert read(TextSource(reports=str(tmp_path))).studies["report"].to_list() == ["No edema."]


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("a.csv", 'accession,text,mrn\n1,"SECRET not closed,m\n2,x,m\n', "quoted text"),
        ("a.csv", "accession,text,mrn\n1,SECRET,with,commas\n", "more fields than the header"),
        ("a.csv", "", "it is empty"),
        ("a.jsonl", '{"accession":"1","text":"SECRET}\n{"acc', "is it complete"),
        ("a.parquet", "SECRET is no parquet", "is it complete"),
    ],
)
def test_a_broken_table_is_explained_without_a_word_of_its_reports(
    tmp_path: Path, name: str, content: str, fault: str
) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UserError, match=fault) as error:
        read(table_source(path))
    assert str(path) in str(error.value)
    assert "SECRET" not in str(error.value)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"id": [["a"]], "text": ["x"]}, r"column 'id' \(study_id\) holds List values"),
        ({"id": [b"a"], "text": ["x"]}, r"column 'id' \(study_id\) holds Binary values"),
        ({"id": [1.5], "text": ["x"]}, r"row 1: column 'id' \(study_id\) holds a number with"),
        ({"id": [1.0, 2.0**60], "text": ["x", "y"]}, r"row 2: .* too many digits"),
        ({"id": ["a"], "text": [{"p": "x"}]}, r"column 'text' \(report\) holds Struct values"),
        ({"id": ["a"], "text": [7]}, r"column 'text' \(report\) holds Int64 values"),
    ],
)
def test_cells_that_are_no_text_are_refused(
    tmp_path: Path, table: dict[str, Any], message: str
) -> None:
    pl.DataFrame(table).write_parquet(tmp_path / "reports.parquet")
    columns = {"study_id": "id", "report": "text"}
    with pytest.raises(UserError, match=message):
        read(TableSource(reports=str(tmp_path / "reports.parquet"), columns=columns))


def test_ids_stored_as_floats_are_whole_numbers(tmp_path: Path) -> None:
    table = pl.DataFrame({"id": [7, 8], "mrn": [12345.0, None], "text": ["Clear.", "Clear."]})
    table.write_parquet(tmp_path / "reports.parquet")
    columns = {"study_id": "id", "report": "text", "patient_id": "mrn"}
    found = read(TableSource(reports=str(tmp_path / "reports.parquet"), columns=columns))
    assert found.studies["study_id"].to_list() == ["7", "8"]
    assert found.studies["patient_id"].to_list() == ["12345", None]


def test_a_packed_table_is_read_and_a_torn_one_is_named(tmp_path: Path) -> None:
    path = tmp_path / "reports.csv.gz"
    write_gz(path, "study_id,report\na,Clear.\n")
    columns = {"study_id": "study_id", "report": "report"}
    assert read(TableSource(reports=str(path), columns=columns)).studies.height == 1
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(UserError, match=r"reports\.csv\.gz: cannot be read"):
        read(TableSource(reports=str(path), columns=columns))


def test_a_column_that_occurs_twice_is_refused_if_it_is_used(tmp_path: Path) -> None:
    path = tmp_path / "reports.csv"
    path.write_text("id,text,text,note,note\na,Clear.,Other.,x,y\n", encoding="utf-8")
    with pytest.raises(UserError, match="column 'text' occurs twice"):
        read(TableSource(reports=str(path), columns={"study_id": "id", "report": "text"}))
    path.write_text("id,text,note,note\na,Clear.,x,y\n", encoding="utf-8")
    columns = {"study_id": "id", "report": "text"}
    assert read(TableSource(reports=str(path), columns=columns)).studies.height == 1


def test_files_of_one_name_in_two_folders_are_told_apart_in_the_ledger(tmp_path: Path) -> None:
    for folder, text in (("a", "Clear."), ("b", "Effusion.")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "1.txt").write_text(text, encoding="utf-8")
    found = read(TextSource(reports=str(tmp_path)))
    assert found.studies["report"].to_list() == ["Clear."]
    detail = found.ledger["detail"][0]
    assert str(Path("a") / "1.txt") in detail
    assert str(Path("b") / "1.txt") in detail


def test_image_ids_made_of_folders_stay_apart() -> None:
    assert image_ids(["a/b_c.png", "a_b/c.png", "d/b_c.png", "e/c.png", "e/f.png"]) == {
        "a/b_c.png": "a__b_c",
        "a_b/c.png": "a_b__c",
        "d/b_c.png": "d_b_c",
        "e/c.png": "e_c",
        "e/f.png": "f",
    }


def test_openi_documents_of_one_name_and_images_without_id(tmp_path: Path) -> None:
    text = '<e><uId id="{id}"/><AbstractText Label="FINDINGS">Clear.</AbstractText>{image}</e>'
    for folder, image in (("a", "<parentImage/>"), ("b", '<parentImage id=" "/>')):
        (tmp_path / folder).mkdir()
        document = text.format(id="CXR1", image=image)
        (tmp_path / folder / "1.xml").write_text(document, encoding="utf-8")
    found = read(OpeniSource(reports=str(tmp_path), images=str(tmp_path)))
    assert found.studies.height == 1
    assert found.images.is_empty()
    rows = found.ledger.select("scope", "reason", "detail").rows()
    assert ("image", "wrong_id") in {r[:2] for r in rows}
    (twice,) = [r[2] for r in rows if r[0] == "item"]
    assert "b/1.xml" in twice
    assert "a/1.xml" in twice


def test_text_files_and_their_images(tmp_path: Path) -> None:
    reports, films = tmp_path / "reports", tmp_path / "films"
    (films / "two").mkdir(parents=True)
    reports.mkdir()
    for name in ("one", "two"):
        (reports / f"{name}.txt").write_text("No edema.", encoding="utf-8")
    for path in ("one_1.png", "two/x.jpg", "stranger.png", "one.txt"):
        (films / path).write_bytes(b"")
    prepared = read(TextSource(reports=str(reports), images=str(films)))
    assert prepared.images.select("study_id", "image_id").rows() == [("one", "one_1"), ("two", "x")]
    strangers = prepared.ledger.select("study_id", "item_id", "reason").rows()
    assert strangers == [("stranger", "stranger", "unknown_study")]
    assert read(TextSource(reports=str(reports))).images.is_empty()


@pytest.mark.parametrize("source", [TextSource, OpeniSource])
def test_a_missing_or_empty_folder_is_named(tmp_path: Path, source: Any) -> None:
    with pytest.raises(UserError, match="nowhere: no such"):
        read(source(reports=str(tmp_path / "nowhere")))
    with pytest.raises(UserError, match=rf"{tmp_path.name}: no \.\w+ file in it"):
        read(source(reports=str(tmp_path)))


OPENI = """<eCitation><uId id="CXR9"/><MedlineCitation><Article><Abstract>
<AbstractText Label="INDICATION">Cough &amp; fever</AbstractText>
<AbstractText Label="FINDINGS"></AbstractText>
<AbstractText Label="IMPRESSION">No <i>overt</i>  edema.</AbstractText>
</Abstract></Article></MedlineCitation>
<MeSH><major>Cardiomegaly/mild</major><automatic>Cardiomegaly</automatic></MeSH>
<parentImage id="CXR9_IM-1"/></eCitation>"""


def test_openi_text_tags_and_broken_files(tmp_path: Path) -> None:
    (tmp_path / "9.xml").write_text(OPENI, encoding="utf-8")
    (tmp_path / "10.xml").write_text("<eCitation>", encoding="utf-8")
    (tmp_path / "._9.xml").write_bytes(b"what macOS leaves in archives")
    prepared = read(OpeniSource(reports=str(tmp_path), images=str(tmp_path)))
    assert prepared.studies.select("study_id", "report", "patient_id").rows() == [
        ("CXR9", "INDICATION: Cough & fever\n\nIMPRESSION: No overt edema.", None)
    ]
    assert lost(prepared) == {"10": "report_unreadable"}
    assert prepared.images.select("image_id", "path").rows() == [
        ("CXR9_IM-1", f"{tmp_path}/CXR9_IM-1.png")
    ]
    assert read_openi_mesh(tmp_path).rows() == [("CXR9", ["Cardiomegaly/mild"], ["Cardiomegaly"])]


@pytest.mark.parametrize("damage", ["cut", "flipped", "text"])
def test_a_damaged_openi_archive_is_named(tmp_path: Path, damage: str) -> None:
    for number in range(30):
        text = OPENI.replace("CXR9", f"CXR{number}") + "<!-- " + "x y" * number + " -->"
        (tmp_path / f"{number}.xml").write_text(text, encoding="utf-8")
    path = tmp_path / "reports.tgz"
    with tarfile.open(path, "w:gz") as archive:
        for file in sorted(tmp_path.glob("*.xml")):
            archive.add(file, file.name)
    assert read(OpeniSource(reports=str(path))).studies.height == 30
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 40] = bytes(255 - b for b in data[middle : middle + 40])
    broken = {"cut": path.read_bytes()[:middle], "flipped": bytes(data), "text": b"no archive"}
    path.write_bytes(broken[damage])
    with pytest.raises(UserError, match=r"reports\.tgz: not a readable tar archive"):
        read(OpeniSource(reports=str(path)))


def test_films_without_reports(tmp_path: Path) -> None:
    (tmp_path / "index.csv").write_text("image_id,size\nJ1,512\nJ2,512\n", encoding="utf-8")
    prepared = read(ImageSource(images=str(tmp_path)))
    assert prepared.studies["report"].null_count() == 2
    assert prepared.images["path"].to_list() == [
        str(tmp_path / "images" / "J1.png"),
        str(tmp_path / "images" / "J2.png"),
    ]
    with pytest.raises(UserError, match="no column 'id'"):
        read(ImageSource(images=str(tmp_path), columns={"image_id": "id"}))
    with pytest.raises(UserError, match=r"source\.pattern: '\{name\}\.png' may hold"):
        read(ImageSource(images=str(tmp_path), pattern="{name}.png"))
    (tmp_path / "index.csv").write_text("image_id,size\nJ1,512\n ,512\n", encoding="utf-8")
    prepared = read(ImageSource(images=str(tmp_path)))
    assert prepared.studies["study_id"].to_list() == ["J1"]
    assert lost(prepared) == {f"{tmp_path}/index.csv, row 3": "no_study_id"}


def test_shards_are_disjoint_by_patient_and_together_the_whole(mimic: Path) -> None:
    shards = HashShards(by="hash", count=3)
    parts = [read(mimic_source(mimic), shards, str(i)) for i in range(3)]
    whole = read(mimic_source(mimic))
    assert pl.concat([p.studies for p in parts]).sort("study_id").equals(whole.studies)
    assert pl.concat([p.images for p in parts]).sort("study_id", "image_id").equals(whole.images)
    for part in parts:
        others = [p for p in parts if p is not part]
        mine = set(part.studies["patient_id"])
        assert not any(mine & set(o.studies["patient_id"]) for o in others)


def test_duplicates_are_settled_the_same_in_any_number_of_shards(tmp_path: Path) -> None:
    path = tmp_path / "reports.csv"
    rows = [f"s{i % 7},Report {i}.,m{i},f{i % 5}.png,PA" for i in range(20)]
    path.write_text("\n".join(["accession,text,mrn,files,v", *rows]), encoding="utf-8")
    source = table_source(path, columns={**WITH_IMAGES, "patient_id": "mrn"})
    whole = read(source)
    shards = HashShards(by="hash", count=4)
    parts = [read(source, shards, str(i)) for i in range(4)]
    assert whole.studies["report"].to_list() == [f"Report {i}." for i in range(7)]
    for name in ("studies", "images", "ledger"):
        table: pl.DataFrame = getattr(whole, name)
        keys = table.columns
        union = pl.concat([getattr(p, name) for p in parts]).sort(keys)
        assert union.equals(table.sort(keys)), name


def test_one_strange_subject_does_not_stop_shards_by_prefix(mimic: Path) -> None:
    path = mimic / "cxr-study-list.csv.gz"
    shards = SubjectPrefixShards(by="subject_prefix", digits=2)
    with pytest.raises(UserError, match=r"'p90000001' is no MIMIC subject id .* {by: hash"):
        read(mimic_source(mimic), shards, "p10")
    text = gzip.decompress(path.read_bytes()).decode()
    write_gz(path, text.replace("90000001,", "11000001,"))
    assert read(mimic_source(mimic), shards, "p11").studies.height == 2
    assert lost(read(mimic_source(mimic), shards, "p10")) == {"s90000013": "wrong_id"}


def test_shards_by_subject_prefix() -> None:
    shards = SubjectPrefixShards(by="subject_prefix", digits=3)
    assert shard_of("p10999999", "s1", shards) == "p109"
    with pytest.raises(UserError, match="by: hash"):
        shard_of("p90000001", "s1", shards)
    with pytest.raises(UserError, match="by: hash"):
        shard_of(None, "CXR1", shards)


@pytest.mark.shared
def test_every_openi_report_is_read_or_accounted_for(shared: Path) -> None:
    source = OpeniSource(reports=str(shared / "data" / "openi" / "openi_reports.tgz"))
    prepared = read(source)
    assert prepared.studies.height + len(lost(prepared)) == 1181
    assert set(lost(prepared).values()) == {"empty_report"}
    assert read_openi_mesh(source.reports).height == 1181


@pytest.mark.parametrize(
    "content",
    [
        b'<?xml version="1.0" encoding="foo-99"?><eCitation><uId id="CXR1"/></eCitation>',
        b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><eCitation>&b;</eCitation>',
        b"no xml at all",
    ],
)
def test_a_hostile_xml_file_is_one_row_of_the_ledger(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "1.xml").write_bytes(content)
    (tmp_path / "9.xml").write_text(OPENI, encoding="utf-8")
    prepared = read(OpeniSource(reports=str(tmp_path)))
    assert prepared.studies["study_id"].to_list() == ["CXR9"]
    assert list(lost(prepared).values()) == ["report_unreadable"]


def test_a_study_list_cannot_point_out_of_its_folder(mimic: Path) -> None:
    for member in ("/etc/hostname", "files/../../secret.txt"):
        write_gz(
            mimic / "cxr-study-list.csv.gz",
            f"subject_id,study_id,path\n90000001,90000011,{member}",
        )
        prepared = read(mimic_source(mimic))
        assert prepared.studies.is_empty()
        assert list(lost(prepared).values()) == ["report_unreadable"]


def test_a_damaged_gzip_is_named(mimic: Path) -> None:
    path = mimic / "mimic-cxr-2.0.0-split.csv.gz"
    content = bytearray(path.read_bytes())
    content[15:25] = b"\0" * 10
    path.write_bytes(bytes(content))
    with pytest.raises(UserError, match=r"split\.csv\.gz: cannot be read"):
        read(mimic_source(mimic))


def test_a_table_without_header_is_not_quoted(tmp_path: Path) -> None:
    path = tmp_path / "reports.csv"
    path.write_text("1,Right effusion of Mrs Smith\n2,No edema.\n", encoding="utf-8")
    with pytest.raises(UserError, match="is its first row a header") as error:
        read(table_source(path))
    assert "Smith" not in str(error.value)


def test_an_endless_report_and_a_folder_named_like_a_file_stop_nothing(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("No edema. " * 5_000, encoding="utf-8")
    (tmp_path / "short.txt").write_text("No edema.", encoding="utf-8")
    prepared = read(TextSource(reports=str(tmp_path)))
    assert prepared.studies["study_id"].to_list() == ["short"]
    assert lost(prepared) == {"long": "report_too_long"}
    (tmp_path / "9.xml").write_text(OPENI, encoding="utf-8")
    (tmp_path / "folder.xml").mkdir()
    (tmp_path / "broken.xml").symlink_to("/nonexistent")
    assert read(OpeniSource(reports=str(tmp_path))).studies["study_id"].to_list() == ["CXR9"]


def test_a_file_name_that_is_no_utf8_still_names_a_study(tmp_path: Path) -> None:
    with open(bytes(tmp_path) + b"/bad\xff.txt", "w", encoding="utf-8") as file:
        file.write("No edema.")
    assert read(TextSource(reports=str(tmp_path))).studies["study_id"].to_list() == ["bad\ufffd"]

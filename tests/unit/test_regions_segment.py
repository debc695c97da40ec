"""Segmentation of a shard: status, ledger, order, scripts."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image
from pydicom.dataset import FileDataset, FileMetaDataset
from pydicom.uid import DigitalXRayImageStorageForPresentation, ExplicitVRLittleEndian

from cxrqba.config import SegmentationConfig
from cxrqba.reference.tables import load_regions
from cxrqba.regions.masks import decode
from cxrqba.regions.phantom import Phantom
from cxrqba.regions.phantom_film import draw, write_film
from cxrqba.regions.segment import Outputs, Recipe, segment
from cxrqba.schema import IMAGE_STATUS, IMAGES, LEDGER, MASKS, PHANTOM_TRUTH, REGION_BOXES
from cxrqba.tables import frame, read_table, write_table

ROOT = Path(__file__).parents[2]
NAMES = ("boxes", "masks", "status", "ledger")
SCHEMAS = (REGION_BOXES, MASKS, IMAGE_STATUS, LEDGER)
REFERENCE = ROOT / "resources" / "reference"
REGIONS = load_regions(REFERENCE)


@dataclass(frozen=True)
class Segmentation:
    """The tables of a shard, and their files."""

    boxes: pl.DataFrame
    masks: pl.DataFrame
    status: pl.DataFrame
    ledger: pl.DataFrame
    files: tuple[bytes, ...]


def run(images: pl.DataFrame, folder: Path, **settings: object) -> Segmentation:
    outputs = Outputs(*(folder / f"0.{name}.parquet" for name in NAMES))
    recipe = Recipe(SegmentationConfig.model_validate(settings), REFERENCE, "code")
    segment(images, recipe, outputs, folder / "0.journal")
    assert not (folder / "0.journal").exists()
    paths = (outputs.boxes, outputs.masks, outputs.status, outputs.ledger)
    tables = [read_table(p, s) for p, s in zip(paths, SCHEMAS, strict=True)]
    return Segmentation(*tables, files=tuple(path.read_bytes() for path in paths))


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    """A frontal and a lateral film, noise, a broken file, a missing one, no path at all."""
    folder = tmp_path_factory.mktemp("images")
    for name, view in (("a", "PA"), ("b", "LATERAL")):
        film = Phantom("90000001", "90000002", name, view, 600, 512, 5)
        write_film(draw(film, film.chest()), folder / f"{name}.jpg")
    noise = np.random.default_rng(0).integers(0, 255, (300, 300), dtype=np.uint8)
    Image.fromarray(noise).save(folder / "c.png")
    (folder / "d.jpg").write_bytes((folder / "a.jpg").read_bytes()[:200])
    paths = {
        n: str(folder / f)
        for n, f in zip("abcde", ["a.jpg", "b.jpg", "c.png", "d.jpg", "e.jpg"], strict=True)
    }
    rows = [
        {
            "study_id": "s2" if name in "ab" else "s1",
            "image_id": name,
            "path": paths.get(name),
            "view": "lateral" if name == "b" else "frontal",
        }
        for name in "fedcba"
    ]
    return frame(rows, IMAGES)


@pytest.fixture(scope="module")
def found(images: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Segmentation:
    return run(images, tmp_path_factory.mktemp("found"))


def test_every_image_has_a_status(found: Segmentation) -> None:
    status = dict(found.status.select("image_id", "status").iter_rows())
    assert status == {
        "a": "ok",
        "b": "ok",
        "c": "no_localization",
        "d": "unreadable",
        "e": "unreadable",
        "f": "unreadable",
    }
    sizes = found.status.filter(pl.col("image_id") == "a").select("height", "width").row(0)
    assert sizes == (600, 512)
    assert found.status["study_id"].to_list() == ["s1"] * 4 + ["s2"] * 2


def test_images_that_are_lost_are_in_the_ledger_once(found: Segmentation) -> None:
    rows = found.ledger.select("item_id", "reason", "scope").rows()
    assert rows == [
        ("c", "no_localization", "image"),
        ("d", "unreadable_image", "image"),
        ("e", "unreadable_image", "image"),
        ("f", "unreadable_image", "image"),
    ]


def test_boxes_are_sorted_inside_the_image_and_of_known_regions(found: Segmentation) -> None:
    keys = found.boxes.select("study_id", "image_id", "region").rows()
    assert keys == sorted(set(keys))
    assert set(found.boxes["image_id"]) == {"a", "b"}
    assert {k[2] for k in keys} <= {n for n, r in REGIONS.items() if r.localized}
    for boxes in found.boxes["bboxes"]:
        for x1, y1, x2, y2 in boxes:
            assert 0 <= x1 < x2 <= 512
            assert 0 <= y1 < y2 <= 600


def test_masks_are_those_that_boxes_refer_to(found: Segmentation) -> None:
    keys = found.masks.select("study_id", "image_id", "mask_id").rows()
    assert keys == sorted(set(keys))
    boxes = found.boxes.select("study_id", "image_id", "mask_ids").rows()
    assert {(study, image, mask) for study, image, masks in boxes for mask in masks} <= set(keys)
    row = found.masks.row(
        by_predicate=(pl.col("image_id") == "a") & (pl.col("mask_id") == "heart"), named=True
    )
    rows, columns = decode(row["rle"], row["height"], row["width"]).nonzero()
    box = found.boxes.filter(pl.col("image_id") == "a", pl.col("region") == "heart")["bboxes"]
    x, y = 512 / row["width"], 600 / row["height"]
    ends = columns.min() * x, rows.min() * y, (columns.max() + 1) * x, (rows.max() + 1) * y
    assert box.to_list()[0][0] == pytest.approx(ends, abs=0.01)


def test_the_order_of_the_images_does_not_matter(
    images: pl.DataFrame, found: Segmentation, tmp_path: Path
) -> None:
    again = run(images.sort("image_id"), tmp_path)
    assert again.files == found.files


def test_no_images_give_empty_tables(tmp_path: Path) -> None:
    empty = run(pl.DataFrame(schema=IMAGES), tmp_path)
    assert empty.boxes.height == empty.masks.height == empty.status.height == 0


def _bad_images(folder: Path) -> dict[str, str]:
    """File names and what becomes of them: ok, unreadable or no_localization."""
    phantom = Phantom("90000001", "90000002", "x", "PA", 600, 512, 5)
    film = Image.fromarray(draw(phantom, phantom.chest()))
    whole = folder / "whole.jpg"
    film.save(whole)
    (folder / "truncated.jpg").write_bytes(whole.read_bytes()[:9000])
    (folder / "empty.jpg").write_bytes(b"")
    deep = Image.fromarray(np.asarray(film).astype(np.uint16) * 257)
    deep.save(folder / "deep.png")
    film.convert("RGBA").save(folder / "rgba.png")
    film.convert("RGB").convert("CMYK").save(folder / "cmyk.jpg")
    film.convert("P").save(folder / "palette.png")
    exif = film.getexif()
    exif[0x0112] = 6  # to be shown turned by 90 degrees clockwise
    film.transpose(Image.Transpose.ROTATE_90).save(folder / "turned.jpg", exif=exif)
    _dicom(folder / "inverted.dcm", 255 - np.asarray(film), "MONOCHROME1")
    Image.new("L", (1, 1)).save(folder / "dot.png")
    Image.new("1", (12_000, 12_000)).save(folder / "huge.png")
    Image.new("L", (500, 600), 128).save(folder / "even.png")
    fine = ("whole.jpg", "deep.png", "rgba.png", "cmyk.jpg", "palette.png", "turned.jpg")
    return {
        **dict.fromkeys((*fine, "inverted.dcm"), "ok"),
        **dict.fromkeys(("truncated.jpg", "empty.jpg", "dot.png", "huge.png"), "unreadable"),
        "even.png": "no_localization",
    }


def _dicom(path: Path, pixels: np.ndarray, photometric: str) -> None:
    meta = FileMetaDataset()
    meta.TransferSyntaxUID = ExplicitVRLittleEndian
    meta.MediaStorageSOPClassUID = DigitalXRayImageStorageForPresentation
    meta.MediaStorageSOPInstanceUID = "1.2.3"
    data = FileDataset(str(path), {}, file_meta=meta, preamble=b"\0" * 128)
    data.Rows, data.Columns = pixels.shape
    data.SamplesPerPixel, data.BitsAllocated, data.BitsStored, data.HighBit = 1, 8, 8, 7
    data.PixelRepresentation, data.PhotometricInterpretation = 0, photometric
    data.PixelData = pixels.tobytes()
    data.save_as(path, enforce_file_format=True)


def test_bad_images_are_repaired_or_in_the_ledger(tmp_path: Path) -> None:
    """16 bit, RGBA, CMYK, palette, EXIF and MONOCHROME1 are repaired: the boxes are the film's."""
    expected = _bad_images(tmp_path)
    rows = [
        {"study_id": "s1", "image_id": n, "path": str(tmp_path / n), "view": "frontal"}
        for n in expected
    ]
    found = run(frame(rows, IMAGES), tmp_path)
    assert dict(found.status.select("image_id", "status").iter_rows()) == expected
    lost = {n: s for n, s in expected.items() if s != "ok"}
    reasons = {"unreadable": "unreadable_image", "no_localization": "no_localization"}
    assert dict(found.ledger.select("item_id", "reason").iter_rows()) == {
        n: reasons[s] for n, s in lost.items()
    }
    assert set(found.status.filter(status="ok").select("height", "width").rows()) == {(600, 512)}
    lungs = dict(found.boxes.filter(region="lungs").select("image_id", "bboxes").iter_rows())
    for name, boxes in lungs.items():
        assert np.abs(np.array(boxes) - np.array(lungs["whole.jpg"])).max() < 12, name


def test_scripts_draw_and_segment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "workflow" / "scripts"))
    import draw_phantoms
    import segment_anatomy

    (tmp_path / "phantoms.csv").write_text(
        "subject_id,study_id,dicom_id,ViewPosition,Rows,Columns,seed\n"
        "90000001,90000002,d1,PA,500,420,7\n"
    )
    (tmp_path / "lesions.csv").write_text(
        "study_id,dicom_id,category_name,label_text,place,size\n"
        "90000002,d1,Pneumonia,x,left base,small\n"
    )
    _run(
        monkeypatch,
        draw_phantoms.main,
        tmp_path,
        {
            "phantoms": "phantoms.csv",
            "lesions": "lesions.csv",
            "images": "img",
            "truth": "t.parquet",
        },
    )
    truth = read_table(tmp_path / "t.parquet", PHANTOM_TRUTH)
    assert "left lung" in truth["structure"].to_list()
    path = tmp_path / "img" / "files" / "p90" / "p90000001" / "s90000002" / "d1.jpg"
    row = {"study_id": "s90000002", "image_id": "d1", "path": str(path), "view": "frontal"}
    write_table(frame([row], IMAGES), tmp_path / "images.parquet", IMAGES)
    outputs = {
        "boxes": "b.parquet",
        "masks": "m.parquet",
        "status": "s.parquet",
        "ledger": "l.parquet",
    }
    _run(
        monkeypatch,
        segment_anatomy.main,
        tmp_path,
        {"images": "images.parquet", "reference": str(REFERENCE), **outputs},
    )
    assert read_table(tmp_path / "b.parquet", REGION_BOXES).height > 100
    assert read_table(tmp_path / "s.parquet", IMAGE_STATUS)["status"].to_list() == ["ok"]
    assert read_table(tmp_path / "l.parquet", LEDGER).height == 0
    assert read_table(tmp_path / "m.parquet", MASKS).height > 10


def _run(monkeypatch: pytest.MonkeyPatch, main, folder: Path, options: dict[str, str]) -> None:
    arguments = [a for name, value in options.items() for a in (f"--{name}", str(folder / value))]
    monkeypatch.setattr(sys, "argv", ["script", *arguments])
    main()

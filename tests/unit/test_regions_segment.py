"""Segmentation of a shard: status, ledger, order, scripts."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

from cxrqba.config import SegmentationConfig
from cxrqba.reference.tables import load_regions
from cxrqba.regions.phantom import Phantom, draw, write_film
from cxrqba.regions.segment import Segmentation, segment
from cxrqba.schema import IMAGE_STATUS, IMAGES, LEDGER, PHANTOM_TRUTH, REGION_BOXES
from cxrqba.tables import frame, read_table, write_table

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "resources" / "reference"
REGIONS = load_regions(REFERENCE)


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
def found(images: pl.DataFrame) -> Segmentation:
    return segment(images, SegmentationConfig(), REGIONS)


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


def test_the_order_of_the_images_does_not_matter(images: pl.DataFrame, found: Segmentation) -> None:
    again = segment(images.sort("image_id"), SegmentationConfig(), REGIONS)
    assert again.boxes.equals(found.boxes)
    assert again.status.equals(found.status)
    assert again.ledger.equals(found.ledger)


def test_no_images_give_empty_tables() -> None:
    empty = segment(pl.DataFrame(schema=IMAGES), SegmentationConfig(), REGIONS)
    assert empty.boxes.schema == REGION_BOXES
    assert empty.status.height == 0


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
    outputs = {"boxes": "b.parquet", "status": "s.parquet", "ledger": "l.parquet"}
    _run(
        monkeypatch,
        segment_anatomy.main,
        tmp_path,
        {"images": "images.parquet", "reference": str(REFERENCE), **outputs},
    )
    assert read_table(tmp_path / "b.parquet", REGION_BOXES).height > 100
    assert read_table(tmp_path / "s.parquet", IMAGE_STATUS)["status"].to_list() == ["ok"]
    assert read_table(tmp_path / "l.parquet", LEDGER).height == 0


def _run(monkeypatch: pytest.MonkeyPatch, main, folder: Path, options: dict[str, str]) -> None:
    arguments = [a for name, value in options.items() for a in (f"--{name}", str(folder / value))]
    monkeypatch.setattr(sys, "argv", ["script", *arguments])
    main()

"""Synthetic films: geometry, tables, the demo's lesion boxes."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest

from cxrqba.errors import UserError
from cxrqba.regions.phantom import (
    CATEGORIES,
    MS_CXR_HEADER,
    Phantom,
    lesion_boxes,
    ms_cxr_rows,
    read_phantoms,
    truth_rows,
)
from cxrqba.regions.phantom_anatomy import PLACES, SIZES, Lesion
from cxrqba.regions.phantom_film import draw

DEMO = Path(__file__).parents[2] / "resources" / "demo"
GOLD = DEMO / "gold" / "MS_CXR_Local_Alignment_v1.1.0.csv"


def phantom(view: str = "PA", lesions: tuple[Lesion, ...] = (), seed: int = 3) -> Phantom:
    return Phantom("90000001", "90000002", "d1", view, 500, 420, seed, lesions)


def boxes(image: Phantom) -> dict[str, list[float]]:
    return {r["structure"]: r["bboxes"][0] for r in truth_rows(image, image.chest())}


@pytest.mark.parametrize("seed", range(8))
def test_the_patients_left_is_on_the_images_right(seed: int) -> None:
    known = boxes(phantom(seed=seed))
    assert known["right lung"][2] < known["left lung"][0]
    assert known["right clavicle"][2] <= known["left clavicle"][0] + 5
    middle = (known["right lung"][2] + known["left lung"][0]) / 2
    heart = (known["heart"][0] + known["heart"][2]) / 2
    assert heart > middle  # the heart lies to the left


def test_drawing_is_deterministic_and_bright_where_the_body_absorbs() -> None:
    image = phantom()
    film = draw(image, image.chest())
    assert film.shape == (500, 420)
    assert film.dtype == np.uint8
    assert (film == draw(image, image.chest())).all()
    assert (film != draw(phantom(seed=4), phantom(seed=4).chest())).any()
    chest = image.chest()
    rows, columns = np.nonzero(chest.masks["right lung"])
    sx, sy = image.scale(chest)
    lung = film[(rows * sy).astype(int), (columns * sx).astype(int)].mean()
    rows, columns = np.nonzero(chest.masks["heart"])
    heart = film[(rows * sy).astype(int), (columns * sx).astype(int)].mean()
    assert heart > lung + 40


@pytest.mark.parametrize("category", sorted({*CATEGORIES} - {"Cardiomegaly"}))
@pytest.mark.parametrize("side", ["left", "right"])
def test_lesions_lie_in_the_lung_of_their_side(category: str, side: str) -> None:
    lesions = tuple(
        Lesion(category, "text", f"{side} {part}", size) for part in PLACES for size in SIZES
    )
    image = phantom(lesions=lesions)
    lung = boxes(image)[f"{side} lung"]
    found = lesion_boxes(image)
    assert len(found) == len(lesions)
    for lesion, box in found:
        assert box[0] >= lung[0] - 1, lesion
        assert box[2] <= lung[2] + 1, lesion
        assert box[1] >= lung[1] - 1, lesion
        assert box[3] <= lung[3] + 1, lesion


def test_larger_lesions_are_larger_and_cardiomegaly_widens_the_heart() -> None:
    def area(size: str) -> float:
        ((_, b),) = lesion_boxes(
            phantom(lesions=(Lesion("Pleural Effusion", "", "left base", size),))
        )
        return (b[2] - b[0]) * (b[3] - b[1])

    assert area("small") < area("moderate") < area("large")
    plain = boxes(phantom())["heart"]
    large = boxes(phantom(lesions=(Lesion("Cardiomegaly", "", "heart", "large"),)))["heart"]
    assert large[2] - large[0] > 1.2 * (plain[2] - plain[0])


def _tables(folder: Path, phantoms: str, lesions: str) -> tuple[Path, Path]:
    one, two = folder / "phantoms.csv", folder / "lesions.csv"
    one.write_text("subject_id,study_id,dicom_id,ViewPosition,Rows,Columns,seed\n" + phantoms)
    two.write_text("study_id,dicom_id,category_name,label_text,place,size\n" + lesions)
    return one, two


PA = "90000001,90000002,d1,PA,500,420,7\n"


def test_tables_are_read_and_placed_as_in_mimic(tmp_path: Path) -> None:
    paths = _tables(tmp_path, PA, '90000002,d1,Pneumonia,"a, b",left base,small\n')
    (image,) = read_phantoms(*paths)
    assert image.path == "files/p90/p90000001/s90000002/d1.jpg"
    assert image.lesions == (Lesion("Pneumonia", "a, b", "left base", "small"),)
    (row,) = ms_cxr_rows([image], {"d1": "validate"})
    assert list(row) == list(MS_CXR_HEADER)
    assert row["split"] == "val"
    ((_, box),) = lesion_boxes(image)
    assert [row["x"] + row["w"], row["y"] + row["h"]] == box[2:]


@pytest.mark.parametrize(
    ("phantoms", "lesions", "message"),
    [
        (PA, "90000002,d1,Pneumonya,x,left base,small\n", "lesions.csv, line 2: unknown category"),
        (PA, "90000002,d1,Pneumonia,x,left bass,small\n", "did you mean 'left base'"),
        (PA, "90000002,d1,Pneumonia,x,left base,huge\n", "unknown size 'huge'"),
        (PA, "90000002,d2,Pneumonia,x,left base,small\n", "d2 is not in"),
        (PA + PA, "", "line 3: dicom_id d1 appears twice"),
        (PA.replace("500", "x"), "", "line 2: Rows 'x'"),
        (PA.replace("500", "9000"), "", "Rows 9000 is not within"),
        (PA.replace("PA", "LATERAL"), "90000002,d1,Edema,x,left lung,small\n", "lateral image"),
    ],
)
def test_wrong_tables_name_file_and_line(
    tmp_path: Path, phantoms: str, lesions: str, message: str
) -> None:
    with pytest.raises(UserError) as error:
        read_phantoms(*_tables(tmp_path, phantoms, lesions))
    assert message in str(error.value)


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    one, two = _tables(tmp_path, PA, "")
    one.write_text(one.read_text().replace("seed", "sead"))
    with pytest.raises(UserError, match=r"no column 'seed' .did you mean 'sead'"):
        read_phantoms(one, two)


def test_the_demos_lesion_boxes_equal_the_geometry() -> None:
    with gzip.open(DEMO / "mimic-cxr-jpg" / "mimic-cxr-2.0.0-split.csv.gz", "rt") as file:
        splits = {row["dicom_id"]: row["split"] for row in csv.DictReader(file)}
    images = read_phantoms(DEMO / "phantoms.csv", DEMO / "lesions.csv")
    with GOLD.open(newline="") as file:
        reader = csv.DictReader(file)
        committed = list(reader)
        assert reader.fieldnames == list(MS_CXR_HEADER)
    made = [{k: str(v) for k, v in row.items()} for row in ms_cxr_rows(images, splits)]
    assert committed == made

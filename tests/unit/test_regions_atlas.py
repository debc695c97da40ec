"""The atlas backend on drawn films, on real ones, and on images that show no chest."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from scipy import ndimage
from skimage import data

from cxrqba.evaluate.rectangles import overlap
from cxrqba.reference.tables import load_regions
from cxrqba.regions.atlas import find_anatomy
from cxrqba.regions.engine import localize
from cxrqba.regions.phantom import Phantom, truth_rows
from cxrqba.regions.phantom_film import draw

ROOT = Path(__file__).parents[2]
REGIONS = load_regions(ROOT / "resources" / "reference")
JSRT = ROOT.parent / "shared" / "data" / "jsrt"

Gray = NDArray[np.float32]


def iou(one: list[float], other: list[float]) -> float:
    first, second, both = overlap([one], [other])
    return both / (first + second - both)


def found_boxes(image: Gray, view: str) -> dict[str, list[float]]:
    anatomy = find_anatomy(image, view)
    if anatomy is None:
        return {}
    size = (image.shape[0], image.shape[1])
    rows = localize(anatomy, REGIONS, size, 25)
    return {r["region"]: r["bboxes"][0] for r in rows if not r["is_fallback"]}


def film(view: str, seed: int) -> tuple[Gray, dict[str, list[float]]]:
    height, width = (850, 1000) if view == "AP" else (1000, 850)
    image = Phantom("90000001", "90000002", "d1", view, height, width, seed)
    chest = image.chest()
    truth = {r["structure"]: r["bboxes"][0] for r in truth_rows(image, chest)}
    return draw(image, chest).astype(np.float32) / 255, truth


@pytest.mark.parametrize("view", ["PA", "AP"])
@pytest.mark.parametrize("seed", [1, 2])
def test_frontal_films_are_localised_side_by_side(view: str, seed: int) -> None:
    image, truth = film(view, seed)
    found = found_boxes(image, "frontal")
    for name in ("left lung", "right lung"):
        assert iou(found[name], truth[name]) > 0.8, name
    assert iou(found["heart"], truth["heart"]) > 0.6
    assert found["right lung"][2] < found["left lung"][2]
    zones = ("left lung apex", "left upper lung zone", "left mid lung zone", "left lung base")
    tops = [found[z][1] for z in zones]
    assert tops == sorted(tops)
    assert found["left costophrenic angle"][2] == found["left lung"][2]


def test_a_lateral_film_has_lungs_without_sides() -> None:
    image, truth = film("LATERAL", 1)
    found = found_boxes(image, "lateral")
    assert iou(found["lungs"], truth["lungs"]) > 0.8
    assert not [n for n in found if REGIONS[n].laterality in ("left", "right")]


@pytest.mark.parametrize("view", ["PA", "LATERAL"])
def test_an_unknown_view_is_told_from_the_image(view: str) -> None:
    anatomy = find_anatomy(film(view, 2)[0], "unknown")
    assert anatomy is not None
    assert anatomy.view == ("lateral" if view == "LATERAL" else "frontal")


def test_exposure_and_inversion_do_not_matter() -> None:
    image, _ = film("PA", 1)
    plain = found_boxes(image, "frontal")
    for changed in (image * 0.4 + 0.1, 1 - image):
        again = found_boxes(changed.astype(np.float32), "frontal")
        assert iou(again["left lung"], plain["left lung"]) > 0.95


@pytest.mark.parametrize("degrees", [-7, 8])
def test_a_tilted_film_is_read_as_it_lies(degrees: float) -> None:
    image, _ = film("PA", 1)
    turned = ndimage.rotate(image, degrees, reshape=False, order=1)
    for name in ("right lung", "left lung"):
        upright = ndimage.rotate(mask_of(image, name), degrees, reshape=False, order=0) > 0
        found = mask_of(turned, name) > 0
        assert (upright & found).sum() > 0.85 * (upright | found).sum(), name


def mask_of(image: Gray, name: str) -> NDArray[np.uint8]:
    """The mask found in a frontal film, on the whole grid."""
    anatomy = find_anatomy(image, "frontal")
    assert anatomy is not None
    crop = anatomy.masks[name]
    grid = np.zeros(anatomy.frame, dtype=np.uint8)
    grid[crop.top : crop.bottom, crop.left : crop.right] = crop.pixels
    return grid


def hand() -> Gray:
    """Palm, five fingers with bones in them, bright on black."""
    picture = Image.new("L", (400, 500))
    pen = ImageDraw.Draw(picture)
    pen.ellipse((110, 250, 300, 470), fill=120)
    for number, (x, top) in enumerate(((60, 220), (130, 80), (185, 50), (240, 70), (300, 130))):
        base = 150 + 30 * number, 330
        pen.line((x, top, *base), fill=110, width=38)
        pen.line((x, top, *base), fill=220, width=16)
    return np.asarray(picture, dtype=np.float32) / 255


def knee() -> Gray:
    """Thigh and shin bones that meet, in soft tissue."""
    picture = Image.new("L", (400, 500))
    pen = ImageDraw.Draw(picture)
    pen.rectangle((90, 0, 310, 500), fill=90)
    pen.rectangle((150, 0, 250, 190), fill=200)
    pen.ellipse((120, 150, 280, 250), fill=210)
    pen.ellipse((120, 262, 280, 320), fill=210)
    pen.rectangle((155, 300, 245, 500), fill=200)
    return np.asarray(picture, dtype=np.float32) / 255


def face() -> Gray:
    """An oval with two dark eyes beside a bright nose, the nearest thing to a pair of lungs."""
    picture = Image.new("L", (400, 500), 30)
    pen = ImageDraw.Draw(picture)
    pen.ellipse((60, 40, 340, 470), fill=190)
    for x in (130, 230):
        pen.ellipse((x, 170, x + 50, 205), fill=40)
    pen.polygon(((200, 200), (170, 300), (230, 300)), fill=230)
    pen.arc((130, 320, 270, 400), 10, 170, fill=60, width=12)
    return np.asarray(picture, dtype=np.float32) / 255


def text_page() -> Gray:
    """Black lines of letters on white."""
    picture = Image.new("L", (400, 500), 255)
    pen = ImageDraw.Draw(picture)
    for y in range(30, 470, 18):
        pen.text((30, y), "no line of this page shows a chest at all", fill=0, font_size=14)
    return np.asarray(picture, dtype=np.float32) / 255


@pytest.mark.parametrize("view", ["frontal", "unknown"])
@pytest.mark.parametrize("degrees", [0, 90])
@pytest.mark.parametrize("draw_it", [hand, knee, face, text_page])
def test_drawings_of_other_things_are_refused(
    draw_it: Callable[[], Gray], degrees: int, view: str
) -> None:
    image = ndimage.rotate(draw_it(), degrees, order=1)
    blurred = ndimage.gaussian_filter(image, 3)
    noisy = image + np.random.default_rng(1).normal(0, 0.05, image.shape)
    for version in (image, 1 - image, blurred, noisy):
        assert find_anatomy(version.astype(np.float32), view) is None


def test_even_borders_do_not_matter() -> None:
    image, _ = film("PA", 1)
    plain = found_boxes(image, "frontal")
    top, left = 150, 260
    framed = found_boxes(np.pad(image, ((top, 40), (left, 120))), "frontal")
    for name in ("left lung", "right lung", "heart"):
        x1, y1, x2, y2 = framed[name]
        assert iou([x1 - left, y1 - top, x2 - left, y2 - top], plain[name]) > 0.9, name


@pytest.mark.parametrize("view", ["frontal", "lateral", "unknown"])
def test_images_without_a_chest_have_no_localisation(view: str) -> None:
    rng = np.random.default_rng(0)
    noise = rng.random((300, 400))
    images = [
        noise,
        ndimage.gaussian_filter(noise, 12),
        np.zeros((300, 400)),
        np.full((1, 1), 0.5),
        np.full((300, 400), np.nan),
        np.mgrid[0:300, 0:400][0] / 300,
        data.camera() / 255,
        data.astronaut().mean(axis=2) / 255,
        data.chelsea().mean(axis=2) / 255,
        data.coins() / 255,
        data.moon() / 255,
        data.page() / 255,
        data.retina().mean(axis=2) / 255,
    ]
    for number, image in enumerate(images):
        assert find_anatomy(image.astype(np.float32), view) is None, number


@pytest.mark.parametrize(
    ("number", "turns"), [(19, 2), (40, 2), (51, 2), (60, 3), (180, 2), (190, 0)]
)
def test_coarse_faces_and_scraps_of_photographs_are_refused(number: int, turns: int) -> None:
    """Two cheeks beside a nose follow the outlines best of all photographs tried."""
    patch = Image.fromarray(np.asarray(data.lfw_subset()[number], dtype=np.float32))
    image = np.asarray(patch.resize((256, 256), Image.Resampling.BICUBIC)).clip(0, 1)
    assert find_anatomy(np.ascontiguousarray(np.rot90(image, turns)), "frontal") is None


def test_the_same_image_gives_the_same_boxes() -> None:
    image, _ = film("AP", 3)
    assert found_boxes(image, "frontal") == found_boxes(image.copy(), "frontal")


@pytest.mark.shared
def test_real_films_reach_the_measured_overlap() -> None:
    if not JSRT.is_dir():
        pytest.skip("shared data not present")
    names = {"left lung": 0.87, "right lung": 0.87, "heart": 0.78, "left clavicle": 0.62}
    scores: dict[str, list[float]] = {name: [] for name in names}
    with (JSRT / "index.csv").open() as file:
        films = list(csv.DictReader(file))[1::6]  # of the films no outline was drawn after
    for row in films:
        with Image.open(JSRT / "images" / f"{row['image_id']}.png") as image:
            gray = np.asarray(image.convert("L"), dtype=np.float32) / 255
        found = found_boxes(gray, "frontal")
        for name in names:
            true = [float(v) for v in row[name.replace(" ", "_")].split()]
            scores[name].append(iou(found[name], true) if name in found else 0.0)
    for name, least in names.items():
        assert np.mean(scores[name]) > least, name

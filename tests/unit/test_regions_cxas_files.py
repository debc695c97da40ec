"""Masks in every form that the cxas package writes, and what is wrong with some."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from pycocotools import mask as coco

from cxrqba.errors import UserError
from cxrqba.regions.cxas_files import MaskError, find_masks, fits, load_labels, read_masks

REFERENCE = Path(__file__).parents[2] / "resources" / "reference"
LABELS = load_labels(REFERENCE)
IMAGE = Path("films/p10/x.jpg")
BOXES = {"heart": (8, 12, 20, 22), "left lung": (16, 4, 26, 24)}  # x1, y1, x2, y2 of 30 x 28


def stack() -> np.ndarray:
    masks = np.zeros((159, 28, 30), dtype=bool)
    for name, (x1, y1, x2, y2) in BOXES.items():
        masks[LABELS.index(name), y1:y2, x1:x2] = True
    return masks


def annotations(masks: np.ndarray, image_id: int) -> list[dict[str, Any]]:
    """As cxas.io_utils.mask_to_coco writes them."""
    found = []
    for channel, mask in enumerate(masks):
        if mask.any():
            rle = coco.encode(np.asfortranarray(mask.astype(np.uint8)))
            rle["counts"] = rle["counts"].decode("utf-8")
            found.append({"image_id": image_id, "category_id": channel, "segmentation": rle})
    return found


def write(folder: Path, form: str, masks: np.ndarray) -> Path:
    path = folder / f"x.{form}"
    if form == "npy":
        np.save(path, masks)
    elif form == "npz":
        np.savez_compressed(path, masks)
    elif form == "json":  # process_file nests the list of images once
        images = [[{"id": 1, "file_name": "films/p10/x.jpg"}]]
        content = {"images": images, "annotations": annotations(masks, 1)}
        path.write_text(json.dumps(content))
    else:
        path = folder / "x"
        path.mkdir()
        for label, mask in zip(LABELS, masks, strict=True):
            Image.fromarray(mask).convert("1").save(path / f"{label}.{form}")
    return path


def boxes(path: Path) -> dict[str, tuple[int, int, int, int]]:
    masks = read_masks(path, IMAGE, LABELS)
    assert masks.frame == (28, 30)
    return {n: (c.left, c.top, c.right, c.bottom) for n, c in masks.crops.items()}


@pytest.mark.parametrize("form", ["npy", "npz", "json", "png", "jpg"])
def test_every_form_gives_the_same_masks(tmp_path: Path, form: str) -> None:
    path = write(tmp_path, form, stack())
    assert find_masks(tmp_path, IMAGE) == path
    assert boxes(path) == BOXES


def test_channels_have_the_names_of_cxas() -> None:
    assert len(LABELS) == 159
    assert (LABELS[0], LABELS[121], LABELS[158]) == ("spine", "heart", "breast right")


def test_a_batch_of_one_and_probabilities_are_masks_too(tmp_path: Path) -> None:
    assert boxes(write(tmp_path, "npy", stack()[None])) == BOXES
    assert boxes(write(tmp_path, "npy", np.where(stack(), 0.7, 0.4).astype(np.float16))) == BOXES
    assert boxes(write(tmp_path, "npz", stack().astype(np.uint8))) == BOXES


def test_the_json_of_a_whole_folder_is_found_by_the_folders_name(tmp_path: Path) -> None:
    other = np.zeros((159, 9, 9), dtype=bool)
    other[0] = True
    images = [{"id": 1, "file_name": "films/y.jpg"}, {"id": 2, "file_name": "films/p10/x.jpg"}]
    both = annotations(other, 1) + annotations(stack(), 2)
    path = tmp_path / "films.json"
    path.write_text(json.dumps({"images": images, "annotations": both}))
    assert find_masks(tmp_path, IMAGE) == path
    assert boxes(path) == BOXES
    with pytest.raises(MaskError, match="no mask"):
        read_masks(path, Path("films/z.jpg"), LABELS)


def test_masks_may_lie_in_the_folders_of_their_image(tmp_path: Path) -> None:
    (tmp_path / "films" / "p10").mkdir(parents=True)
    path = write(tmp_path / "films" / "p10", "npz", stack())
    assert find_masks(tmp_path, IMAGE) == path
    assert find_masks(tmp_path, Path("elsewhere/x.jpg")) is None


@pytest.mark.parametrize(
    ("form", "masks", "reason"),
    [
        ("npy", np.zeros((28, 30), dtype=bool), "array of shape"),
        ("npy", np.zeros((14, 28, 30), dtype=bool), "array of shape"),
        ("npz", np.zeros((2, 159, 28, 30), dtype=bool), "array of shape"),
        ("npz", np.asfortranarray(np.zeros((159, 4, 5), dtype=bool)), "C order"),
    ],
)
def test_other_arrays_are_refused(
    tmp_path: Path, form: str, masks: np.ndarray, reason: str
) -> None:
    with pytest.raises(MaskError, match=reason):
        read_masks(write(tmp_path, form, masks), IMAGE, LABELS)


@pytest.mark.parametrize("form", ["npy", "npz", "json"])
@pytest.mark.parametrize("kept", [0, 7, 0.5])
def test_truncated_files_are_refused(tmp_path: Path, form: str, kept: float) -> None:
    path = write(tmp_path, form, np.random.default_rng(0).random((159, 28, 30)) < 0.5)
    content = path.read_bytes()
    path.write_bytes(content[: int(kept if kept != 0.5 else len(content) / 2)])
    with pytest.raises(MaskError, match="not readable"):
        read_masks(path, IMAGE, LABELS)


def test_odd_pictures_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    with pytest.raises(MaskError, match="no mask"):
        read_masks(tmp_path / "x", IMAGE, LABELS)
    Image.new("1", (30, 28), 1).save(tmp_path / "x" / "heart.png")
    Image.new("1", (15, 14), 1).save(tmp_path / "x" / "left lung.png")
    with pytest.raises(MaskError, match="different sizes"):
        read_masks(tmp_path / "x", IMAGE, LABELS)
    (tmp_path / "x" / "left lung.png").write_bytes(b"no picture")
    with pytest.raises(MaskError, match="not readable"):
        read_masks(tmp_path / "x", IMAGE, LABELS)


@pytest.mark.parametrize(
    "change",
    [
        {"category_id": 159},
        {"category_id": "heart"},
        {"segmentation": {"size": [28, 30], "counts": "1"}},
        {"segmentation": {"size": [10**6, 10**6], "counts": "1"}},
        {"segmentation": [[1, 2, 3, 4]]},
        {"image_id": 5},
    ],
)
def test_odd_annotations_are_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    path = write(tmp_path, "json", stack())
    content = json.loads(path.read_text())
    content["annotations"][0] |= change
    path.write_text(json.dumps(content))
    with pytest.raises(MaskError):
        read_masks(path, IMAGE, LABELS)


def test_masks_of_any_scale_fit_but_not_of_another_shape() -> None:
    assert fits((1500, 1250), (3000, 2500))
    assert fits((1527, 1271), (3056, 2544))  # rounded
    assert fits((512, 512), (3056, 2544))  # as the network sees it
    assert not fits((1250, 1500), (3000, 2500))
    assert not fits((512, 500), (3000, 2500))


def test_labels_must_be_readable(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cxas_labels\.json"):
        load_labels(tmp_path)

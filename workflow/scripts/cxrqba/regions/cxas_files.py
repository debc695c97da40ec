"""Masks that the cxas package has written: .npz, .npy, .json or a folder of .png or .jpg.

Each holds up to 159 structures of one image, named after the image's file (its process_file), but
for the one .json of a whole folder that process_folder writes, named after that folder. Structures
are read one after the other: a film of 3000 x 2500 pixels has 1.2 GB of them.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from cxrqba.errors import UserError
from cxrqba.regions.crops import Crop, Mask, clean
from cxrqba.regions.masks import decode

ENDINGS = (".npz", ".npy", ".json", "")  # "": a folder of pictures
PICTURES = (".png", ".jpg")
NETWORK_SIDE = 512
"""CXAS looks at every image squeezed to this many pixels a side."""

ASPECT_TOLERANCE = 0.02
"""Masks may have any scale; their aspect ratio differs by rounding alone."""

PARENTS = 4
"""Folders of the image's path that may be repeated below the folder of masks."""


class MaskError(Exception):
    """The masks of one image cannot be used; the text says why."""


@dataclass(frozen=True, slots=True)
class Masks:
    """Crops by CXAS structure name in a common frame (height, width)."""

    crops: dict[str, Crop]
    frame: tuple[int, int]


def load_labels(reference: Path) -> tuple[str, ...]:
    """Names of the channels of CXAS, in order (cxas_labels.json)."""
    path = reference / "cxas_labels.json"
    try:
        table = json.loads(path.read_text(encoding="utf-8"))["label_dict"]
        return tuple(table[str(number)] for number in range(len(table)))
    except (OSError, ValueError, KeyError, TypeError):
        raise UserError(f"{path}: not a readable list of CXAS labels") from None


def find_masks(folder: Path, image: Path) -> Path | None:
    """The masks of an image below ``folder``: flat, or in the last folders of its own path."""
    tails = [Path()] + [Path(*image.parent.parts[-n:]) for n in range(1, PARENTS + 1)]
    for tail in dict.fromkeys(tails):
        if tail.is_absolute():
            continue
        for ending in ENDINGS:
            path = folder / tail / f"{image.stem}{ending}"
            if path.is_file() if ending else path.is_dir():
                return path
    joint = (folder / f"{parent.name}.json" for parent in image.parents if parent.name)
    return next((path for path in joint if path.is_file()), None)


def read_masks(path: Path, image: Path, labels: tuple[str, ...]) -> Masks:
    """All masks of one image, cleaned of outliers. :class:`MaskError` says why there are none."""
    readers = {".npy": _from_npy, ".npz": _from_npz, ".json": _from_json}
    try:
        pairs = readers.get(path.suffix, _from_pictures)(path, image, labels)
        frames = set()

        def watched() -> Iterator[tuple[str, Mask]]:
            for name, mask in pairs:
                frames.add(mask.shape)
                yield name, mask

        crops = clean(watched())
    except MaskError:
        raise
    except (OSError, ValueError, EOFError, KeyError, TypeError, AttributeError, SyntaxError,
            zipfile.BadZipFile, zlib.error) as error:  # fmt: skip
        # what numpy, zipfile and Pillow raise on damaged files
        raise MaskError(f"not readable as CXAS masks ({type(error).__name__})") from None
    if len(frames) != 1:
        raise MaskError("its masks have different sizes" if frames else "it holds no mask")
    height, width = frames.pop()
    return Masks(crops, (height, width))


def fits(frame: tuple[int, int], size: tuple[int, int]) -> bool:
    """Whether masks of ``frame`` can belong to an image of ``size`` (height, width)."""
    if frame == (NETWORK_SIDE, NETWORK_SIDE):
        return True
    ratio = (frame[0] / frame[1]) / (size[0] / size[1])
    return abs(ratio - 1) <= ASPECT_TOLERANCE


# --- forms ----------------------------------------------------------------------------------------

Pairs = Iterator[tuple[str, Mask]]


def _from_npy(path: Path, _: Path, labels: tuple[str, ...]) -> Pairs:
    stack = np.load(path, mmap_mode="r", allow_pickle=False)
    shape = _channels(stack.shape, len(labels))
    return zip(labels, (_binary(channel) for channel in stack.reshape(shape)), strict=True)


def _from_npz(path: Path, _: Path, labels: tuple[str, ...]) -> Pairs:
    """The first member, decompressed channel by channel."""
    with zipfile.ZipFile(path) as archive, archive.open(archive.namelist()[0]) as member:
        version = np.lib.format.read_magic(member)
        read_header = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        shape, is_fortran, dtype = read_header(member)
        shape = _channels(shape, len(labels))
        if is_fortran or dtype.hasobject:
            raise MaskError("it is not an array in C order")
        size = shape[1] * shape[2] * dtype.itemsize
        for label in labels:
            content = member.read(size)
            channel = np.frombuffer(content, dtype=dtype).reshape(shape[1:])
            yield label, _binary(channel)


def _channels(shape: tuple[int, ...], number: int) -> tuple[int, int, int]:
    """(number, h, w) of an array with or without a leading batch axis of one image."""
    if len(shape) == 4 and shape[0] == 1:
        shape = shape[1:]
    if len(shape) != 3 or shape[0] != number or 0 in shape:
        raise MaskError(f"an array of shape {shape}, not ({number}, height, width)")
    return shape[0], shape[1], shape[2]


def _binary(channel: NDArray[Any]) -> Mask:
    """A channel as a mask; probabilities are cut at one half."""
    if channel.dtype == bool:
        return np.ascontiguousarray(channel)
    mask: Mask = channel > (0.5 if channel.dtype.kind == "f" else 0)
    return mask


def _from_pictures(path: Path, _: Path, labels: tuple[str, ...]) -> Pairs:
    for label in labels:
        for ending in PICTURES:
            file = path / f"{label}{ending}"
            if file.is_file():
                with Image.open(file) as picture:
                    yield label, np.asarray(picture.convert("L")) > 127


def _from_json(path: Path, image: Path, labels: tuple[str, ...]) -> Pairs:
    annotations = _by_stem(path, path.stat().st_mtime_ns).get(image.stem, [])
    for annotation in annotations:
        channel = annotation["category_id"]
        if not isinstance(channel, int) or not 0 <= channel < len(labels):
            raise MaskError(f"category {channel!r} is no channel of CXAS")
        rle = annotation["segmentation"]
        height, width = rle["size"]
        yield labels[channel], decode(rle["counts"].encode("ascii"), height, width)


@lru_cache(maxsize=1)
def _by_stem(path: Path, _changed: int) -> dict[str, list[dict[str, Any]]]:
    """Annotations of a COCO file by the stem of their image's file name."""
    content = json.loads(path.read_text(encoding="utf-8"))
    stems: dict[Any, str] = {}
    for entry in content["images"]:
        for image in entry if isinstance(entry, list) else [entry]:  # process_file nests it once
            stems[image["id"]] = Path(image["file_name"]).stem
    found: dict[str, list[dict[str, Any]]] = {stem: [] for stem in stems.values()}
    for annotation in content["annotations"]:
        found[stems[annotation["image_id"]]].append(annotation)
    return found

"""Reading one film: DICOM, PNG or JPG to grey values, bright = dense.

A film that cannot be used raises :class:`ImageError` with a reason that goes to the ledger.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pydicom
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

Image.MAX_IMAGE_PIXELS = None  # the limit below is ours and says what to do

MIN_SIDE = 16
"""Pixels; nothing can be localised in a smaller image."""

MAX_PIXELS = 60_000_000
"""Twice what film readers make; larger images are refused before they fill the memory."""

DICOM_ENDINGS = {".dcm", ".dicom", ""}


class ImageError(Exception):
    """The image cannot be used; the text says why and never holds patient data."""


def read_image(path: str | Path) -> NDArray[np.float32]:
    """Return the film at ``path`` as grey values (H, W) in 0..1, bright = dense.

    Handles 8 and 16 bit, RGB(A), palette and CMYK, EXIF rotation, and MONOCHROME1, which is
    inverted. The height and width are those of the pixels as displayed.
    """
    path = Path(path)
    try:
        if path.stat().st_size == 0:
            raise ImageError("the file is empty")
        is_dicom = _has_dicom_preamble(path) or path.suffix.lower() in DICOM_ENDINGS
    except OSError as error:
        raise ImageError(f"cannot open the file: {error.strerror}") from None
    pixels = _read_dicom(path) if is_dicom else _read_picture(path)
    return _normalise(pixels)


def _has_dicom_preamble(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(132)[128:] == b"DICM"


def _read_dicom(path: Path) -> NDArray[np.float32]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data = pydicom.dcmread(path)
            _check_size(int(data.Rows), int(data.Columns))
            pixels = np.asarray(data.pixel_array, dtype=np.float32)
    except ImageError:
        raise
    except Exception as error:
        # pydicom and its decoders raise many kinds of exceptions on broken files
        raise ImageError(f"not a readable DICOM image ({type(error).__name__})") from None
    frames = int(getattr(data, "NumberOfFrames", 1) or 1)
    if frames > 1:
        raise ImageError(f"a DICOM of {frames} frames is not a film")
    padding = getattr(data, "PixelPaddingValue", None)
    if padding is not None:
        pixels = np.where(pixels == float(padding), np.nan, pixels)  # no film there: darkest
    if pixels.ndim == 3:
        pixels = pixels.mean(axis=2)
    inverted = str(getattr(data, "PhotometricInterpretation", "")) == "MONOCHROME1"
    return -pixels if inverted else pixels


def _read_picture(path: Path) -> NDArray[np.float32]:
    try:
        with Image.open(path) as image:
            _check_size(image.height, image.width)
            return _grey(ImageOps.exif_transpose(image))
    except ImageError:
        raise
    except UnidentifiedImageError:
        raise ImageError("not an image of a known format") from None
    except Exception as error:
        # truncated files raise OSError, SyntaxError, struct.error ... by format
        raise ImageError(f"not a readable image ({type(error).__name__})") from None


def _grey(image: Any) -> NDArray[np.float32]:
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        image = image.convert("RGBA").convert("L")
    elif image.mode not in ("L", "I", "F", "I;16", "I;16B", "I;16L"):
        image = image.convert("L")
    return np.asarray(image, dtype=np.float32)


def _check_size(height: int, width: int) -> None:
    if min(height, width) < MIN_SIDE:
        raise ImageError(f"{width} x {height} pixels are too few for a film")
    if height * width > MAX_PIXELS:
        most = MAX_PIXELS // 1_000_000
        raise ImageError(f"{width} x {height} pixels are too many; shrink it below {most} million")


def _normalise(pixels: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scale to 0..1; values that are no numbers count as the darkest."""
    finite = np.isfinite(pixels)
    if not finite.any():
        raise ImageError("no pixel holds a number")
    low = pixels.min(where=finite, initial=np.inf)
    high = pixels.max(where=finite, initial=-np.inf)
    if high == low:
        return np.zeros(pixels.shape, dtype=np.float32)
    scaled = np.where(finite, pixels, low)
    scaled -= low
    scaled /= high - low
    return scaled

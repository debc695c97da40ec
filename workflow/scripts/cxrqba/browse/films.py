"""Films small enough for a page, as data addresses."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from cxrqba.reports.images import ImageError, read_image


@dataclass(frozen=True)
class Thumbnail:
    """A film as shown; ``width`` and ``height`` are those of the original, which boxes refer to."""

    uri: str | None
    width: int
    height: int
    note: str = ""  # why there is no picture


def thumbnail(path: str | Path, side: int, quality: int = 80) -> Thumbnail:
    """The film at ``path`` with the longer side at most ``side`` pixels, as JPEG."""
    try:
        pixels = read_image(path)
    except ImageError as error:
        return Thumbnail(None, 0, 0, str(error))
    height, width = pixels.shape
    image = Image.fromarray(np.round(pixels * 255).astype(np.uint8))
    image.thumbnail((side, side), Image.Resampling.LANCZOS, reducing_gap=3)
    out = io.BytesIO()
    image.save(out, "JPEG", quality=quality, optimize=True)
    return Thumbnail(data_uri(out.getvalue(), "image/jpeg"), width, height)


def data_uri(content: bytes, kind: str) -> str:
    """``content`` as an address that needs no file and no network."""
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"

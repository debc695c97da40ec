"""Drawn pictures that are no chest films: pages, screens, X-rays of other parts of the body."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from scipy import ndimage

Gray = NDArray[np.float32]
WORDS = ("the", "of", "patient", "name", "date", "ward", "page", "summary", "total", "seen")


def page(rng: np.random.Generator, columns: int = 1) -> Gray:
    """A page of typed text, black on white."""
    image = Image.new("L", (850, 1100), 245)
    draw = ImageDraw.Draw(image)
    size = int(rng.integers(12, 22))
    width = 730 // columns
    for column in range(columns):
        y = int(rng.integers(60, 120))
        while y < 1040:
            if rng.random() < 0.12:  # the end of a paragraph
                y += 2 * size
                continue
            line = " ".join(rng.choice(WORDS, 14))
            part = Image.new("L", (width - 20, 2 * size), 245)
            ImageDraw.Draw(part).text((0, 0), line, fill=20, font_size=size)
            image.paste(part, (60 + column * width, y))
            y += int(1.5 * size)
    draw.line((60, 50, 790, 50), fill=60, width=2)
    return _grey(image)


def two_columns(rng: np.random.Generator) -> Gray:
    """A page in two columns."""
    return page(rng, columns=2)


def screen(rng: np.random.Generator) -> Gray:
    """A screen with a bar, a tree at its side, panes and a table."""
    dark = rng.random() < 0.5
    back, ink = (40, 210) if dark else (235, 30)
    image = Image.new("L", (1280, 800), back)
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, 1280, 40), fill=90 if dark else 190)
    draw.rectangle((0, 40, int(rng.integers(150, 300)), 800), fill=60 if dark else 215)
    for row in range(18):
        draw.text((12, 60 + 40 * row), " ".join(rng.choice(WORDS, 2)), fill=ink, font_size=14)
    for _ in range(int(rng.integers(2, 5))):  # panes, often two beside each other
        x, y = int(rng.integers(310, 800)), int(rng.integers(60, 400))
        w, h = int(rng.integers(180, 420)), int(rng.integers(150, 380))
        draw.rectangle((x, y, x + w, y + h), fill=int(rng.integers(0, 255)), outline=ink)
    return _grey(image)


def two_panes(rng: np.random.Generator) -> Gray:
    """Two dark panes side by side on a bright ground, as high as lungs are."""
    image = Image.new("L", (900, 900), int(rng.integers(150, 240)))
    draw = ImageDraw.Draw(image)
    top, bottom = int(rng.integers(80, 200)), int(rng.integers(600, 820))
    inner, outer = int(rng.integers(20, 90)), int(rng.integers(230, 400))
    for sign in (-1, 1):
        ends = sorted((450 + sign * inner, 450 + sign * outer))
        draw.rectangle((ends[0], top, ends[1], bottom), fill=int(rng.integers(10, 90)))
    return _grey(image)


def hand(rng: np.random.Generator) -> Gray:
    """An X-ray of a hand: five rays of bones in soft tissue on black."""
    image = Image.new("L", (800, 1000), 8)
    draw = ImageDraw.Draw(image)
    tissue, bone = int(rng.integers(60, 100)), int(rng.integers(150, 220))
    lean = rng.uniform(-0.1, 0.1)
    draw.ellipse((220, 480, 600, 860), fill=tissue)
    draw.rectangle((310, 780, 510, 1000), fill=tissue)
    rays = [(-0.75, 300), (-0.28, 440), (-0.05, 480), (0.16, 450), (0.38, 370)]
    for angle, length in rays:
        ends = [_along(410, 720, angle + lean, part * length) for part in (0.25, 1.25)]
        draw.line([*ends[0], *ends[1]], fill=tissue, width=78)
        for start, stop in ((0.30, 0.62), (0.66, 0.88), (0.90, 1.06), (1.08, 1.2)):
            bones = [_along(410, 720, angle + lean, part * length) for part in (start, stop)]
            draw.line([*bones[0], *bones[1]], fill=bone, width=int(rng.integers(24, 36)))
    for x in (360, 455):
        draw.line((x, 800, x, 1000), fill=bone, width=50)
    for _ in range(8):
        x, y = int(rng.integers(330, 490)), int(rng.integers(710, 790))
        draw.ellipse((x - 24, y - 20, x + 24, y + 20), fill=bone)
    return _film(image, rng)


def knee(rng: np.random.Generator) -> Gray:
    """An X-ray of a knee, or of both beside each other."""
    image = Image.new("L", (900, 1000), 8)
    draw = ImageDraw.Draw(image)
    tissue, bone = int(rng.integers(60, 110)), int(rng.integers(160, 225))
    for middle in (450,) if rng.random() < 0.5 else (230, 670):
        half = int(rng.integers(130, 190))
        draw.rectangle((middle - half, 0, middle + half, 1000), fill=tissue)
        shaft = half // 3
        draw.rectangle((middle - shaft, 0, middle + shaft, 420), fill=bone)
        draw.ellipse((middle - int(0.8 * half), 340, middle, 500), fill=bone)
        draw.ellipse((middle, 340, middle + int(0.8 * half), 500), fill=bone)
        draw.rounded_rectangle(
            (middle - int(0.75 * half), 515, middle + int(0.75 * half), 620), 30, fill=bone
        )
        draw.rectangle((middle - shaft, 600, middle + shaft, 1000), fill=bone)
        draw.rectangle((middle + shaft + 12, 620, middle + shaft + 40, 1000), fill=bone)
    return _film(image, rng)


def pelvis(rng: np.random.Generator) -> Gray:
    """An X-ray of a pelvis: two wings of bone, a spine between, dark holes below."""
    image = Image.new("L", (1000, 850), int(rng.integers(70, 110)))
    draw = ImageDraw.Draw(image)
    bone, dark = int(rng.integers(170, 220)), int(rng.integers(40, 70))
    for sign in (-1, 1):
        box = sorted((500 + sign * 90, 500 + sign * int(rng.integers(360, 420))))
        draw.ellipse((box[0], 120, box[1], 520), fill=bone)
        hole = sorted((500 + sign * 60, 500 + sign * 170))
        draw.ellipse((hole[0], 560, hole[1], 700), fill=dark)
        draw.line((500 + sign * 280, 540, 500 + sign * 330, 850), fill=bone, width=70)
    draw.rectangle((460, 0, 540, 480), fill=bone)
    for _ in range(10):  # gas of the bowel
        x, y = int(rng.integers(300, 700)), int(rng.integers(20, 420))
        draw.ellipse((x - 30, y - 20, x + 30, y + 20), fill=dark)
    return _film(image, rng)


def skull(rng: np.random.Generator) -> Gray:
    """An X-ray of a skull from the front: a bright ring, two dark orbits."""
    image = Image.new("L", (800, 1000), 8)
    draw = ImageDraw.Draw(image)
    bone, inside = int(rng.integers(180, 230)), int(rng.integers(100, 140))
    draw.ellipse((120, 80, 680, 820), fill=bone)
    draw.ellipse((150, 110, 650, 790), fill=inside)
    for sign in (-1, 1):
        box = sorted((400 + sign * 50, 400 + sign * int(rng.integers(180, 215))))
        draw.ellipse((box[0], 420, box[1], int(rng.integers(540, 600))), fill=50)
    draw.rectangle((260, 740, 540, 900), fill=bone)
    draw.polygon([(400, 540), (350, 680), (450, 680)], fill=60)
    return _film(image, rng)


PICTURES: dict[str, Callable[[np.random.Generator], Gray]] = {
    f.__name__: f for f in (page, two_columns, screen, two_panes, hand, knee, pelvis, skull)
}


def _along(x: float, y: float, angle: float, length: float) -> tuple[float, float]:
    return x + length * np.sin(angle), y - length * np.cos(angle)


def _film(image: Image.Image, rng: np.random.Generator) -> Gray:
    """Soft edges, some unevenness and grain, as on a film."""
    grey = ndimage.gaussian_filter(np.asarray(image, dtype=np.float32) / 255, 3)
    ramp = np.linspace(0, rng.uniform(0, 0.12), grey.shape[0], dtype=np.float32)[:, None]
    return np.clip(grey + ramp + rng.normal(0, 0.02, grey.shape), 0, 1).astype(np.float32)


def _grey(image: Image.Image) -> Gray:
    return np.asarray(image, dtype=np.float32) / 255

"""Time and size of localisation: 159 masks of a film to boxes and run lengths; the atlas.

    .venv/bin/python tests/timing/bench_regions.py

Prints processor time a film (the best of some runs) and the size of its masks in the table.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from cxrqba.reference.tables import load_regions
from cxrqba.regions.atlas import find_anatomy
from cxrqba.regions.crops import Mask, clean
from cxrqba.regions.cxas_files import load_labels
from cxrqba.regions.engine import Anatomy, localize
from cxrqba.regions.masks import encode
from cxrqba.regions.phantom import Phantom
from cxrqba.regions.phantom_anatomy import build_chest
from cxrqba.regions.phantom_film import draw
from cxrqba.schema import MASKS
from cxrqba.tables import frame, write_table

REFERENCE = Path(__file__).parents[2] / "resources" / "reference"
FRAME = (1500, 1250)  # half of a film of 3000 x 2500 pixels


def ragged_masks() -> dict[str, Mask]:
    """159 masks as a network of 512 x 512 pixels gives them: parts of organs, some with specks."""
    chest = build_chest("frontal", False, 2 * FRAME[0], 2 * FRAME[1], 1, ())
    organs = [_resize(mask, (512, 512)) for mask in chest.masks.values()]
    rng = np.random.default_rng(0)
    rows, columns = np.mgrid[0:512, 0:512]
    masks = {}
    for number, label in enumerate(load_labels(REFERENCE)):
        organ = organs[number % len(organs)]
        y, x = np.argwhere(organ)[rng.integers(organ.sum())]
        height, width = rng.uniform(15, 160, 2)
        mask = organ & (np.hypot((rows - y) / height, (columns - x) / width) < 1)
        edge = mask ^ np.roll(mask, 1, axis=0)
        mask ^= edge & (rng.random((512, 512)) < 0.05)
        mask[2:4, 2:4] |= number % 5 == 0
        masks[label] = np.ascontiguousarray(_resize(mask, FRAME))
    return masks


def _resize(mask: Mask, shape: tuple[int, int]) -> Mask:
    rows = np.arange(shape[0]) * mask.shape[0] // shape[0]
    columns = np.arange(shape[1]) * mask.shape[1] // shape[1]
    resized: Mask = mask[np.ix_(rows, columns)]
    return resized


def best(work: Callable[[], object], runs: int = 8) -> float:
    """Milliseconds of processor time of the fastest run."""
    times = []
    for _ in range(runs):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return 1000 * min(times)


def main() -> None:
    regions, masks = load_regions(REFERENCE), ragged_masks()
    crops = clean(masks.items())
    anatomy = Anatomy("frontal", crops, FRAME)
    size = (2 * FRAME[0], 2 * FRAME[1])
    print(f"{len(crops)} masks without outliers: {best(lambda: clean(masks.items())):.0f} ms")
    boxes = best(lambda: localize(anatomy, regions, size, 25))
    print(f"{len(localize(anatomy, regions, size, 25))} boxes: {boxes:.0f} ms")
    codes = {name: encode(crop, FRAME) for name, crop in crops.items()}
    coding = best(lambda: [encode(crop, FRAME) for crop in crops.values()])
    ids = {"study_id": "s1", "image_id": "d1", "height": FRAME[0], "width": FRAME[1]}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "masks.parquet"
        rows = [{**ids, "mask_id": name, "rle": rle} for name, rle in codes.items()]
        write_table(frame(rows, MASKS), path, MASKS)
        stored = path.stat().st_size
    raw = sum(map(len, codes.values()))
    print(f"run lengths: {coding:.0f} ms, {raw / 1000:.0f} kB, stored {stored / 1000:.0f} kB")
    for view, position in (("frontal", "PA"), ("lateral", "LATERAL")):
        film = Phantom("90000001", "90000002", "x", position, 1024, 1024, 5)
        pixels = draw(film, film.chest()).astype(np.float32) / 255
        spent = best(partial(find_anatomy, pixels, view))
        print(f"atlas, {view}, 1024 pixels: {spent:.0f} ms")


if __name__ == "__main__":
    main()

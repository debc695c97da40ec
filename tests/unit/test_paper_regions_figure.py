"""The figure of the worst images: which they are, and that odd ones do not stop it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from PIL import Image

from cxrqba.paper import style
from cxrqba.paper.regions_figure import SHOWN, regions_figure, worst_images
from cxrqba.schema import IMAGE_STATUS, REGION_OVERLAPS
from cxrqba.tables import frame, write_table


def overlap(image: str, structure: str, iou: float) -> dict[str, Any]:
    return {
        "reference": "films",
        "image_id": image,
        "structure": structure,
        "iou": iou,
        "true_box": [10.0, 10.0, 60.0, 80.0],
        "found_boxes": [[12.0, 10.0, 60.0, 80.0]] if iou else [],
    }


def tables(folder: Path, rows: list[dict[str, Any]]) -> tuple[Path, Path]:
    overlaps, status = folder / "overlaps.parquet", folder / "status.parquet"
    write_table(frame(rows, REGION_OVERLAPS), overlaps, REGION_OVERLAPS)
    states = []
    for image in sorted({r["image_id"] for r in rows}):
        path = folder / f"{image}.png"
        if image != "gone":
            Image.fromarray(np.tile(np.arange(100, dtype=np.uint8), (120, 1))).save(path)
        states.append({"study_id": "s1", "image_id": image, "path": str(path), "status": "ok"})
    write_table(frame(states, IMAGE_STATUS), status, IMAGE_STATUS)
    return overlaps, status


def test_the_worst_images_come_first_and_only_they(tmp_path: Path) -> None:
    rows = [overlap(f"i{n:02}", s, n / 20) for n in range(15) for s in ("heart", "left lung")]
    worst = worst_images(*_listed(tables(tmp_path, rows)))
    assert worst["image_id"].unique(maintain_order=True).to_list() == [
        f"i{n:02}" for n in range(SHOWN)
    ]
    assert worst.filter(pl.col("image_id") == "i01")["image_iou"].to_list() == [0.05, 0.05]


def test_misses_and_lost_files_are_said_in_the_figure(tmp_path: Path) -> None:
    rows = [overlap("a", "heart", 0.0), overlap("a", "left lung", 0.9), overlap("gone", "heart", 0)]
    figure = regions_figure(worst_images(*_listed(tables(tmp_path, rows))), "test")
    lost, found = figure.axes
    assert lost.get_xlabel() == "not found: all"
    assert len(lost.texts) == 1
    assert found.get_xlabel() == "not found: heart"
    assert len(found.patches) == 3  # two true boxes and a found one
    style.save(figure, tmp_path / "f.pdf", tmp_path / "f.png")
    assert (tmp_path / "f.png").stat().st_size > 1000


def test_without_known_anatomy_the_figure_says_so() -> None:
    empty = pl.DataFrame(schema=REGION_OVERLAPS)
    assert "no data" in regions_figure(empty, "test").texts[-1].get_text()


def _listed(paths: tuple[Path, Path]) -> tuple[Path, list[Path]]:
    return paths[0], [paths[1]]

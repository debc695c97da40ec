"""Reading a release: lazy tables, filters by grade, tag and view, samples for training.

Nothing is read before it is asked for; joins stay lazy, so that 42 million questions need no more
memory than the rows one keeps. Torch is needed only for tensors.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from PIL import Image

from cxrqba.errors import UserError, nearest
from cxrqba.release.metadata import ANSWER, KEYS, QUESTION, RATED, TAGS

Array = np.ndarray[Any, Any]


class Release:
    """``Release("results/demo/release")``: the folder as ``snakemake release`` wrote it."""

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        if not (self.folder / "metadata").is_dir():
            raise UserError(f"{self.folder}: no release here; `snakemake release` makes one")

    def table(self, name: str) -> pl.LazyFrame:
        """One of the seven metadata tables, lazily."""
        if name not in KEYS:
            raise UserError(f"no metadata table '{name}'{nearest(name, KEYS)}")
        return pl.scan_parquet(self.folder / "metadata" / f"{name}_metadata.parquet")

    def questions(
        self,
        *,
        grade: str | None = None,
        tags: Sequence[str] = (),
        view: Literal["frontal", "lateral"] | None = None,
        split: str | None = None,
        types: Sequence[str] = (),
    ) -> pl.LazyFrame:
        """Questions, lazily: of a rating or better, about all ``tags``, with boxes in a view.

        With ``view="frontal"`` the rating that leaves lateral images out counts. ``tags`` are
        names of findings, regions, categories or subcategories of any answer part.
        """
        found = self.table("question")
        if grade is not None:
            if grade not in RATED:
                raise UserError(f"no rating '{grade}'{nearest(grade, RATED)}; D to A++")
            column = "frontal_rating" if view == "frontal" else "rating"
            found = found.filter(pl.col(column) >= RATED[grade])
        if split is not None:
            found = found.filter(pl.col("split") == split)
        if types:
            found = found.filter(pl.col("question_type").is_in(list(types)))
        for tag in tags:
            bears = pl.any_horizontal([pl.col(c).list.contains(tag) for c in TAGS])
            found = _among(found, self.table("answer").filter(bears))
        if view is not None:
            of_view = self.table("image").filter(pl.col("img.view_position") == view)
            shown = self.table("question_image").join(
                of_view.select("study_id", "image_id"), on=["study_id", "image_id"], how="semi"
            )
            found = _among(found, shown)
        return found

    def answers(self, questions: pl.LazyFrame) -> pl.LazyFrame:
        """Answer parts of some questions, lazily."""
        return _among(self.table("answer"), questions)

    def boxes(self, questions: pl.LazyFrame) -> pl.LazyFrame:
        """Images of answer parts of some questions with how well they are localised, lazily."""
        on = [k for k in ANSWER if k != "patient_id"]
        parts = self.answers(questions).select(*on, "answer_type", "laterality", "positiveness")
        return _among(self.table("answer_image"), questions).join(parts, on=on, how="left")

    def rows(self, questions: pl.LazyFrame) -> pl.LazyFrame:
        """Questions with texts and nested answer parts, lazily."""
        return _among(pl.scan_parquet(sorted((self.folder / "data").glob("*.parquet"))), questions)

    def samples(
        self,
        questions: pl.LazyFrame,
        image_path: Callable[[dict[str, Any]], str | Path],
        *,
        size: int = 224,
        as_torch: bool = True,
    ) -> Samples:
        """Samples for training: ids are held, rows and images are read one at a time.

        ``image_path`` gives the place of an image from its row of the image table, for a release
        holds no images.
        """
        return Samples(self, questions, image_path, size, as_torch)


class Samples:
    """A sequence that torch's loaders take as a dataset; one item a question and frontal image."""

    def __init__(
        self,
        release: Release,
        questions: pl.LazyFrame,
        image_path: Callable[[dict[str, Any]], str | Path],
        size: int,
        as_torch: bool,
    ):
        images = release.table("image").filter(pl.col("img.view_position") == "frontal")
        self._index = (
            questions.select("study_id", "question_id")
            .join(images.select("study_id", "image_id"), on="study_id", how="inner")
            .sort("study_id", "question_id", "image_id")
            .collect()
        )
        self._release, self._path, self._size = release, image_path, size
        self._tensor = _tensor() if as_torch else lambda array: array

    def __len__(self) -> int:
        return self._index.height

    def __getitem__(self, place: int) -> dict[str, Any]:
        """image (1, size, size) float32 in 0..1; question, answer, ids."""
        study_id, question_id, image_id = self._index.row(place)
        same = pl.col("study_id") == study_id
        asked = pl.DataFrame({"study_id": [study_id], "question_id": [question_id]}).lazy()
        row = self._release.rows(asked).filter(same).collect().row(0, named=True)
        images = self._release.table("image").filter(same & (pl.col("image_id") == image_id))
        about = images.collect().row(0, named=True)
        texts = [p["text"] for p in row["answers"] if p["text"]]
        return {
            "image": self._tensor(_pixels(Path(self._path(about)), self._size)),
            "question": row["question"],
            "answer": " ".join(texts),
            "rating": row["rating"],
            "study_id": study_id,
            "question_id": question_id,
            "image_id": image_id,
        }


def _among(table: pl.LazyFrame, kept: pl.LazyFrame) -> pl.LazyFrame:
    on = [k for k in QUESTION if k != "patient_id"]
    return table.join(kept.select(on).unique(), on=on, how="semi")


def _pixels(path: Path, size: int) -> Array:
    try:
        with Image.open(path) as image:
            grey = image.convert("L").resize((size, size))
    except OSError as error:
        raise UserError(f"{path}: no image that can be read ({type(error).__name__})") from None
    return (np.asarray(grey, dtype=np.float32) / 255)[None]


def _tensor() -> Callable[[Array], Any]:
    try:
        torch = importlib.import_module("torch")
    except ModuleNotFoundError:
        raise UserError(
            "samples as tensors need torch: install it, or pass as_torch=False for arrays"
        ) from None
    return lambda array: torch.from_numpy(array.copy())

"""Backend ``sentence_transformers`` of entity mapping: cosine of text embeddings (Sec. E.1.3).

The paper's choice, with BioLORD-2023-C as the model; any sentence-transformers model in a local
folder will do. Nothing is downloaded: the hub is switched off before the library is loaded.
General models know no abbreviations ("ETT"), so strings arrive with these expanded.
"""

from __future__ import annotations

import hashlib
import importlib
import os
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cxrqba.config import WEIGHT_SUFFIXES
from cxrqba.errors import UserError
from cxrqba.mapping.similarity import Form

DIGITS = 5
"""Cosines are rounded: the same text in another batch differs in the last bits."""


class SentenceBackend:
    """A sentence-transformers model loaded from a local folder."""

    name = "sentence_transformers"

    def __init__(self, folder: str, device: str, batch_size: int, dimension: int | None):
        self._folder = Path(folder)
        self._batch_size = batch_size
        self._model = _load(self._folder, device)
        self._size = self.embed(["heart"]).shape[1]
        if dimension is not None and self._size != dimension:
            raise UserError(
                f"embedding.model {self._folder} gives vectors of {self._size} values, not the "
                f"{dimension} of embedding.dimension: another model than intended?"
            )

    def index(self, candidates: Sequence[Form]) -> EmbeddingIndex:
        """Index of candidates."""
        return EmbeddingIndex(candidates, self)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Unit vectors (texts, values) of float64."""
        vectors = self._model.encode(
            list(texts),
            batch_size=self._batch_size,
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        found = np.asarray(vectors, dtype=np.float64)
        if not np.isfinite(found).all():
            raise UserError(
                f"embedding.model {self._folder} gives values that are no numbers: damaged weights?"
            )
        return found

    def describe(self) -> dict[str, Any]:
        """The model's folder name, a checksum of its weights and the versions that ran it."""
        return {
            "model": self._folder.name,
            "weights_sha256": _checksum(self._folder),
            "dimension": self._size,
            "sentence_transformers": version("sentence-transformers"),
            "torch": version("torch"),
        }


class EmbeddingIndex:
    """Embeddings of all candidates of one kind."""

    def __init__(self, candidates: Sequence[Form], backend: SentenceBackend):
        self._backend = backend
        self._matrix = backend.embed([c.text for c in candidates]).T

    def scores(self, forms: Sequence[Form]) -> NDArray[np.float64]:
        """Cosines (forms, candidates)."""
        if not forms:
            return np.zeros((0, self._matrix.shape[1]))
        cosines = self._backend.embed([f.text for f in forms]) @ self._matrix
        return np.asarray(np.round(cosines, DIGITS))


def _load(folder: Path, device: str) -> Any:
    """The model in ``folder``; :class:`UserError` says what is missing."""
    if not folder.is_dir():
        raise UserError(
            f"embedding.model {folder}: no such folder; put a sentence-transformers model there "
            "(docs/mapping.md says which), nothing is downloaded at run time"
        )
    os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
    try:
        library: Any = importlib.import_module("sentence_transformers")
    except ImportError:
        raise UserError(
            "embedding.backend sentence_transformers needs a package that is not installed: "
            "pip install 'cxr-qba[embedding]', or run with --sdm conda "
            "(workflow/envs/embedding.yaml), or take embedding.backend lexical"
        ) from None
    try:
        return library.SentenceTransformer(str(folder), device=device, local_files_only=True)
    except Exception as error:  # the library raises whatever its parts raise
        raise UserError(
            f"embedding.model {folder} cannot be loaded on device '{device}' "
            f"({type(error).__name__}): is it the folder of a sentence-transformers model "
            "(config.json, tokenizer and weights), and is the device there?"
        ) from None


def _checksum(folder: Path) -> str:
    """SHA-256 over the names and contents of the weight files."""
    digest = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.suffix in WEIGHT_SUFFIXES):
        digest.update(path.relative_to(folder).as_posix().encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()

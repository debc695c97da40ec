"""What a backend of entity mapping has to do: tell how near strings are to candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Form:
    """A mention or candidate ready for comparison, and its words of what: no place, no region."""

    text: str
    head: str


class Index(Protocol):
    """Candidates of one kind of tag."""

    def scores(self, forms: Sequence[Form]) -> NDArray[np.float64]:
        """Cosines (forms, candidates) within [-1, 1]; a form's row is the same in any company."""


class Backend(Protocol):
    """A way to compare strings: ``lexical`` or ``sentence_transformers``."""

    name: str

    def index(self, candidates: Sequence[Form]) -> Index:
        """Index of candidates."""

    def describe(self) -> dict[str, Any]:
        """What a decision depends on beyond the reference: model, its checksum, versions."""

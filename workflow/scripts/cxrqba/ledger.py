"""The ledger: what left the pipeline, where and why. Nothing is lost in silence."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from cxrqba.schema import LEDGER
from cxrqba.tables import frame


@dataclass
class Ledger:
    """Collects the ledger rows of one stage of one shard.

    ``detail`` names file, row or key and what to do; it never holds report text.
    """

    stage: str
    rows: list[dict[str, str | None]] = field(default_factory=list)

    def study(self, study_id: str, reason: str, detail: str) -> None:
        """The study leaves the pipeline at this stage."""
        self._add("study", study_id, None, reason, detail)

    def image(self, study_id: str, image_id: str, reason: str, detail: str) -> None:
        """One image is not used; its study goes on."""
        self._add("image", study_id, image_id, reason, detail)

    def item(self, study_id: str, item_id: str | None, reason: str, detail: str) -> None:
        """One sentence, observation, question ... is dropped; its study goes on."""
        self._add("item", study_id, item_id, reason, detail)

    def _add(
        self, scope: str, study_id: str, item_id: str | None, reason: str, detail: str
    ) -> None:
        self.rows.append(
            {
                "stage": self.stage,
                "scope": scope,
                "study_id": study_id,
                "item_id": item_id,
                "reason": reason,
                "detail": detail,
            }
        )

    def table(self) -> pl.DataFrame:
        """All rows as a table, in a stable order."""
        return frame(self.rows, LEDGER).sort("study_id", "scope", "item_id", "reason", "detail")

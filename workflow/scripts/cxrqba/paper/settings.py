"""Settings that every table, figure and summary takes."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from cxrqba.errors import UserError


class PaperSettings(BaseModel):
    """``title``: the dataset's name in headings; ``open_first``: the file the summary points to."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    title: str
    open_first: str | None = None


def paper_settings(raw: dict[str, Any]) -> PaperSettings:
    """Validate ``--settings``; :class:`UserError` names the key that is missing or wrong."""
    try:
        return PaperSettings.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(p) for p in first["loc"])
        raise UserError(f"--settings: key '{key}': {first['msg'].lower()}") from None

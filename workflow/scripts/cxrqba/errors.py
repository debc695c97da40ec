"""Errors that a user can act on."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UserError(Exception):
    """Wrong input or configuration: one line naming file, row or key, and what to do.

    Scripts print the message without a traceback and exit with status 1.
    """


def nearest(name: str, known: Iterable[str]) -> str:
    """Return ``" (did you mean 'x'?)"`` for the closest of ``known``, or an empty string."""
    match = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f" (did you mean '{match[0]}'?)" if match else ""

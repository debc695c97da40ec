"""Cue phrases of ``probability.yaml``, written as small patterns.

``(is|are) (now |)(thought|felt) unlikely`` stands for the eight phrases it spells out, so that one
line covers what reports combine freely. Groups hold no groups.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from cxrqba.errors import UserError
from cxrqba.reference.cells import check_keys
from cxrqba.reference.columns import CUE_KEYS

_GROUP = re.compile(r"\(([^()]*)\)")
POSITIONS = ("before", "after")


@dataclass(frozen=True, slots=True)
class ProbabilityCue:
    """A phrase before or after a finding that sets its probability level."""

    text: str
    level: str
    position: str  # before, after


def load_cues(
    rows: Iterable[Mapping[str, Any]], levels: Mapping[str, object], where: str
) -> tuple[ProbabilityCue, ...]:
    """The cues of ``rows``, each phrase once; of a phrase given twice the first row counts."""
    found: dict[tuple[str, str], ProbabilityCue] = {}
    for row in rows:
        check_keys(row, CUE_KEYS, f"{where}, cues")
        pattern, level, position = str(row["cue"]), row["level"], row["position"]
        if level not in levels or position not in POSITIONS:
            raise UserError(
                f"{where}: cue '{pattern}': level '{level}' must be one of {', '.join(levels)}, "
                f"position '{position}' before or after"
            )
        for phrase in phrases(pattern, where):
            found.setdefault((phrase, position), ProbabilityCue(phrase, level, position))
    return tuple(found.values())


def phrases(pattern: str, where: str) -> list[str]:
    """All phrases a pattern spells out, white space made single spaces."""
    rest = _GROUP.sub("", pattern)
    if "(" in rest or ")" in rest or "|" in rest:
        raise UserError(f"{where}: '{pattern}': write choices as (one|other), without nesting")
    parts = _GROUP.split(pattern)
    choices = [part.split("|") if i % 2 else [part] for i, part in enumerate(parts)]
    spelled = (" ".join("".join(chosen).split()) for chosen in itertools.product(*choices))
    return list(dict.fromkeys(phrase for phrase in spelled if phrase))

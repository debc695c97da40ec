"""What a judge is and says: a view in, levels out (paper Sec. 3.3, E.3).

Whoever judges, by rules or by a model, is given a :class:`~cxrqba.judge.prompts.View` and nothing
else: the texts that Tab. 12 shows for a criterion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from cxrqba.judge.prompts import View


@dataclass(frozen=True, slots=True)
class Verdict:
    """Levels in the order of the parts (one for a whole answer or question), or why there is none.

    ``judge`` names backend and version of whoever gave the levels.
    """

    levels: tuple[str, ...] | None
    status: str  # ok, repaired, or why there is no level
    judge: str


class Judge(Protocol):
    """Judges views."""

    def judge(self, shown: View) -> Verdict:
        """The verdict on one view; raises nothing for odd texts."""

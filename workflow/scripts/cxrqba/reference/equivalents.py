"""Near equivalents: what else is left open by something present, in doubt or not understood.

Reports use "infiltrate", "consolidation" and "pneumonia" for one another, and a film shows the foot
of a lung and an effusion in one place; where one is spoken of, silence denies none of the others
(default negative observations). The groups stand in ``equivalents.yaml``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from cxrqba.reference.cells import known, read_keyed
from cxrqba.reference.columns import EQUIVALENT_KEYS
from cxrqba.reference.tables import Reference

FILE = "equivalents.yaml"


@dataclass(frozen=True, slots=True)
class Equivalents:
    """Groups of names that stand for one another."""

    findings: tuple[frozenset[str], ...]
    regions: tuple[frozenset[str], ...]
    open_all: frozenset[str]  # findings that leave every finding open
    open_devices: frozenset[str]  # findings that leave every device open


def load_equivalents(reference: Reference) -> Equivalents:
    """Groups of ``equivalents.yaml``; :class:`UserError` names a finding or region not known."""
    path = reference.folder / FILE
    content = read_keyed(path, EQUIVALENT_KEYS)
    findings, regions = reference.findings, reference.regions

    def names(group: Iterable[str], key: str, table: Collection[str]) -> frozenset[str]:
        return frozenset(known("|".join(group), table, f"{path}, {key}"))

    return Equivalents(
        tuple(names(group, "findings", findings) for group in content["findings"]),
        tuple(names(group, "regions", regions) for group in content["regions"]),
        names(content["open_all"], "open_all", findings),
        names(content["open_devices"], "open_devices", findings),
    )

"""The rules judge's own words: findings, regions, groups (paper Sec. 3.3).

A judge that looked words up in the tables the extraction reads would repeat its mistakes. These
tables were written for the judge alone, from general knowledge of chest radiology: they know fewer
names, put sides nowhere (the text around a word gives them) and say nothing of tags or identifiers.
A word they lack is no error: texts are then compared by their words.

- ``findings.csv``: name, wider findings, groups, whether a side may belong to it (yes, no, or
  diffuse: as a rule both), regions it is expected in (the first is its home), findings it goes
  with, phrases that mean it;
- ``regions.csv``: name, the regions around it, findings that "it is normal" denies, phrases;
- ``groups.csv``: groups of findings that questions ask for, their kind, phrases.

Lists inside a cell are separated by ``|``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from cxrqba.errors import UserError
from cxrqba.reference.cells import Rows, known, one_of, read_rows, split

KINDS = ("abnormal", "device", "surgery", "technical")
WHOLE = "thorax"
"""The region that stands for the whole study."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding, disease or device as the judge knows it."""

    name: str
    parents: tuple[str, ...]
    groups: tuple[str, ...]
    kind: str  # one of KINDS, that of its first group
    sided: bool
    diffuse: bool  # as a rule on both sides: "bilateral" adds nothing
    regions: tuple[str, ...]
    links: tuple[str, ...]
    phrases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Region:
    """A place in the chest, without a side."""

    name: str
    parents: tuple[str, ...]
    denies: tuple[str, ...]
    phrases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """All words of the judge, by name."""

    findings: Mapping[str, Finding]
    regions: Mapping[str, Region]
    groups: Mapping[str, tuple[str, ...]]
    """group -> phrases"""


def load_vocabulary(folder: str | Path) -> Vocabulary:
    """Read and check the three tables; :class:`UserError` names file and line of a mistake."""
    folder = Path(folder)
    groups = read_rows(folder / "groups.csv", ("name", "kind", "phrases"))
    regions = read_rows(folder / "regions.csv", ("name", "parents", "normal_denies", "phrases"))
    columns = ("name", "parents", "groups", "sided", "regions", "links", "phrases")
    findings = read_rows(folder / "findings.csv", columns)
    kinds = {
        row["name"]: one_of(row["kind"], KINDS, f"{folder}/groups.csv, line {line}", "kind")
        for line, row in groups
    }
    finding_names = _names(findings, folder / "findings.csv")
    region_names = _names(regions, folder / "regions.csv")
    vocabulary = Vocabulary(
        {
            row["name"]: _finding(
                row, finding_names, region_names, kinds, f"{folder}/findings.csv, line {line}"
            )
            for line, row in findings
        },
        {
            row["name"]: Region(
                row["name"],
                known(row["parents"], region_names, f"{folder}/regions.csv, line {line}"),
                known(row["normal_denies"], finding_names, f"{folder}/regions.csv, line {line}"),
                split(row["phrases"]),
            )
            for line, row in regions
        },
        {row["name"]: split(row["phrases"]) for _, row in groups},
    )
    ancestors({n: f.parents for n, f in vocabulary.findings.items()}, f"{folder}/findings.csv")
    ancestors({n: r.parents for n, r in vocabulary.regions.items()}, f"{folder}/regions.csv")
    return vocabulary


def ancestors(
    parents: Mapping[str, Iterable[str]], where: str = "parents"
) -> dict[str, frozenset[str]]:
    """name -> all names above it; a circle is a :class:`UserError`."""
    found: dict[str, frozenset[str]] = {}

    def above(name: str, path: tuple[str, ...]) -> frozenset[str]:
        if name in path:
            raise UserError(f"{where}: '{name}' is above itself: {' > '.join((*path, name))}")
        if name not in found:
            direct = frozenset(parents[name])
            found[name] = direct.union(*(above(p, (*path, name)) for p in direct))
        return found[name]

    for name in parents:
        above(name, ())
    return found


def _finding(
    row: Mapping[str, str],
    findings: frozenset[str],
    regions: frozenset[str],
    kinds: Mapping[str, str],
    where: str,
) -> Finding:
    groups = known(row["groups"], kinds, where)
    if not groups:
        raise UserError(f"{where}: no group; every finding belongs to one of groups.csv")
    return Finding(
        row["name"],
        known(row["parents"], findings, where),
        groups,
        kinds[groups[0]],
        one_of(row["sided"], ("yes", "no", "diffuse"), where, "sided") != "no",
        row["sided"] == "diffuse",
        known(row["regions"], regions, where),
        known(row["links"], findings, where),
        split(row["phrases"]),
    )


def _names(rows: Rows, path: Path) -> frozenset[str]:
    """The names of a table, each of which stands there once."""
    names: set[str] = set()
    for line, row in rows:
        if row["name"] in names:
            raise UserError(f"{path}, line {line}: '{row['name']}' occurs twice")
        names.add(row["name"])
    return frozenset(names)

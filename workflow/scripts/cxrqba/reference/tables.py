"""Loading and checking ``resources/reference/``: plain tables a radiologist can edit.

Findings and regions are known by their *name* everywhere in the pipeline (paper Sec. D.1); the
ids of the CSV files only link rows to each other. A list inside a cell is separated by ``|``.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import yaml

from cxrqba.errors import UserError, nearest

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times faster where libyaml is there


@dataclass(frozen=True, slots=True)
class Finding:
    """A radiological finding, disease or device; relatives are names."""

    name: str
    categories: tuple[str, ...]
    subcategories: tuple[str, ...]
    parents: tuple[str, ...]
    polarity: str  # abnormal, device, technical, postsurgical, normal
    laterality: str  # sided, bilateral_default, midline, none
    default_regions: tuple[str, ...]
    modifiers: tuple[str, ...]
    indicative_of: tuple[str, ...]
    synonyms: tuple[str, ...]
    tier: int
    key_finding: bool
    radiologist_checked: bool

    @property
    def is_device(self) -> bool:
        """Whether this is a device, tube or line."""
        return self.polarity == "device"


@dataclass(frozen=True, slots=True)
class Region:
    """An anatomical region; relatives are names."""

    name: str
    group: str
    laterality: str  # left, right, bilateral, midline, unknown
    left: str | None
    right: str | None
    bilateral: str | None
    parents: tuple[str, ...]  # first: the tree parent
    localized: bool
    rule: str  # cxas(..), imagenome(..), bilateral(a;b), superbox(..), intersection(..), none
    cxas_label: str | None
    imagenome_bbox: str | None
    fallbacks: tuple[str, ...]
    lateral_view: str  # yes, partial, no
    key_region: bool
    synonyms: tuple[str, ...]
    radiologist_checked: bool


@dataclass(frozen=True, slots=True)
class Value:
    """A value with synonyms: a modifier (``kind`` is its type) or a change (``kind`` "change")."""

    kind: str
    name: str
    synonyms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProbabilityLevel:
    """A level of probability and what certainty and positiveness follow from it."""

    name: str
    certainty: str
    positiveness: str


@dataclass(frozen=True, slots=True)
class ProbabilityCue:
    """A phrase before or after a finding that sets its probability level."""

    text: str
    level: str
    position: str  # before, after


@dataclass(frozen=True, slots=True)
class Composition:
    """A finding that a structure and an attribute make up ("heart" + "enlarged")."""

    finding: str
    structures: tuple[str, ...]
    attributes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Structure:
    """A structure that can be called normal, and the findings (names) which that denies."""

    names: tuple[str, ...]
    region: str
    predicates: tuple[str, ...]  # phrases: "normal", "clear", "within normal limits", ...
    negates: tuple[str, ...]


@dataclass(frozen=True)
class Reference:
    """All reference definitions."""

    folder: Path
    findings: dict[str, Finding]
    regions: dict[str, Region]
    modifiers: tuple[Value, ...]
    changes: tuple[Value, ...]
    levels: dict[str, ProbabilityLevel]
    cues: tuple[ProbabilityCue, ...]
    scope_terminators: tuple[str, ...]
    pseudo_negations: tuple[str, ...]
    non_assertions: tuple[str, ...]  # what follows is asked for or recalled, not described
    absences: tuple[str, ...]  # negative words that turn another negative around
    compositions: tuple[Composition, ...]
    structures: tuple[Structure, ...]
    sections: dict[str, Any]  # types, headers, misspellings as in sections.yaml
    laterality: dict[str, Any]
    devices: dict[str, Any]
    abbreviations: dict[str, str]
    normality: dict[str, Any]
    labels: dict[str, dict[str, dict[str, Any]]]
    """data set -> label -> {"exact": names, "implied": names, "relation": str}"""

    @cached_property
    def finding_ancestors(self) -> dict[str, tuple[str, ...]]:
        """Finding name -> all ancestors, nearest first."""
        return {n: _ancestors(n, lambda x: self.findings[x].parents) for n in self.findings}

    @cached_property
    def region_ancestors(self) -> dict[str, tuple[str, ...]]:
        """Region name -> all ancestors, nearest first."""
        return {n: _ancestors(n, lambda x: self.regions[x].parents) for n in self.regions}

    @cached_property
    def finding_children(self) -> dict[str, tuple[str, ...]]:
        """Finding name -> direct children."""
        return _children(self.findings, lambda n: self.findings[n].parents)

    @cached_property
    def region_children(self) -> dict[str, tuple[str, ...]]:
        """Region name -> direct children."""
        return _children(self.regions, lambda n: self.regions[n].parents)

    @cached_property
    def localized_regions(self) -> tuple[str, ...]:
        """Names of the regions that can have boxes (257)."""
        return tuple(n for n, r in self.regions.items() if r.localized)


def _ancestors(name: str, parents: Any) -> tuple[str, ...]:
    found: dict[str, None] = {}
    level = list(parents(name))
    while level:
        found.update(dict.fromkeys(level))
        level = [p for n in level for p in parents(n) if p not in found]
    return tuple(found)


def _children(names: Iterable[str], parents: Any) -> dict[str, tuple[str, ...]]:
    children: dict[str, list[str]] = {n: [] for n in names}
    for name in children:
        for parent in parents(name):
            children[parent].append(name)
    return {n: tuple(c) for n, c in children.items()}


@lru_cache(maxsize=4)
def load_reference(folder: str | Path) -> Reference:
    """Load and check all tables of ``folder``; :class:`UserError` names file, row and cure."""
    folder = Path(folder)
    regions = _load_regions(folder / "regions.csv")
    findings, finding_names = _load_findings(folder / "findings.csv", regions)
    probability = _yaml(folder / "probability.yaml")
    levels = {
        row["id"]: ProbabilityLevel(row["id"], row["certainty"], row["positiveness"])
        for row in probability["levels"]
    }
    normality = _yaml(folder / "normality.yaml")
    for name in normality["silence_denies"]:
        if name not in findings:
            raise UserError(
                f"{folder}/normality.yaml, silence_denies: no finding named '{name}'"
                f"{nearest(name, findings)}"
            )
    return Reference(
        folder=folder,
        findings=findings,
        regions=regions,
        modifiers=tuple(
            Value(kind, row["value"], tuple(row["synonyms"]))
            for kind, rows in _yaml(folder / "modifiers.yaml").items()
            for row in rows
        ),
        changes=tuple(
            Value("change", row["value"], tuple(row["synonyms"]))
            for row in _yaml(folder / "changes.yaml")
        ),
        levels=levels,
        cues=tuple(
            ProbabilityCue(row["cue"], row["level"], row["position"]) for row in probability["cues"]
        ),
        scope_terminators=tuple(probability["scope_terminators"]),
        pseudo_negations=tuple(probability["pseudo_negation"]),
        non_assertions=tuple(probability["non_assertions"]),
        absences=tuple(probability["absences"]),
        compositions=_load_compositions(folder / "compositions.yaml", findings),
        structures=_load_structures(folder / "normality.yaml", findings, regions),
        sections=_yaml(folder / "sections.yaml"),
        laterality=_yaml(folder / "laterality.yaml"),
        devices=_yaml(folder / "devices.yaml"),
        abbreviations=_yaml(folder / "abbreviations.yaml"),
        normality=normality,
        labels=_load_labels(folder / "labels.csv", finding_names),
    )


@lru_cache(maxsize=4)
def load_regions(folder: str | Path) -> dict[str, Region]:
    """Load the regions alone: all that localisation depends on."""
    return _load_regions(Path(folder) / "regions.csv")


def _load_regions(path: Path) -> dict[str, Region]:
    rows = _rows(path)
    names = _names_by_id(rows, path)
    regions = {}
    for line, row in rows:
        where = f"{path}, line {line}"
        regions[row["name"]] = Region(
            name=row["name"],
            group=row["group"],
            laterality=row["laterality"],
            left=_link(row["left_id"], names, where),
            right=_link(row["right_id"], names, where),
            bilateral=_link(row["bilateral_id"], names, where),
            parents=_links(row["parents"], names, where),
            localized=row["localized"] == "1",
            rule=row["rule"],
            cxas_label=row["cxas_label"] or None,
            imagenome_bbox=row["imagenome_bbox"] or None,
            fallbacks=_known(row["fallbacks"], set(names.values()), where),
            lateral_view=row["lateral_view"],
            key_region=row["key_region"] == "1",
            synonyms=_split(row["synonyms"]),
            radiologist_checked=row["radiologist_checked"] == "1",
        )
    return regions


def _load_findings(
    path: Path, regions: dict[str, Region]
) -> tuple[dict[str, Finding], dict[str, str]]:
    rows = _rows(path)
    names = _names_by_id(rows, path)
    findings = {}
    for line, row in rows:
        where = f"{path}, line {line}"
        findings[row["name"]] = Finding(
            name=row["name"],
            categories=_split(row["categories"]),
            subcategories=_split(row["subcategories"]),
            parents=_links(row["parents"], names, where),
            polarity=row["polarity"],
            laterality=row["laterality"],
            default_regions=_known(row["default_regions"], set(regions), where),
            modifiers=_split(row["modifiers"]),
            indicative_of=_links(row["indicative_of"], names, where),
            synonyms=_split(row["synonyms"]),
            tier=int(row["tier"]),
            key_finding=row["key_finding"] == "1",
            radiologist_checked=row["radiologist_checked"] == "1",
        )
    return findings, names


def _load_labels(path: Path, names: dict[str, str]) -> dict[str, dict[str, dict[str, Any]]]:
    labels: dict[str, dict[str, dict[str, Any]]] = {}
    for line, row in _rows(path):
        where = f"{path}, line {line}"
        labels.setdefault(row["dataset"], {})[row["label"]] = {
            "exact": _links(row["exact_findings"], names, where),
            "implied": _links(row["implied_by_findings"], names, where),
            "relation": row["relation"],
        }
    return labels


def _load_compositions(path: Path, findings: dict[str, Finding]) -> tuple[Composition, ...]:
    return tuple(
        Composition(
            _known(row["finding"], set(findings), str(path))[0],
            tuple(row["structures"]),
            tuple(row["attributes"]),
        )
        for row in _yaml(path)
    )


def _load_structures(
    path: Path, findings: dict[str, Finding], regions: dict[str, Region]
) -> tuple[Structure, ...]:
    content = _yaml(path)
    groups: dict[str, list[str]] = content["predicates"]
    return tuple(
        Structure(
            names=tuple(row["names"]),
            region=_known(row["region"], set(regions), str(path))[0],
            predicates=tuple(p for group in row["predicates"] for p in groups[group]),
            negates=_known("|".join(row["negates"]), set(findings), str(path)),
        )
        for row in content["structures"]
    )


def _rows(path: Path) -> list[tuple[int, dict[str, str]]]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            return [(reader.line_num, row) for row in reader]
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; it belongs to the reference definitions") from None


def _yaml(path: Path) -> Any:
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader=LOADER)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; it belongs to the reference definitions") from None
    except yaml.YAMLError as error:
        raise UserError(f"{path}: not valid YAML: {str(error).splitlines()[0]}") from None


def _names_by_id(rows: list[tuple[int, dict[str, str]]], path: Path) -> dict[str, str]:
    names: dict[str, str] = {}
    seen: set[str] = set()
    for line, row in rows:
        if row["id"] in names or row["name"] in seen:
            raise UserError(f"{path}, line {line}: id or name '{row['name']}' occurs twice")
        names[row["id"]] = row["name"]
        seen.add(row["name"])
    return names


def _split(cell: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in cell.split("|") if part.strip())


def _link(cell: str, names: dict[str, str], where: str) -> str | None:
    return _links(cell, names, where)[0] if cell else None


def _links(cell: str, names: dict[str, str], where: str) -> tuple[str, ...]:
    for part in _split(cell):
        if part not in names:
            raise UserError(f"{where}: no row with id '{part}'{nearest(part, names)}")
    return tuple(names[part] for part in _split(cell))


def _known(cell: str, names: set[str], where: str) -> tuple[str, ...]:
    for part in _split(cell):
        if part not in names:
            raise UserError(f"{where}: no row named '{part}'{nearest(part, names)}")
    return _split(cell)

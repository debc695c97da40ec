"""Loading and checking ``resources/reference/``: plain tables a radiologist can edit.

Findings and regions are known by their *name* everywhere in the pipeline (paper Sec. D.1); the
ids of the CSV files only link rows to each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from cxrqba.errors import UserError
from cxrqba.reference.cells import (
    Rows,
    check_keys,
    flag,
    known,
    link,
    links,
    one_of,
    read_keyed,
    read_rows,
    read_yaml,
    split,
)
from cxrqba.reference.columns import (
    CATEGORIES,
    COMPOSITION_KEYS,
    FINDING_COLUMNS,
    FINDING_SIDES,
    LABEL_COLUMNS,
    MODIFIERS,
    NORMALITY_KEYS,
    POLARITIES,
    PROBABILITY_KEYS,
    REGION_COLUMNS,
    REGION_SIDES,
    STRUCTURE_KEYS,
    VALUE_KEYS,
)
from cxrqba.reference.cues import ProbabilityCue, load_cues, phrases
from cxrqba.reference.lists import load_devices, load_laterality, load_sections


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
    outside: tuple[str, ...]  # words for parts of the body that no region stands for
    exceptives: tuple[str, ...]  # terminators that bring in an exception
    scope_enders: tuple[str, ...]  # prepositions behind which a denial does not reach
    mimics: tuple[str, ...]  # findings that pass for others
    gone_names: tuple[str, ...]  # names of findings that say they are gone ("extubated")
    doubted: tuple[str, ...]  # phrases in front of what a mimic was taken for
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
    def localized_regions(self) -> tuple[str, ...]:
        """Names of the regions that can have boxes (257)."""
        return tuple(n for n, r in self.regions.items() if r.localized)


def _ancestors(name: str, parents: Callable[[str], Iterable[str]]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    level = list(parents(name))
    while level:
        found.update(dict.fromkeys(level))
        level = [p for n in level for p in parents(n) if p not in found]
    return tuple(found)


@lru_cache(maxsize=4)
def load_reference(folder: str | Path) -> Reference:
    """Load and check all tables of ``folder``; :class:`UserError` names file, row and cure."""
    folder = Path(folder)
    regions = _load_regions(folder / "regions.csv")
    findings, finding_names = _load_findings(folder / "findings.csv", regions)
    probability = read_keyed(folder / "probability.yaml", PROBABILITY_KEYS)
    levels = {
        row["id"]: ProbabilityLevel(row["id"], row["certainty"], row["positiveness"])
        for row in probability["levels"]
    }
    normality = read_keyed(folder / "normality.yaml", NORMALITY_KEYS)
    known(
        "|".join(normality["silence_denies"]), findings, f"{folder}/normality.yaml, silence_denies"
    )
    return Reference(
        folder=folder,
        findings=findings,
        regions=regions,
        modifiers=tuple(
            value
            for kind, rows in read_keyed(folder / "modifiers.yaml", MODIFIERS).items()
            for value in _values(kind, rows, f"{folder}/modifiers.yaml, {kind}")
        ),
        changes=_values("change", read_yaml(folder / "changes.yaml"), f"{folder}/changes.yaml"),
        levels=levels,
        cues=load_cues(probability["cues"], levels, f"{folder}/probability.yaml"),
        scope_terminators=tuple(probability["scope_terminators"]),
        outside=tuple(read_keyed(folder / "outside.yaml", ("parts",))["parts"]),
        exceptives=tuple(probability["exceptives"]),
        scope_enders=tuple(probability["scope_enders"]),
        mimics=known(
            "|".join(probability["mimics"]), findings, f"{folder}/probability.yaml, mimics"
        ),
        gone_names=tuple(probability["gone_names"]),
        doubted=_phrases(probability, "doubted", folder),
        pseudo_negations=_phrases(probability, "pseudo_negation", folder),
        non_assertions=tuple(probability["non_assertions"]),
        absences=tuple(probability["absences"]),
        compositions=_load_compositions(folder / "compositions.yaml", findings),
        structures=_structures(normality, findings, regions, f"{folder}/normality.yaml"),
        sections=load_sections(folder / "sections.yaml"),
        laterality=load_laterality(folder / "laterality.yaml"),
        devices=load_devices(folder / "devices.yaml"),
        abbreviations=read_yaml(folder / "abbreviations.yaml"),
        normality=normality,
        labels=_load_labels(folder / "labels.csv", finding_names),
    )


@lru_cache(maxsize=4)
def load_regions(folder: str | Path) -> dict[str, Region]:
    """Load the regions alone: all that localisation depends on."""
    return _load_regions(Path(folder) / "regions.csv")


def _phrases(probability: Mapping[str, Any], key: str, folder: Path) -> tuple[str, ...]:
    where = f"{folder}/probability.yaml, {key}"
    return tuple(phrase for pattern in probability[key] for phrase in phrases(pattern, where))


def _load_regions(path: Path) -> dict[str, Region]:
    rows = read_rows(path, REGION_COLUMNS)
    names = _names_by_id(rows, path)
    regions = {}
    for line, row in rows:
        where = f"{path}, line {line}"
        regions[row["name"]] = Region(
            name=row["name"],
            group=row["group"],
            laterality=one_of(row["laterality"], REGION_SIDES, where, "laterality"),
            left=link(row["left_id"], names, where),
            right=link(row["right_id"], names, where),
            bilateral=link(row["bilateral_id"], names, where),
            parents=links(row["parents"], names, where),
            localized=flag(row["localized"], where, "localized"),
            rule=row["rule"],
            cxas_label=row["cxas_label"] or None,
            imagenome_bbox=row["imagenome_bbox"] or None,
            fallbacks=known(row["fallbacks"], set(names.values()), where),
            lateral_view=one_of(row["lateral_view"], ("yes", "partial", "no"), where, "view"),
            key_region=flag(row["key_region"], where, "key_region"),
            synonyms=split(row["synonyms"]),
            radiologist_checked=flag(row["radiologist_checked"], where, "radiologist_checked"),
        )
    _check_words(rows, path)
    _check_parents(rows, {n: r.parents for n, r in regions.items()}, path)
    return regions


def _load_findings(
    path: Path, regions: Mapping[str, Region]
) -> tuple[dict[str, Finding], dict[str, str]]:
    rows = read_rows(path, FINDING_COLUMNS)
    names = _names_by_id(rows, path)
    findings = {}
    for line, row in rows:
        where = f"{path}, line {line}"
        categories = split(row["categories"])
        if not categories:
            raise UserError(f"{where}: no category; give one of {', '.join(CATEGORIES)}")
        findings[row["name"]] = Finding(
            name=row["name"],
            categories=tuple(one_of(c, CATEGORIES, where, "category") for c in categories),
            subcategories=split(row["subcategories"]),
            parents=links(row["parents"], names, where),
            polarity=one_of(row["polarity"], POLARITIES, where, "polarity"),
            laterality=one_of(row["laterality"], FINDING_SIDES, where, "laterality"),
            default_regions=known(row["default_regions"], set(regions), where),
            modifiers=tuple(
                one_of(m, MODIFIERS, where, "modifier") for m in split(row["modifiers"])
            ),
            indicative_of=links(row["indicative_of"], names, where),
            synonyms=split(row["synonyms"]),
            tier=int(one_of(row["tier"], ("1", "2"), where, "tier")),
            key_finding=flag(row["key_finding"], where, "key_finding"),
            radiologist_checked=flag(row["radiologist_checked"], where, "radiologist_checked"),
        )
    _check_words(rows, path)
    _check_parents(rows, {n: f.parents for n, f in findings.items()}, path)
    return findings, names


def _load_labels(path: Path, names: Mapping[str, str]) -> dict[str, dict[str, dict[str, Any]]]:
    labels: dict[str, dict[str, dict[str, Any]]] = {}
    for line, row in read_rows(path, LABEL_COLUMNS):
        where = f"{path}, line {line}"
        of_dataset = labels.setdefault(row["dataset"], {})
        if row["label"] in of_dataset:
            raise UserError(f"{where}: {row['dataset']} label '{row['label']}' occurs twice")
        of_dataset[row["label"]] = {
            "exact": links(row["exact_findings"], names, where),
            "implied": links(row["implied_by_findings"], names, where),
            "relation": row["relation"],
        }
    return labels


def _values(kind: str, rows: Iterable[Any], where: str) -> tuple[Value, ...]:
    found = []
    for row in rows:
        check_keys(row, VALUE_KEYS, where)
        found.append(Value(kind, row["value"], tuple(row["synonyms"])))
    return tuple(found)


def _load_compositions(path: Path, findings: dict[str, Finding]) -> tuple[Composition, ...]:
    found = []
    for row in read_yaml(path):
        check_keys(row, COMPOSITION_KEYS, str(path))
        finding = known(row["finding"], set(findings), str(path))[0]
        found.append(Composition(finding, tuple(row["structures"]), tuple(row["attributes"])))
    return tuple(found)


def _structures(
    normality: Mapping[str, Any],
    findings: dict[str, Finding],
    regions: dict[str, Region],
    where: str,
) -> tuple[Structure, ...]:
    groups: dict[str, list[str]] = normality["predicates"]
    found = []
    for row in normality["structures"]:
        check_keys(row, STRUCTURE_KEYS, f"{where}, structures")
        predicates = (one_of(g, groups, where, "predicates") for g in row["predicates"])
        found.append(
            Structure(
                names=tuple(row["names"]),
                region=known(row["region"], set(regions), where)[0],
                predicates=tuple(p for group in predicates for p in groups[group]),
                negates=known("|".join(row["negates"]), set(findings), where),
            )
        )
    return tuple(found)


def _names_by_id(rows: Rows, path: Path) -> dict[str, str]:
    names: dict[str, str] = {}
    seen: set[str] = set()
    for line, row in rows:
        if not row["id"].strip() or not row["name"].strip():
            raise UserError(f"{path}, line {line}: id and name must not be empty")
        if row["id"] in names or row["name"] in seen:
            raise UserError(f"{path}, line {line}: id or name '{row['name']}' occurs twice")
        names[row["id"]] = row["name"]
        seen.add(row["name"])
    return names


def _check_words(rows: Rows, path: Path) -> None:
    """A name or synonym means one row only; spelling with hyphen, space or capital is the same."""
    owners: dict[str, str] = {}
    for line, row in rows:
        for phrase in (row["name"], *split(row["synonyms"])):
            owner = owners.setdefault(_spelling(phrase), row["name"])
            if owner != row["name"]:
                raise UserError(
                    f"{path}, line {line}: '{phrase}' already stands for '{owner}'; "
                    "a synonym can name one row only"
                )


def _spelling(phrase: str) -> str:
    return " ".join(phrase.lower().replace("-", " ").replace("/", " ").split())


def _check_parents(rows: Rows, parents: Mapping[str, tuple[str, ...]], path: Path) -> None:
    """No row is its own ancestor."""
    for line, row in rows:
        if row["name"] in _ancestors(row["name"], parents.__getitem__):
            raise UserError(
                f"{path}, line {line}: '{row['name']}' is its own ancestor; correct the parents"
            )

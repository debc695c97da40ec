"""The classes Open-i is scored on: manual MeSH tags against findings (``openi_classes.csv``).

A MeSH heading is often no finding by itself ("Aorta/tortuous"), so a class names its tags as
``head/qualifier`` or ``head/not qualifier``, and the findings an indexer files under them; where
tags leave out sites (a density over a rib), findings at these regions are left out too. Under
the "exact" closure a class is these findings; under "closed" also all below them in the
hierarchy, and a study tagged with one class has every class that holds all findings of the first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from cxrqba.evaluate.gold import NOT_INDEXED, plain
from cxrqba.reference.cells import flag, known, read_rows, split
from cxrqba.reference.tables import Reference

FILE = "openi_classes.csv"
COLUMNS = ("class", "ten", "all", "tagged", "tags", "findings", "not_at")
CLOSURES = ("exact", "closed")


@dataclass(frozen=True, slots=True)
class Tag:
    """A heading with the qualifiers it must and must not have."""

    head: str
    wanted: frozenset[str]
    unwanted: frozenset[str]

    def fits(self, term: str) -> bool:
        """Whether an Open-i term (``head/qualifier/...``) carries this tag."""
        head, *qualifiers = (plain(part) for part in term.split("/"))
        given = set(qualifiers)
        return head == self.head and self.wanted <= given and not self.unwanted & given


@dataclass(frozen=True, slots=True)
class TagClass:
    """A class of tags and the findings that are filed under it."""

    name: str
    in_ten: bool  # one of the ten that CheXpert knows too
    in_all: bool
    tags: tuple[Tag, ...]
    findings: frozenset[str]
    not_at: frozenset[str]  # regions, with all below them


def load_tag_classes(reference: Reference) -> tuple[TagClass, ...]:
    """The classes of ``openi_classes.csv``, in its order."""
    path = reference.folder / FILE
    classes = []
    for line, row in read_rows(path, COLUMNS):
        where = f"{path}, line {line}"
        classes.append(
            TagClass(
                name=row["class"],
                in_ten=flag(row["ten"], where, "ten"),
                in_all=flag(row["all"], where, "all"),
                tags=tuple(_tag(cell) for cell in split(row["tags"])),
                findings=frozenset(known(row["findings"], reference.findings, where)),
                not_at=_with_parts(known(row["not_at"], reference.regions, where), reference),
            )
        )
    return tuple(classes)


def class_sets(classes: Sequence[TagClass]) -> dict[str, list[str]]:
    """The two sets of classes; a set's name ends in its size."""
    ten = [c.name for c in classes if c.in_ten]
    every = [c.name for c in classes if c.in_all]
    return {f"MeSH-{len(ten)}": ten, f"MeSH-{len(every)}": every}


def members(
    classes: Sequence[TagClass], reference: Reference, closure: str
) -> dict[str, frozenset[str]]:
    """Class -> the findings that make it positive under one of :data:`CLOSURES`."""
    if closure == "exact":
        return {c.name: c.findings for c in classes}
    return {
        c.name: c.findings
        | {f for f, above in reference.finding_ancestors.items() if c.findings & set(above)}
        for c in classes
    }


def tag_labels(
    studies: pl.DataFrame, classes: Sequence[TagClass], found: Mapping[str, frozenset[str]]
) -> dict[str, dict[str, int | None]]:
    """Study id -> class -> 1 or 0 for all indexed studies.

    ``studies`` has study_id and the list of major MeSH terms; ``found`` are the :func:`members`
    of the classes; a tag of one class is a tag of all that hold its findings and some below them.
    """
    implied = {
        c.name: frozenset(
            other.name for other in classes if c.findings <= found[other.name] - other.findings
        )
        for c in classes
    }
    labels: dict[str, dict[str, int | None]] = {}
    for study_id, terms in studies.select("study_id", "major").sort("study_id").iter_rows():
        given = list(terms or [])
        if any(plain(term.split("/")[0]) == NOT_INDEXED for term in given):
            continue
        tagged = [c.name for c in classes if any(t.fits(x) for t in c.tags for x in given)]
        positive = frozenset(tagged).union(*(implied[name] for name in tagged))
        labels[study_id] = {c.name: int(c.name in positive) for c in classes}
    return labels


def _tag(cell: str) -> Tag:
    head, *qualifiers = (plain(part) for part in cell.split("/"))
    unwanted = {q.removeprefix("not ") for q in qualifiers if q.startswith("not ")}
    wanted = {q for q in qualifiers if not q.startswith("not ")}
    return Tag(head, frozenset(wanted), frozenset(unwanted))


def _with_parts(regions: tuple[str, ...], reference: Reference) -> frozenset[str]:
    """Regions and everything below them."""
    wanted = set(regions)
    below = {r for r, above in reference.region_ancestors.items() if wanted & set(above)}
    return frozenset(wanted | below)

"""What question generation knows beyond one study: reference, templates, corpus statistics.

Built once a shard. The statistics over all graphs become sampling weights and correlated findings
(paper Sec. E.2.2).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from cxrqba.config import QaConfig
from cxrqba.errors import UserError, nearest
from cxrqba.qa.anatomy import Anatomy
from cxrqba.qa.findings import NORMAL, TECHNICAL, Findings
from cxrqba.qa.sampling import Sampler
from cxrqba.qa.templates import TemplateFile
from cxrqba.reference.tables import Reference

MIN_TOGETHER = 2
"""Findings seen together in fewer observations of the corpus are not called correlated."""
MAX_CORRELATED = 5


@dataclass
class Memory:
    """What is worked out once a shard: questions differ less between studies than it seems."""

    cases: dict[tuple[str, str], Any] = field(default_factory=dict)
    """Cases of things that nothing in a study touches, by variable and value (``strategies``)."""
    blueprints: dict[tuple[str, str, str], Any] = field(default_factory=dict)
    """Questions of these cases, by template, value and what bars denials (``engine``)."""
    plans: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    """What is said in which case (``engine``)."""
    wordings: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    """Question texts by template and value, where these two say all (``engine``)."""
    drafts: dict[tuple[str, str], Any] = field(default_factory=dict)
    """Template sentences that rest on no observation, by id and value (``contents``)."""
    words: dict[str, dict[str, str]] = field(default_factory=dict)
    """Finding -> what fills placeholders where nothing of it is present (``strategies``)."""


@dataclass(frozen=True)
class QaContext:
    """Read-only knowledge for all studies of a shard."""

    reference: Reference
    templates: tuple[TemplateFile, ...]
    config: QaConfig
    anatomy: Anatomy
    findings: Findings
    region_sampler: Sampler
    finding_sampler: Sampler
    statistics: str  # hash of the statistics
    memory: Memory = field(default_factory=Memory, compare=False)

    def always(self, strategy: str) -> tuple[str, ...]:
        """Regions, or findings and devices, that every study is asked about."""
        return next((f.always for f in self.templates if f.strategy == strategy), ())


def build_context(
    reference: Reference,
    templates: tuple[TemplateFile, ...],
    statistics: pl.DataFrame,
    config: QaConfig,
) -> QaContext:
    """Prepare the context; ``statistics`` has the columns of ``schema.STATISTICS``."""
    _check_labels(templates, reference)
    counts: dict[str, dict[str, tuple[int, int]]] = {"region": {}, "finding": {}}
    pairs: dict[tuple[str, str], int] = {}
    for kind, name, positive, negative in statistics.select(
        "kind", "name", "positive", "negative"
    ).iter_rows():
        if kind == "finding_pair":
            first, second = name.split("|", 1)
            pairs[first, second] = positive
        elif kind in counts:
            counts[kind][name] = (positive or 0, negative or 0)
    findings = {
        n: c
        for n, c in counts["finding"].items()
        if n in reference.findings and reference.findings[n].polarity not in (NORMAL, TECHNICAL)
    }
    regions = {n: c for n, c in counts["region"].items() if n in reference.regions}
    anatomy = Anatomy(reference)
    return QaContext(
        reference=reference,
        templates=templates,
        config=config,
        anatomy=anatomy,
        findings=Findings(reference, anatomy, _correlated(pairs, findings, reference)),
        statistics=statistics_hash(statistics),
        region_sampler=Sampler(_weights(regions)),
        finding_sampler=Sampler(_weights(findings)),
    )


def statistics_hash(statistics: pl.DataFrame) -> str:
    """Short hash of a STATISTICS table, whatever the order of its rows."""
    text = statistics.sort("kind", "name").write_csv()
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _weights(counts: dict[str, tuple[int, int]]) -> dict[str, float]:
    """Sampling weights by name: the more positive and the fewer negative mentions, the more."""
    return {n: p / (1 + neg) for n, (p, neg) in sorted(counts.items()) if p > 0}


def _correlated(
    pairs: dict[tuple[str, str], int],
    counts: dict[str, tuple[int, int]],
    reference: Reference,
) -> dict[str, tuple[str, ...]]:
    """Finding -> findings positive together with it more than expected, strongest first.

    Strength is the cosine of the two indicator vectors, n(ab) / sqrt(n(a) n(b)). Relatives of the
    hierarchy are left out: they are other subsets.
    """
    above = reference.finding_ancestors
    strengths: dict[str, list[tuple[float, str]]] = {}
    for (a, b), together in pairs.items():
        if together < MIN_TOGETHER or a not in counts or b not in counts or a == b:
            continue
        if a in above[b] or b in above[a]:
            continue
        expected = math.sqrt(max(counts[a][0], 1) * max(counts[b][0], 1))
        strengths.setdefault(a, []).append((-together / expected, b))
        strengths.setdefault(b, []).append((-together / expected, a))
    return {
        name: tuple(dict.fromkeys(n for _, n in sorted(found)))[:MAX_CORRELATED]
        for name, found in strengths.items()
    }


def _check_labels(templates: tuple[TemplateFile, ...], reference: Reference) -> None:
    subcategories = {s for f in reference.findings.values() for s in f.subcategories}
    where = "templates"
    names: dict[str, Collection[str]] = {
        "region_abnormal": reference.regions,
        "finding": reference.findings,
    }
    for file in templates:
        for name in file.always:
            known: Collection[str] = names.get(file.strategy, ())
            if name not in known:
                hint = nearest(name, known)
                raise UserError(f"{where}, {file.strategy}, always: no '{name}'{hint}")
        listed = {s for v in file.variables.values() for s in (*v.always, *v.never)}
        for name in sorted(listed | set(file.labels)):
            if name not in subcategories:
                hint = nearest(name, subcategories)
                raise UserError(f"{where}, {file.strategy}: no subcategory '{name}'{hint}")
        for name, label in file.labels.items():
            for region in label.regions:
                if region not in reference.regions:
                    hint = nearest(region, reference.regions)
                    raise UserError(f"{where}, {file.strategy}, {name}: no region '{region}'{hint}")

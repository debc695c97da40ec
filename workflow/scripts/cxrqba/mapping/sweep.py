"""Score entity mapping on gold phrases at a range of thresholds (paper Sec. E.1.3: 0.5).

A phrase is right if it is mapped to one of its references, or left unresolved where none should
match. Precision is over phrases that were mapped, recall over phrases that have a reference.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from cxrqba.errors import UserError
from cxrqba.mapping.candidates import TARGETS
from cxrqba.mapping.mapper import Mapper
from cxrqba.reference.tables import Reference
from cxrqba.schema import MENTIONS
from cxrqba.tables import frame

PARTS = ("dev", "sealed")
THRESHOLDS = tuple(round(0.30 + 0.05 * i, 2) for i in range(13))


@dataclass(frozen=True, slots=True)
class Phrase:
    """A gold phrase; no references: nothing may be matched."""

    kind: str
    text: str
    references: frozenset[str]
    part: str


def read_gold(path: Path, reference: Reference) -> list[Phrase]:
    """Phrases of ``path``; :class:`UserError` names the line of a wrong kind, part or tag."""
    tags = {
        "finding": set(reference.findings),
        "region": set(reference.regions),
        "modifier": {v.name for v in reference.modifiers},
        "change": {v.name for v in reference.changes},
    }
    phrases = []
    with path.open(encoding="utf-8", newline="") as file:
        for line, row in enumerate(csv.DictReader(file), start=2):
            where = f"{path}, line {line}"
            if row["kind"] not in TARGETS or row["part"] not in PARTS:
                raise UserError(f"{where}: unknown kind or part '{row['kind']}', '{row['part']}'")
            wanted = frozenset(r for r in row["reference"].split("|") if r)
            if unknown := sorted(wanted - tags[TARGETS[row["kind"]]]):
                raise UserError(f"{where}: no {TARGETS[row['kind']]} named '{unknown[0]}'")
            phrases.append(Phrase(row["kind"], row["text"], wanted, row["part"]))
    return phrases


def sweep(
    mapper: Mapper, phrases: Sequence[Phrase], thresholds: Sequence[float] = THRESHOLDS
) -> pl.DataFrame:
    """Scores per threshold and kind (and kind ``all``): counts, precision, recall, F1, share."""
    mentions = frame([{"kind": p.kind, "text": p.text, "count": 1} for p in phrases], MENTIONS)
    decided = {(r["kind"], r["text"]): r for r in mapper.map(mentions, 0.0).iter_rows(named=True)}
    rows = []
    for threshold in thresholds:
        for kind in ("all", *sorted({p.kind for p in phrases})):
            chosen = [p for p in phrases if kind in ("all", p.kind)]
            rows.append(
                {"threshold": threshold, "kind": kind, **_scores(chosen, decided, threshold)}
            )
    return pl.DataFrame(rows)


def _scores(
    phrases: Sequence[Phrase], decided: dict[tuple[str, str], dict[str, Any]], threshold: float
) -> dict[str, Any]:
    right = wrong = unresolved = wanted = correct = 0
    for phrase in phrases:
        found = decided[phrase.kind, phrase.text]
        reference = found["reference"] if found["score"] >= threshold else None
        wanted += bool(phrase.references)
        unresolved += reference is None
        right += reference in phrase.references
        wrong += reference is not None and reference not in phrase.references
        correct += reference in (phrase.references or {None})
    precision = right / (right + wrong) if right + wrong else 0.0
    recall = right / wanted if wanted else 0.0
    total = precision + recall
    return {
        "phrases": len(phrases),
        "precision": round(precision, 4),
        "recall": round(recall, 4),
        "f1": round(2 * precision * recall / total if total else 0.0, 4),
        "accuracy": round(correct / len(phrases), 4) if phrases else 0.0,
        "unresolved": round(unresolved / len(phrases), 4) if phrases else 0.0,
    }


def as_markdown(scores: pl.DataFrame, backend: str, part: str) -> str:
    """The rows over all kinds as a Markdown table."""
    columns = ("threshold", "precision", "recall", "f1", "accuracy", "unresolved")
    rows = scores.filter(pl.col("kind") == "all")
    lines = [
        f"Entity mapping, backend {backend}, {part} phrases (n = {rows['phrases'][0]}).",
        "",
        f"| {' | '.join(columns)} |",
        f"|{'---:|' * len(columns)}",
    ]
    for row in rows.iter_rows(named=True):
        values = (f"{row[c]:.2f}" if c == "threshold" else f"{row[c]:.3f}" for c in columns)
        lines.append(f"| {' | '.join(values)} |")
    return "\n".join(lines) + "\n"

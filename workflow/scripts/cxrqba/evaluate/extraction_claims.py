"""What each system states of a report, in one shape, so that all are matched alike.

Ours are the final observations of the graphs: from the report, children included, without the
answer to the indication, which repeats others, and without what only compares or recommends, which
claims neither presence nor absence. Other systems give a table of claims (EXTRACTION_CLAIMS).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from cxrqba.extract.matcher import PhraseTable
from cxrqba.extract.words import words
from cxrqba.graph.store import ANSWER_ID
from cxrqba.reference.tables import Reference, Value

CLAIMING = ("pos", "neg")


@dataclass(frozen=True, slots=True)
class Claim:
    """One observation; regions are families: both sides of a structure are one."""

    claim_id: str
    parent_id: str | None
    findings: tuple[str, ...]  # reference names; empty: none was resolved
    sent_ids: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    polarity: str  # pos, neg
    certainty: str
    side: str  # left, right, bilateral, unknown
    regions: frozenset[str] = frozenset()
    default_regions: frozenset[str] = frozenset()
    severities: frozenset[str] = frozenset()
    changes: frozenset[str] = frozenset()
    is_technical: bool = False  # speaks of the image, not of the patient

    @property
    def is_uncertain(self) -> bool:
        """Everything short of certain."""
        return self.certainty != "certain"


class PlainWords:
    """Regions, severities and changes in an annotator's plain words, as reference names."""

    def __init__(self, reference: Reference):
        self._reference = reference
        self._regions = _table((r.name, r.synonyms) for r in reference.regions.values())
        self._severities = _values(v for v in reference.modifiers if v.kind == "severity")
        self._changes = _values(reference.changes)
        self._technical = frozenset(
            name for name, finding in reference.findings.items() if finding.polarity == "technical"
        )

    def is_technical(self, findings: Iterable[str]) -> bool:
        """Whether all ``findings`` are remarks on the image."""
        findings = set(findings)
        return bool(findings) and findings <= self._technical

    def family(self, region: str) -> str:
        """The pair a sided region belongs to, else the region itself."""
        known = self._reference.regions.get(region)
        return known.bilateral if known and known.bilateral else region

    def above(self, family: str) -> frozenset[str]:
        """Families of the ancestors of a region."""
        return frozenset(map(self.family, self._reference.region_ancestors.get(family, ())))

    def regions(self, text: str, side: str) -> frozenset[str]:
        """Families named in ``text``; many structures have names only together with a side."""
        sided = f"{side} {text}" if side in ("left", "right") else f"both {text}"
        found = [_found(self._regions, t) for t in (text, f"left {text}", sided)]
        most = max(found, key=len)
        return frozenset(map(self.family, most))

    def severities(self, text: str) -> frozenset[str]:
        """Severity values named in ``text``."""
        return _found(self._severities, text)

    def changes(self, text: str) -> frozenset[str]:
        """Change values named in ``text``."""
        return _found(self._changes, text)


def _table(named: Iterable[tuple[str, tuple[str, ...]]]) -> PhraseTable:
    return PhraseTable((phrase, name) for name, more in named for phrase in (name, *more))


def _values(values: Iterable[Value]) -> PhraseTable:
    return _table((v.name, v.synonyms) for v in values)


def _found(table: PhraseTable, text: str) -> frozenset[str]:
    return frozenset(match.value for match in table.find(words(text)))


def graph_claims(observations: pl.DataFrame, plain: PlainWords) -> dict[str, list[Claim]]:
    """Study -> claims of the graphs' OBSERVATIONS."""
    told = observations.filter(
        pl.col("from_report"),
        pl.col("obs_id") != ANSWER_ID,
        pl.col("positiveness").is_in(CLAIMING),
    )
    claims: dict[str, list[Claim]] = {}
    for row in told.iter_rows(named=True):
        claims.setdefault(row["study_id"], []).append(_graph_claim(row, plain))
    return claims


def _graph_claim(row: Mapping[str, Any], plain: PlainWords) -> Claim:
    defaults = set(row["default_regions"] or ())
    named = [r["region"] for r in row["regions"] or () if r["region"] not in defaults]
    return Claim(
        claim_id=row["obs_id"],
        parent_id=row["obs_id"].rpartition(".")[0] or None,
        findings=tuple(row["obs_entities"] or ()),
        sent_ids=tuple(row["sent_ids"] or ()),
        spans=tuple((s["start"], s["end"]) for s in row["spans"] or ()),
        polarity=row["positiveness"],
        certainty=row["certainty"],
        side=(row["laterality"] or "unknown").removeprefix("likely "),
        regions=frozenset(map(plain.family, named)),
        default_regions=frozenset(map(plain.family, defaults)),
        severities=frozenset((row["modifiers"] or {}).get("severity") or ()),
        changes=frozenset(row["changes"] or ()),
        is_technical=plain.is_technical(row["obs_entities"] or ()),
    )


def table_claims(table: pl.DataFrame, plain: PlainWords) -> dict[str, list[Claim]]:
    """Study -> claims of EXTRACTION_CLAIMS; the same claim twice in a sentence counts once."""
    key = ["study_id", "sent_id", "finding", "positiveness", "certainty", "laterality"]
    claims: dict[str, list[Claim]] = {}
    for number, row in enumerate(table.unique(key, keep="first").sort(key).iter_rows(named=True)):
        claims.setdefault(row["study_id"], []).append(
            Claim(
                claim_id=f"C{number}",
                parent_id=None,
                findings=(row["finding"],),
                sent_ids=(row["sent_id"],),
                spans=((row["start"], row["end"]),),
                polarity=row["positiveness"],
                certainty=row["certainty"],
                side=row["laterality"],
                is_technical=plain.is_technical((row["finding"],)),
            )
        )
    return claims

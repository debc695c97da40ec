"""Observation pass, rules backend: what each cluster of sentences says, as free-valued records.

The pass reads the FINDINGS and IMPRESSION sentences cluster by cluster (paper Sec. D.1, E.1.2).
Every finding named in a clause becomes an observation with its claim, place, modifiers and change;
statements of normality become the negatives they amount to; "unchanged" alone only compares; the
same finding on the same side with the same claim, said twice in a cluster, is one observation.
Device parts and the causes of a finding are children. Values are words of the report: mapping to
the reference comes later. Sentences that yield nothing go to the ledger, so that silence never
looks like health.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from cxrqba.extract.coverage import NON_OBSERVATIONAL, UNCOVERED, Coverage
from cxrqba.extract.lexicon import Lexicon, Named, Reading
from cxrqba.extract.matcher import Match
from cxrqba.extract.normality import NormalStatement, normal_statements
from cxrqba.extract.scope import Claim, claim, clauses
from cxrqba.extract.wording import (
    change_words,
    clause_text,
    has_verb,
    item_text,
    name_of,
    sentence_case,
    summary_of,
)
from cxrqba.extract.words import word_set, words
from cxrqba.extract.zones import (
    BEFORE_CLAUSE,
    Place,
    Zone,
    heads_of,
    is_placed,
    places,
    predicate_changes,
    side_text,
    surface,
    told_changes,
    values,
    zones,
)
from cxrqba.ledger import Ledger
from cxrqba.reference.tables import Reference
from cxrqba.schema import (
    PASS_STATUS,
    RAW_OBSERVATIONS,
    REPORTED_SECTION_TYPES,
)
from cxrqba.tables import frame

STEP = "extract_observations"
_NEW = "new"
_ADJECTIVES = word_set("hilar mediastinal cardiac cardiomediastinal pleural osseous bony aortic")
_NOUNS = word_set("contour silhouette structure size shadow space surface border")


@dataclass(slots=True)
class Draft:
    """An observation on its way to a row of RAW_OBSERVATIONS."""

    key: tuple[str, ...]  # findings meant; empty for comparisons without one
    entities: list[str]
    level: str
    name: str
    summary: str
    regions: list[Place]
    modifiers: list[tuple[str, str]]
    side_text: str
    changes: list[str]
    change_sentence: str | None
    sent_ids: list[str]
    spans: list[tuple[str, int, int]]
    origin: str
    is_device: bool = False
    is_rest: bool = False
    child_type: str | None = None
    children: list[Draft] = field(default_factory=list)


class ObservationExtractor:
    """Extracts the observations of studies with one set of reference definitions."""

    def __init__(self, reference: Reference):
        self.reference = reference
        self._lexicon = Lexicon(reference)
        self._coverage = Coverage(reference)
        self._descendants = _descendants(reference)

    def extract(
        self,
        study_id: str,
        report: str,
        sentences: Iterable[Mapping[str, Any]],
        ledger: Ledger | None = None,
    ) -> list[dict[str, Any]]:
        """Rows of RAW_OBSERVATIONS of one study; sentences without observation go to ``ledger``.

        ``sentences`` are rows of SENTENCES of this study; ``report`` is the text their spans
        refer to.
        """
        kept = [
            s
            for s in sentences
            if s["section_type"] in REPORTED_SECTION_TYPES and not s["discarded"]
        ]
        kept.sort(key=lambda s: (s["start"], s["sent_id"]))
        clusters: dict[tuple[int, Any], list[Mapping[str, Any]]] = {}
        for row in kept:
            key = (0, row["cluster"]) if row["cluster"] is not None else (1, row["sent_id"])
            clusters.setdefault(key, []).append(row)
        drafts: list[Draft] = []
        for rows in clusters.values():
            found: list[Draft] = []
            for row in rows:
                text = report[row["start"] : row["end"]]
                found += self.read_sentence(row["sent_id"], text, row["start"], found)
            drafts += _merged(found, {r["sent_id"]: r["section_type"] for r in rows})
        drafts = self._without_contradicted_rest(drafts)
        if ledger is not None:
            self._account(study_id, kept, drafts, ledger)
        return _rows(study_id, drafts)

    def read_sentence(
        self, sent_id: str, text: str, offset: int, earlier: Sequence[Draft] = ()
    ) -> list[Draft]:
        """Observations of one sentence, in text order."""
        reading = self._lexicon.read(text, offset)
        found: list[Draft] = []
        carried: list[Match] = []
        parts = clauses(reading)
        for i, clause in enumerate(parts):
            findings = [f for f in reading.findings if clause[0] <= f.first and f.last <= clause[1]]
            relative = clause[0] and reading.norm(clause[0] - 1) in ("which", "that")
            context = found[-1] if relative and found else None
            clause_drafts = self._findings(reading, sent_id, clause, findings, context)
            normals = normal_statements(reading, clause, carried)
            alone = not clause_drafts and len({s.structure for s in normals}) == 1
            clause_drafts += [_normal_draft(reading, sent_id, clause, s, alone) for s in normals]
            if not clause_drafts:
                clause_drafts = _compared(reading, sent_id, clause, bool(found))
            if not clause_drafts:
                self._attach(reading, sent_id, clause, found or list(earlier))
            subjects = [s for s in reading.subjects if clause[0] <= s.first and s.last <= clause[1]]
            carried = subjects or carried
            found += clause_drafts
            if len(parts) > 1 and i:
                _change_of_relative(reading, parts[i - 1], clause, found, clause_drafts)
        return found

    def _findings(
        self,
        reading: Reading,
        sent_id: str,
        clause: tuple[int, int],
        findings: list[Match],
        context: Draft | None,
    ) -> list[Draft]:
        """Observations of the findings a clause names.

        ``context`` is the observation that a clause with "which" speaks of.
        """
        claims: list[tuple[Match, Claim]] = []
        for finding in findings:
            made = claim(reading, clause, finding, self.reference.absences)
            if made is not None:
                claims.append((finding, made))
        kept = [f for f, _ in claims]
        areas = zones(reading, clause, kept, [c.link for _, c in claims])
        shared = predicate_changes(reading, clause, kept) if kept else []
        alone = len(kept) == 1
        drafts: list[Draft] = []
        made_of: list[Draft] = []
        parents: dict[int, Draft] = {}
        heads = heads_of(reading, kept, [c.link for _, c in claims])
        for i, ((finding, made), zone) in enumerate(zip(claims, areas, strict=True)):
            draft = self._draft(reading, sent_id, clause, finding, made, zone, shared, alone)
            made_of.append(draft)
            head = heads[i]
            previous = None
            if head == BEFORE_CLAUSE:
                previous = context
                if previous is not None and not is_placed(reading, zone):
                    draft.regions = list(previous.regions)
                    draft.side_text = f"{draft.side_text} {previous.side_text}".strip()
            elif head is not None:
                previous = made_of[head]
            while previous is not None and previous.child_type:  # a reading of a reading
                previous = parents.get(id(previous))
            if (
                previous is not None
                and previous.level in ("positive", "likely", "possible")
                and draft.level != "recommendation"
                and draft.key != previous.key
            ):
                draft.child_type = "associated with"
                parents[id(draft)] = previous
                previous.children.append(draft)
                continue
            drafts.append(draft)
        return drafts

    def _draft(
        self,
        reading: Reading,
        sent_id: str,
        clause: tuple[int, int],
        finding: Match,
        made: Claim,
        zone: Zone,
        shared: list[Match],
        alone: bool,
    ) -> Draft:
        named: Named = finding.value
        device = named.finding.is_device
        part = _device_part(reading, finding, zone) if device and made.level == "positive" else None
        own = zone if part is None else Zone((zone.own[0], part.first), zone.shared)
        changes = _changes(reading, own, shared, made)
        name = name_of(reading, finding, own, made, [m for _, m in changes])
        summary = summary_of(
            name, clause_text(reading, clause), alone and not changes and part is None
        )
        comparing = change_words(reading, [m for _, m in changes])
        comparing -= set(range(finding.first, finding.last))
        located = places(reading, finding, own)
        spans = {finding.first: (finding.first, finding.last)}
        evidence = [(c.first, c.last) for c in made.cues]
        evidence += [(p.first, p.last) for p in located]
        draft = Draft(
            key=(named.finding.name,),
            entities=[_entity(reading, finding)],
            level=made.level,
            name=name,
            summary=summary,
            regions=located,
            modifiers=[
                (m.value.kind, surface(reading, m.first, m.last))
                for _, m in values(reading.modifiers, Zone(own.own), finding)
                if not comparing & set(range(m.first, m.last))
            ],
            side_text=side_text(reading, own),
            changes=[surface(reading, m.first, m.last) for _, m in changes],
            change_sentence=_change_sentence(reading, clause, changes),
            sent_ids=[sent_id],
            spans=_spans(reading, sent_id, [*spans.values(), *evidence]),
            origin="rules:composition" if named.composed else "rules:finding",
            is_device=device,
        )
        if part is not None:
            draft.children.append(_part_draft(reading, sent_id, draft, part, zone))
        return draft

    def _attach(
        self,
        reading: Reading,
        sent_id: str,
        clause: tuple[int, int],
        earlier: Sequence[Draft],
    ) -> None:
        """ "Its tip is in the SVC": a part of the device named before."""
        advice = [
            c
            for c in (*reading.before, *reading.after)
            if c.value == "recommendation" and clause[0] <= c.first and c.last <= clause[1]
        ]
        if advice and earlier and earlier[-1].sent_ids == [sent_id]:
            earlier[-1].children.append(_advice_draft(reading, sent_id, clause, advice))
            return
        devices = [d for d in earlier if d.is_device and d.level == "positive"]
        part = next(
            (p for p in reading.parts if clause[0] <= p.first and p.last <= clause[1]), None
        )
        if not devices or part is None:
            return
        devices[-1].children.append(
            _part_draft(reading, sent_id, devices[-1], part, Zone((part.first, clause[1])))
        )

    def _without_contradicted_rest(self, drafts: list[Draft]) -> list[Draft]:
        """ "Lungs are otherwise clear" denies only what the study does not assert elsewhere."""
        asserted = {
            name
            for d in _all(drafts)
            if d.level in ("positive", "likely", "possible", "cannot_exclude")
            for name in d.key
        }
        kept = []
        for draft in drafts:
            if draft.is_rest:
                names = [n for n in draft.key if not self._descendants[n] & asserted]
                if not names:
                    names = list(draft.key[-1:])
                draft.key, draft.entities = tuple(names), names
            kept.append(draft)
        return kept

    def _account(
        self,
        study_id: str,
        kept: Sequence[Mapping[str, Any]],
        drafts: Sequence[Draft],
        ledger: Ledger,
    ) -> None:
        covered = {sent_id for d in _all(drafts) for sent_id in d.sent_ids}
        for row in kept:
            if row["sent_id"] in covered:
                continue
            kind = self._coverage.kind(row["sentence"])
            if kind is None:
                ledger.item(
                    study_id,
                    row["sent_id"],
                    UNCOVERED,
                    "no finding, normal statement or comparison known to the reference tables",
                )
            else:
                ledger.item(study_id, row["sent_id"], NON_OBSERVATIONAL, kind)


def extract_observations(
    study_id: str,
    report: str,
    sentences: Iterable[Mapping[str, Any]],
    reference: Reference,
) -> list[dict[str, Any]]:
    """Rows of RAW_OBSERVATIONS of one study (see :class:`ObservationExtractor`)."""
    return ObservationExtractor(reference).extract(study_id, report, sentences)


def extract_shard(
    studies: pl.DataFrame, sentences: pl.DataFrame, reference: Reference
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Observations, status and ledger of all studies that have a report.

    Returns tables RAW_OBSERVATIONS, PASS_STATUS and LEDGER. A study whose extraction raises is
    lost here, with the exception's class as detail; the others go on.
    """
    extractor = ObservationExtractor(reference)
    ledger = Ledger(STEP)
    rows: list[dict[str, Any]] = []
    status: list[dict[str, Any]] = []
    for study_id, report, of_study in by_study(studies, sentences):
        lines = Ledger(STEP)
        try:
            found = extractor.extract(study_id, report, of_study, lines)
        except Exception as error:  # one bad study never stops a shard
            ledger.study(study_id, "extraction_failed", type(error).__name__)
            status.append(_status(study_id, "failed", 0, type(error).__name__))
            continue
        ledger.rows += lines.rows
        rows += found
        status.append(_status(study_id, "ok" if found else "empty", len(found), None))
    return (
        frame(rows, RAW_OBSERVATIONS).sort("study_id", "raw_id"),
        frame(status, PASS_STATUS).sort("study_id"),
        ledger.table(),
    )


def by_study(
    studies: pl.DataFrame, sentences: pl.DataFrame
) -> list[tuple[str, str, list[dict[str, Any]]]]:
    """(study id, report, its SENTENCES rows) of all studies with a report, in order of ids."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in sentences.sort("study_id", "start", "sent_id").iter_rows(named=True):
        groups.setdefault(row["study_id"], []).append(row)
    reports = studies.select("study_id", "report").drop_nulls().sort("study_id").iter_rows()
    return [(study_id, report, groups.get(study_id, [])) for study_id, report in reports]


def _status(study_id: str, status: str, items: int, detail: str | None) -> dict[str, Any]:
    return {
        "study_id": study_id,
        "step": STEP,
        "status": status,
        "num_items": items,
        "detail": detail,
    }


# --- drafts of one clause -----------------------------------------------------------------------


def _entity(reading: Reading, finding: Match) -> str:
    """The finding as written; where words interrupt it, as the reference writes it."""
    named: Named = finding.value
    if named.composed:
        return named.finding.name
    if finding.skipped:
        return finding.phrase
    return surface(reading, finding.first, finding.last)


def _changes(
    reading: Reading, zone: Zone, shared: list[Match], made: Claim
) -> list[tuple[Any, Match]]:
    """Changes of a finding; "new" under a negation is the value "no new"."""
    found = values(told_changes(reading), Zone(zone.own), None)
    known = {v.name for v, _ in found}
    found += [(m.value, m) for m in shared if m.value.name not in known]
    if made.level in ("negative", "unlikely"):
        found = [(v, m) for v, m in found if v.name in ("resolved", "removed", "no new")]
    return found


def _change_sentence(
    reading: Reading, clause: tuple[int, int], changes: list[tuple[Any, Match]]
) -> str | None:
    if not changes:
        return None
    return sentence_case(clause_text(reading, clause)) + "."


def _device_part(reading: Reading, finding: Match, zone: Zone) -> Match | None:
    """The first part behind the device that is not the device's own word ("tube tip")."""
    for part in reading.parts:
        if part.first > finding.last and zone.holds(part):
            return part
    return None


def _part_draft(reading: Reading, sent_id: str, device: Draft, part: Match, zone: Zone) -> Draft:
    area = Zone((part.first, zone.own[1]))
    changes = values(told_changes(reading), area, None)
    located = places(reading, None, area)
    told = item_text(reading, *area.own, change_words(reading, [m for _, m in changes]))
    name = sentence_case(f"{device.entities[0]} {told}")
    return Draft(
        key=device.key,
        entities=list(device.entities),
        level="positive",
        name=name,
        summary=name + ".",
        regions=located,
        modifiers=[],
        side_text=side_text(reading, area),
        changes=[surface(reading, m.first, m.last) for _, m in changes],
        change_sentence=_change_sentence(reading, area.own, changes),
        sent_ids=[sent_id],
        spans=_spans(
            reading, sent_id, [(part.first, part.last), *((p.first, p.last) for p in located)]
        ),
        origin="rules:device_part",
        is_device=True,
        child_type="device part",
    )


def _advice_draft(
    reading: Reading, sent_id: str, clause: tuple[int, int], advice: list[Match]
) -> Draft:
    """ "..., for which CT is recommended": advice that belongs to the observation before."""
    text = sentence_case(clause_text(reading, clause))
    return Draft(
        key=(),
        entities=[],
        level="recommendation",
        name=text,
        summary=text + ".",
        regions=[],
        modifiers=[],
        side_text="",
        changes=[],
        change_sentence=None,
        sent_ids=[sent_id],
        spans=_spans(reading, sent_id, [(m.first, m.last) for m in advice]),
        origin="rules:recommendation",
        child_type="recommendation",
    )


def _normal_draft(
    reading: Reading,
    sent_id: str,
    clause: tuple[int, int],
    statement: NormalStatement,
    alone: bool,
) -> Draft:
    structure, predicate = statement.structure, statement.predicate
    names = list(dict.fromkeys(n for s in statement.meant for n in s.negates))
    area = Zone((min(structure.first, predicate.first), structure.last))
    first = _phrase_start(reading, clause, structure)
    area = Zone((min(first, area.own[0]), structure.last))
    changes = [
        (m.value, m)
        for m in reading.changes
        if clause[0] <= m.first and m.last <= clause[1] and m.value.name != _NEW
    ]
    located = places(reading, None, Zone((first, structure.last)))
    if len(located) != 1:
        region = statement.meant[0].region
        located = [Place(region, region, (), structure.first, structure.last)]
    name = _normal_name(reading, statement, first)
    if alone:
        text = item_text(reading, *clause, change_words(reading, [m for _, m in changes]))
        if has_verb(reading, *clause) or predicate.last <= structure.first:
            name = sentence_case(text)
    return Draft(
        key=tuple(names),
        entities=names,
        level="negative",
        name=name,
        summary=name + ".",
        regions=located,
        modifiers=[],
        side_text=side_text(reading, Zone((first, structure.last))),
        changes=[surface(reading, m.first, m.last) for _, m in changes],
        change_sentence=_change_sentence(reading, clause, changes),
        sent_ids=[sent_id],
        spans=_spans(
            reading,
            sent_id,
            [(structure.first, structure.last), (predicate.first, predicate.last)],
        ),
        origin="rules:normality",
        is_rest=statement.is_rest,
    )


def _phrase_start(reading: Reading, clause: tuple[int, int], structure: Match) -> int:
    """Where the structure's own phrase begins: a side or "visualized" in front belongs to it."""
    first = structure.first
    while first > clause[0] and reading.norm(first - 1) in (
        "left",
        "right",
        "bilateral",
        "both",
        "visualized",
        "imaged",
        "remaining",
        "central",
    ):
        first -= 1
    return first


def _normal_name(reading: Reading, statement: NormalStatement, first: int) -> str:
    structure = surface(reading, first, statement.structure.last)
    predicate = surface(reading, statement.predicate.first, statement.predicate.last)
    if statement.predicate.last <= statement.structure.first:
        return sentence_case(f"{predicate.lower()} {structure}")
    if reading.norm(statement.structure.last - 1) in _ADJECTIVES:
        noun = next(
            (
                w.text
                for w in reading.words[statement.structure.last : statement.predicate.first]
                if w.norm in _NOUNS
            ),
            "contours",
        )
        structure = f"{structure} {noun}"
        last = noun.lower()
    else:
        last = reading.words[statement.structure.last - 1].text.lower()
    plural = last.endswith(("s", "hila", "apices")) and not last.endswith(("ss", "us", "is"))
    verb = (
        ""
        if predicate.lower().startswith(("demonstrate", "appear"))
        else "are "
        if plural
        else "is "
    )
    rest = "otherwise " if statement.is_rest else ""
    return sentence_case(f"{structure} {verb}{rest}{predicate}")


def _compared(
    reading: Reading, sent_id: str, clause: tuple[int, int], has_findings: bool
) -> list[Draft]:
    """ "Heart size is stable", "no interval change": compared, nothing asserted."""
    changes = [m for m in told_changes(reading) if clause[0] <= m.first and m.last <= clause[1]]
    pseudo = [
        m
        for m in reading.before
        if clause[0] <= m.first
        and m.last <= clause[1]
        and not m.value
        and reading.norm(m.last - 1) in ("change", "increase", "decrease")
    ]
    if not changes and not pseudo:
        return []
    if any(clause[0] <= m.first and m.last <= clause[1] for m in reading.non_assertions):
        return []
    structures = [s for s in reading.structures if clause[0] <= s.first and s.last <= clause[1]]
    if has_findings and not structures:
        return []  # the change of a finding named before
    located = places(reading, None, Zone(clause))
    told = [*changes, *pseudo]
    text = sentence_case(clause_text(reading, clause))
    return [
        Draft(
            key=(),
            entities=[],
            level="comparison_only",
            name=text,
            summary=text + ".",
            regions=located,
            modifiers=[],
            side_text=side_text(reading, Zone(clause)),
            changes=list(dict.fromkeys(surface(reading, m.first, m.last) for m in told)),
            change_sentence=text + ".",
            sent_ids=[sent_id],
            spans=_spans(reading, sent_id, [(m.first, m.last) for m in (*told, *structures)]),
            origin="rules:comparison",
        )
    ]


def _change_of_relative(
    reading: Reading,
    before: tuple[int, int],
    clause: tuple[int, int],
    found: list[Draft],
    own: list[Draft],
) -> None:
    """ "..., which has decreased": the change belongs to the finding before."""
    if own or not found:
        return
    changes = [m for m in reading.changes if clause[0] <= m.first and m.last <= clause[1]]
    target = found[-1]
    if not changes or target.changes or target.level in ("negative", "unlikely"):
        return
    target.changes = list(dict.fromkeys(surface(reading, m.first, m.last) for m in changes))
    target.change_sentence = (
        sentence_case(surface(reading, before[0], clause[1]).strip(" ,;:.")) + "."
    )


def _spans(
    reading: Reading, sent_id: str, ranges: Iterable[tuple[int, int]]
) -> list[tuple[str, int, int]]:
    spans = {
        (sent_id, reading.words[a].start, reading.words[b - 1].end) for a, b in ranges if a < b
    }
    return sorted(spans, key=lambda s: (s[1], s[2]))


# --- clusters and rows --------------------------------------------------------------------------

_GROUPS = {
    "unlikely": "neg",
    "negative": "neg",
    "indeterminate": "indeterminate",
    "comparison_only": "comparison_only",
    "recommendation": "recommendation",
}


def _merged(drafts: list[Draft], section_types: Mapping[str, str]) -> list[Draft]:
    """One draft for each finding, side and polarity; the impression's claim counts."""
    kept: list[Draft] = []
    for draft in drafts:
        same = [
            k
            for k in kept
            if draft.key
            and k.key == draft.key
            and _GROUPS.get(k.level, "pos") == _GROUPS.get(draft.level, "pos")
            and k.is_rest == draft.is_rest
        ]
        sides = _sides(draft.side_text)
        exact = [k for k in same if _sides(k.side_text) == sides]
        if not exact and (not sides or all(not _sides(k.side_text) for k in same)):
            exact = same if len(same) == 1 else []
        if exact:
            _absorb(exact[0], draft, section_types)
        else:
            kept.append(draft)
    return kept


def _absorb(into: Draft, other: Draft, section_types: Mapping[str, str]) -> None:
    if section_types.get(other.sent_ids[0]) == "IMPRESSION":
        into.level = other.level if other.level in _SAME_CLAIM else into.level
    for sent_id in other.sent_ids:
        if sent_id not in into.sent_ids:
            into.sent_ids.append(sent_id)
    into.spans = list(dict.fromkeys([*into.spans, *other.spans]))
    texts = {p.text.lower() for p in into.regions}
    into.regions += [p for p in other.regions if p.text.lower() not in texts]
    into.modifiers = list(dict.fromkeys([*into.modifiers, *other.modifiers]))
    into.changes = list(dict.fromkeys([*into.changes, *other.changes]))
    into.change_sentence = into.change_sentence or other.change_sentence
    into.entities = list(dict.fromkeys([*into.entities, *other.entities]))
    if not _sides(into.side_text):
        into.side_text = f"{into.side_text} {other.side_text}".strip()
    into.children += other.children


_SAME_CLAIM = ("positive", "likely", "possible", "cannot_exclude", "negative", "unlikely")


def _sides(text: str) -> frozenset[str]:
    norms = {w.norm for w in words(text)}
    sides = norms & {"left", "right"}
    if norms & {"bilateral", "bilaterally", "both", "bibasilar", "biapical"}:
        return frozenset(("left", "right"))
    return frozenset(sides)


def _all(drafts: Iterable[Draft]) -> list[Draft]:
    found: list[Draft] = []
    for draft in drafts:
        found.append(draft)
        found += _all(draft.children)
    return found


def _rows(study_id: str, drafts: list[Draft]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []

    def add(draft: Draft, raw_id: str, parent: str | None) -> None:
        rows.append(
            {
                "study_id": study_id,
                "raw_id": raw_id,
                "parent_raw_id": parent,
                "child_type": draft.child_type if parent else None,
                "name": draft.name,
                "summary_sentence": draft.summary,
                "entities": draft.entities,
                "regions": [
                    {"region": p.text, "distances": list(p.distances)} for p in draft.regions
                ],
                "probability": draft.level,
                "modifiers": [{"type": t, "value": v} for t, v in draft.modifiers],
                "laterality_text": draft.side_text or None,
                "changes": draft.changes,
                "change_sentence": draft.change_sentence,
                "sent_ids": draft.sent_ids,
                "spans": [{"sent_id": s, "start": a, "end": b} for s, a, b in draft.spans],
                "issue_level": "NO_ISSUES",
                "origin": draft.origin,
            }
        )
        for number, child in enumerate(draft.children, start=1):
            add(child, f"{raw_id}.{number:02d}", raw_id)

    for number, draft in enumerate(drafts, start=1):
        add(draft, f"R{number:02d}", None)
    return rows


def _descendants(reference: Reference) -> dict[str, frozenset[str]]:
    below: dict[str, set[str]] = {n: {n} for n in reference.findings}
    for name, ancestors in reference.finding_ancestors.items():
        for ancestor in ancestors:
            below[ancestor].add(name)
    return {n: frozenset(b) for n, b in below.items()}

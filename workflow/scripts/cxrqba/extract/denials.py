"""Drafts of statements that something is normal (see :mod:`cxrqba.extract.normality`)."""

from __future__ import annotations

from dataclasses import replace

from cxrqba.extract.drafts import Clause, Draft
from cxrqba.extract.lexicon import Reading
from cxrqba.extract.matcher import Match
from cxrqba.extract.normality import NormalStatement, normal_statements
from cxrqba.extract.wording import change_words, has_verb, item_text, sentence_case
from cxrqba.extract.words import word_set
from cxrqba.extract.zones import Place, Zone, places, side_text, surface

_NEW = "new"
_ADJECTIVES = word_set("hilar mediastinal cardiac cardiomediastinal pleural osseous bony aortic")
_NOUNS = word_set("contour silhouette structure size shadow space surface border")
_SIDED = word_set("pleura pleural hilum hilar hemidiaphragm costophrenic rib clavicle")
_OWN_WORDS = word_set("left right bilateral both visualized imaged remaining central")


def normal_drafts(clause: Clause, carried: list[Match], others: bool) -> list[Draft]:
    """Observations of the clause's statements of normality.

    ``carried`` are the structures of the clause before; ``others`` tells whether the clause names
    findings as well.
    """
    statements = normal_statements(clause.reading, clause.range, carried)
    alone = not others and len({s.structure for s in statements}) == 1
    drafts = [_draft(clause, statement, alone) for statement in statements]
    return [_as_one(drafts)] if alone else drafts


def unassessed_drafts(clause: Clause) -> list[Draft]:
    """ "Heart size is difficult to assess": what the structure's normality would deny stays open.

    Only of a clause that names nothing of the patient.
    """
    reading = clause.reading
    cues = [c for c in clause.within(reading.after) if c.value == "indeterminate"]
    structures = [s for s in clause.within(reading.structures) if cues and s.last <= cues[0].first]
    drafts = []
    for structure in structures[:1]:
        names = list(dict.fromkeys(n for s in structure.value[:1] for n in s.negates))
        start = _phrase_start(reading, clause.first, structure)
        text = sentence_case(clause.text())
        drafts.append(
            Draft(
                key=tuple(names),
                entities=names,
                level="indeterminate",
                name=text,
                summary=text + ".",
                regions=places(reading, None, Zone((start, structure.last))),
                modifiers=[],
                side_text=side_text(reading, Zone((start, structure.last))),
                changes=[],
                change_sentence=None,
                sent_ids=[clause.sent_id],
                spans=clause.spans(
                    [(structure.first, structure.last), (cues[0].first, cues[0].last)]
                ),
                origin="rules:normality",
            )
        )
    return drafts


def _as_one(drafts: list[Draft]) -> Draft:
    """ "The lungs are well expanded and clear" is one observation."""
    first = drafts[0]
    names = list(dict.fromkeys(n for d in drafts for n in d.key))
    spans = sorted({s for d in drafts for s in d.spans}, key=lambda s: s[1:])
    is_rest = any(d.is_rest for d in drafts)
    return replace(first, key=tuple(names), entities=names, spans=spans, is_rest=is_rest)


def _draft(clause: Clause, statement: NormalStatement, alone: bool) -> Draft:
    reading, structure, predicate = clause.reading, statement.structure, statement.predicate
    names = list(dict.fromkeys(n for s in statement.meant for n in s.negates))
    start = clause.first if clause.first <= structure.first else 0  # "..., but clear"
    first = _phrase_start(reading, start, structure)
    area = Zone((first, structure.last))
    changes = [(m.value, m) for m in clause.within(reading.changes) if m.value.name != _NEW]
    located = places(reading, None, area)
    if len(located) != 1:
        region = statement.meant[0].region
        located = [Place(region, (), structure.first, structure.last)]
    name = _name(reading, statement, first)
    if alone and (has_verb(reading, *clause.range) or predicate.last <= structure.first):
        text = item_text(reading, *clause.range, change_words(reading, [m for _, m in changes]))
        name = sentence_case(text)
    return Draft(
        key=tuple(names),
        entities=names,
        level="unlikely" if statement.is_hedged else "negative",
        name=name,
        summary=name + ".",
        regions=located,
        modifiers=[],
        side_text=side_text(reading, area) + _side_before(reading, clause, structure),
        changes=[surface(reading, m.first, m.last) for _, m in changes],
        change_sentence=clause.change_sentence(changes),
        sent_ids=[clause.sent_id],
        spans=clause.spans([(structure.first, structure.last), (predicate.first, predicate.last)]),
        origin="rules:normality",
        is_rest=statement.is_rest,
    )


def _side_before(reading: Reading, clause: Clause, structure: Match) -> str:
    """The side in "right lung *and pleura*", where the second of a pair shares it."""
    before = structure.first - 1
    if reading.norm(before) != "and" or reading.norm(structure.first) not in _SIDED:
        return ""
    first = next((s for s in clause.within(reading.structures) if s.last == before), None)
    side = reading.norm(first.first - 1) if first is not None else ""
    return f" {side}" if side in ("left", "right") else ""


def _phrase_start(reading: Reading, start: int, structure: Match) -> int:
    """Where the structure's own phrase begins: a side or "visualized" in front belongs to it."""
    first = structure.first
    while first > start and reading.norm(first - 1) in _OWN_WORDS:
        first -= 1
    return first


def _name(reading: Reading, statement: NormalStatement, first: int) -> str:
    structure = surface(reading, first, statement.structure.last)
    predicate = surface(reading, statement.predicate.first, statement.predicate.last)
    if statement.predicate.last <= statement.structure.first:
        return sentence_case(f"{predicate.lower()} {structure}")
    if reading.norm(statement.structure.last - 1) in _ADJECTIVES:
        between = reading.words[statement.structure.last : statement.predicate.first]
        noun = next((w.text for w in between if w.norm in _NOUNS), "contours")
        structure = f"{structure} {noun}"
        last = noun.lower()
    else:
        last = reading.words[statement.structure.last - 1].text.lower()
    verb = "are " if _is_plural(last) else "is "
    if predicate.lower().startswith(("demonstrate", "appear")):
        verb = ""
    rest = "otherwise " if statement.is_rest else ""
    return sentence_case(f"{structure} {verb}{rest}{predicate}")


def _is_plural(word: str) -> bool:
    return word.endswith(("s", "hila", "apices")) and not word.endswith(("ss", "us", "is"))

"""Errors planted into right answers, to see whether a judge notices (paper Sec. 3.3, 4.2).

Right answers are sentences made of single rows of a hand-annotated set, in the annotator's words,
or come in pairs written by hand. A planted error is false for that study by the same annotation:
the finding is denied (or stated) though no other row speaks of its kin, the side or zone is swapped
though no row of its kin names the other, and so on. Rows the annotation cannot confirm are left
out. What follows from it is whether a judge tells two texts apart, not how good it is on answers
as they come.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cxrqba.errors import UserError
from cxrqba.evaluate.extraction_gold import Gold, GoldRow
from cxrqba.reference.tables import Reference

CRITERION = {
    "polarity": "entailment",
    "side": "entailment",
    "region": "entailment",
    "finding": "entailment",
    "severity": "entailment",
    "device": "entailment",
    "missing": "completeness",
    "irrelevant": "relevance",
    "grammar": "answer_clarity",
}
"""Kind of error -> the criterion that ought to notice it."""
CONTRADICTIONS = ("polarity", "side")
HAND = "written by hand"
ASKED = "What does this study show?"
_OPPOSITE = {"left": "right", "right": "left"}
_ZONES = {
    "upper lobe": "lower lobe",
    "lower lobe": "upper lobe",
    "base": "apex",
    "apex": "base",
    "bases": "apices",
    "lung bases": "lung apices",
    "lung base": "lung apex",
    "lung apex": "lung base",
    "upper lung": "lower lung",
    "lower lung": "upper lung",
    "upper zone": "lower zone",
    "lower zone": "upper zone",
}
_DEGREES = {
    **dict.fromkeys(("small", "tiny", "trace", "minimal"), "large"),
    **dict.fromkeys(("mild", "slight", "minor", "moderate"), "severe"),
    **dict.fromkeys(("large", "massive"), "small"),
    **dict.fromkeys(("severe", "marked", "extensive"), "mild"),
}
_DIRECTED = re.compile(r"deviat|shift|displac|scolio|curv")
"""Findings whose side is a direction, not a place."""
_ABSENT = (
    "pneumothorax",
    "pleural effusion",
    "cardiomegaly",
    "pulmonary edema",
    "pulmonary nodule",
    "rib fracture",
    "hiatal hernia",
    "pneumoperitoneum",
    "scoliosis",
    "mediastinal widening",
)
_DEVICES = (
    "chest tube",
    "pacemaker",
    "endotracheal tube",
    "peripherally inserted central catheter",
    "enteric tube",
    "chest port",
)
_ANY_DEVICE = frozenset({"support device", "tube or line"})


@dataclass(frozen=True, slots=True)
class Case:
    """A right answer and the same with an error; ``part`` is the part to look at in each."""

    study_id: str
    kind: str  # key of CRITERION
    question: str
    right: tuple[str, ...]
    wrong: tuple[str, ...]
    part: tuple[int, int]  # in right, in wrong; completeness is of the whole answer


def planted(gold: Gold, part: str, reference: Reference) -> list[Case]:
    """All cases that the rows of one part of an annotated set confirm."""
    kin = _Kin(reference)
    found: list[Case] = []
    for study_id in sorted(s for s, p in gold.part_of.items() if p == part):
        rows = [r for r in gold.rows if r.study_id == study_id]
        found += _study_cases(rows, kin)
    return found


def written(path: Path) -> tuple[dict[str, str], list[Case]]:
    """(study -> report, cases) of a CSV: study, kind, report, question, right, wrong.

    Parts of an answer are separated by `` | ``; the report stands in the first row of its study.
    The part that differs is looked at; where one is added, that one.
    """
    columns = ["study", "kind", "report", "question", "right", "wrong"]
    reports: dict[str, str] = {}
    cases: list[Case] = []
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames != columns:
            raise UserError(f"{path}: expected the columns {', '.join(columns)}")
        for row in reader:
            where = f"{path}, line {reader.line_num}"
            if row["kind"] not in CRITERION:
                raise UserError(f"{where}: kind '{row['kind']}' is none of {', '.join(CRITERION)}")
            if row["report"]:
                reports[row["study"]] = row["report"]
            if row["study"] not in reports:
                raise UserError(f"{where}: no row before gives the report of '{row['study']}'")
            right, wrong = _parts(row["right"]), _parts(row["wrong"])
            if right == wrong or not right:
                raise UserError(f"{where}: right and wrong must be given and differ")
            place = _difference(right, wrong)
            cases.append(Case(row["study"], row["kind"], row["question"], right, wrong, place))
    return reports, cases


def _parts(cell: str) -> tuple[str, ...]:
    return tuple(p.strip() for p in cell.split(" | ") if p.strip())


def _difference(right: Sequence[str], wrong: Sequence[str]) -> tuple[int, int]:
    at = next(
        (i for i, (a, b) in enumerate(zip(right, wrong, strict=False)) if a != b),
        min(len(right), len(wrong)),
    )
    return min(at, len(right) - 1), min(at, len(wrong) - 1)


class _Kin:
    """Which findings speak of the same thing: relatives up and down, or of one subcategory."""

    def __init__(self, reference: Reference):
        self.reference = reference
        self._family: dict[str, set[str]] = {n: {n} for n in reference.findings}
        for name, above in reference.finding_ancestors.items():
            for ancestor in above:
                self._family[name].add(ancestor)
                self._family[ancestor].add(name)

    def family(self, names: Iterable[str]) -> frozenset[str]:
        return frozenset(f for n in names for f in self._family[n])

    def groups(self, names: Iterable[str]) -> frozenset[str]:
        return frozenset(s for n in names for s in self.reference.findings[n].subcategories)


def _study_cases(rows: Sequence[GoldRow], kin: _Kin) -> Iterator[Case]:
    told = [r for r in rows if r.accepted and r.certainty == "certain"]
    absent = _absent(rows, kin, _ABSENT)
    devices = _absent(rows, kin, _DEVICES)
    for number, row in enumerate(told):
        others = [r for r in rows if r is not row and kin.family(r.accepted) & row.accepted]
        right = _sentence(row)
        if all(r.polarity == row.polarity for r in others):
            yield _case(row, "polarity", right, _sentence(row, flipped=True))
        yield _case(row, "grammar", right, _slip(right, number))
        if row.polarity != "pos":
            continue
        if not others:
            yield from _changed(row, right)
        if absent:
            yield _case(row, "finding", right, f"The study shows {absent[number % len(absent)]}.")
        if devices and number % 2 == 0:
            device = _with_article(devices[number // 2 % len(devices)])
            yield _case(row, "device", right, f"The study shows {device}.")
        organ = kin.groups(row.accepted)
        other = next((r for r in told if not kin.groups(r.accepted) & organ), None)
        if other is not None:
            yield from _asked(row, right, _sentence(other))


def _changed(row: GoldRow, right: str) -> Iterator[Case]:
    """The other side, zone or degree, where the row has one."""
    sided = row.side in _OPPOSITE and row.side not in row.finding.split()
    if sided and not _DIRECTED.search(row.finding):
        yield _case(row, "side", right, _sentence(row, side=_OPPOSITE[row.side]))
    if row.region in _ZONES and row.side != "bilateral":
        yield _case(row, "region", _placed(row, row.region), _placed(row, _ZONES[row.region]))
    degree = row.severity.split()[0].strip(",") if row.severity else ""
    if degree in _DEGREES:
        wrong = _sentence(row, degree=_DEGREES[degree])
        yield _case(row, "severity", _sentence(row, degree=degree), wrong)


def _asked(row: GoldRow, right: str, beside: str) -> Iterator[Case]:
    """A question for one finding: its answer left out, or one about another organ added."""
    question = f"Does the study show {_words(row)}?"
    main = f"Yes, {right[0].lower()}{right[1:]}"
    yield Case(row.study_id, "missing", question, (main, beside), (beside,), (0, 0))
    yield Case(row.study_id, "irrelevant", question, (main,), (main, beside), (0, 1))


def _absent(rows: Sequence[GoldRow], kin: _Kin, names: Iterable[str]) -> list[str]:
    """Of ``names`` those that no stated row, and no stated row of their organ, speaks of."""
    stated = [r for r in rows if r.polarity == "pos"]
    if any(not r.accepted for r in stated):  # it may be any of them
        known = frozenset().union(*(kin.groups(r.accepted) for r in stated))
        untold = " ".join(r.finding for r in stated if not r.accepted)
    else:
        known, untold = frozenset().union(*(kin.groups(r.accepted) for r in stated)), ""
    named = frozenset(n for r in stated for n in r.accepted)
    return [
        n
        for n in names
        if n in kin.reference.findings
        and not kin.groups([n]) & known
        and not (named & _ANY_DEVICE and n in _DEVICES)
        and not set(n.split()) & set(untold.split())
    ]


def _case(row: GoldRow, kind: str, right: str, wrong: str) -> Case:
    return Case(row.study_id, kind, ASKED, (right,), (wrong,), (0, 0))


def _with_article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _words(row: GoldRow) -> str:
    """The annotator's words for the finding, without remarks behind a comma or in brackets."""
    return re.split(r"[,(]", row.finding)[0].strip()


def _sentence(
    row: GoldRow, *, flipped: bool = False, side: str | None = None, degree: str = ""
) -> str:
    """ "The study shows (no) small left pleural effusion." """
    side = side or (row.side if row.side in ("left", "right", "bilateral") else "")
    named = {*_OPPOSITE, "bilateral"} & set(row.finding.split())
    denied = (row.polarity == "neg") != flipped
    words = [degree, "" if named else side, _words(row)]
    return " ".join(["The study shows", *(["no"] if denied else []), *filter(None, words)]) + "."


def _placed(row: GoldRow, region: str) -> str:
    side = row.side if row.side in _OPPOSITE else ""
    return f"The study shows {_words(row)} in the {side} {region}.".replace("  ", " ")


def _slip(right: str, number: int) -> str:
    """One of five slips of grammar, in turn."""
    words = right.split()
    slips = (
        right[:-1],
        right[0].lower() + right[1:],
        " ".join([words[0], words[1], *words[1:]]),
        f"{right[:-1]} and.",
        f"{right}.",
    )
    return slips[number % len(slips)]


def reports_of(cases: Iterable[Case], reports: Mapping[str, str]) -> dict[str, str]:
    """The reports that cases are about."""
    return {c.study_id: reports[c.study_id] for c in cases}

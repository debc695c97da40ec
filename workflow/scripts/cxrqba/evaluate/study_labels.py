"""Study labels for one's own use: what each report says of each class, and where it says so.

The classes are those of one data set in ``labels.csv`` (CheXpert unless configured otherwise). A
class of a study is

- *positive* if an observation from the report asserts a finding of the class, surely or likely;
- *uncertain* if it is only raised as possible, or could not be assessed;
- *negative* if the finding the class is named after, or every finding that is the class, is denied
  altogether;
- *not mentioned* otherwise. Silence is no denial, and neither is one limited to a size, an age or a
  place: "no large effusion" leaves a small one open. Left and right denied are both denied.

Which findings assert a class is the closure of
:func:`cxrqba.evaluate.label_classes.label_classes`. What the graph adds by default
(``from_report`` false) and the answer to the indication never count. A class of normality ("No
Finding") is positive only where the whole report was understood and nothing abnormal is asserted
or raised; like CheXpert's it is never negative. Boxes play no part.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from cxrqba.errors import UserError, nearest
from cxrqba.evaluate.label_classes import label_classes
from cxrqba.graph.completeness import is_of_news_only
from cxrqba.graph.sides import default_regions
from cxrqba.graph.store import ANSWER_ID
from cxrqba.graph.vocabulary import Vocabulary
from cxrqba.reference.tables import Reference
from cxrqba.schema import LABELS
from cxrqba.tables import frame

POSITIVE, NEGATIVE, UNCERTAIN = "positive", "negative", "uncertain"
NOT_MENTIONED = "not mentioned"
VALUES = (POSITIVE, NEGATIVE, UNCERTAIN, NOT_MENTIONED)
ONE_SIDED = "one-sided denial"
LIMITED = "limited denial"

NORMALITY = frozenset(("no finding",))
"""Findings (names) that make up a class of normality."""

AIRSPACE = "airspace opacity"
OF_AIRSPACE = frozenset(("alveolar",))
USUAL = frozenset(("focal",)) | OF_AIRSPACE
"""Modifiers that limit no denial: "no focal consolidation" is the stock phrase for none, and
consolidation is of the airspace by definition."""

WHOLE_LUNG = frozenset(("airspaces",))
"""Parts of the lungs that are everywhere in them: no place that limits a denial."""

_SIDES = ("left", "right")
_SURENESS = ("certain", "likely", "uncertain")


@dataclass(frozen=True, slots=True)
class Classes:
    """The classes of one data set.

    ``asserting``: class -> findings that make it positive; ``exact``: class -> findings that are
    the class; ``normal``: classes of normality; ``devices``: classes of tubes and devices.
    """

    names: tuple[str, ...]
    asserting: Mapping[str, frozenset[str]]
    exact: Mapping[str, frozenset[str]]
    normal: frozenset[str]
    devices: frozenset[str]


def load_classes(reference: Reference, dataset: str, closure: str) -> Classes:
    """The classes of ``dataset`` in ``labels.csv``, in its order."""
    if dataset not in reference.labels:
        known = sorted(reference.labels)
        raise UserError(
            f"labels.classes: no class of '{dataset}' in labels.csv{nearest(dataset, known)}; "
            f"known: {', '.join(known)}"
        )
    entries = reference.labels[dataset]
    exact = {name: frozenset(entry["exact"]) for name, entry in entries.items()}
    normal = frozenset(name for name, found in exact.items() if found and found <= NORMALITY)
    findings = reference.findings
    return Classes(
        names=tuple(entries),
        asserting=label_classes(reference, closure, dataset),
        exact=exact,
        normal=normal,
        devices=frozenset(
            name
            for name, found in exact.items()
            if found and all(findings[f].is_device for f in found)
        ),
    )


Evidence = tuple[str, str, Mapping[str, Any]]
"""What an observation says of a class, the finding it says it of, and the observation's row."""

Label = tuple[str, str | None, list[Evidence]]
"""Value, certainty and evidence; what decided comes first."""

READ = (
    *("study_id", "obs_id", "from_report", "positiveness", "certainty", "laterality"),
    *("obs_entities", "non_resolved_obs_entities", "regions", "default_regions", "modifiers"),
    *("changes", "sent_ids", "spans"),
)
"""The columns of OBSERVATIONS that labels depend on: no boxes."""


class Labeller:
    """Labels studies with one set of classes."""

    def __init__(self, classes: Classes, vocabulary: Vocabulary):
        self.classes = classes
        self._vocabulary = vocabulary
        self._reference = vocabulary.reference
        self._classes_of: dict[str, list[str]] = {}
        for name in classes.names:
            if name not in classes.normal:
                for finding in classes.asserting[name] | classes.exact[name]:
                    self._classes_of.setdefault(finding, []).append(name)
        self._whole: dict[str, set[str]] = {}
        for structure in self._reference.structures:
            for finding in structure.negates:
                self._whole.setdefault(finding, set(WHOLE_LUNG)).add(structure.region)

    def label(self, said: Iterable[Mapping[str, Any]], is_complete: bool) -> dict[str, Label]:
        """Class -> label of one study, in the order of the classes.

        ``said`` are its rows of OBSERVATIONS that stem from the report, without the answer to the
        indication; ``is_complete``: the whole report was understood.
        """
        said = list(said)
        evidence: dict[str, list[Evidence]] = {name: [] for name in self.classes.names}
        for row in said:
            for finding in row["obs_entities"]:
                for name in self._classes_of.get(finding, ()):
                    evidence[name].append((self._says(name, finding, row), finding, row))
        found = {name: self._decided(name, rows) for name, rows in evidence.items()}
        if is_complete and self._is_normal(said, found):
            found |= {name: (POSITIVE, None, []) for name in self.classes.normal}
        return found

    def _decided(self, name: str, evidence: list[Evidence]) -> Label:
        value = self._value(name, evidence)
        decisive = (NEGATIVE, ONE_SIDED) if value == NEGATIVE else (value,)
        evidence.sort(key=lambda e: (e[0] not in decisive, _SURENESS.index(_sureness(e[2]))))
        certainty = None if value == NOT_MENTIONED else _sureness(evidence[0][2])
        return value, certainty, evidence

    def _says(self, name: str, finding: str, row: Mapping[str, Any]) -> str:
        """A value, a denial that is none of the class, or comparison_only or recommendation."""
        positiveness = str(row["positiveness"])
        if positiveness not in ("pos", "neg"):
            return positiveness
        if row["certainty"] == "uncertain":
            return UNCERTAIN
        if positiveness == "pos":
            return POSITIVE
        if finding not in self.classes.exact[name] or self._limits(finding, row):
            return LIMITED
        return ONE_SIDED if row["laterality"] in _SIDES else NEGATIVE

    def _limits(self, finding: str, row: Mapping[str, Any]) -> bool:
        """Whether a denial concerns a degree, an age or a part of the usual place only."""
        if is_of_news_only(row["changes"] or ()):
            return True
        usual = USUAL if self._is_of_airspace(finding) else USUAL - OF_AIRSPACE
        if any(set(values or ()) - usual for values in row["modifiers"].values()):
            return True
        explicit = {r["region"] for r in row["regions"]} - set(row["default_regions"])
        if not explicit:
            return False
        side = row["laterality"] if row["laterality"] in _SIDES else "unknown"
        places = set(default_regions((finding,), side, self._vocabulary))
        whole = places | self._whole.get(finding, WHOLE_LUNG)
        above = self._reference.region_ancestors
        return not explicit & whole and all(places.intersection(above[r]) for r in explicit)

    def _is_of_airspace(self, finding: str) -> bool:
        return AIRSPACE in (finding, *self._reference.finding_ancestors[finding])

    def _value(self, name: str, evidence: list[Evidence]) -> str:
        said = {says for says, _, _ in evidence}
        for value in (POSITIVE, UNCERTAIN):
            if value in said:
                return value
        denied = {finding for says, finding, _ in evidence if says == NEGATIVE}
        denied |= _denied_on_both_sides(evidence)
        exact = self.classes.exact[name]
        above = self._reference.finding_ancestors
        namesakes = [f for f in exact if f.lower() == name.lower()]  # "infection" is no "Pneumonia"
        if exact and all(denied & {f, *above[f]} for f in namesakes or exact):
            return NEGATIVE
        return NOT_MENTIONED

    def _is_normal(self, said: Iterable[Mapping[str, Any]], found: Mapping[str, Label]) -> bool:
        """Whether no class but devices is positive or uncertain, nor anything abnormal asserted."""
        raised = {name for name, label in found.items() if label[0] in (POSITIVE, UNCERTAIN)}
        if raised - self.classes.devices:
            return False
        findings = self._reference.findings
        for row in said:
            if row["positiveness"] == "neg" and row["certainty"] != "uncertain":
                continue
            if row["non_resolved_obs_entities"]:
                return False
            if any(findings[f].polarity == "abnormal" for f in row["obs_entities"]):
                return False
        return True


def _sureness(row: Mapping[str, Any]) -> str:
    return row["certainty"] if row["certainty"] in _SURENESS else _SURENESS[-1]


def _denied_on_both_sides(evidence: list[Evidence]) -> set[str]:
    sides: dict[str, set[str]] = {}
    for says, finding, row in evidence:
        if says == ONE_SIDED:
            sides.setdefault(finding, set()).add(row["laterality"])
    return {finding for finding, found in sides.items() if found >= set(_SIDES)}


def label_studies(
    graphs: pl.DataFrame, observations: pl.DataFrame, sentences: pl.DataFrame, labeller: Labeller
) -> pl.DataFrame:
    """LABELS of all studies that have a graph: one row a study and class.

    ``graphs``, ``observations`` and ``sentences`` have the columns of GRAPHS, OBSERVATIONS and
    SENTENCES; evidence without a span of its own is given the span of its sentence.
    """
    told: dict[str, list[dict[str, Any]]] = {}
    for row in observations.select(READ).iter_rows(named=True):
        if row["from_report"] and row["obs_id"] != ANSWER_ID:
            told.setdefault(row["study_id"], []).append(row)
    of_studies = sentences.join(graphs.select("study_id"), on="study_id", how="semi")
    places = {
        (study, sent): (start, end)
        for study, sent, start, end in of_studies.select(
            "study_id", "sent_id", "start", "end"
        ).iter_rows()
    }
    rows: list[dict[str, Any]] = []
    columns = graphs.select("patient_id", "study_id", "is_complete").sort("study_id")
    for patient_id, study_id, is_complete in columns.iter_rows():
        found = labeller.label(told.get(study_id, []), is_complete)
        for name, (value, certainty, evidence) in found.items():
            rows.append(
                {
                    "patient_id": patient_id,
                    "study_id": study_id,
                    "class": name,
                    "value": value,
                    "certainty": certainty,
                    "is_complete": is_complete,
                    "evidence": [e for row in evidence for e in _places(row, study_id, places)],
                }
            )
    return frame(rows, LABELS)


def _places(
    evidence: Evidence, study_id: str, places: Mapping[tuple[str, str], tuple[int, int]]
) -> list[dict[str, Any]]:
    """The evidence once a sentence it stands in, with the hull of its spans there."""
    says, finding, row = evidence
    hulls: dict[str, tuple[int, int]] = {}
    for span in row["spans"] or ():
        start, end = hulls.get(span["sent_id"], (span["start"], span["end"]))
        hulls[span["sent_id"]] = (min(start, span["start"]), max(end, span["end"]))
    for sent_id in row["sent_ids"] or ():
        if sent_id not in hulls and (study_id, sent_id) in places:
            hulls[sent_id] = places[study_id, sent_id]
    common = {
        "says": says,
        "finding": finding,
        "laterality": row["laterality"],
        "obs_id": row["obs_id"],
    }
    return [
        {**common, "sent_id": sent_id, "start": start, "end": end}
        for sent_id, (start, end) in hulls.items()
    ]

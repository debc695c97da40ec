"""The classes that studies are scored on, and the findings that make each positive (Sec. 4.1).

The lists are fixed beforehand: 13 classes of CheXpert, 25 of CXR-LT 2024 (task 2 without Normal),
and the subsets of the paper. Which findings make a class positive is one of three closures.
"nearest", the default: a finding counts for the class it is or, if it is none, for the nearest of
its ancestors that is one, as a linear atelectasis is an Atelectasis (the paper counts children
too). "exact": only findings that are the class. "closed": also all that imply it (``labels.csv``).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from cxrqba.reference.tables import Reference

CLOSURES = ("nearest", "exact", "closed")
CHEXPERT, CXR_LT = "chexpert", "cxr_lt_2024"
NOT_SCORED = ("No Finding", "Normal")
CXP_5 = ("Atelectasis", "Cardiomegaly", "Consolidation", "Edema", "Pleural Effusion")
CXP_7 = (*CXP_5, "Pneumonia", "Pneumothorax")
CXP_13 = (
    *CXP_7,
    "Enlarged Cardiomediastinum",
    "Fracture",
    "Lung Lesion",
    "Lung Opacity",
    "Pleural Other",
    "Support Devices",
)
LT_12 = (
    "Calcification of the Aorta",
    "Emphysema",
    "Fibrosis",
    "Hernia",
    "Infiltration",
    "Mass",
    "Nodule",
    "Pleural Thickening",
    "Pneumomediastinum",
    "Pneumoperitoneum",
    "Subcutaneous Emphysema",
    "Tortuous Aorta",
)
"""The long-tail classes of CXR-LT 2024 task 2 that CheXpert has not."""
CLASS_SETS: dict[str, dict[str, tuple[str, ...]]] = {
    CHEXPERT: {"CXP-5": CXP_5, "CXP-7": CXP_7, "CXP-13": CXP_13},
    CXR_LT: {"CXP-7": CXP_7, "CXP-13": CXP_13, "LT-12": LT_12, "CXR-LT-25": CXP_13 + LT_12},
}
"""Vocabulary -> class set -> its classes, from narrow to wide."""


def scored_classes(
    reference: Reference, closure: str, vocabulary: str
) -> dict[str, frozenset[str]]:
    """:func:`label_classes` of the widest class set of a vocabulary."""
    widest = list(CLASS_SETS[vocabulary].values())[-1]
    return label_classes(reference, closure, vocabulary, widest)


def label_classes(
    reference: Reference,
    closure: str,
    dataset: str = CHEXPERT,
    only: Collection[str] | None = None,
) -> dict[str, frozenset[str]]:
    """Class -> the findings that make it positive; without No Finding and Normal.

    ``dataset`` names the vocabulary, as in ``labels.csv``; ``only`` keeps some of its classes, so
    that a finding whose nearest class is left out counts for the next above it.
    """
    entries = {
        name: entry
        for name, entry in reference.labels[dataset].items()
        if name not in NOT_SCORED and (only is None or name in only)
    }
    classes = {label: set(entry["exact"]) for label, entry in entries.items()}
    if closure == "closed":
        for label, entry in entries.items():
            classes[label] |= set(entry["implied"])
    elif closure == "nearest":
        labels: dict[str, set[str]] = {}
        for label, entry in entries.items():
            for finding in entry["exact"]:
                labels.setdefault(finding, set()).add(label)
        for finding in reference.findings:
            for label in _nearest_labels(finding, labels, reference):
                classes[label].add(finding)
    return {label: frozenset(members) for label, members in classes.items()}


def _nearest_labels(finding: str, labels: Mapping[str, set[str]], reference: Reference) -> set[str]:
    """Classes of the finding or of its nearest ancestors that have one."""
    level = {finding}
    while level:
        found = set().union(*(labels.get(name, set()) for name in level))
        if found:
            return found
        level = {p for name in level for p in reference.findings[name].parents}
    return set()

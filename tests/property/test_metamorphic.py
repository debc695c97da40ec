"""From sentences to labels: what must change with a sentence, and what must not.

No table of expected labels, but relations between a report and an altered one (metamorphic tests):
denied is the opposite of asserted, left the mirror of right, a joined sentence says what its parts
say, and the order of sentences, their layout or a denial of something else change nothing.
"""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import polars as pl
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))
from labels_fixtures import read

THINGS = {
    "pleural effusion": "Pleural Effusion",
    "pneumothorax": "Pneumothorax",
    "consolidation": "Consolidation",
    "pneumonia": "Pneumonia",
    "pulmonary edema": "Edema",
    "atelectasis": "Atelectasis",
    "cardiomegaly": "Cardiomegaly",
    "rib fracture": "Fracture",
    "pulmonary nodule": "Lung Lesion",
    "airspace opacity": "Lung Opacity",
}
"""What can be asserted and denied -> its class."""

PART_OF_CLASS = ("rib fracture", "pulmonary nodule", "airspace opacity")
"""Things whose denial leaves the rest of their class open."""

SAID = {
    "positive": (
        *("There is {a}.", "{A} is present.", "{A} is again seen.", "{A}, unchanged."),
        *("Findings are in keeping with {a}.", "New {a} since the last film.", "The {a} persists."),
        *(
            "{A} has developed.",
            "The study shows {a}.",
            "{A} has increased.",
            "Known {a} is stable.",
        ),
        *("{A} is not resolved.", "No change in the {a}.", "No improvement of the {a}."),
        *("{A} has not cleared.", "Resolving {a}.", "There is {a}, no worse than before."),
        *("{A} has failed to resolve.", "Incomplete resolution of the {a}.", "{A} is no smaller."),
        *("Not only is there {a} but it has grown.", "The {a} is not as large as before."),
        *("Despite treatment, {a} persists.", "Findings diagnostic of {a}.", "Slight {a}."),
        *("No change: {a}.", "Unlike the prior film, there is {a}.", "{A} - stable."),
        *("{A} has neither grown nor shrunk.", "{A}, for which no cause is seen."),
        *("Again {a}, no new finding.", "{A} is noted; otherwise no abnormality."),
        *("Apart from {a}, the chest is normal.", "No abnormality except {a}."),
        *("Nothing new; {a} as before.", "{A} cannot be missed.", "Treatment failed: {a} remains."),
    ),
    "negative": (
        *("No {a}.", "There is no {a}.", "There is no evidence of {a}.", "No {a} is identified."),
        *("{A} is not seen.", "Without {a}.", "The study is negative for {a}.", "{A} is absent."),
        *("No radiographic evidence for {a}.", "No sign of {a} today.", "{A} has been excluded."),
        *("The chest is free of {a}.", "No {a} can be made out.", "{A} has resolved."),
        *("There has been resolution of the {a}.", "{A} is no longer seen.", "{A}: none."),
        *("No evidence to suggest {a}.", "Not seen is any {a}.", "No convincing {a}."),
        *("Neither {a} nor free air is seen.", "Absence of {a}.", "I see no {a}."),
        *("There is nothing to suggest {a}.", "{A} not appreciated.", "Lack of {a}."),
        *("Previously described {a} is no longer visible.", "{A} has been ruled out."),
        *("There is complete clearing of the {a}.", "No definite {a}.", "{A} is not evident."),
        *(
            "{A}: no.",
            "{A} - none.",
            "{A} (absent).",
            "There isn't {a}.",
            "Not any {a}.",
            "Nil {a}.",
        ),
        *("Nothing in the way of {a}.", "{A} has disappeared.", "{A} has cleared completely."),
        *("No suggestion of {a}.", "There was {a} before, now resolved.", "{A} is not confirmed."),
    ),
    "uncertain": (
        *("Possible {a}.", "{A} is possible.", "{A} cannot be excluded.", "Cannot rule out {a}."),
        *("This may be {a}.", "Questionable {a}.", "Findings could represent {a}.", "Query {a}."),
        *("There may be {a}.", "{A} is not excluded.", "Suspected {a}?", "? {a}", "Perhaps {a}."),
        *("{A} should be considered.", "Equivocal {a}.", "{A} is difficult to exclude."),
        *("{A} is not entirely excluded.", "Raises the possibility of {a}.", "Possibly {a}."),
        *("There might be {a}.", "{A} is a consideration.", "{A} not ruled out."),
        *(
            "It is not certain whether {a} is present.",
            "{A} is hard to rule out.",
            "Not sure if {a}.",
        ),
        *("{A} or artifact.", "{A}? Please correlate.", "Indeterminate for {a}."),
        *("May reflect {a} or overlap.", "Differential includes {a}."),
    ),
}
"""Value of the class -> wordings."""

JOINED = {
    "No {a} or {b}.": "No {a}. No {b}.",
    "No {a}, {b}, or {c}.": "No {a}. No {b}. No {c}.",
    "There is {a} and {b}.": "There is {a}. There is {b}.",
    "There is {a} without {b}.": "There is {a}. No {b}.",
    "There is {a}, but no {b}.": "There is {a}. No {b}.",
    "No {a}, but there is {b}.": "No {a}. There is {b}.",
    "There is no {a}; {b} is present.": "No {a}. There is {b}.",
    "{A} is present and there is no {b}.": "There is {a}. No {b}.",
    "Possible {a}, no {b}.": "Possible {a}. No {b}.",
    "No {a}. {B} has improved but persists.": "No {a}. There is {b}.",
    "Neither {a} nor {b} is seen.": "No {a}. No {b}.",
    "{A} has resolved, {b} has not.": "No {a}. There is {b}.",
    "Although there is {a}, {b} is not identified.": "There is {a}. No {b}.",
    "{A} with no associated {b}.": "There is {a}. No {b}.",
    "No {a} to explain the {b}.": "No {a}. There is {b}.",
    "{A} cannot be excluded, but there is no {b}.": "Possible {a}. No {b}.",
    "No {a} and {b} persists.": "No {a}. There is {b}.",
    "{A} (no {b}).": "There is {a}. No {b}.",
    "{A}; {b}; no {c}.": "There is {a}. There is {b}. No {c}.",
    "Interval increase in {a} and decrease in {b}.": "There is {a}. There is {b}.",
    "Clear of {a}, {b} and {c}.": "No {a}. No {b}. No {c}.",
    "No {a} nor any {b} is present, and {c} is stable.": "No {a}. No {b}. There is {c}.",
}
"""A joined sentence -> sentences that say the same one by one."""

TRIPLES = (
    ("pleural effusion", "pneumothorax", "cardiomegaly"),
    ("consolidation", "pleural effusion", "pneumothorax"),
    ("cardiomegaly", "pulmonary edema", "pleural effusion"),
    ("atelectasis", "pneumonia", "pneumothorax"),
    ("pneumothorax", "rib fracture", "consolidation"),
)

SIDED = (
    "There is a moderate left pleural effusion.",
    "A small right apical pneumothorax is seen.",
    "Patchy consolidation is present in the right lower lobe.",
    "Linear atelectasis at the left base, and the right base is clear.",
    "Large right effusion with a small left effusion.",
    "No left pleural effusion, but a right pleural effusion is present.",
    "The left hemidiaphragm is elevated.",
    "Right internal jugular catheter with its tip in the superior vena cava.",
    "Left chest tube, and no left pneumothorax.",
    "A nodule projects over the right upper lung and another over the left apex.",
    "Opacity in the left mid lung has cleared, that in the right mid lung persists.",
    "Effusions are present, left greater than right.",
    "Healing fractures of the right fifth and left eighth ribs.",
    "Left-sided pacemaker with leads in the heart.",
    "Right-sided volume loss with shift of the mediastinum to the right.",
    "The right costophrenic angle is blunted; the left is sharp.",
    "Moderate left and trace right pleural effusions.",
    "No right effusion; left effusion is moderate.",
    "The left effusion has resolved while the right has grown.",
    "Left lower lobe collapse with compensatory hyperinflation of the right lung.",
    "The tip of the left subclavian line is in the right atrium.",
    "Right mainstem intubation with collapse of the left lung.",
    "Tracheal deviation to the left from a right upper mass.",
    "Left pneumonectomy; the right lung is clear.",
    "There is opacity at the right base, not at the left.",
    "Right rib fractures without left rib fractures.",
    "The left lung shows a nodule and the right lung shows atelectasis.",
    "Small effusion on the left. The right is unchanged and small.",
    "On the left, there is an effusion; on the right, a pneumothorax.",
    "Status post left mastectomy with a right chest port.",
    "Effusion: left small, right none.",
    "L effusion.",
    "Lt base atelectasis.",
)

REPORTS = (
    ("There is a large left pleural effusion.", "The heart is enlarged.", "No pneumothorax."),
    ("Multiple rib fractures.", "Subsegmental atelectasis at both bases.", "Old granuloma."),
    ("Possible pneumonia in the right lower lobe.", "The mediastinum is widened."),
    ("Endotracheal tube in place.", "Mild pulmonary edema.", "Small bilateral effusions."),
    ("No consolidation.", "No effusion.", "A lung mass cannot be excluded."),
    ("Stable cardiomegaly.", "Chest tube on the right.", "There is a right pneumothorax."),
)
"""Sentences that stand each for itself."""

ADDED = (
    "The trachea is midline.",
    "The hila are unremarkable.",
    "The aorta is normal in caliber.",
    "The upper abdomen is unremarkable.",
    "There are no prior films for comparison.",
    "The patient is slightly rotated.",
    "No hiatal hernia.",
    "There is no pneumoperitoneum.",
    "No evidence of scoliosis.",
    "No hilar enlargement.",
    "No subcutaneous emphysema is seen.",
)
"""Normal sentences and denials that say nothing of what the reports speak of."""

OTHER_SIDE = {"left": "right", "right": "left", "l": "r", "r": "l", "lt": "rt", "rt": "lt"}


def spelled(template: str, a: str, b: str = "", c: str = "") -> str:
    return template.format(a=a, b=b, c=c, A=a.capitalize(), B=b.capitalize())


def labels(reports: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Study -> class -> value."""
    found: dict[str, dict[str, str]] = {}
    for row in read(dict(reports)).labels.iter_rows(named=True):
        found.setdefault(row["study_id"], {})[row["class"]] = row["value"]
    return found


# --- polarity -----------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def said() -> dict[str, dict[str, str]]:
    """Labels of every thing in every wording, read at once."""
    every = (spelled(t, thing) for ts in SAID.values() for t in ts for thing in THINGS)
    return labels({text: f"FINDINGS: {text}" for text in every})


@pytest.mark.parametrize(
    ("value", "template"), [(value, t) for value, ts in SAID.items() for t in ts]
)
def test_a_wording_means_the_same_of_every_thing(value: str, template: str) -> None:
    found = {thing: said()[spelled(template, thing)][name] for thing, name in THINGS.items()}
    wanted = dict.fromkeys(THINGS, value)
    if value == "negative":
        wanted |= dict.fromkeys(PART_OF_CLASS, "not mentioned")
    assert found == wanted


@lru_cache(maxsize=1)
def joined() -> dict[str, dict[str, str]]:
    """Labels of joined sentences and of their parts, read at once."""
    every = {spelled(t, *things) for pair in JOINED.items() for t in pair for things in TRIPLES}
    return labels({text: f"FINDINGS: {text}" for text in sorted(every)})


@pytest.mark.parametrize("template", JOINED)
def test_a_joined_sentence_says_what_its_parts_say(template: str) -> None:
    for things in TRIPLES:
        whole, parts = spelled(template, *things), spelled(JOINED[template], *things)
        assert joined()[whole] == joined()[parts], whole


# --- sides --------------------------------------------------------------------------------------


def mirrored(text: str) -> str:
    """Left for right and right for left, in words."""

    def swap(found: re.Match[str]) -> str:
        other = OTHER_SIDE[found[0].lower()]
        return other.capitalize() if found[0][0].isupper() else other

    return re.sub(r"\b(?:left|right|Lt|Rt|L|R)\b", swap, text, flags=re.IGNORECASE)


@lru_cache(maxsize=1)
def sided() -> dict[str, set[tuple[str, ...]]]:
    """Text -> (class, value, what is said, finding, side), of both versions, read at once."""
    texts = {*SIDED, *map(mirrored, SIDED)}
    table = read({t: f"FINDINGS: {t}" for t in sorted(texts)}, dataset="padchest").labels
    rows = table.explode("evidence", empty_as_null=True).unnest("evidence")
    found: dict[str, set[tuple[str, ...]]] = {}
    for row in rows.filter(pl.col("obs_id").is_not_null()).iter_rows(named=True):
        told = (row["class"], row["value"], row["says"], row["finding"], row["laterality"])
        found.setdefault(row["study_id"], set()).add(told)
    return found


@pytest.mark.parametrize("text", SIDED)
def test_the_mirrored_sentence_has_the_mirrored_labels(text: str) -> None:
    told = sided()[text]
    assert {(*rest, OTHER_SIDE.get(side, side)) for *rest, side in told} == sided()[mirrored(text)]
    assert {side for *_, side in told} - {"unknown"}


# --- what changes nothing -----------------------------------------------------------------------


def unchanged(sentences: tuple[str, ...]) -> dict[str, str]:
    """Reports that say what ``sentences`` say, by what was done to them."""
    text = " ".join(sentences)
    versions = {"": text, "twice": f"{text} {text}", "capitals": text.upper()}
    versions |= {"small": text.lower(), "wrapped": text.replace(" ", "\n")}
    versions |= {"lines": "\n".join(sentences), "paragraphs": "\n\n".join(sentences)}
    numbered = (f"{i}. {one}" for i, one in enumerate(sentences, start=1))
    versions |= {"numbered": "\n".join(numbered), "listed": "- " + "\n- ".join(sentences)}
    for order in itertools.permutations(sentences):
        versions[f"order {' '.join(order)}"] = " ".join(order)
    for one in ADDED:
        versions |= {f"before {one}": f"{one} {text}", f"after {one}": f"{text} {one}"}
    found = {done: f"FINDINGS: {version}" for done, version in versions.items()}
    repeated = f"FINDINGS: {text}\n\nIMPRESSION: {text}"
    return found | {"impression": f"IMPRESSION: {text}", "both": repeated}


@pytest.mark.parametrize("sentences", REPORTS)
def test_order_layout_and_other_matters_change_no_label(sentences: tuple[str, ...]) -> None:
    found = labels(unchanged(sentences))
    assert {v for v in found[""].values() if v != "not mentioned"}
    assert {done: values for done, values in found.items() if values != found[""]} == {}


@pytest.mark.parametrize("sentences", REPORTS)
def test_what_is_asked_or_recalled_is_no_label(sentences: tuple[str, ...]) -> None:
    text = " ".join(sentences)
    asked = ("INDICATION: Cardiomegaly, pneumonia?", "HISTORY: Fracture. Effusion.")
    reports = {"": f"FINDINGS: {text}"}
    reports |= {a: f"{a}\n\nFINDINGS: {text}" for a in asked}
    found = labels(reports)
    for values in found.values():
        assert values | {"No Finding": ""} == found[""] | {"No Finding": ""}

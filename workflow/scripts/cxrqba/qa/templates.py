"""Question templates as data (paper Sec. E.2.1, Tabs 13-15): ``resources/templates/*.yaml``.

One file a strategy. A template names its question wordings, the variable it is asked for, an
optional filter of observations, the template answer for each state, and the subsets of
observations that become answer parts, in order and with their role. Everything is checked on
loading, so that a wrong key, subset or placeholder fails with file, template and nearest name.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from string import Formatter
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cxrqba.errors import UserError, nearest
from cxrqba.schema import STRATEGIES

State = Literal["present", "likely", "possible", "unclear", "unlikely", "absent"]
"""What is known about the thing asked for: a finding, an abnormality, a device.

``unclear`` is said to be indeterminate. A seventh, ``unknown``, has no answers: such a question is
skipped, for unknown is never "no".
"""
Property = Literal["localizable", "located", "gradable", "graded"]
"""Of a finding: whether it has a place or a severity at all, and whether one is stated."""
Role = Literal["main_answer", "details", "related_information"]
About = Literal["finding", "device", "any"]

CLASSES = (
    "finding_pos",
    "finding_neg",
    "finding_unclear",
    "finding_unresolved",
    "device_pos",
    "device_neg",
    "acquisition",
    "notes",
)
SUBSETS: dict[str, tuple[str, ...]] = {
    "indication": ("indication_answer", "associated"),
    "abnormal": CLASSES,
    "region_abnormal": (
        *CLASSES,
        "parent_region_pos",
        "opposite_side_pos",
        "parent_region_device",
    ),
    "finding": (
        *CLASSES,
        "parent_findings",
        "same_subcategory",
        "correlated",
        "indications",
        "indicative",
        "same_region",
    ),
}
"""Strategy -> named subsets of observations (paper Sec. E.2.2).

``finding_unresolved``: positive, but of a kind the reference does not know; ``finding_unclear``:
said to be indeterminate; ``notes``: recommendations and comparisons to earlier studies.
"""
TARGET = "target"
"""In ``tags`` and ``boxes``: the region or finding that the question asks for."""

_PLACEHOLDERS: dict[str, frozenset[str]] = {
    "": frozenset(),
    "indication": frozenset({"indication_summary"}),
    "subcategory": frozenset({"findings", "area", "is_area"}),
    "region": frozenset({"region", "is_region"}),
    "finding": frozenset(
        {
            "finding",
            "a_finding",
            "is_finding",
            "is_there",
            "there_is",
            "detail",
            "there_is_detail",
            "places",
            "severity",
        }
    ),
}
PROVIDED_VARIABLES = {
    "indication": ("indication",),
    "abnormal": (),
    "region_abnormal": ("region",),
    "finding": ("finding", "device"),
}
"""Variables that a strategy infers from the study; others are lists in the template file."""


class Block(BaseModel):
    """Base of all template blocks: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Sentence(Block):
    """A template answer part."""

    texts: tuple[str, ...] = Field(min_length=1, description="wordings; one is chosen by seed")
    name: str = Field(description="name_tag of the part")
    states: tuple[State, ...] = Field((), description="any of these states; empty: always")
    needs: tuple[Property, ...] = Field((), description="all of these must hold")
    positiveness: Literal["pos", "neg"] = "pos"
    certainty: Literal["certain", "likely", "uncertain"] | None = Field(
        None, description="null: the strongest of the observations whose tags it inherits"
    )
    tags: tuple[str, ...] = Field((), description="subsets whose tags are inherited, or target")
    boxes: tuple[str, ...] = Field(
        (), description="subsets whose boxes are inherited, or target; the first with boxes wins"
    )
    id: str = Field("", description="set on loading: template, place, number")

    @cached_property
    def sources(self) -> frozenset[str]:
        """Subsets of observations from which tags or boxes are inherited."""
        return frozenset((*self.tags, *self.boxes)) - {TARGET}


class PartRule(Block):
    """One subset of observations as answer parts."""

    subset: str
    role: Role
    unless: tuple[State, ...] = Field((), description="the subset is left out in these states")
    limit: int | None = Field(None, ge=1, description="at most this many top-level observations")
    reported_only: bool = Field(False, description="leave out added default observations")
    prefix: Sentence | None = Field(None, description="said before the subset if it is not empty")
    fallback: Sentence | None = Field(None, description="said in place of an empty subset")


class Filter(Block):
    """Which observations a template looks at."""

    subcategories: tuple[str, ...] = Field(min_length=1)


class Template(Block):
    """One question type."""

    id: str = Field(pattern=r"^[A-D]\w*$")
    questions: tuple[str, ...] = Field(min_length=1, description="wordings; one is chosen by seed")
    variable: str | None = Field(None, description="asked once for each value of this variable")
    about: About = Field("finding", description="whose state selects the template answer")
    complete_only: bool = Field(False, description="asked only where the graph is complete")
    images_only: bool = Field(False, description="asked only where the study has images")
    filter: Filter | None = None
    needs: tuple[Property, ...] = Field((), description="asked only where all of these hold")
    answers: tuple[Sentence, ...] = Field((), description="template answers; the first that fits")
    parts: tuple[PartRule, ...] = ()


class VariableList(Block):
    """A variable whose values are listed: subcategories of findings or devices."""

    always: tuple[str, ...] = Field((), description="values asked for in every study")
    mentioned: Literal["finding", "device"] | None = Field(
        None, description="also the subcategories of the study's findings or devices"
    )
    never: tuple[str, ...] = Field((), description="mentioned ones that make no question")


class Label(Block):
    """How a subcategory is called in a sentence."""

    findings: str = Field(description='plural noun phrase: "pleural abnormalities"')
    area: str | None = Field(None, description='what may be normal: "the pleura"')
    regions: tuple[str, ...] = Field((), description="where it lies, for boxes of negatives")


class TemplateFile(Block):
    """All templates of one strategy."""

    strategy: Literal["indication", "abnormal", "region_abnormal", "finding"]
    always: tuple[str, ...] = Field(
        (), description="regions, or findings and devices, that every study is asked about"
    )
    variables: dict[str, VariableList] = Field(default_factory=dict)
    labels: dict[str, Label] = Field(default_factory=dict)
    templates: tuple[Template, ...] = Field(min_length=1)


def load_templates(folder: str | Path) -> tuple[TemplateFile, ...]:
    """Load and check all template files of ``folder``, in the order of the strategies.

    Raises :class:`UserError` with file, template and nearest known name.
    """
    paths = sorted(Path(folder).glob("*.yaml"))
    if not paths:
        raise UserError(f"{folder}: no template files (*.yaml)")
    files: dict[str, tuple[Path, TemplateFile]] = {}
    for path in paths:
        file = _load_file(path)
        if file.strategy in files:
            other = files[file.strategy][0].name
            raise UserError(f"{path}: strategy '{file.strategy}' is defined in {other} already")
        files[file.strategy] = (path, file)
    _check_unique([(p, t.id) for p, f in files.values() for t in f.templates])
    return tuple(files[s][1] for s in STRATEGIES if s in files)


def _load_file(path: Path) -> TemplateFile:
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise UserError(f"{path}: not valid YAML: {str(error).splitlines()[0]}") from None
    if not isinstance(raw, dict):
        raise UserError(f"{path}: expected keys strategy and templates")
    try:
        file = TemplateFile.model_validate(raw)
    except ValidationError as error:
        raise UserError(f"{path}: {_explain(raw, error)}") from None
    templates = tuple(_checked(t, file, path) for t in file.templates)
    return file.model_copy(update={"templates": templates})


def _explain(raw: dict[str, Any], error: ValidationError) -> str:
    """One line for the first error: template, key, what is wrong, nearest known key."""
    first = error.errors()[0]
    location = list(first["loc"])
    where = ""
    if len(location) > 1 and location[0] == "templates" and isinstance(location[1], int):
        template = raw["templates"][location[1]]
        name = template.get("id") if isinstance(template, dict) else None
        where = f"template {name or location[1]}: "
        location = location[2:]
    key = ".".join(str(p) for p in location)
    if first["type"] == "extra_forbidden":
        known = sorted(_block_at(list(first["loc"][:-1])).model_fields)
        hint = nearest(str(location[-1]), known)
        return f"{where}unknown key '{key}'{hint}; known keys: {', '.join(known)}"
    if first["type"] == "missing":
        return f"{where}missing key '{key}'"
    return f"{where}key '{key}': {first['msg']}"


_BLOCKS: dict[str, type[Block]] = {
    "templates": Template,
    "answers": Sentence,
    "prefix": Sentence,
    "fallback": Sentence,
    "parts": PartRule,
    "filter": Filter,
    "variables": VariableList,
    "labels": Label,
}


def _block_at(location: Iterable[Any]) -> type[Block]:
    block: type[Block] = TemplateFile
    for part in location:
        block = _BLOCKS.get(str(part), block)
    return block


def _checked(template: Template, file: TemplateFile, path: Path) -> Template:
    """The template with ids for its sentences, after checking names that refer to others."""
    where = f"{path}: template {template.id}"
    kind = _variable_kind(template, file, where)
    for text in template.questions:
        _check_placeholders(text, kind, where)
    answers = tuple(
        _with_id(s, template, f"answer{i}", file, kind, where)
        for i, s in enumerate(template.answers, start=1)
    )
    parts = []
    for rule in template.parts:
        _check_name(rule.subset, SUBSETS[file.strategy], "subset", where)
        extra = {
            place: _with_id(sentence, template, f"{rule.subset}.{place}", file, kind, where)
            for place in ("prefix", "fallback")
            if (sentence := getattr(rule, place)) is not None
        }
        parts.append(rule.model_copy(update=extra))
    if not template.answers and all(r.role != "main_answer" for r in parts):
        raise UserError(f"{where}: no main answer; give answers or a part with role main_answer")
    return template.model_copy(update={"answers": answers, "parts": tuple(parts)})


def _with_id(
    sentence: Sentence, template: Template, place: str, file: TemplateFile, kind: str, where: str
) -> Sentence:
    for text in sentence.texts:
        _check_placeholders(text, kind, where)
    for subset in (*sentence.tags, *sentence.boxes):
        _check_name(subset, (*SUBSETS[file.strategy], TARGET), "subset", where)
    return sentence.model_copy(update={"id": f"{template.id}.{place}"})


def _variable_kind(template: Template, file: TemplateFile, where: str) -> str:
    """Which placeholders the template's texts may use."""
    variable = template.variable
    if variable is None:
        return ""
    provided = PROVIDED_VARIABLES[file.strategy]
    _check_name(variable, (*file.variables, *provided), "variable", where)
    if variable in file.variables:
        return "subcategory"
    return "finding" if variable == "device" else variable


def _check_placeholders(text: str, kind: str, where: str) -> None:
    try:
        names = [name for _, name, _, _ in Formatter().parse(text) if name is not None]
    except ValueError as error:
        raise UserError(f"{where}: {error} in '{text}'") from None
    for name in names:
        _check_name(name, _PLACEHOLDERS[kind], "placeholder", where)


def _check_name(name: str, known: Iterable[str], what: str, where: str) -> None:
    known = sorted(known)
    if name not in known:
        choices = ", ".join(known) or "none here"
        raise UserError(f"{where}: unknown {what} '{name}'{nearest(name, known)}; known: {choices}")


def _check_unique(ids: list[tuple[Path, str]]) -> None:
    seen: dict[str, Path] = {}
    for path, name in ids:
        if name in seen:
            raise UserError(f"{path}: template {name} is defined in {seen[name].name} already")
        seen[name] = path

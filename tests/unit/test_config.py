"""The configuration: every dataset file is valid; every mistake gets one helpful line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from cxrqba.config import DatasetConfig, HashShards, SubjectPrefixShards, load_config
from cxrqba.config_docs import generated
from cxrqba.errors import UserError

ROOT = Path(__file__).resolve().parents[2]
DATASETS = sorted(p.stem for p in (ROOT / "config" / "datasets").glob("*.yaml"))


def write_dataset(folder: Path, **changes: Any) -> dict[str, Any]:
    content: dict[str, Any] = {
        "name": "x",
        "title": "X",
        "source": {"kind": "text", "reports": "reports"},
        **changes,
    }
    path = folder / "x.yaml"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return {"dataset": str(path)}


@pytest.mark.parametrize("name", DATASETS)
def test_bundled_dataset_files_are_valid(name: str) -> None:
    _, dataset = load_config({"dataset": name}, ROOT)
    assert dataset.shard_names()


def test_config_yaml_runs_the_demo() -> None:
    raw = yaml.safe_load((ROOT / "config" / "config.yaml").read_text(encoding="utf-8"))
    run, dataset = load_config(raw, ROOT)
    assert (run.dataset, run.results, dataset.name) == ("demo", "results", "demo")


def test_generated_files_are_up_to_date() -> None:
    for path, text in generated(ROOT).items():
        assert path.read_text(encoding="utf-8") == text, f"{path} is old: run `make schema`"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sede": 1}, ["unknown key 'sede'", "known keys"]),
        ({"segmentaton": {}}, ["unknown key 'segmentaton'", "did you mean 'segmentation'"]),
        ({"qa": {"sed": 3}}, ["unknown key 'qa.sed'", "did you mean 'seed'"]),
        ({"source": {"kind": "text", "report": "x"}}, ["source", "report"]),
        ({"source": {"kind": "texts", "reports": "x"}}, ["source", "'text'"]),
        ({"segmentation": {"backend": "atlass"}}, ["segmentation.backend", "'atlas'", "atlass"]),
        ({"llm": {"backend": "gpt"}}, ["llm.backend", "'rules'"]),
        ({"embedding": {"threshold": 2}}, ["embedding.threshold", "less than or equal to 1"]),
        ({"shards": {"by": "hash", "number": 2}}, ["number", "count"]),
        ({"name": "Two words"}, ["name"]),
    ],
)
def test_a_mistake_gets_one_line_naming_file_and_key(
    tmp_path: Path, changes: dict[str, Any], words: list[str]
) -> None:
    with pytest.raises(UserError) as error:
        load_config(write_dataset(tmp_path, **changes), ROOT)
    message = str(error.value)
    assert "\n" not in message
    assert "x.yaml" in message
    for word in words:
        assert word in message


def test_an_unknown_dataset_names_the_nearest() -> None:
    with pytest.raises(UserError, match="did you mean 'demo'"):
        load_config({"dataset": "dmeo"}, ROOT)


def test_a_forgotten_evaluation_block_is_empty_not_the_demo_gold(tmp_path: Path) -> None:
    _, dataset = load_config(write_dataset(tmp_path), ROOT)
    references = dataset.references("results/x")
    assert sorted(references) == ["boxes", "extraction", "labels", "regions"]
    assert not any(references.values())


def test_paths_and_shards_from_the_command_line_replace_those_of_the_file(tmp_path: Path) -> None:
    raw = write_dataset(tmp_path, shards={"by": "hash", "count": 3})
    _, dataset = load_config({**raw, "reports": "elsewhere", "only": 1}, ROOT)
    assert dataset.source.reports == "elsewhere"  # type: ignore[union-attr]
    assert dataset.shard_names() == ["1"]


def test_openi_labels_come_from_the_reports_given() -> None:
    _, dataset = load_config({"dataset": "openi", "reports": "my.tgz"}, ROOT)
    assert dataset.references("results/openi")["labels"][0]["path"] == "my.tgz"


def test_shard_names_are_known_without_data() -> None:
    base = {"name": "x", "title": "X", "source": {"kind": "text", "reports": "r"}}
    prefix = SubjectPrefixShards(by="subject_prefix", digits=3)
    names = DatasetConfig(**base, shards=prefix).shard_names()  # type: ignore[arg-type]
    assert (len(names), names[0], names[-1]) == (100, "p100", "p199")
    hashed = DatasetConfig(**base, shards=HashShards(by="hash", count=12))  # type: ignore[arg-type]
    assert hashed.shard_names()[:3] == ["00", "01", "02"]


def test_an_unknown_shard_is_refused(tmp_path: Path) -> None:
    _, dataset = load_config(write_dataset(tmp_path, only=["7"]), ROOT)
    with pytest.raises(UserError, match="no shard '7'"):
        dataset.shard_names()


@pytest.mark.parametrize(
    ("site", "words"),
    [
        ({"header_aliases": {"BEFUND": "FINDNGS"}}, "did you mean 'FINDINGS'"),
        ({"deid_tokens": [""]}, "empty token"),
    ],
)
def test_site_mistakes_are_explained(tmp_path: Path, site: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        load_config(write_dataset(tmp_path, site=site), ROOT)


def test_a_dataset_file_that_is_no_yaml_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("name: x\ntitle: [\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"x\.yaml, line \d+: not valid YAML"):
        load_config({"dataset": str(path)}, ROOT)
    path.write_bytes(b"name: \xff\n")
    with pytest.raises(UserError, match=r"x\.yaml.*not valid YAML"):
        load_config({"dataset": str(path)}, ROOT)

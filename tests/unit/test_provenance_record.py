"""The record of a run: what stands in run.json, the crate as a maintained validator sees it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import rocrate
from rocrate.rocrate import ROCrate
from rocrate_validator import services
from rocrate_validator.models import Severity, ValidationSettings
from rocrate_validator.utils.http import HttpRequester
from run_fixtures import make_project, record_run


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = make_project(tmp_path_factory.mktemp("record"))
    record_run(made)
    return made


def record(results: Path) -> dict[str, Any]:
    path = results / "provenance" / "run.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def test_the_record_tells_config_code_prompts_models_and_packages(results: Path) -> None:
    found = record(results)
    assert found["dataset"] == {"name": "own", "title": "Invented reports"}
    assert found["config"]["embedding"]["threshold"] == 0.5
    assert found["models"]["mapping"]["backend"] == "lexical"
    assert found["models"]["passes"]["backend"] == "rules"
    assert {"sentences", "observations", "indication"} <= found["prompts"].keys()
    assert {"build_graphs", "generate_qa"} <= found["code"].keys()
    hashes = [*found["prompts"].values(), *found["code"].values(), *found["resources"].values()]
    assert all(len(h) == 16 for h in hashes)
    assert {"polars", "snakemake"} <= found["environment"]["packages"].keys()
    assert any(s["source"] == "Chest ImaGenome" and s["version"] for s in found["sources"])
    assert found["project"].keys() == {"version", "commit", "committed", "dirty"}


def test_inputs_stand_with_their_checksums(results: Path) -> None:
    reports = results.parents[1] / "reports.csv"
    content = reports.read_bytes()
    assert record(results)["inputs"] == {
        str(reports): {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    }


def test_the_same_run_is_recorded_in_the_same_bytes(results: Path) -> None:
    folder = results / "provenance"
    before = {p.name: p.read_bytes() for p in folder.iterdir()}
    record_run(results)
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == before
    assert before.keys() == {"run.json", "SHA256SUMS", "ro-crate-metadata.json", "Snakefile"}


def test_neither_record_nor_crate_holds_report_text(results: Path) -> None:
    for path in (results / "provenance").iterdir():
        assert "basilar atelectasis" not in path.read_text(encoding="utf-8")


def test_the_crate_can_be_read_and_names_inputs_and_results(results: Path) -> None:
    crate = ROCrate(results / "provenance")
    assert crate.mainEntity.id == "Snakefile"
    action = crate.get("#run")
    assert action["instrument"].id == "Snakefile"
    made = {entity["name"] for entity in action["result"]}
    assert {"tables/table_accounting.csv", "summary.txt"} <= made
    assert any(str(entity["name"]).endswith("reports.csv") for entity in action["object"])


@pytest.mark.parametrize("profile", ["workflow-run-crate", "process-run-crate"])
def test_the_crate_keeps_the_profiles(
    results: Path, profile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The JSON-LD context comes from the rocrate package: tests need no network."""
    text = (Path(rocrate.__file__).parent / "data" / "ro-crate.jsonld").read_text(encoding="utf-8")
    # the packaged context is a later one, in which this one term moved
    old = text.replace("bioschemas.org/terms/ComputationalWorkflow",
                       "bioschemas.org/ComputationalWorkflow")  # fmt: skip
    context = SimpleNamespace(
        status_code=200, headers={"Content-Type": "application/ld+json"}, url="", text=old,
        content=old.encode(), ok=True, from_cache=True, json=lambda: json.loads(old),
        raise_for_status=lambda: None,
    )  # fmt: skip
    monkeypatch.setattr(HttpRequester, "__getattr__", lambda self, name: lambda *_, **__: context)
    settings = ValidationSettings(
        rocrate_uri=str(results / "provenance"),
        profile_identifier=profile,
        requirement_severity=Severity.REQUIRED,
        abort_on_first=False,
    )
    outcome = services.validate(settings)
    assert [issue.message for issue in outcome.get_issues()] == []
    assert outcome.passed()

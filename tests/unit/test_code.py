"""Code hashes: what a step imports changes its hash, nothing else does."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from cxrqba.provenance import code

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    """A copy of the scripts, so that files can be changed."""
    target = tmp_path / "scripts"
    shutil.copytree(ROOT / "workflow" / "scripts", target)
    return target


def change(path: Path) -> None:
    path.write_text(path.read_text(encoding="utf-8") + "\nCHANGED = True\n", encoding="utf-8")


def hashes(scripts: Path) -> dict[str, str]:
    code._imported.cache_clear()
    return {p.stem: code.code_hash(p) for p in sorted(scripts.glob("*.py"))}


def test_the_closure_holds_indirect_imports(scripts: Path) -> None:
    names = {p.relative_to(scripts).as_posix() for p in code.import_closure(scripts / "rate_qa.py")}
    assert {"rate_qa.py", "cxrqba/step.py", "cxrqba/schema.py", "cxrqba/errors.py"} <= names


def test_an_imported_module_changes_only_the_steps_that_import_it(scripts: Path) -> None:
    before = hashes(scripts)
    change(scripts / "cxrqba" / "paper" / "style.py")
    after = hashes(scripts)
    changed = {step for step in before if before[step] != after[step]}
    assert "figure_4_quality" in changed
    assert not any(step.startswith(("segment", "extract", "build", "judge")) for step in changed)


def test_touching_changes_nothing(scripts: Path) -> None:
    before = hashes(scripts)
    for path in scripts.rglob("*.py"):
        os.utime(path)
    assert hashes(scripts) == before


def test_editing_a_parser_leaves_the_localisation_alone(scripts: Path) -> None:
    before = hashes(scripts)
    change(scripts / "cxrqba" / "extract" / "observations.py")
    after = hashes(scripts)
    assert after["extract_observations"] != before["extract_observations"]
    assert after["segment_anatomy"] == before["segment_anatomy"]

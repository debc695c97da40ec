"""Code hashes: what a step imports changes its hash, nothing else does."""

from __future__ import annotations

import ast
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
    code._read.cache_clear()
    return {p.stem: code.code_hash(p) for p in sorted(scripts.glob("*.py"))}


def test_the_closure_holds_indirect_imports(scripts: Path) -> None:
    names = {p.relative_to(scripts).as_posix() for p in code.import_closure(scripts / "rate_qa.py")}
    assert {"rate_qa.py", "cxrqba/step.py", "cxrqba/schema.py", "cxrqba/errors.py"} <= names


@pytest.mark.parametrize(
    "statement",
    [
        "from cxrqba.paper import style",
        "from cxrqba.paper import (\n    __doc__,  # a remark (in brackets)\n    style,\n)",
        "import cxrqba.paper.style",
        "def later():\n    from cxrqba.paper.style import font as other",
    ],
)
def test_every_way_of_importing_is_seen(scripts: Path, statement: str) -> None:
    script = scripts / "new.py"
    script.write_text(f"{statement}\n", encoding="utf-8")
    assert scripts / "cxrqba/paper/style.py" in code.import_closure(script)


def test_the_closure_is_that_of_the_parser(scripts: Path) -> None:
    for path in scripts.rglob("*.py"):
        modules = set()
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                modules |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
                modules |= {node.module, *(f"{node.module}.{a.name}" for a in node.names)}
        parsed = {file for module in modules for file in code._files(scripts, module)}
        assert code._read(path, scripts)[1] >= parsed, path


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


def test_a_folder_of_tables_changes_its_hash_by_content_and_names_alone(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\n", encoding="utf-8")
    first = code.folder_hash(tmp_path, (".csv",))
    (tmp_path / "README.md").write_text("not a table", encoding="utf-8")
    os.utime(tmp_path / "a.csv", (1, 1))
    assert code.folder_hash(tmp_path, (".csv",)) == first
    (tmp_path / "a.csv").rename(tmp_path / "b.csv")
    renamed = code.folder_hash(tmp_path, (".csv",))
    (tmp_path / "b.csv").write_text("y\n", encoding="utf-8")
    assert len({first, renamed, code.folder_hash(tmp_path, (".csv",))}) == 3

"""The house: rooms in order, a package without Snakemake, one word per step, thin scripts."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "workflow" / "scripts"
PACKAGE = SCRIPTS / "cxrqba"
ROOMS = [
    "reference",
    "reports",
    "regions",
    "llm",
    "extract",
    "mapping",
    "graph",
    "qa",
    "judge",
    "evaluate",
    "paper",
    "browse",
    "release",
    "provenance",
]
STEPS = sorted(p.stem for p in SCRIPTS.glob("*.py"))


def imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def room_of(name: str) -> str | None:
    parts = name.split(".")
    return parts[1] if len(parts) > 1 and parts[0] == "cxrqba" and parts[1] in ROOMS else None


def test_every_folder_of_the_package_is_a_known_room() -> None:
    assert sorted(p.parent.name for p in PACKAGE.glob("*/__init__.py")) == sorted(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_no_later_room(room: str) -> None:
    later = set(ROOMS[ROOMS.index(room) + 1 :])
    for path in (PACKAGE / room).rglob("*.py"):
        used = {r for name in imports(path) if (r := room_of(name))}
        assert not used & later, f"{path.relative_to(ROOT)} imports {sorted(used & later)}"


def test_foundation_modules_import_no_room() -> None:
    """The command stands above all rooms: it may call any."""
    for path in PACKAGE.glob("*.py"):
        if path.name == "cli.py":
            continue
        used = {r for name in imports(path) if (r := room_of(name))}
        assert not used, f"{path.name} imports {sorted(used)}"


def test_the_package_knows_nothing_of_snakemake() -> None:
    for path in PACKAGE.rglob("*.py"):
        assert not any(n.split(".")[0] == "snakemake" for n in imports(path)), path


def test_nothing_imports_a_heavy_library() -> None:
    heavy = {"torch", "vllm", "stanza", "sentence_transformers", "cxas", "pandas"}
    for path in SCRIPTS.rglob("*.py"):
        assert not {n.split(".")[0] for n in imports(path)} & heavy, path


def rules() -> dict[str, str]:
    found: dict[str, str] = {}
    for path in sorted((ROOT / "workflow" / "rules").glob("*.smk")):
        text = path.read_text(encoding="utf-8")
        for part in re.split(r"^ *rule (?=\w+:)", text, flags=re.MULTILINE)[1:]:
            found[part.partition(":")[0]] = part
    return found


def test_rule_script_log_and_benchmark_share_one_word() -> None:
    found = rules()
    assert sorted(found) == STEPS
    for name, text in found.items():
        assert f'"step {name} --' in text
        assert f'"<logs>/{name}' in text
        assert f'"<benchmarks>/{name}' in text
        assert f'code=code("{name}")' in text


@pytest.mark.parametrize("step", STEPS)
def test_scripts_are_thin(step: str) -> None:
    text = (SCRIPTS / f"{step}.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 80, "move the work into the package"
    assert ast.get_docstring(ast.parse(text)), "say what the step does"
    assert "run(main)" in text


def test_common_rules_and_snakefile_stay_short() -> None:
    common = ROOT / "workflow" / "rules" / "common.smk"
    assert len(common.read_text(encoding="utf-8").splitlines()) < 150
    snakefile = ROOT / "workflow" / "Snakefile"
    assert len(snakefile.read_text(encoding="utf-8").splitlines()) < 80


def test_every_module_has_a_docstring() -> None:
    for path in PACKAGE.rglob("*.py"):
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), path


def test_readme_is_short_and_names_the_two_commands() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150
    assert "make demo" in text
    assert "make test" in text


def test_no_figure_of_the_docs_is_left_blank() -> None:
    for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        assert not re.search(r"@[A-Z_]+@|TBD|TODO", path.read_text(encoding="utf-8")), path

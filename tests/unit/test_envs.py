"""Environments and locks agree: one version of each library, hashes for all, no pip extras."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
CONDA_NAMES = {"matplotlib-base": "matplotlib", "pytorch": "torch"}


def locked(name: str) -> dict[str, str]:
    """Package -> version for Python 3.11, which the environments pin."""
    text = (ROOT / name).read_text(encoding="utf-8")
    pins = re.findall(r"^([\w.-]+)==([^\s;\\]+)([^\\\n]*)", text, flags=re.MULTILINE)
    return {p: version for p, version, marker in pins if ">= '3.12'" not in marker}


@pytest.mark.parametrize("env", sorted((ROOT / "workflow" / "envs").glob("*.yaml")), ids=str)
def test_conda_environments_pin_the_locked_versions(env: Path) -> None:
    versions = locked("requirements-models.txt") | locked("requirements.lock")
    for dependency in yaml.safe_load(env.read_text(encoding="utf-8"))["dependencies"]:
        assert isinstance(dependency, str), "a pip section is lost by a pin file"
        name, _, version = dependency.partition("=")
        if name != "python":
            assert versions[CONDA_NAMES.get(name, name)] == version, dependency


@pytest.mark.parametrize(
    "lock", ["requirements.lock", "requirements-test.lock", "requirements-peer.lock"]
)
def test_every_locked_package_has_hashes(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")
    for block in re.split(r"\n(?=[A-Za-z])", text.strip()):
        assert "--hash=sha256:" in block, block.splitlines()[0]
    assert "://" not in text


def test_test_lock_keeps_the_versions_of_the_base_lock() -> None:
    test = locked("requirements-test.lock")
    assert {name: test.get(name) for name in locked("requirements.lock")} == locked(
        "requirements.lock"
    )


@pytest.mark.parametrize(
    "lock", ["requirements.lock", "requirements-test.lock", "requirements-peer.lock"]
)
def test_no_heavy_library_is_locked(lock: str) -> None:
    assert not {"torch", "vllm", "stanza", "cxas"} & set(locked(lock))

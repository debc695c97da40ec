"""Shared fixtures: the project's root and the optional folder of shared data beside it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's root folder."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The shared data folder; tests that need it are skipped where it is absent."""
    path = ROOT.parent / "shared"
    if not path.is_dir():
        pytest.skip("shared data not present")
    return path


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo) -> object:
    """Turn a skip for want of shared data or models into a failure where these must be."""
    report = yield
    shared = "shared" in item.keywords or "shared" in getattr(item, "fixturenames", ())
    for needs, variable, what in (
        (shared, "CXRQBA_REQUIRE_SHARED", "the shared data is present"),
        ("models" in item.keywords, "CXRQBA_REQUIRE_MODELS", "the models are asked for"),
    ):
        if needs and report.skipped and os.environ.get(variable) == "1":
            report.outcome = "failed"
            report.longrepr = f"{item.nodeid} was skipped although {what}"
    return report

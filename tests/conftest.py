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
    """Turn a skip of a test that needs the shared data into a failure where the data must be."""
    report = yield
    required = os.environ.get("CXRQBA_REQUIRE_SHARED") == "1"
    needs = "shared" in item.keywords or "shared" in getattr(item, "fixturenames", ())
    if required and report.skipped and needs:
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped although the shared data is present"
    return report

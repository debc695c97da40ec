"""A fresh clone without raw sources makes every table and figure from a deposit, and no more."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from test_workflow import clone, planned, small_dataset, snakemake

from cxrqba.provenance.deposit import pack, unpack

pytestmark = pytest.mark.workflow


def test_tables_and_figures_come_from_a_deposit_alone(tmp_path: Path) -> None:
    first = clone(tmp_path / "first")
    chosen = small_dataset(first)
    made = snakemake(first, "--cores", "all", *chosen)
    assert made.returncode == 0, (made.stdout + made.stderr)[-3000:]
    pack(first / "results" / "notes", tmp_path / "notes.tar")

    second = clone(tmp_path / "second")
    unpack(tmp_path / "notes.tar", second / "results" / "notes")
    shutil.rmtree(first / "reports")
    touched = snakemake(second, "--touch", "--cores", "1", *chosen)
    assert touched.returncode == 0, (touched.stdout + touched.stderr)[-3000:]
    assert planned(snakemake(second, "-n", *chosen)) == 0

    for kind in ("tables", "figures"):
        shutil.rmtree(second / "results" / "notes" / kind)
    again = snakemake(second, "--cores", "all", *chosen)
    text = again.stdout + again.stderr
    assert again.returncode == 0, text[-3000:]
    ran = set(re.findall(r"^(?:rule|localrule) (\w+):|\(Rule: (\w+)\)", text, flags=re.MULTILINE))
    names = {a or b for a, b in ran}
    assert names, text[-2000:]
    late = re.compile(r"table_|figure_|summarize_run|index|provenance|default$")
    assert all(late.match(name) for name in names), names
    for kind in ("tables", "figures"):
        for path in (first / "results" / "notes" / kind).glob("*.csv"):
            assert (second / "results" / "notes" / kind / path.name).read_bytes() == (
                path.read_bytes()
            )

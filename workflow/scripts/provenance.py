"""Record what a run was made of: run.json, SHA256SUMS over all results, an RO-Crate of both."""

from __future__ import annotations

from pathlib import Path

from cxrqba import step
from cxrqba.config import DatasetConfig
from cxrqba.provenance.checksums import sums
from cxrqba.provenance.crate import METADATA, RECORD, WORKFLOW, crate
from cxrqba.provenance.record import read_results, run_record, to_text
from cxrqba.tables import write_text


def main() -> None:
    args = step.arguments(__doc__, files=("sums",))
    dataset = DatasetConfig.model_validate(args.settings["dataset"])
    folder, project = args.sums.parent, Path.cwd()
    results = folder.parent
    record = run_record(results, project, dataset)
    workflow = (project / "workflow" / "Snakefile").read_text(encoding="utf-8")
    write_text(workflow, folder / WORKFLOW)
    write_text(to_text(record), folder / RECORD)
    write_text(crate(record, read_results(results)), folder / METADATA)
    text = sums(results)
    write_text(text, args.sums)
    step.log.info("provenance: %d files", text.count("\n"))


if __name__ == "__main__":
    step.run(main)

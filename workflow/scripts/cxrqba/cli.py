"""The ``cxrqba`` command: run the workflow, count a model's cost, write what is generated."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from cxrqba import __version__
from cxrqba.errors import UserError


def main(argv: list[str] | None = None) -> None:
    """Entry point; a :class:`UserError` becomes one line and exit status 1."""
    parser = argparse.ArgumentParser(prog="cxrqba", description=__doc__)
    parser.add_argument("--version", action="version", version=f"cxrqba {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser(
        "run",
        allow_abbrev=False,
        usage="cxrqba run [snakemake arguments ...]",
        help="run the workflow, recovering from a killed run; other arguments go to snakemake",
        description="Run `snakemake --cores all` in this folder. A lock left by a killed run is "
        "removed; a lock of a live run is respected and its holder named. All other arguments go "
        "to snakemake, e.g. `cxrqba run --config dataset=openi reports=FILE`.",
    )
    commands.add_parser(
        "schema", help="write the JSON schemas and config/README.md's tables from the model"
    )
    diff = commands.add_parser(
        "labels-diff",
        help="what changed between two runs of `snakemake labels`",
        description="Compare the labels of two runs, such as before and after an edit of the "
        "reference tables: counts by class, then the studies.",
    )
    diff.add_argument("old", type=Path, help="copy of results/<dataset>/labels made before")
    diff.add_argument("new", type=Path, help="results/<dataset>/labels as it is now")
    diff.add_argument("--csv", type=Path, help="write every difference to this file")
    budget = commands.add_parser(
        "budget",
        help="what judging by a language model would cost, before any model runs",
        description="Count requests and tokens on a sample of studies whose questions a run with "
        "backend rules has made. What is an estimate is said.",
    )
    budget.add_argument("--config", default="demo", help="dataset: a name or a file")
    budget.add_argument("--results", default="results", help="folder of the run with rules")
    budget.add_argument("--sample", type=int, default=500, help="studies to count on")
    budget.add_argument("--tokenizer", type=Path, help="tokenizer.json of the model")
    budget.add_argument("--input-rate", type=float, help="prompt tokens a second of one GPU")
    budget.add_argument("--output-rate", type=float, help="reply tokens a second of one GPU")
    show = commands.add_parser(
        "show",
        help="write the page of one study: report, images, graph, questions with their grades",
        description="Write a page that works without network and print its path. It holds report "
        "text. The study must be in the results of a run.",
    )
    show.add_argument("study", help="study id, such as s50000001")
    show.add_argument("--config", default="demo", help="dataset: a name or a file")
    show.add_argument("--results", default="results", help="folder of the run")
    show.add_argument("--out", type=Path, help="default: <results>/<dataset>/show/<study>.html")
    explain = commands.add_parser(
        "explain",
        help="print the chain behind one question, from answer parts to characters of the report",
        description="Print sentences and their places, mapping decisions, rules or model calls, "
        "templates and what limits the ratings. The text quotes the report.",
    )
    explain.add_argument("study", help="study id, such as s50000001")
    explain.add_argument("question", help="question id, such as D02_has_finding_001")
    audit = commands.add_parser(
        "audit",
        help="check that stored tags and answers follow from what they claim to rest on",
        description="Check all bytes against SHA256SUMS, sentences, spans and ids; then do the "
        "steps again on their stored inputs for some studies and compare. Status 1 on any fault.",
    )
    how_many = audit.add_mutually_exclusive_group()
    how_many.add_argument("--sample", type=int, default=20, help="studies to derive again")
    how_many.add_argument("--all", action="store_true", help="derive all studies again")
    check = commands.add_parser(
        "check",
        help="before the queue: look at paths, columns, models, GPU, space and the cluster profile",
        description="One line a thing, ok or BAD with what to do; status 1 if anything is BAD.",
    )
    check.add_argument("--profile", help="cluster profile to look at, such as slurm")
    pilot = commands.add_parser(
        "pilot",
        help="jobs, hours, memory and disk of the whole dataset, from a run of one shard",
        description="First `cxrqba run --config dataset=NAME only=SHARD`; then this scales it up.",
    )
    pilot.add_argument("--studies", type=int, default=227_835, help="default: MIMIC-CXR")
    deposit = commands.add_parser(
        "deposit",
        help="pack the results of a run into one file, without its raw source",
        description="Write a tar file of all recorded results. It holds report text.",
    )
    deposit.add_argument("--out", type=Path, help="default: <results>/<dataset>.deposit.tar")
    restore = commands.add_parser(
        "restore",
        help="unpack and verify a deposit, so that tables and figures can be made again",
        description="Unpack into <results>/<dataset>, verify all checksums and let Snakemake take "
        "the files as made; what is deleted then, or changed, is made again.",
    )
    restore.add_argument("archive", type=Path, help="file that `cxrqba deposit` wrote")
    for command in (explain, audit, deposit, restore, check, pilot):
        command.add_argument("--config", default="demo", help="dataset: a name or a file")
        command.add_argument("--results", default="results", help="folder of the run")
    args, others = parser.parse_known_args(argv)
    if others and args.command != "run":
        parser.error(f"unknown arguments: {' '.join(others)}")
    try:
        if args.command == "run":
            from cxrqba.launch import run as launch

            sys.exit(launch(others, Path.cwd()))
        if args.command == "labels-diff":
            print(_labels_diff(args.old, args.new, args.csv), end="")
            return
        if args.command == "show":
            print(_show(args.study, args.config, args.results, args.out))
            return
        if args.command == "explain":
            print(_explain(args.study, args.question, args.config, args.results), end="")
            return
        if args.command == "check":
            sys.exit(_check(args.config, args.results, args.profile))
        if args.command == "pilot":
            from cxrqba.pilot import pilot as scale

            print(scale(args.config, args.results, args.studies, Path.cwd()), end="")
            return
        if args.command == "audit":
            sys.exit(_audit(args.config, args.results, None if args.all else args.sample))
        if args.command == "deposit":
            print(_deposit(args.config, args.results, args.out))
            return
        if args.command == "restore":
            sys.exit(_restore(args.archive, args.config, args.results))
        if args.command == "budget":
            from cxrqba.judge.budget import Rates
            from cxrqba.judge.budget import budget as count

            rates = Rates(args.input_rate, args.output_rate)
            folder = Path.cwd()
            print(
                count(args.config, args.results, args.sample, folder, args.tokenizer, rates), end=""
            )
            return
        from cxrqba.config_docs import write

        for path in write(Path.cwd()):
            print(path)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)


def _check(dataset: str, results: str, profile: str | None) -> int:
    from cxrqba.provenance.check import check

    status = 0
    for finding in check(dataset, results, profile, Path.cwd()):
        print(finding, flush=True)
        status |= not finding.good
    return status


def _labels_diff(old: Path, new: Path, csv: Path | None) -> str:
    from cxrqba.label_changes import changes, describe, read_labels
    from cxrqba.tables import write_text

    before, after = read_labels(old), read_labels(new)
    if csv is not None:
        write_text(changes(before, after).write_csv(), csv)
    return describe(before, after)


def _show(study_id: str, dataset: str, results: str, out: Path | None) -> Path:
    from cxrqba.browse.build import file_name, study_page
    from cxrqba.config import load_config
    from cxrqba.tables import write_text

    run, block = load_config({"dataset": dataset, "results": results}, Path.cwd())
    folder = Path(run.results) / block.name
    text = study_page(folder, study_id, block.title)
    path = out or folder / "show" / file_name(study_id)
    write_text(text, path)
    return path


def _explain(study_id: str, question_id: str, dataset: str, results: str) -> str:
    from cxrqba.config import load_config
    from cxrqba.provenance.explain import explain

    run, block = load_config({"dataset": dataset, "results": results}, Path.cwd())
    return explain(Path(run.results) / block.name, Path.cwd(), study_id, question_id)


def _audit(dataset: str, results: str, sample: int | None) -> int:
    from cxrqba.config import load_config
    from cxrqba.provenance.audit import audit

    run, block = load_config({"dataset": dataset, "results": results}, Path.cwd())
    folder = Path(run.results) / block.name
    report = audit(folder, Path.cwd(), block, sample, lambda line: print(line, file=sys.stderr))
    print(report.text(), end="")
    return int(bool(report.faults))


def _deposit(dataset: str, results: str, out: Path | None) -> str:
    from cxrqba.config import load_config
    from cxrqba.provenance.deposit import pack

    run, block = load_config({"dataset": dataset, "results": results}, Path.cwd())
    folder = Path(run.results) / block.name
    path = out or folder.with_name(f"{block.name}.deposit.tar")
    return f"{path}: {pack(folder, path)} files; it holds report text"


def _restore(archive: Path, dataset: str, results: str) -> int:
    from cxrqba.config import load_config
    from cxrqba.launch import run as launch
    from cxrqba.provenance.deposit import unpack

    run, block = load_config({"dataset": dataset, "results": results}, Path.cwd())
    count = unpack(archive, Path(run.results) / block.name)
    print(f"{count} files restored and verified", flush=True)
    chosen = ["--config", f"dataset={dataset}", f"results={results}"]
    return launch(["--touch", "--cores", "1", *chosen], Path.cwd())


if __name__ == "__main__":
    main()

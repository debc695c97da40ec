"""The ``cxrqba`` command: run the workflow, write what is generated from the configuration."""

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
    args, others = parser.parse_known_args(argv)
    if others and args.command != "run":
        parser.error(f"unknown arguments: {' '.join(others)}")
    try:
        if args.command == "run":
            from cxrqba.launch import run as launch

            sys.exit(launch(others, Path.cwd()))
        from cxrqba.config_docs import write

        for path in write(Path.cwd()):
            print(path)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()

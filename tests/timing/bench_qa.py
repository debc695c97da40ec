"""Time and memory of questions and ratings: statistics, generation, ratings, shard by shard.

``make bench-qa`` takes the graphs of the project's ordinary reports with invented boxes in
``--images`` images, repeats them under new ids to ``--studies`` studies, and runs the steps as the
pipeline does, in processes of their own, a shard of ``--shard`` studies at a time. Printed are
seconds of processor time (other work on the machine does not count), start and files included, a
study, the peak memory of any process, and what that makes for the 227,835 studies of MIMIC-CXR.
Judgements are made up, for judging is not what is timed here.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import polars as pl

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/unit"))

from graph_corpus import Graphs, ordinary_graphs  # noqa: E402

from cxrqba.schema import (  # noqa: E402
    ANSWERS,
    GRAPHS,
    IMAGES,
    JUDGEMENTS,
    OBSERVATIONS,
    PART_CRITERIA,
    QUESTIONS,
    REGIONS,
    TEXT_QUALITY,
)
from cxrqba.tables import read_table, write_table  # noqa: E402

SCRIPTS = ROOT / "workflow/scripts"
WHOLE = 227_835
"""Studies of MIMIC-CXR with a report."""
NAMES = {"graphs": GRAPHS, "observations": OBSERVATIONS, "regions": REGIONS}


def main() -> None:
    """Run the steps over all shards; print a line each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument("--shard", type=int, default=1000, help="studies a shard")
    parser.add_argument("--images", type=int, default=2, help="invented images a study")
    parser.add_argument("--complete", action="store_true", help="only complete studies")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run(Path(folder), args)


def run(folder: Path, args: argparse.Namespace) -> None:
    """All steps in ``folder``."""
    corpus = (
        _complete(ordinary_graphs(args.images)) if args.complete else ordinary_graphs(args.images)
    )
    shards = _shards(corpus, folder, args.studies, args.shard)
    number = sum(shards.values())
    files = [str(folder / f"{name}.observations.parquet") for name in shards]
    counted = folder / "statistics.parquet"
    options = ("--studies", "--observations", *files, "--statistics", counted)
    _print("graph_statistics", [_step("graph_statistics", *options)], number)
    times: dict[str, list[float]] = {"generate_qa": [], "rate_qa": []}
    pairs = parts = 0
    generated = 0.0
    for name in shards:
        times["generate_qa"].append(_generate(folder, name, counted))
        generated = generated or _peak()
        questions = read_table(folder / f"{name}.questions.parquet", QUESTIONS)
        answers = read_table(folder / f"{name}.answers.parquet", ANSWERS)
        pairs, parts = pairs + questions.height, parts + answers.height
        times["rate_qa"].append(_rate(folder, name, questions, answers))
    print(f"{number} studies: {pairs / number:.0f} QA pairs and {parts / number:.0f} parts a study")
    for step, seconds in times.items():
        _print(step, seconds, number)
    print(f"peak memory: generate_qa {generated:.0f} MB, any step {_peak():.0f} MB")


def _complete(corpus: Graphs) -> Graphs:
    graphs = corpus[0].filter("is_complete")
    others = (t.join(graphs.select("study_id"), on="study_id", how="semi") for t in corpus[1:])
    return (graphs, *others)  # type: ignore[return-value]


def _shards(corpus: Graphs, folder: Path, studies: int, size: int) -> dict[str, int]:
    """Write the corpus again and again under new ids; name of the shard -> studies."""
    shards: dict[str, int] = {}
    copies = max(1, min(size, studies) // corpus[0].height)
    held = copies * corpus[0].height
    for number in range(max(1, round(studies / held))):
        name = f"{number:03d}"
        for (kind, schema), table in zip(NAMES.items(), corpus, strict=True):
            copied = [
                table.with_columns(
                    pl.format("{}_{}", pl.lit(f"{name}.{i}"), "study_id").alias("study_id")
                )
                for i in range(copies)
            ]
            write_table(pl.concat(copied), folder / f"{name}.{kind}.parquet", schema)
        shards[name] = held
    return shards


def _step(script: str, *arguments: object) -> float:
    """Processor seconds of one step in a process of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, str(SCRIPTS / f"{script}.py"), *map(str, arguments)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _generate(folder: Path, name: str, counted: Path) -> float:
    at = {kind: folder / f"{name}.{kind}.parquet" for kind in (*NAMES, "questions", "answers")}
    return _step(
        "generate_qa",
        *("--graphs", at["graphs"], "--graph-observations", at["observations"]),
        *("--graph-regions", at["regions"], "--statistics", counted),
        *("--templates", ROOT / "resources/templates", "--reference", ROOT / "resources/reference"),
        *("--questions", at["questions"], "--answers", at["answers"]),
        *("--skipped", folder / "skipped.parquet", "--ledger", folder / "ledger.parquet"),
        *("--settings", json.dumps({})),
    )


def _rate(folder: Path, name: str, questions: pl.DataFrame, answers: pl.DataFrame) -> float:
    judged = folder / "judgements.parquet"
    write_table(_judgements(questions, answers), judged, JUDGEMENTS)
    write_table(pl.DataFrame(schema=IMAGES), folder / "images.parquet", IMAGES)
    return _step(
        "rate_qa",
        *("--questions", folder / f"{name}.questions.parquet"),
        *("--answers", folder / f"{name}.answers.parquet", "--judgements", judged),
        *("--images", folder / "images.parquet", "--rated", folder / f"{name}.rated.parquet"),
        *("--rated-answers", folder / f"{name}.rated_answers.parquet"),
    )


def _judgements(questions: pl.DataFrame, answers: pl.DataFrame) -> pl.DataFrame:
    """The best level for everything."""
    rows = []
    for criterion, levels in TEXT_QUALITY.items():
        table = answers if criterion in PART_CRITERIA else questions
        made = table.select("study_id", "question_id", *(["answer_id"] if table is answers else []))
        rows.append(
            made.with_columns(
                criterion=pl.lit(criterion), level=pl.lit(next(iter(levels))), status=pl.lit("ok")
            )
        )
    table = pl.concat(rows, how="diagonal").with_columns(judge=pl.lit("made up"))
    return table.select(list(JUDGEMENTS)).cast(dict(JUDGEMENTS))  # type: ignore[arg-type]


def _peak() -> float:
    """Most memory that a step has held so far, in MB."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def _print(step: str, seconds: list[float], studies: int) -> None:
    each = 1000 * sum(seconds) / studies
    shard = f", a shard {statistics.median(seconds):.1f} s" if len(seconds) > 1 else ""
    print(f"{step:17} {each:7.2f} ms a study{shard}; all of MIMIC-CXR {each * WHOLE / 3.6e6:.2f} h")


if __name__ == "__main__":
    main()

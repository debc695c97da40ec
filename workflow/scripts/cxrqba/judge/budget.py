"""What judging by a model would cost, before any model runs (paper Sec. E.3, E.4.2).

Counted on a sample of studies whose questions the rules have made: requests, distinct requests,
tokens of prompts, how many of these a server with prefix caching has computed already (whole blocks
of 16 tokens alone), tokens of replies (those that would say the rules judge's levels). What is
counted, what is estimated and what is scaled up stands beside the figures.
"""

from __future__ import annotations

import hashlib
import importlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from cxrqba.config import load_config
from cxrqba.errors import UserError
from cxrqba.judge.plan import question_texts
from cxrqba.judge.prompts import SEES, Prompts, View, load_prompts, view
from cxrqba.judge.replies import codes_of
from cxrqba.schema import ANSWERS, JUDGEMENTS, PART_CRITERIA, QUESTIONS, STUDIES
from cxrqba.tables import read_tables

BLOCK = 16
"""Tokens of a block of the prefix cache (vLLM's default); a part of a block is never cached."""
TURN_TOKENS = 5
"""Tokens a chat template puts around a message (Llama 3.1)."""
_PIECE = re.compile(r"\s?[A-Za-z]{1,7}|\d{1,3}|[^\sA-Za-z\d]|\n")

Tokenize = Callable[[str], Sequence[Any]]


@dataclass
class Cost:
    """Sums over the requests of a criterion."""

    requests: int = 0
    distinct: int = 0
    prompt: int = 0
    cached: int = 0
    output: int = 0

    @property
    def uncached(self) -> int:
        """Prompt tokens that must be computed."""
        return self.prompt - self.cached

    def hours(self, input_rate: float | None, output_rate: float | None) -> float | None:
        """GPU-hours at rates in tokens a second; None if one is not given."""
        if not input_rate or not output_rate:
            return None
        return (self.uncached / input_rate + self.output / output_rate) / 3600


@dataclass
class PrefixCache:
    """Which blocks of prompts were computed: each is known by all tokens up to its end."""

    seen: set[bytes] = field(default_factory=set)

    def add(self, tokens: Sequence[Any]) -> int:
        """Cached tokens of a prompt, whose blocks are cached from now on."""
        chain, cached, hit = b"", 0, True
        for start in range(0, len(tokens) - BLOCK + 1, BLOCK):
            block = repr(tokens[start : start + BLOCK]).encode()
            chain = hashlib.blake2b(chain + block, digest_size=12).digest()
            hit = hit and chain in self.seen
            cached += BLOCK if hit else 0
            self.seen.add(chain)
        return cached


def tokenizer(path: Path | None) -> Tokenize:
    """The tokenizer of a ``tokenizer.json``; without one, pieces of words, near its count."""
    if path is None:
        return _PIECE.findall
    try:
        library = importlib.import_module("tokenizers")
    except ModuleNotFoundError:
        raise UserError(
            "--tokenizer needs the package tokenizers: pip install tokenizers, or leave it out"
        ) from None
    try:
        loaded = library.Tokenizer.from_file(str(path))
    except Exception as error:  # the package raises bare exceptions
        raise UserError(f"{path}: no tokenizer.json ({type(error).__name__})") from None
    return lambda text: loaded.encode(text, add_special_tokens=False).ids


def costs(views: Iterable[tuple[View, str]], prompts: Prompts, split: Tokenize) -> dict[str, Cost]:
    """criterion -> cost of (view, expected reply) in the order they would be asked."""
    found = {criterion: Cost() for criterion in SEES}
    prefixes, seen = PrefixCache(), set[str]()

    @cache
    def static(criterion: str) -> tuple[Any, ...]:
        turns = (t for m in prompts.static(criterion) for t in _turn(split(m["content"])))
        return tuple(turns)

    for shown, reply in views:
        cost = found[shown.criterion]
        cost.requests += 1
        if shown.key in seen:
            continue
        seen.add(shown.key)
        last = prompts.render(shown)[-1]["content"]
        tokens = [*static(shown.criterion), *_turn(split(last))]
        cost.distinct += 1
        cost.prompt += len(tokens)
        cost.cached += prefixes.add(tokens)
        cost.output += len(split(reply)) + 1
    return found


def _turn(tokens: Sequence[Any]) -> Iterator[Any]:
    """The tokens of a message with those of the template around it."""
    yield from ("<turn>",) * TURN_TOKENS
    yield from tokens


def sampled_views(
    reports: Mapping[str, str | None],
    questions: pl.DataFrame,
    answers: pl.DataFrame,
    judgements: pl.DataFrame,
) -> Iterator[tuple[View, str]]:
    """Views in the order they are asked: with the report study by study, then the others.

    Replies say the levels of ``judgements``.
    """
    levels = judgements.group_by("study_id", "question_id", "criterion", maintain_order=True).agg(
        "level"
    )
    said = {tuple(row[:3]): row[3] for row in levels.iter_rows()}
    rows = question_texts(questions, answers).sort("study_id", "question_id").collect().rows()
    for criteria in (
        [c for c in SEES if "report" in SEES[c]],
        *([c] for c in SEES if "report" not in SEES[c]),
    ):
        for study_id, question_id, question, _, parts in rows:
            for criterion in criteria:
                if (criterion in PART_CRITERIA and not parts) or (
                    "report" in SEES[criterion] and not reports.get(study_id)
                ):
                    continue
                given = said.get((study_id, question_id, criterion), [])
                reply = codes_of([level for level in given if level], criterion)
                shown = view(criterion, reports.get(study_id) or "", question, parts)
                yield shown, reply


@dataclass(frozen=True)
class Rates:
    """Tokens a second of one GPU: of prompts (not cached) and of replies."""

    input: float | None = None
    output: float | None = None


def budget(
    config: str, results: str, sample: int, root: Path, tokens: Path | None, rates: Rates
) -> str:
    """The table of costs, as text; ``config`` is a dataset's name or file.

    Uses the questions and judgements that a run with backend ``rules`` left under ``results``.
    """
    _, dataset = load_config({"dataset": config, "results": results}, root)
    folder = Path(results) / dataset.name
    files = {
        name: sorted(folder.glob(f"{step}/*.{name}.parquet"))
        for step, name in (
            ("prepare_studies", "studies"),
            ("generate_qa", "questions"),
            ("generate_qa", "answers"),
            ("judge_qa", "judgements"),
        )
    }
    for name, tables in files.items():
        if not tables:
            raise UserError(
                f"{folder}: no tables of {name}; the budget is counted on questions made by rules: "
                "run the dataset, or a shard of it (--config only=...), with backend rules first"
            )
    studies = read_tables(files["studies"], STUDIES)
    questions = read_tables(files["questions"], QUESTIONS)
    have = questions["study_id"].unique().sort()
    ranked = sorted(have, key=lambda s: hashlib.sha256(s.encode()).digest())
    chosen = ranked[:sample]
    asked = questions.filter(pl.col("study_id").is_in(chosen))
    answers = read_tables(files["answers"], ANSWERS).filter(pl.col("study_id").is_in(chosen))
    reports = dict(studies.select("study_id", "report").iter_rows())
    judgements = read_tables(files["judgements"], JUDGEMENTS)
    prompts = load_prompts(root / "resources" / "prompts")
    found = costs(
        sampled_views(reports, asked, answers, judgements.filter(pl.col("study_id").is_in(chosen))),
        prompts,
        tokenizer(tokens),
    )
    return _table(found, len(chosen), len(have), asked.height, tokens, rates)


def _table(
    found: Mapping[str, Cost],
    chosen: int,
    studies: int,
    pairs: int,
    tokens: Path | None,
    rates: Rates,
) -> str:
    heads = ("criterion", "requests", "distinct", "prompt", "cached", "uncached", "output", "hours")
    whole = Cost()
    rows = []
    for criterion, cost in found.items():
        rows.append(_row(criterion, cost, rates))
        for name in ("requests", "distinct", "prompt", "cached", "output"):
            setattr(whole, name, getattr(whole, name) + getattr(cost, name))
    rows.append(_row("all", whole, rates))
    widths = [max(len(r[i]) for r in (heads, *rows)) for i in range(len(heads))]
    lines = [
        "  ".join(
            c.ljust(w) if i == 0 else c.rjust(w)
            for i, (c, w) in enumerate(zip(r, widths, strict=True))
        )
        for r in (heads, *rows)
    ]
    scale = studies / chosen if chosen else 0.0
    hours = whole.hours(rates.input, rates.output)
    a_pair = (whole.uncached + whole.output) / pairs if pairs else 0.0
    lines += [
        "",
        f"counted on {chosen:,} of {studies:,} studies with {pairs:,} QA pairs",
        f"a QA pair: {a_pair:.0f} uncached prompt and output tokens",
        f"all {studies:,} studies, scaled up: {whole.distinct * scale:,.0f} requests, "
        f"{(whole.uncached + whole.output) * scale:,.0f} tokens to compute"
        + (f", {hours * scale:,.1f} GPU-hours" if hours is not None else ""),
        "estimates: output tokens (replies that say the rules judge's levels); cached tokens "
        f"(whole blocks of {BLOCK}, nothing is ever evicted); distinct requests without report "
        "scale up to more than there will be, since texts repeat",
        "tokens: counted with " + (f"{tokens}" if tokens else "pieces of words, an estimate"),
    ]
    if hours is None:
        lines.append("hours: give --input-rate and --output-rate, tokens a second of one GPU")
    return "\n".join(lines) + "\n"


def _row(name: str, cost: Cost, rates: Rates) -> tuple[str, ...]:
    hours = cost.hours(rates.input, rates.output)
    numbers = (cost.requests, cost.distinct, cost.prompt, cost.cached, cost.uncached, cost.output)
    return (
        name.replace("_", " "),
        *(f"{n:,}" for n in numbers),
        "–" if hours is None else f"{hours:.2f}",
    )

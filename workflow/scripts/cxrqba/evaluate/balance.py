"""What can be answered without looking: majority, question alone, and one-sided tags.

Everything is counted shard by shard; only the counts are held. An answer is positive if one of its
main parts is, negative if one is and none is positive; other answers are left out.
"""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import polars as pl

COUNTS = pl.Schema(
    {
        "fold": pl.String,  # fit or test
        "question_strategy": pl.String,
        "question_type": pl.String,
        "question": pl.String,
        "positive": pl.Int64,
        "negative": pl.Int64,
    }
)
"""Main answers by question text."""

TAG_COUNTS = pl.Schema(
    {"kind": pl.String, "tag": pl.String, "positive": pl.Int64, "negative": pl.Int64}
)
"""Answer parts by tag; kind is finding or region."""

KEYS = ["study_id", "question_id"]


def fold_of(studies: pl.DataFrame) -> dict[str, str]:
    """study_id -> fit or test: training studies against the others.

    Where no split is known, studies are halved by a hash of their patient, else of their own id.
    """
    trained = studies["split"].drop_nulls().is_in(["train"])
    if trained.any() and not trained.all():
        known = studies.drop_nulls("split")
        return {i: "fit" if s == "train" else "test" for i, s in known["study_id", "split"].rows()}
    return {
        study_id: "fit"
        if hashlib.sha256((patient or study_id).encode()).digest()[0] % 2
        else "test"
        for study_id, patient in studies["study_id", "patient_id"].rows()
    }


def question_counts(
    questions: pl.LazyFrame, answers: pl.LazyFrame, folds: Mapping[str, str]
) -> pl.DataFrame:
    """COUNTS of one shard."""
    said = pl.col("positiveness")
    labels = (
        answers.filter(pl.col("answer_type") == "main_answer")
        .group_by(KEYS)
        .agg(positive=(said == "pos").any(), negative=(said == "neg").any())
        .with_columns(negative=pl.col("negative") & ~pl.col("positive"))
    )
    fold = pl.LazyFrame(
        {"study_id": list(folds), "fold": list(folds.values())},
        schema={"study_id": pl.String, "fold": pl.String},
    )
    by = ["fold", "question_strategy", "question_type", "question"]
    table = (
        questions.select(*KEYS, *by[1:])
        .join(labels, on=KEYS)
        .join(fold, on="study_id")
        .group_by(by)
        .agg(pl.col("positive").sum(), pl.col("negative").sum())
    )
    return table.select(list(COUNTS)).cast(dict(COUNTS)).collect()  # type: ignore[arg-type]


def tag_counts(answers: pl.LazyFrame) -> pl.DataFrame:
    """TAG_COUNTS of one shard."""
    said = pl.col("positiveness")
    parts = []
    for kind, column in (("finding", "obs_entities"), ("region", "regions")):
        parts.append(
            answers.select("positiveness", tag=pl.col(column))
            .filter(pl.col("tag").list.len() > 0)
            .explode("tag", empty_as_null=False)
            .group_by("tag")
            .agg(positive=(said == "pos").sum(), negative=(said == "neg").sum())
            .select(pl.lit(kind).alias("kind"), "tag", "positive", "negative")
        )
    return pl.concat(parts).cast(dict(TAG_COUNTS)).collect()  # type: ignore[arg-type]


def summed(parts: Iterable[pl.DataFrame], schema: pl.Schema) -> pl.DataFrame:
    """Counts of all shards together, in a fixed order."""
    table = pl.concat([pl.DataFrame(schema=schema), *parts])
    by = [c for c in schema if c not in ("positive", "negative")]
    return table.group_by(by).agg(pl.col("positive").sum(), pl.col("negative").sum()).sort(by)


@dataclass(frozen=True)
class Guess:
    """How well a guess does on the test fold; rates are NaN where a side has no answer."""

    answers: int
    positive: float  # share of positive answers
    majority: float  # accuracy of always giving the more frequent answer of the fit fold
    accuracy: float  # of the question alone
    balanced: float  # mean of the accuracies on positive and on negative answers


def guesses(counts: pl.DataFrame) -> dict[str, Guess]:
    """Strategy -> how well questions alone tell the answer; ``all`` first.

    The guess is what the same question was answered with more often in the fit fold; of a question
    never asked there, what its type was; else the majority. Ties count as positive.
    """
    fit, test = (counts.filter(pl.col("fold") == fold) for fold in ("fit", "test"))
    model = _Model(fit)
    result = {"all": _guess(test, model, model.majority)}
    for strategy in sorted(counts["question_strategy"].unique()):
        own = pl.col("question_strategy") == strategy
        result[strategy] = _guess(test.filter(own), model, _is_positive(fit.filter(own)))
    return result


def _is_positive(fit: pl.DataFrame) -> bool:
    return bool(fit["positive"].sum() >= fit["negative"].sum())


class _Model:
    def __init__(self, fit: pl.DataFrame) -> None:
        self.majority = _is_positive(fit)
        self.by_text = _majorities(fit, "question")
        self.by_type = _majorities(fit, "question_type")

    def guess(self, question: str, kind: str) -> bool:
        """Whether the answer is thought to be positive."""
        return self.by_text.get(question, self.by_type.get(kind, self.majority))


def _majorities(fit: pl.DataFrame, column: str) -> dict[str, bool]:
    totals: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for key, positive, negative in fit.select(column, "positive", "negative").iter_rows():
        totals[key][0] += positive
        totals[key][1] += negative
    return {key: yes >= no for key, (yes, no) in totals.items() if yes + no}


def _guess(test: pl.DataFrame, model: _Model, majority: bool) -> Guess:
    right = {True: 0, False: 0}
    total = {True: 0, False: 0}
    columns = ("question", "question_type", "positive", "negative")
    for question, kind, positive, negative in test.select(columns).iter_rows():
        guessed = model.guess(question, kind)
        right[guessed] += positive if guessed else negative
        total[True] += positive
        total[False] += negative
    answers = total[True] + total[False]
    sides = [_share(right[side], total[side]) for side in (True, False)]
    return Guess(
        answers,
        _share(total[True], answers),
        _share(total[majority], answers),
        _share(right[True] + right[False], answers),
        sum(sides) / 2,
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan

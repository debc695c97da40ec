"""Answer parts that rest on observations the annotation contradicts (paper Sec. 3.3, 4.2).

Every part of an answer rests on observations; where a hand-annotated set says that one of them is
wrong, a judge that reads the report ought to say so of the part. Parts are right if all their
observations answer rows of the annotation with the same side and degree of certainty, wrong by the
first of these that holds of one of them: *polarity* (its sentence is annotated with that finding
and the other polarity), *finding* (nothing annotated in its sentence is that finding), *side*,
*certainty*. Parts on observations that repeat what was counted are left out, and so are parts
without any.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from cxrqba.evaluate.extraction_claims import Claim
from cxrqba.evaluate.extraction_gold import GoldRow
from cxrqba.evaluate.extraction_match import Sentences, holding, match

RIGHT = "right"
ERRORS = ("polarity", "finding", "side", "certainty")
"""Kinds of wrong observations, gravest first."""


def verdicts(
    rows: Sequence[GoldRow], claims: Sequence[Claim], sentences: Sentences
) -> dict[str, str]:
    """Observation -> RIGHT or one of ERRORS, of one annotated study; others are not decided."""
    matching = match(rows, claims, sentences)
    evidence = [holding(row.spans, sentences) for row in rows]
    found: dict[str, str] = {}
    for number, claim in enumerate(claims):
        if number not in matching.claims | matching.repeated:
            turned = any(
                row.polarity != claim.polarity
                and not row.accepted.isdisjoint(claim.findings)
                and not evidence[i].isdisjoint(claim.sent_ids)
                for i, row in enumerate(rows)
            )
            found[claim.claim_id] = "polarity" if turned else "finding"
    for pair in matching.pairs:
        row, claim = rows[pair.row], claims[pair.claim]
        if row.side in ("left", "right", "bilateral") and pair.side not in (row.side, "unknown"):
            verdict = "side"
        elif (row.certainty == "certain") != (claim.certainty == "certain"):
            verdict = "certainty"
        else:
            verdict = RIGHT
        found[claim.claim_id] = gravest([verdict, found.get(claim.claim_id, RIGHT)])
    return found


def part_verdicts(
    answers: pl.DataFrame, verdicts_of: Mapping[str, Mapping[str, str]]
) -> pl.DataFrame:
    """(study_id, question_id, answer_id, verdict) of the parts whose observations are decided.

    ``verdicts_of``: study -> :func:`verdicts`. A part is wrong if one of its observations is,
    right if all are; else it is not decided and left out.
    """
    parts = answers.select("study_id", "question_id", "answer_id", "obs_ids").filter(
        pl.col("study_id").is_in(list(verdicts_of)), pl.col("obs_ids").list.len() > 0
    )
    found = []
    for study_id, question_id, answer_id, obs_ids in parts.iter_rows():
        known = [verdicts_of[study_id].get(o) for o in obs_ids]
        told = [v for v in known if v is not None]
        if told and (len(told) == len(known) or gravest(told) != RIGHT):
            found.append((study_id, question_id, answer_id, gravest(told)))
    columns = ("study_id", "question_id", "answer_id", "verdict")
    return pl.DataFrame(found, schema=dict.fromkeys(columns, pl.String), orient="row")


def gravest(found: Iterable[str]) -> str:
    """The first of ERRORS among verdicts, else RIGHT."""
    found = set(found)
    return next((e for e in ERRORS if e in found), RIGHT)

"""Draw the cases people are to rate and write them as a CSV and a page (paper Sec. 4.2, C.1)."""

from __future__ import annotations

import hashlib

from pydantic import BaseModel, ConfigDict

from cxrqba import step
from cxrqba.config import ReviewConfig
from cxrqba.judge.review import sample, sheet_csv, sheet_rows
from cxrqba.judge.review_page import review_page
from cxrqba.schema import ANSWERS, JUDGEMENTS, QUESTIONS, STUDIES
from cxrqba.tables import read_tables, write_text


class Settings(BaseModel):
    """Settings of the step."""

    model_config = ConfigDict(extra="forbid")

    title: str
    review: ReviewConfig = ReviewConfig()


def main() -> None:
    args = step.arguments(
        __doc__, lists=("studies", "questions", "answers", "judgements"), files=("csv", "html")
    )
    settings = Settings.model_validate(args.settings)
    questions = read_tables(args.questions, QUESTIONS)
    studies = read_tables(args.studies, STUDIES)
    chosen = sample(
        questions,
        read_tables(args.judgements, JUDGEMENTS),
        settings.review.cases,
        settings.review.seed,
    )
    reports = dict(studies.select("study_id", "report").iter_rows())
    rows = sheet_rows(chosen, questions, read_tables(args.answers, ANSWERS), reports)
    text = sheet_csv(rows)
    write_text(text, args.csv)
    store = f"review {hashlib.sha256(text.encode()).hexdigest()[:16]}"
    write_text(review_page(rows, settings.title, store), args.html)
    step.log.info("review_sheet: %d cases", len(rows))


if __name__ == "__main__":
    step.run(main)

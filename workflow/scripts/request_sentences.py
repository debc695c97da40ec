"""Render what a model is asked in the sentence pass, one request a report (paper Sec. E.1.2)."""

from __future__ import annotations

from cxrqba import step
from cxrqba.config import AskingConfig
from cxrqba.extract.asking import request_sentences
from cxrqba.schema import MODEL_REQUESTS, STUDIES
from cxrqba.tables import read_table, write_table


def main() -> None:
    args = step.arguments(__doc__, files=("studies", "prompts", "requests"))
    asking = AskingConfig.model_validate(args.settings)
    requests = request_sentences(read_table(args.studies, STUDIES), args.prompts, asking)
    write_table(requests, args.requests, MODEL_REQUESTS)
    step.log.info("request_sentences %s: %d requests", args.shard, requests.height)


if __name__ == "__main__":
    step.run(main)

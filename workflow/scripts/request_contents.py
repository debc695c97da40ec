"""Render what a model is asked of the sentences: observations and indication (Sec. E.1.2)."""

from __future__ import annotations

from cxrqba import step
from cxrqba.config import AskingConfig
from cxrqba.extract.asking import request_contents
from cxrqba.schema import MODEL_REQUESTS, SENTENCES, STUDIES
from cxrqba.tables import read_table, write_table


def main() -> None:
    args = step.arguments(__doc__, files=("studies", "sentences", "prompts", "requests"))
    requests = request_contents(
        read_table(args.studies, STUDIES),
        read_table(args.sentences, SENTENCES),
        args.prompts,
        AskingConfig.model_validate(args.settings),
    )
    write_table(requests, args.requests, MODEL_REQUESTS)
    step.log.info("request_contents %s: %d requests", args.shard, requests.height)


if __name__ == "__main__":
    step.run(main)

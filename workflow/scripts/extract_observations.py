"""Extract the observations of each report's sentence clusters (paper Sec. E.1.2)."""

from __future__ import annotations

from cxrqba import step
from cxrqba.config import PassConfig
from cxrqba.extract.answers import load_answers, parse_observations
from cxrqba.extract.observations import extract_shard
from cxrqba.reference.tables import load_reference
from cxrqba.schema import LEDGER, PASS_STATUS, RAW_OBSERVATIONS, SENTENCES, STUDIES
from cxrqba.tables import read_table, write_table


def main() -> None:
    args = step.arguments(
        __doc__,
        files=("studies", "sentences", "reference", "observations", "status", "ledger"),
        lists=("requests", "receipts"),
    )
    site = PassConfig.model_validate(args.settings).site
    studies, sentences = read_table(args.studies, STUDIES), read_table(args.sentences, SENTENCES)
    reference = load_reference(args.reference)
    if args.receipts:
        answers = load_answers(args.requests, args.receipts, "observations")
        observations, status, ledger = parse_observations(studies, sentences, answers, reference)
    else:
        observations, status, ledger = extract_shard(studies, sentences, reference, site)
    write_table(observations, args.observations, RAW_OBSERVATIONS)
    write_table(status, args.status, PASS_STATUS)
    write_table(ledger, args.ledger, LEDGER)
    step.log.info(
        "extract_observations %s: %d observations of %d studies, %d ledger rows",
        args.shard,
        observations.height,
        status.height,
        ledger.height,
    )


if __name__ == "__main__":
    step.run(main)

"""Extract the indication of each report and its answer (paper Sec. E.1.2)."""

from __future__ import annotations

from cxrqba import step
from cxrqba.config import PassConfig
from cxrqba.extract.answers import load_answers, parse_indication
from cxrqba.extract.indication import extract_shard
from cxrqba.reference.tables import load_reference
from cxrqba.schema import INDICATIONS, LEDGER, PASS_STATUS, SENTENCES, STUDIES
from cxrqba.tables import read_table, write_table


def main() -> None:
    args = step.arguments(
        __doc__,
        files=("studies", "sentences", "reference", "indications", "status", "ledger"),
        lists=("requests", "receipts"),
    )
    site = PassConfig.model_validate(args.settings).site
    studies, sentences = read_table(args.studies, STUDIES), read_table(args.sentences, SENTENCES)
    reference = load_reference(args.reference)
    if args.receipts:
        answers = load_answers(args.requests, args.receipts, "indication")
        indications, status, ledger = parse_indication(studies, sentences, answers, reference)
    else:
        indications, status, ledger = extract_shard(studies, sentences, reference, site)
    write_table(indications, args.indications, INDICATIONS)
    write_table(status, args.status, PASS_STATUS)
    write_table(ledger, args.ledger, LEDGER)
    step.log.info(
        "extract_indication %s: %d indications of %d studies",
        args.shard,
        indications.height,
        status.height,
    )


if __name__ == "__main__":
    step.run(main)

"""Sentences of each report, with section, character span and cluster (paper Sec. E.1.2)."""

from cxrqba import step
from cxrqba.config import SentencePassConfig
from cxrqba.extract.answers import load_answers, parse_sentences
from cxrqba.extract.sentences import SentenceExtractor, extract_shard
from cxrqba.reference.tables import load_reference
from cxrqba.schema import LEDGER, PASS_STATUS, SENTENCES, STUDIES
from cxrqba.tables import read_table, write_table


def main() -> None:
    args = step.arguments(
        __doc__,
        files=("studies", "reference", "sentences", "status", "ledger"),
        lists=("requests", "receipts"),
    )
    config = SentencePassConfig.model_validate(args.settings)
    reference = load_reference(args.reference)
    extractor = SentenceExtractor(reference, config.site, config.sentences)
    studies = read_table(args.studies, STUDIES)
    if args.receipts:
        answers = load_answers(args.requests, args.receipts, "sentences")
        sentences, status, ledger = parse_sentences(studies, answers, reference, extractor)
    else:
        result = extract_shard(studies, extractor)
        sentences, status, ledger = result.sentences, result.status, result.ledger
    write_table(sentences, args.sentences, SENTENCES)
    write_table(status, args.status, PASS_STATUS)
    write_table(ledger, args.ledger, LEDGER)
    step.log.info(
        "extract_sentences: shard %s: %d studies, %d sentences, %d ledger rows",
        args.shard,
        status.height,
        sentences.height,
        ledger.height,
    )


if __name__ == "__main__":
    step.run(main)

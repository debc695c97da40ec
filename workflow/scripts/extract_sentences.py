"""Sentences of each report, with section, character span and cluster (paper Sec. E.1.2)."""

from cxrqba import step
from cxrqba.config import SentencePassConfig
from cxrqba.extract.sentences import SentenceExtractor, extract_shard
from cxrqba.reference.tables import load_reference
from cxrqba.schema import LEDGER, PASS_STATUS, SENTENCES, STUDIES
from cxrqba.tables import read_table, write_table


def main() -> None:
    args = step.arguments(__doc__, files=("studies", "reference", "sentences", "status", "ledger"))
    config = SentencePassConfig.model_validate(args.settings)
    extractor = SentenceExtractor(load_reference(args.reference), config.site, config.sentences)
    result = extract_shard(read_table(args.studies, STUDIES), extractor)
    write_table(result.sentences, args.sentences, SENTENCES)
    write_table(result.status, args.status, PASS_STATUS)
    write_table(result.ledger, args.ledger, LEDGER)
    step.log.info(
        "extract_sentences: shard %s: %d studies, %d sentences, %d ledger rows",
        args.shard,
        result.status.height,
        result.sentences.height,
        result.ledger.height,
    )


if __name__ == "__main__":
    step.run(main)

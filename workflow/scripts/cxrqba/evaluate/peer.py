"""A maintained peer beside our own extraction: medspaCy's ConText (Eyre et al., AMIA 2021).

medspaCy pins an old numpy and spaCy, so it lives in an environment of its own and is no step of the
workflow: ``make peer`` makes the environment, runs this module over the sentences of a finished
run, and the next run shows the peer in the extraction's table. It is given what the NegEx baseline
is given, our sentences, the same names found alike and the nearest side word, so that the two
differ in the reading of polarity and certainty alone. ConText's rules are those it ships with.

    python -m cxrqba.evaluate.peer --sentences ... --reference resources/reference --claims FILE
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import polars as pl

from cxrqba import step
from cxrqba.errors import UserError
from cxrqba.evaluate.negex import finding_table, nearest_side, reported_sentences
from cxrqba.extract.words import words
from cxrqba.reference.tables import Reference, load_reference
from cxrqba.schema import EXTRACTION_CLAIMS, SENTENCES
from cxrqba.tables import frame, read_tables, write_table


def peer_claims(sentences: pl.DataFrame, reference: Reference) -> pl.DataFrame:
    """EXTRACTION_CLAIMS of all reported SENTENCES.

    What ConText calls hypothetical, or of the family, is no claim on the study; what it calls
    historical is kept, since reports describe old findings that are still to be seen.
    """
    findings = finding_table(reference)
    pipeline = importlib.import_module("medspacy").load(medspacy_enable=["medspacy_context"])
    rows = []
    for row in reported_sentences(sentences).iter_rows(named=True):
        parsed = words(row["sentence"])
        matches = findings.find(parsed)
        spans = [(parsed[m.first].start, parsed[m.last - 1].end, m.value) for m in matches]
        sides = {parsed[m.first].start: nearest_side(parsed, m.first, m.last) for m in matches}
        for entity in _asserted(row["sentence"], spans, pipeline):
            start, end = entity.start_char, entity.end_char
            rows.append(
                {
                    "study_id": row["study_id"],
                    "sent_id": row["sent_id"],
                    "finding": entity.label_,
                    "positiveness": "neg" if entity._.is_negated else "pos",
                    "certainty": "uncertain" if entity._.is_uncertain else "certain",
                    "laterality": sides.get(start, "unknown"),
                    "start": row["start"] + start,
                    "end": row["start"] + end,
                }
            )
    return frame(rows, EXTRACTION_CLAIMS)


def _asserted(sentence: str, spans: list[tuple[int, int, str]], pipeline: Any) -> Iterator[Any]:
    """Entities of one sentence after ConText, those that are claims on the study."""
    document = pipeline.make_doc(sentence)
    for token in document:
        token.is_sent_start = token.i == 0
    entities = [
        document.char_span(start, end, label=name, alignment_mode="expand")
        for start, end, name in spans
    ]
    document.ents = importlib.import_module("spacy.util").filter_spans(
        [e for e in entities if e is not None]
    )
    for _, component in pipeline.pipeline:
        document = component(document)
    for entity in document.ents:
        if not (entity._.is_hypothetical or entity._.is_family):
            yield entity


def main() -> None:
    """Write the peer's claims on a run's sentences."""
    args = step.arguments(__doc__, lists=("sentences",), files=("reference", "claims"))
    if not args.sentences:
        raise UserError("no sentences yet; run the dataset first, then `make peer DATASET=...`")
    sentences = read_tables(args.sentences, SENTENCES)
    claims = peer_claims(sentences, load_reference(args.reference))
    write_table(claims, args.claims, EXTRACTION_CLAIMS)
    step.log.info("peer: %d claims of %d sentences", claims.height, sentences.height)


if __name__ == "__main__":
    step.run(main)

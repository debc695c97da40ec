"""Splitting sentences further: own rules, or Stanza from a local model folder (Sec. E.1.2).

After the sentence pass each sentence is split once more; the parts inherit section and cluster. The
paper uses the Stanza tokenizer for it. Whatever a splitter proposes, no cut parts a negation from
what it denies, and the parts reproduce the report character for character.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

from cxrqba.config import SentencesConfig
from cxrqba.errors import UserError
from cxrqba.reports.deid import Deidentified
from cxrqba.reports.sentences import is_cut, plain_layout, split_sentences

Spans = list[tuple[int, int]]


class Splitter(Protocol):
    """Proposes where sentences begin and end."""

    def split(self, texts: Sequence[str]) -> list[Spans]:
        """[start, end) of the sentences of each text, in order."""


class RulesSplitter:
    """Punctuation, layout and the habits of radiologists (:mod:`cxrqba.reports.sentences`)."""

    def split(self, texts: Sequence[str]) -> list[Spans]:
        """See :class:`Splitter`."""
        return [split_sentences(text) for text in texts]


class StanzaSplitter:
    """A Stanza tokenizer read from a folder; nothing is downloaded."""

    def __init__(self, model: str, language: str):
        try:
            # an optional extra with torch below it: imported only where it is asked for
            self._stanza: Any = importlib.import_module("stanza")
            # a shard has one core; more threads on a busy machine were fifteen times slower
            importlib.import_module("torch").set_num_threads(1)
        except ImportError:
            raise UserError(
                "sentences.backend 'stanza' needs the package stanza: pip install 'cxr-qba[stanza]'"
            ) from None
        if not (Path(model) / "resources.json").is_file():
            raise UserError(
                f"sentences.model: no resources.json in '{model}'; give the folder of a Stanza "
                f"download that holds it and {language}/tokenize/*.pt"
            )
        try:
            self._pipeline = self._stanza.Pipeline(
                language,
                dir=model,
                processors="tokenize",
                package="default",
                download_method=None,
                use_gpu=False,
                verbose=False,
            )
        except Exception as error:  # Stanza raises whatever its files make it raise
            raise UserError(
                f"sentences.model: Stanza cannot load a '{language}' tokenizer from '{model}' "
                f"({type(error).__name__})"
            ) from None

    def split(self, texts: Sequence[str]) -> list[Spans]:
        """See :class:`Splitter`."""
        documents = [self._stanza.Document([], text=text) for text in texts]
        done = self._pipeline.bulk_process(documents) if documents else []
        return [
            [(s.tokens[0].start_char, s.tokens[-1].end_char) for s in document.sentences]
            for document in done
        ]


def further_splitter(config: SentencesConfig) -> Splitter | None:
    """The splitter that is applied after the rules backend; its own rules have nothing to add."""
    if config.backend == "rules":
        return None
    return StanzaSplitter(config.model or "", config.language)


def split_further(
    rows: Iterable[Mapping[str, Any]], report: str, splitter: Splitter, deid: Deidentified
) -> list[dict[str, Any]]:
    """SENTENCES rows split further and numbered anew; parts inherit all but id, text and span."""
    rows = list(rows)
    masked = deid.masked(report)
    sentences = [masked[row["start"] : row["end"]] for row in rows]
    found: list[dict[str, Any]] = []
    for row, sentence, spans in zip(rows, sentences, splitter.split(sentences), strict=True):
        for start, end in parts(sentence, spans):
            start, end = start + row["start"], end + row["start"]
            found.append({**row, "sentence": report[start:end], "start": start, "end": end})
    return numbered(found)


def numbered(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows in text order with sentence ids S01, S02, ..."""
    ordered = sorted(rows, key=lambda row: (row["start"], row["end"]))
    return [{**row, "sent_id": f"S{i:02d}"} for i, row in enumerate(ordered, start=1)]


def parts(text: str, spans: Spans) -> Spans:
    """[start, end) of the parts of ``text`` between the allowed cuts; together they lose nothing.

    ``spans`` may be anything; only beginnings inside the text that leave letters on both sides and
    part no negation are cut at.
    """
    layout = plain_layout(text)
    cuts = [0]
    for start, _ in sorted(set(spans)):
        if cuts[-1] < start < len(text) and is_cut(layout, cuts[-1], start):
            cuts.append(start)
    if not any(map(str.isalpha, text[cuts[-1] :])) and len(cuts) > 1:
        cuts.pop()
    found = []
    for first, last in pairwise([*cuts, len(text)]):
        piece = text[first:last]
        start = first + len(piece) - len(piece.lstrip())
        found.append((start, start + len(piece.strip())))
    return [span for span in found if span[0] < span[1]]

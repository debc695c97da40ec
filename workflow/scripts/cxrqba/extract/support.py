"""Whether what a model says stands in the sentences it was asked about (paper Sec. E.1.2).

A model is told to stay near the wording. An observation none of whose texts shares its words or its
findings with the sentences was invented and must not become a node of the graph.
"""

from __future__ import annotations

from dataclasses import dataclass

from rapidfuzz.distance import Prefix

from cxrqba.extract.matcher import PhraseTable
from cxrqba.extract.observation_record import ObservationRecord
from cxrqba.extract.words import normal_form, word_set, words
from cxrqba.reference.tables import Reference

MIN_SHARE = 0.5
"""Share of a text's words of content that the sentences must hold."""

MIN_STEM = 4
MIN_KIN = 0.7
"""Letters, and share of the shorter word, that two forms of one word begin with: calcified and
calcification, but not pneumonia and pneumothorax."""

_EMPTY = word_set(
    "a an and are as at be been by for from has have in into is it no not of on or seen than that "
    "the there this to was were which with without evidence present noted observed"
)


class Support:
    """Compares texts by words, expanded abbreviations and findings."""

    def __init__(self, reference: Reference):
        self._expansions = {
            normal_form(short): [w.norm for w in words(long)]
            for short, long in reference.abbreviations.items()
        }
        self._findings = PhraseTable(
            (phrase, finding.name)
            for finding in reference.findings.values()
            for phrase in (finding.name, *finding.synonyms)
        )

    def of(self, text: str) -> SupportedBy:
        """What ``text`` can support."""
        return SupportedBy(self, self.content(text), self.named(text))

    def content(self, text: str) -> frozenset[str]:
        """Normal forms of the words of weight, with what abbreviations stand for."""
        norms = [w.norm for w in words(text) if w.norm[:1].isalnum() and w.norm not in _EMPTY]
        expanded = (e for norm in norms for e in self._expansions.get(norm, ()))
        return frozenset((*norms, *(e for e in expanded if e not in _EMPTY)))

    def named(self, text: str) -> frozenset[str]:
        """Findings of the reference that the text names."""
        return frozenset(str(m.value) for m in self._findings.find(words(text)))


@dataclass(frozen=True, slots=True)
class SupportedBy:
    """Words and findings of the sentences asked about."""

    support: Support
    words: frozenset[str]
    findings: frozenset[str]

    def holds(self, record: ObservationRecord) -> bool:
        """Whether name, summary or a finding of the record stands in the sentences."""
        told = [record.name, record.summary_sentence, *record.entities]
        return any(self.holds_text(text) for text in told if text)

    def holds_text(self, text: str) -> bool:
        """Whether at least half of the words of weight, or a finding, stand in the sentences."""
        own = self.support.content(text)
        told = sum(word in self.words or self._has_kin(word) for word in own)
        if own and told / len(own) >= MIN_SHARE:
            return True
        return bool(self.support.named(text) & self.findings)

    def _has_kin(self, word: str) -> bool:
        """Whether another form of the word stands there: aortic, aorta."""
        return any(_kin(word, other) for other in self.words if other[:MIN_STEM] == word[:MIN_STEM])


def _kin(one: str, other: str) -> bool:
    common = int(Prefix.similarity(one, other))
    return common >= MIN_STEM and common / min(len(one), len(other)) >= MIN_KIN

"""Whether a model turned a statement around: present where the sentences only deny, or the reverse.

A lost "no" is the worst error of an extraction. The rules backend is the second reader of the same
sentences: where every mention of a finding there has one polarity and the model's the other, the
claim is left open.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cxrqba.extract.drafts import ASSERTING, DENYING, with_children
from cxrqba.extract.observation_record import ObservationRecord
from cxrqba.extract.observations import ObservationExtractor
from cxrqba.extract.support import Support
from cxrqba.reference.tables import Reference

OPEN = "open"
"""Neither: a comparison, a recommendation, what cannot be assessed."""


class Polarity:
    """Reads sentences with the rules backend."""

    def __init__(self, reference: Reference, support: Support):
        self._rules = ObservationExtractor(reference)
        self._support = support
        self._levels = {cue.text.lower(): cue.level for cue in reference.cues}
        self._levels |= {level.replace("_", " "): level for level in reference.levels}

    def told(self, sentence: str) -> dict[str, set[str]]:
        """Finding -> groups of what a sentence says of it: ``pos``, ``neg``, ``open``."""
        found: dict[str, set[str]] = {}
        for draft in with_children(self._rules.read_sentence("", sentence, 0)):
            for finding in draft.key:
                found.setdefault(finding, set()).add(_group(draft.level))
        return found

    def is_turned(self, record: ObservationRecord, told: Iterable[Mapping[str, set[str]]]) -> bool:
        """Whether a finding of the record has one polarity in it and only the other in ``told``."""
        text = (record.probability or "").lower().replace("_", " ")
        own = _group(self._levels.get(text, OPEN))
        if own == OPEN:
            return False
        sentences = list(told)
        texts = record.entities or [record.name or ""]
        named = {name for text in texts for name in self._support.named(text)}
        for finding in sorted(named):
            groups = {group for sentence in sentences for group in sentence.get(finding, ())}
            if groups and own not in groups and OPEN not in groups:
                return True
        return False


def _group(level: str) -> str:
    return "pos" if level in ASSERTING else "neg" if level in DENYING else OPEN

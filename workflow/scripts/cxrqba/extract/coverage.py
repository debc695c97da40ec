"""What of a report's sentences was understood, so that silence never looks like health.

Only a sentence of technique, comparison, advice or notification may yield nothing without making a
study incomplete (paper Sec. D.1: "no" is said only where every reported sentence is accounted for);
their phrases stand in ``sections.yaml``. Within a sentence that yields observations, words that
belong to none of them and to no known phrase are *unread*: "there is a large zorblax and no
effusion" must not pass for a denial of effusion alone. Words that carry no finding by themselves
stand in ``function_words.yaml``.
"""

from __future__ import annotations

from cxrqba.extract.lexicon import FILLERS, FINITE, Reading
from cxrqba.extract.matcher import ARTICLES, Match, PhraseTable
from cxrqba.extract.words import words
from cxrqba.reference.cells import read_yaml
from cxrqba.reference.tables import Reference

UNCOVERED = "uncovered_sentence"
PARTLY_COVERED = "partly_covered"
NON_OBSERVATIONAL = "non_observational"
MAX_BRIDGE = 2
"""Function words between two unread words that do not part them."""


class Coverage:
    """Tells what kind of non-observational sentence a text is, and what of a clause is unread."""

    def __init__(self, reference: Reference):
        self._phrases = PhraseTable(
            (phrase, kind)
            for kind, phrases in reference.sections["non_observational"].items()
            for phrase in phrases
        )
        self._empty = frozenset(
            normal.norm for token in reference.sections["empty_words"] for normal in words(token)
        )
        groups = read_yaml(reference.folder / "function_words.yaml")
        listed = (w.norm for group in groups.values() for line in group for w in words(line))
        self._function = FILLERS | FINITE | ARTICLES | frozenset(listed)

    def kind(self, sentence: str) -> str | None:
        """technique, comparison, recommendation, notification, empty; None if it is none."""
        tokens = words(sentence)
        if all(
            not w.norm[:1].isalpha() or w.norm in self._empty or w.text.startswith("_")
            for w in tokens
        ):
            return "empty"
        found = self._phrases.find(tokens)
        return str(found[0].value) if found else None

    def unread(self, reading: Reading, first: int, last: int, told: bool) -> list[tuple[int, int]]:
        """[start, end) in the report of what stands in words [first, last) and was not read.

        ``told`` says whether the clause gave an observation; if not, nothing in it was read.
        """
        known = _matched(reading) if told else set()
        open_ = [
            i
            for i in range(first, last)
            if i not in known and not self._says_nothing(reading.words[i].text, reading.norm(i))
        ]
        if not told and open_:
            text = reading.text[
                reading.words[first].start - reading.offset : reading.words[last - 1].end
                - reading.offset
            ]
            if self.kind(text) is not None:
                return []
        return [(reading.words[a].start, reading.words[b].end) for a, b in _runs(open_, MAX_BRIDGE)]

    def _says_nothing(self, text: str, norm: str) -> bool:
        if len(norm) < 2 or not norm[:1].isalpha() or norm in self._function:
            return True
        return set(text) <= {"X"}


def _matched(reading: Reading) -> set[int]:
    groups: tuple[list[Match], ...] = (
        reading.findings,
        reading.regions,
        reading.subjects,
        reading.predicates,
        reading.before,
        reading.after,
        reading.non_assertions,
        reading.changes,
        reading.modifiers,
        reading.terminators,
        reading.parts,
        reading.fixed,
        reading.distinctions,
    )
    return {i for matches in groups for m in matches for i in range(m.first, m.last)}


def _runs(indices: list[int], bridge: int) -> list[tuple[int, int]]:
    """First and last index of runs; gaps of up to ``bridge`` do not end one."""
    runs: list[tuple[int, int]] = []
    for at in indices:
        if runs and at - runs[-1][1] <= bridge + 1:
            runs[-1] = (runs[-1][0], at)
        else:
            runs.append((at, at))
    return runs

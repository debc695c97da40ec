"""What of a report's sentences was understood, so that silence never looks like health.

Only a sentence of technique, comparison, advice or notification may yield nothing without making a
study incomplete (paper Sec. D.1: "no" is said only where every reported sentence is accounted for).
Their phrases stand in ``sections.yaml``; a sentence is one of them only if nothing in it is left
over: "a zorblax, for which CT is recommended" is no mere advice. Within a sentence that yields
observations, words that belong to none of them and to no known phrase are *unread*: "there is a
large zorblax and no effusion" must not pass for a denial of effusion alone. Words that carry no
finding by themselves stand in ``function_words.yaml``; some of them only beside a finding
("prominent"). A clause that states nothing but names a side, a place or a degree ("..., but the
right is another matter") is unread as a whole.
"""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterable, Sequence

from cxrqba.extract.lexicon import ADVERBS, COPULAS, FILLERS, FINITE, SIDES, Reading
from cxrqba.extract.matcher import ARTICLES, Match, PhraseTable
from cxrqba.extract.words import Word, word_set, words
from cxrqba.reference.cells import read_yaml
from cxrqba.reference.tables import Reference

UNCOVERED = "uncovered_sentence"
PARTLY_COVERED = "partly_covered"
NON_OBSERVATIONAL = "non_observational"
BESIDE_FINDINGS = "beside_findings"
"""Group of ``function_words.yaml`` that is read only next to a finding."""
PROCEDURES = "procedures"
"""Group that is read only in sentences that describe nothing."""
MAX_BRIDGE = 2
"""Function words between two unread words that do not part them."""
MAX_NAME = 4
"""Words in which a person's name ends behind "Dr"."""
_BEFORE_NAMES = word_set("dr doctor by with to nurse np md pa rn resident")


class Coverage:
    """Tells what kind of non-observational sentence a text is, and what of a clause is unread."""

    def __init__(self, reference: Reference):
        self._phrases = PhraseTable(
            (phrase, kind)
            for kind, phrases in reference.sections["non_observational"].items()
            for phrase in phrases
        )
        self._empty = _norms(reference.sections["empty_words"])
        groups = read_yaml(reference.folder / "function_words.yaml")
        self._beside = _norms(groups.pop(BESIDE_FINDINGS))
        procedures = _norms(groups.pop(PROCEDURES))
        lines = itertools.chain.from_iterable(groups.values())
        self._function = FILLERS | FINITE | ARTICLES | _norms(lines)
        regions = reference.regions.values()
        places = _norms(name for r in regions for name in (r.name, *r.synonyms))
        self._silent = self._function | procedures | places

    def kind(self, sentence: str) -> str | None:
        """technique, comparison, recommendation, notification, empty; None if it is none."""
        tokens = words(sentence)
        if all(
            not w.norm[:1].isalpha() or w.norm in self._empty or w.text.startswith("_")
            for w in tokens
        ):
            return "empty"
        found = self._phrases.find(tokens)
        covered = {i for m in found for i in range(m.first, m.last)}
        covered |= _people(tokens) if found else set()
        left = (w for i, w in enumerate(tokens) if i not in covered)
        if not found or any(not _says_nothing(w.text, w.norm, self._silent) for w in left):
            return None
        return str(found[0].value)

    def unread(self, reading: Reading, first: int, last: int, told: bool) -> list[tuple[int, int]]:
        """[start, end) in the report of what stands in words [first, last) and was not read.

        ``told`` says whether the clause gave an observation; if not, nothing in it was read.
        """
        known = _matched(reading) if told else set()
        open_ = [
            i
            for i in range(first, last)
            if i not in known
            and not _says_nothing(reading.words[i].text, reading.norm(i), self._function)
            and not (told and self._is_beside(reading, i, known))
        ]
        if not told and _tells(reading, first, last):
            if self.kind(_text(reading, first, last)) in (None, "empty"):
                return [(reading.words[first].start, reading.words[last - 1].end)]
            return []
        if not told and open_ and self.kind(_text(reading, first, last)) is not None:
            return []
        return [(reading.words[a].start, reading.words[b].end) for a, b in _runs(open_, MAX_BRIDGE)]

    def _is_beside(self, reading: Reading, at: int, known: set[int]) -> bool:
        """Whether a word says how a finding looks: "prominent streaky opacity"."""
        if reading.norm(at) not in self._beside:
            return False
        starts = {f.first for f in reading.findings}
        ends = {f.last for f in reading.findings}
        after, before = at + 1, at
        while after not in starts and self._goes_on(reading, after, known):
            after += 1
        while before not in ends and self._goes_on(reading, before - 1, known):
            before -= 1
        return after in starts or before in ends

    def _goes_on(self, reading: Reading, at: int, known: set[int]) -> bool:
        """Whether word ``at`` may stand between a finding and a word that says how it looks."""
        norm = reading.norm(at)
        if norm in self._beside or norm in COPULAS | ADVERBS | SIDES or norm == "in":
            return True
        return at in known and any(m.first <= at < m.last for m in reading.modifiers)


def _norms(phrases: Iterable[str]) -> frozenset[str]:
    return frozenset(w.norm for phrase in phrases for w in words(phrase))


def _says_nothing(text: str, norm: str, silent: Container[str]) -> bool:
    if len(norm) < 2 or not norm[:1].isalpha() or norm in silent:
        return True
    return set(text) <= {"X"}


def _people(tokens: Sequence[Word]) -> set[int]:
    """Words that are names: capitals behind "Dr", "by", "with"."""
    found: set[int] = set()
    for i, word in enumerate(tokens):
        at = i - 1
        while at >= 0 and (tokens[at].norm == "." or at in found):
            at -= 1
        is_name = word.text[:1].isupper() and not (word.text.isupper() and len(word.text) > 1)
        if is_name and i - at <= MAX_NAME and at >= 0 and tokens[at].norm in _BEFORE_NAMES:
            found.add(i)
    return found


def _text(reading: Reading, first: int, last: int) -> str:
    start, end = reading.words[first].start, reading.words[last - 1].end
    return reading.text[start - reading.offset : end - reading.offset]


def _tells(reading: Reading, first: int, last: int) -> bool:
    """Whether a clause without a statement names what a statement is made of."""
    told: tuple[list[Match], ...] = (reading.modifiers, reading.regions, reading.structures)
    named = any(first <= m.first and m.last <= last for matches in told for m in matches)
    return named or any(reading.norm(i) in SIDES for i in range(first, last))


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
        [m for m in reading.enders if any(m.last <= f.first for f in reading.findings)],
        reading.doubted,
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

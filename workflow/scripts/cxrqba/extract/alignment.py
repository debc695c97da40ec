"""Where in a report the sentences stand that a model returned (paper Sec. E.1.2).

A model may change white space, capitals and quotation marks, leave out removed words, merge,
shorten or invent. Only what stands in the report counts: each text is given a span of the report,
whose characters are what is read from then on, or none at all. In this order: word for word, in the
order of the report; as a shortening or a near copy of a sentence nobody claimed, in the gap between
its neighbours, then anywhere; sentence by sentence, if several were merged.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

from cxrqba.extract.matcher import PhraseTable
from cxrqba.extract.words import words
from cxrqba.reference.tables import Reference
from cxrqba.reports.deid import Deidentified
from cxrqba.reports.sentences import LIST_MARK, split_sentences

FUZZY_CUTOFF = 88.0
"""Similarity in percent (rapidfuzz ``ratio``) from which a text is a near copy of a sentence.

It decides what is read, never what it says: that is taken from the report.
"""

MIN_SHORTENED = 0.3
"""Share of a sentence's words that make a text, two words or more, a shortening of it."""

MAX_OCCURRENCES = 64
"""Places of one text that are considered; a text repeated more often is found gap by gap."""

_TOKEN = re.compile(r"[^\W_]+(?:\.\d+)?")
_BREAK = re.compile(r"[;:.?!]|\b(?:but|however|although|though)\b", re.IGNORECASE)
_AFTER = re.compile(r"[ \t]*[.?!;:)\]\"'\u201d\u2019]+")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Aligned:
    """A text given to :meth:`Aligner.align`, by its index, and its place in the report."""

    index: int
    start: int
    end: int
    method: str  # exact, layout (same words), shortened, fuzzy


@dataclass(frozen=True, slots=True)
class _Text:
    """Words of a text in lower case, without removed ones; ``spans`` are their places."""

    tokens: tuple[str, ...]
    spans: tuple[Span, ...]

    @classmethod
    def of(cls, text: str, offset: int = 0) -> _Text:
        found = [
            (m[0].casefold(), (m.start() + offset, m.end() + offset)) for m in _TOKEN.finditer(text)
        ]
        return cls(tuple(t for t, _ in found), tuple(s for _, s in found))


class Aligner:
    """Aligns with one site's removed words and the reference's cues of doubt and denial."""

    def __init__(self, reference: Reference, deid: Deidentified):
        self._deid = deid
        self._cues = PhraseTable(
            (cue.text, cue.level) for cue in reference.cues if cue.level != "positive"
        )

    def align(self, report: str, sentences: Sequence[Span], texts: Sequence[str]) -> list[Aligned]:
        """Places of ``texts`` in ``report`` in the order of the texts.

        ``sentences`` are the spans of the report's own sentences, in order, without headers.
        A merged text may have several places; one that does not stand in the report has none. Spans
        of different texts may overlap where a model cut a sentence in two that share a "no".
        """
        texts = [LIST_MARK.sub("", text.strip(), count=1) for text in texts]
        return _Alignment(report, sentences, texts, self._deid, self._cues).run()


class _Alignment:
    """One report and the texts a model returned for it."""

    def __init__(
        self,
        report: str,
        sentences: Sequence[Span],
        texts: Sequence[str],
        deid: Deidentified,
        cues: PhraseTable,
    ):
        self.report = report
        self.texts = texts
        self.deid = deid
        self.cues = cues
        self.plain = _without(report, deid)
        self.words = _Text.of(self.plain)
        self.joined = f" {' '.join(self.words.tokens)} "
        self.starts: list[int] = []
        at = 1
        for token in self.words.tokens:
            self.starts.append(at)
            at += len(token) + 1
        self.sentences = sentences
        self.sentence_starts = [start for start, _ in sentences]
        firsts = [span[0] for span in self.words.spans]
        self.sentence_tokens = [
            self.words.tokens[bisect_left(firsts, start) : bisect_left(firsts, end)]
            for start, end in sentences
        ]
        self.claimed = [False] * len(self.sentences)

    def run(self) -> list[Aligned]:
        needles = [_Text.of(_without(text, self.deid)).tokens for text in self.texts]
        places = self._in_order(needles)
        found: dict[int, list[Aligned]] = {}
        for index, place in places.items():
            found[index] = [self._exact(index, place, len(needles[index]))]
        for index, needle in enumerate(needles):
            if index not in found and needle:
                found[index] = self._elsewhere(index, self.texts[index], needle, places)
        return [one for index in sorted(found) for one in found[index]]

    # --- word for word ---

    def _in_order(self, needles: Sequence[tuple[str, ...]]) -> dict[int, int]:
        """Index of a text -> its first word in the report, the longest chain in text order."""
        pairs = [
            (index, -place)
            for index, needle in enumerate(needles)
            for place in self._occurrences(needle)
        ]
        pairs.sort()
        tails: list[int] = []
        last: list[int] = []
        before: list[int | None] = []
        for i, (_, negative) in enumerate(pairs):
            at = bisect_left(tails, -negative)
            if at == len(tails):
                tails.append(-negative)
                last.append(i)
            else:
                tails[at], last[at] = -negative, i
            before.append(last[at - 1] if at else None)
        chain: dict[int, int] = {}
        step = last[-1] if last else None
        while step is not None:
            chain[pairs[step][0]] = -pairs[step][1]
            step = before[step]
        return chain

    def _occurrences(self, needle: tuple[str, ...]) -> list[int]:
        found: list[int] = []
        text = f" {' '.join(needle)} "
        at = self.joined.find(text) if needle else -1
        while at >= 0 and len(found) < MAX_OCCURRENCES:
            found.append(bisect_left(self.starts, at + 1))
            at = self.joined.find(text, at + 1)
        return found

    def _exact(self, index: int, first: int, length: int) -> Aligned:
        start, end = self.words.spans[first][0], self.words.spans[first + length - 1][1]
        text = self.texts[index].strip()
        verbatim = self.report.find(text, max(0, start - len(text)), end + len(text))
        if 0 <= verbatim <= start and end <= verbatim + len(text):
            start, end = verbatim, verbatim + len(text)
        start, end = self._with_marks(start, end)
        if self._sentence_at(start) is None:  # a header that was taken along
            following = bisect_right(self.sentence_starts, start)
            if following < len(self.sentences) and self.sentences[following][0] < end:
                start = self.sentences[following][0]
        start, end = self._with_cues(start, end)
        self._claim(start, end)
        same = self.report[start:end] == text
        return Aligned(index, start, end, "exact" if same else "layout")

    def _with_marks(self, start: int, end: int) -> Span:
        """With removed words at either side, and the full stop behind."""
        first, last = self._sentence_at(start), self._sentence_at(end - 1)
        low = start if first is None else self.sentences[first][0]
        high = end if last is None else self.sentences[last][1]
        if not _TOKEN.search(self.plain, low, start):
            start = low
        if not _TOKEN.search(self.plain, end, high):
            return start, high
        mark = _AFTER.match(self.report, end, high)
        return start, mark.end() if mark else end

    def _with_cues(self, start: int, end: int) -> Span:
        """Widened to the sentence where what is left of its clause denies or doubts."""
        around = self._sentence_at(start)
        if around is None:
            return start, end
        low, high = self.sentences[around]
        before = _BREAK.split(self.report[low:start])[-1] if low < start else ""
        after = _BREAK.split(self.report[end:high])[0] if end < high else ""
        if before and self.cues.find(words(before)):
            start = low
        if after and self.cues.find(words(after)):
            end = high
        return start, end

    # --- near copies ---

    def _elsewhere(
        self, index: int, text: str, needle: tuple[str, ...], places: dict[int, int]
    ) -> list[Aligned]:
        """Near its neighbours, then anywhere, then sentence by sentence."""
        near = self._gap(index, places)
        for sentences in (near, range(len(self.sentences))):
            found = self._best(needle, sentences)
            if found is not None:
                return [self._whole(index, *found)]
        occurrences = self._occurrences(needle)
        if occurrences:
            return [self._exact(index, occurrences[0], len(needle))]
        pieces = [text[a:b] for a, b in split_sentences(text)]
        if len(pieces) < 2:
            return []
        parts: list[Aligned] = []
        for piece in pieces:
            tokens = _Text.of(_without(piece, self.deid)).tokens
            best = self._best(tokens, near) or self._best(tokens, range(len(self.sentences)))
            if best is not None:
                parts.append(self._whole(index, *best))
        return parts

    def _gap(self, index: int, places: dict[int, int]) -> range:
        """Sentences between those of the nearest texts that were found word for word."""
        before = max((i for i in places if i < index), default=None)
        after = min((i for i in places if i > index), default=None)
        low = self._sentence_of_word(places[before]) if before is not None else 0
        high = self._sentence_of_word(places[after]) + 1 if after is not None else None
        return range(low, len(self.sentences) if high is None else high)

    def _best(self, needle: tuple[str, ...], sentences: Iterable[int]) -> tuple[int, str] | None:
        """The unclaimed sentence nearest to ``needle`` and how it was found."""
        best: tuple[float, int, str] | None = None
        for i in sentences:
            tokens = self.sentence_tokens[i]
            if self.claimed[i] or not tokens:
                continue
            if needle == tokens:
                return i, "layout"
            share = len(needle) / len(tokens)
            if share >= MIN_SHORTENED and _is_shortening(needle, tokens):
                score, method = 100.0 * share, "shortened"
            else:
                text, other = " ".join(needle), " ".join(tokens)
                score, method = fuzz.ratio(text, other, score_cutoff=FUZZY_CUTOFF), "fuzzy"
            if score > 0 and (best is None or score > best[0]):
                best = score, i, method
        return None if best is None else best[1:]

    def _whole(self, index: int, sentence: int, method: str) -> Aligned:
        start, end = self.sentences[sentence]
        self._claim(start, end)
        return Aligned(index, start, end, method)

    # --- places ---

    def _sentence_at(self, at: int) -> int | None:
        i = bisect_right(self.sentence_starts, at) - 1
        return i if i >= 0 and at < self.sentences[i][1] else None

    def _sentence_of_word(self, word: int) -> int:
        return max(0, bisect_right(self.sentence_starts, self.words.spans[word][0]) - 1)

    def _claim(self, start: int, end: int) -> None:
        """Sentences of which at least half is in [start, end) are no longer free."""
        first = max(0, bisect_right(self.sentence_starts, start) - 1)
        for i in range(first, bisect_left(self.sentence_starts, end)):
            low, high = self.sentences[i]
            self.claimed[i] |= 2 * (min(end, high) - max(start, low)) >= high - low


def _without(text: str, deid: Deidentified) -> str:
    """Removed words as blanks of the same length, since models drop or rewrite them."""
    return deid.pattern.sub(lambda m: " " * len(m[0]), text)


def _is_shortening(needle: Sequence[str], tokens: Iterable[str]) -> bool:
    """Whether ``needle``, two words or more of which one has weight, is ``tokens`` less some."""
    rest = iter(tokens)
    return len(needle) > 1 and max(map(len, needle)) > 3 and all(t in rest for t in needle)

"""Words that a sentence leaves out because it has said them: "small left and *no right* effusion".

Reports name a finding once and speak of both sides: "the left effusion is small and *the right* is
moderate", "that on the right persists", "none on the left", "no airspace, *interstitial* or nodular
process". Read word by word, the second half would be silence, and silence looks like health. The
words left out are supplied before anything is sought in the sentence; their span is that of the
word that stands for them, so that evidence still points into the report (paper Sec. D.1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from cxrqba.extract.corrections import corrected
from cxrqba.extract.matcher import ARTICLES, Match, PhraseTable
from cxrqba.extract.words import Word, word_set

_SIDES = ("left", "right")
_PRONOUNS = word_set("that those one another none")
_PLACING = word_set("on in at of within along over to")
_BOUNDS = word_set(", . ; : ( and but while wherea with although though yet versus than or")
_JOINTS = word_set(", and but or")
_OPPOSING = word_set("no without not possible likely probable questionable")
"""Words that make one half of "small left and no right effusion" a claim of its own."""
_VERBS = word_set(
    "is are was were has have remain appear persist show demonstrate measure improved worsened "
    "increased decreased resolved cleared seem look layer"
)
_BOTH = word_set("bilateral both bibasilar biapical bilaterally")
_HALVES = word_set(", ; and but while wherea")
"""What parts the halves of "left unchanged, right smaller"."""
_MODALS = word_set("cannot may might could would can")
_HEALTHY = word_set("clear normal unremarkable free sharp intact negative well not otherwise fully")
"""Words behind the verb that make a bare side the organ's: "the right is clear"."""
_AGES = ("acute", "new")
_NEGATORS = word_set("not neither no never")
_EXISTING = ("absent", "present")
_GAPS = word_set("unchanged stable smaller larger worse better gone none")
_LEADING = ARTICLES | word_set("also is are there only")
_FIRST_OF_TWO = "former"
_LAST_OF_TWO = "latter"
_BETWEEN = word_set(", sided basal basilar apical lower upper")
"""Words that may part a side from its finding."""
_NEAR = 4
"""Words between a pronoun and the side that it is told of."""
_MAX_HALF = 5
"""Words of the first half of "moderate to large left and no right effusion"."""


class Ellipsis:
    """Supplies left-out names of findings; ``findings`` finds the names that are there.

    ``is_degree`` tells whether a word is one of degree or change, of which a bare side may be told
    ("and the right *moderate*").
    """

    def __init__(self, findings: PhraseTable, is_degree: Callable[[str], bool]):
        self._findings = findings
        self._is_degree = is_degree

    def completed(self, sentence: list[Word], before: Sequence[Word] = ()) -> list[Word]:
        """``sentence`` with the words it leaves out.

        ``before`` names the finding that the sentence before spoke of last, for "the right is
        smaller" in a sentence of its own.
        """
        if not _has_trigger(sentence):
            return sentence
        sentence = corrected(sentence, self._findings)
        sentence = self._with_shared_heads(sentence)
        found = self._findings.find(sentence)
        for at in range(len(sentence) - 1, -1, -1):
            heads = [_head(sentence, m) for m in found if m.last <= at] or [list(before)] * bool(
                before
            )
            if heads:
                sentence = self._at(sentence, at, heads, is_own=bool(found and found[0].last <= at))
        return sentence

    def _at(
        self, sentence: list[Word], at: int, heads: Sequence[Sequence[Word]], is_own: bool
    ) -> list[Word]:
        """``sentence`` with what is left out at word ``at``; ``heads`` are named before it."""
        norm = _norm(sentence, at)
        if norm in (_FIRST_OF_TWO, _LAST_OF_TWO) and len(heads) > 1:
            chosen = heads[-2] if norm == _FIRST_OF_TWO else heads[-1]
            return [*sentence[:at], *_supplied(chosen, sentence[at]), *sentence[at + 1 :]]
        head = heads[-1]
        if norm == "none" and _norm(sentence, at + 1) in _AGES and _ends(sentence, at + 2):
            denied = replace(sentence[at], text="no", norm="no")
            return [*sentence[:at], denied, sentence[at + 1], *_supplied(head, sentence[at + 1])]
        if norm in _PRONOUNS and self._is_placed(sentence, at) and self._opens(sentence, at):
            words = _supplied(head, sentence[at])
            if norm == "none":
                words = [replace(sentence[at], text="no", norm="no"), *words]
            return [*sentence[:at], *words, *sentence[at + 1 :]]
        is_left_out = (
            (norm in _SIDES and self._is_bare(sentence, at, is_own))
            or (norm == "other" and _norm(sentence, at + 1) in _VERBS)
            or (norm == "one" and self._is_another(sentence, at))
            or (self._is_degree(norm) and self._is_told_of_side(sentence, at))
            or (norm == "not" and _after_joint(sentence, at) and self._is_placed(sentence, at))
            or (norm in _EXISTING and self._is_other_half(sentence, at))
        )
        if not is_left_out:
            return sentence
        return [*sentence[: at + 1], *_supplied(head, sentence[at]), *sentence[at + 1 :]]

    def _is_placed(self, sentence: Sequence[Word], at: int) -> bool:
        """Whether a side follows the word: "that *on the right*", "not in the left base"."""
        if _norm(sentence, at + 1) not in _PLACING:
            return False
        following = [_norm(sentence, i) for i in range(at + 2, at + 2 + _NEAR)]
        side = next((i for i, n in enumerate(following) if n in _SIDES), None)
        if side is None or any(n in _BOUNDS for n in following[:side]):
            return False
        last = at + 2 + side
        return self._findings.at_start(list(sentence[last + 1 : last + 6])) is None

    def _opens(self, sentence: Sequence[Word], at: int) -> bool:
        """Whether the pronoun begins a statement: "that" behind a noun is another word."""
        first = at - 1
        while _norm(sentence, first) in _LEADING or self._is_degree(_norm(sentence, first)):
            first -= 1
        return _norm(sentence, first) in ("", *_BOUNDS)

    def _is_told_of_side(self, sentence: Sequence[Word], at: int) -> bool:
        """Whether a bare degree has the other side behind it: ", *trace* on the right"."""
        if _norm(sentence, at - 1) not in _HALVES or not self._is_placed(sentence, at):
            return False
        side = next(i for i in range(at, len(sentence)) if _norm(sentence, i) in _SIDES)
        told = {_norm(sentence, i) for i in range(at)}
        return _is_second(sentence, side) and not told & _BOTH

    def _is_other_half(self, sentence: Sequence[Word], at: int) -> bool:
        """Whether presence on the other side is told: "..., *absent* (on the) right"."""
        if not _after_joint(sentence, at):
            return False
        if self._is_placed(sentence, at):
            return True
        side = _norm(sentence, at + 1)
        return side in _SIDES and _norm(sentence, at + 2) in ("", *_BOUNDS)

    def _is_another(self, sentence: Sequence[Word], at: int) -> bool:
        """Whether "a small *one*" takes up the finding with a degree of its own."""
        article = _norm(sentence, at - 2) in ARTICLES
        told = _norm(sentence, at + 1) in _VERBS | _MODALS
        return article and self._is_degree(_norm(sentence, at - 1)) and told

    def _is_bare(self, sentence: Sequence[Word], at: int, is_own: bool) -> bool:
        """Whether no noun follows the side: "the right *is* ...", "and right *unchanged*".

        Where the finding is the sentence's own (``is_own``), it was told of the other side first.
        """
        if is_own and not _is_second(sentence, at):
            return False
        after = at + 1
        while _norm(sentence, after) in ("also", "now", "side", "-", "\u2013", ":"):
            after += 1
        following = _norm(sentence, after)
        opens = _norm(sentence, at - 1) == "the" and _norm(sentence, at - 2) in ("", *_BOUNDS)
        if following in _VERBS:
            if _norm(sentence, after + 1) in _HEALTHY:
                return False
            return opens or _norm(sentence, at - 1) in ("", *_BOUNDS)
        if not opens and _norm(sentence, at - 1) not in _HALVES:
            return False
        told = following in _GAPS or self._is_degree(following)
        return told and _norm(sentence, after + 1) in ("", ",", ".", ";", "and", "than", "since")

    def _with_shared_heads(self, sentence: list[Word]) -> list[Word]:
        """Repeat a head after each attribute or side of a list that ends in it."""
        for match in reversed(self._findings.find(sentence)):
            for cut in _heads(match):
                head = sentence[cut : match.last]
                extended = self._after_attributes(sentence, match.first, head)
                if extended != sentence:
                    sentence = extended
                    break
            sentence = self._after_opposed_kind(_after_opposed_side(sentence, match), match)
        return sentence

    def _after_opposed_kind(self, sentence: list[Word], match: Match) -> list[Word]:
        """ "Old but no acute rib fractures": repeat the finding behind the first kind."""
        at = match.first - 1
        while self._is_degree(_norm(sentence, at)) or _norm(sentence, at) == ",":
            at -= 1
        if _norm(sentence, at) not in ("no", "without") or at == match.first - 1:
            return sentence
        joint = at - 1
        while _norm(sentence, joint) in _JOINTS:
            joint -= 1
        if joint == at - 1 or not self._is_degree(_norm(sentence, joint)):
            return sentence
        if _norm(sentence, joint - 1) not in ("", *_BOUNDS, *_LEADING):
            return sentence
        head = _supplied(_head(sentence, match), sentence[joint])
        return [*sentence[: joint + 1], *head, *sentence[joint + 1 :]]

    def _after_attributes(
        self, sentence: list[Word], first: int, head: Sequence[Word]
    ) -> list[Word]:
        """Behind attributes listed before word ``first`` that make a finding with ``head``."""
        inserted = sentence
        at = first - 1
        while at > 0 and _norm(sentence, at) in (",", "or", "and", "nor"):
            while _norm(sentence, at) in (",", "or", "and", "nor"):
                at -= 1
            attribute = self._findings.at_start([sentence[at], *head]) if at >= 0 else None
            named = any(m.last == at + 1 for m in self._findings.find(sentence[: at + 1]))
            if named or attribute is None or attribute.last != len(head) + 1:
                break
            inserted = [*inserted[: at + 1], *_supplied(head, sentence[at]), *inserted[at + 1 :]]
            at -= 1
        return inserted


def _after_opposed_side(sentence: list[Word], match: Match) -> list[Word]:
    """ "Small left and no right effusion": repeat the finding behind the first side."""
    side = _side_before(sentence, match.first)
    if side is None:
        return sentence
    start = max(0, side - _MAX_HALF)
    joints = [i for i in range(start, side) if _norm(sentence, i) in _JOINTS]
    first = next((j - 1 for j in joints if _norm(sentence, j - 1) in _SIDES), None)
    if first is None or _norm(sentence, first) == _norm(sentence, side):
        return sentence
    second_half = {_norm(sentence, i) for i in range(first + 1, side)}
    if not second_half - _JOINTS - ARTICLES:
        return sentence  # "left and right effusions"
    opening = {_norm(sentence, i) for i in range(max(0, first - _MAX_HALF), first)}
    if not (second_half | opening) & _OPPOSING:
        return sentence
    head = _head(sentence, match)
    return [*sentence[: first + 1], *_supplied(head, sentence[first]), *sentence[first + 1 :]]


def _heads(match: Match) -> range:
    """Where a head can begin; none if it is denied: "the heart and mediastinum are *not* wide"."""
    if set(match.skipped) & _NEGATORS:
        return range(0)
    return range(match.last - 1, match.first, -1)


def _side_before(sentence: Sequence[Word], first: int) -> int | None:
    """The side that stands right before a finding, or before its region's adjective or a comma."""
    for at in (first - 1, first - 2):
        if _norm(sentence, at) in _SIDES:
            return at
        if _norm(sentence, at) not in _BETWEEN:
            return None
    return None


def _ends(sentence: Sequence[Word], at: int) -> bool:
    return _norm(sentence, at) in ("", ".")


def _after_joint(sentence: Sequence[Word], at: int) -> bool:
    return _norm(sentence, at - 1) in _JOINTS


def _is_second(sentence: Sequence[Word], at: int) -> bool:
    """Whether the other side was spoken of before."""
    other = _SIDES[1 - _SIDES.index(_norm(sentence, at))]
    return any(_norm(sentence, i) == other for i in range(at))


def _head(sentence: Sequence[Word], match: Match) -> list[Word]:
    """The words of a finding without sides inside it."""
    return [w for w in sentence[match.first : match.last] if w.norm not in (*_SIDES, *ARTICLES)]


def _supplied(words: Sequence[Word], stand_in: Word) -> list[Word]:
    """``words`` at the place of the word that stands for them."""
    return [replace(w, start=stand_in.start, end=stand_in.end, supplied=True) for w in words]


def _norm(sentence: Sequence[Word], at: int) -> str:
    return sentence[at].norm if 0 <= at < len(sentence) else ""


_TRIGGERS = _PRONOUNS | frozenset(_SIDES) | {_FIRST_OF_TWO, _LAST_OF_TWO, "other", "or", "and"}


def _has_trigger(sentence: Sequence[Word]) -> bool:
    return any(w.norm in _TRIGGERS for w in sentence)

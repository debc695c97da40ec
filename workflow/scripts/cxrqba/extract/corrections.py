"""A side that is taken back in the same breath: "a right *rather than left* effusion".

Addenda correct a side so ("right effusion should read left effusion"). Read word by word, the
finding would be denied on both sides or told of both; it is on one, and the other is denied. The
words are spelled out as two statements before anything is sought in the sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cxrqba.extract.matcher import ARTICLES, Match, PhraseTable
from cxrqba.extract.words import Word, word_set

_SIDES = ("left", "right")
_INSTEAD = (("rather", "than"), ("instead", "of"), ("and", "not"), ("but", "not"), ("not",))
_READ_AS = (("should", "read"), ("should", "have", "read"), ("should", "be", "read", "as"))
_COPULAS = word_set("is are was were")
_PLACING = ARTICLES | word_set("on in at to of side sided")
_BETWEEN = word_set(", sided side pleural basal basilar upper lower apical")
"""Words that may part a side from the finding behind it."""


def corrected(sentence: list[Word], findings: PhraseTable) -> list[Word]:
    """``sentence`` with a side that is taken back told as a denial of its own."""
    if not {w.norm for w in sentence} & {"rather", "instead", "not", "read"}:
        return sentence
    sentence = _not_there(_reworded(sentence, findings), findings)
    return _taken_back(sentence, findings)


def _not_there(sentence: list[Word], findings: PhraseTable) -> list[Word]:
    """ "The effusion is not on the left" as "no effusion is on the left"."""
    for match in findings.find(sentence):
        at = match.last
        while _norm(sentence, at) in _COPULAS:
            at += 1
        placed = _norm(sentence, at) == "not" and _norm(sentence, at + 1) in ("on", "at", "in")
        near = {_norm(sentence, i) for i in range(at + 2, at + 5)}
        own = {_norm(sentence, i) for i in range(match.first - 2, match.last)}
        if placed and at > match.last and near & set(_SIDES) and not own & set(_SIDES):
            name = _supplied(_head(sentence, match), sentence[at])
            return [*sentence[: match.first], _as(sentence[at], "no"), *name, *sentence[at + 1 :]]
    return sentence


def _taken_back(sentence: list[Word], findings: PhraseTable) -> list[Word]:
    """ "Right rather than left effusion" as "right effusion, no left effusion"."""
    for at, word in enumerate(sentence):
        other = _other_side(sentence, at)
        if word.norm not in _SIDES or other is None:
            continue
        joint, second = other
        found = findings.find(sentence)
        behind = next((m for m in found if _follows(sentence, second, m)), None)
        if behind is not None:
            last = behind.last
            name = [*sentence[second + 1 : behind.first], *_head(sentence, behind)]
            name = [w for w in name if w.norm != ","]
            denied = [sentence[second], *_supplied(name, sentence[second])]
            told = [*_supplied(name, word), *_denied(sentence[joint]), *denied]
            return [*sentence[: at + 1], *told, *sentence[last:]]
        before = [m for m in found if m.last <= at]
        if before:
            name = _supplied(_head(sentence, before[-1]), sentence[second])
            placed = [_as(sentence[second], "on"), *sentence[second:]]
            return [*sentence[: at + 1], *_denied(sentence[joint]), *name, *placed]
    return sentence


def _other_side(sentence: Sequence[Word], at: int) -> tuple[int, int] | None:
    """Where "rather than" and the opposite side stand behind the side at ``at``."""
    joint = at + 1
    while _norm(sentence, joint) in (",", "side", "sided"):
        joint += 1
    phrase = next((p for p in _INSTEAD if _stands(sentence, joint, p)), None)
    if phrase is None:
        return None
    second = joint + len(phrase)
    while _norm(sentence, second) in _PLACING:
        second += 1
    opposite = _norm(sentence, second)
    return (joint, second) if opposite in _SIDES and opposite != sentence[at].norm else None


def _reworded(sentence: list[Word], findings: PhraseTable) -> list[Word]:
    """ "The right effusion should read left" as "no right effusion; left effusion"."""
    for at in range(len(sentence)):
        phrase = next((p for p in _READ_AS if _stands(sentence, at, p)), None)
        if phrase is None:
            continue
        wrong, right = sentence[:at], sentence[at + len(phrase) :]
        sides = [i for i, w in enumerate(wrong) if w.norm in _SIDES]
        meant = [w for w in right if w.norm in _SIDES]
        if len(sides) != 1 or len(meant) != 1 or wrong[sides[0]].norm == meant[0].norm:
            return sentence
        if not findings.find(wrong):
            return sentence
        start = sides[0]
        if not findings.find(right):
            right = [meant[0], *_supplied(wrong[start + 1 :], meant[0]), *_rest(right, meant[0])]
        denial = [_as(sentence[at], "no"), *wrong[start:]]
        return [*wrong[:start], *denial, _as(sentence[at], ";"), *right]
    return sentence


def _rest(right: Sequence[Word], side: Word) -> list[Word]:
    return [w for w in right if w.start >= side.end and not w.norm[:1].isalpha()]


def _follows(sentence: Sequence[Word], side: int, finding: Match) -> bool:
    """Whether the finding stands right behind the side."""
    gap = range(side + 1, finding.first)
    return finding.first > side and all(_norm(sentence, i) in _BETWEEN for i in gap)


def _head(sentence: Sequence[Word], match: Match) -> list[Word]:
    return [w for w in sentence[match.first : match.last] if w.norm not in (*_SIDES, *ARTICLES)]


def _denied(stand_in: Word) -> list[Word]:
    return [_as(stand_in, ","), _as(stand_in, "no")]


def _as(stand_in: Word, text: str) -> Word:
    return replace(stand_in, text=text, norm=text, supplied=True)


def _supplied(words: Sequence[Word], stand_in: Word) -> list[Word]:
    return [replace(w, start=stand_in.start, end=stand_in.end, supplied=True) for w in words]


def _stands(sentence: Sequence[Word], at: int, phrase: Sequence[str]) -> bool:
    return all(_norm(sentence, at + k) == norm for k, norm in enumerate(phrase))


def _norm(sentence: Sequence[Word], at: int) -> str:
    return sentence[at].norm if 0 <= at < len(sentence) else ""

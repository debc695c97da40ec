"""Checks of wording for the clarity criteria (paper Sec. 3.3, Tab. 12): form, not content.

The checks are those a reader without medical knowledge would make: placeholders and removed words,
doubled words and marks, a missing capital or full stop, articles, dangling ends, missing verbs.
"""

from __future__ import annotations

import re

_PLACEHOLDER = re.compile(r"_{2,}|\bX{3,}\b|[{}<>\[\]]|\$\{?\w|\b(?:None|nan|null|TODO)\b")
_DOUBLED_WORD = re.compile(r"\b([a-z]+)\s+\1\b", re.I)
_MAY_DOUBLE = frozenset({"that", "had"})
_DOUBLED_MARK = re.compile(r"(?<!\.)\.\.(?!\.)|,,|\?\?|;;|,\s*[.?;]|\s[,.;](?:\s|$)|[.?!]\s*,|\.\?")
_DANGLING = re.compile(
    r"\b(?:and|or|of|with|the|an|a|in|at|to|for|from|by|is|are|no)\s*[.,?]?$", re.I
)
_ANSWER_WORD = re.compile(r"\s*(?:yes|no|possibly)\s*[.,]", re.I)
_OPENS_BADLY = re.compile(r"^\W*(?:,|;|and\b|or\b|of\b)", re.I)
_ARTICLE = re.compile(r"\b(a|an) ([a-z]+)", re.I)
_TWO_DETERMINERS = re.compile(r"\b(?:the|an?) (?:the|an?|no|any)\b|\bno (?:no|a|an|the)\b", re.I)
_AGREEMENT = re.compile(
    r"\b(?:there|it|this) are (?:a|an)\b"
    r"|\bthere is (?:\w+ ){0,2}(?:two|three|multiple|several|many)\b"
    r"|\b(?:lungs|effusions|opacities|angles|hila|lines|tubes|fractures|devices) (?:is|was|has)\b"
    r"|\b(?:heart|effusion|opacity|mediastinum|trachea|aorta|pneumothorax|catheter) (?:are|were)\b"
    r"|\bthese (?:is|was)\b|\bthis (?:are|were)\b",
    re.I,
)
_ATTACHED = re.compile(r"\b(?:lines|tubes|angles) (?:is|was|has)\b", re.I)
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|do|does|did|can|may|might|could|should|would|will"
    r"|cannot|shows?|demonstrates?|remains?|appears?|persists?|suggests?|represents?|reflects?"
    r"|projects?|terminates?|ends?|lies?|overlies|courses?|extends?|measures?|obscures?|recommend"
    r"|describe|list|name|report|evaluate|assess|check|look|rule|there's|it's|increases?|decreases?"
    r"|improves?|see|confirms?|indicates?|involves?|sits?|reaches|enters|crosses|passes|seems?)\b",
    re.I,
)
_VOWEL_SOUND = re.compile(r"^(?:[aeio]|u(?!ni|s[aeiu]|ti)|hour|honest|mri\b|x\b|xray)", re.I)


def has_letters(text: str) -> bool:
    """Whether there is anything to read."""
    return len(re.findall(r"[A-Za-z]{2,}", text)) > 0


def has_placeholder(text: str) -> bool:
    """Unfilled slots, de-identification marks or values of a program left in a text."""
    return _PLACEHOLDER.search(text) is not None


def has_verb(text: str) -> bool:
    """Whether one of the verbs that reports and questions use occurs."""
    return (_VERB.search(text) or _ANSWER_WORD.match(text)) is not None


def faults(text: str, *, endings: str) -> list[str]:
    """Names of the grammatical faults of a text; ``endings``: the marks it may end with."""
    text = text.strip()
    found = []
    if not text:
        return ["empty"]
    if text[-1] not in endings:
        found.append("no closing mark")
    if text[0].isalpha() and text[0].islower():
        found.append("no capital")
    if any(m.group(1).lower() not in _MAY_DOUBLE for m in _DOUBLED_WORD.finditer(text)):
        found.append("doubled word")
    if _DOUBLED_MARK.search(text):
        found.append("doubled mark")
    if "  " in text or "\t" in text:
        found.append("doubled space")
    if _DANGLING.search(text):
        found.append("dangling end")
    if _OPENS_BADLY.search(text):
        found.append("dangling start")
    if _TWO_DETERMINERS.search(text):
        found.append("two determiners")
    if _AGREEMENT.search(text) and not _ATTACHED.search(text):
        found.append("verb agreement")
    if any(_wrong_article(m.group(1), m.group(2)) for m in _ARTICLE.finditer(text)):
        found.append("wrong article")
    if text.count("(") != text.count(")"):
        found.append("unclosed bracket")
    return found


def _wrong_article(article: str, word: str) -> bool:
    if len(word) < 3 or word.isupper() or (article == "A" and word[0].isupper()):
        return False
    return (article.lower() == "an") != (_VOWEL_SOUND.match(word) is not None)

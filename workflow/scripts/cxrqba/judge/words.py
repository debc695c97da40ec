"""Words of texts: tokens, stems, sentences, sides, zones, degrees (paper Sec. 3.3)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

_TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)?|\d+(?:\.\d+)?|[.,;:?()]")
_SENTENCE_END = re.compile(
    r"(?:(?<=[a-z\d)\]%_])|(?<=[A-Z]{2}))[.!?;](?=\s|$)|\n\s*\n|(?:^|\s)\d{1,2}[.)](?=\s)"
)
_TITLES = re.compile(r"\b(dr|mr|mrs|ms|no|vs|e\.g|i\.e|approx)\.(?=\s)", re.I)


def words(text: str) -> frozenset[str]:
    """The words of a list written as one string."""
    return frozenset(text.split())


_LEFT = words("left lt lul lll lingula lingular leftsided")
_RIGHT = words("right rt rul rml rll rightsided")
_BOTH = words("bilateral bilaterally both bibasilar bibasal biapical bihilar either biventricular")
_SIDES = {
    **dict.fromkeys(_LEFT, ("left",)),
    **dict.fromkeys(_RIGHT, ("right",)),
    **dict.fromkeys(_BOTH, ("left", "right")),
}
ZONES = {
    **dict.fromkeys(words("upper apex apical apice rul lul biapical suprahilar"), "upper"),
    **dict.fromkeys(words("middle mid midlung midzone rml"), "middle"),
    **dict.fromkeys(
        words("lower base basal basilar bibasilar bibasal rll lll retrocardiac"), "lower"
    ),
}
SEVERITIES = {
    **dict.fromkeys(
        words("mild mildly small minimal minimally trace tiny slight slightly"), "mild"
    ),
    **dict.fromkeys(words("moderate moderately"), "moderate"),
    **dict.fromkeys(
        words("severe severely large marked markedly massive extensive substantial gross"),
        "severe",
    ),
}
_NOT_A_SIDE = re.compile(
    r"\b(?:left|right)(?= (?:ventric|atri|heart border|anterior descending|coronary|lateral view"
    r"|lateral radiograph|in place|in situ|after\b|at the carina|mainstem))"
    r"|(?:shift\w*|deviat\w*|displac\w*|rotat\w*|convex) (?:slightly )?(?:to|toward|towards) the "
    r"(?:left|right)|\b(?:has|have|was|were|is|are|be|been|had) left\b"
)
_FILM = re.compile(r"\bchest (?=(?:x ?rays?|radiographs?|films?|images?|studies|study|exam)\b)")
"""The chest of "chest X-ray" is no place in the body."""
FUNCTION_WORDS = words(
    "a an the of in on at to with and or is are was were be been there this that these those it "
    "its has have had as by for from which who yes within study image radiograph evidence seen "
    "noted present identified visualized visible demonstrated . , ; : ? ( )"
)


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Singular of a lower-case English noun, well enough to compare two texts."""
    if len(word) > 4:
        if word.endswith("ies"):
            return word[:-3] + "y"
        if word.endswith(("sses", "xes", "ches")):
            return word[:-2]
        if word.endswith("aces"):
            return word[:-4] + "ax"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def normalise(text: str) -> str:
    """Lower case, hyphens and slashes opened, white space collapsed."""
    text = text.lower().replace("’", "'").replace("-", " ").replace("/", " ").replace("–", " ")
    return " ".join(text.split())


def tokenise(text: str) -> list[str]:
    """Words, numbers and punctuation marks of a normalised text."""
    return _TOKEN.findall(text)


def plain(text: str) -> str:
    """A normalised text without words that only look like a side or a place of the body."""
    if "chest" in text:
        text = _FILM.sub("image", text)
    if "left" in text or "right" in text:
        text = _NOT_A_SIDE.sub("structure", text)
    return text


def split_sentences(text: str) -> list[str]:
    """Sentences of a text, by full stops before white space, blank lines and list numbers."""
    text = _TITLES.sub(lambda m: m.group(0)[:-1], text)
    return [part for part in _SENTENCE_END.split(text.replace("\r", "")) if part and part.strip()]


_HEADER = re.compile(r"^[ \t]*([A-Za-z][A-Za-z /,&()#-]{2,40}):", re.M)
_SKIPPED = re.compile(
    r"indic|history|reason|hx\b|technique|examination|^exam\b|study|procedure|clinical|notif", re.I
)
_DESCRIBES = re.compile(r"finding|impres|conclu|opinion|report|chest|views?\b", re.I)
_CONCLUDES = re.compile(r"impres|conclu|opinion", re.I)
_HEADS = re.compile(f"{_SKIPPED.pattern}|{_DESCRIBES.pattern}|compar|addend|wet|recommend", re.I)
_BLANK = re.compile(r"\n[ \t]*\n")
_DIVIDER = re.compile(r"^[ \t]*_{10,}[ \t]*$", re.M)


def report_sentences(report: str) -> Iterator[tuple[int, str]]:
    """(rank of the block, sentence): 3 addendum, 2 impression, 1 other; no indication or technique.

    An addendum corrects the report below it; it stands above a line of underscores. A word before a
    colon that heads no section ("Effusion: none") is part of its sentence. Where nothing heads the
    description, it begins with the paragraph after the indication.
    """
    blocks = _DIVIDER.split(report)
    for number, block in enumerate(blocks):
        above = number < len(blocks) - 1
        addendum = above and "addend" in block.lower()[:200]
        for header, text in _sections(block):
            rank = 3 if addendum else 2 if _CONCLUDES.search(header) else 1
            for sentence in split_sentences(text):
                yield rank, sentence


def _sections(block: str) -> Iterator[tuple[str, str]]:
    """(header or "", text) of what describes the study in a block, in order."""
    heads = [m for m in _HEADER.finditer(block) if _HEADS.search(m.group(1))]
    described = any(_DESCRIBES.search(m.group(1)) for m in heads)
    ends = [m.start() for m in heads[1:]] + [len(block)]
    yield "", block[: heads[0].start() if heads else len(block)]
    for head, end in zip(heads, ends, strict=True) if heads else ():
        text = block[head.end() : end]
        if not _SKIPPED.search(head.group(1)):
            yield head.group(1), text
        elif not described and end == len(block):
            yield "", _after_blank(text)


def _after_blank(text: str) -> str:
    """What follows the first blank line behind the first words of a text."""
    found = _BLANK.search(text, len(text) - len(text.lstrip()))
    return text[found.end() :] if found else ""


def zones_of(words: Iterable[str]) -> frozenset[str]:
    """Zones (upper, middle, lower) that words name."""
    return frozenset(ZONES[s] for w in words if (s := stem(w)) in ZONES)


def sides_of(words: Iterable[str]) -> frozenset[str]:
    """Sides (left, right) that words name."""
    sides: set[str] = set()
    for word in words:
        found = _SIDES.get(word)
        if found:
            sides.update(found)
    return frozenset(sides)

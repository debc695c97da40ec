"""What a text says about which finding: the rules judge's own reading (paper Sec. 3.3, E.3).

A judge is worth something only if it can disagree with what it judges. This module therefore
reads texts by itself, from the words of ``resources/reference`` but without the matcher, the scope
rules or the side rules of the extraction: phrases are looked up token by token, polarity comes from
a look-around between clause boundaries, sides and zones from the nearest words. The same reading is
applied to reports, questions and answers, so that what both say is compared like with like.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from cxrqba.reference.tables import Finding, Reference

Polarity = Literal["pos", "hedged", "weak_neg", "neg", "silent"]
"""silent: named, but nothing is asserted (history, recommendation, "no change in")."""

_TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)?|\d+(?:\.\d+)?|[.,;:?()]")
_SENTENCE_END = re.compile(r"(?<=[a-z\d)\]%_])[.!?;](?=\s|$)|\n\s*\n|(?:^|\s)\d{1,2}[.)](?=\s)")
_TITLES = re.compile(r"\b(dr|mr|mrs|ms|no|vs|e\.g|i\.e|approx)\.(?=\s)", re.I)


def words(text: str) -> frozenset[str]:
    """The words of a list written as one string."""
    return frozenset(text.split())


LEFT = words("left lt lul lll lingula lingular leftsided")
RIGHT = words("right rt rul rml rll rightsided")
BOTH = words("bilateral bilaterally both bibasilar bibasal biapical bihilar either biventricular")
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
_NEGATORS = words("no without not nor neither cannot absent denies negative free never")
_LIMITS = words("large significant gross sizable sizeable new acute other additional further")
"""Words that narrow a denial: "no large effusion" leaves room for a small one."""
_HEDGES = words(
    "possible possibly may might could questionable question questioned perhaps potentially "
    "potential equivocal borderline versus vs indeterminate"
)
_BREAKS = words("but however although though except whereas nevertheless yet otherwise")
_VERBS = words(
    "is are was were has have had remains remain shows show demonstrates demonstrate appears "
    "appear persists persist projects project lies terminates terminate ends measures there"
)
_NO_CHANGE = re.compile(
    r"\b(?:no|without|not) (?:\w+ ){0,2}?(?:change|changed|increase|decrease|increased|decreased)\b"
    r"|\bnot only\b|\bno longer as\b"
)
_NOT_EXCLUDED = re.compile(
    r"\b(?:cannot|can not|could not|not|difficult to|unable to|impossible to)(?: \w+){0,2} "
    r"(?:exclud\w+|ruled? out|determined|assessed|evaluated)\b|\bnot excluded\b|\bwhether\b"
)
_LEFT_OPEN = words("exclude excluded rule ruled determined assessed evaluated")
_GONE_AFTER = re.compile(
    r"^(?:\w+ ){0,5}?"
    r"(?:(?:is|are|was|were|be|been) (?:\w+ )?(?:absent|excluded|gone|negative)\b"
    r"|(?:has|have|had) (?:\w+ ){0,2}?"
    r"(?:resolved|cleared|disappeared|been removed|been taken out)\b"
    r"|(?:is|are) no longer\b|no longer\b"
    r"|not (?:\w+ )?(?:seen|identified|present|visible|evident)\b"
    r"|(?:is|are|was|were) (?:resolved|removed)\b|resolved\b|ruled out\b|: (?:none|no|absent)\b)"
)
_GONE_BEFORE = re.compile(
    r"\b(?:absence|lack|resolution|removal|clearance|free|clear|negative) (?:of|for|from) "
    r"(?:\w+ ){0,3}$"
)
_SILENT_BEFORE = re.compile(
    r"\b(?:history of|h o|hx of|rule out|r o|evaluate for|evaluation for|assess for|concern for"
    r"|recommend\w*|correlat\w+ (?:with|for)|follow ?up (?:of|for|to)|to exclude|to confirm"
    r"|if (?:there is|clinical\w*)|prior|previously seen|status post)(?: \w+){0,4} $"
)
_HEDGED_AFTER = re.compile(
    r"^(?:\w+ ){0,4}?(?:(?:is|are) (?:possible|questioned|suspected)|cannot be|not excluded"
    r"|(?:may|might|could) be (?:present|considered)|difficult to exclude|is not excluded)\b"
)


@dataclass(frozen=True, slots=True)
class Mention:
    """One finding named in a text and what is said of it."""

    finding: str
    polarity: Polarity
    sides: frozenset[str]  # subset of {"left", "right"}; empty: none given
    zones: frozenset[str]  # subset of {"upper", "middle", "lower"}
    severities: frozenset[str]  # subset of {"mild", "moderate", "severe"}
    limits: frozenset[str]  # words such as "large", "acute" that narrow a denial
    regions: frozenset[str]  # regions named in the same clause


@dataclass(frozen=True, slots=True)
class Normal:
    """A statement that a region is normal or clear, or (``abnormal``) that it is not."""

    regions: frozenset[str]
    subcategories: frozenset[str]
    sides: frozenset[str]
    abnormal: bool
    hedged: bool  # "there may be an abnormality"


@dataclass(frozen=True, slots=True)
class Reading:
    """All that one sentence or short text says."""

    tokens: tuple[str, ...]  # content words, stemmed; a minus sign before what is negated
    mentions: tuple[Mention, ...]
    normals: tuple[Normal, ...]
    regions: frozenset[str]
    subcategories: frozenset[str]
    sides: frozenset[str]
    words: int
    vocabulary: frozenset[str]  # the tokens as a set
    said: frozenset[Mention]  # the mentions as a set


@dataclass(frozen=True, slots=True)
class ReportReading:
    """A report as its sentences, each with the rank of its block."""

    sentences: tuple[Reading, ...]
    ranks: tuple[int, ...]  # 3 addendum, 2 impression, 1 elsewhere
    by_finding: dict[str, list[tuple[int, int, Mention]]] = field(hash=False)
    """finding -> (rank, sentence number, mention)"""


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


_FUNCTION_WORDS = words(
    "a an the of in on at to with and or is are was were be been there this that these those it "
    "its has have had as by for from which who yes within study image radiograph evidence seen "
    "noted present identified visualized visible demonstrated . , ; : ? ( )"
)


class Reader:
    """Reads texts with the words of the reference tables; readings are cached by text."""

    def __init__(self, reference: Reference):
        self.reference = reference
        phrases = list(_all_phrases(reference))
        self._phrases = _phrase_index(p for p in phrases if p[1] != "region")
        self._regions = _phrase_index(p for p in phrases if p[1] == "region")
        self._pairs = _pair_index(reference.findings.values())
        self._cache: dict[str, Reading] = {}

    def read(self, text: str) -> Reading:
        """Read one short text (a sentence, a question, an answer part)."""
        reading = self._cache.get(text)
        if reading is None:
            if len(self._cache) >= 50_000:
                self._cache.clear()
            reading = self._read(text)
            self._cache[text] = reading
        return reading

    def read_report(self, report: str) -> ReportReading:
        """Read a report sentence by sentence, leaving out indication, history and examination."""
        sentences: list[Reading] = []
        ranks: list[int] = []
        by_finding: dict[str, list[tuple[int, int, Mention]]] = {}
        for rank, sentence in report_sentences(report):
            reading = self._read(sentence)
            for mention in reading.mentions:
                by_finding.setdefault(mention.finding, []).append((rank, len(sentences), mention))
            sentences.append(reading)
            ranks.append(rank)
        return ReportReading(tuple(sentences), tuple(ranks), by_finding)

    def _read(self, text: str) -> Reading:
        mentions: list[Mention] = []
        normals: list[Normal] = []
        content: list[str] = []
        regions: set[str] = set()
        subcategories: set[str] = set()
        sides: set[str] = set()
        number = 0
        for sentence in split_sentences(text):
            normal = normalise(sentence)
            raw = tokenise(_NOT_A_SIDE.sub("structure", _FILM.sub("image", normal)))
            stems = [stem(t) for t in raw]
            number += sum(t[0].isalpha() for t in raw)
            hits = _settled(list(self._hits(stems)), stems)
            regions.update(h.name for h in hits if h.kind == "region")
            subcategories.update(h.name for h in hits if h.kind == "subcategory")
            sides |= _sides(raw)
            marks = _Marks(raw, normal)
            content += [
                f"-{s}" if negated else s
                for s, t, negated in zip(stems, raw, marks.negated, strict=True)
                if t not in _FUNCTION_WORDS and t not in _NEGATORS
            ]
            found = [_mention(h, hits, raw, marks) for h in hits if h.kind == "finding"]
            mentions += found
            normals += _normals(raw, hits, marks)
        return Reading(
            tuple(content),
            tuple(dict.fromkeys(mentions)),
            tuple(normals),
            frozenset(regions),
            frozenset(subcategories),
            frozenset(sides),
            number,
            frozenset(content),
            frozenset(mentions),
        )

    def _hits(self, stems: list[str]) -> Iterator[_Hit]:
        """Longest phrases from left to right, then two-word findings with words between them.

        Regions are sought apart from findings: "pleural effusion" is both a place and a finding.
        """
        taken = [False] * len(stems)
        for hit in _longest(self._phrases, stems):
            yield hit
            if hit.kind == "finding":
                taken[hit.start : hit.end] = [True] * (hit.end - hit.start)
        yield from _longest(self._regions, stems)
        for position, word in enumerate(stems):
            if taken[position]:
                continue
            for other, name in self._pairs.get(word, ()):
                for near in range(max(0, position - 6), min(len(stems), position + 7)):
                    if stems[near] == other and not taken[near] and near != position:
                        start, end = min(position, near), max(position, near) + 1
                        between = stems[start + 1 : end - 1]
                        if not any(b in _PAIR_STOPS for b in between):
                            yield _Hit(start, end, "finding", name)
                            taken[position] = taken[near] = True
                            break
                if taken[position]:
                    break


@dataclass(frozen=True, slots=True)
class _Hit:
    start: int
    end: int
    kind: str  # finding, region, subcategory
    name: str


def _longest(index: PhraseIndex, stems: Sequence[str]) -> Iterator[_Hit]:
    position = 0
    while position < len(stems):
        step = 1
        for phrase, entries in index.get(stems[position], ()):
            end = position + len(phrase)
            if tuple(stems[position:end]) == phrase:
                for kind, name in entries:
                    yield _Hit(position, end, kind, name)
                step = len(phrase)
                break
        position += step


_PAIR_STOPS = words(". , ; : ? ( ) and or but")


def _all_phrases(reference: Reference) -> Iterator[tuple[str, str, str]]:
    """(phrase, kind, name); words for normality are read by :func:`_normals` instead."""
    for finding in reference.findings.values():
        if finding.polarity != "normal":
            for phrase in (finding.name, *finding.synonyms):
                yield phrase, "finding", finding.name
        for subcategory in finding.subcategories:
            yield subcategory, "subcategory", subcategory
    for region in reference.regions.values():
        for phrase in (region.name, *region.synonyms):
            yield phrase, "region", region.name
    for structure in reference.structures:
        if structure.region != WHOLE:
            for phrase in structure.names:
                yield phrase, "region", structure.region
    yield "vessels", "region", "pulmonary vasculature"


WHOLE = "thorax"
"""The region that stands for the whole study."""

_OF_VESSELS = words("vessel vasculature vascular vascularity artery vein")


def _settled(hits: list[_Hit], stems: Sequence[str]) -> list[_Hit]:
    """Without regions that are part of another name.

    A group of findings may be called by its region ("pleural disease", "cardiac device"): where
    the region's words are only part of the group's name, the group is meant; where they are all of
    it ("pleura"), the region is. Pulmonary vessels are not the lungs.
    """
    groups = [h for h in hits if h.kind == "subcategory"]
    regions = [h for h in hits if h.kind == "region"]
    spans = {(h.start, h.end) for h in regions}
    kept = []
    for hit in hits:
        if hit.kind == "region":
            inside = any(
                g.start <= hit.start and hit.end <= g.end and g.end - g.start > hit.end - hit.start
                for g in groups
            )
            vessels = stems[hit.start : hit.end] == ["pulmonary"] and not _OF_VESSELS.isdisjoint(
                stems[hit.end : hit.end + 3]
            )
            if inside or vessels:
                continue
        elif hit.kind == "subcategory" and (hit.start, hit.end) in spans:
            continue
        kept.append(hit)
    return kept


PhraseIndex = dict[str, list[tuple[tuple[str, ...], tuple[tuple[str, str], ...]]]]
"""first word -> [(words of the phrase, ((kind, name), ...)), longest first]"""


def _phrase_index(phrases: Iterable[tuple[str, str, str]]) -> PhraseIndex:
    merged: dict[tuple[str, ...], dict[str, str]] = {}
    for phrase, kind, name in phrases:
        key = tuple(stem(t) for t in tokenise(normalise(phrase)))
        if key:
            merged.setdefault(key, {}).setdefault(kind, name)
    index: PhraseIndex = {}
    for key in sorted(merged, key=lambda k: (-len(k), k)):
        index.setdefault(key[0], []).append((key, tuple(merged[key].items())))
    return index


def _pair_index(findings: Iterable[Finding]) -> dict[str, list[tuple[str, str]]]:
    """First word of a two-word phrase -> (second word, finding), as in "heart is enlarged"."""
    index: dict[str, dict[str, str]] = {}
    for finding in findings:
        if finding.polarity == "normal":
            continue
        for phrase in (finding.name, *finding.synonyms):
            words = [stem(t) for t in tokenise(normalise(phrase)) if t not in _FUNCTION_WORDS]
            if len(words) == 2 and all(len(w) > 3 for w in words):
                index.setdefault(words[0], {}).setdefault(words[1], finding.name)
    return {first: sorted(seconds.items()) for first, seconds in index.items()}


def split_sentences(text: str) -> list[str]:
    """Sentences of a text, by full stops before white space, blank lines and list numbers."""
    text = _TITLES.sub(lambda m: m.group(0)[:-1], text)
    return [part for part in _SENTENCE_END.split(text.replace("\r", "")) if part and part.strip()]


_HEADER = re.compile(r"^[ \t]*([A-Za-z][A-Za-z /,&()#-]{2,40}):", re.M)
_SKIPPED = re.compile(
    r"indic|history|reason|hx\b|technique|examination|^exam\b|study|procedure|clinical|notif", re.I
)
_DIVIDER = re.compile(r"^[ \t]*_{10,}[ \t]*$", re.M)


def report_sentences(report: str) -> Iterator[tuple[int, str]]:
    """(rank of the block, sentence): 3 addendum, 2 impression, 1 other; no indication or technique.

    An addendum corrects the report below it; it stands above a line of underscores.
    """
    blocks = _DIVIDER.split(report)
    for number, block in enumerate(blocks):
        above = number < len(blocks) - 1
        addendum = above and "addend" in block.lower()[:200]
        starts = [(m.start(), m.end(), m.group(1)) for m in _HEADER.finditer(block)]
        bounds = [(0, 0, ""), *starts]
        for (_, begin, header), following in zip(
            bounds, [*starts, (len(block), 0, "")], strict=True
        ):
            if _SKIPPED.search(header):
                continue
            rank = 3 if addendum else 2 if re.search("impres|conclu|opinion", header, re.I) else 1
            for sentence in split_sentences(block[begin : following[0]]):
                yield rank, sentence


class _Marks:
    """Clause boundaries and negation of one sentence, token by token."""

    def __init__(self, raw: Sequence[str], text: str):
        self.raw = raw
        self.negated = [False] * len(raw)
        self.weak = [False] * len(raw)
        self.clause = [0] * len(raw)
        self.chunk = [0] * len(raw)
        no_change = _NO_CHANGE.search(text) is not None
        active = weak = False
        clause = chunk = 0
        for i, word in enumerate(raw):
            following = raw[i + 1 : i + 6]
            if word in _BREAKS or word == ";":
                active, clause, chunk = False, clause + 1, chunk + 1
            elif word == ":":  # "heart: normal" is one statement
                active, chunk = False, chunk + 1
            elif word in (",", "and", "or", "with", "which", "while"):
                chunk += 1
                if _new_clause(following) or word in ("which", "while"):
                    active, clause = False, clause + 1
            self.negated[i] = active
            self.weak[i] = weak and active
            self.clause[i] = clause
            self.chunk[i] = chunk
            if word in _NEGATORS:
                leading_answer = i == 0 and raw[1:2] == [","]
                about_change = no_change and "chang" in " ".join(following[:3])
                left_open = any(w in _LEFT_OPEN for w in following[:4])
                if not (leading_answer or about_change or left_open):
                    active, weak = True, following[:1] != [] and following[0] in _LIMITS
        self.no_change = no_change


def _new_clause(following: Sequence[str]) -> bool:
    """Whether the words after a comma or "and" start a clause of their own, with a verb."""
    for word in following:
        if word in (",", "and", "or", ".", ";"):
            return False
        if word in _VERBS:
            return True
    return False


def _mention(hit: _Hit, hits: Sequence[_Hit], raw: Sequence[str], marks: _Marks) -> Mention:
    start, end = hit.start, hit.end
    clause = marks.clause[start]
    first = marks.clause.index(clause)
    last = len(raw) - marks.clause[::-1].index(clause)
    before = " ".join(raw[first:start]) + " " if start > first else ""
    after = " ".join(raw[end:last])
    chunk = range(*_chunk(marks, start))
    own = [raw[i] for i in chunk]
    sides = _near_sides(raw, marks, first, last, start, end)
    regions = frozenset(
        h.name
        for h in hits
        if h.kind == "region"
        and marks.clause[h.start] == clause
        and not (start <= h.start and h.end <= end)  # "pleural" of "pleural effusion"
    )
    return Mention(
        hit.name,
        _polarity(hit, raw, marks, before, after),
        sides,
        _zones(own) or _zones(raw[first:start]),
        frozenset(SEVERITIES[w] for w in own if w in SEVERITIES),
        _LIMITS.intersection(own),
        regions,
    )


def _polarity(hit: _Hit, raw: Sequence[str], marks: _Marks, before: str, after: str) -> Polarity:
    if _SILENT_BEFORE.search(before):
        return "silent"
    if _GONE_AFTER.match(after):
        return "hedged" if _HEDGED_AFTER.match(after) else "neg"
    if _GONE_BEFORE.search(before):
        return "neg"
    if marks.negated[hit.start] or marks.negated[hit.end - 1]:
        return "weak_neg" if marks.weak[hit.end - 1] else "neg"
    near = before.split()[-6:]
    if "unlikely" in near or after.startswith(("is unlikely", "unlikely", "are unlikely")):
        return "weak_neg"
    if _NOT_EXCLUDED.search(f"{before}{' '.join(raw[hit.start : hit.end])} {after}"):
        return "hedged"
    if _HEDGED_AFTER.match(after) or after.startswith("?"):
        return "hedged"
    if any(w in _HEDGES or w == "?" for w in near):
        return "hedged"
    return "silent" if marks.no_change and not after and "in" in near else "pos"


def _chunk(marks: _Marks, position: int) -> tuple[int, int]:
    number = marks.chunk[position]
    return marks.chunk.index(number), len(marks.chunk) - marks.chunk[::-1].index(number)


def zones_of(region: str) -> frozenset[str]:
    """Zones that a region's name holds."""
    return _zones(region.split())


def _zones(words: Iterable[str]) -> frozenset[str]:
    return frozenset(ZONES[s] for w in words if (s := stem(w)) in ZONES)


def _sides(words: Iterable[str]) -> frozenset[str]:
    sides: set[str] = set()
    for word in words:
        if word in LEFT:
            sides.add("left")
        elif word in RIGHT:
            sides.add("right")
        elif word in BOTH:
            sides |= {"left", "right"}
    return frozenset(sides)


def _near_sides(
    raw: Sequence[str], marks: _Marks, first: int, last: int, start: int, end: int
) -> frozenset[str]:
    """Sides in the finding's own part of the clause, else before it, else after it."""
    low, high = _chunk(marks, start)
    own = _sides(raw[low : max(high, end)])
    if own:
        # "on the right and left": the other side follows behind "and"
        tail = raw[high : high + 2] if raw[high : high + 1] in (["and"], ["or"]) else []
        return own | (_sides(tail) if len(tail) == 2 and high + 2 in (last, len(raw)) else own)
    before = _sides(raw[first:low])
    return before if len(before) == 1 else (_sides(raw[high:last]) or before)


_NORMAL = words("normal clear unremarkable sharp intact midline aerated negative normally")
_ABNORMAL = words("abnormal abnormality abnormalities abnormally pathological")
_PROCESS = words("process disease pathology finding findings problem")


def _normals(raw: Sequence[str], hits: Sequence[_Hit], marks: _Marks) -> list[Normal]:
    """Statements of normality ("the lungs are clear") and of abnormality, clause by clause.

    Naming a group of findings ("there are no cardiac devices") is such a statement as well.
    """
    groups = [h for h in hits if h.kind == "subcategory"]
    found: list[Normal] = []
    stated: set[int] = set()
    for i, word in enumerate(raw):
        is_process = word in _PROCESS and marks.negated[i]
        if not (word in _NORMAL or word in _ABNORMAL or is_process):
            continue
        if word == "clear" and raw[i + 1 : i + 2] == ["of"]:
            continue
        if word in _NORMAL and (marks.weak[i] or "otherwise" in raw):
            continue
        abnormal = marks.negated[i] if word in _NORMAL else not marks.negated[i]
        found.append(_normal(marks.clause[i], raw, hits, marks, abnormal))
        stated.add(marks.clause[i])
    for group in groups:
        clause = marks.clause[group.start]
        if clause not in stated:
            found.append(_normal(clause, raw, hits, marks, not marks.negated[group.start]))
            stated.add(clause)
    return found


def _normal(
    clause: int, raw: Sequence[str], hits: Sequence[_Hit], marks: _Marks, abnormal: bool
) -> Normal:
    own = [raw[j] for j in range(len(raw)) if marks.clause[j] == clause]
    named = [h for h in hits if marks.clause[h.start] == clause]
    return Normal(
        frozenset(h.name for h in named if h.kind == "region"),
        frozenset(h.name for h in named if h.kind == "subcategory"),
        _sides(own),
        abnormal,
        any(w in _HEDGES or w == "whether" for w in own),
    )

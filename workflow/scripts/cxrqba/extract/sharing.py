"""Which words of a clause are shared out to which of its findings.

"Small left effusion and right basilar atelectasis" has two zones. Only what a clause says of all
its findings is shared: a region that opens it ("in the left base, ..."), a side in front of a bare
list ("no left effusion or pneumothorax"), a place behind the last item of one ("effusion and
atelectasis on the right"), a change behind the verb ("... are unchanged").
"""

from __future__ import annotations

from itertools import pairwise

from cxrqba.extract.lexicon import ADVERBS, FINITE, PREPOSITIONS, SIDES, Reading
from cxrqba.extract.matcher import ARTICLES, Match
from cxrqba.extract.words import word_set
from cxrqba.extract.zones import PASSIVE, Zone, is_placed, sided

_BREAKS = (",", "and", "or", "nor", "with", "without", "/", "(", "versus", "vs", "but", "no")
_PLACE_OPENERS = PREPOSITIONS | {"bilaterally"}
_DENIALS = ("no", "without")
_JOINING = (",", "and", "but", "with")
BEFORE_CLAUSE = -1
"""Index of a finding explained that stands before the clause."""
_FILMS = word_set("view radiograph film image study examination exam x")


def zones(
    reading: Reading, clause: tuple[int, int], findings: list[Match], links: list[Match | None]
) -> list[Zone]:
    """One zone for each of the clause's ``findings`` (in text order)."""
    if not findings:
        return []
    cuts = [_after_predicate(reading, clause[0], findings[0].first)]
    for (left, right), link in zip(pairwise(findings), links[1:], strict=True):
        cuts.append(_cut(reading, left, right, link))
    cuts.append(_before_statement(reading, findings[-1].last, clause[1]))
    found = [Zone((cuts[i], cuts[i + 1])) for i in range(len(findings))]
    _share_opening(reading, findings, found)
    _share_side(reading, findings, found)
    listed = next((i for i, link in enumerate(links) if i and link is not None), len(findings))
    _share_place(reading, findings[:listed], found[:listed])
    _share_predicate(reading, findings, found)
    _share_with(reading, findings, found)
    for i, head in enumerate(heads_of(reading, findings, links)):
        elsewhere = is_placed(reading, found[i]) or _is_midline(findings[i])
        if head is not None and head >= 0 and not elsewhere:
            found[i].shared += found[head].ranges()
    return found


def _before_statement(reading: Reading, first: int, last: int) -> int:
    """End of the last zone: the comma of "..., *right base clear*", which speaks for itself."""
    for joint in (i for i in range(first, last) if reading.norm(i) in (",", "and")):
        start = joint + 1
        while reading.norm(start) in ARTICLES or reading.norm(start) in SIDES:
            start += 1
        named = [s.last for s in reading.structures if s.first in range(joint + 1, start + 1)]
        told = (
            range(named[0], last if reading.norm(joint) == "," else named[0] + 2) if named else ()
        )
        if any(p.first in told for p in reading.predicates):
            return joint
    return last


def _after_predicate(reading: Reading, first: int, last: int) -> int:
    """Start of the first zone: behind "the lungs are clear", which speaks for itself."""
    ends = [
        p.last
        for p in reading.predicates
        if first <= p.first and p.last <= last and reading.norm(p.last) not in ("for", "of")
    ]
    ends += [
        s.last
        for s in reading.structures
        if s.first in ends and s.last <= last  # "clear lungs without effusion"
    ]
    verbs = [i for i in range(first, last) if reading.norm(i) in FINITE]
    if verbs and any(reading.norm(i) in _FILMS for i in range(first, verbs[0])):
        ends.append(verbs[0] + 1)  # "two views of the chest demonstrate ..."
    start = max(ends, default=first)
    denial = _denial_of_its_own(reading, start, last)
    return start if denial is None or _only_place(reading, start, denial) else denial


def _denial_of_its_own(reading: Reading, first: int, last: int) -> int | None:
    """The "and" of "... and no effusion": what stands before it is another statement."""
    for i in range(last - 1, first, -1):
        if reading.norm(i) in _DENIALS and reading.norm(i - 1) in _JOINING:
            return i - 1
    return None


def _only_place(reading: Reading, first: int, last: int) -> bool:
    """Whether words [first, last) only name a place ("at the left base, ...")."""
    return all(
        reading.norm(i) in PREPOSITIONS | SIDES | ARTICLES
        or any(r.first <= i < r.last for r in reading.regions)
        for i in range(first, last)
    )


def heads_of(
    reading: Reading, findings: list[Match], links: list[Match | None]
) -> list[int | None]:
    """For each linked finding the index of the one it explains: "A with B, likely C or D" is A.

    ``BEFORE_CLAUSE`` where the finding explained stands before the clause, None without a link.
    """
    heads: list[int | None] = []
    for i, link in enumerate(links):
        if link is None:
            heads.append(None)
        elif i and links[i - 1] == link:  # "likely C or D": both explain the same
            heads.append(heads[-1])
        elif i == 0:
            heads.append(BEFORE_CLAUSE)
        else:
            heads.append(_head(reading, findings, i))
    return heads


def _head(reading: Reading, findings: list[Match], i: int) -> int:
    head = i - 1
    while head > 0:
        gap = {reading.norm(k) for k in range(findings[head - 1].last, findings[head].first)}
        if "with" not in gap or gap & {",", "and", "or"}:
            break
        head -= 1
    return head


def _cut(reading: Reading, left: Match, right: Match, link: Match | None) -> int:
    """Word index at which the zone of ``right`` begins."""
    if link is not None and left.last <= link.first:
        return link.first
    gap = [i for i in range(left.last, right.first) if reading.norm(i) in _BREAKS]
    if not gap:
        return left.last if left.last <= right.first else right.first
    if reading.norm(left.last) in _PLACE_OPENERS:
        return gap[-1]
    for at, following in pairwise(gap):
        if not _only_attributes(reading, at + 1, following):
            return at
    return gap[-1]


def _only_attributes(reading: Reading, first: int, last: int) -> bool:
    """Whether an aside ("right greater than left", "unchanged") says more of what is before it."""
    told = (*reading.modifiers, *reading.changes, *reading.fixed)
    return first < last and all(
        reading.norm(i) in SIDES or any(m.first <= i < m.last for m in told)
        for i in range(first, last)
    )


def _share_opening(reading: Reading, findings: list[Match], found: list[Zone]) -> None:
    """A place before the first verb or comma, ahead of the first finding, is everyone's."""
    start, first = found[0].own[0], findings[0].first
    stop = next(
        (
            i
            for i in range(start, first)
            if reading.norm(i) in FINITE or reading.norm(i) in (",", ":")
        ),
        None,
    )
    if stop is None or not sided(reading, start, stop):
        return
    for zone in found[1:]:
        if not is_placed(reading, zone):
            zone.shared.append((start, stop))


def _share_side(reading: Reading, findings: list[Match], found: list[Zone]) -> None:
    """A side in front of a bare list is that of all its items: "no left effusion or pneumothorax".

    Only the side word is shared, not a place, and with "and" only between two findings.
    """
    start = 0
    while start + 1 < len(findings):
        end = _end_of_list(reading, findings, start)
        at = _leading_side(reading, found[start].own[0], findings[start])
        for i in range(start + 1, end):
            is_open = not (is_placed(reading, found[i]) or found[i].shared)
            if at is not None and _is_sided(findings[i]) and is_open:
                found[i].shared.append((at, at + 1))
        start = max(end, start + 1)


def _share_with(reading: Reading, findings: list[Match], found: list[Zone]) -> None:
    """What comes *with* a finding is on its side: "right basal consolidation *with effusion*".

    Only the one side word is shared, and only with what can lie on either side.
    """
    for i in range(1, len(findings)):
        gap = [reading.norm(k) for k in range(findings[i - 1].last, findings[i].first)]
        if "with" not in gap or set(gap) & {"and", "or", "no", "without", "but", ";"}:
            continue
        pair = (findings[i - 1], findings[i])
        if not all(_is_sided(f) and f.value.finding.polarity == "abnormal" for f in pair):
            continue
        if is_placed(reading, found[i]) or found[i].shared:
            continue
        sides = [
            k
            for first, last in found[i - 1].ranges()
            for k in range(first, last)
            if reading.norm(k) in ("left", "right")
            and not any(m.first <= k < m.last for m in reading.fixed)
        ]
        if len({reading.norm(k) for k in sides}) == 1:
            found[i].shared.append((sides[0], sides[0] + 1))


def _end_of_list(reading: Reading, findings: list[Match], start: int) -> int:
    """Index behind the last of the findings that make a bare list with the one at ``start``."""
    joints: list[str] = []
    end = start + 1
    while end < len(findings):
        gap = [reading.norm(k) for k in range(findings[end - 1].last, findings[end].first)]
        if not gap or any(norm not in (",", "or", "nor", "and", "/") for norm in gap):
            break
        joints.append(gap[-1])
        end += 1
    alternatives = {"or", "nor"} & set(joints)
    return end if alternatives or joints == ["and"] else start + 1


def _leading_side(reading: Reading, first: int, finding: Match) -> int | None:
    """The one side word in front of a finding, in its own words; None if there is none."""
    sides = [
        i
        for i in range(first, finding.last)
        if reading.norm(i) in ("left", "right")
        and not any(m.first <= i < m.last for m in reading.fixed)
    ]
    return sides[0] if len(sides) == 1 and _is_sided(finding) else None


def _is_midline(finding: Match) -> bool:
    """Whether its name says where it lies, wherever what it comes with may be."""
    return bool(finding.value.finding.laterality == "midline")


def _is_sided(finding: Match) -> bool:
    """Whether it can lie on one side, and is not a device with a side of its own."""
    named = finding.value.finding
    return named.laterality == "sided" and not named.is_device


def _share_place(reading: Reading, findings: list[Match], found: list[Zone]) -> None:
    """A place behind the last item of a bare list holds for the items before it."""
    last, end = findings[-1], found[-1].own[1]
    opener = next((i for i in range(last.last, end) if reading.norm(i) in _PLACE_OPENERS), None)
    if opener is None or opener - last.last > 2 or not sided(reading, opener, end):
        return
    for i in range(len(findings) - 2, -1, -1):
        gap = range(findings[i].last, findings[i + 1].first)
        bare = any(reading.norm(k) in ("and", "or", "nor", ",") for k in gap) and all(
            reading.norm(k) in (",", "and", "or", "nor", *ADVERBS)
            or any(m.first <= k < m.last for m in reading.modifiers)
            for k in gap
        )
        if not bare or is_placed(reading, found[i]):
            return
        found[i].shared.append((opener, end))


def _share_predicate(reading: Reading, findings: list[Match], found: list[Zone]) -> None:
    """ "A with B is seen at the left base": the place behind the verb is the subject's."""
    last, end = findings[-1].last, found[-1].own[1]
    verb = next((i for i in range(last, end) if reading.norm(i) in FINITE), None)
    if verb is None or any(reading.norm(i) in FINITE for i in range(findings[0].last, last)):
        return
    opener = next((i for i in range(verb, end) if reading.norm(i) in _PLACE_OPENERS), None)
    if opener is None or not sided(reading, opener, end):
        return
    if any(reading.norm(i) not in PASSIVE for i in range(verb, opener)):
        return
    for zone in found[:-1]:
        if not is_placed(reading, zone):
            zone.shared.append((opener, end))

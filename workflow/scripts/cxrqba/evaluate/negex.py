"""The baseline of the extraction: names and synonyms of findings, with NegEx for polarity.

NegEx (Chapman et al., J Biomed Inform 2001;34:301) looks for a trigger before or after a finding,
at most ``WINDOW`` words away and without a terminating word between; pseudo-triggers look like
negations and are none. The trigger lists are short forms of the published ones. A finding under a
possibility trigger is uncertain. The side is the nearest side word of the sentence. It is given the
sentences and sections of our first pass, so that it is compared on this pass alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import polars as pl

from cxrqba.extract.matcher import Match, PhraseTable
from cxrqba.extract.words import Word, words
from cxrqba.reference.tables import Reference
from cxrqba.schema import EXTRACTION_CLAIMS, REPORTED_SECTION_TYPES
from cxrqba.tables import frame

SYSTEM = "keyword + NegEx"
WINDOW = 6

PRE_NEGATION = (
    "absence of|cannot see|cannot|clear of|declined|denied|denies|denying|evaluate for|fails to"
    " reveal|free of|negative for|never developed|never had|no|no abnormal|no cause of|no evidence"
    "|no evidence of|no new|no new evidence of|no other evidence|no signs of|no suspicious|not"
    "|not appear|not appreciate|not demonstrate|not exhibit|not feel|not had|not have|not know of"
    "|not reveal|not see|not to be|patient was not|rather than|resolved|ruled out|unremarkable for"
    "|with no|without|without any evidence of|without evidence|without indication of"
    "|without sign of"
)
POST_NEGATION = (
    "absent|are ruled out|free|has been ruled out|have been ruled out|is ruled out|negative"
    "|not seen|unlikely|was ruled out|were ruled out|not identified|not present|has resolved"
    "|have resolved"
    "|not visualized|not evident"
)
PSEUDO_NEGATION = (
    "gram negative|no change|no further|no increase|no interval change|no significant change"
    "|no significant interval change|no suspicious change|not cause|not certain|not certain whether"
    "|not drain|not extend|not necessarily|not only|without difficulty|without further"
)
PRE_POSSIBLE = (
    "be ruled out for|can be ruled out for|could be|could represent|consider|concern for"
    "|concerning for|could reflect|likely|may be|may reflect|may represent|might be|might represent"
    "|must be ruled out for|possible|possibly|probable|probably|question of|questionable|rule out"
    "|rule the patient out for|should be ruled out for|suggest|suggesting|suggestive of|suspect"
    "|suspected|suspicious for|versus|worrisome for|cannot exclude|cannot rule out"
)
POST_POSSIBLE = (
    "can be ruled out|could be ruled out|did not rule out|is to be ruled out|may be ruled out"
    "|might be ruled out|must be ruled out|not been ruled out|not ruled out|should be ruled out"
    "|cannot be excluded|not excluded|not be excluded|is possible|is suspected"
    "|not completely excluded"
)
TERMINATIONS = (
    "although|apart from|as a cause for|as a cause of|aside from|as the cause of|as the etiology of"
    "|because of|but|cause for|cause of|etiology for|etiology of|except|however|involving"
    "|nevertheless|origin of|other than|secondary to|still|though|which|yet"
)

_SIDES = {"left": "left", "right": "right", "bilateral": "bilateral", "both": "bilateral"}
_STOP = re.compile(r"[.;:]")


class NegEx:
    """Claims of the sentences of a report."""

    def __init__(self, reference: Reference):
        self._findings = finding_table(reference)
        self._triggers = PhraseTable(
            (phrase, kind)
            for kind, phrases in (
                ("pre_neg", PRE_NEGATION),
                ("post_neg", POST_NEGATION),
                ("pseudo", PSEUDO_NEGATION),
                ("pre_pos", PRE_POSSIBLE),
                ("post_pos", POST_POSSIBLE),
                ("end", TERMINATIONS),
            )
            for phrase in phrases.split("|")
        )

    def claims(self, sentence: str, offset: int) -> list[dict[str, Any]]:
        """What ``sentence``, which starts at ``offset`` of the report, states."""
        parsed = words(sentence, offset)
        triggers = self._triggers.find(parsed)
        found = []
        for finding in self._findings.find(parsed):
            kinds = {t.value for t in triggers if _reaches(t, finding, parsed, triggers)}
            negated = bool(kinds & {"pre_neg", "post_neg"})
            possible = bool(kinds & {"pre_pos", "post_pos"})
            found.append(
                {
                    "finding": finding.value,
                    "positiveness": "neg" if negated else "pos",
                    "certainty": "uncertain" if possible and not negated else "certain",
                    "laterality": nearest_side(parsed, finding.first, finding.last),
                    "start": parsed[finding.first].start,
                    "end": parsed[finding.last - 1].end,
                }
            )
        return found


def finding_table(reference: Reference) -> PhraseTable:
    """Names and synonyms of all findings but normal states, in any spelling we know."""
    return PhraseTable(
        (phrase, name)
        for name, finding in reference.findings.items()
        if finding.polarity != "normal"
        for phrase in (name, *finding.synonyms)
    )


def reported_sentences(sentences: pl.DataFrame) -> pl.DataFrame:
    """The SENTENCES that our own pass reads."""
    return sentences.filter(
        pl.col("discarded").is_null(), pl.col("section_type").is_in(REPORTED_SECTION_TYPES)
    )


def negex_claims(sentences: pl.DataFrame, reference: Reference) -> pl.DataFrame:
    """EXTRACTION_CLAIMS of all reported SENTENCES."""
    negex = NegEx(reference)
    rows = [
        {"study_id": row["study_id"], "sent_id": row["sent_id"], **claim}
        for row in reported_sentences(sentences).iter_rows(named=True)
        for claim in negex.claims(row["sentence"], row["start"])
    ]
    return frame(rows, EXTRACTION_CLAIMS)


def nearest_side(parsed: Sequence[Word], first: int, last: int) -> str:
    """Side word nearest to words [first, last), the one before on a tie; unknown without one."""
    best = min(
        (
            (max(first - at, at - last + 1, 0), at, _SIDES[word.norm])
            for at, word in enumerate(parsed)
            if word.norm in _SIDES
        ),
        default=None,
    )
    return best[2] if best else "unknown"


def _reaches(
    trigger: Match, finding: Match, parsed: Sequence[Word], triggers: Sequence[Match]
) -> bool:
    """Whether a trigger of a finding stands in its window with nothing in between that ends it."""
    if trigger.value in ("pseudo", "end"):
        return False
    before = trigger.value.startswith("pre")
    first, last = (trigger.last, finding.first) if before else (finding.last, trigger.first)
    if not 0 <= last - first <= WINDOW:
        return False
    if any(_STOP.match(word.text) for word in parsed[first:last]):
        return False
    return not any(t.value == "end" and first <= t.first < last for t in triggers)

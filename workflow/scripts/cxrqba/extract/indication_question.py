"""An indication as one natural question or request: the text of the indication question.

What is asked outright is asked again; a reason that asks nothing ("chest pain", "new PICC")
becomes the question it implies, by the lists of ``indications.yaml``. "What are the findings" is
left for reasons that imply nothing (paper Sec. D.1, A_indication).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from cxrqba.extract.indication_request import Request
from cxrqba.extract.lexicon import Lexicon
from cxrqba.extract.matcher import Match, PhraseTable
from cxrqba.extract.wording import decapitalised
from cxrqba.extract.words import Word, words
from cxrqba.reference.cells import read_yaml
from cxrqba.reference.tables import Reference

_PROCESS = re.compile(r"^(acute|active|cardio|intra).*\bprocess$", re.I)
_VOWELS = tuple("aeiou")
_STATES = ("intubated", "intubation", "extubated", "reintubated")
LOWER_CASE = frozenset(("ptx", "pna", "chf", "copd", "picc", "ett", "ngt", "ards", "cabg"))
"""Abbreviations that are written without capitals as well."""
_CHILD_AGE = 16


class Questions:
    """Phrases requests with one set of reference definitions."""

    def __init__(self, reference: Reference, lexicon: Lexicon):
        self._lexicon = lexicon
        kinds = read_yaml(reference.folder / "indications.yaml")
        self._participles = frozenset(kinds.pop("participles"))
        self._sought = PhraseTable(
            (phrase, sought) for sought, told in kinds.pop("screening").items() for phrase in told
        )
        self._kinds = {kind: PhraseTable((p, p) for p in told) for kind, told in kinds.items()}
        self._expanded = {
            short: long
            for short, long in reference.abbreviations.items()
            if "(" not in long and len(short) > 1
        }

    def of(self, request: Request) -> str:
        """The indication as one natural question or request."""
        about = self._about(request)
        if request.evaluation:
            return self._asked(self._plain(request.evaluation), about)
        if request.indication:
            return self._implied(request.indication, request, about)
        return f"What are the findings of this chest X-ray{about}?"

    def _asked(self, asked: str, about: str) -> str:
        """The question for what should be evaluated."""
        parts = [p.strip() for p in asked.split(",") if p.strip()]
        kept = [p for p in parts if not self._only(p, "before_operation", "routine")]
        if not kept:
            return f"Is there any acute cardiopulmonary abnormality{about}?"
        asked = ", ".join(kept)
        devices = self._devices(asked)
        manner = [p for p in kept if self._has(p, "course") or self._has(p, "position")]
        if manner and len(manner) < len(kept) and not devices:
            return f"Please evaluate for {asked}{about}."
        if devices:
            return f"Please evaluate the position of the {devices}{about}."
        if self._only(asked, "course") and self._has(asked, "course"):
            return f"Please evaluate the interval change{about}."
        if manner:
            return f"Please evaluate the {asked}{about}."
        if asked in ("cause", "source"):
            return f"What is the {asked} of the symptoms{about}?"
        if re.match(r"(?:safe|ok|okay|ready)\b", asked, flags=re.I):
            return f"Is it {decapitalised(asked)}{about}?"
        *first, last = kept
        asked = decapitalised(f"{', '.join(first)} or {last}" if first else last)
        a = f"a{'n' * asked.startswith(_VOWELS)} " if _PROCESS.match(asked) else ""
        return f"Is there any evidence of {a}{asked}{about}?"

    def _implied(self, reason: str, request: Request, about: str) -> str:
        """The question that a reason implies."""
        sought = self._sought.find(words(reason))
        if sought:
            return f"Is there any evidence of {sought[0].value}{about}?"
        patient = self._about(Request(request.patient_info, None, None))
        devices = self._devices(reason)
        if devices and self._has(reason, "position"):
            return f"Please evaluate the position of the {devices}{about}."
        if self._has(reason, "injury"):
            return f"Is there any evidence of traumatic injury{about}?"
        if self._has(reason, "course"):
            return f"Please evaluate the interval change{about}."
        if self._has(reason, "before_operation") or self._has(reason, "routine"):
            return f"Is there any acute cardiopulmonary abnormality{about}?"
        if self._has(reason, "after_operation"):
            return f"Are there any complications{about}?"
        if self._has(reason, "symptom"):
            symptoms = decapitalised(self._plain(reason))
            return f"Is there an acute cardiopulmonary explanation for {symptoms}{patient}?"
        if self._lexicon.read(reason, 0).findings:
            return f"Please evaluate the current state{about}."
        return f"What are the findings of this chest X-ray{about}?"

    def _about(self, request: Request) -> str:
        """ " in a 54-year-old man with cough", " given chest pain"."""
        patient = article(request.patient_info) if request.patient_info else ""
        reason = decapitalised(self._plain(request.indication)) if request.indication else ""
        reason = re.sub(r"\.\s+(\w)", lambda m: "; " + m.group(1).lower(), reason)
        reason = re.sub(r"^postoperative day", "on postoperative day", reason)
        if patient and reason:
            return f" in {patient} {self._linked(reason)}"
        if patient:
            return f" in {patient}"
        return f" given {reason}" if reason else ""

    def _linked(self, reason: str) -> str:
        first = re.match(r"\w+", reason)
        if first is not None and first.group().lower() in self._participles:
            return reason
        return f"with {reason}"

    def _plain(self, text: str) -> str:
        """``text`` with its abbreviations written out."""
        text = re.sub(r"\bPOD\s*#?\s*(?=\d)", "POD ", text)
        return re.sub(r"[A-Za-z][\w/]*/?", lambda m: self._long(m[0]), text)

    def _long(self, word: str) -> str:
        """What an abbreviation stands for; in lower case only where it can be no other word."""
        if word in self._expanded:
            return self._expanded[word]
        other = word.lower() if "/" in word else word.upper()
        known = other in self._expanded and ("/" in word or word in LOWER_CASE)
        return self._expanded[other] if known else word

    def _has(self, text: str, kind: str) -> bool:
        return bool(self._kinds[kind].find(words(text)))

    def _only(self, text: str, *kinds: str) -> bool:
        """Whether a text is made of phrases of these kinds alone."""
        told = words(text)
        found = [m for kind in kinds for m in self._kinds[kind].find(told)]
        return all(_within(i, found) or _is_joint(w) for i, w in enumerate(told))

    def _devices(self, text: str) -> str:
        """Names of the devices in a text, as written, with their side."""
        reading = self._lexicon.read(text, 0)
        names = []
        for finding in reading.findings:
            if not finding.value.finding.is_device:
                continue
            if reading.norm(finding.first) in _STATES:  # "intubated" names no tube
                names.append(finding.value.finding.name)
                continue
            first = finding.first - (reading.norm(finding.first - 1) in ("left", "right"))
            start, end = reading.words[first].start, reading.words[finding.last - 1].end
            names.append(decapitalised(self._plain(text[start:end])))
        return _enumerated(dict.fromkeys(names))


def article(patient: str) -> str:
    """The patient as a noun phrase: "a 54-year-old man"."""
    text = re.sub(r"^[_X]+\s*", "", re.sub(r"\by/?o\b\.?", "year old", patient, flags=re.I))
    age = re.match(r"(\d+)[\s-]*(years?|yrs?|months?|mo|weeks?|days?)?", text)
    is_child = age is not None and (int(age[1]) < _CHILD_AGE or (age[2] or "y")[0] in "mwd")
    noun = {"m": "boy" if is_child else "man", "f": "girl" if is_child else "woman"}
    text = re.sub(r"(?<![A-Za-z])([mf])$", lambda m: " " + noun[m[1].lower()], text, flags=re.I)
    text = re.sub(r"^(\d+)\s+(man|woman|boy|girl)$", r"\1-year-old \2", " ".join(text.split()))
    text = re.sub(r"(\d+)[\s-]*(year|month|week|day)s?[\s-]*old", r"\1-\2-old", text, flags=re.I)
    text = re.sub(r"\b(male|female)$", r"\1 patient", text, flags=re.I)
    vowel = re.match(r"(?:[aeiou]|8|11-|18-)", text, flags=re.I)
    return f"{'an' if vowel else 'a'} {decapitalised(text)}" if text else "a patient"


def _within(at: int, found: Iterable[Match]) -> bool:
    return any(m.first <= at < m.last for m in found)


def _is_joint(word: Word) -> bool:
    return word.norm in ("and", "or", "for", "of", "the", ",", "/") or not word.norm[:1].isalpha()


def _enumerated(names: Iterable[str]) -> str:
    *first, last = list(names) or [""]
    return f"{', '.join(first)} and {last}" if first else last

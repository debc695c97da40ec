"""The whole chain behind one question: from each answer part to characters of the report.

Part -> observations -> sentences and evidence spans -> mapping decisions -> rule or model call ->
template; with extraction quality, judged aspects and what limits the rating (paper Sec. D, E).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from cxrqba.browse.gather import Row
from cxrqba.graph.model import Observation, SceneGraph
from cxrqba.graph.store import ANSWER_ID
from cxrqba.provenance.stored import KEY_DIGITS, Chain, read_chain
from cxrqba.provenance.versions import Cited
from cxrqba.schema import EXTRACTION_QUALITY, REPORTED_SECTION_TYPES, TEXT_QUALITY

_STEP_OF_RULE = {"indication": "extract_indication"}
_BUILT = ("contradicts", "merged", "default_negative")
"""Origins that graph building adds to those of the passes."""

INDENT = "  "


def explain(results: Path, project: Path, study_id: str, question_id: str) -> str:
    """The chain as text, ending in a newline. It quotes the report.

    :class:`cxrqba.errors.UserError` for unknown ids, with the nearest.
    """
    chain = read_chain(results, study_id)
    question = chain.question(question_id)
    teller = _Teller(chain, Cited(project, results))
    return "\n".join(teller.question(question)) + "\n"


class _Teller:
    """Lines about one question; every method yields them without the indent of its caller."""

    def __init__(self, chain: Chain, cited: Cited):
        self.chain, self.cited = chain, cited
        self.report: str = chain.rows.study["report"] or ""
        self.sentences = {s["sent_id"]: s for s in chain.rows.sentences}
        self.nodes = _nodes(chain.rows.graph)
        self.told: set[str] = set()

    def question(self, row: Row) -> Iterator[str]:
        """Everything about a question."""
        study = self.chain.rows.study
        yield f"study {study['study_id']}, report {study['report_path']}"
        yield f"question {row['question_id']}: {row['question']}"
        yield from _in(self._about_question(row))
        for part in self.chain.parts(row["question_id"]):
            yield ""
            yield from _in(self._part(part), part["answer_level"])

    def _about_question(self, row: Row) -> Iterator[str]:
        variables = ", ".join(f"{v['name']} = {v['value']}" for v in row["variables"])
        about = f"type {row['question_type']}" + (f", {variables}" if variables else "")
        yield about + (", mentioned in the report" if row["mentioned"] else "")
        yield (
            f"template: resources/templates/{row['question_strategy']}.yaml, "
            + self.cited.cite("resources", ["templates"])
            + "; by "
            + self.cited.cite("code", ["generate_qa"])
        )
        rated = _of(self.chain.rows.rated, row["question_id"])
        yield f"rating {_rating(rated, '')}; frontal images alone {_rating(rated, 'frontal_')}"
        yield from self._judged(row["question_id"], None)
        yield f"extraction, worst of the parts: {_levels(row['extraction_quality'])}"

    def _judged(self, question_id: str, answer_id: str | None) -> Iterator[str]:
        found = [
            j
            for j in self.chain.judgements
            if j["question_id"] == question_id and j["answer_id"] == answer_id
        ]
        if not found:
            yield "judged: nothing"
            return
        yield "judged: " + ", ".join(_judgement(j) for j in found) + f"; by {found[0]['judge']}"

    def _part(self, part: Row) -> Iterator[str]:
        yield f"part {part['answer_id']} ({part['answer_type']}): {part['text']}"
        yield from _in(self._about_part(part))

    def _about_part(self, part: Row) -> Iterator[str]:
        ids = (part["question_id"], part["answer_id"])
        rated = [
            r for r in self.chain.rows.rated_answers if (r["question_id"], r["answer_id"]) == ids
        ]
        yield f"says {part['positiveness']}, {part['certainty']}; rating {_rating(rated, '')}"
        yield from self._judged(*ids)
        yield f"extraction: {_levels(part['extraction_quality'])}"
        if part["template"]:
            yield f"worded by template sentence {part['template']}"
        boxes = [*part["box_obs_ids"], *part["box_regions"]]
        if boxes:
            yield f"boxes of {', '.join(boxes)}"
        for obs_id in part["obs_ids"]:
            yield from self._observation(obs_id)
        if not part["obs_ids"]:
            yield from self._without_observation(part)

    def _without_observation(self, part: Row) -> Iterator[str]:
        yield "rests on no observation: the report says nothing of it"
        if part["positiveness"] == "neg":
            yield from _in(self._why_no())

    def _observation(self, obs_id: str) -> Iterator[str]:
        node = self.nodes.get(obs_id)
        if node is None:
            yield f"observation {obs_id}: not in the graph; run `cxrqba audit`"
            return
        yield f"observation {obs_id}: {node.name} ({node.positiveness}, {node.certainty})"
        if obs_id in self.told:
            yield INDENT + "told above"
            return
        self.told.add(obs_id)
        yield from _in(self._about_observation(node))

    def _about_observation(self, node: Observation) -> Iterator[str]:
        for sent_id in node.sent_ids:
            yield from self._sentence(sent_id, node)
        if not node.from_report:
            yield from self._why_no()
        for origin in node.origin:
            yield from self._origin(origin)
        for decision in node.decisions:
            yield self._decision(decision)
        for text in node.non_resolved_obs_entities:
            yield f"finding '{text}' has no name in the reference"
        for region in node.non_resolved_regions:
            yield f"region '{region['region']}' has no name in the reference"
        if node.default_regions:
            yield f"regions by default, not stated: {', '.join(node.default_regions)}"
        if node.laterality != "unknown":
            yield f"side: {node.laterality}"
        yield f"extraction: {_levels(node.obs_quality)}"
        if node.obs_id == ANSWER_ID and self.chain.rows.graph and self.chain.rows.graph.indication:
            answers = self.chain.rows.graph.indication.associated_obs_ids
            yield f"answers the indication, as do {', '.join(answers) or 'no others'}"

    def _sentence(self, sent_id: str, node: Observation) -> Iterator[str]:
        sentence = self.sentences.get(sent_id)
        if sentence is None:
            yield f"sentence {sent_id}: not in the table; run `cxrqba audit`"
            return
        start, end = sentence["start"], sentence["end"]
        yield f"sentence {sent_id} [{start},{end}) in {sentence['section_type']}: " + _quoted(
            self.report[start:end]
        )
        for span in node.spans:
            if span["sent_id"] == sent_id:
                words = _quoted(self.report[span["start"] : span["end"]])
                yield f"{INDENT}evidence [{span['start']},{span['end']}): {words}"

    def _origin(self, origin: str) -> Iterator[str]:
        call = next((c for key, c in self.chain.calls.items() if key in origin), None)
        if call is not None:
            yield (
                f"made by model call {origin}; request {call['key'][:KEY_DIGITS]}, "
                f"answer {str(call['digest'])[:KEY_DIGITS]}, status {call['status']}; "
                + "prompt "
                + self.cited.cite("prompts", [call["pass"]])
            )
            return
        kind, _, rule = origin.partition(":")
        by_pass = _STEP_OF_RULE.get(rule, "extract_observations")
        step = "build_graphs" if kind in _BUILT else by_pass
        yield (
            f"made by {origin}; step "
            + self.cited.cite("code", [step])
            + ", "
            + self.cited.cite("resources", ["reference"])
        )

    def _decision(self, found: Mapping[str, Any]) -> str:
        second = self.chain.runner_up.get((found["kind"], found["text"]))
        runner_up = f"{found['runner_up']} {_score(second)}" if found["runner_up"] else "none"
        return (
            f"mapped {found['kind']} '{found['text']}' -> {found['reference'] or 'unresolved'} "
            f"{_score(found['score'])} ({found['method']}); runner-up {runner_up}"
        )

    def _why_no(self) -> Iterator[str]:
        """Why absence may be stated although no sentence states it."""
        graph = self.chain.rows.graph
        if graph is None or not graph.is_complete:
            reasons = ", ".join(graph.incomplete_reasons) if graph else "no graph"
            yield f"the graph is incomplete ({reasons}): absence follows from other observations"
            return
        reported = [
            s for s in self.sentences.values() if s["section_type"] in REPORTED_SECTION_TYPES
        ]
        left_out = Counter(s["discarded"] for s in reported if s["discarded"])
        reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(left_out.items()))
        yield (
            "not mentioned, and the graph is complete: every sentence of findings and impression "
            f"({len(reported)}) is accounted for{f' ({reasons})' if reasons else ''}, so that "
            "silence means absence"
        )


def _nodes(graph: SceneGraph | None) -> dict[str, Observation]:
    if graph is None:
        return {}
    answer = graph.answer_for_indication
    return {**graph.observations, **({ANSWER_ID: answer} if answer else {})}


def _in(lines: Iterable[str], depth: int = 1) -> Iterator[str]:
    return (INDENT * depth + line for line in lines)


def _of(rows: Iterable[Row], question_id: str) -> list[Row]:
    return [r for r in rows if r["question_id"] == question_id]


def _rating(rows: list[Row], prefix: str) -> str:
    rating = rows[0][f"{prefix}rating"] if rows else None
    if rating is None:
        return "none"
    limit = rows[0][f"{prefix}limiting_aspect"]
    return f"{rating} (limited by {limit})" if limit else f"{rating} (nothing limits it)"


def _judgement(row: Row) -> str:
    level = row["level"]
    if level is None:
        return f"{row['criterion']} has no level ({row['status']})"
    allows = TEXT_QUALITY.get(row["criterion"], {}).get(level, "an unknown rating")
    return f"{row['criterion']} {level} (allows {allows})"


def _levels(quality: Mapping[str, str | None]) -> str:
    """What limits first; of the rest only the names."""
    known = {a: level for a, level in quality.items() if level}
    allowed = {a: EXTRACTION_QUALITY[a].get(v, "an unknown rating") for a, v in known.items()}
    limits = [f"{a} {known[a]} (allows {r})" for a, r in allowed.items() if r != "A++"]
    free = [a for a, rating in allowed.items() if rating == "A++"]
    return "; ".join([*limits, *([f"nothing against {', '.join(free)}"] if free else [])])


def _score(value: float | None) -> str:
    return "no score" if value is None else f"{value:.3f}"


def _quoted(text: str) -> str:
    return '"' + " ".join(text.split()) + '"'

"""Strategy "indication": the study's own indication is the question (paper Sec. E.2.2)."""

from __future__ import annotations

from cxrqba.qa.evidence import Status
from cxrqba.qa.language import sentence
from cxrqba.qa.strategies.case import Case, Study
from cxrqba.qa.templates import Template, TemplateFile


def cases(study: Study, template: Template, file: TemplateFile) -> list[Case]:
    """One case where the indication and its answer are known."""
    graph = study.evidence.graph
    indication, answer = graph.indication, graph.answer_for_indication
    if indication is None or answer is None:
        return []
    question = sentence(indication.indication_summary or "")
    if not question:
        return []
    associated = [
        graph.observations[o]
        for o in indication.associated_obs_ids
        if o in graph.observations and not study.evidence.by_id[o].overridden
    ]
    return [
        Case(
            variables={},
            subsets={"indication_answer": [answer], "associated": associated},
            status={"finding": Status("present")},
            fill={"indication_summary": question},
        )
    ]

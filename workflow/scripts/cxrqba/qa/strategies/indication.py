"""Strategy "indication": the study's own indication is the question (paper Sec. E.2.2)."""

from __future__ import annotations

from cxrqba.qa.evidence import Status
from cxrqba.qa.language import sentence
from cxrqba.qa.model import observation_content
from cxrqba.qa.strategies.case import Case, Study
from cxrqba.qa.templates import Template, TemplateFile


def cases(study: Study, template: Template, file: TemplateFile) -> list[Case]:
    """One case where the indication and its answer are known."""
    graph = study.evidence.graph
    answer = graph.answer_for_indication
    question = sentence(graph.indication_summary or "")
    if answer is None or not question:
        return []
    items = study.evidence.by_id
    associated = [
        items[o].content for o in graph.associated_obs_ids if o in items and not items[o].overridden
    ]
    return [
        Case(
            value="",
            subsets={"indication_answer": [observation_content(answer)], "associated": associated},
            status={"finding": Status("present")},
            fill={"indication_summary": question},
        )
    ]

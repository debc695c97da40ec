"""Question generation with and without its shortcuts: the same questions, to the letter.

What is worked out once a shard (cases that nothing in a study touches, plans, wordings, drafts)
must never change an answer. The plain way tries everything anew for each study and question.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import pytest
from graph_corpus import ordinary_graphs
from qa_fixtures import ROOT, reference

from cxrqba.config import QaConfig
from cxrqba.graph.statistics import statistics
from cxrqba.qa.context import QaContext, build_context
from cxrqba.qa.run import generate_shard
from cxrqba.qa.source import read_studies
from cxrqba.qa.strategies import abnormal, finding, region_abnormal
from cxrqba.qa.strategies.case import Case, Everything
from cxrqba.qa.templates import load_templates


class Forgetful(dict):
    """A memory that keeps nothing."""

    def __setitem__(self, key, value):
        pass


def made(context: QaContext) -> Sequence[pl.DataFrame]:
    graphs = ordinary_graphs(images=2)
    return generate_shard(read_studies(*graphs), graphs[0].height, context)


def fresh() -> QaContext:
    return build_context(
        reference(),
        load_templates(ROOT / "resources/templates"),
        statistics([ordinary_graphs(images=2)[1]]),
        QaConfig(),
    )


def forgetful() -> QaContext:
    context = fresh()
    memories = [context.memory, context.anatomy, context.findings]
    for memory in memories:
        for name, value in vars(memory).items():
            if isinstance(value, dict) and not value:
                setattr(memory, name, Forgetful())
    return context


def test_shortcuts_change_nothing(monkeypatch: pytest.MonkeyPatch):
    quick = made(fresh())
    assert quick[0]["study_id"].n_unique() > 150
    for strategy in (abnormal, finding, region_abnormal):
        monkeypatch.setattr(strategy, "_touched", lambda study: Everything())
    make = Case.__post_init__

    def never_plain(case: Case) -> None:
        make(case)
        case.is_plain = False

    monkeypatch.setattr(Case, "__post_init__", never_plain)
    plain = made(forgetful())
    for one, other in zip(quick, plain, strict=True):
        assert one.equals(other)


def test_studies_are_asked_about_as_much_as_the_paper_s():
    """185 pairs and some 2 parts a pair over all studies in the paper."""
    questions, answers, _, _ = made(fresh())
    assert 150 < questions.height / questions["study_id"].n_unique() < 250
    assert 1.5 < answers.height / questions.height < 2.5

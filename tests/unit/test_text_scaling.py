"""Work and memory of the text half grow with the number of studies, and no faster.

Function calls are counted instead of seconds: the same on a busy machine.
"""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable, Iterator
from functools import lru_cache
from types import FrameType
from typing import Any

import polars as pl
import pytest
from graph_fixtures import ShardInput, mapper, reference, vocabulary

from cxrqba.config import SiteConfig
from cxrqba.evaluate.study_labels import Labeller, label_studies, load_classes
from cxrqba.extract import indication, observations, sentences
from cxrqba.extract.lexicon import Lexicon
from cxrqba.graph import run
from cxrqba.graph.run import build_batches, build_shard
from cxrqba.ledger import Ledger
from cxrqba.mapping.mentions import collect
from cxrqba.provenance import worklist as worklists
from cxrqba.provenance.worklist import Shard, Worklist
from cxrqba.schema import IMAGE_STATUS, IMAGES, REGION_BOXES, STUDIES
from cxrqba.tables import frame

REPORTS = (
    "INDICATION: Cough.\n\nFINDINGS: Small left pleural effusion. The heart is normal in size.",
    "FINDINGS: Possible pneumonia at the right base; no effusion. A zorblax is seen.",
    "IMPRESSION: Right chest tube in place. The pneumothorax has resolved.",
    "FINDINGS: Unchanged cardiomegaly with mild pulmonary edema and bibasilar atelectasis.",
)
FEW, TIMES = 4, 3


@pytest.fixture(scope="module", autouse=True)
def _made_once() -> Iterator[None]:
    """What is made once for all studies is large; it is no part of what grows."""
    monkeypatch = pytest.MonkeyPatch()
    lexicon, extractor = Lexicon(reference()), observations.ObservationExtractor(reference())
    monkeypatch.setattr(run, "Vocabulary", lambda _: vocabulary())
    monkeypatch.setattr(worklists, "Lexicon", lambda _: lexicon)
    monkeypatch.setattr(observations, "ObservationExtractor", lambda *_: extractor)
    yield
    monkeypatch.undo()


@lru_cache(maxsize=4)
def read(number: int) -> tuple[ShardInput, pl.DataFrame]:
    """A shard of ``number`` studies and its raw observations."""
    rows = [
        {"study_id": f"s{i:05d}", "patient_id": f"p{i}", "report": REPORTS[i % len(REPORTS)]}
        for i in range(number)
    ]
    studies = frame(rows, STUDIES)
    told = sentences.extract_shard(studies, sentences.SentenceExtractor(reference(), SiteConfig()))
    raw, status, ledger = observations.extract_shard(studies, told.sentences, reference())
    asked, asking, asked_ledger = indication.extract_shard(
        studies, told.sentences, reference(), SiteConfig()
    )
    shard = ShardInput(
        studies=studies,
        images=pl.DataFrame(schema=IMAGES),
        boxes=pl.DataFrame(schema=REGION_BOXES),
        image_status=pl.DataFrame(schema=IMAGE_STATUS),
        sentences=told.sentences,
        observations=raw,
        indications=asked,
        mappings=mapper().map(collect(raw, asked), 0.5),
        statuses=pl.concat([told.status, status, asking]),
        ledgers=pl.concat([told.ledger, ledger, asked_ledger]),
    )
    return shard, raw


def pass_(number: int) -> None:
    shard, _ = read(number)
    observations.extract_shard(shard.studies, shard.sentences, reference())


def graphs(number: int) -> None:
    build_shard(read(number)[0], reference())


def labels(number: int) -> None:
    shard, _ = read(number)
    nodes, found, _, _ = built(number)
    labeller = Labeller(load_classes(reference(), "chexpert", "nearest"), vocabulary())
    label_studies(nodes, found, shard.sentences, labeller)


@lru_cache(maxsize=4)
def built(number: int) -> tuple[pl.DataFrame, ...]:
    return build_shard(read(number)[0], reference())


def worklist(number: int) -> None:
    shard, raw = read(number)
    found = Worklist(reference(), shard.mappings, ["___"], 0.05, 0.5)
    found.add(Shard(shard.studies, shard.sentences, raw, shard.ledgers))
    assert found.table(10).height


def calls(step: Callable[[int], None], number: int) -> int:
    """Function calls of a step, what it prepares once for all studies among them."""
    count = 0

    def profile(_frame: FrameType, event: str, _arg: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(profile)
    try:
        step(number)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("step", [pass_, graphs, labels, worklist])
def test_work_grows_no_faster_than_the_number_of_studies(step: Callable[[int], None]) -> None:
    step(TIMES * TIMES * FEW)  # what is kept for later studies is made
    few, many, most = (calls(step, n) for n in (FEW, TIMES * FEW, TIMES * TIMES * FEW))
    growth = (most - many) / (many - few)  # without what is prepared once
    assert growth < TIMES * 1.2


def test_memory_of_graphs_does_not_grow_with_the_number_of_studies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(run, "STUDIES_AT_ONCE", FEW)

    def peak(number: int) -> int:
        shard, _ = read(number)
        tracemalloc.start()
        for _ in build_batches(shard, reference(), Ledger("build_graphs")):
            pass  # written and let go
        _, highest = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return highest

    few, most = (peak(n) and peak(n) for n in (FEW, TIMES * TIMES * FEW))
    assert most < 1.5 * few

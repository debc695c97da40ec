"""Tables of a shard made once more from the stored inputs of each step, for some of its studies.

Every step starts from what is stored, not from what was derived before, so that a difference shows
at the step where it arose. Boxes stem from images and are not derived again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl

from cxrqba.config import DatasetConfig
from cxrqba.extract import answers, indication, observations
from cxrqba.extract.sentences import SentenceExtractor
from cxrqba.extract.sentences import extract_shard as extract_sentences
from cxrqba.graph.run import ShardInput, build_shard
from cxrqba.graph.statistics import statistics, studies_of_split
from cxrqba.judge.ratings import rate
from cxrqba.judge.rules import RulesJudge
from cxrqba.judge.run import judge_questions
from cxrqba.judge.vocabulary import load_vocabulary
from cxrqba.mapping.backends import load_backend
from cxrqba.mapping.mapper import Mapper
from cxrqba.mapping.mentions import collect, merge
from cxrqba.qa.context import QaContext, build_context
from cxrqba.qa.run import generate_shard
from cxrqba.qa.source import read_studies
from cxrqba.qa.templates import load_templates
from cxrqba.reference.tables import Reference, load_reference
from cxrqba.reports.readers import prepare
from cxrqba.schema import (
    ANSWERS,
    GRAPHS,
    IMAGE_STATUS,
    IMAGES,
    INDICATIONS,
    JUDGEMENTS,
    LEDGER,
    MAPPINGS,
    MENTIONS,
    OBSERVATIONS,
    PASS_STATUS,
    QUESTIONS,
    RATED,
    RATED_ANSWERS,
    RAW_OBSERVATIONS,
    REGION_BOXES,
    REGIONS,
    SENTENCES,
    SKIPPED_QUESTIONS,
    STATISTICS,
    STUDIES,
)
from cxrqba.tables import read_table

PASSES = ("extract_sentences", "extract_observations", "extract_indication")


@dataclass(frozen=True)
class Made:
    """One table of a step: the stored rows of the studies asked for, and those derived."""

    file: str
    stored: pl.DataFrame
    derived: pl.DataFrame


class Setting:
    """What all shards share: configuration, definitions, statistics."""

    def __init__(self, results: Path, project: Path, dataset: DatasetConfig):
        self.results, self.project, self.dataset = results, project, dataset

    @cached_property
    def reference(self) -> Reference:
        """The reference definitions."""
        return load_reference(self.project / "resources" / "reference")

    @cached_property
    def judge(self) -> RulesJudge:
        """The judge."""
        return RulesJudge(load_vocabulary(self.project / "resources" / "judge"))

    @cached_property
    def mapper(self) -> Mapper:
        """Entity mapping with the configured backend; needs its model."""
        return Mapper(self.reference, load_backend(self.dataset.embedding))

    @cached_property
    def context(self) -> QaContext:
        """Question generation."""
        own = self.dataset.qa.statistics
        path = self.results / "graph_statistics" / "statistics.parquet"
        table = read_table(path if own == "computed" else own, STATISTICS)
        templates = load_templates(self.project / "resources" / "templates")
        return build_context(self.reference, templates, table, self.dataset.qa)


class Shard:
    """The stored tables of one shard, and what they give when they are made again."""

    def __init__(self, setting: Setting, name: str, studies: Sequence[str]):
        self.setting, self.name = setting, name
        self.wanted = sorted(studies)

    def table(self, step: str, table: str, schema: pl.Schema) -> pl.DataFrame:
        """Stored rows of the studies asked for."""
        path = self.setting.results / self._file(step, table)
        stored = read_table(path, schema)
        return stored.filter(pl.col("study_id").is_in(self.wanted))

    def steps(self) -> list[Callable[[], Iterator[Made]]]:
        """One function a step, in the order of the flow."""
        return [
            self.extraction,
            self.mentions,
            self.mappings,
            self.graphs,
            self.questions,
            self.judgements,
            self.ratings,
        ]

    def source(self) -> Iterator[Made]:
        """Studies and images as the source gives them; needs the source."""
        setting = self.setting
        images = str(setting.results / "draw_phantoms" / "images")
        block = setting.dataset
        source = block.source
        if block.phantoms:
            source = source.model_copy(update={"images": images})
        made = prepare(source, block.shards, self.name)
        yield self._made("prepare_studies", "studies", STUDIES, made.studies)
        yield self._made("prepare_studies", "images", IMAGES, made.images)

    def extraction(self) -> Iterator[Made]:
        """The three passes, by rules or from the stored answers of a model."""
        block, reference = self.setting.dataset, self.setting.reference
        studies = self.table("prepare_studies", "studies", STUDIES)
        sentences = self.table("extract_sentences", "sentences", SENTENCES)
        extractor = SentenceExtractor(reference, block.site, block.sentences)
        if block.llm.asks_a_model:
            told = {
                name: answers.load_answers(*self._asked(step), name)
                for name, step in (
                    ("sentences", "sentences"),
                    ("observations", "contents"),
                    ("indication", "contents"),
                )
            }
            first = answers.parse_sentences(studies, told["sentences"], reference, extractor)
            second = answers.parse_observations(studies, sentences, told["observations"], reference)
            third = answers.parse_indication(studies, sentences, told["indication"], reference)
        else:
            found = extract_sentences(studies, extractor)
            first = (found.sentences, found.status, found.ledger)
            second = observations.extract_shard(studies, sentences, reference, block.site)
            third = indication.extract_shard(studies, sentences, reference, block.site)
        kinds = (
            ("sentences", SENTENCES),
            ("observations", RAW_OBSERVATIONS),
            ("indications", INDICATIONS),
        )
        for step, (table, schema), made in zip(PASSES, kinds, (first, second, third), strict=True):
            yield self._made(step, table, schema, made[0])
            yield self._made(step, "status", PASS_STATUS, made[1])
            yield self._made(step, "ledger", LEDGER, made[2])

    def mentions(self) -> Iterator[Made]:
        """Free values of the whole shard: their counts are over all its studies."""
        paths = {
            t: self.setting.results / self._file(s, t)
            for s, t in zip(PASSES[1:], ("observations", "indications"), strict=True)
        }
        made = collect(
            read_table(paths["observations"], RAW_OBSERVATIONS),
            read_table(paths["indications"], INDICATIONS),
        )
        file = self._file("collect_mentions", "mentions")
        yield Made(file, read_table(self.setting.results / file, MENTIONS), made)

    def mappings(self) -> Iterator[Made]:
        """Mapping decisions of the values of the studies asked for; counts are over all shards."""
        own = collect(
            self.table("extract_observations", "observations", RAW_OBSERVATIONS),
            self.table("extract_indication", "indications", INDICATIONS),
        )
        made = self.setting.mapper.map(merge([own]), self.setting.dataset.embedding.threshold)
        file = "map_entities/mappings.parquet"
        stored = read_table(self.setting.results / file, MAPPINGS)
        keys = ["kind", "text"]
        same = stored.join(made.select(keys), on=keys, how="semi", maintain_order="left")
        yield Made(file, same.drop("count").sort(keys), made.drop("count").sort(keys))

    def graphs(self) -> Iterator[Made]:
        """Scene graphs from extraction records and stored mapping decisions."""
        stored = self.table
        shard = ShardInput(
            studies=stored("prepare_studies", "studies", STUDIES),
            images=stored("prepare_studies", "images", IMAGES),
            boxes=stored("segment_anatomy", "boxes", REGION_BOXES),
            image_status=stored("segment_anatomy", "status", IMAGE_STATUS),
            sentences=stored("extract_sentences", "sentences", SENTENCES),
            observations=stored("extract_observations", "observations", RAW_OBSERVATIONS),
            indications=stored("extract_indication", "indications", INDICATIONS),
            mappings=read_table(self.setting.results / "map_entities/mappings.parquet", MAPPINGS),
            statuses=pl.concat([stored(p, "status", PASS_STATUS) for p in PASSES]),
            ledgers=pl.concat([stored(p, "ledger", LEDGER) for p in PASSES]),
        )
        made = build_shard(shard, self.setting.reference)
        kinds = (
            ("graphs", GRAPHS),
            ("observations", OBSERVATIONS),
            ("regions", REGIONS),
            ("ledger", LEDGER),
        )
        for (table, schema), derived in zip(kinds, made, strict=True):
            yield self._made("build_graphs", table, schema, derived)

    def questions(self) -> Iterator[Made]:
        """Questions and answer parts from the stored graphs."""
        graphs = self.table("build_graphs", "graphs", GRAPHS)
        studies = read_studies(
            graphs,
            self.table("build_graphs", "observations", OBSERVATIONS),
            self.table("build_graphs", "regions", REGIONS),
        )
        made = generate_shard(studies, graphs.height, self.setting.context)
        kinds = (
            ("questions", QUESTIONS),
            ("answers", ANSWERS),
            ("skipped", SKIPPED_QUESTIONS),
            ("ledger", LEDGER),
        )
        for (table, schema), derived in zip(kinds, made, strict=True):
            yield self._made("generate_qa", table, schema, derived)

    def judgements(self) -> Iterator[Made]:
        """Judgements of the stored questions and answer parts."""
        made = judge_questions(
            self.table("prepare_studies", "studies", STUDIES),
            self.table("generate_qa", "questions", QUESTIONS),
            self.table("generate_qa", "answers", ANSWERS),
            self.setting.judge,
        )
        for (table, schema), derived in zip(
            (("judgements", JUDGEMENTS), ("ledger", LEDGER)), made, strict=True
        ):
            yield self._made("judge_qa", table, schema, derived)

    def ratings(self) -> Iterator[Made]:
        """Ratings from the stored judgements and extraction qualities."""
        made = rate(
            self.table("generate_qa", "questions", QUESTIONS),
            self.table("generate_qa", "answers", ANSWERS),
            self.table("judge_qa", "judgements", JUDGEMENTS),
            self.table("prepare_studies", "images", IMAGES),
        )
        for (table, schema), derived in zip(
            (("rated", RATED), ("rated_answers", RATED_ANSWERS)), made, strict=True
        ):
            yield self._made("rate_qa", table, schema, derived)

    def _made(self, step: str, table: str, schema: pl.Schema, derived: pl.DataFrame) -> Made:
        own = derived.filter(pl.col("study_id").is_in(self.wanted))
        return Made(self._file(step, table), self.table(step, table, schema), own)

    def _asked(self, step: str) -> tuple[list[Path], list[Path]]:
        results = self.setting.results
        return (
            [results / f"request_{step}" / f"{self.name}.requests.parquet"],
            [results / f"infer_{step}" / f"{self.name}.receipts.parquet"],
        )

    def _file(self, step: str, table: str) -> str:
        return f"{step}/{self.name}.{table}.parquet"


def whole_statistics(setting: Setting) -> Made:
    """Counts over the graphs of all shards."""
    file = "graph_statistics/statistics.parquet"

    def shards(step: str, name: str, schema: pl.Schema) -> Iterator[pl.DataFrame]:
        paths = sorted((setting.results / step).glob(f"*.{name}.parquet"))
        return (read_table(path, schema) for path in paths)

    split = setting.dataset.qa.statistics_split
    among = studies_of_split(shards("prepare_studies", "studies", STUDIES), split)
    derived = statistics(shards("build_graphs", "observations", OBSERVATIONS), among)
    return Made(file, read_table(setting.results / file, STATISTICS), derived)

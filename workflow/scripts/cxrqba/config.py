"""The configuration: one pydantic model for ``config/config.yaml`` and the dataset files.

``config/config.yaml`` names a dataset; a dataset block is one file, taken whole and never merged
with another's, so that a forgotten key cannot make one dataset be scored against another's gold.
Unknown keys fail with the nearest known one.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from cxrqba.errors import UserError, nearest
from cxrqba.schema import SECTION_TYPES

WEIGHT_SUFFIXES = (".safetensors", ".bin")
"""Files of a text model that hold its weights."""

MAX_SOURCE_FILES = 2_000
"""A folder of reports is watched for changes up to this many files."""


class Block(BaseModel):
    """Base of all configuration blocks: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class MimicSource(Block):
    """MIMIC-CXR 2.1.0 reports and MIMIC-CXR-JPG 2.1.0 images and tables."""

    kind: Literal["mimic"] = "mimic"
    reports: str = Field(
        description="folder with cxr-study-list.csv.gz and files/ or the reports zip"
    )
    tables: str = Field(
        description="folder with the mimic-cxr-2.0.0-{metadata,split}.csv.gz tables"
    )
    images: str | None = Field(
        None, description="folder with files/pNN/... of JPG, PNG or DICOM images; null: no images"
    )


class OpeniSource(Block):
    """Open-i (Indiana University) reports in XML."""

    kind: Literal["openi"] = "openi"
    reports: str = Field(description="folder with ecgen-radiology/*.xml, or the .tgz of it")
    images: str | None = Field(None, description="folder with CXR*.png images; null: no images")


class TableSource(Block):
    """One table of one's own reports: CSV, TSV, JSONL or parquet."""

    kind: Literal["table"] = "table"
    reports: str = Field(description="the table; its ending tells the format")
    columns: dict[str, str] = Field(
        description="our name -> column of the table; study_id and report are required, "
        "patient_id, study_date, split, image (a path; several joined by |) and view are optional"
    )
    encoding: str = Field("utf-8", description="encoding of a CSV, TSV or JSONL table")
    images: str | None = Field(None, description="folder the image paths are relative to")


class TextSource(Block):
    """A folder of .txt reports; the file name without .txt is the study id."""

    kind: Literal["text"] = "text"
    reports: str = Field(description="the folder")
    encoding: str = Field("utf-8", description="encoding of the files")
    images: str | None = Field(
        None, description="folder with one sub-folder, or <study id>*.png|jpg|dcm files, a study"
    )


class ImageSource(Block):
    """Images without reports, listed by a CSV with an ``image`` column (e.g. the JSRT films)."""

    kind: Literal["images"] = "images"
    images: str = Field(description="folder that holds the images and the index")
    index: str = Field("index.csv", description="CSV in that folder")
    columns: dict[str, str] = Field(
        default_factory=lambda: {"image_id": "image_id"},
        description="our name -> column: image_id; and path, patient_id, study_id, view",
    )
    pattern: str = Field(
        "images/{image_id}.png", description="where an image lies if no column gives its path"
    )
    view: Literal["frontal", "lateral", "unknown"] = Field(
        "frontal", description="view of all images"
    )


Source = Annotated[
    MimicSource | OpeniSource | TableSource | TextSource | ImageSource, Field(discriminator="kind")
]


class SubjectPrefixShards(Block):
    """One shard per leading digits of the patient id: patient-disjoint, about 100 for MIMIC."""

    by: Literal["subject_prefix"]
    digits: int = Field(3, ge=1, le=6, description="leading digits of the patient id")


class HashShards(Block):
    """A fixed number of shards by the hash of the patient id (study id where there is none)."""

    by: Literal["hash"]
    count: int = Field(2, ge=1, le=10_000, description="number of shards")


class SiteConfig(Block):
    """What is particular to the reports of one hospital."""

    header_aliases: dict[str, str] = Field(
        default_factory=dict, description="section header as written -> section type"
    )
    deid_tokens: list[str] = Field(
        default_factory=lambda: ["___", "XXXX", "[**...**]"],
        description="tokens that replace removed words; ... stands for what a token encloses",
    )
    normal_phrases: dict[str, list[str]] = Field(
        default_factory=dict,
        description="standard phrase for a normal study, as written -> the plain sentences it "
        "stands for ('lungs are clear', 'no pleural effusion')",
    )

    @field_validator("header_aliases")
    @classmethod
    def _known_types(cls, value: dict[str, str]) -> dict[str, str]:
        for header, kind in value.items():
            if kind.upper() not in SECTION_TYPES:
                hint = nearest(kind.upper(), SECTION_TYPES)
                raise ValueError(f"'{header}' has no section type '{kind}'{hint}")
        return {header: kind.upper() for header, kind in value.items()}

    @field_validator("deid_tokens")
    @classmethod
    def _not_empty(cls, value: list[str]) -> list[str]:
        if any(not token.replace("...", "").strip() for token in value):
            raise ValueError("an empty token would stand everywhere")
        return value

    @field_validator("normal_phrases")
    @classmethod
    def _with_meaning(cls, value: dict[str, list[str]]) -> dict[str, list[str]]:
        for phrase, meant in value.items():
            if not re.search(r"\w", phrase):
                raise ValueError("an empty phrase would stand everywhere")
            if not meant or any(not re.search(r"\w", sentence) for sentence in meant):
                raise ValueError(f"'{phrase}' needs the sentences it stands for")
        return value


class SentencesConfig(Block):
    """How sentences are split further once their sections are known."""

    backend: Literal["rules", "stanza"] = Field(
        "rules",
        description="rules: punctuation and layout; stanza: needs the extra cxr-qba[stanza]",
    )
    model: str | None = Field(
        None, description="stanza: folder with resources.json and <language>/tokenize/*.pt"
    )
    language: str = Field("en", description="stanza: language of the model")

    @model_validator(mode="after")
    def _model_given(self) -> SentencesConfig:
        if self.backend == "stanza" and not self.model:
            raise ValueError("backend 'stanza' needs model, a local folder; nothing is downloaded")
        return self

    def files(self) -> list[str]:
        """Files of the model, so that another model is another input."""
        if self.backend == "rules" or not self.model:
            return []
        return [str(p) for p in sorted(Path(self.model).rglob("*")) if p.suffix in (".pt", ".json")]


class SegmentationConfig(Block):
    """How anatomy is localised."""

    backend: Literal["atlas", "cxas", "precomputed"] = Field(
        "atlas",
        description="atlas: classical CPU localisation; cxas: the CXAS network, needs its package "
        "(docs/regions.md); precomputed: CXAS masks or Chest ImaGenome boxes you have",
    )
    min_area: float = Field(
        25.0, ge=0, description="boxes smaller than this many square pixels are dropped"
    )
    cxas_folder: str | None = Field(
        None, description="precomputed: folder of the masks that cxas wrote, as npz, npy, json, png"
    )
    imagenome_folder: str | None = Field(
        None, description="precomputed: folder of the <image id>_SceneGraph.json of ImaGenome"
    )
    weights: str | None = Field(
        None, description="cxas: folder with UNet_ResNet50_default.pth; nothing is downloaded"
    )
    python: str | None = Field(
        None, description="cxas: interpreter of an environment that has it; null: the usual one"
    )
    device: str = Field("cuda", description="cxas: cpu, cuda or cuda:N")
    batch_size: int = Field(8, gt=0, description="cxas: images at once")

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> SegmentationConfig:
        if self.backend == "cxas" and not self.weights:
            raise ValueError("backend cxas needs 'weights', the folder of its weights")
        if self.backend == "precomputed" and not (self.cxas_folder or self.imagenome_folder):
            raise ValueError("backend precomputed needs 'cxas_folder', 'imagenome_folder' or both")
        return self

    @property
    def gpus(self) -> int:
        """GPUs that a job asks the cluster for."""
        return int(self.backend == "cxas" and self.device.startswith("cuda"))

    def files(self) -> list[str]:
        """Files of the model, so that other weights are another input."""
        if self.backend != "cxas" or not self.weights:
            return []
        return [str(p) for p in sorted(Path(self.weights).glob("*.pth"))]


class JudgeConfig(Block):
    """Who judges questions and answers, and how requests are planned."""

    backend: Literal["rules"] = Field("rules", description="rules: deterministic, reference-driven")
    buckets: int = Field(
        16,
        ge=1,
        le=10_000,
        description="jobs that the criteria without report are divided into, over all shards",
    )


class AskingConfig(Block):
    """What decides the answers of a model besides the messages; a part of each request's key."""

    model: str | None = Field(
        None, description="name of the model, as a server lists it; stored with each answer"
    )
    revision: str | None = Field(None, description="its revision; stored with each answer")
    temperature: float = Field(0.0, ge=0, description="0: the likeliest token each time")
    max_tokens: int = Field(
        2048, ge=16, description="longest answer; one that is cut off is asked again with twice"
    )
    structured: bool = Field(
        False,
        description="force the JSON schema of the prompt on the answer, where the server can "
        "(the paper does not)",
    )


class PassesConfig(AskingConfig):
    """Who runs the three extraction passes (docs/llm.md)."""

    backend: Literal["rules", "vllm", "endpoint", "replay", "dummy"] = Field(
        "rules",
        description="rules: deterministic, reference-driven, no model; vllm: in the job; "
        "endpoint: an OpenAI-compatible server; replay: stored answers alone; dummy: canned ones",
    )
    folder: str | None = Field(None, description="vllm: folder of the weights; null: model")
    engine: dict[str, Any] = Field(
        default_factory=dict, description="vllm: options of vllm.LLM, such as max_model_len"
    )
    url: str | None = Field(None, description="endpoint: address up to /v1")
    key_env: str | None = Field(
        None, description="endpoint: environment variable that holds the access key; null: none"
    )
    concurrency: int = Field(32, ge=1, le=1024, description="endpoint: requests at once")
    timeout: float = Field(300.0, gt=0, description="endpoint: seconds a try may take")
    tries: int = Field(5, ge=1, description="endpoint: tries of a request, with growing pauses")
    canned: str | None = Field(
        None, description="dummy: JSON file, request key -> answer; null: empty answers"
    )
    sub_batch: int = Field(
        1000, ge=1, description="requests that are asked and stored together; a kill loses these"
    )
    max_bad: float = Field(
        0.05, ge=0, le=1, description="a shard with a larger share of unusable answers fails"
    )
    quarantine: list[str] = Field(
        default_factory=list,
        description="shards that go on with what was answered; what is missing is in the ledger",
    )

    @field_validator("quarantine", mode="before")
    @classmethod
    def _quarantine_as_text(cls, value: Any) -> Any:
        return _texts(value)

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> PassesConfig:
        if self.asks_a_model and not self.model:
            raise ValueError(f"backend {self.backend} needs 'model', the name of the model")
        if self.backend == "endpoint" and not self.url:
            raise ValueError("backend endpoint needs 'url', such as http://127.0.0.1:8000/v1")
        return self

    @property
    def asks_a_model(self) -> bool:
        """Whether requests are rendered and answers parsed."""
        return self.backend != "rules"

    @property
    def gpus(self) -> int:
        """GPUs that a job asks the cluster for."""
        return int(self.backend == "vllm")

    def asking(self) -> dict[str, Any]:
        """What decides the answers: another backend renders the same requests."""
        return self.model_dump(include=set(AskingConfig.model_fields))


class PassConfig(Block):
    """What an extraction pass is given: what is particular to the site."""

    site: SiteConfig = SiteConfig()


class SentencePassConfig(PassConfig):
    """What the sentence pass is given besides: how it splits."""

    sentences: SentencesConfig = SentencesConfig()


class EmbeddingConfig(Block):
    """How free values are mapped to the reference tables."""

    backend: Literal["lexical", "sentence_transformers"] = Field(
        "lexical",
        description="lexical: character n-gram TF-IDF; sentence_transformers: text embeddings, "
        "needs the extra cxr-qba[embedding]",
    )
    model: str | None = Field(
        None,
        description="sentence_transformers: folder of the model (the paper's: BioLORD-2023-C)",
    )
    dimension: int | None = Field(
        None, gt=0, description="values a vector must have, to notice another model; null: any"
    )
    device: str = Field("cpu", description="sentence_transformers: cpu, cuda or cuda:N")
    batch_size: int = Field(64, gt=0, description="sentence_transformers: strings at once")
    threshold: float = Field(
        0.5, ge=0, le=1, description="cosine below which a value is unresolved"
    )

    @model_validator(mode="after")
    def _has_model(self) -> EmbeddingConfig:
        if self.backend == "sentence_transformers" and not self.model:
            raise ValueError("backend sentence_transformers needs 'model', the folder of a model")
        return self

    @property
    def gpus(self) -> int:
        """GPUs that mapping asks the cluster for."""
        return int(self.backend == "sentence_transformers" and self.device.startswith("cuda"))

    def files(self) -> list[str]:
        """Weights of the model, so that other weights are another input."""
        if self.backend != "sentence_transformers" or not self.model:
            return []
        found = (p for p in Path(self.model).glob("**/*") if p.suffix in WEIGHT_SUFFIXES)
        return sorted(str(p) for p in found)


class QaConfig(Block):
    """Question-answer generation."""

    seed: int = Field(0, description="seed of the per-study sampling")
    sampled_regions: int = Field(4, ge=0, description="unmentioned regions sampled a study")
    sampled_findings: int = Field(4, ge=0, description="unmentioned findings sampled a study")
    statistics: str = Field("computed", description="computed, or the path of a statistics table")
    statistics_split: str = Field(
        "all", description="studies that count for computed statistics: all (paper), or a split"
    )


class LabelsConfig(Block):
    """The table of study labels that `snakemake labels` makes."""

    classes: str = Field(
        "chexpert",
        description="whose classes: a data set of resources/reference/labels.csv, such as "
        "chexpert, cxr_lt_2024, padchest, nih14, vindr, openi_mesh",
    )
    closure: Literal["nearest", "exact", "closed"] = Field(
        "nearest",
        description="which findings make a class positive: those that are the class (exact), also "
        "those with no nearer class (nearest), also all that imply it (closed)",
    )
    text: bool = Field(
        False, description="whether evidence.csv quotes the words of the report beside their place"
    )


class WorklistConfig(Block):
    """The list of what was not understood that `snakemake worklist` makes."""

    top: int = Field(100, ge=1, description="entries of each kind")
    margin: float = Field(
        0.05,
        ge=0,
        le=1,
        description="a mapping that beats its runner-up, or the threshold, by less is listed",
    )


class LabelReference(Block):
    """Expert labels to compare study labels with."""

    name: str
    format: Literal["mimic_cxr_jpg", "cxr_lt", "openi_mesh"] = Field(
        description="mimic_cxr_jpg: mimic-cxr-2.1.0-test-set-labeled.csv; cxr_lt: "
        "test_labeled_task2.csv of CXR-LT 2024; openi_mesh: tags in Open-i's reports"
    )
    path: str | None = Field(None, description="file or folder; null: source.reports (Open-i XML)")
    no_overlap: Literal["warn", "fail"] = Field(
        "warn", description="what to do if no labelled study is in the dataset"
    )
    imagenome: str | None = Field(
        None, description="folder of Chest ImaGenome scene graphs to compare with; null: none"
    )


class BoxReference(Block):
    """Expert boxes or ellipses to compare finding boxes with."""

    name: str
    format: Literal["ms_cxr", "reflacx"]
    path: str = Field(
        description="ms_cxr: MS_CXR_Local_Alignment_v1.1.0.csv; reflacx: folder with main_data/"
    )
    merges: dict[str, list[str]] = Field(
        default_factory=dict, description="merged class -> the classes it replaces"
    )
    phases: list[Literal[1, 2, 3]] = Field(
        default_factory=lambda: [1, 2, 3],  # type: ignore[arg-type]
        min_length=1,
        description="reflacx: which phases of reading",
    )
    certainty: int = Field(
        3, ge=1, le=5, description="reflacx: less certain ellipses are left out; 3 is 'possibly'"
    )
    poolings: list[Literal["reading", "union", "majority"]] = Field(
        default_factory=lambda: ["union", "majority", "reading"],  # type: ignore[arg-type]
        min_length=1,
        description="reflacx: what readers of one image make together: all that any of them "
        "marked (union), what more than half of them marked, or each reading by itself",
    )
    imagenome: str | None = Field(
        None, description="folder of the scene graphs of Chest ImaGenome, to compare them too"
    )

    @model_validator(mode="after")
    def _readers_belong_to_reflacx(self) -> BoxReference:
        readers = ("phases", "certainty", "poolings")
        fields = type(self).model_fields
        given = [
            k
            for k in readers
            if getattr(self, k) != fields[k].get_default(call_default_factory=True)
        ]
        if self.format == "ms_cxr" and given:
            raise ValueError(f"format ms_cxr knows no {', '.join(given)}")
        return self


class RegionReference(Block):
    """Known anatomy to compare region boxes with."""

    name: str
    format: Literal["phantom", "masks"]
    path: str | None = Field(
        None,
        description="masks: folder with masks/<structure>/<image id>.png; null: source.images. "
        "phantom: null, the truth drawn with the images",
    )


class ExtractionReference(Block):
    """Hand-annotated reports to compare the extraction with."""

    name: str
    observations: str = Field(description="CSV, one row per observation of a report")
    split: str = Field(description="CSV: study_id, part (dev or sealed)")
    names: str = Field(description="CSV: finding in plain words -> acceptable reference names")
    sections: str | None = Field(None, description="CSV: study_id, section_type, start_text")
    parts: list[Literal["dev", "sealed"]] = Field(
        default_factory=lambda: ["dev"],  # type: ignore[arg-type]
        description="parts to score, each on its own; errors are listed of dev alone",
    )


class RatingsReference(Block):
    """A review sheet that people filled in."""

    path: str = Field(
        description="CSV as results/<dataset>/review_sheet/sheet.csv, levels filled in"
    )


class JudgementsReference(Block):
    """Judgements of the same questions by another judge, for the confusion of two judges."""

    path: str = Field(description="folder with its judge_qa tables, <shard>.judgements.parquet")


class ReviewConfig(Block):
    """The sample that `snakemake review_sheet` draws for people to rate."""

    cases: int = Field(100, ge=1, description="cases a criterion, fewer if there are fewer")
    seed: int = Field(0, description="another seed draws other cases")


class LeaksConfig(Block):
    """How splits are compared, and above which limits nothing is released."""

    similarity: float = Field(
        0.8, gt=0, le=1, description="shared triples of words (Jaccard) that make a near-duplicate"
    )
    answer_words: int = Field(
        15, ge=1, description="shorter answers repeat by design: not compared"
    )
    studies: int = Field(
        5000, ge=1, description="studies of each split whose answers are compared, drawn at random"
    )
    seed: int = Field(0, description="another seed draws other studies")
    tag_parts: int = Field(50, ge=1, description="answer parts a tag needs to be judged")
    max_shared_patients: int = Field(0, ge=0, description="limit: patients in several splits")
    max_duplicate_reports: float = Field(
        0.05,
        ge=0,
        le=1,
        description="limit: share of held-out reports near one of an earlier split",
    )
    max_duplicate_answers: float = Field(0.5, ge=0, le=1, description="limit: the same of answers")
    max_question_only: float = Field(
        0.9,
        ge=0,
        le=1,
        description="limit: balanced accuracy of guessing yes or no from the question alone",
    )
    min_positive: float = Field(
        0.1, ge=0, le=1, description="limit: share of positive main answers"
    )
    max_positive: float = Field(
        0.9, ge=0, le=1, description="limit: share of positive main answers"
    )
    max_one_sided_tags: float = Field(
        0.8, ge=0, le=1, description="limit: share of tags that are nearly always yes, or no"
    )


class EvaluateConfig(Block):
    """What the results are compared with; empty lists: nothing."""

    labels: list[LabelReference] = Field(default_factory=list)
    boxes: list[BoxReference] = Field(default_factory=list)
    regions: list[RegionReference] = Field(default_factory=list)
    extraction: list[ExtractionReference] = Field(default_factory=list)
    ratings: list[RatingsReference] = Field(
        default_factory=list, description="judge: what people said on review sheets"
    )
    second_judge: JudgementsReference | None = Field(None, description="judge: another one")
    review: ReviewConfig = ReviewConfig()
    leaks: LeaksConfig = LeaksConfig()
    bootstrap: int = Field(1000, ge=0, description="bootstrap draws; 0: no intervals")
    seed: int = 0


class ReleaseConfig(Block):
    """What `snakemake release` puts together to be given away."""

    text: bool = Field(
        False,
        description="let report text leave, with answers worded after it; false: only ids, tags, "
        "boxes, template answers and ratings",
    )
    licence: str = Field(
        "not stated", description="licence that the release is given under; see LICENSES.csv"
    )
    authors: list[str] = Field(default_factory=list, description="who releases it")
    sample: int = Field(
        1_000_000, ge=1, description="questions of the random subsets q1M of an export"
    )
    seed: int = Field(0, description="another seed draws other questions")


class BrowseConfig(Block):
    """The page results/<dataset>/index.html, to look through tables, figures and studies."""

    studies: int = Field(50, ge=0, le=1000, description="studies drawn at random")
    seed: int = Field(0, description="another seed draws other studies")
    megabytes: float = Field(
        20.0, gt=0, description="size of the page; studies that have no room are left out"
    )


class PhantomConfig(Block):
    """Synthetic images drawn before segmentation: the demo ships no image."""

    images: str = Field(description="CSV with one row per image: ids, view, size, seed")
    lesions: str = Field(description="CSV with one row per image and lesion to draw")


class DatasetConfig(Block):
    """One dataset: sources, shards, backends and what it is evaluated against."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$", description="results go to results/<name>/")
    title: str = Field(description="how tables and figures call the dataset")
    source: Source = Field(
        description="where reports and images come from; its kind tells the keys"
    )
    phantoms: PhantomConfig | None = Field(
        None, description="synthetic images to draw; they become source.images (demo only)"
    )
    shards: SubjectPrefixShards | HashShards = Field(
        default=HashShards(by="hash", count=2),
        discriminator="by",
        description="how studies are divided into jobs",
    )
    only: list[str] = Field(default_factory=list, description="run these shards alone; empty: all")
    site: SiteConfig = SiteConfig()
    sentences: SentencesConfig = SentencesConfig()
    segmentation: SegmentationConfig = SegmentationConfig()
    llm: PassesConfig = PassesConfig()
    embedding: EmbeddingConfig = EmbeddingConfig()
    qa: QaConfig = QaConfig()
    judge: JudgeConfig = JudgeConfig()
    evaluate: EvaluateConfig = EvaluateConfig()
    labels: LabelsConfig = LabelsConfig()
    worklist: WorklistConfig = WorklistConfig()
    browse: BrowseConfig = BrowseConfig()
    release: ReleaseConfig = ReleaseConfig()

    @field_validator("only", mode="before")
    @classmethod
    def _only_as_text(cls, value: Any) -> Any:
        return _texts(value)

    @property
    def has_reports(self) -> bool:
        """Whether the source has reports at all."""
        return getattr(self.source, "reports", None) is not None

    def source_with_phantoms(self, images: str) -> dict[str, Any]:
        """The source as plain values; where phantoms are drawn, ``images`` is their folder."""
        source = self.source.model_dump()
        return {**source, "images": images} if self.phantoms else source

    def source_files(self) -> list[str]:
        """Files whose content decides what the reader returns.

        The reports of MIMIC-CXR are not among them: 227,835 files are too many to look at.
        """
        source = self.source
        if isinstance(source, MimicSource):
            tables = ["metadata", "split"]
            return [
                f"{source.reports}/cxr-study-list.csv.gz",
                f"{source.reports}/cxr-record-list.csv.gz",
                *(f"{source.tables}/mimic-cxr-2.0.0-{t}.csv.gz" for t in tables),
            ]
        if isinstance(source, ImageSource):
            return [f"{source.images}/{source.index}"]
        path = Path(source.reports)
        return _first_files(path) if path.is_dir() else [source.reports]

    def references(self, results: str) -> dict[str, list[dict[str, Any]]]:
        """What to evaluate against, by kind; paths that default to the source are filled in."""
        reports = getattr(self.source, "reports", None)
        images = getattr(self.source, "images", None)
        truth = f"{results}/draw_phantoms/truth.parquet"
        return {
            "labels": [
                r.model_copy(update={"path": r.path or reports}).model_dump()
                for r in self.evaluate.labels
            ],
            "boxes": [r.model_dump(exclude_unset=True) for r in self.evaluate.boxes],
            "regions": [
                r.model_copy(
                    update={"path": r.path or (truth if r.format == "phantom" else images)}
                ).model_dump()
                for r in self.evaluate.regions
            ],
            "extraction": [r.model_dump() for r in self.evaluate.extraction],
        }

    def shard_names(self) -> list[str]:
        """Names of the shards to run, known without reading any data."""
        if isinstance(self.shards, HashShards):
            width = len(str(self.shards.count - 1))
            names = [f"{i:0{width}d}" for i in range(self.shards.count)]
        else:  # MIMIC subject ids run from 10000000 to 19999999
            digits = self.shards.digits
            names = (
                [f"p1{i:0{digits - 1}d}" for i in range(10 ** (digits - 1))]
                if digits > 1
                else ["p1"]
            )
        only = [s.zfill(len(names[0])) if s.isdecimal() else s for s in self.only]
        unknown = [s for s in only if s not in names]
        if unknown:
            raise UserError(
                f"only: no shard '{unknown[0]}'{nearest(unknown[0], names)}; "
                f"shards run from {names[0]} to {names[-1]}"
            )
        return only or names


class RunConfig(Block):
    """``config/config.yaml``: which dataset to run, and paths given on the command line."""

    dataset: str = Field("demo", description="a name in config/datasets/, or the path of a file")
    results: str = Field("results", description="folder that receives <dataset>/...")
    reports: str | None = Field(None, description="replaces source.reports of the dataset file")
    images: str | None = Field(None, description="replaces source.images of the dataset file")
    tables: str | None = Field(
        None, description="replaces source.tables of the dataset file (MIMIC)"
    )
    only: list[str] | None = Field(None, description="replaces only of the dataset file")

    @field_validator("only", mode="before")
    @classmethod
    def _only_as_list(cls, value: Any) -> Any:
        return None if value is None else _texts(value)


def load_config(raw: dict[str, Any], root: Path) -> tuple[RunConfig, DatasetConfig]:
    """Validate the run configuration and the dataset file it names.

    ``raw`` is the content of ``config/config.yaml`` with command-line values laid over it; ``root``
    is the folder that holds ``config/datasets``.
    """
    run = _validate(RunConfig, raw, "config/config.yaml")
    path = _dataset_path(run.dataset, root)
    try:
        text = path.read_text(encoding="utf-8")
        content = yaml.safe_load(text)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "not UTF-8 text"
        raise UserError(f"{path}{where}: not valid YAML ({problem})") from None
    if not isinstance(content, dict):
        raise UserError(f"{path}: expected a mapping of keys, found {type(content).__name__}")
    source = content.setdefault("source", {})
    if content.get("only"):  # as written: YAML reads 010 as eight
        content["only"] = yaml.load(text, Loader=yaml.BaseLoader)["only"]
    if run.only is not None:
        content["only"] = run.only
    if isinstance(source, dict):
        given = {key: getattr(run, key) for key in ("reports", "images", "tables")}
        source.update({key: value for key, value in given.items() if value is not None})
    return run, _validate(DatasetConfig, content, str(path))


def _first_files(folder: Path) -> list[str]:
    """Files below ``folder`` in a fixed order, up to :data:`MAX_SOURCE_FILES`: no endless walk."""
    found: list[str] = []
    for here, folders, names in os.walk(folder):
        folders.sort()
        found += [str(Path(here) / name) for name in sorted(names)]
        if len(found) >= MAX_SOURCE_FILES:
            break
    return found[:MAX_SOURCE_FILES]


def _texts(value: Any) -> Any:
    """``1``, ``"1"`` or ``[1]`` as a list of strings: YAML reads shard names as numbers."""
    values = value if isinstance(value, list) else [value]
    return [str(v) for v in values]


def _dataset_path(dataset: str, root: Path) -> Path:
    if dataset.endswith((".yaml", ".yml")):
        path = Path(dataset)
    else:
        path = root / "config" / "datasets" / f"{dataset}.yaml"
    if not path.is_file():
        known = sorted(p.stem for p in (root / "config" / "datasets").glob("*.yaml"))
        raise UserError(
            f"dataset: no file {path}{nearest(dataset, known)}; known datasets: {', '.join(known)}"
        )
    return path


def _validate(model: type[Block], raw: dict[str, Any], where: str) -> Any:
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        raise UserError(f"{where}: {_explain(model, error)}") from None


def _explain(model: type[BaseModel], error: ValidationError) -> str:
    """One line for the first error: key, what is wrong, nearest known key."""
    first = error.errors()[0]
    location = [str(p) for p in first["loc"]]
    key = ".".join(location)
    if first["type"] == "extra_forbidden":
        known = _known_keys(model, location[:-1])
        return f"unknown key '{key}'{nearest(location[-1], known)}; known keys: {', '.join(known)}"
    if first["type"] == "missing":
        return f"missing key '{key}'"
    message = re.sub(r"^Input should be ", "should be ", first["msg"])
    value = repr(first.get("input"))
    return f"key '{key}': {message}, not {value if len(value) < 80 else value[:77] + '...'}"


def _known_keys(model: type[BaseModel], location: list[str]) -> list[str]:
    """Keys of the block at ``location``; union branches appear there by their tag."""
    blocks: list[type[BaseModel]] = [model]
    for part in location:
        deeper = [
            child
            for block in blocks
            if part in block.model_fields
            for child in _blocks_in(block.model_fields[part].annotation)
        ]
        tagged = [b for b in blocks if _tag(b) == part]
        blocks = deeper or tagged or blocks
    return sorted({key for block in blocks for key in block.model_fields})


def _blocks_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [b for arg in getattr(annotation, "__args__", ()) for b in _blocks_in(arg)]


def _tag(block: type[BaseModel]) -> str | None:
    for name in ("kind", "by"):
        if name in block.model_fields:
            return str(block.model_fields[name].annotation.__args__[0])  # type: ignore[union-attr]
    return None

"""From requests over stored answers to the tables of the passes; a better parser asks nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from llm_fixtures import Counting

from cxrqba.config import PassesConfig, SentencesConfig, SiteConfig
from cxrqba.errors import UserError
from cxrqba.extract import answers as parsing
from cxrqba.extract import indication, observations, sentences
from cxrqba.extract.asking import request_contents, request_sentences
from cxrqba.extract.sentences import SentenceExtractor
from cxrqba.llm import run
from cxrqba.reference.tables import Reference, load_reference
from cxrqba.schema import MODEL_REQUESTS, RECEIPTS, STUDIES
from cxrqba.tables import frame, write_table

ROOT = Path(__file__).resolve().parents[2]
PROMPTS = ROOT / "resources" / "prompts"
REPORTS = {
    "s1": "INDICATION: Cough, rule out pneumonia.\n\nFINDINGS: There is a small left pleural "
    "effusion. No pneumothorax.\n\nIMPRESSION: No evidence of pneumonia.",
    "s2": "FINDINGS: Mild cardiomegaly. The lungs are clear.",
    "s3": "FINDINGS: Right lower lobe consolidation.",
}
CONFIG = PassesConfig(backend="dummy", model="tiny", max_bad=0.5)
Step = tuple[pl.DataFrame, Path]


@pytest.fixture(scope="module")
def reference() -> Reference:
    return load_reference(ROOT / "resources" / "reference")


@pytest.fixture(scope="module")
def extractor(reference: Reference) -> SentenceExtractor:
    return SentenceExtractor(reference, SiteConfig(), SentencesConfig())


@pytest.fixture(scope="module")
def studies() -> pl.DataFrame:
    rows = [{"study_id": s, "patient_id": "p1", "report": text} for s, text in REPORTS.items()]
    return frame([*rows, {"study_id": "s4", "patient_id": "p1"}], STUDIES)


class Rules:
    """Answers as a good model would: what the rules backend reads, as records of the passes."""

    def __init__(self, studies: pl.DataFrame, reference: Reference, extractor: SentenceExtractor):
        self.sentences = sentences.extract_shard(studies, extractor).sentences
        site = SiteConfig()
        self.observations = observations.extract_shard(studies, self.sentences, reference, site)[0]
        self.indications = indication.extract_shard(studies, self.sentences, reference, site)[0]

    def reply(self, row: dict[str, Any]) -> str:
        study = pl.col("study_id") == row["study_id"]
        if row["pass"] == "sentences":
            found = self.sentences.filter(study).to_dicts()
            clusters = {r["sent_id"]: r["cluster"] for r in found}
            for r in found:
                r["id"] = r["sent_id"]
                r["related"] = [
                    s for s, c in clusters.items() if c == r["cluster"] and c and s != r["sent_id"]
                ]
            keys = ("id", "section", "section_type", "sentence", "related")
            return json.dumps({"sentences": [{k: r[k] for k in keys} for r in found]})
        if row["pass"] == "observations":
            found = self.observations.filter(study).to_dicts()
            told = [r for r in found if set(r["sent_ids"]) & set(row["sent_ids"])]
            keys = ("name", "summary_sentence", "entities", "regions", "probability", "modifiers")
            return json.dumps(
                {"observations": [{k: r[k] for k in (*keys, "sent_ids")} for r in told]}
            )
        (found,) = self.indications.filter(study).to_dicts()
        told = {"name": found["answer_name"], "summary_sentence": found["answer_sentence"]}
        keys = ("indication_summary", "patient_info", "indication", "evaluation")
        ids = found["associated_sentence_ids"]
        return json.dumps(
            {k: found[k] for k in keys} | {"sentence_ids": ids, "answer_for_indication": told}
        )


@pytest.fixture(scope="module")
def rules(studies: pl.DataFrame, reference: Reference, extractor: SentenceExtractor) -> Rules:
    return Rules(studies, reference, extractor)


def infer(
    folder: Path, requests: pl.DataFrame, name: str, answers: dict[str, str], config: PassesConfig
) -> tuple[list[Path], list[Path]]:
    """Paths of the tables of requests and of receipts."""
    canned = folder / "canned.json"
    canned.write_text(json.dumps(answers))
    config = config.model_copy(update={"canned": str(canned)})
    asked = folder / f"request_{name}" / "0.requests.parquet"
    receipts = folder / f"infer_{name}" / "0.receipts.parquet"
    write_table(requests, asked, MODEL_REQUESTS)
    found = run.answer(requests, config, run.store_of(receipts), name, "0")
    write_table(found, receipts, RECEIPTS)
    return [asked], [receipts]


def test_answers_like_the_rules_make_the_tables_of_the_rules(
    tmp_path: Path,
    studies: pl.DataFrame,
    reference: Reference,
    extractor: SentenceExtractor,
    rules: Rules,
) -> None:
    asked = request_sentences(studies, PROMPTS, CONFIG)
    assert asked["study_id"].to_list() == ["s1", "s2", "s3"]
    replies = {r["key"]: rules.reply(r) for r in asked.to_dicts()}
    tables = infer(tmp_path, asked, "sentences", replies, CONFIG)
    answers = parsing.load_answers(*tables, "sentences")
    told, status, _ = parsing.parse_sentences(studies, answers, reference, extractor)
    same = ["study_id", "sent_id", "section_type", "sentence", "start", "end", "discarded"]
    assert told.select(same).equals(rules.sentences.select(same))
    assert status["status"].to_list() == ["ok", "ok", "ok", "failed"]

    asked = request_contents(studies, told, PROMPTS, CONFIG)
    replies = {r["key"]: rules.reply(r) for r in asked.to_dicts()}
    tables = infer(tmp_path, asked, "contents", replies, CONFIG)
    answers = parsing.load_answers(*tables, "observations")
    found, status, _ = parsing.parse_observations(studies, told, answers, reference)
    order = ["study_id", "name", "summary_sentence", "entities", "probability"]
    whole = rules.observations.select(order).sort(order[:3])
    assert found.select(order).sort(order[:3]).equals(whole)
    assert set(found["origin"].str.slice(0, 11)) == {"dummy:tiny:"}
    answers = parsing.load_answers(*tables, "indication")
    made, status, _ = parsing.parse_indication(studies, told, answers, reference)
    assert status["status"].to_list() == ["ok", "empty", "empty"]
    assert made.drop("origin").equals(rules.indications.drop("origin"))


def test_one_bad_answer_costs_one_study(
    tmp_path: Path,
    studies: pl.DataFrame,
    reference: Reference,
    extractor: SentenceExtractor,
    rules: Rules,
) -> None:
    asked = request_sentences(studies, PROMPTS, CONFIG)
    replies = {r["key"]: rules.reply(r) for r in asked.to_dicts()}
    replies[asked["key"][1]] = "The lungs are clear."  # and none in the second attempt
    tables = infer(tmp_path, asked, "sentences", replies, CONFIG)
    answers = parsing.load_answers(*tables, "sentences")
    told, status, ledger = parsing.parse_sentences(studies, answers, reference, extractor)
    assert status["status"].to_list() == ["ok", "failed", "ok", "failed"]
    lost = ledger.filter(pl.col("scope") == "study").select("study_id", "reason").rows()
    assert lost == [("s2", "unreadable_answer"), ("s4", "no_report")]
    assert set(told["study_id"]) == {"s1", "s3"}


def test_another_parser_asks_nothing(
    tmp_path: Path, studies: pl.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = Counting(lambda text: '{"sentences": []}')
    monkeypatch.setattr(run, "backend_of", lambda config: backend)
    asked = request_sentences(studies, PROMPTS, CONFIG)
    first = infer(tmp_path, asked, "sentences", {}, CONFIG)
    assert (len(backend.asked), backend.made) == (3, 1)
    before = first[1][0].read_bytes()
    infer(tmp_path, asked, "sentences", {}, CONFIG)
    assert (len(backend.asked), backend.made) == (3, 1)
    assert first[1][0].read_bytes() == before


def test_replay_rebuilds_from_the_store_and_quarantine_goes_on(
    tmp_path: Path, studies: pl.DataFrame, reference: Reference, extractor: SentenceExtractor
) -> None:
    replay = PassesConfig(backend="replay", model="tiny")
    asked = request_sentences(studies, PROMPTS, CONFIG)
    with pytest.raises(UserError, match=r"100\.0% of the answers cannot be used \(3 missing"):
        infer(tmp_path, asked, "sentences", {}, replay)
    quarantined = PassesConfig(backend="endpoint", model="tiny", url="http://x", quarantine=["0"])
    tables = infer(tmp_path, asked, "sentences", {}, quarantined)
    answers = parsing.load_answers(*tables, "sentences")
    _, status, ledger = parsing.parse_sentences(studies, answers, reference, extractor)
    assert set(status["status"]) == {"failed"}
    assert ledger["reason"].to_list() == ["missing_response"] * 3 + ["no_report"]
    made = infer(tmp_path, asked, "sentences", {}, CONFIG)[1][0].read_bytes()
    assert infer(tmp_path, asked, "sentences", {}, replay)[1][0].read_bytes() == made


def test_a_lost_store_is_named(tmp_path: Path, studies: pl.DataFrame) -> None:
    asked = request_sentences(studies, PROMPTS, CONFIG)
    tables = infer(tmp_path, asked, "sentences", {}, CONFIG)
    (tmp_path / "responses" / "sentences" / "0.jsonl").unlink()
    with pytest.raises(UserError, match="is gone or was changed; bring the folder back"):
        parsing.load_answers(*tables, "sentences")

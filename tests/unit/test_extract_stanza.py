"""Stanza from a local folder: a small tokenizer is trained here and then really used, offline."""

from __future__ import annotations

import json
import os
import random
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from graph_fixtures import reference

from cxrqba.config import SentencesConfig, SiteConfig
from cxrqba.errors import UserError
from cxrqba.extract.sentences import SentenceExtractor
from cxrqba.extract.splitters import StanzaSplitter

pytestmark = pytest.mark.models

STEPS = 200
"""Training steps: half a minute, enough to learn where invented sentences end."""

FINDINGS = ("effusion", "pneumothorax", "consolidation", "edema", "nodule", "opacity", "fracture")
PLACES = ("left base", "right apex", "left upper lobe", "hila", "mediastinum", "right lung")


def sentence(draw: random.Random) -> list[str]:
    """Words of an invented sentence; its last is the full stop."""
    finding, place = draw.choice(FINDINGS), draw.choice(PLACES)
    size = f"{draw.randint(1, 9)}.{draw.randint(1, 9)}"
    return draw.choice(
        [
            ["There", "is", "no", finding, "."],
            ["No", finding, "in", "the", *place.split(), "."],
            ["A", size, "cm", finding, "is", "seen", "in", "the", *place.split(), "."],
            ["The", *place.split(), "is", "clear", "."],
            [
                "Dr.",
                "___",
                "was",
                "told",
                "of",
                "the",
                finding,
                "at",
                "9",
                "a.m.",
                "on",
                "___",
                ".",
            ],
            ["Unchanged", finding, "."],
        ]
    )


def write_corpus(folder: Path, name: str, documents: int, draw: random.Random) -> None:
    """Text, a label a character (1 ends a word, 2 a sentence) and CoNLL-U, as Stanza trains on."""
    texts, labels, conllu = [], [], []
    for _ in range(documents):
        text, label = "", ""
        for _ in range(draw.randint(1, 5)):
            tokens = sentence(draw)
            for i, token in enumerate(tokens):
                before = " " if text and token != "." else ""
                end = "2" if i == len(tokens) - 1 else "1"
                text += before + token
                label += "0" * (len(before) + len(token) - 1) + end
            rows = "\n".join(
                f"{i}\t{t}\t_\t_\t_\t_\t{i - 1}\tdep\t_\t_" for i, t in enumerate(tokens, start=1)
            )
            conllu.append(f"# text = {' '.join(tokens)[:-2]}.\n{rows}\n")
        texts.append(text)
        labels.append(label)
    (folder / f"{name}.txt").write_text("\n\n".join(texts) + "\n")
    (folder / f"{name}.toklabels").write_text("\n\n".join(labels) + "\n")
    (folder / f"{name}.conllu").write_text("\n".join(conllu) + "\n")
    (folder / f"{name}-mwt.json").write_text("[]")


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as ``sentences.model`` expects it, with a tokenizer trained on invented text."""
    pytest.importorskip("stanza", reason="runs under `make test-models`")
    work = tmp_path_factory.mktemp("stanza")
    draw = random.Random(0)
    write_corpus(work, "train", 300, draw)
    write_corpus(work, "dev", 20, draw)
    options = {
        "mode": "train",
        "lang": "en",
        "shorthand": "en_cxr",
        "device": "cpu",
        "seed": "0",
        "txt_file": "train.txt",
        "label_file": "train.toklabels",
        "mwt_json_file": "dev-mwt.json",
        "dev_txt_file": "dev.txt",
        "dev_label_file": "dev.toklabels",
        "dev_conll_gold": "dev.conllu",
        "conll_file": "dev.out.conllu",
        "save_dir": "saved",
        "save_name": "tokenizer.pt",
        "steps": str(STEPS),
        "eval_steps": str(STEPS // 2),
        "batch_size": "16",
        "emb_dim": "16",
        "hidden_dim": "32",
    }
    command = [sys.executable, "-m", "stanza.models.tokenizer", "--no_use_mwt"]
    command += [part for name, value in options.items() for part in (f"--{name}", value)]
    one_core = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, cwd=work, env=one_core, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    folder = work / "resources"
    target = folder / "en" / "tokenize" / "cxr.pt"
    target.parent.mkdir(parents=True)
    shutil.copy(work / "saved" / "tokenizer.pt", target)
    resources = {
        "en": {
            "lang_name": "English",
            "tokenize": {"cxr": {"md5": "local"}},
            "default_processors": {"tokenize": "cxr"},
            "default_dependencies": {},
            "packages": {"default": {"tokenize": "cxr"}},
        },
        "url": "local",
    }
    (folder / "resources.json").write_text(json.dumps(resources))
    return folder


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise OSError("the network was used")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def test_the_model_splits_without_the_network(model: Path) -> None:
    texts = ["There is no edema. A 3.5 cm nodule is seen in the left base.", "Unchanged opacity."]
    found = StanzaSplitter(str(model), "en").split(texts)
    assert [[t[a:b] for a, b in spans] for t, spans in zip(texts, found, strict=True)] == [
        ["There is no edema.", "A 3.5 cm nodule is seen in the left base."],
        ["Unchanged opacity."],
    ]
    assert StanzaSplitter(str(model), "en").split([]) == []


def test_the_sentence_pass_with_stanza_keeps_every_character(model: Path) -> None:
    config = SentencesConfig(backend="stanza", model=str(model))
    extractor = SentenceExtractor(reference(), SiteConfig(), config)
    report = (
        "INDICATION: Seen by [**Dr. Name**] today. Cough.\n"
        "FINDINGS: There is no effusion. The right lung is clear; no edema in the left base.\n"
        " There is no\n - nodule\n - fracture\n"
        "IMPRESSION: Unchanged opacity. \u00df\u2028\u0301 3.5 cm\n"
    )
    rows = extractor.extract("s1", report)
    plain = SentenceExtractor(reference(), SiteConfig()).extract("s1", report)
    for row in rows:
        assert report[row["start"] : row["end"]] == row["sentence"]
    assert [r["sent_id"] for r in rows] == [f"S{i:02d}" for i in range(1, len(rows) + 1)]
    assert "".join("".join(r["sentence"].split()) for r in rows) == "".join(
        "".join(r["sentence"].split()) for r in plain
    )
    assert any("no\n - nodule\n - fracture" in r["sentence"] for r in rows)
    for row in rows:  # parts inherit section and cluster
        whole = next(p for p in plain if p["start"] <= row["start"] < p["end"])
        assert (row["section_type"], row["cluster"]) == (whole["section_type"], whole["cluster"])


def test_a_folder_without_a_model_is_named(tmp_path: Path, model: Path) -> None:
    with pytest.raises(UserError, match=r"no resources\.json"):
        StanzaSplitter(str(tmp_path), "en")
    with pytest.raises(UserError, match="cannot load a 'xx' tokenizer"):
        StanzaSplitter(str(model), "xx")
    shutil.copytree(model, tmp_path / "damaged")
    (tmp_path / "damaged" / "en" / "tokenize" / "cxr.pt").write_bytes(b"no model")
    with pytest.raises(UserError, match="cannot load"):
        StanzaSplitter(str(tmp_path / "damaged"), "en")
    assert len(SentencesConfig(backend="stanza", model=str(model)).files()) == 2

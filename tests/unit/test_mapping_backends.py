"""Choosing a backend: what is missing is said in one line."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
from pydantic import ValidationError
from test_mapping_contract import model_folder

from cxrqba.config import EmbeddingConfig
from cxrqba.errors import UserError
from cxrqba.mapping.backends import load_backend
from cxrqba.mapping.embeddings import SentenceBackend


def configured(folder: Path) -> EmbeddingConfig:
    return EmbeddingConfig(backend="sentence_transformers", model=str(folder))


def test_lexical_is_the_default_and_needs_nothing() -> None:
    assert load_backend(EmbeddingConfig()).name == "lexical"
    assert EmbeddingConfig().threshold == 0.5
    assert (EmbeddingConfig().gpus, EmbeddingConfig().files()) == (0, [])


def test_a_model_is_asked_for() -> None:
    with pytest.raises(ValidationError, match="needs 'model'"):
        EmbeddingConfig(backend="sentence_transformers")


def test_a_gpu_is_asked_for_only_with_cuda(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").touch()
    config = configured(tmp_path)
    assert config.gpus == 0
    assert config.model_copy(update={"device": "cuda:1"}).gpus == 1
    assert config.files() == [str(tmp_path / "model.safetensors")]


def test_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"nowhere: no such folder.*docs/mapping\.md"):
        load_backend(configured(tmp_path / "nowhere"))


def test_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(importlib, "import_module", absent)
    with pytest.raises(UserError, match=r"pip install 'cxr-qba\[embedding\]'.*embedding\.yaml"):
        load_backend(configured(tmp_path))


@pytest.mark.models
def test_folder_without_a_model_is_named(tmp_path: Path) -> None:
    model_folder()
    with pytest.raises(UserError, match="cannot be loaded on device 'cpu'"):
        load_backend(configured(tmp_path))


@pytest.mark.models
def test_another_size_of_vectors_is_another_model() -> None:
    with pytest.raises(UserError, match="vectors of 384 values, not the 768"):
        SentenceBackend(str(model_folder()), "cpu", 8, 768)


@pytest.mark.models
def test_unknown_device_is_named() -> None:
    with pytest.raises(UserError, match="cannot be loaded on device 'cuda:7'"):
        SentenceBackend(str(model_folder()), "cuda:7", 8, None)


@pytest.mark.models
def test_the_model_is_described_for_the_record() -> None:
    described = SentenceBackend(str(model_folder()), "cpu", 8, 384).describe()
    assert described["dimension"] == 384
    assert len(described["weights_sha256"]) == 64
    assert {"model", "sentence_transformers", "torch"} <= described.keys()

"""The choice of a backend of entity mapping from the settings."""

from __future__ import annotations

from cxrqba.config import EmbeddingConfig
from cxrqba.mapping.embeddings import SentenceBackend
from cxrqba.mapping.lexical import LexicalBackend
from cxrqba.mapping.similarity import Backend


def load_backend(config: EmbeddingConfig) -> Backend:
    """The backend that ``config`` names; :class:`UserError` if its model cannot be loaded."""
    if config.backend == "sentence_transformers":
        return SentenceBackend(
            config.model or "", config.device, config.batch_size, config.dimension
        )
    return LexicalBackend()

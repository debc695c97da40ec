"""Backend ``lexical`` of entity mapping: cosine of TF-IDF weights of character n-grams.

Needs no model: a stand-in for the text embeddings of the paper (Sec. E.1.3) that runs anywhere and
bears misspellings, other word order and other endings, but knows no synonyms beyond the reference.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cxrqba.mapping.similarity import Form

NGRAMS = (2, 3, 4)

MIN_HEAD = 0.1
"""The words of what must bear some likeness, not those of where alone: a cosine."""


class LexicalBackend:
    """Character n-grams within words."""

    name = "lexical"

    def index(self, candidates: Sequence[Form]) -> LexicalIndex:
        """Index of candidates."""
        return LexicalIndex(candidates)

    def describe(self) -> dict[str, Any]:
        """The n-grams compared."""
        return {"ngrams": list(NGRAMS)}


class LexicalIndex:
    """Candidates of one kind, whole and by their words of what."""

    def __init__(self, candidates: Sequence[Form]):
        self._whole = NgramIndex([c.text for c in candidates])
        self._heads = NgramIndex([c.head for c in candidates])

    def scores(self, forms: Sequence[Form]) -> NDArray[np.float64]:
        """Cosines (forms, candidates); 0 where only words of place or of the region are alike."""
        scores = self._whole.cosines([f.text for f in forms])
        asked = [i for i, f in enumerate(forms) if f.head != f.text]
        if asked:
            heads = self._heads.cosines([forms[i].head for i in asked])
            scores[asked] = np.where(heads >= MIN_HEAD, scores[asked], 0.0)
        return scores


class NgramIndex:
    """TF-IDF weights of the n-grams of strings."""

    def __init__(self, candidates: Sequence[str]):
        self._grams: dict[str, int] = {}
        counted = [_counted(c) for c in candidates]
        for grams in counted:
            for gram in grams:
                self._grams.setdefault(gram, len(self._grams))
        seen = np.zeros(len(self._grams))
        for grams in counted:
            seen[[self._grams[g] for g in grams]] += 1
        self._idf = np.log((1 + len(candidates)) / (1 + seen)) + 1
        self._unseen = float(np.log(1 + len(candidates)) + 1)  # n-grams no candidate has
        self._matrix = self._weights(candidates).T.tocsr()

    def cosines(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Cosines (texts, candidates)."""
        return np.asarray((self._weights(texts) @ self._matrix).todense())

    def _weights(self, normals: Sequence[str]) -> sparse.csr_matrix:
        """TF-IDF rows of unit length (n, n-grams); unseen n-grams count in the length only.

        A text is the sum of its words, so the n-grams of a word are looked up once.
        """
        vocabulary: dict[str, int] = {}
        columns: list[int] = []
        ends = [0]
        for normal in normals:
            columns += [vocabulary.setdefault(w, len(vocabulary)) for w in normal.split()]
            ends.append(len(columns))
        ones = np.ones(len(columns))
        counts = sparse.csr_matrix((ones, columns, ends), shape=(len(normals), len(vocabulary)))
        counts.sum_duplicates()
        by_word, unseen = self._word_weights(vocabulary)
        weights = counts @ by_word
        weights.sort_indices()
        squares = np.asarray(weights.multiply(weights).sum(axis=1)).ravel()
        squares += counts.multiply(counts) @ unseen
        length = np.sqrt(np.where(squares > 0, squares, 1.0))
        return sparse.csr_matrix(sparse.diags(1 / length) @ weights)

    def _word_weights(
        self, vocabulary: Iterable[str]
    ) -> tuple[sparse.csr_matrix, NDArray[np.float64]]:
        """Weights (words, n-grams) and, per word, the squared weights of n-grams never seen."""
        data: list[float] = []
        columns: list[int] = []
        ends = [0]
        unseen: list[float] = []
        for word in vocabulary:
            rest = 0.0
            for gram, count in _counted(word).items():
                column = self._grams.get(gram)
                if column is None:
                    rest += (count * self._unseen) ** 2
                else:
                    columns.append(column)
                    data.append(count * float(self._idf[column]))
            unseen.append(rest)
            ends.append(len(columns))
        matrix = sparse.csr_matrix((data, columns, ends), shape=(len(unseen), len(self._grams)))
        return matrix, np.array(unseen)


def _counted(normal: str) -> dict[str, int]:
    """Counts of the n-grams within the words of a normal form (of long words, their start)."""
    counts: dict[str, int] = {}
    for word in normal.split():
        padded = f" {word[:64]} "
        for n in NGRAMS:
            for i in range(len(padded) - n + 1):
                gram = padded[i : i + n]
                counts[gram] = counts.get(gram, 0) + 1
    return counts

"""What a split gives away of another: patients in both, reports and answers that nearly repeat.

Near-duplicates share most of their triples of words. MinHash finds candidates, whose Jaccard index
is then computed exactly: a pair that is named is one; a pair near the limit may be overlooked.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import polars as pl
from datasketch import MinHash, MinHashLSH

from cxrqba.schema import LEAK_PAIRS
from cxrqba.tables import frame

SPLITS = ("train", "validate", "test")
"""A later split must not repeat an earlier one; other names follow by the alphabet."""

WORDS_OF_SHINGLE = 3
_PERMUTATIONS = 128
_SLACK = 0.2
_WEIGHTS = (0.1, 0.9)
"""Candidates are sought below the limit, and one overlooked is nine times as bad as one compared in
vain: at a Jaccard index of 0.8, the usual limit, one pair in ten thousand is overlooked."""
_WORD = re.compile(r"[^\W_]+")

Shingles = frozenset[str]


def ordered(splits: Iterable[str]) -> list[str]:
    """Names of splits, earlier ones first."""
    return sorted(set(splits), key=lambda s: (SPLITS.index(s) if s in SPLITS else len(SPLITS), s))


def shared_patients(studies: pl.DataFrame) -> pl.DataFrame:
    """LEAK_PAIRS of patients in several splits; ``studies`` has patient_id and split."""
    known = studies.drop_nulls(["patient_id", "split"])
    by_patient = known.group_by("patient_id").agg(pl.col("split").unique()).sort("patient_id")
    rows = []
    for patient_id, splits in by_patient.filter(pl.col("split").list.len() > 1).iter_rows():
        first, *later = ordered(splits)
        rows += [
            {
                "check": "patients",
                "split": split,
                "item": patient_id,
                "other_split": first,
                "other_item": patient_id,
                "similarity": 1.0,
            }
            for split in later
        ]
    return frame(rows, LEAK_PAIRS)


def repeated_texts(texts: pl.DataFrame, check: str, limit: float) -> pl.DataFrame:
    """LEAK_PAIRS of texts of a later split with the nearest of all earlier ones, if near enough.

    ``texts`` has split, item and text; ``limit`` is the least Jaccard index in (0, 1].
    """
    splits = ordered(texts["split"].unique())
    rows = []
    for place, split in enumerate(splits[1:], start=1):
        held = dict(texts.filter(pl.col("split") == split).select("item", "text").iter_rows())
        earlier = texts.filter(pl.col("split").is_in(splits[:place]))
        split_of = dict(earlier.select("item", "split").iter_rows())
        others = earlier.select("item", "text").sort("item").iter_rows()
        nearest = nearest_texts(held, others, limit)
        rows += [
            {
                "check": check,
                "split": split,
                "item": item,
                "other_split": split_of[other],
                "other_item": other,
                "similarity": similarity,
            }
            for item, (other, similarity) in sorted(nearest.items())
        ]
    return frame(rows, LEAK_PAIRS)


def nearest_texts(
    held: Mapping[str, str], others: Iterable[tuple[str, str]], limit: float
) -> dict[str, tuple[str, float]]:
    """Item of ``held`` -> the nearest item of ``others`` and their Jaccard index, if ``limit``.

    Only ``held`` is kept in memory. Of equals the first one counts.
    """
    items: dict[Shingles, list[str]] = {}
    for item, text in held.items():
        items.setdefault(shingles(text), []).append(item)
    distinct = [s for s in items if s]
    sought = max(0.1, limit - _SLACK)
    index = MinHashLSH(threshold=sought, num_perm=_PERMUTATIONS, weights=_WEIGHTS)
    for number, signature in enumerate(_signatures(distinct)):
        index.insert(number, signature)
    best: dict[int, tuple[str, float]] = {}
    for other, shingled, signature in _signed(others):
        for number in index.query(signature):
            similarity = jaccard(distinct[number], shingled)
            if similarity >= limit and similarity > best.get(number, ("", 0.0))[1]:
                best[number] = other, similarity
    return {item: found for number, found in best.items() for item in items[distinct[number]]}


def shingles(text: str) -> Shingles:
    """All runs of three words, without case; a shorter text is one run; none without words."""
    words = _WORD.findall(text.lower())
    if len(words) <= WORDS_OF_SHINGLE:
        return frozenset([" ".join(words)] if words else [])
    starts = range(len(words) - WORDS_OF_SHINGLE + 1)
    return frozenset(" ".join(words[i : i + WORDS_OF_SHINGLE]) for i in starts)


def jaccard(first: Shingles, second: Shingles) -> float:
    """Shared over all; 0 for two empty sets."""
    every = len(first | second)
    return len(first & second) / every if every else 0.0


def _signatures(shingled: Sequence[Shingles]) -> Iterator[MinHash]:
    encoded = ([s.encode() for s in one] for one in shingled)
    yield from MinHash.generator(encoded, num_perm=_PERMUTATIONS, seed=1)


def _signed(others: Iterable[tuple[str, str]]) -> Iterator[tuple[str, Shingles, MinHash]]:
    """Each distinct text once, by its first item; of texts seen only a digest is kept."""
    seen: set[bytes] = set()
    for item, text in others:
        shingled = shingles(text)
        joined = "|".join(sorted(shingled)).encode()
        digest = hashlib.blake2b(joined, digest_size=16).digest()
        if shingled and digest not in seen:
            seen.add(digest)
            yield item, shingled, next(_signatures([shingled]))

"""Which regions and findings a study is asked for, and seeded choices (paper Sec. E.2.2).

Default ones, mentioned ones, their parents, and a few sampled so that positive and negative
answers balance over the corpus. Every draw depends on the seed and the study alone, never on the
shard or on the order of studies.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Collection, Mapping, Sequence

import numpy as np


def study_generator(seed: int, study_id: str) -> np.random.Generator:
    """The random numbers of one study."""
    digest = hashlib.sha256(f"{seed}:{study_id}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "big"))


def sample(
    weights: Mapping[str, float], excluded: Collection[str], count: int, random: np.random.Generator
) -> list[str]:
    """Draw ``count`` names without replacement, by weight, none of ``excluded``; sorted.

    Exponential keys (Efraimidis and Spirakis 2006): every name gets one random number whether it
    is excluded or not, so that one study's draw changes as little as possible with its mentions.
    """
    names = sorted(weights)
    if not names or count == 0:
        return []
    keys = random.exponential(size=len(names)) / np.array([weights[n] for n in names])
    order = (names[i] for i in np.argsort(keys, kind="stable"))
    drawn: list[str] = []
    for name in order:
        if name not in excluded:
            drawn.append(name)
            if len(drawn) == count:
                break
    return sorted(drawn)


def choose(options: Sequence[str], key: str) -> str:
    """One of ``options``, the same for the same key in every run."""
    if len(options) == 1:
        return options[0]
    return options[zlib.crc32(key.encode()) % len(options)]

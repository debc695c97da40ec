"""Which regions and findings a study is asked for, and seeded choices (paper Sec. E.2.2).

Default ones, mentioned ones, their parents, and a few sampled so that positive and negative
answers balance over the corpus. Every draw depends on the seed and the study alone, never on the
shard or on the order of studies.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Collection, Mapping

import numpy as np


def study_generator(seed: int, study_id: str) -> np.random.Generator:
    """The random numbers of one study."""
    digest = hashlib.sha256(f"{seed}:{study_id}".encode()).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest[:16], "big")))


class Sampler:
    """Draws names without replacement, each by its weight.

    Exponential keys (Efraimidis and Spirakis 2006): every name gets one random number whether it
    is excluded or not, so that one study's draw changes as little as possible with its mentions.
    """

    def __init__(self, weights: Mapping[str, float]):
        self.names = sorted(weights)
        self._weights = np.array([weights[n] for n in self.names])

    def draw(self, excluded: Collection[str], count: int, random: np.random.Generator) -> list[str]:
        """``count`` names (fewer where there are no more), none of ``excluded``; sorted."""
        if not self.names or count == 0:
            return []
        keys = random.standard_exponential(len(self.names)) / self._weights
        drawn: list[str] = []
        for place in keys.argsort(kind="stable").tolist():
            if self.names[place] not in excluded:
                drawn.append(self.names[place])
                if len(drawn) == count:
                    break
        return sorted(drawn)


class Chooser:
    """Chooses wordings, the same for the same study, seed and question in every run."""

    def __init__(self, seed: int, study_id: str):
        self._start = zlib.crc32(f"{seed}\x1f{study_id}".encode())

    def key(self, template_id: str, value: str) -> int:
        """The key of one question of the study."""
        return zlib.crc32(f"\x1f{template_id}\x1f{value}".encode(), self._start)


def choose(options: tuple[str, ...], key: int) -> str:
    """One of ``options`` by ``key``."""
    return options[key % len(options)]

"""All that training draws: which words are read as unknown, which sentence comes when, which hidden units are kept.

Every replicate draws from its own generator, in the same order as if it were alone, so its company changes nothing for
it. What replicates in one program must share, the sequence of the buckets, is drawn from a generator without a seed of
the user's.

NumPy draws, on the host, while the device is busy with what was drawn before: the same numbers on every device.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rnn.batches import PAD, Batch, Vocabulary

RUN = 64  # sentences a compiled call at most: long enough to hide the call, short enough to mix the lengths well
RUN_TOKENS = 65_536  # and padded tokens a call at most (or one sentence): their dropout masks are drawn together
STEPS = 1 << 16  # a hidden unit is dropped when a 16-bit number is below a threshold: cheaper than a float


@dataclass(frozen=True)
class WordDropout:
    """Training words that are now and then read as unknown, so that a rare word's context counts more than the word.

    A word that occurs n times in training is read as unknown with the probability alpha / (alpha + n), drawn anew for
    every epoch (Kiperwasser and Goldberg 2016).

    Args:
        chance: that probability for every id, [V].
        unknown: the id it is then read as, [V].
    """

    chance: np.ndarray
    unknown: np.ndarray

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]], vocabulary: Vocabulary, *, alpha: float) -> WordDropout:
        """For the counts of some training sentences."""
        counts = np.bincount(np.concatenate(rows), minlength=len(vocabulary))
        return cls(alpha / np.maximum(alpha + counts, 1.0), vocabulary.unknown())

    def __call__(self, ids: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """The ids with some replaced. Padding is always kept."""
        dropped = (random.random(ids.shape) < self.chance[ids]) & (ids != PAD)
        return np.where(dropped, self.unknown[ids], ids)


class Run(NamedTuple):
    """The sentences of one compiled call.

    Attributes:
        bucket: the number of their bucket.
        order: which of its sentences, and in which order, for each replicate, [N, R] int32.
        used: how many entries of a row count; the rest are 0.
        masks: which hidden units each sentence keeps at each token, [N, R, T, H] bool.
    """

    bucket: int
    order: np.ndarray
    used: int
    masks: np.ndarray


class Draws:
    """The draws of N replicates over the same buckets.

    Args:
        buckets: the training sentences.
        hidden: hidden units, H.
        drops: each replicate's word dropout.
        rates: each replicate's dropout of hidden units, a probability.
        seeds: each replicate's seed.
    """

    def __init__(
        self,
        buckets: Sequence[Batch],
        hidden: int,
        *,
        drops: Sequence[WordDropout],
        rates: Sequence[float],
        seeds: Sequence[int],
    ) -> None:
        self._buckets, self._hidden, self._drops = buckets, hidden, drops
        self._thresholds = [threshold(rate) for rate in rates]
        self._own = [np.random.default_rng(seed) for seed in seeds]
        self._common = np.random.default_rng(0)
        workers = min(len(seeds), os.cpu_count() or 1)
        self._pool = ThreadPoolExecutor(workers) if workers > 1 else None  # NumPy draws without Python's lock

    def words(self) -> list[np.ndarray]:
        """An epoch's word ids, some read as unknown: for each bucket, [N, S, T + 2m]."""
        drawn = [np.empty((len(self._own), *bucket.ids.shape), np.int32) for bucket in self._buckets]

        def draw(n: int) -> None:
            for ids, bucket in zip(drawn, self._buckets, strict=True):
                ids[n] = self._drops[n](bucket.ids, self._own[n])

        self._for_each(draw)
        return drawn

    def runs(self) -> Iterator[Run]:
        """An epoch's runs, shuffled; each sentence is in one of them."""
        shuffled = [
            np.stack([random.permutation(len(bucket.lengths)) for random in self._own]).astype(np.int32)
            for bucket in self._buckets
        ]
        starts = [
            (number, start)
            for number, bucket in enumerate(self._buckets)
            for start in range(0, len(bucket.lengths), run_size(bucket))
        ]
        for i in self._common.permutation(len(starts)):
            number, start = starts[i]
            yield self._run(number, shuffled[number][:, start : start + run_size(self._buckets[number])])

    def _run(self, number: int, visited: np.ndarray) -> Run:
        bucket, count = self._buckets[number], visited.shape[1]
        shape = (len(self._own), run_size(bucket))
        order = np.zeros(shape, np.int32)
        order[:, :count] = visited
        masks = np.zeros((*shape, bucket.tags.shape[1], self._hidden), bool)

        def draw(n: int) -> None:
            draw_mask(masks[n, :count], self._thresholds[n], self._own[n])

        self._for_each(draw)
        return Run(number, order, count, masks)

    def _for_each(self, draw: Callable[[int], None]) -> None:
        for _ in (self._pool.map if self._pool else map)(draw, range(len(self._own))):
            pass


def threshold(rate: float) -> int:
    """The number of the 65,536 16-bit numbers at which a hidden unit is dropped; never all of them."""
    return min(round(rate * STEPS), STEPS - 1)


def draw_mask(mask: np.ndarray, dropped: int, random: np.random.Generator) -> None:
    """Fill a contiguous mask: False with the probability ``dropped / STEPS``, each entry by itself."""
    words = random.integers(0, 1 << 64, -(-mask.size // 4), dtype=np.uint64)  # four entries a word
    np.greater_equal(words.view(np.uint16)[: mask.size], dropped, out=mask.reshape(-1))


def run_size(bucket: Batch) -> int:
    """How many sentences of a bucket one compiled call takes at most, R."""
    sentences, length = bucket.tags.shape
    return max(1, min(RUN, sentences, RUN_TOKENS // length))

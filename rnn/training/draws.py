"""Random numbers of training: word dropout, the order of the sentences, masks and noise of the network.

Every replicate has its own generator and uses it in the same order as in a program of one, so that the other replicates
change nothing for it. The order of the buckets, which replicates in one program share, has a fixed seed.

NumPy makes the numbers on the host while the device works on the run before: they are the same on every device.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rnn.batching import Batch, Row
from rnn.network import Draw
from rnn.vocab import PAD, Vocabulary

STEPS = 1 << 16  # a hidden unit is dropped if a 16-bit number is below a threshold: cheaper than a float


@dataclass(frozen=True)
class WordDropout:
    """Word dropout: reads rare training words as unknown at random, to train the unknown words' vectors.

    A word that occurs n times in training is read as unknown with the probability alpha / (alpha + n), drawn anew for
    every epoch (Kiperwasser and Goldberg 2016).

    Args:
        chance: that probability for every id, [V].
        unknown: id of the unknown word in its place, [V].
    """

    chance: np.ndarray
    unknown: np.ndarray

    @classmethod
    def of(
        cls, rows: Sequence[Row], vocabulary: Vocabulary, *, alpha: float, margin: int, name: str = "words"
    ) -> WordDropout:
        """Count the words of training rows.

        Args:
            rows: the rows.
            vocabulary: the vocabulary of the ids.
            alpha: strength; 0 for no dropout.
            margin: words around a sentence in a row, which are not counted.
            name: the input with the ids.
        """
        words = [row.inputs[name][margin : margin + row.length] for row in rows]
        counts = np.bincount(np.concatenate(words), minlength=len(vocabulary))
        return cls(alpha / np.maximum(alpha + counts, 1.0), vocabulary.unknown())

    def __call__(self, ids: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """Replace some ids, never padding."""
        dropped = (random.random(ids.shape) < self.chance[ids]) & (ids != PAD)
        return np.where(dropped, self.unknown[ids], ids)


class Drawn(NamedTuple):
    """Sentences and random numbers of one compiled call.

    Attributes:
        bucket: index of the sentences' bucket.
        order: indices of its sentences for each replicate, in order, [N, R] int32.
        used: number of valid entries of a row; the others are 0.
        draws: the network's random numbers for each sentence, by name: [N, R, *shape]; masks as bool.
    """

    bucket: int
    order: np.ndarray
    used: int
    draws: Mapping[str, np.ndarray]


class Draws:
    """Random numbers of N replicates, with one generator each.

    Args:
        seeds: each replicate's seed.
    """

    def __init__(self, seeds: Sequence[int]) -> None:
        self._own = [np.random.default_rng(seed) for seed in seeds]
        self._common = np.random.default_rng(0)
        workers = min(len(seeds), os.cpu_count() or 1)
        self._pool = ThreadPoolExecutor(workers) if workers > 1 else None  # NumPy releases Python's lock

    def words(self, ids: Sequence[np.ndarray], drops: Sequence[WordDropout]) -> list[np.ndarray]:
        """Word ids of an epoch after word dropout: [N, S, ...] for each bucket's [S, ...]."""
        drawn = [np.empty((len(self._own), *bucket.shape), np.int32) for bucket in ids]

        def draw(n: int) -> None:
            for words, bucket in zip(drawn, ids, strict=True):
                words[n] = drops[n](bucket, self._own[n])

        self._for_each(draw)
        return drawn

    def runs(
        self,
        buckets: Sequence[Batch],
        wanted: Sequence[Mapping[str, Draw]],
        rates: Sequence[Mapping[str, float]],
        *,
        size: Callable[[Batch], int],
    ) -> Iterator[Drawn]:
        """Shuffle the sentences of an epoch into runs; each sentence is in one of them.

        Args:
            buckets: the training sentences.
            wanted: the network's requests at each bucket's length, by name.
            rates: each replicate's dropout rates, by the same names.
            size: bucket -> largest number of sentences in a run, R.
        """
        sizes = [size(bucket) for bucket in buckets]
        shuffled = [
            np.stack([random.permutation(len(bucket.lengths)) for random in self._own]).astype(np.int32)
            for bucket in buckets
        ]
        starts = [
            (number, start)
            for number, bucket in enumerate(buckets)
            for start in range(0, len(bucket.lengths), sizes[number])
        ]
        for i in self._common.permutation(len(starts)):
            number, start = starts[i]
            order, count = shuffled[number][:, start : start + sizes[number]], sizes[number]
            draws = self._drawn(wanted[number], rates, used=order.shape[1], size=count)
            whole = np.pad(order, ((0, 0), (0, count - order.shape[1])))
            yield Drawn(number, whole, order.shape[1], draws)

    def _drawn(
        self, wanted: Mapping[str, Draw], rates: Sequence[Mapping[str, float]], *, used: int, size: int
    ) -> dict[str, np.ndarray]:
        """Random numbers for ``used`` sentences, in arrays for ``size``."""
        replicates = len(self._own)
        found = {
            name: np.zeros((replicates, size, *draw.shape), bool if draw.kind == "keep" else np.float32)
            for name, draw in wanted.items()
        }

        def draw_all(n: int) -> None:
            for name, draw in wanted.items():
                _fill(found[name][n, :used], draw.kind, rates[n].get(name, 0.0), self._own[n])

        self._for_each(draw_all)
        return found

    def _for_each(self, draw: Callable[[int], None]) -> None:
        for _ in (self._pool.map if self._pool else map)(draw, range(len(self._own))):
            pass


def _fill(array: np.ndarray, kind: str, rate: float, random: np.random.Generator) -> None:
    if kind == "keep":
        draw_mask(array, threshold(rate), random)
    elif kind == "normal":
        random.standard_normal(out=array, dtype=np.float32)
    else:
        array[...] = random.gumbel(size=array.shape)


def noise(
    wanted: Mapping[str, Draw], names: Collection[str], count: int, random: np.random.Generator
) -> dict[str, np.ndarray]:
    """Noise for sentences of one length, by name: [count, *shape].

    Args:
        wanted: the network's requests.
        names: the requests to serve; no dropout masks.
        count: number of sentences.
        random: the generator.

    Raises:
        ValueError: a name is that of a dropout mask.
    """
    found = {name: np.empty((count, *wanted[name].shape), np.float32) for name in names}
    for name, array in found.items():
        if wanted[name].kind == "keep":
            raise ValueError(f"{name} is a mask of dropout, not noise: leave it out")
        _fill(array, wanted[name].kind, 0.0, random)
    return found


def threshold(rate: float) -> int:
    """Number of the 65,536 16-bit numbers that drop a hidden unit; never all of them."""
    return min(round(rate * STEPS), STEPS - 1)


def draw_mask(mask: np.ndarray, dropped: int, random: np.random.Generator) -> None:
    """Fill a contiguous mask with independent entries: False with the probability ``dropped / STEPS``."""
    words = random.integers(0, 1 << 64, -(-mask.size // 4), dtype=np.uint64)  # four entries a word
    np.greater_equal(words.view(np.uint16)[: mask.size], dropped, out=mask.reshape(-1))


def kept_scale(rate: float) -> float:
    """Factor of kept units at a dropout rate, for a mean of 1."""
    return STEPS / (STEPS - threshold(rate))

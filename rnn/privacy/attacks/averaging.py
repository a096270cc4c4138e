"""Inversion by averaging: the attacker finds the name of a published vector by trying candidates.

The attacker has the frozen encoder, substitutes each candidate for the name, encodes the sentence many times, and
chooses the candidate whose mean is nearest to the published vectors. The remaining words are assumed to be known, the
worst case. The distance covers the vectors of the name and of the tokens around it, since a recurrent encoder spreads a
word: the sum of ((mean - published) / deviation)^2, with the standard deviation of the noise in each dimension, which
the attacker can measure. On representations with trained noise, a distance with all covariances of the noise was no
better. Encoding without noise is about as good as the mean of 256 samples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from crfdeid.errors import SettingError
from crfdeid.evaluation.tokens import Proportion
from crfdeid.validation import require_counts
from features.tokens import Sentence
from rnn.privacy.attacks.encoders import SentenceEncoder, noise_deviation
from rnn.privacy.attacks.targets import Target, sample_targets
from rnn.processors.inputs import casing

Candidates = Callable[[str], Sequence[str]]
"""Name -> candidates, to which the name itself is added."""
OnTarget = Callable[[int, int], None]
"""Callback with the number of attacked names so far and in all."""

_TOKENS = 1 << 16  # encoded in one call: 13 MB of vectors of size 50


@dataclass(frozen=True, kw_only=True)
class AveragingSettings:
    """Effort of the attack.

    Args:
        names: largest number of attacked names.
        draws: numbers of noise samples for each candidate; 0 for one encoding without noise.
        published: numbers of published encodings of the same sentence; the first is used with all ``draws``, the others
            with the most.
        encodings: largest number of encodings of one sentence, over all candidates, for each number of draws. If they
            do not suffice, the candidates nearest without noise have them, and the others follow in that order.
        around: tokens on either side of the name that are compared too.

    Raises:
        UsageError: a value cannot work.
    """

    names: int = 200
    draws: tuple[int, ...] = (0, 1, 16, 256)
    published: tuple[int, ...] = (1, 2, 8)
    encodings: int = 3_200
    around: int = 1

    def __post_init__(self) -> None:
        require_counts(self, "names", "encodings")
        require_counts(self, "around", least=0)
        if not self.draws or min(self.draws) < 0 or not self.published or min(self.published) < 1:
            raise SettingError("draws and published are numbers: give one or more of each, published from 1")

    @property
    def most_draws(self) -> int:
        """Largest number of noise samples."""
        return max(self.draws)


@dataclass(frozen=True, slots=True)
class Hits:
    """Shares of right names ranked first, and among the first ten.

    Args:
        top1: names ranked first.
        top10: names ranked among the first ten.
        chance: expected share ranked first by guessing: the mean of 1 / candidates.
        chance10: expected share among the first ten by guessing.
    """

    top1: Proportion
    top10: Proportion
    chance: float
    chance10: float

    @classmethod
    def of(cls, places: Sequence[tuple[int, int]]) -> Self:
        """Compute the shares from each right name's rank, from 0, and its number of candidates."""
        hits = [Proportion(sum(place < first for place, _ in places), len(places)) for first in (1, 10)]
        chances = [float(np.mean([min(first / count, 1.0) for _, count in places] or [0.0])) for first in (1, 10)]
        return cls(hits[0], hits[1], chances[0], chances[1])


@dataclass(frozen=True)
class Averaging:
    """Result of the attack.

    Args:
        by_draws: number of noise samples -> hits, with one published encoding.
        by_published: number of published encodings -> hits, with the most samples.
        same_casing: hits with the most samples and one published encoding, with candidates of the name's casing class
            alone, since casing is published.
    """

    by_draws: Mapping[int, Hits]
    by_published: Mapping[int, Hits]
    same_casing: Hits


def invert_by_averaging(
    encoder: SentenceEncoder,
    targets: Sequence[Target],
    candidates: Candidates,
    settings: AveragingSettings | None = None,
    *,
    seed: int,
    on_progress: OnTarget | None = None,
) -> Averaging:
    """Attack names by averaging.

    Args:
        encoder: the attacked encoder, which the attacker has.
        targets: the names, each in its sentence; at most ``settings.names`` of them are sampled.
        candidates: the candidates of each name.
        settings: effort of the attack; None for `AveragingSettings()`.
        seed: seed of all random numbers.
        on_progress: called after each name.
    """
    settings, random = settings or AveragingSettings(), np.random.default_rng(seed)
    targets = sample_targets(targets, settings.names, random)
    sentences = [target.sentence for target in targets]
    deviation = noise_deviation(encoder, sentences, random) if targets else np.ones(encoder.size, np.float32)
    attack = _Attack(encoder, settings, deviation, random)
    places: dict[tuple[int, int], list[tuple[int, int]]] = {cell: [] for cell in attack.cells}
    of_casing: list[tuple[int, int]] = []
    for number, target in enumerate(targets, start=1):
        words = [target.word, *dict.fromkeys(word for word in candidates(target.word) if word != target.word)]
        orders = attack.orders(target, [words[i] for i in random.permutation(len(words))])
        for cell, order in orders.items():
            places[cell].append((order.index(target.word), len(order)))
        same = [w for w in orders[settings.most_draws, settings.published[0]] if casing(w) == casing(target.word)]
        of_casing.append((same.index(target.word), len(same)))
        if on_progress is not None:
            on_progress(number, len(targets))
    return Averaging(
        {draws: Hits.of(places[draws, settings.published[0]]) for draws in settings.draws},
        {published: Hits.of(places[settings.most_draws, published]) for published in settings.published},
        Hits.of(of_casing),
    )


class _Attack(NamedTuple):
    """The attack on any name."""

    encoder: SentenceEncoder
    settings: AveragingSettings
    deviation: npt.NDArray[np.float32]
    random: np.random.Generator

    @property
    def cells(self) -> list[tuple[int, int]]:
        """Combinations of a number of noise samples and a number of published encodings."""
        first, *others = self.settings.published
        return [(draws, first) for draws in self.settings.draws] + [(self.settings.most_draws, n) for n in others]

    def orders(self, target: Target, words: Sequence[str]) -> dict[tuple[int, int], list[str]]:
        """Sort the candidates by distance for each of the `cells`; equally near ones keep their order."""
        sentences = [target.with_word(word) for word in words]
        seen = self._near(self.encoder.encode([target.sentence] * max(self.settings.published), self.random), target)
        still = self._near(self.encoder.encode(sentences, None), target)  # [N, w, size]
        orders = {}
        for draws, count in self.cells:
            published = seen[:count].mean(axis=0)
            order = self._sorted(still, published)
            if draws:
                most = max(self.settings.encodings // draws, 1)
                drawn = self._means([sentences[i] for i in order[:most]], target, draws)
                order[:most] = order[:most][self._sorted(drawn, published)]
            orders[draws, count] = [words[i] for i in order]
        return orders

    def _means(self, sentences: Sequence[Sentence], target: Target, draws: int) -> npt.NDArray[np.float32]:
        """Mean of `_near` over samples of noise, [N, w, size]."""
        at_once = max(_TOKENS // (len(sentences) * len(target.sentence.tokens)), 1)
        total: Any = np.float32(0)
        for start in range(0, draws, at_once):
            count = min(at_once, draws - start)
            vectors = self._near(self.encoder.encode([*sentences] * count, self.random), target)
            total = total + vectors.reshape(count, len(sentences), *vectors.shape[1:]).sum(axis=0)
        means: npt.NDArray[np.float32] = total / np.float32(draws)
        return means

    def _near(self, encoded: Sequence[np.ndarray], target: Target) -> npt.NDArray[np.float32]:
        """Vectors of the name's token and those around it, w tokens, in each of N encodings: [N, w, size]."""
        around = self.settings.around
        return np.stack([vectors[max(target.place - around, 0) : target.place + around + 1] for vectors in encoded])

    def _sorted(self, means: npt.NDArray[np.float32], published: npt.NDArray[np.float32]) -> npt.NDArray[np.intp]:
        distances = (((means - published[None]) / self.deviation) ** 2).sum(axis=(1, 2))
        return np.argsort(distances, kind="stable")

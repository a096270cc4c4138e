"""The attack that a private representation is trained against, made on the frozen one: are these of the same sentence?

An accuracy of one half is what a coin has. It says something where two controls stand beside it: with the
representation set to 0 (`ZeroBaseline`) and symmetric pairs (`rnn.privacy.pairs`) nobody can be right more often than
a coin, and without noise, before any adversary (`NoiselessBaseline` of the representation after P1), the same
adversaries must be right far more often.

Reference:
    Friedrich et al. (2019), sections 5.3 and 7.3; Elazar and Goldberg (2018), EMNLP, for training on after freezing.
    Adversaries from scratch are not in the paper: a representation can hide from those that it grew up with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crfdeid.documents import LabelledSentence
from crfdeid.evaluation.tokens import Proportion
from crfdeid.utils.process import keep_freed_memory
from features.tokens import Sentence
from rnn.compile_cache import keep_compiled
from rnn.embeddings.vectors import WordVectors
from rnn.privacy.encoder import Encoder
from rnn.privacy.pair_attack import PairAttack
from rnn.privacy.settings import PrivateSettings

FRESH, CONTINUED = "fresh", "continued"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How often an adversary was right about pairs from documents that it was not trained on.

    Args:
        start: "fresh" for one from scratch, "continued" for one that the representation grew up with.
        seed: what it was trained from.
        epochs: of training on the frozen representation.
        adversary: "T1", "T2", or "average" for the mean of their probabilities.
        correct: pairs that it was right about.
        total: pairs, one a sentence.
    """

    start: str
    seed: int
    epochs: int
    adversary: str
    correct: int
    total: int

    @property
    def share(self) -> Proportion:
        """How often it was right, with Wilson's interval; or how often it was wrong, where that is more.

        Whoever is wrong more often than a coin need only be asked for the opposite.
        """
        return Proportion(max(self.correct, self.total - self.correct), self.total)

    @property
    def accuracy(self) -> float:
        """The same as a fraction, from one half."""
        return self.share.fraction


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """The adversary that was right most often, the first of equals.

    Example:
        >>> some = [Outcome("fresh", seed, 20, "T1", correct, 100) for seed, correct in enumerate((52, 41, 55))]
        >>> worst(some).seed
        1
    """
    return max(outcomes, key=lambda outcome: outcome.accuracy)


@dataclass(frozen=True)
class ZeroBaseline:
    """A representation of zeros: what an adversary knows without one.

    Args:
        size: of a token's vector.
    """

    size: int

    def encode(self, sentences: Sequence[Sentence], random: np.random.Generator | None) -> list[np.ndarray]:
        """Zeros, [T, size] each."""
        return [np.zeros((len(sentence.tokens), self.size), np.float32) for sentence in sentences]


@dataclass(frozen=True)
class NoiselessBaseline:
    """An encoder with its noise off, whoever asks.

    Args:
        encoder: the encoder.
    """

    encoder: Encoder

    @property
    def size(self) -> int:
        """The size of a token's vector."""
        return self.encoder.size

    def encode(self, sentences: Sequence[Sentence], random: np.random.Generator | None) -> list[np.ndarray]:
        """What the encoder gives without noise."""
        return self.encoder.encode(sentences, None)


def attack_pairs(
    encoder: Encoder,
    train: Sequence[LabelledSentence],
    held_out: Sequence[LabelledSentence],
    vectors: WordVectors,
    settings: PrivateSettings,
    *,
    seed: int,
    known: Any = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Outcome]:
    """Train adversaries on what an encoder makes of some sentences, and try them on others.

    Each of them is trained by its own loss on pairs that are drawn and encoded anew for every epoch, and tried on one
    pair of each held-out sentence with PHI. Nothing is chosen by how it does there.

    Args:
        encoder: what is attacked.
        train: what the adversaries are trained on.
        held_out: sentences of other documents.
        vectors: the public word vectors: what T1 is shown, and what says which words are neighbours.
        settings: the number of neighbours, the pairs, the adversaries' size, epochs and number.
        seed: of all that is drawn.
        known: the parameters of adversaries (`TrainedRepresentation.adversaries`) to train on, once; None for
            ``settings.attack_seeds`` fresh ones.
        on_progress: is told of each epoch: how many are done, and how many there are.

    Returns:
        For each adversary, T1, T2 and their average, after each number of ``settings.attack_epochs``.

    Raises:
        DataError: either has no PHI token that could be replaced.
    """
    keep_compiled()
    keep_freed_memory()
    attack = PairAttack.of(encoder, train, held_out, vectors, settings)
    runs = settings.attack_seeds if known is None else 1
    last = max(settings.attack_epochs)
    start = FRESH if known is None else CONTINUED
    found: list[Outcome] = []
    for run in range(runs):

        def tell(epoch: int, run: int = run) -> None:
            if on_progress is not None:
                on_progress(run * last + epoch, runs * last)

        for epochs, total, right in attack.run(seed + run, known, tell):
            found += [Outcome(start, seed + run, epochs, name, correct, total) for name, correct in right.items()]
    return found

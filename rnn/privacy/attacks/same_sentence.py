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
from functools import partial
from typing import Any, NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from crfdeid.documents import LabelledSentence
from crfdeid.evaluation.tokens import Proportion
from crfdeid.utils.process import keep_freed_memory
from features.tokens import Sentence
from rnn.batching import Batch, Row, even_batches
from rnn.compile_cache import keep_compiled
from rnn.embeddings.vectors import WordVectors
from rnn.network import Weights, embedding_lookup, side_by_side
from rnn.privacy.adversaries import TASKS, Adversaries, PairIndex
from rnn.privacy.attacks.encoders import SentenceEncoder
from rnn.privacy.network import AttackNetwork, adversary_loss, pair_logits
from rnn.privacy.pairs import PairVocabulary, Replaceable, both
from rnn.privacy.settings import PrivateSettings
from rnn.privacy.training import updates
from rnn.training.loop import train as train_network
from rnn.training.phases import HeldOut, Phase, Schedule

AVERAGE = "average"
_EPOCHS = 20  # that programs are compiled for: the same for long attacks and short controls, which share them


class Tried(NamedTuple):
    """What adversaries were right about.

    Attributes:
        epochs: of training.
        total: pairs, one a sentence.
        correct: how many each was right about: T1, T2, and `AVERAGE`, the mean of their probabilities.
    """

    epochs: int
    total: int
    correct: dict[str, int]


@dataclass(frozen=True)
class PairAttack:
    """Adversaries on what an encoder makes of some sentences, tried on others.

    Args:
        encoder: what is attacked.
        words: of all sentences, and their neighbours.
        train: what adversaries are trained on.
        held_out: what they are tried on.
        settings: as of `rnn.privacy.attacks.same_sentence.attack_pairs`.
    """

    encoder: SentenceEncoder
    words: PairVocabulary
    train: Replaceable
    held_out: Replaceable
    settings: PrivateSettings

    @classmethod
    def of(
        cls,
        encoder: SentenceEncoder,
        train: Sequence[LabelledSentence],
        held_out: Sequence[LabelledSentence],
        vectors: WordVectors,
        settings: PrivateSettings,
    ) -> Self:
        """The attack on an encoder; arguments and errors as of `rnn.privacy.attacks.same_sentence.attack_pairs`."""
        words = PairVocabulary.of([*train, *held_out], vectors, settings.neighbours)
        return cls(encoder, words, Replaceable.of(train, words), Replaceable.of(held_out, words), settings)

    def run(self, seed: int, known: Any, tell: Callable[[int], None]) -> list[Tried]:
        """Train two adversaries and try them after each number of ``settings.attack_epochs``.

        Args:
            seed: of all that is drawn.
            known: the parameters that they start from; None for new ones.
            tell: is told of each epoch.
        """
        settings, random = self.settings, np.random.default_rng(seed)
        dim, size = self.words.table.shape[1], self.encoder.size
        adversaries = Adversaries(dim=dim, size=size, hidden=settings.adversary, rngs=nnx.Rngs(seed))
        if known is not None:
            nnx.update(adversaries, jax.tree.map(jnp.asarray, known))
        graph, state = nnx.split(AttackNetwork(adversaries))
        weights = jax.tree.map(lambda array: jnp.asarray(array)[None], Weights({"words": self.words.table}, state))
        tried = self._rows(self.held_out, random)
        chosen = random.integers(len(PairIndex.of(settings.pairs).sign), size=len(tried))
        found: list[Tried] = []
        epochs = iter(range(1, max(settings.attack_epochs) + 1))

        def watch(phases: Any, losses: Any, told: Sequence[HeldOut], weights: Weights) -> None:
            epoch = next(epochs)
            if epoch in settings.attack_epochs:
                found.append(Tried(epoch, len(tried), self._correct(graph, weights, tried, chosen)))
            tell(epoch)

        last = max(settings.attack_epochs)
        train_network(graph, weights, [self._schedule(random)], seeds=[seed], epochs=last, watch=watch)
        return found

    def _schedule(self, random: np.random.Generator) -> Schedule:
        """Epoch after epoch of pairs that are drawn anew, for as long as one asks."""
        settings = self.settings
        loss = adversary_loss(settings.pairs, "each")
        while True:
            yield Phase(
                "attack",
                self._rows(self.train, random),
                updates(settings, _EPOCHS),
                settings.lr,
                loss=loss,
                max_norm=settings.max_norm,
                trains=lambda name: name.startswith("network."),
            )

    def _rows(self, source: Replaceable, random: np.random.Generator) -> list[Row]:
        """A quadruple of each sentence, drawn and encoded now."""
        drawn = source.draw(random)
        sentences = [item.sentence for item in source.sentences]
        copies = [source.replaced(one, self.words) for one in drawn]
        encoded = [self.encoder.encode(some, random) for some in (sentences, sentences, copies, copies)]
        ids = [np.array(self.words.vocabulary.ids(sentence.words), np.int32) for sentence in sentences]
        return [
            Row(
                {"words": both(ids[i], one), "encoded": np.stack([some[i] for some in encoded], axis=1)},
                {},
                len(ids[i]),
            )
            for i, one in enumerate(drawn)
        ]

    def _correct(
        self, graph: nnx.GraphDef[Any], weights: Weights, rows: Sequence[Row], chosen: np.ndarray
    ) -> dict[str, int]:
        """How many pairs each adversary, and their average, is right about."""
        sign = PairIndex.of(self.settings.pairs).sign > 0
        numbered = [row._replace(targets={"number": np.full(row.length, i)}) for i, row in enumerate(rows)]
        counts = dict.fromkeys((*TASKS, AVERAGE), 0)
        for batch in even_batches(numbered, buckets=4, cost=20_000):
            said = np.asarray(_said(graph, weights, batch._replace(targets={}), self.settings.pairs))[0]
            for row in np.flatnonzero(batch.lengths):
                kind = chosen[batch.targets["number"][row, 0]]
                probable = 1 / (1 + np.exp(-said[row, kind].astype(float)))
                for name, probability in zip(counts, (*probable, probable.mean()), strict=True):
                    counts[name] += int((probability > 0.5) == sign[kind])
        return counts


@partial(jax.jit, static_argnames=("graph", "pairs"))
def _said(graph: nnx.GraphDef[Any], weights: Weights, batch: Batch, pairs: str) -> jax.Array:
    """What the adversaries say of every pair of some quadruples, logits [N, B, P, 2]."""
    batch = jax.tree.map(jnp.asarray, batch)
    shown = PairIndex.of(pairs)

    def of(weights: Weights) -> jax.Array:
        network: Any = nnx.merge(graph, weights.network)
        vectors = embedding_lookup(network, weights.tables, batch.inputs)
        return jax.vmap(lambda vectors, inputs, length: pair_logits(network, vectors, inputs, length, {}, shown))(
            vectors, dict(batch.inputs), batch.lengths
        )

    found: jax.Array = side_by_side(of, weights)
    return found


FRESH, CONTINUED = "fresh", "continued"


@dataclass(frozen=True, slots=True)
class AttackOutcome:
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


def worst(outcomes: Iterable[AttackOutcome]) -> AttackOutcome:
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

    encoder: SentenceEncoder

    @property
    def size(self) -> int:
        """The size of a token's vector."""
        return self.encoder.size

    def encode(self, sentences: Sequence[Sentence], random: np.random.Generator | None) -> list[np.ndarray]:
        """What the encoder gives without noise."""
        return self.encoder.encode(sentences, None)


def attack_pairs(
    encoder: SentenceEncoder,
    train: Sequence[LabelledSentence],
    held_out: Sequence[LabelledSentence],
    vectors: WordVectors,
    settings: PrivateSettings,
    *,
    seed: int,
    known: Any = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[AttackOutcome]:
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
    found: list[AttackOutcome] = []
    for run in range(runs):

        def tell(epoch: int, run: int = run) -> None:
            if on_progress is not None:
                on_progress(run * last + epoch, runs * last)

        for epochs, total, right in attack.run(seed + run, known, tell):
            found += [AttackOutcome(start, seed + run, epochs, name, correct, total) for name, correct in right.items()]
    return found

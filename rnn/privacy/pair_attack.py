"""Adversaries that are trained on vectors made elsewhere, and tried on one pair of each held-out sentence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from crfdeid.documents import LabelledSentence
from rnn.batching import Batch, Row, even_batches
from rnn.embeddings.vectors import WordVectors
from rnn.network import Weights, embedding_lookup, side_by_side
from rnn.privacy.adversaries import TASKS, Adversaries, PairIndex
from rnn.privacy.encoder import Encoder
from rnn.privacy.network import AttackNetwork, adversary_loss, judged
from rnn.privacy.pairs import Replaceable, Words, both
from rnn.privacy.schedule import updates
from rnn.privacy.settings import PrivateSettings
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
        settings: as of `rnn.privacy.same_sentence.attack_pairs`.
    """

    encoder: Encoder
    words: Words
    train: Replaceable
    held_out: Replaceable
    settings: PrivateSettings

    @classmethod
    def of(
        cls,
        encoder: Encoder,
        train: Sequence[LabelledSentence],
        held_out: Sequence[LabelledSentence],
        vectors: WordVectors,
        settings: PrivateSettings,
    ) -> Self:
        """The attack on an encoder; arguments and errors as of `rnn.privacy.same_sentence.attack_pairs`."""
        words = Words.of([*train, *held_out], vectors, settings.neighbours)
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
        return jax.vmap(lambda vectors, inputs, length: judged(network, vectors, inputs, length, {}, shown))(
            vectors, dict(batch.inputs), batch.lengths
        )

    found: jax.Array = side_by_side(of, weights)
    return found

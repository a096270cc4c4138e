"""A GRU tagger as a researcher would add it by CONTRIBUTING's recipe; it is no part of the library."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp
import optax
from flax import nnx

from crfdeid.documents import PHI
from rnn.layers.dropout import dropout_factors, split_key
from rnn.layers.softmax import SoftmaxScores
from rnn.network import uniform
from rnn.settings import WordSettings
from rnn.tagger import NetworkTagger
from rnn.training.minibatches import optimiser, per_sentences
from rnn.training.schedules import falling_rate
from rnn.vocab import PAD, Vocabulary
from rnn.words import ReadsWords, WordProcessor, word_dropout, word_phase


class Gru(nnx.Module):
    """One direction: r, z = s(W x + R h + b); n = tanh(W_n x + b_n + r * (R_n h + c)); h' = (1 - z) * n + z * h."""

    def __init__(self, inputs, hidden, *, rngs):
        self.W = nnx.Param(uniform(rngs.params(), (3 * hidden, inputs), None))
        self.R = nnx.Param(uniform(rngs.params(), (3 * hidden, hidden), None))
        self.b = nnx.Param(jnp.zeros(3 * hidden))
        self.c = nnx.Param(jnp.zeros(hidden))

    def __call__(self, inputs, real, keep):
        """States [T, H] from inputs [T, D]; ``keep`` [H] is recurrent dropout, the same mask at every step."""
        R, c, size = self.R[...], self.c[...], self.c[...].shape[0]

        def step(before, now):
            driven, is_word = now
            recurrent = R @ (before * keep)
            r, z = jnp.split(jax.nn.sigmoid(driven[: 2 * size] + recurrent[: 2 * size]), 2)
            new = jnp.tanh(driven[2 * size :] + r * (recurrent[2 * size :] + c))
            hidden = jnp.where(is_word, (1 - z) * new + z * before, 0.0)
            return hidden, hidden

        driven = inputs @ self.W[...].T + self.b[...][None]
        return jax.lax.scan(step, jnp.zeros(size), (driven, real))[1]


class BiGru(nnx.Module):
    """Word vectors -> a GRU forward and one backward -> softmax."""

    tables: ClassVar = {"words": "words"}

    def __init__(self, dim, hidden, tags, *, dropout, rngs):
        self.hidden, self.dropout = hidden, dropout
        self.forward, self.backward = Gru(dim, hidden, rngs=rngs), Gru(dim, hidden, rngs=rngs)
        self.U = nnx.Param(uniform(rngs.params(), (tags, 2 * hidden), None))
        self.c = nnx.Param(jnp.zeros(tags))

    def scores(self, vectors, inputs, length, key=None):
        """Scores of each tag at each token."""
        real = inputs["words"] != PAD
        keep = [dropout_factors((self.hidden,), self.dropout, one) for one in split_key(key, 2)]
        read = vectors["words"]
        states = [self.forward(read, real, keep[0]), self.backward(read[::-1], real[::-1], keep[1])[::-1]]
        return {PHI: SoftmaxScores(jnp.concatenate(states, axis=1) @ self.U[...].T + self.c[...][None])}


@dataclass(frozen=True, kw_only=True)
class GruSettings(WordSettings):
    """Settings of the GRU tagger."""

    lr: float = 0.01
    hidden: int = 16
    dropout: float = 0.2
    batch: int = 8


class GruTagger(ReadsWords, NetworkTagger):
    """Tagger with the GRU."""

    model = "gru"
    settings_class = GruSettings
    trains_together = True

    @classmethod
    def profiles(cls) -> Mapping[str, GruSettings]:
        """Settings by profile name."""
        return {"default": GruSettings()}

    def blank_processor(self):
        """Processor without words."""
        return WordProcessor(Vocabulary((), self.settings.fold_digits), {})

    def network(self, processor, rngs):
        """Create the network."""
        settings, tags = self.settings, len(processor.tags[PHI])
        return BiGru(settings.embedding_dim, settings.hidden, tags, dropout=settings.dropout, rngs=rngs)

    def schedule(self, processor, rows):
        """Adam on minibatches, with a falling learning rate."""
        updates = per_sentences(self.settings.batch, optimiser(optax.adam))
        drop = word_dropout(processor, rows, self.settings)
        phase = word_phase(self.model, self.settings, rows, updates, drop)
        return falling_rate(lambda epoch: phase, self.settings)

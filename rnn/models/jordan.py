"""The Jordan network (yadav2016, equation 12): the hidden layer reads the previous word's posterior."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import final

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jax import lax

from crfdeid.explain.data import TagMatrix, WeightNorm
from features.tokens import Sentence
from rnn.interpret import window_norms
from rnn.layers.dropout import dropout_factors
from rnn.models.elman import WindowNetwork, WindowTagger, context_windows, scan_unroll
from rnn.network import embedding_lookup, uniform
from rnn.settings import WindowSettings, paper_settings
from rnn.words import WordProcessor


class Jordan(WindowNetwork):
    """One hidden layer that reads the posterior of the previous word.

    h(t) = f(W C(t) + V P(y(t-1)) + b)              (12), C(t) the context window at t, P(y(0)) = 0
    P(y(t)) = softmax(U h(t) + c)                   (10), (11)

    The posterior itself is fed back, in training as in prediction: no gold or predicted tags take its place, and the
    gradient flows through it.

    Args:
        window: words in a context window, W.
        dim: size of a word vector, D.
        hidden: hidden units, H.
        tags: number of tags, K.
        dropout: dropout rate of the hidden units.
        init_range: bound of the uniform initial weights; None for Glorot's.
        rngs: source of the initial weights.
    """

    def __init__(
        self,
        *,
        window: int,
        dim: int,
        hidden: int,
        tags: int,
        dropout: float = 0.0,
        init_range: float | None = None,
        rngs: nnx.Rngs,
    ) -> None:
        super().__init__(window=window, hidden=hidden, dropout=dropout)
        inputs = window * dim
        self.W = nnx.Param(uniform(rngs.params(), (hidden, inputs), init_range))  # [H, inputs]
        self.V = nnx.Param(uniform(rngs.params(), (hidden, tags), init_range))  # [H, K]
        self.b = nnx.Param(jnp.zeros(hidden))  # [H]
        self.U = nnx.Param(uniform(rngs.params(), (tags, hidden), init_range))  # [K, H]
        self.c = nnx.Param(jnp.zeros(tags))  # [K]

    def __call__(self, windows: jax.Array, key: jax.Array | None = None) -> jax.Array:
        """Scores before the softmax.

        Args:
            windows: context windows of one sentence, [T, W * D].
            key: source of dropout; None for none.

        Returns:
            U h(t) + c for every token, [T, K].
        """
        V, U, c = self.V[...], self.U[...], self.c[...]

        def cell(posterior: jax.Array, step: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            driven, kept = step
            hidden = jax.nn.sigmoid(driven + V @ posterior) * kept  # [H]
            scores = U @ hidden + c  # [K]
            return jax.nn.softmax(scores), scores

        driven = windows @ self.W[...].T + self.b[...][None, :]  # [T, H]
        keep = dropout_factors(driven.shape, self.dropout, key)
        return lax.scan(cell, jnp.zeros_like(c), (driven, keep), unroll=scan_unroll())[1]


@dataclass(frozen=True, kw_only=True)
class JordanSettings(WindowSettings):
    """Settings of the Jordan network."""

    window: int = 9
    hidden: int = 150


@final
class JordanTagger(WindowTagger):
    """Tagger with the Jordan network."""

    model = "jordan"
    settings_class = JordanSettings
    settings: JordanSettings

    @classmethod
    def profiles(cls) -> Mapping[str, JordanSettings]:
        """Settings by profile name: "yadav2016" is the J-RNN of Table 3, with weights in [-1, 1]."""
        paper = JordanSettings(window=9, hidden=150, **paper_settings("yadav2016", "windows"))
        return {"default": JordanSettings(), "yadav2016": paper}

    def network(self, processor: WordProcessor, rngs: nnx.Rngs) -> Jordan:
        """Create the network."""
        return Jordan(**self.sizes(processor), rngs=rngs)

    def input_norms(self, network: Jordan) -> Iterable[WeightNorm]:
        """Norms of the hidden layer's weights for each word of the window."""
        return window_norms("network.W", network.W[...], self.settings.window)

    def tag_matrices(self, network: Jordan, sentences: Sequence[Sentence]) -> Iterable[TagMatrix]:
        """Influence of a word's posterior on the scores of the next word's tags: U diag(f') V, [K, K].

        f' is averaged over the tokens of the sentences; without any it is f'(b), that of a window of zeros.
        """
        states = 1 / (1 + np.exp(-network.b[...][None]))  # [1, H]
        where = "at rest"
        if sum(len(sentence.tokens) for sentence in sentences):
            states, where = self._states(network, sentences), "averaged over the given notes"
        slope = (states * (1 - states)).mean(axis=0)  # [H]
        found = (network.U[...] * slope[None]) @ network.V[...]  # [to, from]
        title = f"What a tag of the word before adds to the score of a tag, {where}"
        yield TagMatrix(title, self.tags, tuple(map(tuple, found.T.tolist())))

    def _states(self, network: Jordan, sentences: Sequence[Sentence]) -> np.ndarray:
        """Hidden states of all tokens by equation 12, from the network's posteriors: [N, H]."""
        learned, states = self.trained(), []
        for row, posteriors in zip(learned.processor.rows(sentences), self.marginals(sentences), strict=True):
            vectors = embedding_lookup(network, learned.params, jax.tree.map(jnp.asarray, dict(row.inputs)))["words"]
            windows = np.asarray(context_windows(vectors, self.settings.window), float)  # [T, W * D]
            before = np.concatenate([np.zeros((1, len(self.tags))), posteriors])[:-1]  # [T, K]
            driven = windows @ network.W[...].T + before @ network.V[...].T + network.b[...][None]
            states.append(1 / (1 + np.exp(-driven)))
        return np.concatenate(states)

"""The two adversaries, which decide whether a pair is of the same sentence (friedrich2019, section 5.3).

T1 reads a representation and word vectors; T2 reads two representations with independent noise, and their cosine token
by token. Both classify the pairs of `rnn.privacy.pairs`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jax import lax

from rnn.layers.lstm import BiLstm
from rnn.network import uniform
from rnn.privacy.pairs import PAIR_KINDS, PairKind

TASKS = ("T1", "T2")
LOG_2 = float(np.log(2.0))
"""Loss of an adversary that guesses at random."""

ENCODINGS = 4
"""Encodings of a quadruple with independent noise: two of x, then two of x'."""


class PairIndex(NamedTuple):
    """Indices into a quadruple's arrays for each of P pairs.

    Attributes:
        first: index of the encoding that both adversaries read, [P].
        other: index of the second encoding for T2, [P].
        words: sentence of the word vectors for T1, [P]: 0 for x, 1 for x'.
        sign: 1 for a real pair, -1 for a fake one, [P].
    """

    first: np.ndarray
    other: np.ndarray
    words: np.ndarray
    sign: np.ndarray

    @classmethod
    def of(cls, pairs: str) -> PairIndex:
        """Indices for the named pair scheme (`PrivateSettings.pairs`)."""
        kinds: Sequence[PairKind] = PAIR_KINDS[pairs]
        return cls(
            np.array([2 * kind.first for kind in kinds]),
            np.array([2 * kind.second + 1 for kind in kinds]),
            np.array([kind.second for kind in kinds]),
            np.array([1.0 if kind.real else -1.0 for kind in kinds], np.float32),
        )


class Adversary(nnx.Module):
    """Bidirectional LSTM with one output, the logit of "the same sentence", from the last state of each direction.

    Args:
        inputs: size of the input of a token.
        hidden: units in each direction.
        rngs: source of the initial weights.
    """

    def __init__(self, inputs: int, hidden: int, *, rngs: nnx.Rngs) -> None:
        self.layer = BiLstm(inputs, hidden, rngs=rngs)
        self.U = nnx.Param(uniform(rngs.params(), (1, 2 * hidden), None))  # [1, 2H]
        self.c = nnx.Param(jnp.zeros(1))

    def __call__(self, inputs: jax.Array, length: jax.Array) -> jax.Array:
        """Logit of one pair.

        Args:
            inputs: [T, inputs].
            length: number of real tokens.
        """
        size = self.layer.R[...].shape[1]
        states = self.layer(inputs, jnp.arange(inputs.shape[0]) < length, jnp.ones((2, size)))  # [T, 2H]
        forward = lax.dynamic_index_in_dim(states, length - 1, keepdims=False)[:size]
        ends = jnp.concatenate([forward, states[0, size:]])
        return (self.U[...] @ ends + self.c[...])[0]


class Adversaries(nnx.Module):
    """Both adversaries, T1 and T2.

    Args:
        dim: size of a word vector, D.
        size: size of a token's representation, S.
        hidden: units of an LSTM in each direction.
        rngs: source of the initial weights.
    """

    def __init__(self, *, dim: int, size: int, hidden: int, rngs: nnx.Rngs) -> None:
        self.T1 = Adversary(size + dim, hidden, rngs=rngs)
        self.T2 = Adversary(2 * size + 1, hidden, rngs=rngs)

    def __call__(self, encoded: jax.Array, vectors: jax.Array, length: jax.Array, shown: PairIndex) -> jax.Array:
        """Logits of each pair by each adversary, [P, 2].

        Args:
            encoded: the four representations of a quadruple, [4, T, S].
            vectors: its word vectors, [2, T, D].
            length: number of real tokens.
            shown: indices of the pairs.
        """
        first, other, words = encoded[shown.first], encoded[shown.other], vectors[shown.words]  # [P, T, ...]
        with_words = jnp.concatenate([first, words], axis=2)
        with_other = jnp.concatenate([first, other, cosines(first, other)[..., None]], axis=2)
        logits = [
            jax.vmap(lambda inputs, adversary=adversary: adversary(inputs, length))(inputs)
            for adversary, inputs in ((self.T1, with_words), (self.T2, with_other))
        ]
        return jnp.stack(logits, axis=1)


def cosines(one: jax.Array, other: jax.Array) -> jax.Array:
    """Cosine of each vector with its counterpart, [...]; 0 if either is zero.

    Args:
        one: [..., S].
        other: [..., S].
    """
    squares = jnp.sum(one * one, axis=-1) * jnp.sum(other * other, axis=-1)
    some = squares > 0
    # `where` twice: the gradient of the unused branch must be finite too.
    return jnp.where(some, jnp.sum(one * other, axis=-1) * lax.rsqrt(jnp.where(some, squares, 1.0)), 0.0)


def losses(logits: jax.Array, sign: Any, together: str) -> jax.Array:
    """Cross-entropy of the adversaries in nats, the mean over pairs.

    Args:
        logits: [P, 2].
        sign: 1 for a real pair, -1 for a fake one, [P].
        together: "each" for that of each adversary, [2]; "average" for that of the mean of their probabilities, [1].
    """
    right = jax.nn.log_sigmoid(logits * jnp.asarray(sign)[:, None])  # [P, 2], log-probability of the right class
    if together == "average":
        right = jnp.logaddexp(right[:, :1], right[:, 1:]) - LOG_2
    return -jnp.mean(right, axis=0)

"""The two adversaries: are these of the same sentence? (friedrich2019, section 5.3)

T1 is shown a representation and the vectors of words, T2 two representations, each with noise of its own, and how alike
they are token by token. Both see the pairs of `rnn.privacy.pairs`.
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
from rnn.layers.recurrence import uniform
from rnn.privacy.pairs import PAIR_KINDS, PairKind

TASKS = ("T1", "T2")
LOG_2 = float(np.log(2.0))
"""What an adversary loses that guesses at random."""

ENCODINGS = 4
"""Of a quadruple: two of x, then two of x', each with noise of its own."""


class PairIndex(NamedTuple):
    """Which of a quadruple's arrays the adversaries are shown in each of P pairs.

    Attributes:
        first: the representation that both are shown, [P], of the `ENCODINGS`.
        other: the representation that T2 is shown beside it, [P].
        words: the sentence whose word vectors T1 is shown beside it, [P]: 0 for x, 1 for x'.
        sign: 1 for a real pair, -1 for a fake one, [P].
    """

    first: np.ndarray
    other: np.ndarray
    words: np.ndarray
    sign: np.ndarray

    @classmethod
    def of(cls, pairs: str) -> PairIndex:
        """Those of `PrivateSettings.pairs`."""
        kinds: Sequence[PairKind] = PAIR_KINDS[pairs]
        return cls(
            np.array([2 * kind.first for kind in kinds]),
            np.array([2 * kind.second + 1 for kind in kinds]),
            np.array([kind.second for kind in kinds]),
            np.array([1.0 if kind.real else -1.0 for kind in kinds], np.float32),
        )


class Adversary(nnx.Module):
    """A bidirectional LSTM and one output, the logit of "the same sentence", from where each direction ends.

    Args:
        inputs: the size of what it is shown of a token.
        hidden: units in each direction.
        rngs: where the initial weights come from.
    """

    def __init__(self, inputs: int, hidden: int, *, rngs: nnx.Rngs) -> None:
        self.layer = BiLstm(inputs, hidden, rngs=rngs)
        self.U = nnx.Param(uniform(rngs.params(), (1, 2 * hidden), None))  # [1, 2H]
        self.c = nnx.Param(jnp.zeros(1))

    def __call__(self, inputs: jax.Array, length: jax.Array) -> jax.Array:
        """The logit.

        Args:
            inputs: [T, inputs].
            length: how many of the T tokens are real.
        """
        size = self.layer.R[...].shape[1]
        states = self.layer(inputs, jnp.arange(inputs.shape[0]) < length, jnp.ones((2, size)))  # [T, 2H]
        forward = lax.dynamic_index_in_dim(states, length - 1, keepdims=False)[:size]
        ends = jnp.concatenate([forward, states[0, size:]])
        return (self.U[...] @ ends + self.c[...])[0]


class Adversaries(nnx.Module):
    """T1 and T2.

    Args:
        dim: the size of a word vector, D.
        size: of a token's representation, S.
        hidden: units of an LSTM in each direction.
        rngs: where the initial weights come from.
    """

    def __init__(self, *, dim: int, size: int, hidden: int, rngs: nnx.Rngs) -> None:
        self.T1 = Adversary(size + dim, hidden, rngs=rngs)
        self.T2 = Adversary(2 * size + 1, hidden, rngs=rngs)

    def __call__(self, encoded: jax.Array, vectors: jax.Array, length: jax.Array, shown: PairIndex) -> jax.Array:
        """What each adversary says of each pair, logits [P, 2].

        Args:
            encoded: the four representations of a quadruple, [4, T, S].
            vectors: of its words, [2, T, D].
            length: how many of the T tokens are real.
            shown: which of them to show.
        """
        first, other, words = encoded[shown.first], encoded[shown.other], vectors[shown.words]  # [P, T, ...]
        alike = cosines(first, other)[..., None]
        beside_words = jnp.concatenate([first, words], axis=2)
        beside_other = jnp.concatenate([first, other, alike], axis=2)
        said = [
            jax.vmap(lambda inputs, judge=judge: judge(inputs, length))(inputs)
            for judge, inputs in ((self.T1, beside_words), (self.T2, beside_other))
        ]
        return jnp.stack(said, axis=1)


def cosines(one: jax.Array, other: jax.Array) -> jax.Array:
    """The cosine of each vector with its counterpart, [...]; 0 where either is zero.

    Args:
        one: [..., S].
        other: [..., S].
    """
    squares = jnp.sum(one * one, axis=-1) * jnp.sum(other * other, axis=-1)
    some = squares > 0
    # Twice `where`: the gradient of the branch that is not taken must be finite as well.
    return jnp.where(some, jnp.sum(one * other, axis=-1) * lax.rsqrt(jnp.where(some, squares, 1.0)), 0.0)


def losses(logits: jax.Array, sign: Any, together: str) -> jax.Array:
    """What the adversaries lose, in nats a pair, the mean over pairs.

    Args:
        logits: [P, 2].
        sign: 1 for a real pair, -1 for a fake one, [P].
        together: "each" for the cross-entropy of each adversary, [2]; "average" for that of the mean of their
            probabilities, [1].
    """
    right = jax.nn.log_sigmoid(logits * jnp.asarray(sign)[:, None])  # [P, 2], the log-probability of what is right
    if together == "average":
        right = jnp.logaddexp(right[:, :1], right[:, 1:]) - LOG_2
    return -jnp.mean(right, axis=0)

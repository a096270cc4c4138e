"""The masked embedding layer (lange2020, section 3.3.2): replaces tokens of PHI by a vector of their type."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from crfdeid.bio import OUTSIDE
from rnn.network import uniform


def gumbel_softmax(scores: jax.Array, gumbel: jax.Array, temperature: float) -> jax.Array:
    """y_k = exp((log a_k + G_k) / t) / sum over i of exp((log a_i + G_i) / t): equation 1, [T, K].

    Args:
        scores: log a_k, the score of each tag, [T, K].
        gumbel: G_k, samples of Gumbel(0, 1), [T, K]; zeros for no noise.
        temperature: t; the nearer it is to 0, the nearer y is to a single 1.
    """
    return jax.nn.softmax((scores + gumbel) / temperature, axis=1)


class MaskedEmbedding(nnx.Module):
    """Replaces the inputs of tokens with a PHI tag by a trained vector of the PHI type.

    The output is sum over k of y_k v_k with y one-hot at the decided tag: v_k is the token's input for the tag O, and
    the vector of the tag's type for others. The gradient goes straight through to the soft y (Jang et al. 2017, section
    2.2).

    Args:
        tags: the PHI tags, K.
        size: size of an input, D.
        rngs: source of the initial vectors.
    """

    def __init__(self, tags: Sequence[str], size: int, *, rngs: nnx.Rngs) -> None:
        types = sorted({tag[2:] for tag in tags if tag != OUTSIDE})
        # Tuples, since the structure of a network is compared and hashed.
        self.rows = tuple(0 if tag == OUTSIDE else types.index(tag[2:]) for tag in tags)  # [K]
        self.hides = tuple(tag != OUTSIDE for tag in tags)  # [K]
        self.E = nnx.Param(uniform(rngs.params(), (max(len(types), 1), size), 0.25))  # [types, D]

    def __call__(self, inputs: jax.Array, decided: jax.Array, soft: jax.Array) -> jax.Array:
        """Inputs with PHI replaced, [T, D].

        Args:
            inputs: [T, D].
            decided: id of each token's tag, [T].
            soft: probability of each tag, [T, K], for the gradient alone.
        """
        vectors = self.E[...][np.array(self.rows)]  # [K, D]
        return _masked(inputs, vectors, decided, soft, jnp.array(self.hides))


@jax.custom_vjp
def _masked(inputs: jax.Array, vectors: jax.Array, decided: jax.Array, soft: jax.Array, hides: jax.Array) -> jax.Array:
    # A choice instead of a sum: 0 * x would let infinities, and the sign of zero, through.
    return jnp.where(hides[decided][:, None], vectors[decided], inputs)


def _forward(
    inputs: jax.Array, vectors: jax.Array, decided: jax.Array, soft: jax.Array, hides: jax.Array
) -> tuple[jax.Array, tuple[jax.Array, ...]]:
    return _masked(inputs, vectors, decided, soft, hides), (inputs, vectors, decided, hides)


def _backward(kept: tuple[jax.Array, ...], gradient: jax.Array) -> tuple[jax.Array, jax.Array, None, jax.Array, None]:
    inputs, vectors, decided, hides = kept
    hidden = hides[decided][:, None]
    of_vectors = jnp.zeros_like(vectors).at[decided].add(jnp.where(hidden, gradient, 0.0))
    own = jnp.sum(gradient * inputs, axis=1)[:, None]  # for the tag O
    of_soft = jnp.where(hides[None], gradient @ vectors.T, own)
    return jnp.where(hidden, 0.0, gradient), of_vectors, None, of_soft, None


_masked.defvjp(_forward, _backward)

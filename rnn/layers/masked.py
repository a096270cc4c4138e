"""The masked embedding layer (lange2020, section 3.3.2): what stands in the place of PHI before it is read on."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from crfdeid.bio import OUTSIDE
from rnn.layers.recurrence import uniform


def gumbel_softmax(scores: jax.Array, gumbel: jax.Array, temperature: float) -> jax.Array:
    """y_k = exp((log a_k + G_k) / t) / sum over i of exp((log a_i + G_i) / t): equation 1, [T, K].

    Args:
        scores: log a_k, what a layer says of each tag, [T, K].
        gumbel: G_k, drawn from Gumbel(0, 1), [T, K]; zeros for no noise.
        temperature: t; the nearer it is to 0, the nearer y is to a single 1.
    """
    return jax.nn.softmax((scores + gumbel) / temperature, axis=1)


class MaskedEmbedding(nnx.Module):
    """Each token's input, or for a token that is taken for PHI a vector that is learned for its type.

    A mixture sum over k of y_k v_k, in which the y of the decided tag is 1 and all others are 0; v_k is the token's
    own input for a tag k that leaves it, and the vector of the tag's type for one that hides it. The gradient passes
    straight through to the soft y, as if the mixture had been theirs (Jang et al. 2017, section 2.2).

    Args:
        tags: the PHI tags, K.
        size: of an input, D.
        rngs: where the initial vectors come from.
    """

    def __init__(self, tags: Sequence[str], size: int, *, rngs: nnx.Rngs) -> None:
        types = sorted({tag[2:] for tag in tags if tag != OUTSIDE})
        # Plain tuples, since the structure of a network is compared and hashed.
        self.rows = tuple(0 if tag == OUTSIDE else types.index(tag[2:]) for tag in tags)  # [K]
        self.hides = tuple(tag != OUTSIDE for tag in tags)  # [K]
        self.E = nnx.Param(uniform(rngs.params(), (max(len(types), 1), size), 0.25))  # [types, D]

    def __call__(self, inputs: jax.Array, decided: jax.Array, soft: jax.Array) -> jax.Array:
        """What is read in the place of the inputs, [T, D].

        Args:
            inputs: [T, D].
            decided: the number of each token's tag, [T].
            soft: how probable each tag is held to be, [T, K]; it changes nothing but the gradient.
        """
        vectors = self.E[...][np.array(self.rows)]  # [K, D]
        return _masked(inputs, vectors, decided, soft, jnp.array(self.hides))


@jax.custom_vjp
def _masked(inputs: jax.Array, vectors: jax.Array, decided: jax.Array, soft: jax.Array, hides: jax.Array) -> jax.Array:
    # A choice and no sum: 0 * x would let infinities, and the sign of zero, through.
    return jnp.where(hides[decided][:, None], vectors[decided], inputs)


def _forward(
    inputs: jax.Array, vectors: jax.Array, decided: jax.Array, soft: jax.Array, hides: jax.Array
) -> tuple[jax.Array, tuple[jax.Array, ...]]:
    return _masked(inputs, vectors, decided, soft, hides), (inputs, vectors, decided, hides)


def _backward(kept: tuple[jax.Array, ...], gradient: jax.Array) -> tuple[jax.Array, jax.Array, None, jax.Array, None]:
    inputs, vectors, decided, hides = kept
    hidden = hides[decided][:, None]
    of_vectors = jnp.zeros_like(vectors).at[decided].add(jnp.where(hidden, gradient, 0.0))
    own = jnp.sum(gradient * inputs, axis=1)[:, None]  # of a tag that leaves the token
    of_soft = jnp.where(hides[None], gradient @ vectors.T, own)
    return jnp.where(hidden, 0.0, gradient), of_vectors, None, of_soft, None


_masked.defvjp(_forward, _backward)

"""Softmax over the tags at each token: loss, probabilities and the best valid path."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from rnn.decode import ANY


class SoftmaxScores(NamedTuple):
    """Scores before a softmax; see `rnn.interfaces.Logits`.

    Attributes:
        emissions: [T, K].
    """

    emissions: jax.Array

    def loss(self, tags: jax.Array, length: jax.Array) -> jax.Array:
        """Negative log-likelihood of the tags in nats, summed over tokens (yadav2016, section 3.5)."""
        token = jnp.arange(tags.shape[0])
        highest = lax.stop_gradient(jnp.max(self.emissions, axis=1))
        normaliser = jnp.log(jnp.sum(jnp.exp(self.emissions - highest[:, None]), axis=1)) + highest
        own = self.emissions.at[token, tags]  # places that differ: see `rnn.gpu.pick`
        losses = normaliser - own.get(mode="promise_in_bounds", unique_indices=True, indices_are_sorted=True)  # [T]
        return jnp.sum(losses, where=token < length)

    def best_path(self, length: jax.Array, begins: jax.Array) -> jax.Array:
        """Most probable tag sequence within the constraints, [T]."""
        return best_valid_path(self.emissions, length, begins)

    def probabilities(self, length: jax.Array) -> jax.Array:
        """Probability of each tag at each token, [T, K]."""
        return jax.nn.softmax(self.emissions)

    def log_odds(self, length: jax.Array, token: jax.Array, tag: jax.Array, other: jax.Array) -> jax.Array:
        """Log-odds of two tags at a token, in nats."""
        return self.emissions[token, tag] - self.emissions[token, other]


def best_valid_path(scores: jax.Array, length: jax.Array, begins: jax.Array) -> jax.Array:
    """Most probable tag sequence in which every I-X follows a B-X or an I-X (Viterbi).

    The networks give each token's posterior by itself, so the probability of a sequence is the product of its tokens'.
    A tag with a predecessor can come from two tags only and any other from the best of all: O(T K), not O(T K^2).

    Args:
        scores: the scores before the softmax, or log-probabilities, [T, K].
        length: number of real tokens; results beyond it are undefined.
        begins: from `iob_constraints`, [K].

    Returns:
        The tags' ids, [T].
    """
    tags = jnp.arange(begins.shape[0], dtype=begins.dtype)
    bound = begins != ANY
    gains = jnp.where((jnp.arange(scores.shape[0]) < length)[:, None], jax.nn.log_softmax(scores), 0.0)

    def forward(total: jax.Array, gain: jax.Array) -> tuple[jax.Array, jax.Array]:
        best = jnp.argmax(total).astype(begins.dtype)
        source = jnp.where(bound, jnp.where(total[begins] > total, begins, tags), best)
        return total[source] + gain, source

    def backward(tag: jax.Array, source: jax.Array) -> tuple[jax.Array, jax.Array]:
        return source[tag], source[tag]

    first = jnp.where(bound, -jnp.inf, gains[0])
    total, sources = lax.scan(forward, first, gains[1:])
    last = jnp.argmax(total).astype(begins.dtype)
    path = lax.scan(backward, last, sources, reverse=True)[1]
    return jnp.append(path, last)

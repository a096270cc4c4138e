"""The linear-chain CRF layer: the log-partition function, Viterbi's best path and the marginals of one sentence.

A path y through a sentence of T tokens scores ``sum_t E[t, y_t] + sum_(t>0) A[y_(t-1), y_t]`` with the emissions E
[T, K] of a network and the transitions A [K, K], which are parameters. Every function takes one sentence, padded to any
length: values at or beyond ``length`` are ignored.

Reference:
    Lafferty et al. (2001), section 3; Huang et al. (2015) and Lample et al. (2016) on top of an LSTM.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from flax import nnx
from jax import lax

from rnn import gpu
from rnn.decode import ANY
from rnn.network import uniform

_NEVER = -1e9  # score of a forbidden tag


class CrfScores(NamedTuple):
    """Scores of a CRF; see `rnn.interfaces.Logits`.

    Attributes:
        emissions: score of each tag at each token, [T, K].
        transitions: score of each step from tag to tag, [K, K].
    """

    emissions: jax.Array
    transitions: jax.Array

    def loss(self, tags: jax.Array, length: jax.Array) -> jax.Array:
        """Negative log-likelihood of the whole path in nats."""
        return negative_log_likelihood(self.emissions, self.transitions, tags, length)

    def best_path(self, length: jax.Array, begins: jax.Array) -> jax.Array:
        """Best path within the constraints, [T]."""
        tags = jnp.arange(begins.shape[0], dtype=begins.dtype)
        free = begins == ANY
        allowed = free[None] | (tags[:, None] == tags[None]) | (tags[:, None] == begins[None])  # [from, to]
        first = jnp.where(free, 0.0, _NEVER)
        return best_path(self.emissions, self.transitions + jnp.where(allowed, 0.0, _NEVER), first, length)

    def probabilities(self, length: jax.Array) -> jax.Array:
        """Probability of each tag at each token, [T, K]."""
        return marginals(self.emissions, self.transitions, length)

    def log_odds(self, length: jax.Array, token: jax.Array, tag: jax.Array, other: jax.Array) -> jax.Array:
        """Log-odds of two tags at a token, in nats."""
        return log_odds(self.emissions, self.transitions, length, token, tag, other)


class CrfOutput(nnx.Module):
    """Emissions of hidden states, E = U h + c, and transitions A.

    Args:
        inputs: size of a state, H.
        tags: number of tags, K.
        rngs: source of the initial weights.
    """

    def __init__(self, inputs: int, tags: int, *, rngs: nnx.Rngs) -> None:
        self.U = nnx.Param(uniform(rngs.params(), (tags, inputs), None))  # [K, H]
        self.c = nnx.Param(jnp.zeros(tags))  # [K]
        self.A = nnx.Param(jnp.zeros((tags, tags)))  # [K, K], from tag to tag

    def __call__(self, states: jax.Array) -> CrfScores:
        """Emissions of T tokens, [T, K], from their states, [T, H]; and transitions, [K, K]."""
        return CrfScores(states @ self.U[...].T + self.c[...][None], self.A[...])


def path_score(emissions: jax.Array, transitions: jax.Array, tags: jax.Array, length: jax.Array) -> jax.Array:
    """Score of one path.

    Args:
        emissions: [T, K].
        transitions: from tag to tag, [K, K].
        tags: the path, [T] int.
        length: how many of the T tokens are real.
    """
    real = jnp.arange(tags.shape[0]) < length
    here = gpu.pick(emissions, tags)
    before, after = tags[:-1], tags[1:]
    is_gpu = jax.default_backend() == "gpu"
    steps = gpu.entries(transitions, before, after) if is_gpu else transitions[before, after]
    return jnp.sum(here, where=real) + jnp.sum(steps, where=real[1:])


def log_partition(emissions: jax.Array, transitions: jax.Array, length: jax.Array) -> jax.Array:
    """Log of the sum over all paths of ``exp(score)``: the forward algorithm in logarithms.

    Args:
        emissions: [T, K].
        transitions: [K, K].
        length: how many of the T tokens are real.

    Example:
        >>> round(float(log_partition(jnp.zeros((3, 2)), jnp.zeros((2, 2)), jnp.array(3))), 4)  # log of 2 ** 3 paths
        2.0794
    """

    def step(total: jax.Array, now: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, None]:
        gains, real = now
        longer = jax.nn.logsumexp(total[:, None] + transitions, axis=0) + gains  # [K]
        return jnp.where(real, longer, total), None

    real = jnp.arange(emissions.shape[0]) < length
    total, _ = lax.scan(step, emissions[0], (emissions[1:], real[1:]))
    return jnp.where(length > 0, jax.nn.logsumexp(total), 0.0)


def negative_log_likelihood(
    emissions: jax.Array, transitions: jax.Array, tags: jax.Array, length: jax.Array
) -> jax.Array:
    """Negative log-likelihood of a sentence's tags in nats; 0 for an empty sentence."""
    return log_partition(emissions, transitions, length) - path_score(emissions, transitions, tags, length)


def marginals(emissions: jax.Array, transitions: jax.Array, length: jax.Array) -> jax.Array:
    """Probability of each tag at each token, [T, K]; rows of padding are zeros.

    The gradient of the log-partition function with respect to the emissions.
    """
    gradient: jax.Array = jax.grad(log_partition)(emissions, transitions, length)
    return gradient


def log_odds(
    emissions: jax.Array, transitions: jax.Array, length: jax.Array, token: jax.Array, tag: jax.Array, rival: jax.Array
) -> jax.Array:
    """Log-odds of two tags at a token, in nats.

    Each log-probability is the log-partition function of the paths through the tag, less that of all paths, which
    cancels.

    Args:
        emissions: [T, K].
        transitions: [K, K].
        length: how many of the T tokens are real.
        token: index of the token.
        tag: id of a tag.
        rival: id of another tag.
    """
    here = (jnp.arange(emissions.shape[0]) == token)[:, None]  # [T, 1]

    def through(tag: jax.Array) -> jax.Array:
        others = here & (jnp.arange(emissions.shape[1]) != tag)[None, :]
        return log_partition(jnp.where(others, _NEVER, emissions), transitions, length)

    return through(tag) - through(rival)


def best_path(emissions: jax.Array, transitions: jax.Array, first: jax.Array, length: jax.Array) -> jax.Array:
    """Path with the highest score (Viterbi); of equals the one with the smaller id at its end.

    Args:
        emissions: [T, K].
        transitions: [K, K]; a large negative number forbids a step.
        first: score of each tag at the first token, [K], in addition to its emission; a large negative number forbids
            a tag there.
        length: number of real tokens; results beyond it are undefined.

    Returns:
        The tags' ids, [T].
    """

    def forward(total: jax.Array, now: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        gains, real = now
        through = total[:, None] + transitions  # [from, to]
        source = jnp.where(real, through.argmax(axis=0), jnp.arange(len(total)))
        return jnp.where(real, through.max(axis=0) + gains, total), source

    def backward(tag: jax.Array, source: jax.Array) -> tuple[jax.Array, jax.Array]:
        return source[tag], source[tag]

    real = jnp.arange(emissions.shape[0]) < length
    total, sources = lax.scan(forward, emissions[0] + first, (emissions[1:], real[1:]))
    last = jnp.argmax(total)
    return jnp.append(lax.scan(backward, last, sources, reverse=True)[1], last)

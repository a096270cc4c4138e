"""The encoder of a transformer, as BERT and RoBERTa have it: self-attention and feed-forward layers.

Reference:
    Vaswani et al. (2017), section 3; Devlin et al. (2019), section 3; Liu et al. (2019) for RoBERTa.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from rnn.layers.dropout import dropout, split_key
from rnn.pretrained.config import EncoderConfig

_NEVER = -1e9  # the score of a place that holds no piece; finite, so that a row without any gives no NaN
_SPREAD = 0.02  # the standard deviation of initial weights (Devlin et al. 2019, released code)
_NORMAL = jax.nn.initializers.normal(_SPREAD)
_ACTIVATIONS = {
    "gelu": lambda x: jax.nn.gelu(x, approximate=False),
    "gelu_new": lambda x: jax.nn.gelu(x, approximate=True),
    "relu": jax.nn.relu,
}


class Linear(nnx.Module):
    """x W + b.

    Args:
        inputs: the size of x.
        outputs: the size of what comes out.
        rngs: source of the initial weights.
    """

    def __init__(self, inputs: int, outputs: int, *, rngs: nnx.Rngs) -> None:
        self.W = nnx.Param(_NORMAL(rngs.params(), (inputs, outputs)))
        self.b = nnx.Param(jnp.zeros(outputs))

    def __call__(self, x: jax.Array) -> jax.Array:
        """[L, inputs] -> [L, outputs]."""
        return x @ self.W[...] + self.b[...][None]


class LayerNorm(nnx.Module):
    """g (x - mean) / sqrt(variance + epsilon) + b, over the numbers of each state (Ba et al. 2016).

    Args:
        size: of a state, H.
        epsilon: keeps the root from 0.
    """

    def __init__(self, size: int, epsilon: float) -> None:
        self.epsilon = epsilon
        self.g, self.b = nnx.Param(jnp.ones(size)), nnx.Param(jnp.zeros(size))

    def __call__(self, x: jax.Array) -> jax.Array:
        """[L, H] -> [L, H]."""
        centred = x - jnp.mean(x, axis=1, keepdims=True)
        variance = jnp.mean(centred**2, axis=1, keepdims=True)
        return self.g[...][None] * centred * jax.lax.rsqrt(variance + self.epsilon) + self.b[...][None]


class TransformerLayer(nnx.Module):
    """Multi-head self-attention and a feed-forward network; each is added to what it reads, and normalised.

    Args:
        config: the encoder's sizes.
        dropout: dropout rate of all layers.
        rngs: source of the initial weights.
    """

    def __init__(self, config: EncoderConfig, *, dropout: float = 0.0, rngs: nnx.Rngs) -> None:
        self.heads, self.activation, self.dropout = config.heads, config.activation, dropout
        size = config.hidden
        self.query, self.key, self.value, self.joined = (Linear(size, size, rngs=rngs) for _ in range(4))
        self.attended = LayerNorm(size, config.epsilon)
        self.inner = Linear(size, config.intermediate, rngs=rngs)
        self.outer = Linear(config.intermediate, size, rngs=rngs)
        self.norm = LayerNorm(size, config.epsilon)

    def __call__(self, states: jax.Array, real: jax.Array, key: jax.Array | None = None) -> jax.Array:
        """The next states, [L, H].

        Args:
            states: [L, H].
            real: True at pieces, [L] bool.
            key: source of dropout; None for none.
        """
        attention, attended, fed = split_key(key, 3)
        found = dropout(self.joined(self._attend(states, real, attention)), self.dropout, attended)
        states = self.attended(states + found)
        found = dropout(self.outer(_ACTIVATIONS[self.activation](self.inner(states))), self.dropout, fed)
        return self.norm(states + found)

    def _attend(self, states: jax.Array, real: jax.Array, key: jax.Array | None) -> jax.Array:
        """softmax(Q K^T / sqrt(d)) V for each head (Vaswani et al. 2017, equation 1), side by side: [L, H].

        The heads are the first axis of every product, and the softmax is divided by its sum last, over d numbers a
        piece instead of L: XLA for a CPU generates far faster code than for the literal equation.
        """
        length, size = states.shape
        split = (length, self.heads, size // self.heads)
        q, k, v = (part(states).reshape(split).swapaxes(0, 1) for part in (self.query, self.key, self.value))
        scores = jnp.einsum("hqd,hkd->hqk", q / split[2] ** 0.5, k)
        scores = jnp.where(real[None, None], scores, _NEVER)
        highest = jax.lax.stop_gradient(jnp.max(scores, axis=2, keepdims=True))  # it changes no share
        grown = jnp.exp(scores - highest)  # [heads, L, L]
        found = jnp.einsum("hqk,hkd->hqd", dropout(grown, self.dropout, key), v) / jnp.sum(grown, axis=2, keepdims=True)
        return found.swapaxes(0, 1).reshape(length, size)


class TransformerEncoder(nnx.Module):
    """Vectors of word pieces -> with their positions' -> transformer layers -> a state for each piece.

    All of a text is of one segment: of BERT's vectors for the two segments only the first is there.

    Args:
        config: the encoder's sizes.
        dropout: dropout rate of all layers.
        rngs: source of the initial weights.
    """

    def __init__(self, config: EncoderConfig, *, dropout: float = 0.0, rngs: nnx.Rngs) -> None:
        self.config, self.dropout = config, dropout
        self.positions = nnx.Param(_NORMAL(rngs.params(), (config.positions, config.hidden)))
        self.segment = nnx.Param(_NORMAL(rngs.params(), (config.hidden,)))
        self.norm = LayerNorm(config.hidden, config.epsilon)
        self.layers = nnx.List([TransformerLayer(config, dropout=dropout, rngs=rngs) for _ in range(config.layers)])

    def __call__(self, vectors: jax.Array, real: jax.Array, key: jax.Array | None = None) -> jax.Array:
        """States of the last layer, [L, H].

        Args:
            vectors: vectors of the pieces, [L, H], L at most `EncoderConfig.max_length`.
            real: True at pieces, [L] bool.
            key: source of dropout: of the vectors, the shares of attention, and the output of each half of a layer;
                None for none.
        """
        first, *keys = split_key(key, 1 + len(self.layers))
        last = self.config.positions - 1  # padding beyond the table is never read
        places = np.minimum(self.config.first + np.arange(vectors.shape[0]), last)
        once = len(np.unique(places)) == len(places)  # a GPU then adds gradients in any order: see `rnn.gpu`
        positions = self.positions[...].at[places].get(unique_indices=once, indices_are_sorted=True)
        read = vectors + positions + self.segment[...][None]
        states = dropout(self.norm(read), self.dropout, first)
        for layer, one in zip(self.layers, keys, strict=True):
            states = layer(states, real, one)
        return states

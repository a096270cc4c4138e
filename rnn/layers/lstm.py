"""Bidirectional LSTM layers for padded sentences."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from flax import nnx
from jax import lax

from rnn.layers.dropout import dropout, dropout_factors, split_key
from rnn.network import uniform


class BiLstm(nnx.Module):
    """A forward and a backward LSTM over the same inputs.

    i(t) = s(W_i x(t) + R_i h(t-1) + b_i), and f(t) and o(t) likewise, s the logistic sigmoid
    g(t) = tanh(W_g x(t) + R_g h(t-1) + b_g)
    c(t) = f(t) * c(t-1) + i(t) * g(t),  h(t) = o(t) * tanh(c(t)),  with c and h 0 before the first word.

    The backward one reads from the sentence's last word to its first: states are 0 wherever there is no word, so
    padding on either side changes nothing. The forget gates' biases start at 1 (Jozefowicz et al. 2015).

    Args:
        inputs: size of an input, D.
        hidden: units in each direction, H.
        rngs: source of the initial weights: Glorot's bound for W, orthogonal matrices for R.

    Reference:
        Hochreiter and Schmidhuber (1997); Gers et al. (2000) for the forget gate.
    """

    def __init__(self, inputs: int, hidden: int, *, rngs: nnx.Rngs) -> None:
        orthogonal = jax.nn.initializers.orthogonal()
        gates = [uniform(rngs.params(), (hidden, inputs), None) for _ in range(8)]
        squares = [orthogonal(rngs.params(), (hidden, hidden)) for _ in range(8)]
        self.W = nnx.Param(jnp.concatenate(gates))  # [8H, D]: i, f, o, g forward, then backward
        self.R = nnx.Param(jnp.stack([jnp.concatenate(squares[:4], 1), jnp.concatenate(squares[4:], 1)]))  # [2, H, 4H]
        self.b = nnx.Param(jnp.zeros((2, 4, hidden)).at[:, 1].set(1.0).reshape(8 * hidden))  # [8H]

    def __call__(self, inputs: jax.Array, real: jax.Array, keep: jax.Array) -> jax.Array:
        """Hidden states of a sentence.

        Args:
            inputs: [T, D].
            real: True at words, which are contiguous, [T] bool.
            keep: factors of the hidden units between steps, the same at every step, [2, H]: variational dropout (Gal
                and Ghahramani 2016).

        Returns:
            Forward states, then backward states, [T, 2H].
        """
        R = self.R[...]
        size = R.shape[1]
        driven = (inputs @ self.W[...].T + self.b[...][None]).reshape(-1, 2, 4 * size)  # [T, 2, 4H]
        driven = jnp.stack([driven[:, 0], driven[::-1, 1]], axis=1)  # both directions in one scan: half the steps
        live = jnp.stack([real, real[::-1]], axis=1)[:, :, None]  # [T, 2, 1]

        def step(
            before: tuple[jax.Array, jax.Array], now: tuple[jax.Array, jax.Array]
        ) -> tuple[tuple[jax.Array, jax.Array], jax.Array]:
            hidden, cell = before
            x, word = now
            gates = x + jnp.einsum("dh,dhk->dk", hidden * keep, R)
            i, f, o = jnp.split(jax.nn.sigmoid(gates[:, : 3 * size]), 3, axis=1)
            cell = f * cell + i * jnp.tanh(gates[:, 3 * size :])
            hidden, cell = jnp.where(word, o * jnp.tanh(cell), 0.0), jnp.where(word, cell, 0.0)
            return (hidden, cell), hidden

        start = jnp.zeros((2, size))
        states = lax.scan(step, (start, start), (driven, live))[1]  # [T, 2, H]
        return jnp.concatenate([states[:, 0], states[::-1, 1]], axis=1)


class BiLstms(nnx.Module):
    """Stacked BiLSTM layers, with dropout of the inputs and variational dropout in each layer.

    Args:
        inputs: size of an input, D.
        hidden: units of a layer in each direction, H.
        layers: number of layers.
        input_dropout: dropout rate of the inputs.
        variational_dropout: dropout rate of the inputs and states of each layer, with one mask a sentence.
        rngs: source of the initial weights.
    """

    def __init__(
        self,
        inputs: int,
        hidden: int,
        *,
        layers: int,
        input_dropout: float = 0.0,
        variational_dropout: float = 0.0,
        rngs: nnx.Rngs,
    ) -> None:
        self.hidden, self.input_dropout, self.variational_dropout = hidden, input_dropout, variational_dropout
        sizes = [inputs] + [2 * hidden] * (layers - 1)
        self.layers = nnx.List([BiLstm(size, hidden, rngs=rngs) for size in sizes])

    def __call__(self, inputs: jax.Array, real: jax.Array, key: jax.Array | None = None) -> jax.Array:
        """States of the last layer, [P, 2H].

        Args:
            inputs: [P, D].
            real: True at words, which are contiguous, [P] bool.
            key: source of dropout; None for none.
        """
        first, *keys = split_key(key, 1 + 2 * len(self.layers))
        states = dropout(inputs, self.input_dropout, first)
        for layer, of_inputs, of_states in zip(self.layers, keys[::2], keys[1::2], strict=True):
            keep = dropout_factors((states.shape[1],), self.variational_dropout, of_inputs)
            states = layer(
                states * keep[None], real, dropout_factors((2, self.hidden), self.variational_dropout, of_states)
            )
        return states

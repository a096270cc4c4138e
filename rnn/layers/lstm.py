"""Bidirectional LSTM layers for padded sentences."""

from __future__ import annotations

from collections.abc import Mapping

import jax
import jax.numpy as jnp
from flax import nnx
from jax import lax

from rnn.layers.recurrence import uniform
from rnn.network import Draw


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
        rngs: source of the initial weights.
    """

    def __init__(self, inputs: int, hidden: int, *, layers: int, rngs: nnx.Rngs) -> None:
        self.inputs, self.hidden = inputs, hidden
        sizes = [inputs] + [2 * hidden] * (layers - 1)
        self.layers = nnx.List([BiLstm(size, hidden, rngs=rngs) for size in sizes])

    def draws(self, length: int) -> dict[str, Draw]:
        """Dropout masks of the inputs, and variational ones of each layer's inputs and states."""
        found = {"input": Draw("keep", (length, self.inputs))}
        for number in range(len(self.layers)):
            size = self.inputs if number == 0 else 2 * self.hidden
            found[f"layer {number}"] = Draw("keep", (size,))
            found[f"states {number}"] = Draw("keep", (2, self.hidden))
        return found

    def __call__(self, inputs: jax.Array, real: jax.Array, draws: Mapping[str, jax.Array]) -> jax.Array:
        """States of the last layer, [P, 2H].

        Args:
            inputs: [P, D].
            real: True at words, which are contiguous, [P] bool.
            draws: masks by name, see `draws`.
        """
        states = inputs * draws["input"]
        for number, layer in enumerate(self.layers):
            states = layer(states * draws[f"layer {number}"][None], real, draws[f"states {number}"])
        return states


def dropout_rates(layers: int, *, inputs: float, variational: float, output: float) -> dict[str, float]:
    """Dropout rates by the names of the masks of `BiLstms`, and "output" for the last layer's states."""
    names = (f"{kind} {number}" for kind in ("layer", "states") for number in range(layers))
    return {"input": inputs, "output": output, **dict.fromkeys(names, variational)}

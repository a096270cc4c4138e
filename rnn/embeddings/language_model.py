"""The recurrent neural network language model of Mikolov et al. (2010): its equations and its training by chunks.

The model reads a text word by word and gives every word's probability to be the next (section 2 of the paper):

    s(t) = f(U w(t) + W s(t-1))     (1), (2), w(t) is 1 of V; f is the logistic sigmoid (4)
    y(t) = g(V s(t))                (3), g is the softmax (5)

It is trained by truncated back-propagation through time: the text lies in B parallel streams, cut into chunks of T
words; the hidden state goes on from chunk to chunk, the gradient stops at a chunk's start.

Reference:
    T. Mikolov, M. Karafiát, L. Burget, J. Černocký, S. Khudanpur (2010). Recurrent neural network based language
    model. Interspeech.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax

from rnn.layers.recurrence import run

_END = -1  # in `Text.targets`: beyond the end of the text
_CALL = 64  # chunks a compiled call: long enough to hide the call, short enough to be interrupted


class Parameters(NamedTuple):
    """All that is learned.

    Attributes:
        U: from words to the hidden layer, the word vectors, [V, H].
        W: from the hidden layer to itself, [H, H].
        V: from the hidden layer to words, [V, H].
    """

    U: jax.Array
    W: jax.Array
    V: jax.Array


class Text(NamedTuple):
    """A text of word ids in B streams, cut into C chunks of T words.

    Attributes:
        inputs: the words read, [C, T, B] int32.
        targets: the words that follow them, [C, T, B] int32; negative beyond the end of the text.
    """

    inputs: Any
    targets: Any


def lay_out(ids: Sequence[int], *, streams: int, steps: int) -> Text:
    """A text of word ids, in order, as streams and chunks; every id but the first is a target once.

    Example:
        >>> text = lay_out([0, 5, 6, 0, 7, 0], streams=2, steps=3)
        >>> text.targets[0].T.tolist()
        [[5, 6, 0], [7, 0, -1]]
    """
    count = len(ids) - 1
    chunks = -(-count // (streams * steps))
    inputs = np.zeros(chunks * streams * steps, np.int32)
    targets = np.full_like(inputs, _END)
    inputs[:count], targets[:count] = ids[:-1], ids[1:]
    return Text(*(a.reshape(streams, chunks, steps).transpose(1, 2, 0) for a in (inputs, targets)))  # [C, T, B]


def initial_weights(words: int, dim: int, *, seed: int) -> Parameters:
    """Small Gaussian noise (Mikolov et al. 2010, section 2), with a standard deviation of 0.1."""
    random = np.random.default_rng(seed)
    shapes = (words, dim), (dim, dim), (words, dim)
    return Parameters(*(jnp.asarray(random.normal(0.0, 0.1, shape), jnp.float32) for shape in shapes))


def chunk_loss(
    weights: Parameters, state: jax.Array, inputs: jax.Array, targets: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """The negative log-likelihood of a chunk of text, in nats.

    Args:
        weights: of the model.
        state: the hidden states before the chunk, [B, H].
        inputs: ids of the words read, [T, B].
        targets: ids of the words that follow, [T, B]; negative where none does.

    Returns:
        The sum of -log y(t)[target], and the hidden states after the chunk, [B, H].
    """

    def cell(previous: jax.Array, driven: jax.Array) -> tuple[jax.Array, jax.Array]:
        hidden = jax.nn.sigmoid(driven + previous @ weights.W.T)  # equation (2)
        return hidden, hidden

    hidden = run(cell, state, weights.U[inputs])  # [T, B, H]
    scores = hidden @ weights.V.T  # [T, B, V]
    losses = optax.softmax_cross_entropy_with_integer_labels(scores, jnp.maximum(targets, 0))  # [T, B]
    return jnp.sum(losses, where=targets >= 0), hidden[-1]


def initial_squares(weights: Parameters) -> Any:
    """What Adagrad knows before the first update."""
    return _adagrad(0.0).init(weights)


def _adagrad(rate: Any) -> optax.GradientTransformation:
    return optax.adagrad(rate, initial_accumulator_value=0.0)


@partial(jax.jit, donate_argnames=("weights", "squares", "state"))
def _update_chunks(
    weights: Parameters, squares: Any, state: jax.Array, text: Text, start: jax.Array, stop: jax.Array, rate: jax.Array
) -> tuple[Parameters, Any, jax.Array]:
    """One Adagrad update for each of the chunks from ``start`` to ``stop``, one after the other."""
    optimiser = _adagrad(rate)

    def mean_loss(
        weights: Parameters, state: jax.Array, inputs: jax.Array, targets: jax.Array
    ) -> tuple[jax.Array, Any]:
        loss, state = chunk_loss(weights, state, inputs, targets)
        return loss / targets.size, state

    def update(i: jax.Array, carry: tuple[Parameters, Any, jax.Array]) -> tuple[Parameters, Any, jax.Array]:
        weights, squares, state = carry
        gradient, state = jax.grad(mean_loss, has_aux=True)(weights, state, text.inputs[i], text.targets[i])
        change, squares = optimiser.update(gradient, squares)
        return optax.apply_updates(weights, change), squares, state

    return lax.fori_loop(start, stop, update, (weights, squares, state))


def train_epoch(weights: Parameters, squares: Any, text: Text, rate: float) -> tuple[Parameters, Any]:
    """One pass over a text: an Adagrad update for each chunk, in order, from hidden states of 0.

    Args:
        weights: the weights so far; the caller gives them up.
        squares: the sums of squared gradients so far, from `initial_squares`; the caller gives them up.
        text: the text, on the device.
        rate: the learning rate.

    Returns:
        The new weights and sums.
    """
    chunks, _, streams = text.inputs.shape
    state = jnp.zeros((streams, weights.W.shape[0]))
    for start in range(0, chunks, _CALL):
        stop = min(start + _CALL, chunks)
        weights, squares, state = _update_chunks(
            weights, squares, state, text, np.int32(start), np.int32(stop), np.float32(rate)
        )
    return weights, squares


@jax.jit
def _text_loss(weights: Parameters, text: Text) -> jax.Array:
    def step(state: jax.Array, chunk: Text) -> tuple[jax.Array, jax.Array]:
        loss, state = chunk_loss(weights, state, chunk.inputs, chunk.targets)
        return state, loss

    return jnp.sum(lax.scan(step, jnp.zeros((text.inputs.shape[2], weights.W.shape[0])), text)[1])


def perplexity(weights: Parameters, text: Text) -> float:
    """exp of the mean negative log-probability of a text's words."""
    words = int((text.targets >= 0).sum())
    return math.exp(float(_text_loss(weights, text)) / words)

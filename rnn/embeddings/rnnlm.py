"""A recurrent neural network language model, and word vectors from it: the input weights U of Mikolov et al. (2010).

    s(t) = f(U w(t) + W s(t-1))     (1), (2), w(t) is 1 of V; f is the logistic sigmoid (4)
    y(t) = g(V s(t))                (3), g is the softmax (5)

y(t) holds the probability of each word to be the next (section 2 of the paper). A word's vector is its column of U, so
D = H. The model is trained by truncated back-propagation through time: the text
is divided into B parallel streams, cut into chunks of T words. One Adagrad update is made for each chunk of all
streams, and hidden states are carried from chunk to chunk, without gradients.

Reference:
    T. Mikolov, M. Karafiát, L. Burget, J. Černocký, S. Khudanpur (2010). Recurrent neural network based language
    model. Interspeech. The vectors are those of yadav2016, section 3.1.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax

from crfdeid.errors import EmptyInputError
from crfdeid.validation import require_counts, require_number
from rnn.embeddings.vectors import BOUNDARY, CLASS_WORDS, WordVectors, class_word, replace_rare
from rnn.vocab import zero_digits

_END = -1  # in `Text.targets`: beyond the end of the text
_CALL = 64  # chunks a compiled call: enough to hide the overhead, few enough to be interrupted
_SCORED = 256  # words a chunk in evaluation
_BLOCK = 50  # sentences held out together: about a note, so that few of them were half seen in training

_OnRnnlmEpoch = Callable[[int, int, float], None]


class Parameters(NamedTuple):
    """Parameters of the language model.

    Attributes:
        U: from words to the hidden layer, the word vectors, [V, H].
        W: from the hidden layer to itself, [H, H].
        V: from the hidden layer to words, [V, H].
    """

    U: jax.Array
    W: jax.Array
    V: jax.Array


class Text(NamedTuple):
    """Text of word ids in B streams, cut into C chunks of T words.

    Attributes:
        inputs: the words read, [C, T, B] int32.
        targets: the words that follow them, [C, T, B] int32; negative beyond the end of the text.
    """

    inputs: Any
    targets: Any


def lay_out(ids: Sequence[int], *, streams: int, steps: int) -> Text:
    """Divide a text of word ids into streams and chunks; every id but the first is a target once.

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
    """Negative log-likelihood of a chunk of text, in nats.

    Args:
        weights: the parameters.
        state: hidden states before the chunk, [B, H].
        inputs: ids of the words read, [T, B].
        targets: ids of the words that follow, [T, B]; negative beyond the end of the text.

    Returns:
        The sum of -log y(t)[target], and the hidden states after the chunk, [B, H].
    """

    def cell(previous: jax.Array, driven: jax.Array) -> tuple[jax.Array, jax.Array]:
        hidden = jax.nn.sigmoid(driven + previous @ weights.W.T)  # equation (2)
        return hidden, hidden

    hidden = lax.scan(cell, state, weights.U[inputs])[1]  # [T, B, H]
    scores = hidden @ weights.V.T  # [T, B, V]
    losses = optax.softmax_cross_entropy_with_integer_labels(scores, jnp.maximum(targets, 0))  # [T, B]
    return jnp.sum(losses, where=targets >= 0), hidden[-1]


def initial_squares(weights: Parameters) -> Any:
    """Initial state of Adagrad: sums of squared gradients of 0."""
    return _adagrad(0.0).init(weights)


def _adagrad(rate: Any) -> optax.GradientTransformation:
    return optax.adagrad(rate, initial_accumulator_value=0.0)


@partial(jax.jit, donate_argnames=("weights", "squares", "state"))
def _update_chunks(
    weights: Parameters, squares: Any, state: jax.Array, text: Text, start: jax.Array, stop: jax.Array, rate: jax.Array
) -> tuple[Parameters, Any, jax.Array]:
    """One Adagrad update for each of the chunks from ``start`` to ``stop``, in order."""
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
    """Pass once over a text, with an Adagrad update for each chunk, from hidden states of 0.

    Args:
        weights: the parameters; the buffers are reused.
        squares: the sums of squared gradients, from `initial_squares`; the buffers are reused.
        text: the text, on the device.
        rate: learning rate.

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
    """Perplexity of a text: exp of the mean negative log-probability of its words."""
    words = int((text.targets >= 0).sum())
    return math.exp(float(_text_loss(weights, text)) / words)


@dataclass(frozen=True, kw_only=True)
class RnnlmSettings:
    """Settings of the language model.

    It is trained by Adagrad instead of the original's plain gradient descent: most words are rare, have few gradients
    and need long steps. On clinical notes, gradient descent had a far higher held-out perplexity after 8 epochs.

    Args:
        dim: size of a word vector, which is the number of hidden units.
        epochs: passes over the text; that with the lowest held-out perplexity is kept.
        lr: Adagrad's learning rate in the first epoch, at most 1.
        final_lr: learning rate of the last epoch as a share of the first's; linear in between.
        streams: parts of the text that are read in parallel, B; each update uses all of them.
        steps: words of a stream an update, T, the reach of the gradient.
        held_out: share of the sentences that are held out to measure the perplexity.
        min_count: number of occurrences below which a word is read as its casing class.

    Raises:
        UsageError: a value cannot work.
    """

    dim: int = 80
    epochs: int = 8
    lr: float = 0.2
    final_lr: float = 0.1
    streams: int = 16
    steps: int = 16
    held_out: float = 0.05
    min_count: int = 2

    def __post_init__(self) -> None:
        require_counts(self, "dim", "epochs", "streams", "steps", "min_count")
        require_number("lr", self.lr, "a number above 0, at most 1", lambda v: 0 < v <= 1)
        require_number("final_lr", self.final_lr, "a number from 0 to 1", lambda v: 0 <= v <= 1)
        require_number("held_out", self.held_out, "a number above 0, at most 0.5", lambda v: 0 < v <= 0.5)


@dataclass(frozen=True, eq=False)
class LanguageModel:
    """Trained language model.

    Attributes:
        words: known words, `BOUNDARY` first, then the most frequent first.
        weights: the parameters.
    """

    words: tuple[str, ...]
    weights: Parameters

    def perplexity(self, sentences: Iterable[Sequence[str]]) -> float:
        """Perplexity of sentences, read as one text with a word for each sentence's end.

        An unknown word counts as its casing class, so only models of the same words are comparable.

        Raises:
            EmptyInputError: there are no words.
        """
        readable = _readable(sentences)
        if not readable:
            raise EmptyInputError("there are no words to measure the perplexity of: give sentences with words")
        return perplexity(self.weights, lay_out(_ids(readable, self.words), streams=1, steps=_SCORED))

    def vectors(self) -> WordVectors:
        """Return the word vectors: the model's input weights."""
        return WordVectors(self.words, np.asarray(self.weights.U))


def train_rnnlm(
    sentences: Iterable[Sequence[str]],
    settings: RnnlmSettings | None = None,
    *,
    seed: int = 0,
    on_progress: _OnRnnlmEpoch = lambda *_: None,
) -> WordVectors:
    """Train word vectors on the sentences of a text: the input weights of `train_language_model`.

    Example:
        >>> sentences = [["Seen", "by", "Dr", "Doe"], ["Seen", "in", "clinic"]] * 5
        >>> train_rnnlm(sentences, RnnlmSettings(dim=4, epochs=1)).dim
        4
    """
    return train_language_model(sentences, settings, seed=seed, on_progress=on_progress).vectors()


def train_language_model(
    sentences: Iterable[Sequence[str]],
    settings: RnnlmSettings | None = None,
    *,
    seed: int = 0,
    on_progress: _OnRnnlmEpoch = lambda *_: None,
) -> LanguageModel:
    """Train a language model on the sentences of a text, in their order.

    Args:
        sentences: the words of each sentence.
        settings: training settings; None for `RnnlmSettings()`.
        seed: seed of the initial weights; nothing else is random.
        on_progress: called after each epoch with its number, the number of epochs and the held-out perplexity.

    Returns:
        The model after the epoch with the lowest held-out perplexity.

    Raises:
        EmptyInputError: there are less than two sentences with words.
    """
    settings = settings or RnnlmSettings()
    training, held_out = split(_readable(sentences), settings.held_out)
    words, ids = _vocabulary(training, settings.min_count)
    text = jax.device_put(lay_out(ids, streams=settings.streams, steps=settings.steps))
    measured = lay_out(_ids(held_out, words), streams=1, steps=_SCORED)
    weights = initial_weights(len(words), settings.dim, seed=seed)
    squares = initial_squares(weights)
    kept, lowest = weights, math.inf
    for epoch in range(settings.epochs):
        share = epoch / max(settings.epochs - 1, 1)
        rate = settings.lr * (1.0 + (settings.final_lr - 1.0) * share)
        weights, squares = train_epoch(weights, squares, text, rate)
        found = perplexity(weights, measured)
        if found < lowest:
            kept, lowest = jax.tree.map(jnp.copy, weights), found  # a copy: the next epoch reuses the buffers
        on_progress(epoch + 1, settings.epochs, found)
    return LanguageModel(words, kept)


def split(sentences: Sequence[Sequence[str]], held_out: float) -> tuple[list[Sequence[str]], list[Sequence[str]]]:
    """Split sentences into training and held-out ones: the last of every 1 / held_out consecutive blocks is held out.

    Raises:
        EmptyInputError: there are less than two sentences.
    """
    if len(sentences) < 2:
        problem = "too little text for a language model: give two sentences with words or more"
        raise EmptyInputError(f"{problem}, there {'is' if len(sentences) == 1 else 'are'} {len(sentences)}")
    every = min(round(1 / held_out), len(sentences))
    blocks = every * max(1, len(sentences) // (every * _BLOCK))  # as even as can be
    measured = [i * blocks // len(sentences) % every == every - 1 for i in range(len(sentences))]
    training = [sentence for sentence, out in zip(sentences, measured, strict=True) if not out]
    return training, [sentence for sentence, out in zip(sentences, measured, strict=True) if out]


def _readable(sentences: Iterable[Sequence[str]]) -> list[Sequence[str]]:
    return [sentence for sentence in sentences if sentence]


def _vocabulary(sentences: Sequence[Sequence[str]], min_count: int) -> tuple[tuple[str, ...], list[int]]:
    """Words of a text after replacement of rare ones, and the text as their ids."""
    replaced = replace_rare(sentences, min_count=min_count)
    counts = Counter(dict.fromkeys(CLASS_WORDS, 0))
    counts.update(word for sentence in replaced for word in sentence if word != BOUNDARY)
    words = (BOUNDARY, *sorted(counts, key=lambda word: (-counts[word], word)))
    return words, _ids(replaced, words)


def _ids(sentences: Iterable[Sequence[str]], words: Sequence[str]) -> list[int]:
    """Ids of a text: a boundary, then each sentence and a boundary."""
    ids = {word: i for i, word in enumerate(words)}
    text = [0]
    for sentence in sentences:
        for word in map(zero_digits, sentence):
            text.append(ids[word] if word in ids else ids[class_word(word)])
        text.append(0)
    return text

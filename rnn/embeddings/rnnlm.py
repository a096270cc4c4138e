"""Word vectors from a recurrent neural network language model: the input weights of Mikolov et al. (2010).

The model reads a text word by word and gives every word's probability to be the next (section 2 of the paper):

    s(t) = f(U w(t) + W s(t-1))     (1), (2), w(t) is 1 of V; f is the logistic sigmoid (4)
    y(t) = g(V s(t))                (3), g is the softmax (5)

Each word has a column of U to itself, as long as the hidden layer: that is its vector, D = H. It is trained by
truncated back-propagation through time: the text lies in B parallel streams, cut into chunks of T words; the hidden
state goes on from chunk to chunk, the gradient stops at a chunk's start.

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

from crfdeid.errors import DataError, UsageError
from rnn.batches import fold
from rnn.embeddings.vectors import BOUNDARY, CLASS_WORDS, WordVectors, class_word, replace_rare
from rnn.networks.recurrence import run

_END = -1  # in `Text.targets`: beyond the end of the text
_CALL = 64  # chunks a compiled call: long enough to hide the call, short enough to be interrupted
_SCORED = 256  # words a chunk when nothing is trained
_BLOCK = 50  # sentences held out together: about a note, so that few of them were half seen in training

OnEpoch = Callable[[int, int, float], None]


@dataclass(frozen=True, kw_only=True)
class RnnlmSettings:
    """The settings of the language model.

    Trained by Adagrad, not by the original's plain gradient descent: most words are rare, get few gradients and need
    long steps. On clinical notes it reached in 8 epochs a held-out perplexity that gradient descent was far from.

    Args:
        dim: the size of a word vector, which is the number of hidden units.
        epochs: passes over the text; the one with the lowest held-out perplexity is kept.
        lr: Adagrad's learning rate in the first epoch, at most 1.
        final_lr: the last epoch's learning rate as a share of the first's; linear in between.
        streams: parts of the text that are read side by side, B; one update is made from all of them.
        steps: words of a stream an update, T: the gradient goes back this far at most.
        held_out: the share of the sentences that are not trained on but measured.
        min_count: a word seen less often is read as its casing class.

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
        for name in ("dim", "epochs", "streams", "steps", "min_count"):
            value = getattr(self, name)
            if not (isinstance(value, int) and value >= 1):
                raise UsageError(f"{name} is {value}: give a whole number of 1 or more")
        if not 0 < self.lr <= 1:
            raise UsageError(f"lr is {self.lr}: give a number above 0, at most 1")
        if not 0 <= self.final_lr <= 1:
            raise UsageError(f"final_lr is {self.final_lr}: give a number from 0 to 1")
        if not 0 < self.held_out <= 0.5:
            raise UsageError(f"held_out is {self.held_out}: give a number above 0, at most 0.5")


class Weights(NamedTuple):
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


@dataclass(frozen=True, eq=False)
class LanguageModel:
    """A trained language model.

    Attributes:
        words: the words it knows, `BOUNDARY` first, then the most frequent first.
        weights: what it learned.
    """

    words: tuple[str, ...]
    weights: Weights

    def perplexity(self, sentences: Iterable[Sequence[str]]) -> float:
        """exp of the mean negative log-probability of each word and each sentence's end, read as one text.

        A word the model does not know counts as its casing class, so compare models of the same words only.

        Raises:
            DataError: there are no words.
        """
        readable = _readable(sentences)
        if not readable:
            raise DataError("there are no words to measure the perplexity of: give sentences with words")
        return _perplexity(self.weights, lay_out(_ids(readable, self.words), streams=1, steps=_SCORED))

    def vectors(self) -> WordVectors:
        """The word vectors: the model's input weights."""
        return WordVectors(self.words, np.asarray(self.weights.U))


def train_rnnlm(
    sentences: Iterable[Sequence[str]],
    settings: RnnlmSettings | None = None,
    *,
    seed: int = 0,
    on_progress: OnEpoch | None = None,
) -> WordVectors:
    """Word vectors from the sentences of a text: the input weights of `train_language_model`, which says the rest.

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
    on_progress: OnEpoch | None = None,
) -> LanguageModel:
    """Train a language model on the sentences of a text, in their order.

    Args:
        sentences: the words of each sentence.
        settings: how to train; `RnnlmSettings()` where None.
        seed: the seed of the initial weights; nothing else is random.
        on_progress: is called after each epoch with its number, the number of epochs and the held-out perplexity.

    Returns:
        The model after the epoch with the lowest held-out perplexity.

    Raises:
        DataError: there are less than two sentences with words: one to train on, one to hold out.
    """
    settings = settings or RnnlmSettings()
    training, held_out = split(_readable(sentences), settings.held_out)
    words, ids = _vocabulary(training, settings.min_count)
    text = jax.device_put(lay_out(ids, streams=settings.streams, steps=settings.steps))
    measured = lay_out(_ids(held_out, words), streams=1, steps=_SCORED)
    weights = initial_weights(len(words), settings.dim, seed=seed)
    squares = optax.adagrad(settings.lr, initial_accumulator_value=0.0).init(weights)
    kept, lowest = weights, math.inf
    for epoch in range(settings.epochs):
        share = epoch / max(settings.epochs - 1, 1)
        rate = settings.lr * (1.0 + (settings.final_lr - 1.0) * share)
        weights, squares = _train_epoch(weights, squares, text, rate)
        perplexity = _perplexity(weights, measured)
        if perplexity < lowest:
            kept, lowest = jax.tree.map(jnp.copy, weights), perplexity  # a copy: the next epoch reuses the buffers
        if on_progress is not None:
            on_progress(epoch + 1, settings.epochs, perplexity)
    return LanguageModel(words, kept)


def split(sentences: Sequence[Sequence[str]], held_out: float) -> tuple[list[Sequence[str]], list[Sequence[str]]]:
    """The sentences to train on and those to measure: of every 1 / held_out blocks of neighbours, the last.

    Raises:
        DataError: there are less than two sentences.
    """
    if len(sentences) < 2:
        problem = "too little text for a language model: give two sentences with words or more"
        raise DataError(f"{problem}, there {'is' if len(sentences) == 1 else 'are'} {len(sentences)}")
    every = min(round(1 / held_out), len(sentences))
    blocks = every * max(1, len(sentences) // (every * _BLOCK))  # as even as can be
    measured = [i * blocks // len(sentences) % every == every - 1 for i in range(len(sentences))]
    training = [sentence for sentence, out in zip(sentences, measured, strict=True) if not out]
    return training, [sentence for sentence, out in zip(sentences, measured, strict=True) if out]


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


def initial_weights(words: int, dim: int, *, seed: int) -> Weights:
    """Small Gaussian noise (Mikolov et al. 2010, section 2), with a standard deviation of 0.1."""
    random = np.random.default_rng(seed)
    shapes = Weights((words, dim), (dim, dim), (words, dim))  # type: ignore[arg-type]
    return Weights(*(jnp.asarray(random.normal(0.0, 0.1, shape), jnp.float32) for shape in shapes))


def chunk_loss(
    weights: Weights, state: jax.Array, inputs: jax.Array, targets: jax.Array
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


@partial(jax.jit, donate_argnames=("weights", "squares", "state"))
def _update_chunks(
    weights: Weights, squares: Any, state: jax.Array, text: Text, start: jax.Array, stop: jax.Array, rate: jax.Array
) -> tuple[Weights, Any, jax.Array]:
    """One Adagrad update for each of the chunks from ``start`` to ``stop``, one after the other."""
    optimiser = optax.adagrad(rate, initial_accumulator_value=0.0)

    def mean_loss(weights: Weights, state: jax.Array, inputs: jax.Array, targets: jax.Array) -> tuple[jax.Array, Any]:
        loss, state = chunk_loss(weights, state, inputs, targets)
        return loss / targets.size, state

    def update(i: jax.Array, carry: tuple[Weights, Any, jax.Array]) -> tuple[Weights, Any, jax.Array]:
        weights, squares, state = carry
        gradient, state = jax.grad(mean_loss, has_aux=True)(weights, state, text.inputs[i], text.targets[i])
        change, squares = optimiser.update(gradient, squares)
        return optax.apply_updates(weights, change), squares, state

    return lax.fori_loop(start, stop, update, (weights, squares, state))


def _train_epoch(weights: Weights, squares: Any, text: Text, rate: float) -> tuple[Weights, Any]:
    chunks, _, streams = text.inputs.shape
    state = jnp.zeros((streams, weights.W.shape[0]))
    for start in range(0, chunks, _CALL):
        stop = min(start + _CALL, chunks)
        weights, squares, state = _update_chunks(
            weights, squares, state, text, np.int32(start), np.int32(stop), np.float32(rate)
        )
    return weights, squares


@jax.jit
def _text_loss(weights: Weights, text: Text) -> jax.Array:
    def step(state: jax.Array, chunk: Text) -> tuple[jax.Array, jax.Array]:
        loss, state = chunk_loss(weights, state, chunk.inputs, chunk.targets)
        return state, loss

    return jnp.sum(lax.scan(step, jnp.zeros((text.inputs.shape[2], weights.W.shape[0])), text)[1])


def _perplexity(weights: Weights, text: Text) -> float:
    words = int((text.targets >= 0).sum())
    return math.exp(float(_text_loss(weights, text)) / words)


def _readable(sentences: Iterable[Sequence[str]]) -> list[Sequence[str]]:
    return [sentence for sentence in sentences if sentence]


def _vocabulary(sentences: Sequence[Sequence[str]], min_count: int) -> tuple[tuple[str, ...], list[int]]:
    """The words of a text, after rare ones were replaced, and the text as their ids."""
    replaced = replace_rare(sentences, min_count=min_count)
    counts = Counter(dict.fromkeys(CLASS_WORDS, 0))
    counts.update(word for sentence in replaced for word in sentence if word != BOUNDARY)
    words = (BOUNDARY, *sorted(counts, key=lambda word: (-counts[word], word)))
    return words, _ids(replaced, words)


def _ids(sentences: Iterable[Sequence[str]], words: Sequence[str]) -> list[int]:
    """The ids of a text: a boundary, then each sentence and a boundary."""
    ids = {word: i for i, word in enumerate(words)}
    text = [0]
    for sentence in sentences:
        for word in map(fold, sentence):
            text.append(ids[word] if word in ids else ids[class_word(word)])
        text.append(0)
    return text

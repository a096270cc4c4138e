"""Word vectors from a recurrent neural network language model: the input weights of Mikolov et al. (2010).

Each word has a column of U to itself, as long as the hidden layer: that is its vector, D = H. The model itself is
language_model.py.

Reference:
    T. Mikolov, M. Karafiát, L. Burget, J. Černocký, S. Khudanpur (2010). Recurrent neural network based language
    model. Interspeech. The vectors are those of yadav2016, section 3.1.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from crfdeid.errors import EmptyInputError
from crfdeid.validation import require_counts, require_number
from rnn.embeddings.language_model import Parameters, initial_squares, initial_weights, lay_out, perplexity, train_epoch
from rnn.embeddings.vectors import BOUNDARY, CLASS_WORDS, WordVectors, class_word, replace_rare
from rnn.vocab import fold

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
        require_counts(self, "dim", "epochs", "streams", "steps", "min_count")
        require_number("lr", self.lr, "a number above 0, at most 1", lambda v: 0 < v <= 1)
        require_number("final_lr", self.final_lr, "a number from 0 to 1", lambda v: 0 <= v <= 1)
        require_number("held_out", self.held_out, "a number above 0, at most 0.5", lambda v: 0 < v <= 0.5)


@dataclass(frozen=True, eq=False)
class LanguageModel:
    """A trained language model.

    Attributes:
        words: the words it knows, `BOUNDARY` first, then the most frequent first.
        weights: what it learned.
    """

    words: tuple[str, ...]
    weights: Parameters

    def perplexity(self, sentences: Iterable[Sequence[str]]) -> float:
        """exp of the mean negative log-probability of each word and each sentence's end, read as one text.

        A word the model does not know counts as its casing class, so compare models of the same words only.

        Raises:
            DataError: there are no words.
        """
        readable = _readable(sentences)
        if not readable:
            raise EmptyInputError("there are no words to measure the perplexity of: give sentences with words")
        return perplexity(self.weights, lay_out(_ids(readable, self.words), streams=1, steps=_SCORED))

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
    squares = initial_squares(weights)
    kept, lowest = weights, math.inf
    for epoch in range(settings.epochs):
        share = epoch / max(settings.epochs - 1, 1)
        rate = settings.lr * (1.0 + (settings.final_lr - 1.0) * share)
        weights, squares = train_epoch(weights, squares, text, rate)
        found = perplexity(weights, measured)
        if found < lowest:
            kept, lowest = jax.tree.map(jnp.copy, weights), found  # a copy: the next epoch reuses the buffers
        if on_progress is not None:
            on_progress(epoch + 1, settings.epochs, found)
    return LanguageModel(words, kept)


def split(sentences: Sequence[Sequence[str]], held_out: float) -> tuple[list[Sequence[str]], list[Sequence[str]]]:
    """The sentences to train on and those to measure: of every 1 / held_out blocks of neighbours, the last.

    Raises:
        DataError: there are less than two sentences.
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

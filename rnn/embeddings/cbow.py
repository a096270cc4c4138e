"""Word vectors from a continuous bag of words: gensim's Word2Vec (Mikolov et al. 2013).

Each word is guessed from the mean of the vectors of the words around it; the vectors are learned by telling the word
from a few drawn at random (negative sampling).

Reference:
    T. Mikolov, K. Chen, G. Corrado, J. Dean (2013). Efficient estimation of word representations in vector space.
    arXiv:1301.3781. Negative sampling: arXiv:1310.4546. The vectors are those of yadav2016, section 3.1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from crfdeid.errors import DataError, UsageError
from rnn.embeddings.vectors import BOUNDARY, WordVectors, replace_rare

if TYPE_CHECKING:
    from gensim.models.callbacks import CallbackAny2Vec

_LONGEST = 10_000  # words of a sentence that gensim reads; it would leave out the rest without a word

OnEpoch = Callable[[int, int], None]


@dataclass(frozen=True, kw_only=True)
class CbowSettings:
    """The settings of the continuous bag of words.

    The defaults suit some hundreds of notes, where gensim's 5 epochs leave vectors nearly untrained; for millions of
    words fewer will do.

    Args:
        dim: the size of a word vector, D.
        window: the most words that count on either side; for each word their number is drawn from 1 to this.
        epochs: passes over the text.
        negative: random words that each word is told from.
        sample: words above this share of the text are left out now and then.
        lr: the first learning rate; it falls to nearly 0.
        min_count: a word seen less often is read as its casing class.

    Raises:
        UsageError: a value cannot work.
    """

    dim: int = 300
    window: int = 5
    epochs: int = 50
    negative: int = 5
    sample: float = 1e-3
    lr: float = 0.025
    min_count: int = 2

    def __post_init__(self) -> None:
        for name in ("dim", "window", "epochs", "negative", "min_count"):
            value = getattr(self, name)
            if not (value == int(value) and value >= 1):
                raise UsageError(f"{name} is {value}: give a whole number of 1 or more")
        for name in ("sample", "lr"):
            value = getattr(self, name)
            if not 0 < value < math.inf:
                raise UsageError(f"{name} is {value}: give a number above 0")


def train_cbow(
    sentences: Iterable[Sequence[str]],
    settings: CbowSettings | None = None,
    *,
    seed: int = 0,
    on_progress: OnEpoch | None = None,
) -> WordVectors:
    """Word vectors from the sentences of a text; the most frequent word first. Same inputs, same vectors.

    Args:
        sentences: the words of each sentence.
        settings: how to train; `CbowSettings()` where None.
        seed: the seed of the initial vectors, the windows and the samples.
        on_progress: is called after each epoch with its number and the number of epochs.

    Raises:
        DataError: there are no words.

    Example:
        >>> sentences = [["Seen", "by", "Dr", "Doe"], ["Seen", "in", "clinic"]] * 5
        >>> train_cbow(sentences, CbowSettings(dim=4, epochs=1)).dim
        4
    """
    from gensim.models import Word2Vec  # noqa: PLC0415  a second to import

    settings = settings or CbowSettings()
    text = list(_pieces(replace_rare(sentences, min_count=settings.min_count)))
    if not text:
        raise DataError("there is no text to learn word vectors from: give sentences with words")
    model = Word2Vec(
        text,
        sg=0,
        vector_size=settings.dim,
        window=settings.window,
        epochs=settings.epochs,
        negative=settings.negative,
        sample=settings.sample,
        alpha=settings.lr,
        min_count=1,  # rare words are replaced already
        workers=1,  # more of them race
        seed=seed + 1,  # gensim takes no 0
        callbacks=[_epoch_callback(settings.epochs, on_progress)] if on_progress else [],
    )
    return WordVectors(tuple(model.wv.index_to_key), np.array(model.wv.vectors, np.float32))


def _pieces(sentences: Iterable[list[str]]) -> Iterator[list[str]]:
    """Sentences between boundaries, in pieces that gensim reads whole."""
    for sentence in sentences:
        words = [BOUNDARY, *sentence, BOUNDARY] if sentence else []
        for start in range(0, len(words), _LONGEST):
            yield words[start : start + _LONGEST]


def _epoch_callback(epochs: int, on_progress: OnEpoch) -> CallbackAny2Vec:
    from gensim.models.callbacks import CallbackAny2Vec  # noqa: PLC0415

    class Epochs(CallbackAny2Vec):
        done = 0

        def on_epoch_end(self, model: Any) -> None:
            self.done += 1
            on_progress(self.done, epochs)

    return Epochs()

"""Word vectors with sub-words: gensim's FastText, by skip-gram (Bojanowski et al. 2017).

Each word's vector is the mean of one of its own and those of its n-grams of characters; it is learned by guessing the
words around it, each told from a few drawn at random (negative sampling). So words that were never seen have a vector
too: that of their n-grams (`rnn.embeddings.subwords`).

Reference:
    P. Bojanowski, E. Grave, A. Joulin, T. Mikolov (2017). Enriching word vectors with subword information. TACL 5.
    arXiv:1607.04606.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from crfdeid.errors import SettingError
from crfdeid.validation import require_counts, require_positive
from rnn.embeddings.gensim_text import OnEpoch, callbacks, readable_text
from rnn.embeddings.subwords import SubwordVectors, encodable
from rnn.embeddings.vectors import WordVectors

MOST_BUCKETS = 50_000
"""The most buckets that are trained: all of them are stored with every model, 20 MB where D is 100."""


@dataclass(frozen=True, kw_only=True)
class FasttextSettings:
    """The settings of fastText's skip-gram.

    Those of `rnn.embeddings.CbowSettings` mean the same here. Every word counts, however rare (``min_count`` of 1):
    names are rare, and it is their n-grams that unseen names will be made of.

    Args:
        dim: the size of a word vector, D.
        window: the most words that are guessed on either side; for each word their number is drawn from 1 to this.
        epochs: passes over the text.
        negative: random words that each word is told from.
        sample: words above this share of the text are left out now and then.
        lr: the first learning rate; it falls to nearly 0.
        min_count: a word seen less often is read as its casing class.
        min_n: the fewest characters of an n-gram, the marks of a word's beginning and end counted.
        max_n: the most.
        buckets: vectors that n-grams share, at most `MOST_BUCKETS`; the fewer, the more n-grams share one.

    Raises:
        UsageError: a value cannot work.
    """

    dim: int = 100
    window: int = 5
    epochs: int = 20
    negative: int = 5
    sample: float = 1e-3
    lr: float = 0.05
    min_count: int = 1
    min_n: int = 3
    max_n: int = 6
    buckets: int = MOST_BUCKETS

    def __post_init__(self) -> None:
        require_counts(self, "dim", "window", "epochs", "negative", "min_count", "min_n", "max_n", "buckets")
        require_positive(self, "sample", "lr")
        if self.min_n > self.max_n:
            raise SettingError(f"min_n is {self.min_n} and max_n {self.max_n}: give the smaller number first")
        if self.buckets > MOST_BUCKETS:
            raise SettingError(f"buckets is {self.buckets}: give at most {MOST_BUCKETS}, all are stored with a model")


def train_fasttext(
    sentences: Iterable[Sequence[str]],
    settings: FasttextSettings | None = None,
    *,
    seed: int = 0,
    on_progress: OnEpoch | None = None,
) -> WordVectors:
    """Word vectors with sub-words from the sentences of a text; the most frequent word first.

    The same inputs give the same vectors.

    Args:
        sentences: the words of each sentence.
        settings: how to train; `FasttextSettings()` where None.
        seed: the seed of the initial vectors, the windows and the samples.
        on_progress: is called after each epoch with its number and the number of epochs.

    Raises:
        DataError: there are no words.

    Example:
        >>> sentences = [["Seen", "by", "Dr", "Doe"], ["Seen", "in", "clinic"]] * 5
        >>> vectors = train_fasttext(sentences, FasttextSettings(dim=4, epochs=1, buckets=100))
        >>> vectors.dim, vectors.subwords.vector("clinical").shape
        (4, (4,))
    """
    from gensim.models import FastText  # noqa: PLC0415  a second to import

    settings = settings or FasttextSettings()
    text = readable_text(sentences, min_count=settings.min_count)
    model = FastText(
        [[encodable(word) for word in sentence] for sentence in text],  # gensim fails at what UTF-8 cannot hold
        sg=1,
        vector_size=settings.dim,
        window=settings.window,
        epochs=settings.epochs,
        negative=settings.negative,
        sample=settings.sample,
        alpha=settings.lr,
        min_count=1,  # rare words are replaced already
        min_n=settings.min_n,
        max_n=settings.max_n,
        bucket=settings.buckets,
        workers=1,  # more of them race
        seed=seed + 1,  # as for CBOW
        callbacks=callbacks(settings.epochs, on_progress),
    )
    found = model.wv
    subwords = SubwordVectors(np.array(found.vectors_ngrams, np.float32), settings.min_n, settings.max_n)
    return WordVectors(tuple(found.index_to_key), np.array(found.vectors, np.float32), subwords)

"""Word vectors by gensim: the continuous bag of words (CBOW), and fastText's skip-gram with sub-words.

CBOW predicts each word from the mean of the vectors of the words around it. FastText predicts the words around each
word; a word's vector is the mean of one vector for the word and those of its n-grams of characters, so unknown words
have a vector too (`rnn.embeddings.SubwordVectors`). Both are trained to separate the right word from a few random ones
(negative sampling).

Reference:
    T. Mikolov, K. Chen, G. Corrado, J. Dean (2013). Efficient estimation of word representations in vector space.
    arXiv:1301.3781. Negative sampling: arXiv:1310.4546. The CBOW vectors are those of yadav2016, section 3.1.
    P. Bojanowski, E. Grave, A. Joulin, T. Mikolov (2017). Enriching word vectors with subword information. TACL 5.
    arXiv:1607.04606.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from crfdeid.errors import EmptyInputError, SettingError
from crfdeid.validation import require_counts, require_positive
from rnn.embeddings.vectors import BOUNDARY, SubwordVectors, WordVectors, encodable, replace_rare

if TYPE_CHECKING:
    from gensim.models.callbacks import CallbackAny2Vec

_LONGEST_SENTENCE = 10_000  # words; gensim silently drops the remainder

_OnEpoch = Callable[[int, int], None]


def readable_text(sentences: Iterable[Sequence[str]], *, min_count: int) -> list[list[str]]:
    """Prepare sentences for gensim: boundaries added, rare words replaced (`replace_rare`), long sentences split.

    Raises:
        EmptyInputError: there are no words.
    """
    text = list(_pieces(replace_rare(sentences, min_count=min_count)))
    if not text:
        raise EmptyInputError("there is no text to learn word vectors from: give sentences with words")
    return text


def _pieces(sentences: Iterable[list[str]]) -> Iterator[list[str]]:
    for sentence in sentences:
        words = [BOUNDARY, *sentence, BOUNDARY] if sentence else []
        for start in range(0, len(words), _LONGEST_SENTENCE):
            yield words[start : start + _LONGEST_SENTENCE]


def _callback(epochs: int, on_progress: _OnEpoch) -> CallbackAny2Vec:
    """Callback for gensim that calls ``on_progress`` after each epoch."""
    from gensim.models.callbacks import CallbackAny2Vec  # noqa: PLC0415  a second to import

    class Epochs(CallbackAny2Vec):
        done = 0

        def on_epoch_end(self, model: Any) -> None:
            self.done += 1
            on_progress(self.done, epochs)

    return Epochs()


@dataclass(frozen=True, kw_only=True)
class CbowSettings:
    """Settings of the continuous bag of words.

    The defaults suit some hundreds of notes, for which gensim's 5 epochs leave vectors nearly untrained; millions of
    words need fewer epochs.

    Args:
        dim: size of a word vector, D.
        window: largest number of words on either side; the number for each word is drawn from 1 to this.
        epochs: passes over the text.
        negative: random words for each word (negative sampling).
        sample: share of the text above which a word is subsampled.
        lr: initial learning rate; it falls to nearly 0.
        min_count: number of occurrences below which a word is read as its casing class.

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
        require_counts(self, "dim", "window", "epochs", "negative", "min_count")
        require_positive(self, "sample", "lr")


def train_cbow(
    sentences: Iterable[Sequence[str]],
    settings: CbowSettings | None = None,
    *,
    seed: int = 0,
    on_progress: _OnEpoch = lambda *_: None,
) -> WordVectors:
    """Train CBOW vectors on the sentences of a text, the most frequent word first. The result is deterministic.

    Args:
        sentences: the words of each sentence.
        settings: training settings; None for `CbowSettings()`.
        seed: seed of the initial vectors, the windows and the samples.
        on_progress: called after each epoch with its number and the number of epochs.

    Raises:
        EmptyInputError: there are no words.

    Example:
        >>> sentences = [["Seen", "by", "Dr", "Doe"], ["Seen", "in", "clinic"]] * 5
        >>> train_cbow(sentences, CbowSettings(dim=4, epochs=1)).dim
        4
    """
    from gensim.models import Word2Vec  # noqa: PLC0415  a second to import

    settings = settings or CbowSettings()
    text = readable_text(sentences, min_count=settings.min_count)
    model = Word2Vec(text, sg=0, **_options(settings, seed, on_progress))
    return WordVectors(tuple(model.wv.index_to_key), np.array(model.wv.vectors, np.float32))


def _options(settings: CbowSettings, seed: int, on_progress: _OnEpoch) -> dict[str, Any]:
    """Arguments of gensim that both models share."""
    return {
        "vector_size": settings.dim,
        "window": settings.window,
        "epochs": settings.epochs,
        "negative": settings.negative,
        "sample": settings.sample,
        "alpha": settings.lr,
        "min_count": 1,  # rare words are replaced already
        "workers": 1,  # several make the result random
        "seed": seed + 1,  # gensim refuses 0
        "callbacks": [_callback(settings.epochs, on_progress)],
    }


MOST_BUCKETS = 50_000
"""Largest number of buckets: all of them are stored with every model, 20 MB for D = 100."""


@dataclass(frozen=True, kw_only=True)
class FasttextSettings(CbowSettings):
    """Settings of fastText's skip-gram, those of CBOW and of n-grams.

    By default every word counts, however rare (``min_count`` of 1): names are rare, and their n-grams make the vectors
    of unseen names.

    Args:
        min_n: smallest number of characters of an n-gram, the marks at a word's start and end included.
        max_n: largest number of characters.
        buckets: vectors that n-grams share, at most `MOST_BUCKETS`; the fewer, the more n-grams share one.

    Raises:
        UsageError: a value cannot work.
    """

    dim: int = 100
    epochs: int = 20
    lr: float = 0.05
    min_count: int = 1
    min_n: int = 3
    max_n: int = 6
    buckets: int = MOST_BUCKETS

    def __post_init__(self) -> None:
        super().__post_init__()
        require_counts(self, "min_n", "max_n", "buckets")
        if self.min_n > self.max_n:
            raise SettingError(f"min_n is {self.min_n} and max_n {self.max_n}: give the smaller number first")
        if self.buckets > MOST_BUCKETS:
            raise SettingError(f"buckets is {self.buckets}: give at most {MOST_BUCKETS}, all are stored with a model")


def train_fasttext(
    sentences: Iterable[Sequence[str]],
    settings: FasttextSettings | None = None,
    *,
    seed: int = 0,
    on_progress: _OnEpoch = lambda *_: None,
) -> WordVectors:
    """Train vectors with sub-words on the sentences of a text, the most frequent word first.

    The result is deterministic.

    Args:
        sentences: the words of each sentence.
        settings: training settings; None for `FasttextSettings()`.
        seed: seed of the initial vectors, the windows and the samples.
        on_progress: called after each epoch with its number and the number of epochs.

    Raises:
        EmptyInputError: there are no words.

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
        [[encodable(word) for word in sentence] for sentence in text],  # gensim fails on text that UTF-8 cannot encode
        sg=1,
        min_n=settings.min_n,
        max_n=settings.max_n,
        bucket=settings.buckets,
        **_options(settings, seed, on_progress),
    )
    found = model.wv
    subwords = SubwordVectors(np.array(found.vectors_ngrams, np.float32), settings.min_n, settings.max_n)
    return WordVectors(tuple(found.index_to_key), np.array(found.vectors, np.float32), subwords)

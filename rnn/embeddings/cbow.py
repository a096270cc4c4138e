"""Word vectors from a continuous bag of words: gensim's Word2Vec (Mikolov et al. 2013).

Each word is guessed from the mean of the vectors of the words around it; the vectors are learned by telling the word
from a few drawn at random (negative sampling).

Reference:
    T. Mikolov, K. Chen, G. Corrado, J. Dean (2013). Efficient estimation of word representations in vector space.
    arXiv:1301.3781. Negative sampling: arXiv:1310.4546. The vectors are those of yadav2016, section 3.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from crfdeid.validation import require_counts, require_positive
from rnn.embeddings.gensim_text import OnEpoch, callbacks, readable_text
from rnn.embeddings.vectors import WordVectors


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
        require_counts(self, "dim", "window", "epochs", "negative", "min_count")
        require_positive(self, "sample", "lr")


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
    model = Word2Vec(
        readable_text(sentences, min_count=settings.min_count),
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
        callbacks=callbacks(settings.epochs, on_progress),
    )
    return WordVectors(tuple(model.wv.index_to_key), np.array(model.wv.vectors, np.float32))

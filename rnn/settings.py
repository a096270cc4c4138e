"""What every network can be told, and what one can be that reads words."""

from __future__ import annotations

import math
from dataclasses import dataclass

from crfdeid.validation import require_choice, require_counts, require_flags, require_number, require_positive

DECODINGS = ("valid", "argmax")


@dataclass(frozen=True, kw_only=True)
class TrainingSettings:
    """The settings of every network's training and decoding.

    Args:
        epochs: passes over the training sentences; the best on dev is kept.
        lr: the learning rate of the first epoch, at most 100.
        final_lr: the last epoch's learning rate as a share of the first's; linear in between. 1 keeps it constant.
        max_norm: the longest the gradient of an update may be, in Euclidean length, before it is shortened; None for
            any. A very long sentence would otherwise throw the weights where nothing is learned any more.
        decoding: "valid" for the most probable sequence of tags that is valid IOB2, "argmax" for the most probable
            tags, valid or not.

    Raises:
        UsageError: a value cannot work.
    """

    epochs: int = 25
    lr: float = 0.06
    final_lr: float = 0.1
    max_norm: float | None = 50.0
    decoding: str = "valid"

    def __post_init__(self) -> None:
        require_counts(self, "epochs")
        require_number("lr", self.lr, "a number above 0, at most 100", lambda v: 0 < v <= 100)
        require_number("final_lr", self.final_lr, "a number from 0 to 1", lambda v: 0 <= v <= 1)
        if self.max_norm is not None:
            require_positive(self, "max_norm")
        require_choice(self, "decoding", DECODINGS)

    def rate(self, epoch: int) -> float:
        """The learning rate of an epoch, from 0."""
        return self.lr * (1.0 + (self.final_lr - 1.0) * epoch / max(self.epochs - 1, 1))

    @property
    def longest_gradient(self) -> float:
        """``max_norm``, infinite for any."""
        return math.inf if self.max_norm is None else self.max_norm


@dataclass(frozen=True, kw_only=True)
class WordSettings(TrainingSettings):
    """The settings of every network that reads words by vectors of its own.

    Args:
        embedding_dim: the size of a word vector, D; with given word vectors, it is theirs.
        embedding_range: word vectors that are not given start uniform in plus or minus this.
        freeze_embeddings: whether all word vectors stay as they are before training.
        fold_digits: whether every digit is read as 0.
        min_count: a word seen less often in training has no vector of its own and trains the unknown words' instead.
        min_documents: a word that fewer training documents have has none either.
        word_dropout: a word seen n times is read as unknown with the probability word_dropout / (word_dropout + n),
            drawn anew for every epoch; 0 for never.

    Raises:
        UsageError: a value cannot work.
    """

    embedding_dim: int = 100
    embedding_range: float = 0.25
    freeze_embeddings: bool = False
    fold_digits: bool = True
    min_count: int = 2
    min_documents: int = 1
    word_dropout: float = 2.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_counts(self, "embedding_dim", "min_count", "min_documents")
        require_flags(self, "freeze_embeddings", "fold_digits")
        require_number("embedding_range", self.embedding_range, "a number of 0 or more", lambda v: v >= 0)
        require_number("word_dropout", self.word_dropout, "a number of 0 or more", lambda v: v >= 0)

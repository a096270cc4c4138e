"""Settings that all networks share, those of networks that read words, and those of context windows."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from crfdeid.validation import (
    require_choice,
    require_counts,
    require_flags,
    require_number,
    require_positive,
    require_shares,
)

DECODINGS = ("valid", "argmax")

TAGGING_LOSSES = ("sum", "mean")
"""Loss of a sentence's tags: the sum over its tokens, or the mean."""

STEP_ARGUMENTS = ("epochs", "lr", "final_lr", "max_norm", "word_dropout", "embedding_range", "init_range")
"""Settings that change no compiled step and no row of the training sentences, but numbers that a step reads."""


@dataclass(frozen=True, kw_only=True)
class TrainingSettings:
    """Settings of training and decoding of every network.

    Args:
        epochs: passes over the training sentences; the best on dev is kept.
        lr: learning rate of the first epoch, at most 100.
        final_lr: learning rate of the last epoch as a share of the first's; linear in between. 1 keeps it constant.
        max_norm: Euclidean norm to which a longer gradient is clipped; None for no clipping. A very long sentence would
            otherwise saturate the network for good.
        decoding: "valid" for the most probable valid IOB2 sequence, "argmax" for the most probable tag at each token.

    Raises:
        UsageError: a value cannot work.
    """

    least_epochs: ClassVar[int] = 1

    epochs: int = 25
    lr: float = 0.06
    final_lr: float = 0.1
    max_norm: float | None = 50.0
    decoding: str = "valid"

    def __post_init__(self) -> None:
        require_counts(self, "epochs", least=self.least_epochs)
        require_number("lr", self.lr, "a number above 0, at most 100", lambda v: 0 < v <= 100)
        require_number("final_lr", self.final_lr, "a number from 0 to 1", lambda v: 0 <= v <= 1)
        if self.max_norm is not None:
            require_positive(self, "max_norm")
        require_choice(self, "decoding", DECODINGS)


@dataclass(frozen=True, kw_only=True)
class WordSettings(TrainingSettings):
    """Settings of networks with their own word vectors.

    Args:
        embedding_dim: size of a word vector, D; pretrained word vectors override it.
        embedding_range: bound of the uniform distribution of random word vectors.
        freeze_embeddings: whether word vectors are left untrained.
        fold_digits: whether every digit is read as 0.
        min_count: occurrences in training below which a word is unknown and trains the unknown words' vector.
        min_documents: training documents below which a word is unknown.
        word_dropout: strength of word dropout: a word seen n times is read as unknown with the probability
            word_dropout / (word_dropout + n), drawn anew for every epoch; 0 for never.

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


def paper_settings(paper: str, model: str) -> dict[str, Any]:
    """Settings of a paper's model from ``rnn/papers.toml``; all of them are written out there."""
    found = tomllib.loads(Path(__file__).with_name("papers.toml").read_text("utf-8"))[paper][model]
    return found | dict.fromkeys(found.pop("none", ()))


@dataclass(frozen=True, kw_only=True)
class WindowSettings(WordSettings):
    """Settings of networks over context windows.

    Args:
        window: words in a context window with the token in the middle, W; odd.
        hidden: units of a hidden layer, H.
        init_range: bound of the uniform initial weights; None for Glorot's, sqrt(6 / (inputs + outputs)).
        dropout: dropout rate of hidden units before the softmax layer.
    """

    window: int = 11
    hidden: int = 100
    init_range: float | None = None
    dropout: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        require_counts(self, "window", "hidden")
        require_number("window", self.window, "an odd number, for as many words on either side", lambda v: v % 2 == 1)
        require_shares(self, "dropout")
        if self.init_range is not None:
            require_positive(self, "init_range")

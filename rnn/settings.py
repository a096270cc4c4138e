"""What the networks can be told, with the paper's values (yadav2016, sections 3.1, 3.5, 3.6 and Table 3)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

from crfdeid.errors import UsageError

DECODINGS = ("valid", "argmax")


def _require(name: str, value: float, what: str, holds: Callable[[float], bool]) -> None:
    if not (math.isfinite(value) and holds(value)):
        raise UsageError(f"{name} is {value}: give {what}")


@dataclass(frozen=True, kw_only=True)
class RnnSettings:
    """The settings of both networks.

    Args:
        window: words in a context window, the word itself in the middle: an odd number, W.
        hidden: units of a hidden layer, H.
        embedding_dim: the size of a word vector, D; with given word vectors, it is theirs.
        embedding_range: word vectors that are not given start uniform in plus or minus this.
        freeze_embeddings: whether all word vectors stay as they are before training.
        init_range: weights start uniform in plus or minus this; None for Glorot's bound, sqrt(6 / (inputs + outputs)).
        epochs: passes over the training sentences; the best on dev is kept.
        lr: the learning rate of the first epoch, at most 100.
        final_lr: the last epoch's learning rate as a share of the first's; linear in between. 1 keeps it constant.
        dropout: the probability with which a hidden unit is left out before the softmax layer.
        max_norm: the longest a sentence's gradient may be, in Euclidean length, before it is shortened; None for any.
            A very long sentence would otherwise throw the weights where nothing is learned any more.
        fold_digits: whether every digit is read as 0.
        min_count: a word seen less often in training has no vector of its own and trains the unknown words' instead.
        min_documents: a word that fewer training documents have has none either.
        word_dropout: a word seen n times is read as unknown with the probability word_dropout / (word_dropout + n),
            drawn anew for every epoch; 0 for never.
        decoding: "valid" for the most probable sequence of tags that is valid IOB2, "argmax" for the most probable tag
            at each token by itself.

    Raises:
        UsageError: a value cannot work.
    """

    window: int = 11
    hidden: int = 100
    embedding_dim: int = 100
    embedding_range: float = 0.25
    freeze_embeddings: bool = False
    init_range: float | None = None
    epochs: int = 25
    lr: float = 0.06
    final_lr: float = 0.1
    dropout: float = 0.5
    max_norm: float | None = 50.0
    fold_digits: bool = True
    min_count: int = 2
    min_documents: int = 1
    word_dropout: float = 2.0
    decoding: str = "valid"

    def __post_init__(self) -> None:
        for name in ("window", "hidden", "embedding_dim", "epochs", "min_count", "min_documents"):
            _require(name, getattr(self, name), "a whole number of 1 or more", lambda v: v == int(v) and v >= 1)
        _require("window", self.window, "an odd number, for as many words on either side", lambda v: v % 2 == 1)
        _require("lr", self.lr, "a number above 0, at most 100", lambda v: 0 < v <= 100)
        _require("final_lr", self.final_lr, "a number from 0 to 1", lambda v: 0 <= v <= 1)
        _require("dropout", self.dropout, "a number from 0 to below 1", lambda v: 0 <= v < 1)
        _require("embedding_range", self.embedding_range, "a number of 0 or more", lambda v: v >= 0)
        _require("word_dropout", self.word_dropout, "a number of 0 or more", lambda v: v >= 0)
        if self.decoding not in DECODINGS:
            raise UsageError(f"unknown decoding '{self.decoding}': choose from {', '.join(DECODINGS)}")
        for name in ("init_range", "max_norm"):
            value = getattr(self, name)
            if value is not None:
                _require(name, value, "a number above 0", lambda v: v > 0)


# What both networks of the paper share where it speaks, and plain choices where it does not.
_PAPER: dict[str, Any] = {
    "lr": 0.01,
    "final_lr": 1.0,
    "init_range": 1.0,
    "word_dropout": 0.0,
    "decoding": "argmax",
    "max_norm": None,
}


@dataclass(frozen=True, kw_only=True)
class ElmanSettings(RnnSettings):
    """The Elman network's settings.

    Args:
        layers: hidden layers, one upon the other (equation 8).
    """

    layers: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        _require("layers", self.layers, "a whole number of 1 or more", lambda v: v == int(v) and v >= 1)

    @classmethod
    def paper(cls) -> Self:
        """The paper's E-RNN: Table 3, weights in [-1, 1], random vectors in ±0.25."""
        return cls(window=11, hidden=100, **_PAPER)


@dataclass(frozen=True, kw_only=True)
class JordanSettings(RnnSettings):
    """The Jordan network's settings."""

    window: int = 9
    hidden: int = 150

    @classmethod
    def paper(cls) -> Self:
        """The paper's J-RNN: Table 3, weights in [-1, 1], random vectors in ±0.25."""
        return cls(window=9, hidden=150, **_PAPER)

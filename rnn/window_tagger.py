"""What the taggers over context windows share, Elman's and Jordan's: settings, processor, schedule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crfdeid.explain.data import WeightNorm
from crfdeid.validation import require_counts, require_number, require_positive, require_shares
from rnn.batching import Row
from rnn.interpret import window_norms
from rnn.processors.words import WordProcessor
from rnn.settings import WordSettings
from rnn.training.phases import Schedule, per_sentence
from rnn.word_tagger import WordTagger

# What both networks of the paper share where it speaks (yadav2016, sections 3.1, 3.5, 3.6 and Table 3), and plain
# choices where it does not.
PAPER: dict[str, Any] = {
    "lr": 0.01,
    "final_lr": 1.0,
    "init_range": 1.0,
    "word_dropout": 0.0,
    "decoding": "argmax",
    "max_norm": None,
}


@dataclass(frozen=True, kw_only=True)
class WindowSettings(WordSettings):
    """The settings of both networks.

    Args:
        window: words in a context window, the word itself in the middle: an odd number, W.
        hidden: units of a hidden layer, H.
        init_range: weights start uniform in plus or minus this; None for Glorot's bound, sqrt(6 / (inputs + outputs)).
        dropout: the probability with which a hidden unit is left out before the softmax layer.
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


class WindowTagger(WordTagger):
    """A tagger on a network over context windows: one update a sentence, replicates in one program."""

    # None of these changes a shape or the program.
    own_settings = frozenset(
        {"lr", "final_lr", "dropout", "max_norm", "word_dropout", "init_range", "embedding_range"},
    )
    _settings: WindowSettings

    def input_norms(self, arrays: Mapping[str, np.ndarray]) -> Iterable[WeightNorm]:
        """How large the weights of each word of the window are."""
        (name,) = (name for name in arrays if name in ("network.W", "network.layers.0.W"))
        return window_norms(name, arrays[name], self._settings.window)

    def blank_processor(self) -> WordProcessor:
        """A processor that knows no words yet."""
        return WordProcessor(self.blank_vocabulary(), {}, margin=self._settings.window // 2)

    def schedule(self, processor: WordProcessor, rows: Sequence[Row]) -> Schedule:
        """One update a sentence; the epochs are all made."""
        return self.supervised(processor, rows, per_sentence(), {"hidden": self._settings.dropout})

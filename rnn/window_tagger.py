"""Base of the taggers over context windows, Elman's and Jordan's: settings, processor, schedule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
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

YADAV2016: Mapping[str, Any] = MappingProxyType(
    {
        "epochs": 25,
        "lr": 0.01,
        "final_lr": 1.0,
        "max_norm": None,
        "decoding": "argmax",
        "embedding_dim": 100,
        "embedding_range": 0.25,
        "freeze_embeddings": False,
        "fold_digits": True,
        "min_count": 2,
        "min_documents": 1,
        "word_dropout": 0.0,
        "init_range": 1.0,
        "dropout": 0.5,
    }
)
"""Settings that both networks of the paper share: sections 3.1, 3.5 and 3.6 and Table 3, plain choices elsewhere."""


@dataclass(frozen=True, kw_only=True)
class WindowSettings(WordSettings):
    """Settings of both networks.

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


class WindowTagger(WordTagger):
    """Base class of taggers over context windows: one update a sentence, replicates in one program."""

    # None of these changes a shape or the program.
    own_settings = frozenset(
        {"lr", "final_lr", "dropout", "max_norm", "word_dropout", "init_range", "embedding_range"},
    )
    _settings: WindowSettings

    def input_norms(self, arrays: Mapping[str, np.ndarray]) -> Iterable[WeightNorm]:
        """Norms of the first layer's weights for each word of the window."""
        (name,) = (name for name in arrays if name in ("network.W", "network.layers.0.W"))
        return window_norms(name, arrays[name], self._settings.window)

    def blank_processor(self) -> WordProcessor:
        """Processor without words."""
        return WordProcessor(self.blank_vocabulary(), {}, margin=self._settings.window // 2)

    def schedule(self, processor: WordProcessor, rows: Sequence[Row]) -> Schedule:
        """One update a sentence; the epochs are all made."""
        return self.supervised(processor, rows, per_sentence(), {"hidden": self._settings.dropout})

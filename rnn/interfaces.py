"""Interfaces: the network that a model defines, its scores, its processor of sentences, its loss and measure on dev."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import jax
import numpy as np

from crfdeid.documents import LabelledSentence
from features.tokens import Sentence
from rnn.batching import Row

Arrays = Mapping[str, jax.Array]

Params = dict[str, Any]
"""Parameters by name: "tables.words", "network.layers.0.W", …"""


class Network(Protocol):
    """Network that tags: a `flax.nnx.Module` of `nnx.Param` alone.

    It reads one sentence; training and prediction batch it by `jax.vmap`. The tables of word vectors are outside the
    network: it names them and receives the rows that a sentence looks up, so that an update can touch these rows alone.
    """

    tables: Mapping[str, str]
    """Table -> the input of row indices, such as {"words": "words"}."""

    def scores(
        self, vectors: Arrays, inputs: Arrays, length: jax.Array, key: jax.Array | None = None
    ) -> Mapping[str, Logits]:
        """Scores of each annotation layer.

        Args:
            vectors: rows of each table that the sentence looks up, [T + padding, ..., D].
            inputs: the sentence's other arrays from its processor.
            length: number of real tokens.
            key: source of dropout and noise; None for a deterministic result.
        """


class Logits(Protocol):
    """Scores of the tags of one annotation layer in a sentence: `rnn.layers.softmax` or `rnn.layers.crf`."""

    def loss(self, tags: jax.Array, length: jax.Array) -> jax.Array:
        """Negative log-likelihood of the tags, [T], in nats; tokens from ``length`` on do not count."""

    def best_path(self, length: jax.Array, begins: jax.Array) -> jax.Array:
        """Ids of the best tags, [T], within `rnn.decode.iob_constraints`; undefined from ``length`` on."""

    def probabilities(self, length: jax.Array) -> jax.Array:
        """Probability of each tag at each token, [T, K]."""

    def log_odds(self, length: jax.Array, token: jax.Array, tag: jax.Array, other: jax.Array) -> jax.Array:
        """Log-odds of two tags at a token, in nats."""


class Processor(Protocol):
    """Converts sentences to the rows that a network reads, and results of rows to results of tokens."""

    @property
    def tags(self) -> Mapping[str, tuple[str, ...]]:
        """Tags of each annotation layer."""

    @property
    def key(self) -> bytes | None:
        """Key of hashed words; None for readable words."""

    def rows(self, sentences: Sequence[Sentence], targets: Sequence[LabelledSentence] | None = None) -> list[Row]:
        """Make rows of sentences, in training with the targets of the tagged sentences."""

    def scatter_to_tokens(
        self, rows: Sequence[Row], values: Iterable[np.ndarray], sentences: Sequence[Sentence]
    ) -> list[np.ndarray]:
        """Convert the result of each row, [length, ...], to that of each sentence, [T, ...]."""

    def hashed(self, key: bytes) -> tuple[Processor, Mapping[str, np.ndarray]]:
        """Hash the words; return the new processor and, for each changed table, the old row of each new one.

        Raises:
            UsageError: the words are hashed already, with another key.
        """

    def describe(self) -> dict[str, Any]:
        """Return JSON data for `NetworkTagger.saved_processor`."""

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays for `NetworkTagger.saved_processor`."""


class Loss(Protocol):
    """Loss of one row in nats, or several parts of it (`Phase.reduce`)."""

    def __call__(
        self,
        network: Network,
        vectors: Arrays,
        *,
        inputs: Arrays,
        targets: Arrays,
        length: jax.Array,
        key: jax.Array | None,
    ) -> jax.Array:
        """Compute the loss; ``targets`` are by annotation layer, the rest is that of `Network.scores`."""


class DevMetric(Protocol):
    """Measure that selects the best epoch, such as `rnn.training.loop.Dev`."""

    def f1(self, structure: Any, params: Params) -> float:
        """Strict entity micro F."""

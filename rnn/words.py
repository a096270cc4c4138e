"""Parts of taggers with their own word vectors: processor, table, word dropout, schedule, explanations."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from crfdeid.documents import LabelledSentence
from crfdeid.explain.data import Gradients, NetworkSummary, TagMatrix, WeightNorm
from features.tokens import Sentence
from rnn.batching import Row
from rnn.embeddings.vectors import WordVectors, initial_table
from rnn.interpret import integrated_gradients, near_words, norms
from rnn.layers.dropout import WordDropout
from rnn.network import uniform
from rnn.processors.words import WordProcessor, fit_words
from rnn.settings import WindowSettings, WordSettings
from rnn.training.schedules import Phase, Schedule, Updates, early_stopping, per_sentence
from rnn.vocab import FIRST_WORD, Vocabulary


class ReadsWords:
    """Mixin of `rnn.tagger.NetworkTagger` for networks with their own word vectors."""

    _settings: Any
    _vectors: WordVectors | None
    _trained: Callable[[], Any]
    traits: Callable[[Any], Any]

    @abstractmethod
    def blank_processor(self) -> Any:
        """Processor with this tagger's settings and without words."""

    def processor(self, train: Sequence[LabelledSentence]) -> Any:
        """Build the processor for training sentences."""
        layers = self.traits(self._settings).layers
        return fit_words(self.blank_processor(), train, self._settings, self._vectors, layers=layers)

    def saved_processor(self, described: Mapping[str, Any], arrays: Mapping[str, np.ndarray], key: bytes | None) -> Any:
        """Restore the processor of a saved model."""
        return self.blank_processor().read(described, arrays, key)

    def tables(self, processor: Any, rngs: nnx.Rngs) -> dict[str, jax.Array]:
        """Initial word vectors."""
        return {"words": word_table(processor.vocabulary, self._settings, self._vectors, rngs.params())}

    def stores(self, words: Sequence[str]) -> list[bool]:
        """Report for each word whether the vocabulary has it."""
        vocabulary = self._trained().processor.vocabulary
        return [number >= FIRST_WORD for number in vocabulary.ids(words)]

    def integrated_gradients(self, sentence: Sentence, token: int, tag: str, contrast_tag: str) -> Gradients:
        """Attribute the log-odds of two tags at a token to the vectors of the words (`rnn.interpret`)."""
        return integrated_gradients(self._trained(), sentence, token, tag, contrast_tag)

    def contents(self, words: Sequence[str], sentences: Sequence[Sentence], *, top: int) -> NetworkSummary:
        """Summarise the weights; see `crfdeid.explain.data.SupportsWeightSummary`."""
        learned = self._trained()
        arrays = {name: np.asarray(array, float) for name, array in learned.params.items()}
        network, vocabulary = learned.structure.network(arrays), self.phi_processor(learned.processor).vocabulary
        return NetworkSummary(
            norms=(*norms(arrays), *self.input_norms(network)),
            matrices=tuple(self.tag_matrices(network, sentences)),
            facts=tuple(self.facts(network)),
            words=near_words(vocabulary, arrays["tables.words"], words, top),
            hashed=vocabulary.key is not None,
        )

    def phi_processor(self, processor: Any) -> WordProcessor:
        """Processor of the part that finds PHI."""
        found: WordProcessor = processor
        return found

    def input_norms(self, network: Any) -> Iterable[WeightNorm]:
        """Norms of the weights of each input; none by default."""
        return ()

    def tag_matrices(self, network: Any, sentences: Sequence[Sentence]) -> Iterable[TagMatrix]:
        """Influence of each tag on the next; none by default."""
        return ()

    def facts(self, network: Any) -> Iterable[tuple[str, float]]:
        """Further figures, each with a sentence that describes it; none by default."""
        return ()


def word_table(
    vocabulary: Vocabulary, settings: WordSettings, vectors: WordVectors | None, key: jax.Array
) -> jax.Array:
    """Initial word vectors, [V, D]: pretrained ones where there are, random ones elsewhere."""
    table = uniform(key, (len(vocabulary), settings.embedding_dim), settings.embedding_range)
    return table if vectors is None else jnp.asarray(initial_table(vocabulary, vectors, table))


def trains(settings: WordSettings) -> Callable[[str], bool]:
    """Parameter name -> whether it is trained: all but frozen word vectors."""
    return lambda name: not (settings.freeze_embeddings and name.startswith("tables.") and name.endswith("words"))


def word_dropout(
    processor: WordProcessor, rows: Sequence[Row], settings: WordSettings, *, name: str = "words"
) -> dict[str, WordDropout]:
    """Word dropout for the input ``name`` of word ids."""
    alpha = settings.word_dropout
    return {name: WordDropout.of(rows, processor.vocabulary, alpha=alpha, margin=processor.margin, name=name)}


def supervised_phases(
    name: str,
    settings: WordSettings,
    rows: Sequence[Row],
    updates: Updates,
    drop: Mapping[str, WordDropout],
    *,
    average: float = 0.0,
) -> Callable[[int, float], Phase]:
    """Epoch and learning rate -> phase on the same sentences in every epoch.

    Args:
        name: name of the phases.
        settings: the model's settings.
        rows: training rows.
        updates: division of the rows into updates.
        drop: see `word_dropout`.
        average: see `rnn.training.schedules.Phase`.
    """

    def phase(epoch: int, rate: float) -> Phase:
        return Phase(
            name,
            rows,
            updates,
            rate,
            max_norm=settings.longest_gradient,
            drop=drop,
            trains=trains(settings),
            average=average,
        )

    return phase


def falling_rate(phase_of: Callable[[int, float], Phase], settings: Any, *, patience: int | None = None) -> Schedule:
    """One phase an epoch with the learning rate of the settings; see `early_stopping`."""
    return early_stopping(
        lambda epoch: phase_of(epoch, settings.rate(epoch)), epochs=settings.epochs, patience=patience
    )


def window_processor(settings: WindowSettings) -> WordProcessor:
    """Processor of context windows, without words."""
    return WordProcessor(Vocabulary((), settings.fold_digits), {}, margin=settings.window // 2)


def sentence_schedule(name: str, settings: WordSettings, processor: WordProcessor, rows: Sequence[Row]) -> Schedule:
    """Train by one update a sentence, with word dropout; the epochs are all made."""
    drop = word_dropout(processor, rows, settings)
    return falling_rate(supervised_phases(name, settings, rows, per_sentence(), drop), settings)

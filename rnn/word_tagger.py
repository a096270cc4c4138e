"""Base of taggers with their own word vectors: vocabulary, tables, pretrained vectors, word dropout."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from crfdeid.documents import LabelledSentence
from crfdeid.explain.data import Gradients, NetworkSummary, TagMatrix, WeightNorm
from crfdeid.tagger import Traits
from features.tokens import Sentence
from rnn.batching import Row
from rnn.embeddings.vectors import WordVectors, extend, initial_table, matching_scale
from rnn.interpret import arrays_of, integrated_gradients, near_words, norms
from rnn.layers.recurrence import uniform
from rnn.processors.base import Processor
from rnn.processors.words import WordProcessor, tags_of
from rnn.settings import WordSettings
from rnn.tagger import NetworkTagger
from rnn.training.draws import WordDropout
from rnn.training.phases import Phase, Schedule, Updates, early_stopping
from rnn.vocab import FIRST_WORD, Vocabulary


class WordTagger(NetworkTagger):
    """Base class of taggers on networks that read words.

    Args:
        settings: the model's settings; None for its defaults.
        seed: seed of the initial weights, the order of the sentences and all other random numbers.
        vectors: initial word vectors; None for random ones.
    """

    _settings: WordSettings

    def __init__(
        self, settings: WordSettings | None = None, *, seed: int = 0, vectors: WordVectors | None = None
    ) -> None:
        super().__init__(settings, seed=seed)
        if vectors is not None:
            self._settings = dataclasses.replace(self._settings, embedding_dim=vectors.dim)
        self._vectors = vectors

    @classmethod
    def traits(cls, settings: WordSettings) -> Traits:
        """Return the traits of a `Tagger`: it takes word vectors."""
        return super().traits(settings)._replace(takes_vectors=True)

    @property
    def vectors(self) -> WordVectors | None:
        """Initial word vectors; None for random ones, and in a loaded tagger."""
        return self._vectors

    def company(self) -> object:
        """Return the initial word vectors."""
        return self._vectors

    @abstractmethod
    def blank_processor(self) -> WordProcessor:
        """Processor with this tagger's settings and without words."""

    def blank_vocabulary(self) -> Vocabulary:
        """Vocabulary without words."""
        return Vocabulary((), self._settings.fold_digits)

    def processor(self, train: Sequence[LabelledSentence]) -> Processor:
        """Build the processor for training sentences."""
        return self.filled(self.blank_processor(), train)

    def filled(self, blank: WordProcessor, train: Sequence[LabelledSentence]) -> WordProcessor:
        """Add the words and tags of sentences to a processor."""
        settings = self._settings
        vocabulary = Vocabulary.build(
            [item.sentence.words for item in train],
            fold_digits=settings.fold_digits,
            min_count=settings.min_count,
            documents=[item.document for item in train],
            min_documents=settings.min_documents,
        )
        subwords = None
        if self._vectors is not None:
            vocabulary, subwords = extend(vocabulary, self._vectors), self._vectors.subwords
        if self._vectors is not None and subwords is not None:
            spread = settings.embedding_range / 3**0.5  # standard deviation of the random table
            subwords = subwords.scaled(matching_scale(self._vectors, np.array([-spread, spread])))
        tags = {layer: tags_of(train, layer) for layer in self.traits(settings).layers}
        return dataclasses.replace(blank, vocabulary=vocabulary, tags=tags, subwords=subwords)

    def saved_processor(
        self, described: Mapping[str, Any], arrays: Mapping[str, np.ndarray], key: bytes | None
    ) -> Processor:
        """Restore the processor of a saved model."""
        return self.blank_processor().read(described, arrays, key)

    def tables(self, processor: Any, rngs: nnx.Rngs) -> dict[str, jax.Array]:
        """Initial word vectors."""
        bound = self._settings.embedding_range
        shape = (len(processor.vocabulary), self._settings.embedding_dim)
        table = uniform(rngs.params(), shape, bound)
        if self._vectors is not None:
            table = jnp.asarray(initial_table(processor.vocabulary, self._vectors, table))
        return {"words": table}

    def stores(self, words: Sequence[str]) -> list[bool]:
        """Report for each word whether the vocabulary has it."""
        processor: Any = self._trained().processor
        return [number >= FIRST_WORD for number in processor.vocabulary.ids(words)]

    def integrated_gradients(self, sentence: Sentence, token: int, tag: str, contrast_tag: str) -> Gradients:
        """Attribute the log-odds of two tags at a token to the vectors of the words (`rnn.interpret`)."""
        return integrated_gradients(self._trained(), sentence, token, tag, contrast_tag)

    def contents(self, words: Sequence[str], sentences: Sequence[Sentence], *, top: int) -> NetworkSummary:
        """Summarise the weights; see `crfdeid.explain.data.SupportsWeightSummary`."""
        learned = self._trained()
        arrays, vocabulary = arrays_of(learned.weights), self.word_processor(learned.processor).vocabulary
        return NetworkSummary(
            norms=(*norms(arrays), *self.input_norms(arrays)),
            matrices=tuple(self.tag_matrices(arrays, sentences)),
            facts=tuple(self.facts(arrays)),
            words=near_words(vocabulary, arrays["tables.words"], words, top),
            hashed=vocabulary.key is not None,
        )

    def word_processor(self, processor: Any) -> WordProcessor:
        """Processor of the part that finds PHI."""
        found: WordProcessor = processor
        return found

    def input_norms(self, arrays: Mapping[str, np.ndarray]) -> Iterable[WeightNorm]:
        """Norms of the weights of each input; none by default."""
        return ()

    def tag_matrices(self, arrays: Mapping[str, np.ndarray], sentences: Sequence[Sentence]) -> Iterable[TagMatrix]:
        """Influence of each tag on the next; none by default."""
        return ()

    def facts(self, arrays: Mapping[str, np.ndarray]) -> Iterable[tuple[str, float]]:
        """Further figures, each with a sentence that describes it; none by default."""
        return ()

    def trains(self, name: str) -> bool:
        """Report whether a parameter is trained."""
        return not (self._settings.freeze_embeddings and name.startswith("tables.") and name.endswith("words"))

    def word_dropout(
        self, processor: WordProcessor, rows: Sequence[Row], *, name: str = "words"
    ) -> dict[str, WordDropout]:
        """Word dropout for the input ``name`` of word ids."""
        alpha = self._settings.word_dropout
        return {name: WordDropout.of(rows, processor.vocabulary, alpha=alpha, margin=processor.margin, name=name)}

    def supervised(
        self,
        processor: WordProcessor,
        rows: Sequence[Row],
        updates: Updates,
        rates: Mapping[str, float],
        *,
        average: float = 0.0,
    ) -> Schedule:
        """Train on the same sentences in every epoch, with word dropout and a falling learning rate.

        Args:
            processor: processor of the rows.
            rows: training rows.
            updates: division of the rows into updates.
            rates: dropout rates by the names of the network's masks.
            average: see `rnn.training.phases.Phase`.
        """
        settings = self._settings
        drop = self.word_dropout(processor, rows)

        def phase(epoch: int, rate: float) -> Phase:
            return Phase(
                self.model,
                rows,
                updates,
                rate,
                rates=rates,
                max_norm=settings.longest_gradient,
                drop=drop,
                trains=self.trains,
                average=average,
            )

        return self.epochs(phase)

    def epochs(self, phase_of: Callable[[int, float], Phase]) -> Schedule:
        """Make one phase an epoch from the epoch's number and its learning rate."""
        settings = self._settings
        return early_stopping(
            lambda epoch: phase_of(epoch, settings.rate(epoch)), epochs=settings.epochs, patience=None
        )

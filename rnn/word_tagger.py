"""What all taggers share that read words by vectors of their own: vocabulary, tables, given word vectors."""

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
    """A tagger on a network that reads words.

    Args:
        settings: the model's settings; None for its defaults.
        seed: of the initial weights, the order of the sentences and all that is drawn.
        vectors: the word vectors to start from; None for random ones.
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
        """What the model needs and can do."""
        return super().traits(settings)._replace(takes_vectors=True)

    @property
    def vectors(self) -> WordVectors | None:
        """The word vectors that training starts from; None for random ones, and in a tagger that was loaded."""
        return self._vectors

    def company(self) -> object:
        """The vectors that training starts from."""
        return self._vectors

    @abstractmethod
    def blank_processor(self) -> WordProcessor:
        """A processor with this tagger's settings that knows no words yet."""

    def blank_vocabulary(self) -> Vocabulary:
        """A vocabulary without words."""
        return Vocabulary((), self._settings.fold_digits)

    def processor(self, train: Sequence[LabelledSentence]) -> Processor:
        """The processor for some training sentences."""
        return self.filled(self.blank_processor(), train)

    def filled(self, blank: WordProcessor, train: Sequence[LabelledSentence]) -> WordProcessor:
        """A processor that knows the words of some sentences, and their tags."""
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
            spread = settings.embedding_range / 3**0.5  # the standard deviation of the random table
            subwords = subwords.scaled(matching_scale(self._vectors, np.array([-spread, spread])))
        tags = {layer: tags_of(train, layer) for layer in self.traits(settings).layers}
        return dataclasses.replace(blank, vocabulary=vocabulary, tags=tags, subwords=subwords)

    def saved_processor(
        self, described: Mapping[str, Any], arrays: Mapping[str, np.ndarray], key: bytes | None
    ) -> Processor:
        """The processor of a saved model."""
        return self.blank_processor().read(described, arrays, key)

    def tables(self, processor: Any, rngs: nnx.Rngs) -> dict[str, jax.Array]:
        """The initial word vectors."""
        bound = self._settings.embedding_range
        shape = (len(processor.vocabulary), self._settings.embedding_dim)
        table = uniform(rngs.params(), shape, bound)
        if self._vectors is not None:
            table = jnp.asarray(initial_table(processor.vocabulary, self._vectors, table))
        return {"words": table}

    def stores(self, words: Sequence[str]) -> list[bool]:
        """Whether each word has a vector of its own."""
        processor: Any = self._trained().processor
        return [number >= FIRST_WORD for number in processor.vocabulary.ids(words)]

    def integrated_gradients(self, sentence: Sentence, token: int, tag: str, contrast_tag: str) -> Gradients:
        """The log-odds of two tags at a token, spread over the vectors of the words (`rnn.interpret`)."""
        return integrated_gradients(self._trained(), sentence, token, tag, contrast_tag)

    def contents(self, words: Sequence[str], sentences: Sequence[Sentence], *, top: int) -> NetworkSummary:
        """What can be read off its weights; see `crfdeid.explain.data.SupportsWeightSummary`."""
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
        """How it reads the words in which it finds PHI."""
        found: WordProcessor = processor
        return found

    def input_norms(self, arrays: Mapping[str, np.ndarray]) -> Iterable[WeightNorm]:
        """How large the weights of each input are; here nothing is known of them."""
        return ()

    def tag_matrices(self, arrays: Mapping[str, np.ndarray], sentences: Sequence[Sentence]) -> Iterable[TagMatrix]:
        """What leads from tag to tag; here nothing."""
        return ()

    def facts(self, arrays: Mapping[str, np.ndarray]) -> Iterable[tuple[str, float]]:
        """What else a number can say: a sentence, and the number; here nothing."""
        return ()

    def trains(self, name: str) -> bool:
        """Whether a parameter is learned."""
        return not (self._settings.freeze_embeddings and name.startswith("tables.") and name.endswith("words"))

    def word_dropout(
        self, processor: WordProcessor, rows: Sequence[Row], *, name: str = "words"
    ) -> dict[str, WordDropout]:
        """Which words are read as unknown: what an input of the rows is replaced by that holds the words' numbers."""
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
        """The same sentences in every epoch, with word dropout and a learning rate that falls.

        Args:
            processor: how the rows were made.
            rows: what is learned from.
            updates: how they are cut into updates.
            rates: the rates of dropping, by the names of the network's draws.
            average: as of `rnn.training.phases.Phase`.
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
        """A phase an epoch, by its number from 0 and its learning rate."""
        settings = self._settings
        return early_stopping(
            lambda epoch: phase_of(epoch, settings.rate(epoch)), epochs=settings.epochs, patience=None
        )

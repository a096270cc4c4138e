"""Networks with their own word vectors: sentences to rows of word ids, the table, word dropout, the schedule."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from crfdeid.documents import PHI, LabelledSentence
from features.tokens import Sentence
from rnn.batching import Row
from rnn.embeddings.lookup import extend, initial_table, scaled_subwords, unseen_vectors
from rnn.embeddings.vectors import SubwordVectors, WordVectors
from rnn.interpret import ExplainsWords
from rnn.layers.dropout import WordDropout
from rnn.network import SUBWORD_VECTORS, uniform
from rnn.saving import SavedWords
from rnn.settings import WordSettings
from rnn.training.schedules import BatchingSpec, Phase
from rnn.vocab import Vocabulary


class SentenceRows:
    """Mixin of processors whose rows are sentences."""

    def scatter_to_tokens(
        self, rows: Sequence[Row], values: Iterable[np.ndarray], sentences: Sequence[Sentence]
    ) -> list[np.ndarray]:
        """Return the results unchanged."""
        return list(values)


@dataclass(frozen=True)
class WordProcessor(SentenceRows, SavedWords):
    """Converts sentences to rows of word ids, one row a sentence; `rnn.inputs.TokenProcessor` adds further inputs.

    The inputs of a row: "words", with ``margin`` words before and after the sentence, [T + 2 margin]; with ``subwords``
    also `rnn.network.SUBWORD_VECTORS`, [T + 2 margin, D].

    Args:
        vocabulary: the words.
        tags: tags of each annotation layer.
        margin: places of padding around the sentence, m.
        subwords: makes vectors of unknown words from their parts; None for those of casing classes alone.
    """

    vocabulary: Vocabulary
    tags: Mapping[str, tuple[str, ...]]
    margin: int = 0
    subwords: SubwordVectors | None = None

    def rows(self, sentences: Sequence[Sentence], targets: Sequence[LabelledSentence] | None = None) -> list[Row]:
        """Make one row a sentence.

        Args:
            sentences: the sentences.
            targets: in training, the same sentences with tags; None for rows without targets. A row has targets for
                its sentence's annotated layers.
        """
        pairs = zip(sentences, self.inputs(sentences), strict=True)
        rows = [Row(inputs, {}, len(sentence.tokens)) for sentence, inputs in pairs]
        if targets is None:
            return rows
        number = {layer: {tag: k for k, tag in enumerate(tags)} for layer, tags in self.tags.items()}
        return [
            row._replace(
                targets={
                    layer: np.array([ids[tag] for tag in item.layer(layer)], np.int32)
                    for layer, ids in number.items()
                    if layer in item.annotated
                }
            )
            for row, item in zip(rows, targets, strict=True)
        ]

    def inputs(self, sentences: Sequence[Sentence]) -> Iterator[dict[str, np.ndarray]]:
        """Inputs of each sentence."""
        for sentence in sentences:
            yield self.word_inputs(sentence.words, len(sentence.tokens) + 2 * self.margin, self.margin)

    def word_inputs(self, words: Sequence[str], length: int, start: int) -> dict[str, np.ndarray]:
        """Inputs of P = ``length`` places, of which the words fill those from ``start`` on."""
        inputs = {"words": padded(np.array(self.vocabulary.ids(words), np.int32), length, start)}
        if self.subwords is not None:
            inputs[SUBWORD_VECTORS] = padded(unseen_vectors(words, self.vocabulary, self.subwords), length, start)
        return inputs


_Processor = TypeVar("_Processor", bound=WordProcessor)


def padded(array: np.ndarray, length: int, start: int) -> np.ndarray:
    """Place an array [N, ...] at ``start`` among zeros, [length, ...]."""
    found = np.zeros((length, *array.shape[1:]), array.dtype)
    found[start : start + len(array)] = array
    return found


def fit_words(
    blank: _Processor,
    train: Sequence[LabelledSentence],
    settings: WordSettings,
    vectors: WordVectors | None,
    *,
    layers: Sequence[str] = (PHI,),
) -> _Processor:
    """Add the words and tags of training sentences to a processor.

    Args:
        blank: a processor without words.
        train: training sentences.
        settings: which words to keep.
        vectors: initial word vectors, whose words are known too; None for random ones.
        layers: annotation layers of the tags.
    """
    vocabulary = Vocabulary.build(
        [item.sentence.words for item in train],
        fold_digits=settings.fold_digits,
        min_count=settings.min_count,
        documents=[item.document for item in train],
        min_documents=settings.min_documents,
    )
    subwords = None
    if vectors is not None:
        vocabulary, subwords = extend(vocabulary, vectors), scaled_subwords(vectors, settings.embedding_range)
    tags = {layer: tags_of(train, layer) for layer in layers}
    return replace(blank, vocabulary=vocabulary, tags=tags, subwords=subwords)


def tags_of(sentences: Sequence[LabelledSentence], layer: str = PHI) -> tuple[str, ...]:
    """Tags of training sentences in an annotation layer, sorted."""
    return tuple(sorted(set(chain.from_iterable(item.layer(layer) for item in sentences if layer in item.annotated))))


class ReadsWords(ExplainsWords):
    """Mixin of `rnn.tagger.NetworkTagger` for networks with their own word vectors."""

    settings: Any
    vectors: WordVectors | None
    traits: Callable[[Any], Any]
    dev_metric: Callable[..., Any]

    @abstractmethod
    def blank_processor(self) -> Any:
        """Processor with this tagger's settings and without words."""

    def processor(self, train: Sequence[LabelledSentence]) -> Any:
        """Build the processor for training sentences."""
        layers = self.traits(self.settings).layers
        return fit_words(self.blank_processor(), train, self.settings, self.vectors, layers=layers)

    def saved_processor(self, described: Mapping[str, Any], arrays: Mapping[str, np.ndarray], key: bytes | None) -> Any:
        """Restore the processor of a saved model."""
        return self.blank_processor().read(described, arrays, key)

    def tables(self, processor: Any, rngs: nnx.Rngs) -> dict[str, jax.Array]:
        """Initial word vectors: pretrained ones where there are, random ones elsewhere."""
        shape = (len(processor.vocabulary), self.settings.embedding_dim)
        table = uniform(rngs.params(), shape, self.settings.embedding_range)
        if self.vectors is not None:
            table = jnp.asarray(initial_table(processor.vocabulary, self.vectors, table))
        return {"words": table}


def word_dropout(
    processor: WordProcessor, rows: Sequence[Row], settings: WordSettings, *, name: str = "words"
) -> dict[str, WordDropout]:
    """Word dropout for the input ``name`` of word ids."""
    alpha = settings.word_dropout
    return {name: WordDropout.of(rows, processor.vocabulary, alpha=alpha, margin=processor.margin, name=name)}


def word_phase(
    name: str, settings: WordSettings, rows: Sequence[Row], updates: BatchingSpec, drop: Mapping[str, WordDropout]
) -> Phase:
    """One epoch on some rows, with word dropout (`word_dropout`), clipping and frozen vectors by the settings."""

    def trains(parameter: str) -> bool:
        return not (settings.freeze_embeddings and parameter.startswith("tables.") and parameter.endswith("words"))

    return Phase(name, rows, updates, settings.lr, max_norm=settings.max_norm, drop=drop, trains=trains)

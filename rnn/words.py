"""Networks with their own word vectors: sentences to rows of word ids, the table, word dropout, the schedule."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from crfdeid.documents import PHI, LabelledSentence
from crfdeid.serialization import distinct_names
from features.tokens import Sentence
from rnn.batching import Row
from rnn.embeddings.subwords import SubwordVectors
from rnn.embeddings.vectors import WordVectors, extend, initial_table, matching_scale, unseen_vectors
from rnn.inputs import Characters, Features, casing
from rnn.interpret import ExplainsWords
from rnn.layers.dropout import WordDropout
from rnn.network import SUBWORD_VECTORS, uniform
from rnn.settings import WindowSettings, WordSettings
from rnn.training.schedules import BatchingSpec, Phase, Schedule, early_stopping, per_sentence
from rnn.vocab import Vocabulary

_MOST_FEATURES = 10_000  # of a token: a larger width means a damaged file, and would be allocated


class SentenceRows:
    """Mixin of processors whose rows are sentences."""

    def scatter_to_tokens(
        self, rows: Sequence[Row], values: Iterable[np.ndarray], sentences: Sequence[Sentence]
    ) -> list[np.ndarray]:
        """Return the results unchanged."""
        return list(values)


@dataclass(frozen=True)
class WordProcessor(SentenceRows):
    """Converts sentences to rows of word ids and further inputs, one row a sentence.

    The inputs of a row: "words", with ``margin`` words before and after the sentence, [T + 2 margin]; optionally
    "casing" likewise, "characters" with a further axis C, "features" with a further axis F, and "given", the vectors of
    unknown words, with a further axis D.

    Args:
        vocabulary: the words.
        tags: tags of each annotation layer.
        margin: words around the sentence, m.
        note: whether the margin holds the words of the note; else it is padding.
        casing: whether casing classes are an input.
        characters: the known characters; None for no such input.
        features: the hand-made features; None for no such input.
        width: largest number of hand-made features of a training token, F.
        subwords: makes vectors of unknown words from their parts; None for those of casing classes alone.
    """

    vocabulary: Vocabulary
    tags: Mapping[str, tuple[str, ...]]
    margin: int = 0
    note: bool = False
    casing: bool = False
    characters: Characters | None = None
    features: Features | None = None
    width: int = 0
    subwords: SubwordVectors | None = None

    @property
    def key(self) -> bytes | None:
        """Key of hashed words and features; None for readable ones."""
        return self.vocabulary.key

    def rows(self, sentences: Sequence[Sentence], targets: Sequence[LabelledSentence] | None = None) -> list[Row]:
        """Make one row a sentence.

        Args:
            sentences: the sentences.
            targets: in training, the same sentences with tags; None for rows without targets. A row has targets for
                its sentence's annotated layers.
        """
        features = None if self.features is None else self.features.rows(sentences, self.width)
        rows = [self._row(sentence, None if features is None else features[i]) for i, sentence in enumerate(sentences)]
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

    def _row(self, sentence: Sentence, features: np.ndarray | None) -> Row:
        words, margin = sentence.words, self.margin
        before, after = sentence.around(margin) if self.note else ((), ())
        start, read = margin - len(before), (*before, *words, *after)
        inputs: dict[str, np.ndarray] = {}

        def put(name: str, values: Any, at: int = start) -> None:
            array = np.asarray(values, np.int32)
            inputs[name] = np.zeros((len(words) + 2 * margin, *array.shape[1:]), np.int32)
            inputs[name][at : at + len(array)] = array

        put("words", self.vocabulary.ids(read))
        if self.casing:
            put("casing", [casing(word) for word in read])
        if self.characters is not None:
            put("characters", self.characters.rows(read))
        if features is not None:
            put("features", features, margin)
        if self.subwords is not None:
            given = np.zeros((len(words) + 2 * margin, self.subwords.dim), np.float32)
            given[start : start + len(read)] = unseen_vectors(read, self.vocabulary, self.subwords)
            inputs[SUBWORD_VECTORS] = given
        return Row(inputs, {}, len(words))

    def hashed(self, key: bytes) -> tuple[WordProcessor, dict[str, np.ndarray]]:
        """Hash words and features; return the new processor and, for each table, the old row of each new one.

        Raises:
            UsageError: vectors of parts of words cannot be hashed; or the words are hashed already, with another key.
        """
        if self.subwords is not None:
            self.subwords.hashed(key)
        vocabulary, words = self.vocabulary.hashed(key)
        if self.features is None:
            return replace(self, vocabulary=vocabulary), {"words": words}
        features, old = self.features.hashed(key)
        return replace(self, vocabulary=vocabulary, features=features), {"words": words, "features": old}

    def describe(self) -> dict[str, Any]:
        """Return words, tags and names as JSON data, for `read`."""
        return {
            "tags": {layer: list(tags) for layer, tags in self.tags.items()},
            "words": list(self.vocabulary.words),
            "lower_case": self.vocabulary.lower_case,
            "characters": None if self.characters is None else list(self.characters.known),
            "features": None if self.features is None else list(self.features.names),
            "width": self.width,
        }

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the vectors of parts of words, for `read`."""
        return {} if self.subwords is None else self.subwords.arrays()

    def read(
        self, described: Mapping[str, Any], arrays: Mapping[str, np.ndarray], key: bytes | None, *, layer: str = PHI
    ) -> WordProcessor:
        """Restore a processor from `describe` and `arrays`, with this one's settings.

        Args:
            described: JSON data of a saved model.
            arrays: its arrays.
            key: key of hashed words and features; None for readable ones.
            layer: annotation layer that must have tags.

        Raises:
            KeyError: a field is missing.
            TypeError: a field has another type.
            ValueError: a field is not a list of distinct names, or a number is out of range.
        """
        vocabulary = replace(
            self.vocabulary,
            words=distinct_names(described["words"]),
            lower_case=bool(described["lower_case"]),
            key=key,
        )
        characters, features = self.characters, self.features
        if characters is not None:
            characters = replace(characters, known=distinct_names(described["characters"]))
        if features is not None:
            features = replace(features, names=distinct_names(described["features"]), key=key)
        tags = {str(layer): distinct_names(names) for layer, names in dict(described["tags"]).items()}
        if not tags.get(layer):
            raise ValueError("no tags")
        width = int(described["width"])
        if not 0 <= width <= _MOST_FEATURES:
            raise ValueError("a number of features that no token has")
        return replace(
            self,
            vocabulary=vocabulary,
            tags=tags,
            characters=characters,
            features=features,
            width=width,
            subwords=SubwordVectors.from_arrays(arrays) if arrays else None,
        )


def fit_words(
    blank: WordProcessor,
    train: Sequence[LabelledSentence],
    settings: WordSettings,
    vectors: WordVectors | None,
    *,
    layers: Sequence[str] = (PHI,),
) -> WordProcessor:
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
        vocabulary, subwords = extend(vocabulary, vectors), vectors.subwords
        if subwords is not None:
            spread = settings.embedding_range / 3**0.5  # standard deviation of the random table
            subwords = subwords.scaled(matching_scale(vectors, np.array([-spread, spread])))
    tags = {layer: tags_of(train, layer) for layer in layers}
    return replace(blank, vocabulary=vocabulary, tags=tags, subwords=subwords)


def tags_of(sentences: Sequence[LabelledSentence], layer: str = PHI) -> tuple[str, ...]:
    """Tags of training sentences in an annotation layer, sorted."""
    return tuple(sorted(set(chain.from_iterable(item.layer(layer) for item in sentences if layer in item.annotated))))


class ReadsWords(ExplainsWords):
    """Mixin of `rnn.tagger.NetworkTagger` for networks with their own word vectors."""

    _settings: Any
    _vectors: WordVectors | None
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
    updates: BatchingSpec,
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
            max_norm=settings.clip_norm,
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

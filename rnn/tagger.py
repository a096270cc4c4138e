"""The networks as taggers: `ElmanTagger` and `JordanTagger`."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self, final

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from crfdeid.documents import LabelledSentence
from crfdeid.errors import UsageError
from crfdeid.saving import ModelFiles, pack_arrays
from crfdeid.tagger import OnProgress, OnProgressOfMany, Tagger, Traits
from features.tokens import Sentence
from rnn.batches import MANY_TOKENS, Batch, Vocabulary, batches
from rnn.decoding import predecessors
from rnn.embeddings.vectors import WordVectors, initial_table
from rnn.networks.elman import Elman
from rnn.networks.jordan import Jordan
from rnn.prediction import best_tags, posteriors
from rnn.replicates import fit_many, fit_together
from rnn.settings import ElmanSettings, JordanSettings, RnnSettings
from rnn.training import Weights

_SCHEMA = 1
_WEIGHTS_FILE = "weights.npz"
_ACCELERATOR_TOKENS = 65_536  # a batch on an accelerator: a step of few rows takes as long there as one of thousands


class Learned(NamedTuple):
    """What a network has learned, or starts from.

    Attributes:
        tags: the tags it can give, sorted.
        vocabulary: the words it has vectors for.
        graph: the network's structure, from `nnx.split`.
        weights: its weights, as those of one replicate.
    """

    tags: tuple[str, ...]
    vocabulary: Vocabulary
    graph: Any
    weights: Weights


class RnnTagger(Tagger, ABC):
    """All of a recurrent tagger but its network; `ElmanTagger` and `JordanTagger` are the taggers to use."""

    model: ClassVar[str]
    settings_class: ClassVar[type[RnnSettings]]

    def __init__(
        self, settings: RnnSettings | None = None, *, seed: int = 0, vectors: WordVectors | None = None
    ) -> None:
        self._settings = settings if settings is not None else self.settings_class()
        if vectors is not None:
            self._settings = dataclasses.replace(self._settings, embedding_dim=vectors.table.shape[1])
        self._seed = seed
        self._vectors = vectors
        self.learned: Learned | None = None

    @classmethod
    @abstractmethod
    def profiles(cls) -> Mapping[str, RnnSettings]:
        """Settings by profile name: "default" trains best, "yadav2016" is its Table 3 and sections 3.1 and 3.5."""

    @classmethod
    def traits(cls, settings: RnnSettings) -> Traits:
        """What the model needs and can do."""
        return Traits(uses_seed=True, memorises=True, accelerated=True, takes_vectors=True, public_vocabulary=False)

    @abstractmethod
    def _network(self, tags: int, rngs: nnx.Rngs) -> Any:
        """A new network for so many tags."""

    @property
    def settings(self) -> RnnSettings:
        """The settings this tagger was built with."""
        return self._settings

    @property
    def seed(self) -> int:
        """The seed of the initial weights, the order of the sentences and dropout."""
        return self._seed

    @property
    def vectors(self) -> WordVectors | None:
        """The word vectors that training starts from; None for random ones, and in a tagger that was loaded."""
        return self._vectors

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags this tagger can give, sorted: the columns of `marginals`. Empty before `fit`."""
        return () if self.learned is None else self.learned.tags

    def fit(
        self,
        train: Sequence[LabelledSentence],
        dev: Sequence[LabelledSentence],
        *,
        on_progress: OnProgress | None = None,
    ) -> None:
        """Train from scratch and keep the epoch with the best strict entity micro F on ``dev`` (the first of equals).

        With an empty ``dev`` it is the last epoch that is kept.

        Raises:
            DataError: ``train`` holds no tokens.
        """
        fit_together([self], train, dev, on_progress=on_progress and (lambda _, progress: on_progress(progress)))

    @classmethod
    def fit_many(
        cls,
        taggers: Sequence[Self],
        train: Sequence[LabelledSentence],
        dev: Sequence[LabelledSentence],
        *,
        on_progress: OnProgressOfMany | None = None,
    ) -> None:
        """Train several taggers, those that can be one program together (`rnn.replicates.fit_many`)."""
        fit_many(taggers, train, dev, on_progress=on_progress)

    def initial(self, tags: tuple[str, ...], vocabulary: Vocabulary) -> Learned:
        """What this tagger knows before training: the weights that the seed and the vectors give the network."""
        settings, rngs = self._settings, nnx.Rngs(self._seed)
        bound = settings.embedding_range
        shape = (len(vocabulary), settings.embedding_dim)
        table = jax.random.uniform(rngs.params(), shape, minval=-bound, maxval=bound)
        if self._vectors is not None:
            table = jnp.asarray(initial_table(vocabulary, self._vectors, table))
        graph, network = nnx.split(self._network(len(tags), rngs))
        return Learned(tags, vocabulary, graph, jax.tree.map(lambda array: array[None], Weights(table, network)))

    def predict(self, sentences: Sequence[Sentence]) -> list[list[str]]:
        """One tag a token, for each sentence, chosen as the setting ``decoding`` says."""
        learned = self._trained()
        begins = predecessors(learned.tags, self._settings.decoding)
        names = np.array(learned.tags, object)
        # All batches are on their way before the first is waited for, so that host and device work at once.
        running = [
            (members, best_tags(learned.graph, learned.weights, batch, begins))
            for members, batch in self._batches(sentences)
        ]
        rows: list[list[str]] = [[] for _ in sentences]
        for members, best in running:
            found = names[np.asarray(best)[0, : len(members)]].tolist()
            for i, row in zip(members, found, strict=True):
                rows[i] = row[: len(sentences[i].tokens)]
        return rows

    def marginals(self, sentences: Sequence[Sentence]) -> list[np.ndarray]:
        """The probability of each tag at each token, for each sentence: [T, K], rows sum to 1."""
        learned = self._trained()
        tables = [np.empty((0, len(learned.tags)))] * len(sentences)
        for members, batch in self._batches(sentences):
            found = np.asarray(posteriors(learned.graph, learned.weights, batch))[0]
            for i, table in zip(members, found, strict=False):
                tables[i] = table[: len(sentences[i].tokens)]
        return tables

    def _batches(self, sentences: Sequence[Sentence]) -> Iterator[tuple[list[int], Batch]]:
        rows = [self._trained().vocabulary.ids(sentence.words) for sentence in sentences]
        many = MANY_TOKENS if jax.default_backend() == "cpu" else _ACCELERATOR_TOKENS
        return batches(rows, window=self._settings.window, many_tokens=many)

    def save(self, folder: Path, *, key: bytes | None = None) -> None:
        """Write ``model.json`` (settings, tags, vocabulary, checksum) and ``weights.npz``.

        Without a key, the vocabulary holds words of the training notes: the folder is as confidential as the notes are.
        """
        learned = self._trained()
        vocabulary, weights = learned.vocabulary, _named(learned.weights)
        if key is not None:
            vocabulary, old = vocabulary.hashed(key)
            weights["table"] = weights["table"][old]
        self._files().save(
            folder,
            pack_arrays(weights),
            settings=self._settings,
            seed=self._seed,
            key=key,
            tags=learned.tags,
            words=vocabulary.words,
            lower_case=vocabulary.lower_case,
        )

    @classmethod
    def load(cls, folder: Path, *, key: bytes | None = None) -> Self:
        """Read a model that `save` wrote.

        Raises:
            DataError: the folder holds no such model, one of another version, or a damaged one.
            UsageError: its words are hashed, and the key is missing or another one.
        """
        saved = cls._files().load(folder, key=key)
        tagger = cls(saved.settings(cls.settings_class), seed=saved.seed)
        with saved.refusing_damage():
            tags, lower_case = saved.names("tags"), bool(saved.description.get("lower_case"))
            vocabulary = Vocabulary(saved.names("words"), tagger.settings.fold_digits, lower_case, saved.key)
            arrays = _checked(saved.arrays())
            # Only their shapes: a description that asks for a network of absurd size must not be built.
            shapes = jax.eval_shape(lambda: tagger.initial(tags, vocabulary).weights)
            weights = _like(shapes, arrays)
            tagger.learned = tagger.initial(tags, vocabulary)._replace(weights=weights)
        return tagger

    @classmethod
    def _files(cls) -> ModelFiles:
        return ModelFiles(cls.model, _SCHEMA, _WEIGHTS_FILE, ("jax", "flax"))

    def _trained(self) -> Learned:
        if self.learned is None:
            raise UsageError(f"this {self.model} network is not trained: call fit, or load a saved one")
        return self.learned


def _named(weights: Weights) -> dict[str, np.ndarray]:
    """Every array of one network's weights under the name of its place: "table", "network.U", …"""
    return {name: np.asarray(leaf)[0] for name, leaf in _leaves(weights)}


def _leaves(weights: Weights) -> list[tuple[str, Any]]:
    leaves = jax.tree_util.tree_leaves_with_path(weights)
    return [(jax.tree_util.keystr(path, simple=True, separator="."), leaf) for path, leaf in leaves]


def _checked(found: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays of a saved network.

    Raises:
        ValueError: they hold something other than finite numbers.
    """
    if not all(array.dtype == np.float32 and np.isfinite(array).all() for array in found.values()):
        raise ValueError("weights that are no numbers")
    return found


def _like(shapes: Weights, arrays: Mapping[str, np.ndarray]) -> Weights:
    """Weights of the same structure and shapes with the arrays of a saved file.

    Args:
        shapes: the structure, with arrays or their shapes as leaves, of one replicate.
        arrays: by the names of their places.

    Raises:
        ValueError: the file's arrays are not those of the structure.
    """
    expected = _leaves(shapes)
    if {name: a.shape for name, a in arrays.items()} != {name: leaf.shape[1:] for name, leaf in expected}:
        raise ValueError("other arrays than the network's")
    leaves = [jnp.asarray(arrays[name])[None] for name, _ in expected]
    return jax.tree.unflatten(jax.tree.structure(shapes), leaves)


@final
class ElmanTagger(RnnTagger):
    """A tagger on the Elman network (yadav2016, equations 7-11).

    Example:
        >>> from crfdeid.documents import LabelledSentence
        >>> sentence = Sentence.from_words(["Dr", "Doe"])
        >>> tagger = ElmanTagger(ElmanSettings(epochs=5, lr=0.5, dropout=0.0, min_count=1))
        >>> tagger.fit([LabelledSentence(sentence, ("O", "B-DOCTOR"))], [])
        >>> tagger.predict([sentence])
        [['O', 'B-DOCTOR']]
    """

    model = "elman"
    settings_class = ElmanSettings
    _settings: ElmanSettings

    @classmethod
    def profiles(cls) -> Mapping[str, ElmanSettings]:
        """Settings by profile name: "default" trains best, "yadav2016" is that paper's."""
        return {"default": ElmanSettings(), "yadav2016": ElmanSettings.paper()}

    def _network(self, tags: int, rngs: nnx.Rngs) -> Elman:
        settings = self._settings
        return Elman(
            inputs=settings.window * settings.embedding_dim,
            hidden=settings.hidden,
            tags=tags,
            layers=settings.layers,
            init_range=settings.init_range,
            rngs=rngs,
        )


@final
class JordanTagger(RnnTagger):
    """A tagger on the Jordan network (yadav2016, equation 12)."""

    model = "jordan"
    settings_class = JordanSettings
    _settings: JordanSettings

    @classmethod
    def profiles(cls) -> Mapping[str, JordanSettings]:
        """Settings by profile name: "default" trains best, "yadav2016" is that paper's."""
        return {"default": JordanSettings(), "yadav2016": JordanSettings.paper()}

    def _network(self, tags: int, rngs: nnx.Rngs) -> Jordan:
        settings = self._settings
        return Jordan(
            inputs=settings.window * settings.embedding_dim,
            hidden=settings.hidden,
            tags=tags,
            init_range=settings.init_range,
            rngs=rngs,
        )

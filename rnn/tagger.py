"""The networks as taggers: `ElmanTagger` and `JordanTagger`."""

from __future__ import annotations

import dataclasses
import io
import math
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, final

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from crfdeid.documents import LabelledSentence
from crfdeid.errors import DataError, UsageError
from crfdeid.saving import damaged, load_model, save_model
from crfdeid.scoring import count_tags
from crfdeid.tagger import FitProgress, OnProgress
from features.tokens import Sentence
from rnn.batches import Batch, Vocabulary, make_batch, predict_batches
from rnn.decoding import predecessors
from rnn.networks.elman import Elman
from rnn.networks.jordan import Jordan
from rnn.settings import ElmanSettings, JordanSettings, RnnSettings
from rnn.training import Schedule, Weights, WordDropout, best_tags, make_buckets, posteriors, train

if TYPE_CHECKING:
    from rnn.embeddings.vectors import WordVectors

_SCHEMA = 1
_WEIGHTS_FILE = "weights.npz"


class RnnTagger(ABC):
    """All of a recurrent tagger but its network; `ElmanTagger` and `JordanTagger` are the taggers to use."""

    model: ClassVar[str]
    settings_class: ClassVar[type[RnnSettings]]
    uses_seed: ClassVar[bool] = True

    def __init__(
        self, settings: RnnSettings | None = None, *, seed: int = 0, vectors: WordVectors | None = None
    ) -> None:
        self._settings = settings if settings is not None else self.settings_class()
        if vectors is not None:
            self._settings = dataclasses.replace(self._settings, embedding_dim=vectors.table.shape[1])
        self._seed = seed
        self._vectors = vectors
        self._tags: tuple[str, ...] = ()

    @classmethod
    @abstractmethod
    def profiles(cls) -> Mapping[str, RnnSettings]:
        """Settings by profile name: "default" trains best, "paper" is the paper's Table 3 and sections 3.1 and 3.5."""

    @abstractmethod
    def _network(self, tags: int, rngs: nnx.Rngs) -> Any:
        """A new network for so many tags."""

    @property
    def settings(self) -> RnnSettings:
        """The settings this tagger was built with."""
        return self._settings

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags this tagger can give, sorted: the columns of `marginals`. Empty before `fit`."""
        return self._tags

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
        train = [item for item in train if item.tags]
        if not train:
            raise DataError("there is nothing to train on: the training set holds no tokens")
        self._tags = tuple(sorted({tag for item in train for tag in item.tags}))
        self._vocabulary = Vocabulary.build(
            (item.sentence.words for item in train),
            fold_digits=self._settings.fold_digits,
            min_count=self._settings.min_count,
        )
        if self._vectors is not None:
            from rnn.embeddings.vectors import extend  # noqa: PLC0415

            self._vocabulary = extend(self._vocabulary, self._vectors)
        self._graph, weights = self._initial_weights()
        self._weights = self._train(weights, train, dev, on_progress)

    def _train(
        self,
        initial: Weights,
        training: Sequence[LabelledSentence],
        dev: Sequence[LabelledSentence],
        on_progress: OnProgress | None,
    ) -> Weights:
        settings = self._settings
        tag_ids = {tag: k for k, tag in enumerate(self._tags)}
        rows = [self._vocabulary.ids(item.sentence.words) for item in training]
        tags = [[tag_ids[tag] for tag in item.tags] for item in training]
        max_norm = math.inf if settings.max_norm is None else settings.max_norm
        schedule = Schedule(
            settings.epochs, settings.lr, settings.final_lr, settings.dropout, max_norm, settings.freeze_embeddings
        )
        tokens = sum(map(len, rows))
        gold, dev_sentences = [item.tags for item in dev], [item.sentence for item in dev]
        dev_batches = list(self._batches(dev_sentences))  # once, for all epochs
        kept, best = initial, -1.0
        buckets = make_buckets(rows, tags, window=settings.window)
        drop = WordDropout.of(rows, self._vocabulary, alpha=settings.word_dropout)
        epochs = train(self._graph, initial, buckets, drop, schedule, seed=self._seed)
        for epoch, (weights, loss) in enumerate(epochs, start=1):
            dev_f1 = count_tags(gold, self._predict(weights, dev_sentences, dev_batches)).micro.f1 if dev else None
            if dev_f1 is None or dev_f1 > best:
                kept, best = jax.tree.map(jnp.copy, weights), dev_f1 if dev_f1 is not None else best
            if on_progress is not None:
                on_progress(FitProgress(epoch, settings.epochs, loss / tokens, dev_f1))
        return kept

    def predict(self, sentences: Sequence[Sentence]) -> list[list[str]]:
        """One tag a token, for each sentence, chosen as the setting ``decoding`` says."""
        self._require_trained()
        return self._predict(self._weights, sentences, self._batches(sentences))

    def _predict(
        self, weights: Weights, sentences: Sequence[Sentence], batches: Iterable[tuple[list[int], Batch]]
    ) -> list[list[str]]:
        rows: list[list[str]] = [[] for _ in sentences]
        begins = predecessors(self._tags, self._settings.decoding)
        for members, batch in batches:
            best = np.asarray(best_tags(self._graph, weights, batch, begins)).tolist()
            for i, row in zip(members, best, strict=False):
                rows[i] = [self._tags[k] for k in row[: len(sentences[i].tokens)]]
        return rows

    def marginals(self, sentences: Sequence[Sentence]) -> list[np.ndarray]:
        """The probability of each tag at each token, for each sentence: [T, K], rows sum to 1."""
        self._require_trained()
        tables = [np.empty((0, len(self._tags)))] * len(sentences)
        for members, batch in self._batches(sentences):
            found = np.asarray(posteriors(self._graph, self._weights, batch))
            for i, table in zip(members, found, strict=False):
                tables[i] = table[: len(sentences[i].tokens)]
        return tables

    def _batches(self, sentences: Sequence[Sentence]) -> Iterator[tuple[list[int], Batch]]:
        rows = [self._vocabulary.ids(sentence.words) for sentence in sentences]
        for members, length, size in predict_batches([len(row) for row in rows]):
            part = [rows[i] for i in members]
            yield members, make_batch(part, None, length=length, window=self._settings.window, size=size)

    def save(self, folder: Path) -> None:
        """Write ``model.json`` (settings, tags, vocabulary, checksum) and ``weights.npz``.

        The vocabulary holds words of the training notes: the folder is as confidential as the notes are.
        """
        self._require_trained()
        buffer = io.BytesIO()
        np.savez(buffer, allow_pickle=False, **_named(self._weights))
        save_model(
            folder,
            model=self.model,
            schema=_SCHEMA,
            file=_WEIGHTS_FILE,
            weights=buffer.getvalue(),
            libraries=("jax", "flax"),
            seed=self._seed,
            settings=dataclasses.asdict(self._settings),
            tags=self._tags,
            words=self._vocabulary.words,
        )

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read a model that `save` wrote.

        Raises:
            DataError: the folder holds no such model, one of another version, or a damaged one.
        """
        description, content = load_model(folder, model=cls.model, schema=_SCHEMA, file=_WEIGHTS_FILE)
        try:
            tagger = cls(cls.settings_class(**description["settings"]), seed=description["seed"])
            tagger._tags = tuple(description["tags"])
            tagger._vocabulary = Vocabulary(tuple(description["words"]), tagger._settings.fold_digits)
            tagger._graph, like = tagger._initial_weights()
            tagger._weights = _like(like, content)
        except (KeyError, TypeError, ValueError, zipfile.BadZipFile):
            raise damaged(folder) from None
        return tagger

    def _initial_weights(self) -> tuple[Any, Weights]:
        """The network's structure, and what is learned as it stands before training."""
        settings, rngs = self._settings, nnx.Rngs(self._seed)
        bound = settings.embedding_range
        shape = (len(self._vocabulary), settings.embedding_dim)
        table = jax.random.uniform(rngs.params(), shape, minval=-bound, maxval=bound)
        if self._vectors is not None:
            from rnn.embeddings.vectors import initial_table  # noqa: PLC0415

            table = initial_table(self._vocabulary, self._vectors, table)
        graph, network = nnx.split(self._network(len(self._tags), rngs))
        return graph, Weights(table, network)

    def _require_trained(self) -> None:
        if not self._tags:
            raise UsageError(f"this {self.model} network is not trained: call fit, or load a saved one")


def _named(weights: Weights) -> dict[str, np.ndarray]:
    """Every array of the weights under the name of its place: "table", "network.U", …"""
    leaves = jax.tree_util.tree_leaves_with_path(weights)
    return {jax.tree_util.keystr(path, simple=True, separator="."): np.asarray(leaf) for path, leaf in leaves}


def _like(weights: Weights, content: bytes) -> Weights:
    """Weights of the same structure and shapes with the arrays of a saved file.

    Raises:
        ValueError: the file's arrays are not those of the structure.
    """
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        loaded = {name: arrays[name] for name in arrays.files}
    expected = _named(weights)
    if {name: a.shape for name, a in loaded.items()} != {name: a.shape for name, a in expected.items()}:
        raise ValueError("other arrays than the network's")
    leaves = [jnp.asarray(loaded[name]) for name in expected]
    return jax.tree.unflatten(jax.tree.structure(weights), leaves)


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
        """Settings by profile name: "default" trains best, "paper" is the paper's."""
        return {"default": ElmanSettings(), "paper": ElmanSettings.paper()}

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
        """Settings by profile name: "default" trains best, "paper" is the paper's."""
        return {"default": JordanSettings(), "paper": JordanSettings.paper()}

    def _network(self, tags: int, rngs: nnx.Rngs) -> Jordan:
        settings = self._settings
        return Jordan(
            inputs=settings.window * settings.embedding_dim,
            hidden=settings.hidden,
            tags=tags,
            init_range=settings.init_range,
            rngs=rngs,
        )

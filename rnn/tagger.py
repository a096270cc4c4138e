"""A network as a `crfdeid.tagger.Tagger`: `NetworkTagger` fits, predicts, saves and loads, whatever the network."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self

import jax
import numpy as np
from flax import nnx

from crfdeid.documents import PHI, LabelledSentence
from crfdeid.errors import NotTrainedError, OptionConflictError
from crfdeid.secrets import require_same_key
from crfdeid.serialization import READABLE, ModelFiles, pack_arrays
from crfdeid.tagger import FitProgress, OnProgress, OnProgressOfMany, Tagger, Traits
from features.tokens import Sentence
from rnn.batching import POWERS, Batch, Cut, Row
from rnn.compile_cache import keep_compiled
from rnn.decode import iob_constraints
from rnn.further import Before
from rnn.inference import answers, best_tags, posteriors
from rnn.network import Network, Weights, named
from rnn.processors.base import Processor
from rnn.saved_weights import alone, like
from rnn.training.held_out import Dev, Measure
from rnn.training.phases import Schedule
from rnn.training.replicates import Learned, fit_together, groups

_SCHEMA = 2
_WEIGHTS_FILE = "weights.npz"
_CODEC = "codec."  # before the names of its arrays among the weights


class NetworkTagger(Tagger, ABC):
    """All of a tagger but its network, its codec and its schedule of training.

    Attributes:
        model: its name in `crfdeid.registry.MODELS`.
        settings_class: the dataclass of its settings; it has ``decoding`` and ``epochs``.
        own_settings: the settings in which replicates that train in one program may differ; None for a network whose
            replicates train one after the other.
        words_are: what its files' words are where they are not hashed, `crfdeid.serialization.READABLE` or ``PUBLIC``.
    """

    model: ClassVar[str]
    settings_class: ClassVar[type[Any]]
    own_settings: ClassVar[frozenset[str] | None] = None
    words_are: ClassVar[str] = READABLE

    def __init__(self, settings: Any = None, *, seed: int = 0) -> None:
        self._settings = settings if settings is not None else self.settings_class()
        self._seed = seed
        self.learned: Learned | None = None
        self._before: Before | None = None

    @classmethod
    @abstractmethod
    def profiles(cls) -> Mapping[str, Any]:
        """Settings by profile name: "default" trains best, the others are papers'."""

    @classmethod
    def traits(cls, settings: Any) -> Traits:
        """What the model needs and can do."""
        return Traits(uses_seed=True, is_trained=True, accelerated=True, takes_vectors=False, public_vocabulary=False)

    @abstractmethod
    def codec(self, train: Sequence[LabelledSentence]) -> Processor:
        """The codec for some training sentences."""

    @abstractmethod
    def saved_codec(
        self, described: Mapping[str, Any], arrays: Mapping[str, np.ndarray], key: bytes | None
    ) -> Processor:
        """Processor from `Processor.describe` and `Processor.arrays`; its words are hashed if there is a key."""

    @abstractmethod
    def tables(self, codec: Any, rngs: nnx.Rngs) -> dict[str, jax.Array]:
        """The initial tables of vectors, [V, D] each."""

    @abstractmethod
    def network(self, codec: Any, rngs: nnx.Rngs) -> Network:
        """A new network."""

    @abstractmethod
    def schedule(self, codec: Any, rows: Sequence[Row]) -> Schedule:
        """The phases of training on some rows."""

    @property
    def settings(self) -> Any:
        """The settings this tagger was built with."""
        return self._settings

    @property
    def seed(self) -> int:
        """The seed of the initial weights, the order of the sentences and all that is drawn."""
        return self._seed

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags this tagger can give, sorted: the columns of `marginals`. Empty before `fit`."""
        return () if self.learned is None else self.learned.codec.tags[PHI]

    def fit(
        self,
        train: Sequence[LabelledSentence],
        dev: Sequence[LabelledSentence],
        *,
        on_progress: OnProgress | None = None,
    ) -> None:
        """Train from scratch, or from where `init_from` says, and keep the best epoch.

        That is the one with the highest strict entity micro F on ``dev``, the first of equals; with an empty ``dev``
        the last one.

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
        """Train several taggers: those that can be in one program together, the others one after the other.

        Args:
            taggers: what to train.
            train: the training sentences.
            dev: the development sentences.
            on_progress: is told of each epoch of each tagger, by its place in ``taggers``.

        Raises:
            DataError: ``train`` holds no tokens.
        """
        for group in groups(taggers):

            def follow(n: int, progress: FitProgress, group: Sequence[int] = group) -> None:
                if on_progress is not None:
                    on_progress(group[n], progress)

            fit_together([taggers[i] for i in group], train, dev, on_progress=follow)

    @property
    def cut(self) -> Cut:
        """How rows are cut into batches for prediction."""
        return POWERS

    def company(self) -> object:
        """What must be the same object for taggers that train in one program."""
        return None

    def measure(self, codec: Any, dev: Sequence[LabelledSentence]) -> Measure:
        """F on the development sentences, whose rows are theirs: what training is measured by."""
        rows = codec.rows([item.sentence for item in dev])
        gold = {layer: [item.layer(layer) if layer in item.annotated else None for item in dev] for layer in codec.tags}
        hides = self.traits(self._settings).hides_phi
        return Dev.of(rows, gold, codec.tags, self._settings.decoding, hides_phi=hides)

    def init_from(self, before: Self) -> None:
        """Let `fit` begin with what another tagger of this model learned, and keep its tags, words and features.

        Args:
            before: trained. It stays as it is.

        Raises:
            UsageError: with the settings of this one, the network has other parts.
        """
        learned = before._trained()
        described = json.loads(json.dumps(learned.codec.describe()))
        arrays = {name: np.asarray(leaf)[0] for name, leaf in named(learned.weights).items()}
        try:
            codec = self.saved_codec(described, learned.codec.arrays(), learned.codec.key)
            graph, shapes = self.shapes(codec)
            self._before = Before(Learned(codec, graph, like(shapes, arrays.keys(), arrays.__getitem__)))
        except (KeyError, TypeError, ValueError):
            problem = f"with these settings a {self.model} has other parts than the trained one"
            raise OptionConflictError(f"{problem}: leave out settings that change the network") from None

    @property
    def is_finetuned(self) -> bool:
        """Whether `fit` begins with what another tagger learned."""
        return self._before is not None

    def codec_for(self, train: Sequence[LabelledSentence]) -> Processor:
        """The codec of training: that of the tagger that training goes on from, or one for these sentences."""
        return self.codec(train) if self._before is None else self._before.codec_for(train)

    def beginning(self, codec: Any) -> Learned:
        """What training begins with: what another tagger learned, or new weights."""
        return self.start(codec) if self._before is None else self._before.copied()

    def start(self, codec: Any) -> Learned:
        """What this tagger knows before training from scratch: the weights that the seed gives tables and network."""
        return self.drawn(codec)

    def drawn(self, codec: Any) -> Learned:
        """Tables and network with weights that the seed gives."""
        rngs = nnx.Rngs(self._seed)
        tables = self.tables(codec, rngs)
        graph, network = nnx.split(self.network(codec, rngs))
        return Learned(codec, graph, alone(Weights(tables, network)))

    def shapes(self, codec: Any) -> tuple[nnx.GraphDef[Any], Weights]:
        """The network's structure, and the shapes of `drawn`'s weights, of one replicate; no array is made."""
        graph = nnx.split(nnx.eval_shape(lambda: self.network(codec, nnx.Rngs(0))))[0]
        return graph, jax.eval_shape(lambda: self.drawn(codec).weights)

    def predict(self, sentences: Sequence[Sentence]) -> list[list[str]]:
        """One tag per token, for each sentence, chosen as the setting ``decoding`` says."""
        learned, names = self._trained(), np.array(self.tags, object)
        begins = iob_constraints(self.tags, self._settings.decoding)
        ask = partial(best_tags, learned.graph, learned.weights, begins=begins, layer=PHI)
        found = self._ask(sentences, ask, nothing=np.empty(0, np.int32))
        return [names[row].tolist() for row in found]

    def marginals(self, sentences: Sequence[Sentence]) -> list[np.ndarray]:
        """The probability of each tag at each token, for each sentence: [T, K], rows sum to 1."""
        learned = self._trained()
        ask = partial(posteriors, learned.graph, learned.weights, layer=PHI)
        return self._ask(sentences, ask, nothing=np.empty((0, len(self.tags)), np.float32))

    def _ask(
        self,
        sentences: Sequence[Sentence],
        ask: Callable[[Batch], jax.Array],
        *,
        nothing: np.ndarray,
        rows: Sequence[Row] | None = None,
    ) -> list[np.ndarray]:
        """What ``ask`` gives for batches, [1, B, T, ...], for each sentence: [T, ...]; ``nothing`` without tokens.

        With ``rows`` they are read that way, and as the codec makes them without.
        """
        keep_compiled()
        codec = self._trained().codec
        rows = codec.rows(sentences) if rows is None else rows
        return codec.gather(rows, answers(rows, ask, nothing=nothing, cut=self.cut), sentences)

    def save(self, folder: Path, *, key: bytes | None = None) -> None:
        """Write ``model.json`` (settings, tags, vocabulary, checksum) and ``weights.npz``.

        Without a key, the vocabulary holds words of the training notes: the folder is as confidential as the notes are.

        Raises:
            UsageError: its words are hashed, and the key is missing or another one.
        """
        learned = self._trained()
        codec, weights = learned.codec, {name: np.asarray(leaf)[0] for name, leaf in named(learned.weights).items()}
        require_same_key(codec.key, key)
        if key is not None:
            codec, moved = codec.hashed(key)
            for table, old in moved.items():
                weights[f"tables.{table}"] = weights[f"tables.{table}"][old]
        weights |= {_CODEC + name: array for name, array in codec.arrays().items()}
        self._files().save(
            folder, pack_arrays(weights), settings=self._settings, seed=self._seed, key=key, codec=codec.describe()
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
            arrays = saved.arrays()
            parts = {name.removeprefix(_CODEC): arrays[name] for name in arrays if name.startswith(_CODEC)}
            codec = tagger.saved_codec(saved.description["codec"], parts, saved.key)
            # Only their shapes: a description that asks for a network of absurd size must not be built.
            graph, shapes = tagger.shapes(codec)
            names = [name for name in arrays if not name.startswith(_CODEC)]
            tagger.learned = Learned(codec, graph, like(shapes, names, arrays.__getitem__))
        return tagger

    @classmethod
    def _files(cls) -> ModelFiles:
        return ModelFiles(cls.model, _SCHEMA, _WEIGHTS_FILE, ("jax", "flax"), cls.words_are)

    def _trained(self) -> Learned:
        if self.learned is None:
            raise NotTrainedError(f"this {self.model} network is not trained: call fit, or load a saved one")
        return self.learned

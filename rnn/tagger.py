"""`NetworkTagger`, the base class of all networks as taggers: fit, predict, save and load."""

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
from rnn.batching import POWER_OF_TWO_PADDING, Batch, PaddingPolicy, Row
from rnn.checkpoint import alone, copied, like, require_known_tags
from rnn.compile_cache import keep_compiled
from rnn.decode import best_tags, iob_constraints, posteriors, run_batches
from rnn.network import Network, Weights, flatten_params
from rnn.processors.base import Processor
from rnn.training.held_out import Dev, DevMetric
from rnn.training.phases import Schedule
from rnn.training.replicates import TrainedModel, fit_together, replicate_groups

_FORMAT_VERSION = 3
_WEIGHTS_FILE = "weights.npz"
_PROCESSOR = "processor."  # prefix of its arrays among the weights


class NetworkTagger(Tagger, ABC):
    """Base class of taggers; a subclass adds the network, its processor and its training schedule.

    Attributes:
        model: name in `crfdeid.registry.MODELS`.
        settings_class: dataclass of the settings; it has ``decoding`` and ``epochs``.
        own_settings: settings in which replicates in one program may differ; None for a network whose replicates train
            one after the other.
        words_are: confidentiality of the unhashed words in its files, `crfdeid.serialization.READABLE` or ``PUBLIC``.
    """

    model: ClassVar[str]
    settings_class: ClassVar[type[Any]]
    own_settings: ClassVar[frozenset[str] | None] = None
    words_are: ClassVar[str] = READABLE

    def __init__(self, settings: Any = None, *, seed: int = 0) -> None:
        self._settings = settings if settings is not None else self.settings_class()
        self._seed = seed
        self.learned: TrainedModel | None = None
        self._checkpoint: TrainedModel | None = None

    @classmethod
    @abstractmethod
    def profiles(cls) -> Mapping[str, Any]:
        """Settings by profile name: "default" gives the best F, the others are papers'."""

    @classmethod
    def traits(cls, settings: Any) -> Traits:
        """Return the traits of a `Tagger`."""
        return Traits(uses_seed=True, is_trained=True, accelerated=True, takes_vectors=False, public_vocabulary=False)

    @abstractmethod
    def processor(self, train: Sequence[LabelledSentence]) -> Processor:
        """Build the processor for training sentences."""

    @abstractmethod
    def saved_processor(
        self, described: Mapping[str, Any], arrays: Mapping[str, np.ndarray], key: bytes | None
    ) -> Processor:
        """Restore a processor from `Processor.describe` and `Processor.arrays`; with a key its words are hashes."""

    @abstractmethod
    def tables(self, processor: Any, rngs: nnx.Rngs) -> dict[str, jax.Array]:
        """Initial tables of vectors, [V, D] each."""

    @abstractmethod
    def network(self, processor: Any, rngs: nnx.Rngs) -> Network:
        """Create the network."""

    @abstractmethod
    def schedule(self, processor: Any, rows: Sequence[Row]) -> Schedule:
        """Phases of training on some rows."""

    @property
    def settings(self) -> Any:
        """Settings of this tagger."""
        return self._settings

    @property
    def seed(self) -> int:
        """Seed of the initial weights, the order of the sentences and all other random numbers."""
        return self._seed

    @property
    def tags(self) -> tuple[str, ...]:
        """Known tags, sorted: the columns of `marginals`. Empty before `fit`."""
        return () if self.learned is None else self.learned.processor.tags[PHI]

    def fit(
        self,
        train: Sequence[LabelledSentence],
        dev: Sequence[LabelledSentence],
        *,
        on_progress: OnProgress | None = None,
    ) -> None:
        """Train from scratch, or from the weights of `init_from`, and keep the best epoch.

        The best epoch has the highest strict entity micro F on ``dev``, the first of equals. With an empty ``dev``, the
        last epoch is kept.

        Raises:
            EmptyInputError: ``train`` holds no tokens.
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
        """Train several taggers, in one program if their networks and settings allow it.

        Args:
            taggers: the taggers.
            train: training sentences.
            dev: development sentences.
            on_progress: called after each epoch of each tagger with its index in ``taggers``.

        Raises:
            EmptyInputError: ``train`` holds no tokens.
        """
        for group in replicate_groups(taggers):

            def follow(n: int, progress: FitProgress, group: Sequence[int] = group) -> None:
                if on_progress is not None:
                    on_progress(group[n], progress)

            fit_together([taggers[i] for i in group], train, dev, on_progress=follow)

    @property
    def padding(self) -> PaddingPolicy:
        """Padded lengths and batch sizes for prediction."""
        return POWER_OF_TWO_PADDING

    def company(self) -> object:
        """Object that taggers in one program must share."""
        return None

    def dev_metric(self, processor: Any, dev: Sequence[LabelledSentence]) -> DevMetric:
        """F on the development sentences, one row each; it selects the best epoch."""
        rows = processor.rows([item.sentence for item in dev])
        gold = {
            layer: [item.layer(layer) if layer in item.annotated else None for item in dev] for layer in processor.tags
        }
        hides = self.traits(self._settings).hides_phi
        return Dev.of(rows, gold, processor.tags, self._settings.decoding, hides_phi=hides)

    def init_from(self, before: Self) -> None:
        """Let `fit` start from another tagger of this model, with its tags, words and features.

        Args:
            before: a trained tagger; it is not changed.

        Raises:
            OptionConflictError: the settings of this tagger make a network of another structure.
        """
        learned = before._trained()
        described = json.loads(json.dumps(learned.processor.describe()))
        arrays = {name: np.asarray(leaf)[0] for name, leaf in flatten_params(learned.weights).items()}
        try:
            processor = self.saved_processor(described, learned.processor.arrays(), learned.processor.key)
            graph, shapes = self.shapes(processor)
            self._checkpoint = TrainedModel(processor, graph, like(shapes, arrays.keys(), arrays.__getitem__))
        except (KeyError, TypeError, ValueError):
            problem = f"with these settings a {self.model} has another structure than the trained one"
            raise OptionConflictError(f"{problem}: leave out settings that change the network") from None

    @property
    def is_finetuned(self) -> bool:
        """True if `fit` starts from another tagger's weights."""
        return self._checkpoint is not None

    def processor_for(self, train: Sequence[LabelledSentence]) -> Processor:
        """Processor of training: that of the tagger to fine-tune, else a new one for these sentences."""
        if self._checkpoint is None:
            return self.processor(train)
        require_known_tags(self._checkpoint.processor, train)
        return self._checkpoint.processor

    def beginning(self, processor: Any) -> TrainedModel:
        """Initial model of training: a copy of the tagger to fine-tune, else new weights."""
        return self.start(processor) if self._checkpoint is None else copied(self._checkpoint)

    def start(self, processor: Any) -> TrainedModel:
        """Initial model of training from scratch."""
        return self.drawn(processor)

    def drawn(self, processor: Any) -> TrainedModel:
        """Tables and network with random weights from the seed."""
        rngs = nnx.Rngs(self._seed)
        tables = self.tables(processor, rngs)
        graph, network = nnx.split(self.network(processor, rngs))
        return TrainedModel(processor, graph, alone(Weights(tables, network)))

    def shapes(self, processor: Any) -> tuple[nnx.GraphDef[Any], Weights]:
        """Structure of the network and shapes of one replicate's weights, without making any array."""
        graph = nnx.split(nnx.eval_shape(lambda: self.network(processor, nnx.Rngs(0))))[0]
        return graph, jax.eval_shape(lambda: self.drawn(processor).weights)

    def predict(self, sentences: Sequence[Sentence]) -> list[list[str]]:
        """Tag sentences, one tag a token, with the setting ``decoding``."""
        learned, names = self._trained(), np.array(self.tags, object)
        begins = iob_constraints(self.tags, self._settings.decoding)
        ask = partial(best_tags, learned.graph, learned.weights, begins=begins, layer=PHI)
        found = self._run_batches(sentences, ask, nothing=np.empty(0, np.int32))
        return [names[row].tolist() for row in found]

    def marginals(self, sentences: Sequence[Sentence]) -> list[np.ndarray]:
        """Probability of each tag at each token, for each sentence: [T, K], rows sum to 1."""
        learned = self._trained()
        ask = partial(posteriors, learned.graph, learned.weights, layer=PHI)
        return self._run_batches(sentences, ask, nothing=np.empty((0, len(self.tags)), np.float32))

    def _run_batches(
        self,
        sentences: Sequence[Sentence],
        ask: Callable[[Batch], jax.Array],
        *,
        nothing: np.ndarray,
        rows: Sequence[Row] | None = None,
    ) -> list[np.ndarray]:
        """Apply ``ask``, batch -> [1, B, T, ...], to sentences: [T, ...] each, ``nothing`` for one without tokens.

        The processor makes the rows of the sentences unless ``rows`` are given.
        """
        keep_compiled()
        processor = self._trained().processor
        rows = processor.rows(sentences) if rows is None else rows
        return processor.scatter_to_tokens(
            rows, run_batches(rows, ask, nothing=nothing, padding=self.padding), sentences
        )

    def save(self, folder: Path, *, key: bytes | None = None) -> None:
        """Write ``model.json`` (settings, tags, vocabulary, checksum) and ``weights.npz``.

        Without a key, the vocabulary holds words of the training notes: the folder is as confidential as the notes.

        Raises:
            UsageError: the words are hashed, and the key is missing or another one.
        """
        learned = self._trained()
        processor, weights = (
            learned.processor,
            {name: np.asarray(leaf)[0] for name, leaf in flatten_params(learned.weights).items()},
        )
        require_same_key(processor.key, key)
        if key is not None:
            processor, moved = processor.hashed(key)
            for table, old in moved.items():
                weights[f"tables.{table}"] = weights[f"tables.{table}"][old]
        weights |= {_PROCESSOR + name: array for name, array in processor.arrays().items()}
        self._files().save(
            folder,
            pack_arrays(weights),
            settings=self._settings,
            seed=self._seed,
            key=key,
            processor=processor.describe(),
        )

    @classmethod
    def load(cls, folder: Path, *, key: bytes | None = None) -> Self:
        """Read a model that `save` wrote.

        Raises:
            DataError: the folder holds no such model, one of another version, or a damaged one.
            UsageError: the words are hashed, and the key is missing or another one.
        """
        saved = cls._files().load(folder, key=key)
        tagger = cls(saved.settings(cls.settings_class), seed=saved.seed)
        with saved.refusing_damage():
            arrays = saved.arrays()
            parts = {name.removeprefix(_PROCESSOR): arrays[name] for name in arrays if name.startswith(_PROCESSOR)}
            processor = tagger.saved_processor(saved.description["processor"], parts, saved.key)
            # Only their shapes: a description that asks for a network of absurd size must not be built.
            graph, shapes = tagger.shapes(processor)
            names = [name for name in arrays if not name.startswith(_PROCESSOR)]
            tagger.learned = TrainedModel(processor, graph, like(shapes, names, arrays.__getitem__))
        return tagger

    @classmethod
    def _files(cls) -> ModelFiles:
        return ModelFiles(cls.model, _FORMAT_VERSION, _WEIGHTS_FILE, ("jax", "flax"), cls.words_are)

    def _trained(self) -> TrainedModel:
        if self.learned is None:
            raise NotTrainedError(f"this {self.model} network is not trained: call fit, or load a saved one")
        return self.learned

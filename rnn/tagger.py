"""`NetworkTagger`, the base class of all networks as taggers: fit, predict, save and load."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import jax
import numpy as np
from flax import nnx

from crfdeid.documents import PHI, LabelledSentence
from crfdeid.errors import EmptyInputError, NotTrainedError
from crfdeid.serialization import READABLE
from crfdeid.tagger import OnProgress, OnProgressOfMany, Tagger, Traits, learnable, require_layers
from crfdeid.utils.process import keep_freed_memory
from features.tokens import Sentence
from rnn.batching import POWER_OF_FOUR_PADDING, POWER_OF_TWO_PADDING, Batch, PaddingPolicy, Row
from rnn.compile_cache import keep_compiled
from rnn.decode import best_tags, iob_constraints, posteriors, run_batches
from rnn.interfaces import DevMetric, Network, Processor
from rnn.network import Structure, TrainedModel, with_tables
from rnn.saving import SavedTagger, require_known_tags
from rnn.settings import STEP_ARGUMENTS, WordSettings
from rnn.training.loop import Dev, DeviceBatches, Training, copied, start_training, train
from rnn.training.schedules import Schedule

if TYPE_CHECKING:
    from rnn.embeddings.vectors import WordVectors


class NetworkTagger(SavedTagger, Tagger, ABC):
    """Base class of taggers; a subclass adds the network, its processor and its training schedule.

    Attributes:
        model: name in `crfdeid.registry.MODELS`.
        settings_class: dataclass of the settings; it has ``decoding`` and ``epochs``.
        version: incremented where the network computes other scores; a saved model of another version is refused.
        words_are: confidentiality of the unhashed words in its files, `crfdeid.serialization.READABLE` or ``PUBLIC``.
        trains_together: whether `fit_many` trains taggers of one `Traits.shape` at once: small updates gain by that.
        per_sentence: see `crfdeid.tagger.Traits`.
        order: seed of the order of batches of different lengths: replicates that are trained at once share it.

    Args:
        settings: the model's settings; None for its defaults.
        seed: seed of the initial weights, the order of the sentences and all other random numbers.
        vectors: initial word vectors, for a model with the trait ``takes_vectors``; None for random ones.
    """

    model: ClassVar[str]
    settings_class: ClassVar[type[Any]]
    version: ClassVar[int] = 1
    words_are: ClassVar[str] = READABLE
    trains_together: ClassVar[bool] = False
    per_sentence: ClassVar[bool] = False

    def __init__(self, settings: Any = None, *, seed: int = 0, vectors: WordVectors | None = None) -> None:
        self.settings = settings if settings is not None else self.settings_class()
        self.seed, self.vectors, self.order = seed, vectors, 0
        if vectors is not None:
            self.settings = dataclasses.replace(self.settings, embedding_dim=vectors.dim)
        self.learned: TrainedModel | None = None
        self._checkpoint: TrainedModel | None = None
        keep_compiled()

    @classmethod
    @abstractmethod
    def profiles(cls) -> Mapping[str, Any]:
        """Settings by profile name: "default" gives the best F, the others are papers'."""

    @classmethod
    def traits(cls, settings: Any) -> Traits:
        """Return the traits of a `Tagger`."""
        vectors = issubclass(cls.settings_class, WordSettings)
        shape = (cls.model, *(one for one in vars(settings).items() if one[0] not in STEP_ARGUMENTS))
        own = Traits(uses_seed=True, is_trained=True, accelerated=True, takes_vectors=vectors, public_vocabulary=False)
        return own._replace(per_sentence=cls.per_sentence, shape=shape if cls.trains_together else None)

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
        processor, rows = self.prepare(train)
        self.fit_rows(processor, rows, dev, on_progress=on_progress)

    def fit_rows(
        self,
        processor: Any,
        rows: Sequence[Row],
        dev: Sequence[LabelledSentence],
        *,
        on_progress: OnProgress | None = None,
    ) -> None:
        """Train on rows, of sentences or of shared vectors; the processor also reads the dev sentences."""
        metric = self.dev_metric(processor, dev) if dev else None
        start, training = self.begin(processor, rows, metric, DeviceBatches(), on_progress)
        self.learned = start._replace(params=train(training))

    @classmethod
    def fit_many(
        cls,
        taggers: Sequence[Self],
        train: Sequence[LabelledSentence],
        dev: Sequence[LabelledSentence],
        *,
        on_progress: OnProgressOfMany | None = None,
    ) -> None:
        """Train several taggers, those of one `Traits.shape` at once if the model `trains_together`."""
        if not cls.trains_together:
            super().fit_many(taggers, train, dev, on_progress=on_progress)
            return
        from rnn.training.replicates import fit_together  # noqa: PLC0415

        fit_together(taggers, train, dev, on_progress)

    def prepare(self, train: Sequence[LabelledSentence]) -> tuple[Any, list[Row]]:
        """Processor and rows of training sentences."""
        train = learnable(train, self.traits(self.settings).layers)
        if not train:
            raise EmptyInputError("there is nothing to train on: the training set holds no tokens")
        require_layers(self.model, self.traits(self.settings).layers, train)
        if self._checkpoint is None:
            processor = self.processor(train)
        else:
            processor = self._checkpoint.processor
            require_known_tags(processor, train)
        return processor, processor.rows([item.sentence for item in train], train)

    @property
    def starts_from(self) -> tuple[Any, ...]:
        """Equal for taggers that read the same rows and train by the same compiled step: for replicates."""
        return self.traits(self.settings).shape, id(self.vectors), id(self._checkpoint)

    def begin(
        self,
        processor: Any,
        rows: Sequence[Row],
        dev: DevMetric | None,
        buckets: DeviceBatches,
        on_progress: OnProgress | None,
    ) -> tuple[TrainedModel, Training]:
        """Initial model, and its training."""
        keep_freed_memory()  # before JAX starts its threads, in most processes: a thread keeps its first heap
        if self._checkpoint is None:
            start = self.initial(processor)
        else:
            start = self._checkpoint._replace(params=copied(self._checkpoint.params))
        how: dict[str, Any] = {"seed": self.seed, "order": self.order, "epochs": self.settings.epochs, "dev": dev}
        how |= {"buckets": buckets, "on_progress": on_progress}
        return start, start_training(start.structure, start.params, self.schedule(processor, rows), **how)

    @property
    def padding(self) -> PaddingPolicy:
        """Padded lengths and batch sizes for prediction."""
        return POWER_OF_FOUR_PADDING if self.per_sentence else POWER_OF_TWO_PADDING

    def dev_metric(self, processor: Any, dev: Sequence[LabelledSentence]) -> DevMetric:
        """F on the development sentences, one row each; it selects the best epoch."""
        rows = processor.rows([item.sentence for item in dev])
        gold = {
            layer: [item.layer(layer) if layer in item.annotated else None for item in dev] for layer in processor.tags
        }
        how: dict[str, Any] = {"hides_phi": self.traits(self.settings).hides_phi, "padding": self.padding}
        return Dev(rows, gold, processor.tags, self.settings.decoding, **how)

    def initial(self, processor: Any) -> TrainedModel:
        """Initial model of training from scratch: random parameters from the seed."""
        rngs = nnx.Rngs(self.seed)
        tables = self.tables(processor, rngs)
        structure, params = Structure.split(self.network(processor, rngs))
        return TrainedModel(processor, structure, with_tables(tables, params))

    def predict(self, sentences: Sequence[Sentence]) -> list[list[str]]:
        """Tag sentences, one tag a token, with the setting ``decoding``."""
        learned, names = self.trained(), np.array(self.tags, object)
        begins = {PHI: iob_constraints(self.tags, self.settings.decoding)}

        def ask(batch: Batch) -> jax.Array:
            return best_tags(learned.structure, learned.params, batch, begins=begins)[PHI]

        found = self._run_batches(sentences, ask, nothing=np.empty(0, np.int32))
        return [names[row].tolist() for row in found]

    def marginals(self, sentences: Sequence[Sentence]) -> list[np.ndarray]:
        """Probability of each tag at each token, for each sentence: [T, K], rows sum to 1."""
        learned = self.trained()
        ask = partial(posteriors, learned.structure, learned.params, layer=PHI)
        return self._run_batches(sentences, ask, nothing=np.empty((0, len(self.tags)), np.float32))

    def _run_batches(
        self,
        sentences: Sequence[Sentence],
        ask: Callable[[Batch], jax.Array],
        *,
        nothing: np.ndarray,
        rows: Sequence[Row] | None = None,
    ) -> list[np.ndarray]:
        """Apply ``ask``, batch -> [B, T, ...], to sentences: [T, ...] each, ``nothing`` for one without tokens."""
        processor = self.trained().processor
        rows = processor.rows(sentences) if rows is None else rows
        found = run_batches(rows, ask, nothing=nothing, padding=self.padding)
        return processor.scatter_to_tokens(rows, found, sentences)

    def trained(self) -> TrainedModel:
        """Return the trained model.

        Raises:
            NotTrainedError: there is none.
        """
        if self.learned is None:
            raise NotTrainedError(f"this {self.model} network is not trained: call fit, or load a saved one")
        return self.learned

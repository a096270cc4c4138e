"""Training taggers of networks, many of one architecture side by side in one program."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Protocol

import jax
import jax.numpy as jnp
from flax import nnx

from crfdeid.documents import LabelledSentence
from crfdeid.errors import EmptyInputError, OptionConflictError
from crfdeid.tagger import OnProgressOfMany, Traits, require_layers
from crfdeid.utils.process import keep_freed_memory
from rnn.batching import Row
from rnn.compile_cache import keep_compiled
from rnn.network import Weights
from rnn.processors.base import Processor
from rnn.training.held_out import DevMetric
from rnn.training.loop import train
from rnn.training.phases import Schedule


class TrainedModel(NamedTuple):
    """What a network has learned, or starts from.

    Attributes:
        processor: how it reads sentences.
        graph: the network's structure, from `nnx.split`.
        weights: its weights, as those of one replicate.
    """

    processor: Processor
    graph: nnx.GraphDef[Any]
    weights: Weights


class Trainable(Protocol):
    """What training needs of a tagger; `rnn.tagger.NetworkTagger` is one."""

    model: ClassVar[str]
    own_settings: ClassVar[frozenset[str] | None]
    learned: TrainedModel | None

    @classmethod
    def traits(cls, settings: Any) -> Traits:
        """What it needs and can do."""
        ...

    @property
    def settings(self) -> Any:
        """Its settings, a dataclass; it has ``decoding`` and ``epochs``."""
        ...

    @property
    def seed(self) -> int:
        """The seed of all that is drawn."""
        ...

    def company(self) -> object:
        """What must be the same object for taggers that train together, such as the vectors they start from."""
        ...

    @property
    def is_finetuned(self) -> bool:
        """Whether training begins with what another tagger learned; it is then trained by itself."""
        ...

    def processor_for(self, train: Sequence[LabelledSentence]) -> Processor:
        """The processor of training on some sentences."""
        ...

    def beginning(self, processor: Any) -> TrainedModel:
        """What training begins with."""
        ...

    def schedule(self, processor: Any, rows: Sequence[Row]) -> Schedule:
        """The phases of training on some rows."""
        ...

    def dev_metric(self, processor: Any, dev: Sequence[LabelledSentence]) -> DevMetric:
        """What training is measured by: F on the development sentences."""
        ...


def fit_together(
    taggers: Sequence[Trainable],
    training: Sequence[LabelledSentence],
    dev: Sequence[LabelledSentence],
    *,
    on_progress: OnProgressOfMany | None = None,
) -> None:
    """Train taggers of one architecture side by side, in one program.

    Each ends up as its own `NetworkTagger.fit` would leave it but for rounding: it has its own seed, order of
    sentences, dropout and initial weights, and keeps the epoch that is its best on ``dev``. An update of one sentence
    is too small to fill an accelerator, so there N replicates take little longer than one; a CPU gains little.

    Args:
        taggers: what to train; `groups` says which can be.
        training: the training sentences.
        dev: the development sentences; with none, the last epoch is kept.
        on_progress: is told of each epoch of each tagger, by its place in ``taggers``.

    Raises:
        UsageError: the taggers differ in more than may be.
        DataError: ``training`` holds no tokens.
    """
    if not taggers:
        return
    if len(replicate_groups(taggers)) > 1:
        raise OptionConflictError("these taggers cannot be trained in one program: train them by fit_many")
    training = [item for item in training if item.tags]
    if not training:
        raise EmptyInputError("there is nothing to train on: the training set holds no tokens")
    first = taggers[0]
    require_layers(first.model, first.traits(first.settings).layers, training)
    processor = first.processor_for(training)
    rows = processor.rows([item.sentence for item in training], training)
    fit_rows(taggers, processor, rows, dev, on_progress=on_progress)


def fit_rows(
    taggers: Sequence[Trainable],
    processor: Processor,
    rows: Sequence[Row],
    dev: Sequence[LabelledSentence],
    *,
    on_progress: OnProgressOfMany | None = None,
) -> None:
    """Train taggers on rows: those of sentences, or such as others shared.

    Args:
        taggers: as of `fit_together`.
        processor: how the rows were made, and how dev sentences are read.
        rows: what is learned from.
        dev: the development sentences.
        on_progress: as of `fit_together`.
    """
    keep_compiled()
    keep_freed_memory()  # before JAX starts its threads, in most processes: a thread keeps the heap it began with
    starts = [tagger.beginning(processor) for tagger in taggers]
    graph, weights = starts[0].graph, jax.tree.map(_joined, *(start.weights for start in starts))
    weights = train(
        graph,
        weights,
        [tagger.schedule(processor, rows) for tagger in taggers],
        seeds=[tagger.seed for tagger in taggers],
        epochs=taggers[0].settings.epochs,
        dev=taggers[0].dev_metric(processor, dev) if dev else None,
        on_progress=on_progress,
    )
    for n, tagger in enumerate(taggers):
        tagger.learned = TrainedModel(processor, graph, jax.tree.map(lambda array, n=n: array[n : n + 1], weights))


def replicate_groups(taggers: Sequence[Trainable]) -> list[list[int]]:
    """The places of those taggers that can train in one program, group by group.

    They are of one model whose replicates can (`Trainable.own_settings`), start from the same word vectors, and
    differ in no other settings.
    """
    found: dict[Any, list[int]] = {}
    for i, tagger in enumerate(taggers):
        found.setdefault(_kind(tagger, i), []).append(i)
    return list(found.values())


def _kind(tagger: Trainable, place: int) -> Any:
    if tagger.own_settings is None or tagger.is_finetuned:
        return place
    settings = dataclasses.asdict(tagger.settings)
    shared = tuple((name, value) for name, value in settings.items() if name not in tagger.own_settings)
    return tagger.model, id(tagger.company()), shared


def _joined(*arrays: jax.Array) -> jax.Array:
    return arrays[0] if len(arrays) == 1 else jnp.concatenate(arrays)

"""Training of taggers, several replicates of one architecture in one program."""

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
    """Network with weights, initial or trained.

    Attributes:
        processor: processor of its sentences.
        graph: structure of the network, from `nnx.split`.
        weights: weights of one replicate.
    """

    processor: Processor
    graph: nnx.GraphDef[Any]
    weights: Weights


class Trainable(Protocol):
    """Interface of a tagger to training, such as `rnn.tagger.NetworkTagger`."""

    model: ClassVar[str]
    own_settings: ClassVar[frozenset[str] | None]
    learned: TrainedModel | None

    @classmethod
    def traits(cls, settings: Any) -> Traits:
        """Return the traits of a `Tagger`."""
        ...

    @property
    def settings(self) -> Any:
        """Settings, a dataclass with ``decoding`` and ``epochs``."""
        ...

    @property
    def seed(self) -> int:
        """Seed of all random numbers."""
        ...

    def company(self) -> object:
        """Object that taggers in one program must share, such as initial word vectors."""
        ...

    @property
    def is_finetuned(self) -> bool:
        """True if training starts from another tagger's weights; it then has a program to itself."""
        ...

    def processor_for(self, train: Sequence[LabelledSentence]) -> Processor:
        """Processor of training on some sentences."""
        ...

    def beginning(self, processor: Any) -> TrainedModel:
        """Initial model."""
        ...

    def schedule(self, processor: Any, rows: Sequence[Row]) -> Schedule:
        """Phases of training on some rows."""
        ...

    def dev_metric(self, processor: Any, dev: Sequence[LabelledSentence]) -> DevMetric:
        """F on the development sentences; it selects the best epoch."""
        ...


def fit_together(
    taggers: Sequence[Trainable],
    training: Sequence[LabelledSentence],
    dev: Sequence[LabelledSentence],
    *,
    on_progress: OnProgressOfMany | None = None,
) -> None:
    """Train taggers of one architecture in one program.

    The result is that of `NetworkTagger.fit` for each but for rounding: each has its own seed, order of sentences,
    dropout and initial weights, and keeps its best epoch on ``dev``. An update of one sentence is too small to fill an
    accelerator, so there N replicates take little longer than one; a CPU gains little.

    Args:
        taggers: taggers of one group of `replicate_groups`.
        training: training sentences.
        dev: development sentences; without any, the last epoch is kept.
        on_progress: called after each epoch of each tagger with its index in ``taggers``.

    Raises:
        OptionConflictError: the taggers are not of one group.
        EmptyInputError: ``training`` holds no tokens.
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
    """Train taggers on rows, of sentences or of shared vectors.

    Args:
        taggers: see `fit_together`.
        processor: processor of the rows and of the dev sentences.
        rows: training rows.
        dev: development sentences.
        on_progress: see `fit_together`.
    """
    keep_compiled()
    keep_freed_memory()  # before JAX starts its threads, in most processes: a thread keeps its first heap
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
    """Group taggers that can train in one program: their indices, group by group.

    The taggers of a group are of one model, start from the same word vectors, and differ in nothing but
    `Trainable.own_settings`.
    """
    found: dict[Any, list[int]] = {}
    for i, tagger in enumerate(taggers):
        found.setdefault(_kind(tagger, i), []).append(i)
    return list(found.values())


def _kind(tagger: Trainable, index: int) -> Any:
    if tagger.own_settings is None or tagger.is_finetuned:
        return index
    settings = dataclasses.asdict(tagger.settings)
    shared = tuple((name, value) for name, value in settings.items() if name not in tagger.own_settings)
    return tagger.model, id(tagger.company()), shared


def _joined(*arrays: jax.Array) -> jax.Array:
    return arrays[0] if len(arrays) == 1 else jnp.concatenate(arrays)

"""Parts of the models that tag PHI and concepts by one network (lange2020, sections 3.3 and 4.1)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import optax

from crfdeid.bio import OUTSIDE
from crfdeid.documents import CONCEPT, PHI, LabelledSentence
from crfdeid.errors import OptionConflictError, SettingError
from crfdeid.tagger import Traits
from crfdeid.validation import require_choice, require_counts, require_number
from features.tokens import Sentence
from rnn.batching import Batch, Row
from rnn.decode import best_of_each_layer, iob_constraints
from rnn.interfaces import DevMetric
from rnn.layers.dropout import WordDropout
from rnn.models.bilstm_crf import BilstmCrfSettings, ReadsInputs, bilstm_schedule
from rnn.network import PHI_TAG_IDS
from rnn.settings import paper_settings
from rnn.training.losses import tagging_loss
from rnn.training.minibatches import OPTIMISERS, optimiser, per_sentences
from rnn.training.schedules import Schedule
from rnn.words import word_phase

TOGETHER, ALTERNATING = _TASKS = ("together", "alternating")
"""Whether an update learns both layers of its sentences, or batches of one layer alternate."""

BOTH, CONCEPTS = _CHOSEN_BY = ("both", "concepts")
"""Layers whose F on dev chooses the epoch and ends training."""

_CONCEPT_PART = ("network.concept.", "tables.concept ")
"""Prefixes of the names of parameters that tag concepts alone."""


@dataclass(frozen=True, kw_only=True)
class JointSettings(BilstmCrfSettings):
    """Settings of networks that tag PHI and concepts.

    Args:
        phi_first: epochs of training on PHI alone, before those on both.
        concept_rate: factor of the learning rate for the part that tags concepts alone; with alternating tasks, for all
            weights in the batches of concepts.
        tasks: "together" for updates by all layers of their sentences, "alternating" for batches of PHI and of concepts
            in turn, until one of them has no more.
        chosen_by: F on dev that chooses the epoch and ends training: "both" for the mean of both layers, or "concepts".

    Raises:
        UsageError: a value cannot work.
    """

    epochs: int = 15
    phi_first: int = 0
    concept_rate: float = 1.0
    tasks: str = TOGETHER
    chosen_by: str = BOTH

    def __post_init__(self) -> None:
        super().__post_init__()
        require_counts(self, "phi_first", least=0)
        require_choice(self, "tasks", _TASKS)
        require_choice(self, "chosen_by", _CHOSEN_BY)
        require_number("concept_rate", self.concept_rate, "a number above 0, at most 100", lambda v: 0 < v <= 100)
        if self.epochs <= self.phi_first:
            more = f"give more than {self.phi_first}, or fewer for phi_first"
            raise SettingError(f"epochs is {self.epochs}, and concepts are learned after phi_first epochs: {more}")


def lange2020_joint() -> dict[str, Any]:
    """Settings of the paper's joint models: a learning rate of 0.2 for concepts.

    From the authors' code are the alternating batches, that a batch moves all weights, and the choice by concepts.
    """
    own = {"phi_first": 3, "concept_rate": 2.0, "tasks": ALTERNATING, "chosen_by": CONCEPTS}
    return {**paper_settings("lange2020", "bilstm"), **own}


def joint_optimiser(learning_rate: float, *, name: str, concept_rate: float) -> optax.GradientTransformation:
    """Named optimiser with ``concept_rate`` times the learning rate for the part that tags concepts."""
    make = OPTIMISERS[name]
    rates = {PHI: make(learning_rate), CONCEPT: make(learning_rate * concept_rate)}
    return optax.multi_transform(
        rates, lambda parameters: {name: CONCEPT if name.startswith(_CONCEPT_PART) else PHI for name in parameters}
    )


class TagsConcepts(ReadsInputs):
    """Mixin of `rnn.tagger.NetworkTagger` for networks that tag PHI and concepts; `predict` gives the PHI tags."""

    settings: JointSettings
    _run_batches: Any
    model: ClassVar[str]
    tags: Any

    @classmethod
    def traits(cls, settings: Any) -> Traits:
        """Return the traits of a `Tagger`: the layers are PHI and concepts."""
        found: Traits = super().traits(settings)
        return found._replace(layers=(PHI, CONCEPT))

    @abstractmethod
    def dropped(self, processor: Any, rows: Sequence[Row]) -> Mapping[str, WordDropout]:
        """Word dropout for each input of word ids."""

    def schedule(self, processor: Any, rows: Sequence[Row]) -> Schedule:
        """Train on PHI alone for ``phi_first`` epochs, then on both, until F on dev stops rising."""
        settings, alternate = self.settings, self.settings.tasks == ALTERNATING
        joint = optimiser(joint_optimiser, name=settings.optimiser, concept_rate=settings.concept_rate)
        updates = per_sentences(settings.batch, optimiser(OPTIMISERS[settings.optimiser]) if alternate else joint)
        both = word_phase("both", settings, rows, updates, self.dropped(processor, rows))
        both = both._replace(average=settings.average, loss=tagging_loss(settings.tagging_loss))
        alone = both._replace(
            name=PHI,
            rows=_rows_of(rows, PHI),
            trains=lambda name: both.trains(name) and not name.startswith(_CONCEPT_PART),
        )
        if alternate:
            turns = {PHI: 1.0, CONCEPT: settings.concept_rate}
            both = both._replace(rows=[*alone.rows, *_rows_of(rows, CONCEPT)], turns=turns)
        first = settings.phi_first
        return bilstm_schedule(settings, lambda epoch: alone if epoch < first else both, not_counted=first)

    def dev_metric(self, processor: Any, dev: Sequence[LabelledSentence]) -> DevMetric:
        """F on the development sentences: of both layers, or of concepts alone where there are any."""
        by_concepts = [replace(item, phi_annotated=False, tags=(OUTSIDE,) * len(item.tags)) for item in dev]
        if self.settings.chosen_by == CONCEPTS and any(CONCEPT in item.annotated for item in by_concepts):
            dev = by_concepts
        found: DevMetric = super().dev_metric(processor, dev)
        return found

    def predict_layers(
        self, sentences: Sequence[Sentence], *, phi: Sequence[Sequence[str]] | None = None
    ) -> dict[str, list[list[str]]]:
        """Tag PHI and concepts, one tag a token and layer; see `crfdeid.tagger.LayeredTagger`.

        Raises:
            OptionConflictError: ``phi`` marks PHI, and the model was trained on notes without any.
            ValueError: ``phi`` does not hold exactly one tag a token.
        """
        learned = self.trained()
        tags = {layer: learned.processor.tags[layer] for layer in self.traits(self.settings).layers}
        begins = {layer: iob_constraints(names, self.settings.decoding) for layer, names in tags.items()}
        hides = self.traits(self.settings).hides_phi
        rows = learned.processor.rows(sentences)
        if phi is not None:
            rows = [_decided(row, given, self.tags) for row, given in zip(rows, phi, strict=True)]

        def ask(batch: Batch) -> jax.Array:
            inputs = dict(batch.inputs)
            decided = inputs.pop(PHI_TAG_IDS, None)
            batch = batch._replace(inputs=inputs)
            found = best_of_each_layer(
                learned.structure, learned.params, batch, begins=begins, hides_phi=hides, decided=decided
            )
            return jnp.stack([found[layer] for layer in tags], axis=-1)  # [B, T, layers]

        found = self._run_batches(sentences, ask, nothing=np.empty((0, len(tags)), np.int32), rows=rows)
        named = {
            layer: [np.array(names, object)[ids[:, n]].tolist() for ids in found]
            for n, (layer, names) in enumerate(tags.items())
        }
        return named if phi is None else named | {PHI: [list(row) for row in phi]}


def _rows_of(rows: Sequence[Row], layer: str) -> list[Row]:
    """Rows with targets in a layer, with these alone."""
    return [row._replace(targets={layer: row.targets[layer]}) for row in rows if layer in row.targets]


def _decided(row: Row, tags: Sequence[str], known: Sequence[str]) -> Row:
    """Add PHI tags to a row; a type that the model does not know is mapped to a known one, so that it is hidden."""
    if len(tags) != row.length:
        raise ValueError(f"{len(tags)} PHI tags for {row.length} tokens")
    number = {tag: k for k, tag in enumerate(known)}
    hiding = next((k for tag, k in number.items() if tag != OUTSIDE), None)
    ids = [number.get(tag, number.get(f"B-{tag[2:]}", hiding)) for tag in tags]
    if None in ids:
        raise OptionConflictError(
            "PHI tags for a model that was trained on notes without any: it cannot hide what they mark"
        )
    return row._replace(inputs={**row.inputs, PHI_TAG_IDS: np.array(ids, np.int32)})

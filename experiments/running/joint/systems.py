"""Settings of the experiment on PHI and concepts, and the systems of its Tables 2 to 5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from crfdeid.documents import CONCEPT, PHI
from crfdeid.ensembles.cascade import GOLD, ORIGINAL, PREDICTED
from crfdeid.errors import OptionConflictError
from crfdeid.registry import require_known, select, setting_names
from experiments.running.settings import RANDOM, CorpusSettings, OutputSettings, Point, VectorSettings
from experiments.running.systems import Cell, System, require_profile, traits_of

PERMUTATIONS = 2**20
"""Of each test, as in section 4.1 of lange2020."""

concept_annotated_text = "concept_sourced"
"""The name of the scores of concepts without the stretches that their annotators never saw."""

PIPELINE = "pipeline"
JOINT = (PIPELINE, "multitask", "stacked")
SYSTEMS = (*JOINT, "crf")
"""What is compared unless told otherwise: the models of lange2020, and a CRF for concepts alone."""

SMALL_SHARE = 0.25
SMALL: Mapping[str, Any] = MappingProxyType({"epochs": 8, "folds": 2})
"""Without data of the user's own: what is learned from and how long, so that the whole takes minutes."""


@dataclass(frozen=True, kw_only=True)
class JointExperiment:
    """All that ``experiments.joint`` is asked to do.

    Args:
        systems: names in `crfdeid.registry.MODELS`; those that tag one layer learn concepts from the text as it is.
        profile: the settings that each starts from, or its default where it lacks the profile.
        changes: what replaces the profile's settings, in every model that has it.
        corpus: what is learned from and scored.
        unsourced: a table of the stretches whose concepts nobody annotated; None for none.
        notices: what a reader of the results must know, a sentence each.
        vectors: the word vectors of Table 4; no sources to leave it out.
        output: what becomes of the results.
        seeds: each system is trained with each of them.
        permutations: of each significance test.
        device: where networks are trained, one of `experiments.running.device.DEVICES`.
        jobs: how many cells are trained at the same time; None for as many as pays.
        command: the options that define the experiment as plain data, kept with its results.
    """

    systems: tuple[str, ...] = SYSTEMS
    profile: str = "default"
    changes: Point = ()
    corpus: CorpusSettings = field(default_factory=lambda: CorpusSettings(types="all", synthetic_concepts=True))
    unsourced: Path | None = None
    notices: tuple[str, ...] = ()
    vectors: VectorSettings = field(default_factory=lambda: VectorSettings(sources={}))
    output: OutputSettings = field(default_factory=OutputSettings)
    seeds: tuple[int, ...] = (0,)
    permutations: int = PERMUTATIONS
    device: str = "auto"
    jobs: int | None = None
    command: Mapping[str, Any] = field(default_factory=dict)


ALONE = "alone"
"""The pipeline's model of concepts where nothing is hidden: the first row of Table 5."""

TABLE_5 = {
    ALONE: (ORIGINAL, ORIGINAL),
    "pipeline-original-predicted": (ORIGINAL, PREDICTED),
    "pipeline-predicted-original": (PREDICTED, ORIGINAL),
    PIPELINE: (PREDICTED, PREDICTED),
    "pipeline-gold-predicted": (GOLD, PREDICTED),
    "pipeline-gold-gold": (GOLD, GOLD),
}
"""The rows of Table 5: what concepts are learned from, and what they are read in."""

CHARACTERS, CONCATENATED = "characters", "concatenated"
_TABLE_4_MODEL = "bilstm-crf"
_WORDS_ALONE: Mapping[str, Any] = {"char_dim": 0, "features": "none"}


class Systems(NamedTuple):
    """What is trained.

    Attributes:
        compared: Tables 2 and 3.
        table_5: its rows; the pipeline and `ALONE` are among those compared too.
        table_4: one for each embedding, with what its table calls it.
    """

    compared: tuple[System, ...]
    table_5: tuple[System, ...]
    table_4: Mapping[str, System]

    @property
    def every(self) -> tuple[System, ...]:
        """All of them, each once, those first that take longest."""
        return tuple(dict.fromkeys((*self.table_5, *self.compared, *self.table_4.values())))


def systems_of(experiment: JointExperiment) -> Systems:
    """The systems of an experiment.

    Raises:
        UsageError: a setting, or a profile, that none of the models has; or one that says which row of Table 5 it is.
    """
    changes = dict(experiment.changes)
    require_profile(experiment.profile, experiment.systems)
    for name in ("learns_from", "reads"):
        if name in changes:
            raise OptionConflictError(f"--set {name}: every way is compared, as in Table 5: leave it out")
    models = (*experiment.systems, *([_TABLE_4_MODEL] if experiment.vectors.sources else []))
    require_known(changes, frozenset().union(*(setting_names(name, changes) for name in models)), of=", ".join(models))
    made = [System(name, name, None, tuple(select(name, changes).items())) for name in experiment.systems]
    rows: tuple[System, ...] = ()
    for place, system in enumerate(made):
        if system.name == PIPELINE:
            rows = _rows(system, apart=experiment.corpus.concepts is not None and experiment.corpus.concepts.apart)
            made[place] = next(row for row in rows if row.name == PIPELINE)
    alone = [row for row in rows if row.name == ALONE]
    return Systems((*made, *alone), rows, _ablation(experiment.vectors.sources, changes))


def _rows(pipeline: System, *, apart: bool) -> tuple[System, ...]:
    """The rows of Table 5; of two corpora that share no text those that need no gold PHI in the notes with concepts."""
    return tuple(
        replace(pipeline, name=name, settings=(*pipeline.settings, ("learns_from", learned), ("reads", read)))
        for name, (learned, read) in TABLE_5.items()
        if not (apart and GOLD in (learned, read))
    )


def _ablation(sources: Mapping[str, str], changes: Mapping[str, Any]) -> dict[str, System]:
    """A BiLSTM-CRF of concepts that reads nothing but word vectors of one kind; characters beside random ones; all."""
    if not sources:
        return {}
    model = _TABLE_4_MODEL
    own = select(model, changes)
    given: dict[str, tuple[str, dict[str, Any]]] = {name: (name, {**own, **_WORDS_ALONE}) for name in sources}
    both = {**own, "features": _WORDS_ALONE["features"]}
    given[CHARACTERS] = (RANDOM, both)
    if any(name != RANDOM for name in sources):
        given[CONCATENATED] = (CONCATENATED, both)
    return {
        name: System(f"{model}-{name}", model, embedding, tuple(settings.items()))
        for name, (embedding, settings) in given.items()
    }


def layers_of(system: System) -> tuple[str, ...]:
    """The annotation layers that a system is scored in: of a model of one layer, and of Table 5's rows, concepts."""
    both = CONCEPT in traits_of(system).layers and (system.model != PIPELINE or system.name == PIPELINE)
    return (PHI, CONCEPT) if both else (CONCEPT,)


def hides_phi(system: System) -> bool:
    """Whether its concepts are learned from and read in text without the PHI that it found."""
    return traits_of(system).hides_phi and dict(system.settings).get("learns_from") != ORIGINAL


def reads_gold(system: System) -> bool:
    """Whether it is told of the PHI that is to be hidden: of the gold annotation."""
    return dict(system.settings).get("reads") == GOLD


def completed(given: Mapping[str, Any], systems: Sequence[str], others: Mapping[str, Any]) -> dict[str, Any]:
    """The given settings, and of others those that one of the models has and that are not given."""
    known = frozenset().union(*(setting_names(name, given) for name in systems))
    return {**{name: value for name, value in others.items() if name in known}, **given}


def family_groups(cells: Sequence[Cell]) -> list[list[Cell]]:
    """The cells as they are trained: the pipelines of one seed together, for they share their halves; they come first.

    Everything else by itself.
    """
    families: dict[int, list[Cell]] = {}
    for cell in cells:
        if cell.system.model == PIPELINE:
            families.setdefault(cell.seed, []).append(cell)
    return [*families.values(), *([cell] for cell in cells if cell.system.model != PIPELINE)]

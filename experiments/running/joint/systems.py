"""What is trained: the systems of Tables 2 and 3, the rows of Table 5, and those of Table 4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from crfdeid.documents import CONCEPT, PHI
from crfdeid.ensembles.cascade import GOLD, ORIGINAL, PREDICTED
from crfdeid.errors import OptionConflictError
from crfdeid.registry import require_known, select, setting_names
from experiments.running.joint.settings import PIPELINE, JointExperiment
from experiments.running.settings import RANDOM
from experiments.running.systems import Cell, System, require_profile, traits_of

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

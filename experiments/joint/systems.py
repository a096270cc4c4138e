"""Systems of the experiment on PHI and concepts: those of each of the paper's Tables 2 to 5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from crfdeid.documents import CONCEPT, PHI
from crfdeid.ensembles.cascade import GOLD, ORIGINAL, PREDICTED
from crfdeid.errors import OptionConflictError
from crfdeid.registry import require_known, select, setting_names
from experiments.core.embeddings import RANDOM
from experiments.core.systems import Cell, System, require_profile, traits_of
from experiments.joint.options import JointArguments

PIPELINE = "pipeline"
ALONE = "alone"
"""The pipeline's model of concepts in unchanged text: the first row of Table 5."""

TABLE_5 = {
    ALONE: (ORIGINAL, ORIGINAL),
    "pipeline-original-predicted": (ORIGINAL, PREDICTED),
    "pipeline-predicted-original": (PREDICTED, ORIGINAL),
    PIPELINE: (PREDICTED, PREDICTED),
    "pipeline-gold-predicted": (GOLD, PREDICTED),
    "pipeline-gold-gold": (GOLD, GOLD),
}
"""Rows of Table 5: the text that concepts are learned from, and the text that they are predicted in."""

CHARACTERS, CONCATENATED = "characters", "concatenated"
_TABLE_4_MODEL = "bilstm-crf"
_WORDS_ALONE: Mapping[str, Any] = {"char_dim": 0, "features": "none"}


class Systems(NamedTuple):
    """Systems to train.

    Attributes:
        compared: of Tables 2 and 3.
        table_5: its rows; the pipeline and `ALONE` are also in ``compared``.
        table_4: name in the table -> system, one for each embedding.
    """

    compared: tuple[System, ...]
    table_5: tuple[System, ...]
    table_4: Mapping[str, System]

    @property
    def every(self) -> tuple[System, ...]:
        """All of them, each once, the slowest first."""
        return tuple(dict.fromkeys((*self.table_5, *self.compared, *self.table_4.values())))

    @property
    def shown(self) -> tuple[System, ...]:
        """All of them, each once, in the order of the tables."""
        return tuple(dict.fromkeys((*self.compared, *self.table_5, *self.table_4.values())))

    def describe(self) -> dict[str, dict[str, Any]]:
        """Entries of each system in results.json: its layers, and its rows in the paper's tables."""
        embeddings = {system.name: name for name, system in self.table_4.items()}
        rows = {row.name: dict(zip(("learns_from", "reads"), TABLE_5[row.name], strict=True)) for row in self.table_5}
        return {
            system.name: {
                "tags": list(layers_of(system)),
                "hides_phi": hides_phi(system),
                "compared": system in self.compared,
                "table_4": embeddings.get(system.name),
                "table_5": rows.get(system.name),
            }
            for system in self.every
        }


def systems_of(settings: JointArguments) -> Systems:
    """The systems of an experiment.

    Raises:
        UsageError: a setting or a profile that no model has, or a setting that distinguishes the rows of Table 5.
    """
    changes = dict(settings.changes)
    require_profile(settings.profile, settings.systems)
    for name in ("learns_from", "reads"):
        if name in changes:
            raise OptionConflictError(f"--set {name}: every way is compared, as in Table 5: leave it out")
    models = (*settings.systems, *([_TABLE_4_MODEL] if settings.vectors.sources else []))
    require_known(changes, frozenset().union(*(setting_names(name, changes) for name in models)), of=", ".join(models))
    made = [System(name, name, None, tuple(select(name, changes).items())) for name in settings.systems]
    rows: tuple[System, ...] = ()
    for index, system in enumerate(made):
        if system.name == PIPELINE:
            rows = _rows(system, disjoint=settings.corpus.concepts is not None and settings.corpus.concepts.disjoint)
            made[index] = next(row for row in rows if row.name == PIPELINE)
    alone = [row for row in rows if row.name == ALONE]
    return Systems((*made, *alone), rows, _ablation(settings.vectors.sources, changes))


def _rows(pipeline: System, *, disjoint: bool) -> tuple[System, ...]:
    """Rows of Table 5; without rows that need gold PHI in the notes with concepts, where those are other notes."""
    return tuple(
        replace(pipeline, name=name, settings=(*pipeline.settings, ("learns_from", learned), ("reads", read)))
        for name, (learned, read) in TABLE_5.items()
        if not (disjoint and GOLD in (learned, read))
    )


def _ablation(sources: Mapping[str, str], changes: Mapping[str, Any]) -> dict[str, System]:
    """BiLSTM-CRFs of concepts: word vectors of one kind alone; random ones and characters; all of these."""
    if not sources:
        return {}
    model = _TABLE_4_MODEL
    own = select(model, changes)
    variants: dict[str, tuple[str, dict[str, Any]]] = {name: (name, {**own, **_WORDS_ALONE}) for name in sources}
    both = {**own, "features": _WORDS_ALONE["features"]}
    variants[CHARACTERS] = (RANDOM, both)
    if any(name != RANDOM for name in sources):
        variants[CONCATENATED] = (CONCATENATED, both)
    return {
        name: System(f"{model}-{name}", model, embedding, tuple(settings.items()))
        for name, (embedding, settings) in variants.items()
    }


def layers_of(system: System) -> tuple[str, ...]:
    """Annotation layers of a system's scores: concepts alone for a model of one layer and for the rows of Table 5."""
    both = CONCEPT in traits_of(system).layers and (system.model != PIPELINE or system.name == PIPELINE)
    return (PHI, CONCEPT) if both else (CONCEPT,)


def hides_phi(system: System) -> bool:
    """Test for a system whose concepts are learned from and predicted in text without the PHI that it found."""
    return traits_of(system).hides_phi and dict(system.settings).get("learns_from") != ORIGINAL


def reads_gold(system: System) -> bool:
    """Test for a system that hides the PHI of the gold annotation."""
    return dict(system.settings).get("reads") == GOLD


def family_groups(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Groups of cells that are trained together: first the pipelines of each seed, which share their parts.

    Every other cell is a group alone.
    """
    families: dict[int, list[Cell]] = {}
    for cell in cells:
        if cell.system.model == PIPELINE:
            families.setdefault(cell.seed, []).append(cell)
    return [*families.values(), *([cell] for cell in cells if cell.system.model != PIPELINE)]

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
from experiments.running.settings import RANDOM, CommonSettings, CorpusSettings, Point, VectorSettings
from experiments.running.systems import Cell, System, require_profile, traits_of

PERMUTATIONS = 2**20
"""Permutations of each test, as in section 4.1 of lange2020."""

CONCEPT_ANNOTATED_TEXT = "concept_sourced"
"""Name of the scores of concepts without regions that their annotators never saw."""

PIPELINE = "pipeline"
JOINT = (PIPELINE, "multitask", "stacked")
SYSTEMS = (*JOINT, "crf")
"""Default systems: the models of lange2020, and a CRF for concepts alone."""

SMALL_SHARE = 0.25
SMALL: Mapping[str, Any] = MappingProxyType({"epochs": 8, "folds": 2})
"""Share of the training documents, and settings, for the built-in corpus, so that the experiment takes minutes."""


@dataclass(frozen=True, kw_only=True)
class JointExperiment(CommonSettings):
    """Settings of ``experiments.joint``.

    Args:
        systems: names in `crfdeid.registry.MODELS`; models of one layer learn concepts from unchanged text.
        changes: settings that replace the profile's, in every model that has them.
        corpus: the documents.
        unsourced: a table of the regions without annotated concepts; None for none.
        notices: remarks for the reader of the results, a sentence each.
        vectors: the word vectors of Table 4; no sources to leave it out.
        permutations: of each significance test.
    """

    systems: tuple[str, ...] = SYSTEMS
    changes: Point = ()
    corpus: CorpusSettings = field(default_factory=lambda: CorpusSettings(types="all", synthetic_concepts=True))
    unsourced: Path | None = None
    notices: tuple[str, ...] = ()
    vectors: VectorSettings = field(default_factory=lambda: VectorSettings(sources={}))
    permutations: int = PERMUTATIONS


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


def systems_of(experiment: JointExperiment) -> Systems:
    """The systems of an experiment.

    Raises:
        UsageError: a setting or a profile that no model has, or a setting that distinguishes the rows of Table 5.
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
    for index, system in enumerate(made):
        if system.name == PIPELINE:
            rows = _rows(
                system, disjoint=experiment.corpus.concepts is not None and experiment.corpus.concepts.disjoint
            )
            made[index] = next(row for row in rows if row.name == PIPELINE)
    alone = [row for row in rows if row.name == ALONE]
    return Systems((*made, *alone), rows, _ablation(experiment.vectors.sources, changes))


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


def completed(chosen: Mapping[str, Any], systems: Sequence[str], others: Mapping[str, Any]) -> dict[str, Any]:
    """The settings, with further ones that some model has and that are not among them."""
    known = frozenset().union(*(setting_names(name, chosen) for name in systems))
    return {**{name: value for name, value in others.items() if name in known}, **chosen}


def family_groups(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Groups of cells that are trained together: first the pipelines of each seed, which share their parts.

    Every other cell is a group alone.
    """
    families: dict[int, list[Cell]] = {}
    for cell in cells:
        if cell.system.model == PIPELINE:
            families.setdefault(cell.seed, []).append(cell)
    return [*families.values(), *([cell] for cell in cells if cell.system.model != PIPELINE)]

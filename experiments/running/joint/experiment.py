"""The experiment on PHI and concepts, from its settings to its runs."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from crfdeid.corpora.layers import Regions, exclude_regions, read_excluded_regions
from crfdeid.corpora.splits import Corpus
from crfdeid.documents import CONCEPT, PHI
from crfdeid.registry import model_settings
from crfdeid.tagger import require_layers
from experiments.running.device import choose_device, choose_jobs
from experiments.running.embeddings import OnStep, prepare_embeddings
from experiments.running.joint.plan import JointPlan, gold_of
from experiments.running.joint.settings import PIPELINE, JointExperiment, concept_annotated_text
from experiments.running.joint.systems import (
    ALONE,
    CONCATENATED,
    Systems,
    family_groups,
    layers_of,
    systems_of,
)
from experiments.running.prepared import Prepared, models_folder, plain_settings, read_corpus
from experiments.running.runs import Run
from experiments.running.significance import compare_systems
from experiments.running.systems import System, plain_cells, profile_of, traits_of

JointPrepared: TypeAlias = Prepared[JointExperiment, JointPlan]
"""This experiment about to be trained."""

ROWS = "table_5"
"""The significance of differences between the rows of Table 5."""


@dataclass(frozen=True)
class Outcome:
    """A finished experiment.

    Args:
        prepared: what was trained.
        runs: of all systems.
        total_seconds: how long everything took.
        significance: which differences hold: by layer, and between the rows of Table 5.
    """

    prepared: JointPrepared
    runs: tuple[Run, ...]
    total_seconds: float
    significance: Mapping[str, Any]


def prepare(experiment: JointExperiment, *, on_step: OnStep) -> JointPrepared:
    """Settle on a device, refuse what cannot work, read the corpus and make the word vectors.

    Args:
        experiment: what is asked for.
        on_step: called for each epoch of word vectors that are trained.

    Raises:
        DataError: data that cannot be read, or notes without PHI or without concepts.
        UsageError: settings that cannot work.
    """
    started = time.perf_counter()
    systems = systems_of(experiment)
    device = choose_device(experiment.device, map(traits_of, systems.every))
    settings_by_system(systems, experiment.profile)  # a value that cannot work is refused before anything takes long
    folder = models_folder(experiment.output.folder)
    read = read_corpus(experiment.corpus, notices=experiment.notices)
    for system in systems.compared:
        require_layers(system.name, {*layers_of(system), CONCEPT}, read.corpus.train.sentences)
    unsourced = _unsourced(experiment, read.corpus)
    used = [system.embedding for system in systems.table_4.values()]
    embeddings = prepare_embeddings(
        used, read.corpus, experiment.vectors, seed=experiment.corpus.seed, on_step=on_step, joined=CONCATENATED
    )
    parts = None if folder is None else folder.with_name("parts")
    plan = JointPlan(experiment.profile, embeddings.vectors, folder, unsourced, parts)
    groups = family_groups(plain_cells(systems.every, experiment.seeds))
    jobs = choose_jobs(experiment.jobs, len(groups), device)
    return Prepared(experiment, *read, systems.every, embeddings, plan, device, jobs, started)


def _unsourced(experiment: JointExperiment, corpus: Corpus) -> Regions | None:
    if experiment.unsourced is None:
        return None
    return read_excluded_regions(experiment.unsourced, gold_of(corpus.scored, CONCEPT))


def outcome_of(prepared: JointPrepared, runs: Sequence[Run]) -> Outcome:
    """Test which differences hold."""
    significance = _significance(prepared, runs)
    return Outcome(prepared, tuple(runs), time.perf_counter() - prepared.started, significance)


def _significance(prepared: JointPrepared, runs: Sequence[Run]) -> dict[str, Any]:
    """Of each layer, every system against the pipeline, or else the first; of Table 5, each row against the first."""
    systems = systems_of(prepared.experiment)
    found = {}
    for layer in (PHI, CONCEPT, *([concept_annotated_text] if prepared.plan.unsourced is not None else [])):
        names = [system.name for system in systems.compared if layer != PHI or PHI in layers_of(system)]
        found[layer] = _against(prepared, runs, names, PIPELINE, layer)
    if systems.table_5:
        found[ROWS] = _against(prepared, runs, [row.name for row in systems.table_5], ALONE, CONCEPT)
    return found


def _against(
    prepared: JointPrepared, runs: Sequence[Run], names: Sequence[str], reference: str, scored: str
) -> dict[str, Any]:
    """Systems against one of them, by what their runs found in a layer."""
    layer = CONCEPT if scored == concept_annotated_text else scored
    gold = gold_of(prepared.corpus.scored, layer)
    by_name = {name: [run.layers[layer].predictions for run in runs if run.cell.system.name == name] for name in names}
    if scored == concept_annotated_text and prepared.plan.unsourced is not None:
        stretches = prepared.plan.unsourced
        by_name = {
            name: [exclude_regions(gold, found, stretches).predicted for found in all_found]
            for name, all_found in by_name.items()
        }
        gold = exclude_regions(gold, {}, stretches).gold
    first = reference if reference in names else next(iter(names), "")
    pairs = [(first, name) for name in names if name != first]
    permutations = prepared.experiment.permutations
    return compare_systems(gold, by_name, permutations=permutations, pairs=pairs, by_type=False)


def settings_by_system(systems: Systems, profile: str) -> dict[str, dict[str, Any]]:
    """The settings each system is trained with, as plain data; where it starts from word vectors, which.

    Raises:
        UsageError: a value that the model refuses.
    """
    return {system.name: _settings(system, profile) for system in systems.every}


def _settings(system: System, profile: str) -> dict[str, Any]:
    full = model_settings(system.model, profile=profile_of(system, profile), overrides=system.overrides())
    found = plain_settings(full)
    return found if system.embedding is None else {"embedding": system.embedding, **found}

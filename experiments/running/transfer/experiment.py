"""The experiment on transfer, from its settings to its runs."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from crfdeid.registry import model_settings
from experiments.running.device import choose_device, choose_jobs
from experiments.running.embeddings import Embeddings
from experiments.running.prepared import Prepared, models_folder, plain_settings
from experiments.running.runs import Run
from experiments.running.systems import plain_cells, profile_of, traits_of
from experiments.running.transfer.corpora import joined, read
from experiments.running.transfer.plan import TransferPlan
from experiments.running.transfer.scores import GoldTokens, Tested
from experiments.running.transfer.settings import BINARY, TransferExperiment
from experiments.running.transfer.systems import Entry, entries_of

TransferPrepared: TypeAlias = Prepared[TransferExperiment, TransferPlan]
"""This experiment about to be trained."""


@dataclass(frozen=True)
class Outcome:
    """A finished experiment.

    Args:
        prepared: what was trained.
        runs: of all systems.
        tested: what the runs of each system found in the test documents of each corpus.
        total_seconds: how long everything took.
    """

    prepared: TransferPrepared
    runs: tuple[Run, ...]
    tested: Mapping[tuple[Entry, str], Tested]
    total_seconds: float


def prepare(experiment: TransferExperiment) -> TransferPrepared:
    """Settle on a device, refuse what cannot work, and read the corpora.

    Raises:
        DataError: data that cannot be read, or a part of a corpus without PHI.
        UsageError: settings that cannot work.
    """
    started = time.perf_counter()
    entries = entries_of(experiment)
    systems = tuple(entry.system for entry in entries)
    device = choose_device(experiment.device, map(traits_of, systems))
    settings_by_system(experiment)  # a value that cannot work is refused before anything takes long
    folder = models_folder(experiment.output.folder)
    began = time.perf_counter()
    found = [read(one, keep_unknown=experiment.types == BINARY, share=experiment.share) for one in experiment.sources]
    corpus = joined(found, types=experiment.types)
    facts = corpus.statistics()
    seconds = time.perf_counter() - began
    trained_on = {entry.system.name: entry.trained_on for entry in entries}
    plan = TransferPlan(experiment.profile, {one.name: one for one in found}, trained_on, folder)
    jobs = choose_jobs(experiment.jobs, len(plain_cells(systems, experiment.seeds)), device)
    return Prepared(experiment, corpus, facts, seconds, systems, Embeddings(), plan, device, jobs, started)


def outcome_of(prepared: TransferPrepared, runs: Sequence[Run]) -> Outcome:
    """Count what each model found in each corpus."""
    tests = {name: GoldTokens(corpus.scored.documents) for name, corpus in prepared.plan.corpora.items()}
    tested: dict[tuple[Entry, str], Tested] = {}
    for entry in entries_of(prepared.experiment):
        found = [run.predictions for run in runs if run.cell.system == entry.system]
        tested |= {(entry, name): documents.tested(found) for name, documents in tests.items()}
    return Outcome(prepared, tuple(runs), tested, time.perf_counter() - prepared.started)


def settings_by_system(experiment: TransferExperiment) -> dict[str, dict[str, Any]]:
    """The settings that each system is trained with, as plain data.

    Raises:
        UsageError: a value that the model refuses.
    """
    found = {}
    for entry in entries_of(experiment):
        system = entry.system
        profile = profile_of(system, experiment.profile)
        full = model_settings(system.model, profile=profile, overrides=system.overrides())
        found[system.name] = plain_settings(full)
    return found

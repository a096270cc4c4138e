"""What is trained: each model on each corpus."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from crfdeid.errors import OptionConflictError, SettingError
from experiments.running.settings import RANDOM
from experiments.running.systems import System, make_systems, require_phi_alone, require_profile
from experiments.running.transfer.settings import TransferExperiment

_ENCODED = "bert"


class Entry(NamedTuple):
    """A model on a corpus.

    Attributes:
        model: what tables call the model: its name, and that of its encoder where there are several.
        trained_on: the corpus that it learns from.
        system: what is trained.
    """

    model: str
    trained_on: str
    system: System


def entries_of(experiment: TransferExperiment) -> tuple[Entry, ...]:
    """Every model on every corpus.

    Raises:
        UsageError: a setting, or a profile, that none of the models has; a model that tags more than PHI; encoders
            without the model that reads with them, or two of one name.
    """
    require_profile(experiment.profile, experiment.models)
    made = make_systems(experiment.models, [RANDOM], dict(experiment.changes))
    require_phi_alone(made)
    systems = list(_with_encoders(made, experiment))
    return tuple(
        Entry(system.name, source.name, replace(system, name=f"{system.name}@{source.name}", embedding=None))
        for system in systems
        for source in experiment.sources
    )


def _with_encoders(systems: Iterable[System], experiment: TransferExperiment) -> Iterable[System]:
    """The systems; in the place of bert one for each encoder."""
    names = [folder.resolve().name for folder in experiment.encoders]
    if names and _ENCODED not in experiment.models:
        raise OptionConflictError(f"--encoders: no model here reads with an encoder: give --models {_ENCODED}")
    if len(set(names)) < len(names):
        raise SettingError("--encoders: two folders have one name: rename one, tables tell them apart by it")
    for system in systems:
        if system.model != _ENCODED or not names:
            yield system
            continue
        for name, folder in zip(names, experiment.encoders, strict=True):
            own = {**dict(system.settings), "encoder": str(folder)}
            yield replace(system, name=f"{_ENCODED}-{name}", settings=tuple(own.items()))

"""``results.json`` of the experiment on private training data.

It has all that a comparison of the systems of Table 2 has (`experiments.results.assemble`). In addition, ``systems``
has an entry for every system, also those of the figures, and ``pooling`` one for every pooling system.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from experiments.results.assemble import describe_common, describe_runs
from experiments.results.schema import PRIVATE
from experiments.running.prepared import compare_runs
from experiments.running.private.attacks import NAMES
from experiments.running.private.experiment import PrivatePrepared
from experiments.running.private.systems import neighbours_of, of_table_2, pooling_systems, systems_of
from experiments.running.runs import Run
from experiments.running.systems import System

_ACCURACIES = NAMES[:4]
_SCORES = {"binary_hipaa": "token_binary_hipaa", "entity_strict": "entity_strict"}


def assemble(prepared: PrivatePrepared, runs: Sequence[Run]) -> dict[str, Any]:
    """A finished experiment as plain data."""
    experiment = prepared.experiment
    settings = prepared.settings
    return {
        **describe_common(PRIVATE, prepared),
        "systems": [describe_system(system, runs, settings[system.name]) for system in systems_of(experiment)],
        "models": _models(of_table_2(experiment), runs),
        "fractions": {},
        "sweep": None,
        "significance": compare_runs(prepared, of_table_2(experiment), runs),
        "pooling": _pooling(prepared, runs),
    }


def _pooling(prepared: PrivatePrepared, runs: Sequence[Run]) -> dict[str, Any] | None:
    pooled, settings = pooling_systems(prepared.experiment), prepared.settings
    if not pooled:
        return None
    return {
        "systems": [describe_system(system, runs, settings[system.name]) for system in pooled],
        "models": _models(pooled, runs),
        "significance": compare_runs(prepared, pooled, runs),
    }


def _models(systems: Iterable[System], runs: Sequence[Run]) -> dict[str, Any]:
    return {system.name: describe_runs(system, runs) for system in systems}


def describe_system(system: System, runs: Sequence[Run], settings: Mapping[str, Any]) -> dict[str, Any]:
    """A system with the means over its runs; of the adversaries' accuracies, the highest of any run."""
    records = [run.record for run in runs if run.cell.system == system]
    return {
        "name": system.name,
        "kind": system.model,
        "neighbours": neighbours_of(system),
        "embedding": system.embedding,
        "size": settings.get("representation size"),
        "seeds": len(records),
        "scores": {name: {"f1": _f1(records, key)} for name, key in _SCORES.items()},
        "attacks": {name: _attack(name, [record["attacks"][name] for record in records]) for name in NAMES},
        "remains": _means([record.get("remains") for record in records]),
    }


def _f1(records: Sequence[Mapping[str, Any]], key: str) -> float | None:
    found = [record["scores"][key]["micro"]["f1"] for record in records if key in record["scores"]]
    return fmean(found) if found else None


def _attack(name: str, found: Sequence[Any]) -> Any:
    if name not in _ACCURACIES:
        return _means(found)
    tried = [one for one in found if one is not None]
    return max(tried, key=lambda one: one["accuracy"]) if tried else None


def _means(found: Sequence[Any]) -> Any:
    """Mean of numbers, or of each number in objects of one form; None for no numbers."""
    there = [one for one in found if one is not None]
    if not there:
        return None
    if isinstance(there[0], Mapping):
        return {key: _means([one[key] for one in there]) for key in there[0]}
    return fmean(there)

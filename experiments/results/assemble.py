"""Results of an experiment as plain data: corpus, settings, environment, and the counts and scores of each run.

``results.json`` is this dictionary. Two runs of one command on one machine give the same bytes, but for the values
whose names end in ``_seconds`` or ``_per_second``.
"""

from __future__ import annotations

import os
import platform
import subprocess
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from crfdeid.documents import PHI
from crfdeid.errors import IntegrityError
from crfdeid.evaluation.evaluate import REPAIR
from experiments.core.experiment import Evaluated, Prepared
from experiments.core.systems import System
from experiments.core.training import Run
from experiments.results.schema import SCHEMA, damage

PACKAGES = (
    "crfdeid",
    "numpy",
    "python-crfsuite",
    "sklearn-crfsuite",
    "nltk",
    "textblob",
    "jax",
    "jaxlib",
    "flax",
    "optax",
    "gensim",
    "Faker",
)


def describe_start(name: str, prepared: Prepared[Any, Any]) -> dict[str, Any]:
    """Entries of results.json that are known before the training.

    Args:
        name: of the experiment.
        prepared: the experiment.

    Raises:
        IntegrityError: they have another shape, a fault of the experiment that training would only delay.
    """
    found = {
        "experiment": name,
        "schema": SCHEMA,
        "command": dict(prepared.settings.command),
        "repair": REPAIR,
        "datasets": {dataset: dict(facts) for dataset, facts in prepared.datasets.items()},
        "embeddings": {embedding: dict(facts) for embedding, facts in prepared.embeddings.facts.items()},
        "systems": {system.name: _describe_system(system, prepared) for system in prepared.systems},
    }
    for problem in damage(found, started=True):
        raise IntegrityError(f"the results of this experiment could not be read back: {problem}")
    return found


def assemble(name: str, prepared: Prepared[Any, Any], runs: Sequence[Run], evaluated: Evaluated) -> dict[str, Any]:
    """A finished experiment as plain data: the content of results.json."""
    start = describe_start(name, prepared)
    systems = {system: {**about, **evaluated.systems.get(system, {})} for system, about in start["systems"].items()}
    return {
        **start,
        "environment": describe_environment(
            device=prepared.device,
            jobs=prepared.jobs,
            corpus_seconds=prepared.corpus_seconds,
            total_seconds=time.perf_counter() - prepared.started,
        ),
        "systems": systems,
        "runs": [run.record for run in runs],
        "comparisons": dict(evaluated.comparisons),
    }


def identity(start: Mapping[str, Any], device: str) -> dict[str, Any]:
    """Facts that must be equal for --resume to continue an experiment: command, settings, data, vectors, libraries.

    Args:
        start: from `describe_start`.
        device: of networks, in words.
    """
    return {
        **{entry: start[entry] for entry in ("experiment", "schema", "command")},
        "systems": {system: about["settings"] for system, about in start["systems"].items()},
        "datasets": {dataset: facts["sha256"] for dataset, facts in start["datasets"].items()},
        "embeddings": {embedding: facts.get("sha256") for embedding, facts in start["embeddings"].items()},
        "environment": {**describe_libraries(), "device": device},
    }


def _describe_system(system: System, prepared: Prepared[Any, Any]) -> dict[str, Any]:
    return {
        "model": system.model,
        "embedding": system.embedding,
        "settings": dict(prepared.full_settings[system.name]),
        "trained_on": next(iter(prepared.datasets)),
        "tags": [PHI],
        **prepared.about.get(system.name, {}),
    }


def describe_libraries() -> dict[str, Any]:
    """Versions of Python and of the libraries on which the last digits of scores can depend."""
    return {
        "python": platform.python_version(),
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
    }


def describe_environment(*, device: str, jobs: int, corpus_seconds: float, total_seconds: float) -> dict[str, Any]:
    """The ``environment`` part of results.json, on which times and the last digits of scores depend.

    Args:
        device: of the networks, in words.
        jobs: cells trained at the same time.
        corpus_seconds: duration of reading or generating the corpus.
        total_seconds: duration of the experiment.
    """
    libraries = describe_libraries()
    return {
        "python": libraries["python"],
        "platform": platform.platform(),
        "packages": libraries["packages"],
        "commit": _commit(),
        "device": device,
        "cores": os.cpu_count(),
        "jobs": jobs,
        "corpus_seconds": corpus_seconds,
        "total_seconds": total_seconds,
    }


def _commit() -> str | None:
    """Commit of this checkout, with "+" for changed files; None outside a checkout."""
    folder = Path(__file__).parents[2]
    if not (folder / ".git").exists():
        return None
    asked = ["git", "-C", str(folder), "describe", "--always", "--dirty=+", "--abbrev=40", "--exclude=*"]
    try:
        answer = subprocess.run(asked, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None

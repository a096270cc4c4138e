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

from crfdeid.corpora.splits import Corpus
from crfdeid.evaluation.evaluate import REPAIR
from experiments.results.schema import COMPARE, SCHEMA
from experiments.running.experiment import Comparison, ResolvedSystems, Sweep
from experiments.running.prepared import Prepared, compare_runs
from experiments.running.runs import Run
from experiments.running.settings import Point
from experiments.running.systems import System

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


def assemble(prepared: Comparison, resolved: ResolvedSystems, runs: Sequence[Run]) -> dict[str, Any]:
    """A finished experiment as plain data."""
    return {
        **describe_common(COMPARE, prepared, resolved.settings),
        "models": {system.name: describe_runs(system, runs) for system in resolved.systems},
        "fractions": describe_fractions(runs, prepared.corpus),
        "sweep": None if resolved.sweep is None else describe_sweep(resolved.sweep),
        "significance": compare_runs(prepared, resolved.systems, runs),
    }


def describe_common(
    kind: str, prepared: Prepared[Any, Any], settings: Mapping[str, Mapping[str, Any]] | None = None
) -> dict[str, Any]:
    """Parts of results.json that every experiment has: corpus, settings, environment and embeddings.

    Args:
        kind: of the experiment, a key of `experiments.results.schema.SHAPES`.
        prepared: the experiment.
        settings: each system's full settings by its name; None for those before a sweep.
    """
    return {
        "experiment": kind,
        "schema": SCHEMA,
        "corpus": dict(prepared.facts),
        "settings": describe_settings(prepared, settings or prepared.settings),
        "environment": describe_environment(
            device=prepared.device,
            jobs=prepared.jobs,
            corpus_seconds=prepared.corpus_seconds,
            total_seconds=time.perf_counter() - prepared.started,
        ),
        "embeddings": {name: dict(facts) for name, facts in prepared.embeddings.facts.items()},
    }


def identity(kind: str, prepared: Prepared[Any, Any]) -> dict[str, Any]:
    """Facts that must be equal for --resume to continue an experiment: command, settings, data, vectors, libraries."""
    return {
        "experiment": kind,
        "schema": SCHEMA,
        "command": dict(prepared.experiment.command),
        "models": dict(prepared.settings),
        "corpus": prepared.facts["sha256"],
        "embeddings": {name: facts.get("sha256") for name, facts in prepared.embeddings.facts.items()},
        "environment": {**describe_libraries(), "device": prepared.device},
    }


def describe_settings(prepared: Prepared[Any, Any], settings: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The ``settings`` part: the options, the repair of invalid tags, and each system's full settings."""
    return {
        "command": dict(prepared.experiment.command),
        "repair": REPAIR,
        "models": {name: dict(found) for name, found in settings.items()},
    }


def describe_runs(system: System, runs: Sequence[Run]) -> dict[str, Any]:
    """A system's entry of the ``models`` part: its runs on all training documents."""
    records = [run.record for run in runs if run.cell.is_plain and run.cell.system == system]
    return {"model": system.model, "embedding": system.embedding, "runs": records}


def describe_sweep(sweep: Sweep) -> dict[str, Any]:
    """The ``sweep`` part: every point, and each system's choice."""
    points: dict[tuple[System, Point], list[dict[str, Any]]] = {}
    for run in sweep.runs:
        result = {name: run.record[name] for name in ("seed", "dev_f1")}
        points.setdefault((run.cell.system, run.cell.point), []).append(result)
    return {
        "names": list(sweep.grid),
        "points": [
            {"system": system.name, "values": dict(point), "runs": found} for (system, point), found in points.items()
        ],
        "chosen": {system.name: dict(point) for system, point in sweep.chosen.items()},
    }


def describe_fractions(runs: Sequence[Run], corpus: Corpus) -> dict[str, list[dict[str, Any]]]:
    """The ``fractions`` part: the scores of each system by share of the training documents; empty without shares."""
    shares = sorted({run.cell.fraction for run in runs})
    if shares == [1.0]:
        return {}
    sizes = {share: corpus.part(share).statistics() for share in shares}
    return {
        system: [
            {
                "fraction": share,
                **{name: sizes[share][name] for name in ("documents", "sentences", "tokens")},
                "runs": [
                    {name: run.record[name] for name in ("seed", "dev_f1", "scores")}
                    for run in runs
                    if (run.cell.system.name, run.cell.fraction) == (system, share)
                ],
            }
            for share in shares
        ]
        for system in dict.fromkeys(run.cell.system.name for run in runs)
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

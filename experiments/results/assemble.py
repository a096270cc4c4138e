"""One experiment as data: the corpus, the settings, the machine, and every run's counts and scores.

``results.json`` is this dictionary. Two runs of one command on one machine give the same bytes, but for the values
whose names end in ``_seconds`` or ``_per_second``.
"""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from crfdeid.scoring.evaluation import REPAIR
from crfdeid.corpora.splits import Corpus
from experiments.results.folder import SCHEMA
from experiments.running.runs import Plan, Run
from experiments.running.systems import Cell, Point, System, make_tagger

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


def describe_environment(*, device: str, jobs: int, corpus_seconds: float) -> dict[str, Any]:
    """What the times and the last digits of the scores depend on.

    Args:
        device: what the networks are trained on, in words.
        jobs: cells trained at the same time.
        corpus_seconds: how long reading or generating the corpus took.
    """
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
        "commit": _commit(),
        "device": device,
        "cores": os.cpu_count(),
        "jobs": jobs,
        "corpus_seconds": corpus_seconds,
    }


def _commit() -> str | None:
    """The commit this library was checked out at, with "+" where files were changed since; None outside a checkout."""
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


def system_settings(systems: Iterable[System], plan: Plan) -> dict[str, dict[str, Any]]:
    """The full settings each system is trained with, as plain data; where one starts from word vectors, which."""
    found = {}
    for system in systems:
        settings = _plain(make_tagger(Cell(system, 0), plan.profile, plan.vectors).settings)
        found[system.name] = settings if system.embedding is None else {"embedding": system.embedding, **settings}
    return found


def _plain(settings: Any) -> dict[str, Any]:
    # Through JSON, so that what is compared and printed is what a reader of results.json gets.
    found: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(settings), default=str))
    return found


def assemble(
    *,
    corpus: Mapping[str, Any],
    command: Mapping[str, Any],
    embeddings: Mapping[str, Mapping[str, Any]],
    environment: Mapping[str, Any],
) -> dict[str, Any]:
    """The experiment as plain data, before any model is trained.

    Args:
        corpus: from `Corpus.statistics`.
        command: the options that define the experiment.
        embeddings: what is known of each embedding, from `experiments.running.embeddings`.
        environment: from `describe_environment`.
    """
    return {
        "schema": SCHEMA,
        "corpus": dict(corpus),
        "settings": {"command": dict(command), "repair": REPAIR, "models": {}},
        "environment": dict(environment),
        "embeddings": dict(embeddings),
        "models": {},
        "fractions": {},
        "sweep": None,
        "significance": None,
    }


def with_systems(
    results: Mapping[str, Any], systems: Sequence[System], settings: Mapping[str, Any], sweep: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The experiment once the settings of its systems are settled."""
    models: dict[str, Any] = {
        system.name: {"model": system.model, "embedding": system.embedding, "runs": []} for system in systems
    }
    return {**results, "settings": {**results["settings"], "models": dict(settings)}, "models": models, "sweep": sweep}


def describe_sweep(
    grid: Mapping[str, Sequence[Any]], runs: Sequence[Run], chosen: Mapping[System, Point]
) -> dict[str, Any] | None:
    """A sweep as plain data; None where there was none."""
    if not grid:
        return None
    points: dict[tuple[System, Point], list[dict[str, Any]]] = {}
    for run in runs:
        kept = {name: run.record[name] for name in ("seed", "dev_f1")}
        points.setdefault((run.cell.system, run.cell.point), []).append(kept)
    return {
        "names": list(grid),
        "points": [
            {"system": system.name, "values": dict(point), "runs": found} for (system, point), found in points.items()
        ],
        "chosen": {system.name: dict(point) for system, point in chosen.items()},
    }


def add_runs(
    results: Mapping[str, Any], runs: Sequence[Run], corpus: Corpus, *, total_seconds: float
) -> dict[str, Any]:
    """The experiment with its finished cells, in the order in which they are to stand, and the time everything took."""
    plain = [run for run in runs if run.cell.is_plain]
    models = {
        name: {**found, "runs": [run.record for run in plain if run.cell.system.name == name]}
        for name, found in results["models"].items()
    }
    environment = {**results["environment"], "total_seconds": total_seconds}
    return {**results, "environment": environment, "models": models, "fractions": _by_fraction(runs, corpus)}


def _by_fraction(runs: Sequence[Run], corpus: Corpus) -> dict[str, list[dict[str, Any]]]:
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

"""One experiment as data: the corpus, the settings, the machine, and every run's counts and scores.

``results.json`` is this dictionary. Two runs of one command on one machine give the same bytes, but for the values
whose names end in ``_seconds`` or ``_per_second``.
"""

from __future__ import annotations

import dataclasses
import json
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from crfdeid.documents import Span
from crfdeid.models import create
from experiments.runs import REPAIR, Plan, Run
from experiments.splits import Corpus

SCHEMA = 1
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
        "device": device,
        "cores": os.cpu_count(),
        "jobs": jobs,
        "corpus_seconds": corpus_seconds,
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def model_settings(models: Iterable[str], plan: Plan) -> dict[str, dict[str, Any]]:
    """The full settings each model is trained with, as plain data."""
    return {name: _plain(create(name, profile=plan.profile, overrides=plan.overrides).settings) for name in models}


def _plain(settings: Any) -> dict[str, Any]:
    # Through JSON, so that what is compared and printed is what a reader of results.json gets.
    found: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(settings), default=str))
    return found


def assemble(
    *,
    corpus: Corpus,
    command: Mapping[str, Any],
    settings: Mapping[str, Mapping[str, Any]],
    environment: Mapping[str, Any],
) -> dict[str, Any]:
    """The experiment as plain data, before any model is trained.

    Args:
        corpus: what the models are compared on.
        command: the options that define the experiment.
        settings: each model's settings, from `model_settings`.
        environment: from `describe_environment`.
    """
    return {
        "schema": SCHEMA,
        "corpus": corpus.statistics(),
        "settings": {"command": dict(command), "repair": REPAIR, "models": dict(settings)},
        "environment": dict(environment),
        "models": {name: {"runs": []} for name in settings},
    }


def add_runs(results: Mapping[str, Any], runs: Sequence[Run], *, total_seconds: float) -> dict[str, Any]:
    """The experiment with its finished cells, in the order in which they are to stand, and the time everything took."""
    models = {name: {"runs": [r.to_dict() for r in runs if r.cell.model == name]} for name in results["models"]}
    environment = {**results["environment"], "total_seconds": total_seconds}
    return {**results, "environment": environment, "models": models}


def to_json(results: Mapping[str, Any]) -> str:
    """The text of results.json."""
    return json.dumps(results, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def predictions_jsonl(predictions: Mapping[str, Sequence[Span]]) -> str:
    """Predictions as JSON Lines, one document a line: its id and spans, never its text."""
    lines = ({"id": name, "spans": [span._asdict() for span in spans]} for name, spans in predictions.items())
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)

"""The machine and the libraries that a result was made with."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

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


def describe_libraries() -> dict[str, Any]:
    """The versions of Python and of the libraries: what the last digits of scores can depend on."""
    return {
        "python": platform.python_version(),
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
    }


def describe_environment(*, device: str, jobs: int, corpus_seconds: float, total_seconds: float) -> dict[str, Any]:
    """The ``environment`` part of results.json: what times and the last digits of scores depend on.

    Args:
        device: what the networks were trained on, in words.
        jobs: cells trained at the same time.
        corpus_seconds: how long reading or generating the corpus took.
        total_seconds: how long everything took.
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

"""Results as data: versions."""

from __future__ import annotations

import platform
from importlib.metadata import version

from experiments.results.assemble import describe_environment


def test_the_environment_names_what_is_installed() -> None:
    found = describe_environment(device="cpu", jobs=2, corpus_seconds=0.5, total_seconds=2.0)
    assert found["python"] == platform.python_version()
    assert found["packages"]["jax"] == version("jax")
    assert "torch" not in found["packages"]
    assert (found["device"], found["jobs"], found["corpus_seconds"]) == ("cpu", 2, 0.5)

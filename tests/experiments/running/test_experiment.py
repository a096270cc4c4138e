"""The full settings of what is compared."""

from __future__ import annotations

from typing import Any

import pytest

from crfdeid.errors import UsageError
from experiments.running.experiment import full_settings
from experiments.running.runs import Plan
from experiments.running.systems import System


def test_settings_are_the_profiles_with_those_of_the_system(memory_model: Any) -> None:
    systems = [System("memory", "memory", None, (("loss", 2.0),))]
    assert full_settings(systems, Plan("yadav2016")) == {"memory": {"window": 2, "loss": 2.0}}
    with pytest.raises(UsageError, match="unknown profile"):
        full_settings(systems, Plan("best"))


def test_a_system_with_word_vectors_says_which() -> None:
    settings = full_settings([System("elman-cbow", "elman", "cbow")], Plan())["elman-cbow"]
    assert (settings["embedding"], settings["window"]) == ("cbow", 11)

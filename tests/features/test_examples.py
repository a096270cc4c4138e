"""The examples in the docstrings of the features are true."""

import doctest
import importlib

import pytest

MODULES = ["tokens", "columns", "context", "pos", "orthography", "patterns", "lexicons", "extractor"]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    tried = doctest.testmod(importlib.import_module(f"features.{name}"))
    assert tried.attempted > 0
    assert tried.failed == 0

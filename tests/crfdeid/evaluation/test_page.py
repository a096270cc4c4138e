import doctest
from importlib import import_module
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize("page", ["reference/metrics.md", "explanation/significance.md"])
def test_the_examples_of_a_page_run(page):
    failed, tried = doctest.testfile(str(DOCS / page), module_relative=False, encoding="utf-8")
    assert tried > 5
    assert failed == 0


@pytest.mark.parametrize("module", ["agreement", "challenges", "entities", "errors", "significance", "tokens"])
def test_docstring_examples_run(module):
    failed, tried = doctest.testmod(import_module(f"crfdeid.evaluation.{module}"))
    assert tried > 0
    assert failed == 0

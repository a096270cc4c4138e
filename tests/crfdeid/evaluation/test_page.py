import doctest
from importlib import import_module
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[3] / "docs" / "scoring.md"


def test_the_guide_runs_as_it_stands():
    failed, tried = doctest.testfile(str(GUIDE), module_relative=False, encoding="utf-8")
    assert tried > 15
    assert failed == 0


@pytest.mark.parametrize(
    "module", ["agreement", "challenges", "counts", "entities", "errors", "operating_points", "significance", "tokens"]
)
def test_docstring_examples_run(module):
    failed, tried = doctest.testmod(import_module(f"crfdeid.evaluation.{module}"))
    assert tried > 0
    assert failed == 0

"""The examples in the docstrings of all packages are true."""

import doctest
import importlib
from pathlib import Path

import pytest

from crfdeid.errors import MissingExtraError

ROOT = Path(__file__).parents[1]
FILES = (file for package in ("features", "crfdeid", "rnn", "experiments") for file in (ROOT / package).rglob("*.py"))
MODULES = sorted(
    ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for file in FILES
    if ">>> " in file.read_text("utf-8")
)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_are_true(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except MissingExtraError as missing:
        pytest.skip(str(missing))
    tried = doctest.testmod(module)
    assert tried.attempted > 0 or "+SKIP" in Path(str(module.__file__)).read_text("utf-8")
    assert tried.failed == 0

"""Benchmarks are run by hand, so a renamed function would break them unseen."""

import ast
import importlib
from pathlib import Path

import pytest

from crfdeid.errors import MissingExtraError

BENCHMARKS = sorted((Path(__file__).parents[2] / "benchmarks").glob("*.py"))
OURS = ("features", "crfdeid", "rnn", "experiments")


@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.stem)
def test_a_benchmark_imports_names_that_exist(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in OURS:
            try:
                module = importlib.import_module(node.module or "")
            except MissingExtraError as missing:
                pytest.skip(str(missing))
            for name in (alias.name for alias in node.names):
                if not hasattr(module, name):
                    importlib.import_module(f"{node.module}.{name}")

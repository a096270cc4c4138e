"""Who may import whom: features <- crfdeid <- rnn <- experiments, and JAX in the last two alone."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import crfdeid
from crfdeid.corpora.splits import Corpus, Split
from crfdeid.documents import Document, Span
from crfdeid.model_card.train import train_model

ROOT = Path(__file__).parents[1]
LAYERS = ("features", "crfdeid", "rnn", "experiments")
JAX = {"jax", "jaxlib", "flax", "optax", "orbax"}
# What the networks share; every other module of rnn/networks is one network.
SHARED = {"rnn.networks", "rnn.networks.recurrence"}


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(source: str, module: str, *, package: bool = False) -> Iterator[str]:
    """Every module that a source file imports, anywhere in it, by its full name."""
    parent = module if package else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            up = parent.split(".")[: len(parent.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*up, *([node.module] if node.module else [])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def files() -> list[Path]:
    return sorted(path for layer in LAYERS for path in (ROOT / layer).rglob("*.py"))


def breaches(source: str, module: str, *, package: bool = False) -> list[str]:
    """The imports of one file that its layer is not allowed."""
    layer = module.split(".", maxsplit=1)[0]
    above = set(LAYERS[LAYERS.index(layer) + 1 :]) | {"tests", "benchmarks"}
    forbidden = above | (JAX if layer in ("features", "crfdeid") else set())
    return sorted({name for name in imports(source, module, package=package) if name.split(".")[0] in forbidden})


@pytest.mark.parametrize("path", files(), ids=module_name)
def test_a_module_imports_only_its_own_layer_and_those_before_it(path: Path) -> None:
    found = breaches(path.read_text("utf-8"), module_name(path), package=path.name == "__init__.py")
    assert not found, f"{module_name(path)} must not import {', '.join(found)}"


@pytest.mark.parametrize(
    ("source", "module"),
    [
        ("from crfdeid.bio import encode", "features.tokens"),
        ("def late():\n    import rnn.tagger", "crfdeid.models"),
        ("from experiments import tables", "rnn.training"),
        ("import jax.numpy as jnp", "crfdeid.crf"),
        ("from .. import optax\nimport optax", "features.lexicons"),
    ],
)
def test_the_rule_finds_a_breach(source: str, module: str) -> None:
    assert breaches(source, module)


def test_relative_imports_are_resolved() -> None:
    assert "rnn.networks.jordan" in set(imports("from .jordan import Jordan", "rnn.networks.elman"))
    assert "rnn.networks.jordan" in set(imports("from . import jordan", "rnn.networks.elman"))
    assert "rnn.batches" in set(imports("from ..batches import Batch", "rnn.networks.elman"))
    assert "rnn.batches" in set(imports("from .batches import Batch", "rnn", package=True))


def networks() -> list[Path]:
    return [path for path in files() if path.parent.name == "networks" and module_name(path) not in SHARED]


def test_there_are_networks() -> None:
    assert {"rnn.networks.elman", "rnn.networks.jordan"} <= set(map(module_name, networks()))


@pytest.mark.parametrize("path", networks(), ids=module_name)
def test_networks_never_import_each_other(path: Path) -> None:
    others = set(map(module_name, networks())) - {module_name(path)}
    found = set(imports(path.read_text("utf-8"), module_name(path))) & others
    assert not found, f"{module_name(path)} must not import {', '.join(found)}"


def test_the_crf_half_starts_without_jax() -> None:
    code = (
        "import sys, crfdeid, features, crfdeid.crf; print(sorted(m for m in sys.modules if m.split('.')[0] == 'jax'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


def test_finding_and_hiding_phi_needs_no_scores(tmp_path: Path) -> None:
    tagger = crfdeid.create("crf", overrides={"max_iterations": 5})
    notes = Split.of([Document("1", "Seen by Dr. Quill.", (Span(12, 17, "DOCTOR"),))])
    train_model(tagger, Corpus("invented", "jsonl", "all", notes, notes, None), tmp_path / "model")
    code = (
        "import sys, crfdeid; model = crfdeid.load(sys.argv[1], sensitivity=99.7);"
        "print(crfdeid.redact(model.annotate('Seen by Dr. Quill.')).text);"
        "print(sorted(m for m in sys.modules if m.startswith('crfdeid.scoring')))"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "model")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.splitlines() == ["Seen by Dr. [DOCTOR].", "[]"]

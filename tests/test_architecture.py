"""Who may import whom: features <- crfdeid <- rnn <- experiments, JAX in the last two; no circle, nothing private.

And who may speak to the user: the commands alone read options, print and draw progress.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from quick_tests import QUICK

import crfdeid
from crfdeid.corpora.splits import Corpus, Split
from crfdeid.documents import Document, Span
from crfdeid.model_card.training import train_model

ROOT = Path(__file__).parents[1]
LAYERS = ("features", "crfdeid", "rnn", "experiments")
JAX = {"jax", "jaxlib", "flax", "optax", "orbax"}
# Where options are read and results printed: the command line of crfdeid, the commands and options of experiments, and
# what fetches an encoder.
COMMANDS = ("crfdeid.cli",)
NAMEDTUPLE_METHODS = {"_asdict", "_fields", "_make", "_replace"}


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


COMMAND_MODULES = {
    *(module_name(path) for path in (ROOT / "experiments").glob("*.py")),
    *(module_name(path) for path in (ROOT / "experiments").glob("*/options.py")),
    *("experiments.core.command", "experiments.core.experiment", "rnn.fetch_encoder"),
}


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


def test_a_module_imports_only_its_own_layer_and_those_before_it() -> None:
    found = {
        module_name(path): breaches(path.read_text("utf-8"), module_name(path), package=path.name == "__init__.py")
        for path in files()
    }
    assert {name: names for name, names in found.items() if names} == {}, "these must not import that"


@pytest.mark.parametrize(
    ("source", "module"),
    [
        ("from crfdeid.bio import encode", "features.tokens"),
        ("def late():\n    import rnn.tagger", "crfdeid.registry"),
        ("from experiments import tables", "rnn.training"),
        ("import jax.numpy as jnp", "crfdeid.crf"),
        ("from .. import optax\nimport optax", "features.lexicons"),
    ],
)
def test_the_rule_finds_a_breach(source: str, module: str) -> None:
    assert breaches(source, module)


def test_every_package_has_a_quick_test() -> None:
    packages = {module_name(path): path.parent for path in files() if path.name == "__init__.py"}
    assert packages.keys() == QUICK.keys()
    for package, file in QUICK.items():
        found = set(imports((ROOT / "tests" / file).read_text("utf-8"), "tests"))
        assert any(f"{name}.".startswith(f"{package}.") for name in found), (package, file)


def test_relative_imports_are_resolved() -> None:
    assert "rnn.models.jordan" in set(imports("from .jordan import Jordan", "rnn.models.elman"))
    assert "rnn.models.jordan" in set(imports("from . import jordan", "rnn.models.elman"))
    assert "rnn.batching" in set(imports("from ..batching import Batch", "rnn.models.elman"))
    assert "rnn.batching" in set(imports("from .batching import Batch", "rnn", package=True))


def test_no_imports_go_in_a_circle() -> None:
    named = {module_name(path): path for path in files()}
    found = circles({name: our_imports(path, set(named)) for name, path in named.items()})
    assert found == []


def our_imports(path: Path, known: set[str]) -> set[str]:
    """The modules of ours that a file imports, late imports and those for types alone among them.

    ``from a import b`` imports the module ``a.b`` where there is one, else ``a``.
    """
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = list(imports(ast.unparse(node), module_name(path), package=path.name == "__init__.py"))
            if isinstance(node, ast.ImportFrom):
                base, *full = names
                names = [name if name in known else base for name in full]
            found.update(names)
    return found & known


def test_a_package_and_its_modules_are_told_apart(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("from p import q, value\ndef late():\n    from p.r import other\n    import p.s as s, json\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules[__name__], "ROOT", tmp_path)
        assert our_imports(file, {"p", "p.q", "p.r", "p.s", "p.t"}) == {"p", "p.q", "p.r", "p.s"}


def circles(imported: Mapping[str, set[str]]) -> list[set[str]]:
    """The sets of modules that reach each other by what they import."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            new = imported[waiting.pop()] - seen
            seen |= new
            waiting += new
        return seen

    reach = {name: reached(name) for name in imported}
    found = []
    for name in imported:
        circle = {other for other in reach[name] if name in reach[other]}
        if circle and circle not in found:
            found.append(circle)
    return found


def test_a_circle_is_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a", "e"}, "e": set()}) == [{"a", "b", "c"}]
    assert circles({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def test_only_the_commands_speak_to_the_user() -> None:
    found = {
        module_name(path): list(spoken(path.read_text("utf-8")))
        for path in files()
        if not module_name(path).startswith(COMMANDS) and module_name(path) not in COMMAND_MODULES
    }
    assert {name: what for name, what in found.items() if what} == {}


def spoken(source: str) -> Iterator[str]:
    """What of a source file reads options, prints, or draws progress."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names if alias.name.split(".")[0] in ("argparse", "tqdm"))
            case ast.ImportFrom(module="argparse" | "tqdm" as module):
                yield module
            case ast.ImportFrom(module="sys", names=names):
                yield from (alias.name for alias in names if alias.name in ("stdin", "stdout", "stderr"))
            case ast.Call(func=ast.Name(id="print" | "input" as function)):
                yield function
            case ast.Attribute(value=ast.Name(id="sys"), attr="stdin" | "stdout" | "stderr" as stream):
                yield f"sys.{stream}"


@pytest.mark.parametrize(
    "source",
    ["import argparse", "from tqdm import tqdm", "def f():\n  print(1)", "import sys\nsys.stderr.write('')"],
)
def test_speaking_is_found(source: str) -> None:
    assert list(spoken(source))


def test_nothing_private_is_used_outside_its_package() -> None:
    found = {
        module_name(path): list(
            private_names(path.read_text("utf-8"), package=module_name(path.parent / "__init__.py"))
        )
        for path in files()
    }
    assert {name: names for name, names in found.items() if names} == {}


def private_names(source: str, *, package: str = "") -> Iterator[str]:
    """Names with a leading underscore that a source file imports from modules of other packages than its own."""
    ours: set[str] = set()
    nodes = list(ast.walk(ast.parse(source)))
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and package and f"{node.module}.".startswith(f"{package}."):
            continue
        if isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").split(".")[0] in LAYERS):
            ours |= {alias.asname or alias.name for alias in node.names}
            yield from (alias.name for alias in node.names if alias.name.startswith("_"))
        elif isinstance(node, ast.Import):
            ours |= {alias.asname or alias.name for alias in node.names if alias.name.split(".")[0] in LAYERS}
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__"):
            base = ast.unparse(node.value)
            if base in ours and node.attr not in NAMEDTUPLE_METHODS:
                yield f"{base}.{node.attr}"


@pytest.mark.parametrize(
    "source",
    [
        "from crfdeid.bio import _repair",
        "from crfdeid import bio\nbio._repair()",
        "import rnn.batching\nrnn.batching._cut",
        "from crfdeid.crf import CrfTagger\nCrfTagger._extract",
    ],
)
def test_use_of_something_private_is_found(source: str) -> None:
    assert list(private_names(source))


def networks() -> list[Path]:
    return [path for path in files() if path.parent == ROOT / "rnn" / "models" and path.name != "__init__.py"]


def test_there_are_networks() -> None:
    assert {"rnn.models.elman", "rnn.models.jordan", "rnn.models.bilstm_crf"} <= set(map(module_name, networks()))


# Jordan's network reads Elman's context windows. The BiLSTM-CRF reads a private representation (friedrich2019, section
# 5.1), finds PHI for the stacked model (lange2020, section 3.3.2), and shares its inputs with both joint models.
_JOINT = {"rnn.models.bilstm_crf", "rnn.models.joint"}
BUILT_ON = {
    "rnn.models.jordan": {"rnn.models.elman"},
    "rnn.models.private": {"rnn.models.bilstm_crf"},
    "rnn.models.joint": {"rnn.models.bilstm_crf"},
    "rnn.models.multitask": _JOINT,
    "rnn.models.stacked": _JOINT,
}


@pytest.mark.parametrize("path", networks(), ids=module_name)
def test_networks_never_import_each_other(path: Path) -> None:
    name = module_name(path)
    others = set(map(module_name, networks())) - {name} - BUILT_ON.get(name, set())
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
    notes = Split.of([Document("1", "Seen by Dr. Orla Quill.", (Span(12, 22, "DOCTOR"),))])
    train_model(tagger, Corpus("invented", "jsonl", "all", notes, notes, None), tmp_path / "model")
    code = (
        "import sys, crfdeid; model = crfdeid.load(sys.argv[1], sensitivity=0.5);"
        "print(crfdeid.redact(model.annotate('Seen by Dr. Quill.')).text);"
        "print(sorted(m for m in sys.modules if m.startswith('crfdeid.evaluation')))"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "model")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.splitlines() == ["Seen by Dr. [DOCTOR].", "[]"]


@pytest.mark.parametrize("folder", sorted({path.parent for path in files()}), ids=module_name)
def test_every_folder_of_modules_is_a_package(folder: Path) -> None:
    assert (folder / "__init__.py").is_file(), "it would be left out of what is installed"

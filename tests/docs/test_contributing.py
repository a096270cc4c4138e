"""CONTRIBUTING.md: recipes name the shortest module of a kind, and each decision is in the modules of its row."""

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from crfdeid.registry import MODELS, import_string
from experiments.core.embeddings import RECIPES
from experiments.papers import PAPERS

ROOT = Path(__file__).parents[2]


def modules_of(names: Iterable[str]) -> set[Path]:
    return {ROOT / f"{name.partition(':')[0].replace('.', '/')}.py" for name in names}


KINDS = {
    "a model": modules_of(home for home in MODELS.values() if home.startswith("rnn.")),
    "word vectors": modules_of(import_string(recipe.train).__module__ for recipe in RECIPES.values()),
    "a paper": {ROOT / "experiments/papers" / f"{name}.py" for name in PAPERS},
    "a corpus format": {
        path for path in (ROOT / "crfdeid/corpora").glob("*.py") if "\ndef looks_like(" in path.read_text("utf-8")
    },
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_example_of_a_recipe_is_the_shortest(kind: str) -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (recipe,) = re.findall(rf"(?ms)^## Add {kind}\n(.*?)(?=^## |\Z)", text)
    (named,) = re.findall(r"`([\w/.]+)` is the shortest", recipe)
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in KINDS[kind]}
    assert ROOT / named == min(lengths, key=lengths.__getitem__), lengths


_TABLE = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("## Where a decision lives\n")[2].partition("\n## ")[0]
DECISIONS = dict(re.findall(r"(?m)^\| (an? [^|:,]*[^|:, ])[^|]* \| (.*`.*) \|$", _TABLE))
# What only a module that takes the decision holds.
SIGNS = {
    "a threshold": r">= threshold\b|\(1 - sensitivity\)|\[\"thresholds\"\]\[",
    "an operator": r"\bOperator\(",
    "a secret": r"\bos\.environ.*SECRET_VARIABLE",
    "a measure": r"\bscore_(i2b2|meddocan|tab|hipaa_tokens)\(",
    "a format of corpora": r"\b(by_note|annotators)=True",
}


def test_the_modules_of_a_decision_are_at_most_three() -> None:
    assert {*SIGNS, "a language", "a row of a table of results"} == DECISIONS.keys()
    for change, modules in DECISIONS.items():
        named = re.findall(r"`([^`]+)`", modules)
        assert len(named) <= 3, change
        assert all((ROOT / name).exists() for name in named), change


@pytest.mark.parametrize("change", SIGNS)
def test_no_other_module_takes_the_decision(change: str) -> None:
    named = tuple(re.findall(r"`([^`]+)`", DECISIONS[change]))
    found = {
        path.relative_to(ROOT).as_posix()
        for layer in ("features", "crfdeid", "rnn", "experiments")
        for path in (ROOT / layer).rglob("*.py")
        if re.search(SIGNS[change], path.read_text(encoding="utf-8"))
    }
    assert found, "the sign of a decision is in its module"
    assert {path for path in found if not path.startswith(named)} == set()

"""The recipes of CONTRIBUTING.md name the shortest module of each kind as an example."""

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

"""The shape of results.json: whole data are taken, and whatever part is gone or of another kind is named."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from samples import TYPES, rich_results

from experiments.results.checks import damage

WHOLE = rich_results(("crf", "elman-cbow"), (0,))


def test_whole_results_are_taken() -> None:
    assert list(damage(rich_results())) == []
    bare = {"embeddings": {}, "fractions": {}, "sweep": None, "significance": None}
    assert list(damage(rich_results(("crf",)) | bare)) == []


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in data, of each list the first alone."""
    if place:
        yield place
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from places(inner, (*place, name))
    elif isinstance(value, list) and value:
        yield from places(value[0], (*place, 0))


FREE = {("settings", "command"), ("settings", "models"), ("sweep", "points", 0, "values"), ("sweep", "chosen")}


def is_free(place: tuple[Any, ...]) -> bool:
    """Whether any value may stand there: settings and options are whatever a model and the command have."""
    return any(place[: len(free)] == free and len(place) > len(free) for free in FREE)


def thinned(value: Any) -> Any:
    """Data with one entry of each list, and one of what stands there by type of entity."""
    if isinstance(value, list):
        return [thinned(inner) for inner in value[:1]]
    if isinstance(value, dict):
        return {name: thinned(inner) for name, inner in value.items() if name not in TYPES[1:]}
    return value


def test_another_kind_of_value_anywhere_is_damage() -> None:
    found = thinned(rich_results(("elman-cbow",), (0,)))
    watched = [place for place in places(found) if not is_free(place)]
    assert len(watched) > 200
    for place in watched:
        *way, last = place
        inner = found
        for name in way:
            inner = inner[name]
        kept, inner[last] = inner[last], {"odd": None} if isinstance(inner[last], list) else []
        assert any(".".join(map(str, place)) in problem for problem in damage(found)), place
        inner[last] = kept


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda found: found["corpus"].update(test="held out"), "corpus.test names no split"),
        (lambda found: found["corpus"]["splits"].update(more=found["corpus"]["splits"]["dev"]), "splits.more is none"),
        (lambda found: found["models"]["crf"].update(runs=[]), "models.crf.runs is empty"),
        (lambda found: found["models"].clear(), "models is empty"),
        (lambda found: found["embeddings"].clear(), "models.elman-cbow.embedding is not among embeddings"),
    ],
)
def test_a_name_that_refers_to_nothing_is_damage(change: Any, says: str) -> None:
    damaged = copy.deepcopy(WHOLE)
    change(damaged)
    assert any(says in problem for problem in damage(damaged))

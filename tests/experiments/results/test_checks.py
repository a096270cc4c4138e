"""The shape of results.json: whole data are taken, and whatever part is gone or of another kind is named."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from samples import TYPES, as_results, rich_results, rich_view

from experiments.results.schema import damage

WHOLE = rich_results(("crf", "elman-cbow"), (0,))


def test_whole_results_are_taken() -> None:
    assert list(damage(rich_results())) == []
    bare = {"embeddings": {}, "fractions": [], "sweep": [], "comparison": None}
    assert list(damage(as_results(rich_view(("crf",)) | bare))) == []


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in data, of each list the first alone."""
    if place:
        yield place
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from places(inner, (*place, name))
    elif isinstance(value, list) and value:
        yield from places(value[0], (*place, 0))


FREE = {("command",), ("systems", "elman-cbow", "settings"), ("systems", "elman-cbow", "chosen"), ("runs", 0, "point")}


def is_free(place: tuple[Any, ...]) -> bool:
    """Whether any value may stand there: settings and options are whatever a model and the command have."""
    return any(place[: len(free)] == free and len(place) > len(free) for free in FREE)


def thinned(value: Any) -> Any:
    """Data with one entry of each list but of measurements, and one of what is there by type of entity."""
    if isinstance(value, list):
        return [thinned(inner) for inner in value[:1]]
    if isinstance(value, dict):
        whole = {"measurements": value["measurements"]} if "measurements" in value else {}
        return {name: thinned(inner) for name, inner in value.items() if name not in TYPES[1:]} | whole
    return value


def test_another_kind_of_value_anywhere_is_damage() -> None:
    found = thinned(as_results(rich_view(("elman-cbow",), (0,)) | {"sweep": []}))
    watched = [place for place in places(found) if not is_free(place)]
    assert len(watched) > 100
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
        (lambda found: found["datasets"]["invented"].update(test="held out"), "datasets.invented.test names no split"),
        (lambda found: found["datasets"]["invented"]["splits"].update(more={**SPLIT}), "splits.more is none"),
        (lambda found: found.update(runs=[run for run in found["runs"] if run["system"] != "crf"]), "none of crf"),
        (lambda found: found["systems"].clear(), "systems is empty"),
        (lambda found: found["systems"].pop("crf"), "system is not among systems"),
        (lambda found: found["embeddings"].clear(), "systems.elman-cbow.embedding is not among embeddings"),
        (lambda found: found["systems"]["crf"].update(trained_on="x"), "systems.crf.trained_on is not among datasets"),
        (lambda found: found["measurements"][-1].update(dataset="x"), "dataset is not among datasets"),
        (lambda found: found["measurements"][-1].update(seed=9), "is of none of the runs"),
        (lambda found: without(found, "token", "recall"), "measurements has no token recall"),
        (lambda found: without(found, "dev", "f1"), "measurements has no dev f1"),
        (lambda found: without(found, "time", "fit_seconds"), "measurements has no time fit_seconds"),
        (lambda found: found["comparisons"]["phi"]["pairs"][0].update(a="x"), "has a pair of other systems"),
        (lambda found: found.update(experiment="none"), "experiment is none of compare, joint, private, transfer"),
    ],
)
def test_a_name_that_refers_to_nothing_is_damage(change: Any, says: str) -> None:
    damaged = copy.deepcopy(WHOLE)
    change(damaged)
    assert any(says in problem for problem in damage(damaged))


SPLIT = WHOLE["datasets"]["invented"]["splits"]["dev"]


def without(results: dict[str, Any], kind: str, measure: str) -> None:
    results["measurements"] = [
        row for row in results["measurements"] if (row["kind"], row["measure"]) != (kind, measure)
    ]

"""Views of results: the systems scored on one dataset and annotation layer, the form that tables and plots read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from crfdeid.documents import CONCEPT, PHI
from crfdeid.label_schemes import in_order
from experiments.results.schema import is_plain

Results = Mapping[str, Any]
"""The content of results.json."""

View = Mapping[str, Any]
"""The return value of `view`."""

CONCEPT_ANNOTATED_TEXT = "concept_sourced"
"""Layer of the scores of concepts without regions that their annotators never saw."""

LAYERS = {PHI: "PHI", CONCEPT: "Concepts", CONCEPT_ANNOTATED_TEXT: "Concepts without unsourced text"}
"""Scored layer -> its name in tables."""


def view(
    results: Results, *, layer: str = PHI, systems: Iterable[str] | None = None, comparison: str | None = None
) -> View:
    """The systems scored in one annotation layer, each on the dataset that it was trained on.

    Args:
        results: the content of results.json.
        layer: the annotation layer of the evaluations.
        systems: names of systems; None for all. Those without evaluations in the layer are left out.
        comparison: name of the comparison of these systems; None for that of the layer's name.

    Returns:
        "dataset", the facts of the first system's dataset, with the layer's counts; "systems", name -> its entry with
        "runs", each joined with its evaluation; "fractions" and "sweep", likewise the runs on parts of the training
        documents and at points of a sweep; "comparison", or None; "embeddings", "environment", "command", "repair".
    """
    chosen = results["systems"] if systems is None else {name: results["systems"][name] for name in systems}
    joined = [
        {**run, **evaluation}
        for run in results["runs"]
        for evaluation in run["evaluations"]
        if run["system"] in chosen
        and (evaluation["dataset"], evaluation["layer"]) == (chosen[run["system"]]["trained_on"], layer)
    ]
    scored = {
        name: {**system, "runs": runs}
        for name, system in chosen.items()
        if (runs := [run for run in joined if run["system"] == name and is_plain(run)])
    }
    trained_on = next((system["trained_on"] for system in scored.values()), next(iter(results["datasets"])))
    return {
        **{name: results[name] for name in ("embeddings", "environment", "command", "repair")},
        "dataset": dataset_of_layer(results["datasets"][trained_on], layer),
        "systems": scored,
        "fractions": _fractions(results["datasets"][trained_on], joined),
        "sweep": [run for run in joined if run["point"]],
        "comparison": results["comparisons"].get(comparison or layer),
    }


def is_synthetic(results: Results) -> bool:
    """True where all texts are invented."""
    return all(dataset["format"] == "synthetic" for dataset in results["datasets"].values())


def _fractions(dataset: Mapping[str, Any], joined: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Every share of the training documents, with its size and its runs; none where there is only the whole."""
    runs = [run for run in joined if not run["point"]]
    return [
        {**size, "runs": [run for run in runs if run["fraction"] == size["fraction"]]}
        for size in dataset.get("fractions", [])
    ]


def dataset_of_layer(dataset: Mapping[str, Any], layer: str) -> dict[str, Any]:
    """Facts of a dataset with the counts of one of its annotation layers; unchanged for a dataset of PHI alone."""
    if not any("layers" in split for split in dataset["splits"].values()):
        return dict(dataset)
    layer = CONCEPT if layer == CONCEPT_ANNOTATED_TEXT else layer
    name = f"{dataset['name']}, {layer}"
    if layer == PHI:
        return {**dataset, "name": name}
    splits = {name: {**split, **split["layers"][layer]} for name, split in dataset["splits"].items()}
    types = in_order({label for split in splits.values() for label in split["spans_by_type"]})
    return {**dataset, "name": name, "splits": splits, "types": types, "type_map": "all"}

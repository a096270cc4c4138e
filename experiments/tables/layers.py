"""Results with several annotation layers, converted to results of one layer for tables and plots of a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from crfdeid.documents import CONCEPT, PHI
from crfdeid.label_schemes import in_order
from experiments.results.schema import COMPARE
from experiments.running.joint.systems import CONCEPT_ANNOTATED_TEXT
from experiments.tables.frames import Results

LAYERS = {PHI: "PHI", CONCEPT: "Concepts", CONCEPT_ANNOTATED_TEXT: "Concepts without unsourced text"}
"""Scored layer -> its name in tables."""


def of_layer(
    results: Results, layer: str, *, systems: Iterable[str] | None = None, scores: str | None = None
) -> Results:
    """Results of one layer, in the form of a comparison's.

    Args:
        results: of `experiments.joint`.
        layer: an annotation layer.
        systems: the systems; None for the compared ones. Systems without scores in the layer are left out.
        scores: the name of their scores, if it is not the layer's.
    """
    names = results["tables"]["compared"] if systems is None else systems
    name = scores or layer
    found = {one: results["models"][one] for one in names}
    models = {
        one: {**system, "runs": [_run(run, layer, name) for run in system["runs"]]}
        for one, system in found.items()
        if all(name in run["scores"] for run in system["runs"])
    }
    return {
        **results,
        "experiment": COMPARE,
        "corpus": corpus_of_layer(results["corpus"], layer),
        "settings": {**results["settings"], "models": {one: results["settings"]["models"][one] for one in models}},
        "models": models,
        "fractions": {},
        "sweep": None,
        "significance": results["significance"].get(name),
    }


def _run(run: Mapping[str, Any], layer: str, scores: str) -> dict[str, Any]:
    return {**run, **{name: run[name][layer] for name in ("dev_f1", "errors")}, "scores": run["scores"][scores]}


def corpus_of_layer(corpus: Mapping[str, Any], layer: str) -> dict[str, Any]:
    """The ``corpus`` part of results.json with the counts of a layer instead of those of PHI."""
    name = f"{corpus['name']}, {layer}"
    if layer == PHI:
        return {**corpus, "name": name}
    splits = {name: {**split, **split["layers"][layer]} for name, split in corpus["splits"].items()}
    types = in_order({label for split in splits.values() for label in split["spans_by_type"]})
    return {**corpus, "name": name, "splits": splits, "types": types, "type_map": "all"}

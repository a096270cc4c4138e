"""Shape of results.json, its validation, and views of it: the form that tables and plots read.

The shape is written like the data for `crfdeid.validation.shape_errors`. ``systems`` lists what was trained, ``runs``
each training of it, and a run's ``evaluations`` its scores, one for each dataset and annotation layer. Further entries
of an experiment are those of its `Extras`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from crfdeid.documents import CONCEPT, PHI
from crfdeid.evaluation import TAB_MEASURES
from crfdeid.label_schemes import in_order
from crfdeid.validation import shape_errors
from experiments import EXPERIMENTS

SCHEMA = 4
"""Value of the key ``schema``: version of the shape."""

SPLITS = ("train", "dev", "test")

Shape = Mapping[Any, Any]
Results = Mapping[str, Any]
"""The content of results.json."""

_SPLIT: Shape = {
    "documents": int,
    "sentences": int,
    "tokens": int,
    "spans": int,
    "spans_by_type": {str: int},
    "unaligned": int,  # spans that fit no tokens
}
_DATASET: Shape = {
    "name": str,
    "format": str,
    "type_map": str,
    "types": [str],
    "test": str,  # name of the scored split
    "notices": [str],
    "splits": {str: _SPLIT},
    "sha256": str,
    "fractions?": [{"fraction": float, "documents": int, "sentences": int, "tokens": int}],  # sizes of shares
}
_EMBEDDING: Shape = {
    "kind": str,
    "words": int,
    "dim": int,
    "subword_buckets": int,
    "out_of_vocabulary": {str: {"tokens": float, "types": float}},  # shares of a split
    "notices": [str],
    "fit_seconds": float,
}
_MEASURES: Shape = {"precision": float, "recall": float, "f1": float}
_COUNTS: Shape = {**_MEASURES, "tp": int, "fp": int, "fn": int}
_SCORED: Shape = {"micro": _COUNTS, "macro": _MEASURES, "by_type": {str: _COUNTS}}
_SHARE: Shape = {"count": int, "total": int, "low": float, "high": float}
_SCORES: Shape = {
    "entity_strict": _SCORED,
    "entity_relaxed": _SCORED,
    "token": _SCORED,
    "token_binary": _SCORED,
    "token_binary_hipaa?": _SCORED,  # where types say which identifier of HIPAA they are
    "tab?": dict.fromkeys(TAB_MEASURES, _SHARE),  # of documents with mentions of entities
}
_INTERVAL: Shape = {"f1": float, "low": float, "high": float}
COMPARISON: Shape = {
    "test": str,
    "permutations": int,
    "samples": int,
    "seed": int,
    "level": float,
    "measure": str,
    "pairs": [
        {
            "a": str,
            "b": str,
            "category": str,
            "f1_a": float,
            "f1_b": float,
            "difference": float,
            "low": float,
            "high": float,
            "p": float,
            "p_holm": float,
        }
    ],
    "intervals": {str: {str: _INTERVAL}},  # by system and category
}

_CATEGORIES = ("missed", "wrong", "boundary", "spurious")
_CAUSES: Shape = {category: {str: int} for category in _CATEGORIES}
_ERRORS: Shape = {
    "categories": dict.fromkeys(_CATEGORIES, int),
    "by_type": _CAUSES,
    "causes": _CAUSES,
    "confusions": [{"gold": str, "predicted": str, "count": int}],
}
_POINT: Shape = {  # without a required sensitivity, of the most probable tags
    "required": (float, None),
    "threshold": (float, None),
    "sensitivity": float,
    "ppv": float,
    "f1": float,
    "false_negatives_per_1000": float,
    "false_positives_per_1000": float,
}
_EVALUATION: Shape = {  # a point of a sweep has F on dev alone
    "dataset": str,
    "layer": str,
    "dev_f1?": float,
    "scores?": _SCORES,
    "errors?": _ERRORS,
    "missed?": {"tokens": int, "adjacent_found": int},  # unmarked tokens of PHI
    "operating_points?": [_POINT],
}
RUN: Shape = {
    "system": str,
    "seed": int,
    "fraction": float,
    "point": {str: Any},
    "fit_seconds": float,
    "predict_seconds?": float,
    "tokens_per_second?": float,
    "learning_curve": [{"step": int, "loss": (float, None), "dev_f1": (float, None)}],
    "evaluations": [_EVALUATION],
}
SYSTEM: Shape = {
    "model": str,
    "embedding": (str, None),
    "settings": {str: Any},
    "trained_on": str,
    "tags": [str],  # annotation layers
}
START: Shape = {
    "experiment": str,
    "schema": int,
    "command": {"profile": str, "seeds": [int]},
    "repair": str,
    "datasets": {str: _DATASET},
    "embeddings": {str: _EMBEDDING},
    "systems": {str: SYSTEM},
}
"""Entries that are known before the training."""
END: Shape = {
    "environment": {
        "python": str,
        "platform": str,
        "packages": {str: str},
        "commit": (str, None),
        "device": str,
        "cores": (int, None),
        "jobs": int,
        "corpus_seconds": float,
        "total_seconds": float,
    },
    "runs": [RUN],
    "comparisons": {str: COMPARISON},
}


@dataclass(frozen=True, kw_only=True)
class Extras:
    """Shapes of an experiment's own entries.

    Args:
        command: of the options that its report reads.
        system: in each system.
        run: in each run.
        check: function that yields the problems of the references of these entries.
    """

    command: Shape = field(default_factory=dict)
    system: Shape = field(default_factory=dict)
    run: Shape = field(default_factory=dict)
    check: Callable[[Results], Iterable[str]] = field(default=lambda results: ())


def damage(results: Any, *, started: bool = False) -> Iterator[str]:
    """Problems of the data of a results.json: of its shape, or else of its references; none for valid data.

    Args:
        results: the data.
        started: the data are those of an experiment before its training.
    """
    if not isinstance(results, dict) or results.get("experiment") not in [*EXPERIMENTS]:
        yield f"experiment is none of {', '.join(EXPERIMENTS)}"
        return
    extras: Extras = import_module(EXPERIMENTS[results["experiment"]]).EXTRAS
    shape = {
        **START,
        "command": {**START["command"], **extras.command},
        "systems": {str: SYSTEM if started else {**SYSTEM, **extras.system}},
    }
    if not started:
        shape |= {**END, "runs": [{**RUN, **extras.run}]}
    problems = list(shape_errors(results, shape)) or list(_loose_ends(results, started=started))
    yield from problems or ([] if started else extras.check(results))


def _loose_ends(results: Results, *, started: bool) -> Iterator[str]:
    for name, dataset in results["datasets"].items():
        yield from (
            f"datasets.{name}.splits.{split} is none of {', '.join(SPLITS)}"
            for split in {*dataset["splits"]} - {*SPLITS}
        )
        if dataset["test"] not in dataset["splits"]:
            yield f"datasets.{name}.test names no split"
    if not results["systems"]:
        yield "systems is empty"
    for name, system in results["systems"].items():
        if system["embedding"] not in (None, *results["embeddings"]):
            yield f"systems.{name}.embedding is not among embeddings"
        if system["trained_on"] not in results["datasets"]:
            yield f"systems.{name}.trained_on is not among datasets"
    if not started:
        yield from _loose_runs(results)


def _loose_runs(results: Results) -> Iterator[str]:
    """Systems without a whole run, and runs of no system or of no dataset."""
    for name in results["systems"].keys() - {run["system"] for run in results["runs"] if is_plain(run)}:
        yield f"runs has none of {name}"
    for number, run in enumerate(results["runs"]):
        if run["system"] not in results["systems"]:
            yield f"runs.{number}.system is not among systems"
        for place, evaluation in enumerate(run["evaluations"]):
            if evaluation["dataset"] not in results["datasets"]:
                yield f"runs.{number}.evaluations.{place}.dataset is not among datasets"
            if "scores" not in evaluation and not run["point"]:
                yield f"runs.{number}.evaluations.{place} has no scores"
    for name, comparison in results["comparisons"].items():
        if not {pair[side] for pair in comparison["pairs"] for side in "ab"} <= results["systems"].keys():
            yield f"comparisons.{name} has a pair of other systems"


def is_plain(run: Mapping[str, Any]) -> bool:
    """True for a run of a system as compared: all training data, no point of a sweep."""
    return run["fraction"] == 1.0 and not run["point"]


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

"""Shape of results.json, and its validation.

The shape is written like the data for `crfdeid.validation.shape_errors`. ``systems`` lists what was trained, ``runs``
each training of it, and ``measurements`` all numbers of the runs (`experiments.results.measurements`). Further entries
of an experiment are those of its `Extras`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from crfdeid.documents import CONCEPT, PHI
from crfdeid.validation import shape_errors
from experiments import EXPERIMENTS
from experiments.results.measurements import OVERALL, point_name

SCHEMA = 5
"""Value of the key ``schema``: version of the shape."""

SPLITS = ("train", "dev", "test")

Shape = Mapping[Any, Any]
Results = Mapping[str, Any]
"""The content of results.json."""

_SPLIT: Shape = {
    **dict.fromkeys(("documents", "sentences", "tokens", "spans", "unaligned"), int),  # unaligned: fit no tokens
    "spans_by_type": {str: int},
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
COMPARISON: Shape = {
    "test": str,
    "permutations": int,
    "samples": int,
    "seed": int,
    "level": float,
    "measure": str,
    "pairs": [
        {
            **dict.fromkeys(("a", "b", "category"), str),
            **dict.fromkeys(("f1_a", "f1_b", "difference", "low", "high", "p", "p_holm"), float),
        }
    ],
    "intervals": {str: {str: dict.fromkeys(("f1", "low", "high"), float)}},  # by system and category
}

MEASUREMENT: Shape = {  # `experiments.results.measurements`
    "dataset": str,
    "layer": str,
    "kind": str,
    "measure": str,
    "category": str,
    "value": (float, None),
}
RUN: Shape = {
    "system": str,
    "seed": int,
    "fraction": float,
    "point": {str: Any},
    "learning_curve": [{"step": int, "loss": (float, None), "dev_f1": (float, None)}],
    "device?": str,
}
RECORD: Shape = {**RUN, "measurements": [MEASUREMENT]}
"""A run with its measurements: the content of the file of a finished cell."""
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
    "measurements": [{"system": str, "seed": int, "fraction": float, "point": str, **MEASUREMENT}],
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


_SCORED = {
    *(
        (kind, measure)
        for kind in ("entity_strict", "entity_relaxed", "token", "token_binary")
        for measure in ("precision", "recall", "f1", "tp", "fp", "fn")
    ),
    *(("time", measure) for measure in ("fit_seconds", "predict_seconds", "tokens_per_second")),
}
"""Kinds and measures of every run but those of a sweep, which have F on dev alone."""


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
    """Systems without a whole run, runs without scores, and measurements of no run or of no dataset."""
    for name in results["systems"].keys() - {run["system"] for run in results["runs"] if is_plain(run)}:
        yield f"runs has none of {name}"
    of_run: dict[tuple[Any, ...], set[Any]] = {}
    for number, run in enumerate(results["runs"]):
        of_run[run["system"], run["seed"], run["fraction"], point_name(run["point"])] = set()
        if run["system"] not in results["systems"]:
            yield f"runs.{number}.system is not among systems"
    for number, row in enumerate(results["measurements"]):
        found = of_run.get((row["system"], row["seed"], row["fraction"], row["point"]))
        if found is None:
            yield f"measurements.{number} is of none of the runs"
        elif row["dataset"] not in ("", *results["datasets"]):
            yield f"measurements.{number}.dataset is not among datasets"
        elif row["category"] == OVERALL and row["value"] is not None:
            found.add((row["kind"], row["measure"]))
    for number, run in enumerate(results["runs"]):
        found = of_run[run["system"], run["seed"], run["fraction"], point_name(run["point"])]
        lacking = (_SCORED if not run["point"] else {("dev", "f1")}) - found
        yield from (f"measurements has no {kind} {measure} of runs.{number}" for kind, measure in sorted(lacking))
    for name, comparison in results["comparisons"].items():
        if not {pair[side] for pair in comparison["pairs"] for side in "ab"} <= results["systems"].keys():
            yield f"comparisons.{name} has a pair of other systems"


def is_plain(run: Mapping[str, Any]) -> bool:
    """True for a run of a system as compared: all training data, no point of a sweep."""
    return run["fraction"] == 1.0 and not run["point"]


CONCEPT_ANNOTATED_TEXT = "concept_sourced"
"""Layer of the scores of concepts without regions that their annotators never saw."""

LAYERS = {PHI: "PHI", CONCEPT: "Concepts", CONCEPT_ANNOTATED_TEXT: "Concepts without unsourced text"}
"""Scored layer -> its name in tables."""


def is_synthetic(results: Results) -> bool:
    """True where all texts are invented."""
    return all(dataset["format"] == "synthetic" for dataset in results["datasets"].values())

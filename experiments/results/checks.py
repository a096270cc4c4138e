"""Kind of experiment that results are of, and validation of results.json."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from crfdeid.validation import shape_errors
from experiments.results.schema import COMPARE, JOINT, SHAPES, SPLITS, TRANSFER


def damage(results: Any) -> Iterator[str]:
    """Problems of the data of a results.json: of its shape, or else of its references; none for valid data."""
    kind = kind_of(results)
    problems = list(shape_errors(results, SHAPES[kind]))
    yield from problems or _loose_ends(results)
    if not problems and kind in _OWN_LOOSE_ENDS:
        yield from _OWN_LOOSE_ENDS[kind](results)


def kind_of(results: Any) -> str:
    """The experiment that results are of, a key of `experiments.results.schema.SHAPES`; a comparison without one."""
    found = results.get("experiment") if isinstance(results, Mapping) else None
    return found if isinstance(found, str) and found in SHAPES else COMPARE


def _loose_ends(results: Mapping[str, Any]) -> Iterator[str]:
    if results["experiment"] not in SHAPES:
        yield f"experiment is none of {', '.join(SHAPES)}"
    for name, corpus in {"corpus": results["corpus"], **results.get("corpora", {})}.items():
        yield from (
            f"{name}.splits.{split} is none of {', '.join(SPLITS)}" for split in {*corpus["splits"]} - {*SPLITS}
        )
        if corpus["test"] not in corpus["splits"]:
            yield f"{name}.test names no split"
    if not results["models"]:
        yield "models is empty"
    for name, system in results["models"].items():
        if not system["runs"]:
            yield f"models.{name}.runs is empty"
        if system.get("embedding") not in (None, *results["embeddings"]):
            yield f"models.{name}.embedding is not among embeddings"


def _loose_joint_ends(results: Mapping[str, Any]) -> Iterator[str]:
    systems, tables = results["models"], results["tables"]
    if not tables["compared"]:
        yield "tables.compared is empty"
    for name in [*tables["compared"], *tables["table_4"].values(), *tables["table_5"]]:
        if name not in systems:
            yield f"tables name {name}, which is not among models"
        elif any(
            "concept" not in run[part] for run in systems[name]["runs"] for part in ("scores", "errors", "dev_f1")
        ):
            yield f"models.{name} has a run without concepts"
    if not {*results["layers"]} <= results["significance"].keys():
        yield "significance lacks a layer"


def _loose_transfer_ends(results: Mapping[str, Any]) -> Iterator[str]:
    for name, system in results["models"].items():
        for part in ("matrix", "scores"):
            tested = results[part].get(system["label"], {}).get(system["trained_on"], {})
            if list(tested) != list(results["corpora"]):
                yield f"{part} lacks a corpus for {name}"


_OWN_LOOSE_ENDS: Mapping[str, Callable[[Mapping[str, Any]], Iterator[str]]] = {
    JOINT: _loose_joint_ends,
    TRANSFER: _loose_transfer_ends,
}

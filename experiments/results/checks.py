"""Kind of experiment that results are of, and validation of results.json."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from crfdeid.validation import shape_errors
from experiments.results.schema import COMPARE, JOINT, PRIVATE, SHAPES, SPLITS, TRANSFER


def damage(results: Any) -> Iterator[str]:
    """Problems of the data of a results.json: of its shape, or else of its references; none for valid data."""
    kind = kind_of(results)
    yield from list(shape_errors(results, SHAPES[kind])) or _LOOSE_ENDS[kind](results)


def kind_of(results: Any) -> str:
    """The experiment that results are of, a key of `experiments.results.schema.SHAPES`; a comparison without one."""
    found = results.get("experiment") if isinstance(results, Mapping) else None
    return found if isinstance(found, str) and found in SHAPES else COMPARE


def _loose_ends(results: Mapping[str, Any]) -> Iterator[str]:
    splits, systems = results["corpus"]["splits"], results["models"]
    if results["experiment"] not in SHAPES:
        yield f"experiment is none of {', '.join(SHAPES)}"
    yield from (f"corpus.splits.{name} is none of {', '.join(SPLITS)}" for name in splits if name not in SPLITS)
    if results["corpus"]["test"] not in splits:
        yield "corpus.test names no split"
    if not systems:
        yield "models is empty"
    yield from _loose_systems(results, "models")


def _loose_systems(results: Mapping[str, Any], part: str) -> Iterator[str]:
    for name, system in results[part].items():
        if not system["runs"]:
            yield f"{part}.{name}.runs is empty"
        if system["embedding"] not in (None, *results["embeddings"]):
            yield f"{part}.{name}.embedding is not among embeddings"


def _loose_joint_ends(results: Mapping[str, Any]) -> Iterator[str]:
    systems, tables = results["systems"], results["tables"]
    if results["corpus"]["test"] not in results["corpus"]["splits"]:
        yield "corpus.test names no split"
    if not tables["compared"]:
        yield "tables.compared is empty"
    yield from _loose_systems(results, "systems")
    for name in [*tables["compared"], *tables["table_4"].values(), *tables["table_5"]]:
        if name not in systems:
            yield f"tables name {name}, which is not among systems"
        elif any(
            "concept" not in run[part] for run in systems[name]["runs"] for part in ("scores", "errors", "dev_f1")
        ):
            yield f"systems.{name} has a run without concepts"
    if not {*results["layers"]} <= results["significance"].keys():
        yield "significance lacks a layer"


def _loose_transfer_ends(results: Mapping[str, Any]) -> Iterator[str]:
    corpora, systems = results["corpora"], results["models"]
    if not systems:
        yield "models is empty"
    for name, system in systems.items():
        if not system["runs"]:
            yield f"models.{name}.runs is empty"
        for part in ("matrix", "scores"):
            if list(results[part].get(system["label"], {}).get(system["trained_on"], {})) != list(corpora):
                yield f"{part} lacks a corpus for {name}"
    for name, corpus in {**corpora, "of all": results["corpus"]}.items():
        if corpus["test"] not in corpus["splits"]:
            yield f"corpus {name}: test names no split"


_LOOSE_ENDS: Mapping[str, Callable[[Mapping[str, Any]], Iterator[str]]] = {
    COMPARE: _loose_ends,
    PRIVATE: _loose_ends,
    JOINT: _loose_joint_ends,
    TRANSFER: _loose_transfer_ends,
}

"""Kind of experiment that results are of, and validation of results.json."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from crfdeid.validation import shape_errors
from experiments.results.schema import (
    JOINT,
    JOINT_SCHEMA,
    PRIVATE,
    PRIVATE_SCHEMA,
    SCHEMA,
    TRANSFER,
    TRANSFER_SCHEMA,
    JointResultsPart,
    PrivateResultsPart,
    ResultsPart,
    TransferResultsPart,
)
from experiments.results.schema_parts import SPLITS


def damage(results: Any) -> Iterator[str]:
    """Problems of the data of a results.json: of its shape, or else of its references; none for valid data."""
    form = _FORMS[kind_of(results)]
    yield from list(shape_errors(results, form.shape)) or form.loose_ends(results)


def kind_of(results: Any) -> str | None:
    """The experiment that results are of; None for a comparison."""
    found = results.get("experiment") if isinstance(results, Mapping) else None
    return found if isinstance(found, str) and found in _FORMS else None


def schema_of(results: Any) -> int:
    """Version of the shape of results of this kind."""
    return _FORMS[kind_of(results)].schema


def is_private(results: Any) -> bool:
    """Test for results of the experiment on private training data."""
    return kind_of(results) == PRIVATE


def is_joint(results: Any) -> bool:
    """Test for results of the experiment on PHI and concepts."""
    return kind_of(results) == JOINT


def is_transfer(results: Any) -> bool:
    """Test for results of the experiment on transfer."""
    return kind_of(results) == TRANSFER


def _loose_ends(results: Mapping[str, Any]) -> Iterator[str]:
    splits, systems = results["corpus"]["splits"], results["models"]
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


class _Form(NamedTuple):
    schema: int
    shape: Any
    loose_ends: Callable[[Mapping[str, Any]], Iterator[str]]


_FORMS = {
    None: _Form(SCHEMA, ResultsPart, _loose_ends),
    PRIVATE: _Form(PRIVATE_SCHEMA, PrivateResultsPart, _loose_ends),
    JOINT: _Form(JOINT_SCHEMA, JointResultsPart, _loose_joint_ends),
    TRANSFER: _Form(TRANSFER_SCHEMA, TransferResultsPart, _loose_transfer_ends),
}

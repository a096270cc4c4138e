"""A saved model: ``model.json``, which describes it, beside one file of weights that the description vouches for.

Both are data: loading runs no code from them. The weights are read only when their size and checksum are those of the
description, so a damaged, truncated or exchanged file is refused before anything parses it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from crfdeid.errors import DataError, UsageError
from crfdeid.secrets import hash_word

DESCRIPTION = "model.json"
READABLE, HASHED = "readable", "hashed"
"""What a description says of the words in it and in the weights."""

_KEY_CHECK = "crfdeid private vocabulary"
RETRAIN = "train it again, or copy the folder whole"


def save_model(
    folder: Path,
    *,
    model: str,
    schema: int,
    file: str,
    weights: bytes,
    libraries: tuple[str, ...],
    key: bytes | None,
    **facts: Any,
) -> None:
    """Write a model's weights, then its description.

    Args:
        folder: where to; made if need be.
        model: the model's name in `crfdeid.models.MODELS`.
        schema: the version of what the model's files mean.
        file: the weights' file name.
        weights: its content.
        libraries: the distributions whose versions are recorded.
        key: what the words in ``weights`` and ``facts`` are hashed with; None where they can be read.
        facts: what else the model needs to be built again, as JSON data.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / file).write_bytes(weights)
    description = {
        "model": model,
        "schema": schema,
        "weights": _fingerprint(file, weights),
        "vocabulary": READABLE if key is None else HASHED,
        "key_check": None if key is None else hash_word(_KEY_CHECK, key),
        "versions": {name: version(name) for name in ("crfdeid", *libraries)},
        **facts,
    }
    description["sha256"] = description_checksum(description)
    (folder / DESCRIPTION).write_text(json.dumps(description, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read_description(folder: Path) -> dict[str, Any]:
    """What ``model.json`` says; "model" is a text in it.

    Raises:
        DataError: the folder holds no model's description.
    """
    path = folder / DESCRIPTION
    try:
        description = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise DataError("no such file: this folder holds no saved model", path=path) from None
    except (OSError, ValueError, RecursionError):
        raise DataError(f"not a saved model's description: {RETRAIN}", path=path) from None
    if not (isinstance(description, dict) and isinstance(description.get("model"), str)):
        raise DataError(f"not a saved model's description: {RETRAIN}", path=path)
    return description


class Saved(NamedTuple):
    """A model as `save_model` wrote it.

    Attributes:
        description: what ``model.json`` says.
        weights: the content of the other file.
        key: what the words are hashed with; None where they can be read.
    """

    description: Mapping[str, Any]
    weights: bytes
    key: bytes | None


def load_model(folder: Path, *, model: str, schema: int, file: str, key: bytes | None) -> Saved:
    """A model's description and its weights, known to be the ones that were written.

    Args:
        folder: the model's.
        model: its name in `crfdeid.models.MODELS`.
        schema: the version of what its files mean.
        file: the weights' file name.
        key: what its words were hashed with; not looked at where they can be read.

    Raises:
        DataError: there is no such model, it is of another kind or version, or it is damaged.
        UsageError: its words are hashed, and the key is missing or another one.
    """
    description = read_description(folder)
    if (description["model"], description.get("schema")) != (model, schema):
        problem = f"not a model of the kind '{model}' and of this version (schema {schema}): {RETRAIN}"
        raise DataError(problem, path=folder / DESCRIPTION)
    if description.get("sha256") != description_checksum(description):
        raise damaged(folder)
    path = folder / file
    try:
        weights = path.read_bytes()
    except OSError:
        raise DataError(f"the model's weights cannot be read: {RETRAIN}", path=path) from None
    if _fingerprint(file, weights) != description.get("weights"):
        raise DataError(f"the model's weights are damaged or belong to another model: {RETRAIN}", path=path)
    return Saved(description, weights, _checked_key(folder, description, key))


def is_private(folder: Path) -> bool:
    """Whether a model's words are stored as keyed hashes, so that a key is needed to load it.

    Raises:
        DataError: the folder holds no model.
    """
    return read_description(folder).get("vocabulary") == HASHED


def _checked_key(folder: Path, description: Mapping[str, Any], key: bytes | None) -> bytes | None:
    if description.get("vocabulary") == READABLE:
        return None
    if key is None:
        raise UsageError(f"{folder}: this model's words are keyed hashes: give the secret that it was trained with")
    if hash_word(_KEY_CHECK, key) != description.get("key_check"):
        raise UsageError(f"{folder}: not the secret that this model was trained with: give that one")
    return key


def description_checksum(description: Mapping[str, Any]) -> str:
    """What a description's field "sha256" must be: the checksum of all its other fields."""
    others = {name: value for name, value in description.items() if name != "sha256"}
    return hashlib.sha256(json.dumps(others, sort_keys=True).encode()).hexdigest()


def names_of(value: Any) -> tuple[str, ...]:
    """A description's list of different names, such as its tags.

    Raises:
        ValueError: it is something else.
    """
    if not (isinstance(value, list) and all(isinstance(name, str) for name in value) and len(set(value)) == len(value)):
        raise ValueError("not a list of different names")
    return tuple(value)


def damaged(folder: Path) -> DataError:
    """The error for a description that lacks what its model needs."""
    return DataError(f"the model's description is damaged: {RETRAIN}", path=folder / DESCRIPTION)


def _fingerprint(file: str, weights: bytes) -> dict[str, Any]:
    return {"file": file, "bytes": len(weights), "sha256": hashlib.sha256(weights).hexdigest()}

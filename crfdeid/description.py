"""The description of a saved model, ``model.json``: what every one holds, and what ties the weights beside it to it.

It holds its own checksum (`crfdeid.sealed`), and the size and checksum of the weights, which are read only when they
are those: a damaged, truncated or exchanged file is refused before anything parses it. It also tells which other files
are the model's. Any further file in the folder is refused, because no checksum covers it.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable, Mapping
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, TypedDict, TypeVar

from crfdeid.errors import DataError, UsageError
from crfdeid.sealed import RETRAIN, read_sealed, sealed
from crfdeid.shapes import problems
from crfdeid.system.files import open_file, write_files
from crfdeid.system.folders import LOCK

DESCRIPTION = "model.json"
BESIDE = {"card": "card.json", "site": "site.json", "attacks": "attacks.json"}
"""The other files of a model, by the field of its description that says that it has one."""
OF_SYSTEMS = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})
"""Files that desktops put into a folder that is looked at. Nothing reads them, so a model's folder may hold them."""
READABLE, HASHED, PUBLIC = "readable", "hashed", "public"
"""What a description says of the words in it and in the weights: those of the notes that the model learned from, keyed
hashes of them, or words that were public before."""

_Settings = TypeVar("_Settings")

# What reading a file that its writer did not mean like this can raise: json, numpy.load, zipfile and our own checks.
DAMAGE = (
    KeyError,
    TypeError,
    ValueError,
    EOFError,
    OverflowError,
    RecursionError,
    NotImplementedError,
    zipfile.BadZipFile,
)


class WeightsPart(TypedDict):
    """The file of weights."""

    file: str
    bytes: int
    sha256: str


class Description(TypedDict):
    """What every description holds. Each kind of model has more."""

    model: str
    schema: int
    weights: WeightsPart
    vocabulary: str
    versions: dict[str, str]
    seed: int
    settings: dict[str, Any]


def read_description(folder: Path) -> dict[str, Any]:
    """What ``model.json`` says; "model" is a text in it.

    Raises:
        DataError: the folder holds no model's description, or a damaged one.
    """
    path = folder / DESCRIPTION
    try:
        description = read_sealed(path, "saved model's description")
    except (FileNotFoundError, NotADirectoryError):
        raise DataError("no such file: this folder holds no saved model", path=path) from None
    if next(problems(description, Description), None) is not None:
        raise damaged(folder)
    return description


def read_settings(folder: Path, description: Mapping[str, Any], settings_class: Callable[..., _Settings]) -> _Settings:
    """The settings that a description holds.

    Raises:
        DataError: they are not those of such a model, or cannot work.
    """
    try:
        return settings_class(**description["settings"])
    except UsageError as problem:  # such as a feature set that was not added here
        raise DataError(f"the model's settings cannot work here: {problem}", path=folder / DESCRIPTION) from None
    except DAMAGE:
        raise damaged(folder) from None


def verify(folder: Path) -> dict[str, Any]:
    """A model's description, known to be whole, and to be that of the weights beside it.

    It needs no key, and builds no model.

    Raises:
        DataError: the folder holds no model, or a damaged one.
    """
    description = read_description(folder)
    file = description["weights"]["file"]
    if file != Path(file).name:
        raise damaged(folder)
    require_only(folder, description)
    checked_weights(folder, description, file)
    return description


def require_only(folder: Path, description: Mapping[str, Any]) -> None:
    """Refuse a model's folder that holds a file, or a folder, which its description does not name.

    Raises:
        DataError: it does; the error names the first one.
    """
    known = {DESCRIPTION, description["weights"]["file"], *OF_SYSTEMS, LOCK}
    known.update(file for field, file in BESIDE.items() if field in description)
    try:
        extra = sorted(path for path in folder.iterdir() if path.name not in known)
    except OSError as error:
        raise DataError(f"the model's folder cannot be listed: {error.strerror}", path=folder) from None
    if extra:
        raise DataError("no file of this model, and covered by no checksum of it: move it elsewhere", path=extra[0])


def declare(folder: Path, **facts: Any) -> dict[str, Any]:
    """Add facts to the description of a saved model, such as what else lies in its folder; the new description.

    Raises:
        DataError: the folder holds no model, or its description cannot be written.
    """
    description = read_description(folder) | facts
    write_files({folder / DESCRIPTION: sealed(description)})
    return read_description(folder)


def is_private(folder: Path) -> bool:
    """Whether a model's words are stored as keyed hashes, so that a key is needed to load it.

    Raises:
        DataError: the folder holds no model.
    """
    return read_description(folder)["vocabulary"] == HASHED


def damaged(folder: Path) -> DataError:
    """The error for a description that lacks what its model needs."""
    return DataError(f"the model's description is damaged: {RETRAIN}", path=folder / DESCRIPTION)


class MappedFile(mmap):
    """A mapped file that can be read as a file too."""

    def seekable(self) -> bool:
        """Yes; `zipfile` asks, and Python's own class answers from 3.13 on."""
        return True


def checked_weights(folder: Path, description: Mapping[str, Any], file: str) -> MappedFile:
    """The file of weights, mapped: what is read of it comes from the disk. It is known to be that of the description.

    Raises:
        DataError: it cannot be read, or is another one.
    """
    path, problem = folder / file, f"the model's weights are damaged or belong to another model: {RETRAIN}"
    try:
        weights = mapped(path)
    except OSError:
        raise DataError(f"the model's weights cannot be read: {RETRAIN}", path=path) from None
    except DataError:
        raise
    except ValueError:  # an empty file cannot be mapped
        raise DataError(problem, path=path) from None
    if fingerprint(file, weights) != description["weights"]:
        raise DataError(problem, path=path)
    return weights


def mapped(path: Path) -> MappedFile:
    """A file, mapped.

    Raises:
        OSError: it cannot be read.
        DataError: it is a pipe, a socket or a device.
        ValueError: it is empty, and cannot be mapped.
    """
    with open_file(path) as stream:
        return MappedFile(stream.fileno(), 0, access=ACCESS_READ)


def fingerprint(file: str, weights: bytes | MappedFile) -> dict[str, Any]:
    """What a description says of a file of weights: its name, size and checksum."""
    return {"file": file, "bytes": len(weights), "sha256": hashlib.sha256(weights).hexdigest()}

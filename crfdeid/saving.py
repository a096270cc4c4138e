"""A saved model: ``model.json``, which describes it, beside one file of weights, whose size and checksum it holds.

Both are data: loading runs no code from them. The description holds its own checksum too (`crfdeid.sealed`). The
weights are read only when their size and checksum are those of the description, so a damaged, truncated or exchanged
file is refused before anything parses it. `crfdeid.model_card.card` adds a card, which names the description.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypedDict, TypeVar

import numpy as np

from crfdeid.errors import DataError, UsageError
from crfdeid.sealed import RETRAIN, read_sealed, sealed
from crfdeid.secrets import hash_word
from crfdeid.shapes import problems
from crfdeid.system.files import write_files
from crfdeid.system.folders import make_private

DESCRIPTION = "model.json"
READABLE, HASHED, PUBLIC = "readable", "hashed", "public"
"""What a description says of the words in it and in the weights: those of the notes that the model learned from, keyed
hashes of them, or words that were public before."""

_KEY_CHECK = "crfdeid private vocabulary"
_Settings = TypeVar("_Settings")

# What reading a file that its writer did not mean like this can raise: json, numpy.load, zipfile and our own checks.
_DAMAGE = (
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


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """The files of one kind of model.

    Args:
        model: the model's name in `crfdeid.models.MODELS`.
        schema: the version of what its files mean.
        file: the name of its file of weights.
        libraries: the distributions whose versions are recorded.
        words_are: what the description says of words that are not hashed.
    """

    model: str
    schema: int
    file: str
    libraries: tuple[str, ...] = ()
    words_are: str = READABLE

    def save(self, folder: Path, weights: bytes, *, settings: Any, seed: int, key: bytes | None, **facts: Any) -> None:
        """Write a model's weights, then its description; only their owner can read them.

        Args:
            folder: where to; made if need be.
            weights: the content of the file of weights.
            settings: the dataclass of the model's settings, which are JSON data.
            seed: what the model was built with.
            key: what the words in ``weights`` and ``facts`` are hashed with; None where they can be read.
            facts: what else the model needs to be built again, as JSON data.

        Raises:
            DataError: they cannot be written.
        """
        make_private(folder)
        description = {
            "model": self.model,
            "schema": self.schema,
            "weights": _fingerprint(self.file, weights),
            "vocabulary": self.words_are if key is None else HASHED,
            "key_check": None if key is None else hash_word(_KEY_CHECK, key),
            "versions": {name: version(name) for name in ("crfdeid", *self.libraries)},
            "seed": seed,
            "settings": dataclasses.asdict(settings),
            **facts,
        }
        write_files({folder / self.file: weights, folder / DESCRIPTION: sealed(description)})

    def load(self, folder: Path, *, key: bytes | None) -> SavedModel:
        """A model's description and its weights, known to be the ones that were written.

        Args:
            folder: the model's.
            key: what its words were hashed with; not looked at where they can be read.

        Raises:
            DataError: there is no such model, it is of another kind or version, or it is damaged.
            UsageError: its words are hashed, and the key is missing or another one.
        """
        description = read_description(folder)
        if (description["model"], description["schema"]) != (self.model, self.schema):
            problem = f"not a model of the kind '{self.model}' and of this version (schema {self.schema}): {RETRAIN}"
            raise DataError(problem, path=folder / DESCRIPTION)
        weights = _checked_weights(folder, description, self.file)
        return SavedModel(folder, description, weights, _checked_key(folder, description, key))


@dataclass(frozen=True, slots=True)
class SavedModel:
    """A model as `ModelFiles.save` wrote it. What in it does not fit together is refused as damage.

    Attributes:
        folder: where it lies.
        description: what ``model.json`` says.
        weights: the content of the other file.
        key: what the words are hashed with; None where they can be read.

    Example:
        In a tagger's ``load``::

            saved = _FILES.load(folder, key=key)
            tagger = cls(saved.settings(CrfSettings), seed=saved.seed)
            with saved.refusing_damage():
                tagger._learned = CrfWeights.read(saved.names("tags"), saved.arrays(), saved.key)
    """

    folder: Path
    description: Mapping[str, Any]
    weights: bytes
    key: bytes | None

    @contextmanager
    def refusing_damage(self) -> Iterator[None]:
        """Turn what goes wrong with foreign data into a `DataError` about this model.

        A `UsageError` is let through: what the model needs may be missing here, though its files are whole.
        """
        try:
            yield
        except UsageError:
            raise
        except _DAMAGE:
            raise damaged(self.folder) from None

    def settings(self, settings_class: Callable[..., _Settings]) -> _Settings:
        """The model's settings.

        Raises:
            DataError: they are not those of such a model, or cannot work.
        """
        return read_settings(self.folder, self.description, settings_class)

    @property
    def seed(self) -> int:
        """The seed the model was built with.

        Raises:
            DataError: the description has none.
        """
        with self.refusing_damage():
            return int(self.description["seed"])

    def names(self, field: str) -> tuple[str, ...]:
        """The description's list of different names, such as its tags.

        Raises:
            KeyError: there is none.
            ValueError: it is something else.
        """
        return different_names(self.description[field])

    def arrays(self) -> dict[str, np.ndarray]:
        """The weights, where `pack_arrays` packed them.

        Raises:
            ValueError, EOFError, zipfile.BadZipFile: they are no such file.
        """
        with np.load(io.BytesIO(self.weights), allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}


def different_names(value: Any) -> tuple[str, ...]:
    """A list of different names, such as a model's tags, out of JSON data.

    Raises:
        ValueError: it is something else.
    """
    texts = isinstance(value, list) and all(isinstance(name, str) for name in value)
    if not texts or len(set(value)) != len(value):
        raise ValueError("not a list of different names")
    return tuple(value)


def pack_arrays(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Arrays as the content of one ``.npz`` file."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


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
    except _DAMAGE:
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
    _checked_weights(folder, description, file)
    return description


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


def _checked_key(folder: Path, description: Mapping[str, Any], key: bytes | None) -> bytes | None:
    if description["vocabulary"] in (READABLE, PUBLIC):
        return None
    if key is None:
        raise UsageError(f"{folder}: this model's words are keyed hashes: give the secret that it was trained with")
    if hash_word(_KEY_CHECK, key) != description.get("key_check"):
        raise UsageError(f"{folder}: not the secret that this model was trained with: give that one")
    return key


def damaged(folder: Path) -> DataError:
    """The error for a description that lacks what its model needs."""
    return DataError(f"the model's description is damaged: {RETRAIN}", path=folder / DESCRIPTION)


def _checked_weights(folder: Path, description: Mapping[str, Any], file: str) -> bytes:
    path = folder / file
    try:
        weights = path.read_bytes()
    except OSError:
        raise DataError(f"the model's weights cannot be read: {RETRAIN}", path=path) from None
    if _fingerprint(file, weights) != description["weights"]:
        raise DataError(f"the model's weights are damaged or belong to another model: {RETRAIN}", path=path)
    return weights


def _fingerprint(file: str, weights: bytes) -> dict[str, Any]:
    return {"file": file, "bytes": len(weights), "sha256": hashlib.sha256(weights).hexdigest()}

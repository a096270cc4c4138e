"""Saved models: ``model.json`` with its own checksum, and one file of weights that it covers.

Both are data: loading runs no code from them. The weights are parsed only after their size and checksum match, and a
folder that holds a file which no checksum covers is refused."""

from __future__ import annotations

import dataclasses
import hashlib
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, TypedDict, TypeVar

import numpy as np

from crfdeid.errors import DataError, UsageError
from crfdeid.secrets import hash_word
from crfdeid.utils.files import Write, open_file, write_files, write_stream
from crfdeid.utils.folders import LOCK_FILE, make_private
from crfdeid.utils.json import RETRAIN, dump_with_checksum, read_with_checksum
from crfdeid.validation import FOLDER_SETTINGS, shape_errors

MODEL_FILE = "model.json"
OPTIONAL_FILES = {"card": "card.json", "site": "site.json", "attacks": "attacks.json"}
"""The other files of a model, by the field of its description that says that it has one."""
DESKTOP_FILES = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})
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
    path = folder / MODEL_FILE
    try:
        description = read_with_checksum(path, "saved model's description")
    except (FileNotFoundError, NotADirectoryError):
        raise DataError("no such file: this folder holds no saved model", path=path) from None
    if next(shape_errors(description, Description), None) is not None:
        raise damaged_model(folder)
    return description


def read_settings(folder: Path, description: Mapping[str, Any], settings_class: Callable[..., _Settings]) -> _Settings:
    """The settings that a description holds.

    Raises:
        DataError: they are not those of such a model, or cannot work.
    """
    try:
        return settings_class(**description["settings"])
    except UsageError as problem:  # such as a feature set that was not added here
        raise DataError(f"the model's settings cannot work here: {problem}", path=folder / MODEL_FILE) from None
    except DAMAGE:
        raise damaged_model(folder) from None


def verify(folder: Path) -> dict[str, Any]:
    """A model's description, known to be whole, and to be that of the weights beside it.

    It needs no key, and builds no model.

    Raises:
        DataError: the folder holds no model, or a damaged one.
    """
    description = read_description(folder)
    file = description["weights"]["file"]
    if file != Path(file).name:
        raise damaged_model(folder)
    _require_only(folder, description)
    _checked_weights(folder, description, file)
    return description


def _require_only(folder: Path, description: Mapping[str, Any]) -> None:
    """Refuse a model's folder that holds a file, or a folder, which its description does not name.

    Raises:
        DataError: it does; the error names the first one.
    """
    known = {MODEL_FILE, description["weights"]["file"], *DESKTOP_FILES, LOCK_FILE}
    known.update(file for field, file in OPTIONAL_FILES.items() if field in description)
    try:
        extra = sorted(path for path in folder.iterdir() if path.name not in known)
    except OSError as error:
        raise DataError(f"the model's folder cannot be listed: {error.strerror}", path=folder) from None
    if extra:
        raise DataError("no file of this model, and covered by no checksum of it: move it elsewhere", path=extra[0])


def update_metadata(folder: Path, **facts: Any) -> dict[str, Any]:
    """Add facts to the description of a saved model, such as what else lies in its folder; the new description.

    Raises:
        DataError: the folder holds no model, or its description cannot be written.
    """
    description = read_description(folder) | facts
    write_files({folder / MODEL_FILE: dump_with_checksum(description)})
    return read_description(folder)


def has_private_vocabulary(folder: Path) -> bool:
    """Whether a model's words are stored as keyed hashes, so that a key is needed to load it.

    Raises:
        DataError: the folder holds no model.
    """
    return read_description(folder)["vocabulary"] == HASHED


def damaged_model(folder: Path) -> DataError:
    """The error for a description that lacks what its model needs."""
    return DataError(f"the model's description is damaged: {RETRAIN}", path=folder / MODEL_FILE)


class MappedFile(mmap):
    """A mapped file that can be read as a file too."""

    def seekable(self) -> bool:
        """Yes; `zipfile` asks, and Python's own class answers from 3.13 on."""
        return True


def _checked_weights(folder: Path, description: Mapping[str, Any], file: str) -> MappedFile:
    """The file of weights, mapped: what is read of it comes from the disk. It is known to be that of the description.

    Raises:
        DataError: it cannot be read, or is another one.
    """
    path, problem = folder / file, f"the model's weights are damaged or belong to another model: {RETRAIN}"
    try:
        weights = memory_mapped(path)
    except OSError:
        raise DataError(f"the model's weights cannot be read: {RETRAIN}", path=path) from None
    except DataError:
        raise
    except ValueError:  # an empty file cannot be mapped
        raise DataError(problem, path=path) from None
    if _weights_entry(file, weights) != description["weights"]:
        raise DataError(problem, path=path)
    return weights


def memory_mapped(path: Path) -> MappedFile:
    """A file, mapped.

    Raises:
        OSError: it cannot be read.
        DataError: it is a pipe, a socket or a device.
        ValueError: it is empty, and cannot be mapped.
    """
    with open_file(path) as stream:
        return MappedFile(stream.fileno(), 0, access=ACCESS_READ)


def _weights_entry(file: str, weights: bytes | MappedFile) -> dict[str, Any]:
    """What a description says of a file of weights: its name, size and checksum."""
    return {"file": file, "bytes": len(weights), "sha256": hashlib.sha256(weights).hexdigest()}


_KEY_CHECK = "crfdeid private vocabulary"
_SavedSettings = TypeVar("_SavedSettings")


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """The files of one kind of model.

    Args:
        model: the model's name in `crfdeid.registry.MODELS`.
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

    def save(self, folder: Path, weights: Write, *, settings: Any, seed: int, key: bytes | None, **facts: Any) -> None:
        """Write a model's weights, then its description; only their owner can read them.

        Args:
            folder: where to; made if need be.
            weights: writes the file of weights.
            settings: the dataclass of the model's settings, which are JSON data; names of folders are left out.
            seed: what the model was built with.
            key: what the words in ``weights`` and ``facts`` are hashed with; None where they can be read. Public ones
                are not hashed.
            facts: what else the model needs to be built again, as JSON data.

        Raises:
            DataError: they cannot be written.
        """
        if self.words_are == PUBLIC:  # there is none to be hashed
            key = None
        make_private(folder)
        write_stream(folder / self.file, weights)
        description = {
            "model": self.model,
            "schema": self.schema,
            "weights": _weights_entry(self.file, memory_mapped(folder / self.file)),
            "vocabulary": self.words_are if key is None else HASHED,
            "key_check": None if key is None else hash_word(_KEY_CHECK, key),
            "versions": {name: version(name) for name in ("crfdeid", *self.libraries)},
            "seed": seed,
            "settings": _without_folders(dataclasses.asdict(settings)),
            **facts,
        }
        write_files({folder / MODEL_FILE: dump_with_checksum(description)})

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
            raise DataError(problem, path=folder / MODEL_FILE)
        _require_only(folder, description)
        weights = _checked_weights(folder, description, self.file)
        return SavedModel(folder, description, weights, _checked_key(folder, description, key))


@dataclass(frozen=True, slots=True)
class SavedModel:
    """A model as `ModelFiles.save` wrote it. What in it does not fit together is refused as damage.

    Attributes:
        folder: where it lies.
        description: what ``model.json`` says.
        weights: the other file, mapped: what is read of it comes from the disk, and is not held twice.
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
    weights: MappedFile
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
        except DAMAGE:
            raise damaged_model(self.folder) from None

    def settings(self, settings_class: Callable[..., _SavedSettings]) -> _SavedSettings:
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
        return distinct_names(self.description[field])

    def arrays(self) -> Mapping[str, np.ndarray]:
        """The weights, where `pack_arrays` wrote them, each read when it is looked up.

        Raises:
            ValueError, EOFError, zipfile.BadZipFile: they are no such file; a lookup raises them too.
        """
        self.weights.seek(0)
        file: Any = self.weights
        arrays: Mapping[str, np.ndarray] = np.load(file, allow_pickle=False)
        if isinstance(arrays, np.ndarray):
            raise ValueError("a single array")
        return arrays


def distinct_names(value: Any) -> tuple[str, ...]:
    """A list of different names, such as a model's tags, out of JSON data.

    Raises:
        ValueError: it is something else.
    """
    texts = isinstance(value, list) and all(isinstance(name, str) for name in value)
    if not texts or len(set(value)) != len(value):
        raise ValueError("not a list of different names")
    return tuple(value)


def pack_arrays(arrays: Mapping[str, np.ndarray]) -> Write:
    """What writes arrays as one ``.npz`` file, one after the other: they are not in memory twice."""
    return lambda stream: np.savez(stream, allow_pickle=False, **arrays)


def _without_folders(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as JSON data, those of members among them, but for `FOLDER_SETTINGS`."""
    kept = {name: value for name, value in settings.items() if name not in FOLDER_SETTINGS}
    return {name: _without_folders(value) if isinstance(value, Mapping) else value for name, value in kept.items()}


def _checked_key(folder: Path, description: Mapping[str, Any], key: bytes | None) -> bytes | None:
    if description["vocabulary"] in (READABLE, PUBLIC):
        return None
    if key is None:
        raise UsageError(f"{folder}: this model's words are keyed hashes: give the secret that it was trained with")
    if hash_word(_KEY_CHECK, key) != description.get("key_check"):
        raise UsageError(f"{folder}: not the secret that this model was trained with: give that one")
    return key

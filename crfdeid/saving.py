"""A saved model: ``model.json``, which describes it, beside one file of weights, whose size and checksum it holds.

Both are data: loading runs no code from them. `crfdeid.description` reads and verifies the description, and the weights
by it; `crfdeid.model_card.card` adds a card, which names the description.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from crfdeid.description import (
    DAMAGE,
    DESCRIPTION,
    HASHED,
    PUBLIC,
    READABLE,
    MappedFile,
    checked_weights,
    damaged,
    fingerprint,
    mapped,
    read_description,
    read_settings,
    require_only,
)
from crfdeid.errors import DataError, UsageError
from crfdeid.sealed import RETRAIN, sealed
from crfdeid.secrets import hash_word
from crfdeid.settings import FOLDERS
from crfdeid.system.files import Write, write_files, write_stream
from crfdeid.system.folders import make_private

_KEY_CHECK = "crfdeid private vocabulary"
_Settings = TypeVar("_Settings")


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
            "weights": fingerprint(self.file, mapped(folder / self.file)),
            "vocabulary": self.words_are if key is None else HASHED,
            "key_check": None if key is None else hash_word(_KEY_CHECK, key),
            "versions": {name: version(name) for name in ("crfdeid", *self.libraries)},
            "seed": seed,
            "settings": _without_folders(dataclasses.asdict(settings)),
            **facts,
        }
        write_files({folder / DESCRIPTION: sealed(description)})

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
        require_only(folder, description)
        weights = checked_weights(folder, description, self.file)
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


def different_names(value: Any) -> tuple[str, ...]:
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
    """Settings as JSON data, those of members among them, but for `FOLDERS`."""
    kept = {name: value for name, value in settings.items() if name not in FOLDERS}
    return {name: _without_folders(value) if isinstance(value, Mapping) else value for name, value in kept.items()}


def _checked_key(folder: Path, description: Mapping[str, Any], key: bytes | None) -> bytes | None:
    if description["vocabulary"] in (READABLE, PUBLIC):
        return None
    if key is None:
        raise UsageError(f"{folder}: this model's words are keyed hashes: give the secret that it was trained with")
    if hash_word(_KEY_CHECK, key) != description.get("key_check"):
        raise UsageError(f"{folder}: not the secret that this model was trained with: give that one")
    return key

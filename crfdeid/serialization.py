"""Saved models: ``model.json`` with its own checksum, and one file of weights that it covers.

Both are data: loading runs no code from them. The weights are parsed only after their size and checksum match, and a
folder that holds a file which no checksum covers is refused. `crfdeid.model_card.card` adds a card.
"""

from __future__ import annotations

import dataclasses
import hashlib
import logging
import math
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from mmap import ACCESS_READ, mmap
from pathlib import Path
from textwrap import shorten
from typing import Any, Self, TypeVar

import numpy as np

from crfdeid.bio import is_tag
from crfdeid.errors import (
    DataError,
    FormatError,
    IntegrityError,
    NotFoundError,
    ReadError,
    SecretError,
    UsageError,
    VersionError,
)
from crfdeid.secrets import hash_word
from crfdeid.utils.files import Write, file_digest, open_file, write_files, write_stream
from crfdeid.utils.json import RETRAIN, dump_with_checksum, read_with_checksum
from crfdeid.validation import FOLDER_SETTINGS, shape_errors
from features.languages import LANGUAGES, OWN_FOLDERS, LanguagePackError, with_defaults

MODEL_FILE = "model.json"
OPTIONAL_FILES = {"card": "card.json", "site": "site.json", "attacks": "attacks.json"}
"""Further files of a model, by the field of ``model.json`` that declares each."""
AUDIT_FILE = "audit.json"
"""Last audit of a model (`crfdeid.audit.report`), with a checksum of its own: it is no part of the model."""
DESKTOP_FILES = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})
"""Files that desktops put into folders. Nothing reads them, so a model's folder may hold them."""
_LONGEST_PROBLEM = 200
_log = logging.getLogger(__name__)
READABLE, HASHED, PUBLIC = "readable", "hashed", "public"
"""Words in a model's files: those of its training notes, keyed hashes of them, or words of a pretrained model."""

_KEY_CHECK = "crfdeid private vocabulary"
_Settings = TypeVar("_Settings")

# Exceptions of json, numpy.load, zipfile and our own checks for a file that its writer did not mean like this.
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


_DESCRIPTION = {
    "model": str,
    "schema": int,
    "network?": int,
    "weights": {"file": str, "bytes": int, "sha256": str},
    "vocabulary": str,
    "versions": {str: str},
    "seed": int,
    "settings": {str: Any},
    "languages?": [str],
    "packs?": {str: str},
}
"""Shape of every ``model.json``; each kind of model has more."""


@dataclass(frozen=True)
class ModelFolder:
    """Folder of a saved model, of which each file is read and checked once, at first use.

    It is for one thread, and is pickled as its path: another process reads the files again.

    Args:
        path: the folder.
    """

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    def __reduce__(self) -> tuple[type[Self], tuple[Path]]:
        return type(self), (self.path,)

    @cached_property
    def description(self) -> dict[str, Any]:
        """Content of ``model.json``.

        Raises:
            NotFoundError: the folder has no such file.
            IntegrityError: the file is damaged.
        """
        try:
            description = self.read_json(MODEL_FILE, "saved model's description")
        except (FileNotFoundError, NotADirectoryError):
            problem = "no such file: this folder holds no saved model"
            raise NotFoundError(problem, path=self.path / MODEL_FILE) from None
        wrong = next(shape_errors(description, _DESCRIPTION), None) is not None
        if wrong or description["vocabulary"] not in (READABLE, HASHED, PUBLIC):
            raise _damaged_model(self.path)
        return description

    @cached_property
    def weights(self) -> MappedFile:
        """File of weights, memory-mapped.

        Raises:
            ReadError: it cannot be read.
            IntegrityError: it is damaged, or of another model; or the folder holds a file that no checksum covers.
        """
        declared = self.description["weights"]
        path, problem = (
            self.path / declared["file"],
            f"the model's weights are damaged or belong to another model: {RETRAIN}",
        )
        if path.name != declared["file"]:
            raise _damaged_model(self.path)
        _require_only(self.path, self.description)
        try:
            with open_file(path) as stream:
                weights = MappedFile(stream.fileno(), 0, access=ACCESS_READ)
        except OSError:
            raise ReadError(f"the model's weights cannot be read: {RETRAIN}", path=path) from None
        except DataError:
            raise
        except ValueError:  # an empty file cannot be mapped
            raise IntegrityError(problem, path=path) from None
        if (len(weights), hashlib.sha256(weights).hexdigest()) != (declared["bytes"], declared["sha256"]):
            raise IntegrityError(problem, path=path)
        return weights

    @cached_property
    def _contents(self) -> dict[str, dict[str, Any]]:
        return {}

    def read_json(self, name: str, what: str) -> dict[str, Any]:
        """Return the content of a JSON file of the folder, as `read_with_checksum` reads it."""
        if name not in self._contents:
            self._contents[name] = read_with_checksum(self.path / name, what)
        return self._contents[name]


def open_model(model: Path | str | ModelFolder) -> ModelFolder:
    """Return a model's folder whose files are read once; one that is open already stays the same object."""
    return model if isinstance(model, ModelFolder) else ModelFolder(Path(model))


def read_settings(folder: Path, description: Mapping[str, Any], settings_class: Callable[..., _Settings]) -> _Settings:
    """Return the settings of a description.

    Raises:
        FormatError: they are invalid here.
        IntegrityError: they are not those of such a model.
    """
    try:
        return settings_class(**description["settings"])
    except UsageError as problem:  # such as a feature set that was not added here
        said = shorten(str(problem), _LONGEST_PROBLEM, placeholder=" ...")
        raise FormatError(f"the model's settings cannot work here: {said}", path=folder / MODEL_FILE) from None
    except LanguagePackError:  # of a pack of one's own: the model is as it was
        raise
    except _DAMAGE:
        raise _damaged_model(folder) from None


def verify(model: Path | ModelFolder) -> dict[str, Any]:
    """Return a model's description after checking all files against it, without a key and without building the model.

    Raises:
        DataError: the folder has no model, or a damaged one.
    """
    opened = open_model(model)
    _ = opened.weights  # checks them
    return opened.description


def _require_only(folder: Path, description: Mapping[str, Any]) -> None:
    """Check that a model's folder holds nothing that its description does not declare."""
    known = {MODEL_FILE, AUDIT_FILE, description["weights"]["file"], *DESKTOP_FILES}
    known.update(file for field, file in OPTIONAL_FILES.items() if field in description)
    try:
        extra = sorted(path for path in folder.iterdir() if path.name not in known)
    except OSError as error:
        raise ReadError(f"the model's folder cannot be listed: {error.strerror}", path=folder) from None
    if extra:
        problem = "no file of this model, and covered by no checksum of it: move it elsewhere"
        raise IntegrityError(problem, path=extra[0])


def model_files(model: ModelFolder) -> list[Path]:
    """Return the files of a model after checking them: description, weights, and those that the description declares.

    Raises:
        DataError: the folder has no model, or a damaged one.
    """
    description = verify(model)
    declared = (file for field, file in OPTIONAL_FILES.items() if field in description)
    return [model.path / name for name in (MODEL_FILE, description["weights"]["file"], *declared)]


def update_metadata(folder: Path, **facts: Any) -> dict[str, Any]:
    """Add fields to the description of a saved model, such as one that declares a further file; return the new one.

    Raises:
        DataError: the folder has no model, or its description cannot be written.
    """
    description = open_model(folder).description | facts
    write_files({folder / MODEL_FILE: dump_with_checksum(description)})
    return open_model(folder).description


def has_private_vocabulary(model: Path | ModelFolder) -> bool:
    """Return True if a model's words are stored as keyed hashes, so that loading it needs a key.

    Raises:
        DataError: the folder has no model.
    """
    return open_model(model).description["vocabulary"] == HASHED


def _damaged_model(folder: Path) -> IntegrityError:
    """Return the error for a description that lacks a part of its model."""
    return IntegrityError(f"the model's description is damaged: {RETRAIN}", path=folder / MODEL_FILE)


class MappedFile(mmap):
    """Memory-mapped file that can be read as a file too."""

    def seekable(self) -> bool:
        """Return True; `zipfile` asks, and Python's own class has this method from 3.13 on."""
        return True


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """Format of the files of one kind of model.

    Args:
        model: the model's name in `crfdeid.registry.MODELS`.
        schema: the version of the format.
        file: the name of the file of weights.
        libraries: the distributions whose versions are recorded.
        words_are: `READABLE` or `PUBLIC`, for words that are not hashed.
        network: the version of what a network computes from its weights; 0 for a model without a network.
    """

    model: str
    schema: int
    file: str
    libraries: tuple[str, ...] = ()
    words_are: str = READABLE
    network: int = 0

    def save(
        self,
        folder: Path,
        weights: Write,
        *,
        settings: Any,
        seed: int,
        key: bytes | None,
        languages: Sequence[str] = (),
        **facts: Any,
    ) -> None:
        """Write a model's weights, then its description; only their owner can read them.

        Args:
            folder: the folder, made if necessary.
            weights: writes the file of weights.
            settings: the dataclass of the model's settings, which are JSON data; names of folders are left out.
            seed: the model's seed.
            key: the key of the hashed words in ``weights`` and ``facts``; None for readable ones. Public words are not
                hashed.
            languages: codes of the language packs that the model's features or rules read. The digests of all packs
                that it reads are recorded.
            facts: further JSON data that loading needs.

        Raises:
            DataError: they cannot be written.
        """
        if self.words_are == PUBLIC:
            key = None
        path = folder / self.file
        write_stream(path, weights)
        description = {
            "model": self.model,
            "schema": self.schema,
            "network": self.network,
            "weights": {"file": self.file, "bytes": path.stat().st_size, "sha256": file_digest(path)},
            "vocabulary": self.words_are if key is None else HASHED,
            "key_check": None if key is None else hash_word(_KEY_CHECK, key),
            "versions": {name: version(name) for name in ("crfdeid", *self.libraries)},
            "seed": seed,
            "settings": _without_folders(dataclasses.asdict(settings)),
            "languages": list(languages),
            "packs": {code: LANGUAGES[code].digest for code in with_defaults(languages)},
            **facts,
        }
        write_files({folder / MODEL_FILE: dump_with_checksum(description)})

    def load(self, folder: Path | ModelFolder, *, key: bytes | None) -> SavedModel:
        """Read a model's description and check its files.

        Args:
            folder: the model's folder.
            key: the key of its hashed words; ignored for readable ones.

        Raises:
            NotFoundError: there is no model.
            VersionError: it is of another kind or version, or a language pack that its features or rules read has
                changed since.
            IntegrityError: it is damaged.
            SecretError: its words are hashed, and the key is missing or wrong.
        """
        model = open_model(folder)
        description, path = model.description, model.path
        if (description["model"], description["schema"]) != (self.model, self.schema):
            problem = f"not a model of the kind '{self.model}' and of this version (schema {self.schema}): {RETRAIN}"
            raise VersionError(problem, path=path / MODEL_FILE)
        if description.get("network") != self.network:
            problem = f"this version's network '{self.model}' computes otherwise with the same weights: {RETRAIN}"
            raise VersionError(problem, path=path / MODEL_FILE)
        if description["weights"]["file"] != self.file:
            raise _damaged_model(path)
        _require_same_packs(path, description)
        return SavedModel(path, description, model.weights, _checked_key(path, description, key))


def _require_same_packs(folder: Path, description: Mapping[str, Any]) -> None:
    """Refuse a model whose own packs have changed; warn of another pack, which only ends sentences."""
    for code, digest in description.get("packs", {}).items():
        try:
            same = LANGUAGES[code].digest == digest
        except (KeyError, ValueError):  # it is missing, or no pack
            same = False
        if same:
            continue
        if code in description.get("languages", ()):
            problem = f"not the language pack '{code}' that the model was trained with: restore it"
            raise VersionError(f"{problem} ({OWN_FOLDERS} names folders), or {RETRAIN}", path=folder / MODEL_FILE)
        _log.warning("%s: the language pack '%s' has changed since training: sentences may end elsewhere", folder, code)


@dataclass(frozen=True, slots=True)
class SavedModel:
    """Model as `ModelFiles.save` wrote it; invalid content is refused as damage.

    Attributes:
        folder: the model's folder.
        description: the content of ``model.json``.
        weights: the file of weights, memory-mapped.
        key: the key of the hashed words; None for readable ones.

    Example:
        In a tagger's ``load``::

            saved = _FILES.load(folder, key=key)
            tagger = cls(saved.settings(CrfSettings), seed=saved.seed)
            with saved.refusing_damage():
                tagger._learned = CrfWeights.read(saved.tags, saved.arrays(), saved.key)
    """

    folder: Path
    description: Mapping[str, Any]
    weights: MappedFile
    key: bytes | None

    @contextmanager
    def refusing_damage(self) -> Iterator[None]:
        """Turn errors of reading foreign data into an `IntegrityError` about this model.

        A `UsageError` passes: what the model needs may be missing here, though its files are intact.
        """
        try:
            yield
        except UsageError:
            raise
        except _DAMAGE:
            raise _damaged_model(self.folder) from None

    def settings(self, settings_class: Callable[..., _Settings]) -> _Settings:
        """Return the model's settings by `read_settings`."""
        return read_settings(self.folder, self.description, settings_class)

    @property
    def seed(self) -> int:
        """Seed of the model.

        Raises:
            IntegrityError: the description has none.
        """
        with self.refusing_damage():
            return int(self.description["seed"])

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of the description, read as damage if they are none."""
        return distinct_tags(self.description["tags"])

    def arrays(self) -> Mapping[str, np.ndarray]:
        """Return the weights that `pack_arrays` wrote, each read on lookup.

        Raises:
            ValueError, EOFError, zipfile.BadZipFile: it is no such file; a lookup raises them too.
        """
        file: Any = self.weights
        _require_stored(file)
        file.seek(0)
        arrays: Mapping[str, np.ndarray] = np.load(file, allow_pickle=False)
        if isinstance(arrays, np.ndarray):
            raise ValueError("a single array")
        return arrays


def _require_stored(file: MappedFile) -> None:
    """Check the header of each array against the bytes that it has in the file: reading it allocates no more."""
    stream: Any = file
    size = 0
    with zipfile.ZipFile(stream) as packed:
        for part in packed.infolist():
            with packed.open(part) as array:
                if np.lib.format.read_magic(array) != (1, 0):
                    raise ValueError("an array of another version")
                shape, _, kind = np.lib.format.read_array_header_1_0(array)
                whole = array.tell() + math.prod(shape) * kind.itemsize
            size += part.file_size
            stored = part.compress_type == zipfile.ZIP_STORED and kind.itemsize and whole == part.file_size
            if not stored or size > len(file):
                raise ValueError("an array of another size than its bytes")


def distinct_names(value: Any) -> tuple[str, ...]:
    """Validate a list of distinct names, such as a model's words, from JSON data.

    Raises:
        ValueError: it is something else.
    """
    texts = isinstance(value, list) and all(isinstance(name, str) for name in value)
    if not texts or len(set(value)) != len(value):
        raise ValueError("not a list of different names")
    return tuple(value)


def distinct_tags(value: Any) -> tuple[str, ...]:
    """Validate a list of distinct tags as `distinct_names` does a list of names."""
    tags = distinct_names(value)
    if not all(map(is_tag, tags)):
        raise ValueError("not a list of tags")
    return tags


def pack_arrays(arrays: Mapping[str, np.ndarray]) -> Write:
    """Return a writer of arrays as one ``.npz`` file, without a second copy of them in memory."""
    return lambda stream: np.savez(stream, allow_pickle=False, **arrays)


def _without_folders(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Remove `FOLDER_SETTINGS` from settings and from those of members."""
    others = {name: value for name, value in settings.items() if name not in FOLDER_SETTINGS}
    return {name: _without_folders(value) if isinstance(value, Mapping) else value for name, value in others.items()}


def _checked_key(folder: Path, description: Mapping[str, Any], key: bytes | None) -> bytes | None:
    if description["vocabulary"] in (READABLE, PUBLIC):
        return None
    if key is None:
        raise SecretError(f"{folder}: this model's words are keyed hashes: give the secret that it was trained with")
    if hash_word(_KEY_CHECK, key) != description.get("key_check"):
        raise SecretError(f"{folder}: not the secret that this model was trained with: give that one")
    return key

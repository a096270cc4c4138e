"""Model of an integration: loaded at first use, with its key from the environment, and packed as bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from crfdeid.errors import FormatError, NotFoundError
from crfdeid.model_card.pretrained import find_model
from crfdeid.pipeline import Deidentifier, load
from crfdeid.secrets import read_secret, vocabulary_key
from crfdeid.serialization import ModelFolder, has_private_vocabulary, verify
from crfdeid.utils.files import read_bytes


@dataclass(eq=False)
class IntegratedModel:
    """Trained model of a component that other libraries create, save and send to processes.

    It is loaded at first use, and its files are checked against their checksums then. The key of a private vocabulary
    comes from ``CRFDEID_SECRET``. Another process gets the model's files as bytes.

    Args:
        name: a model's folder, or a built-in model; "" for none.
        options: options of `crfdeid.load`.
        files: the content of the model's files, by name, in place of a folder (`pack`).

    Raises:
        FormatError: ``files`` has a name that is no plain file name.
    """

    name: Path | str
    options: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, bytes] | None = None

    def __post_init__(self) -> None:
        if any(name != Path(name).name for name in self.files or ()):
            raise FormatError("a packed model with a file in another folder: it was not packed here")

    @cached_property
    def deidentifier(self) -> Deidentifier:
        """The loaded model.

        Raises:
            NotFoundError: no model was named, or there is none.
            DataError, UsageError: as for `crfdeid.load`.
        """
        with self._folder() as folder:
            key = vocabulary_key(read_secret()) if has_private_vocabulary(folder) else None
            return load(folder, key=key, members=False, **self.options)

    def pack(self) -> Mapping[str, bytes]:
        """Return the model's files by name, after checking them.

        Raises:
            DataError: there is no model, or a damaged one.
        """
        if self.files is not None:
            return self.files
        with self._folder() as folder:
            verify(folder)
            return {path.name: read_bytes(path) for path in sorted(folder.path.iterdir()) if path.is_file()}

    @contextmanager
    def _folder(self) -> Iterator[ModelFolder]:
        """Open the model's folder; packed files are in one while they are read, so that no copy of them stays."""
        if self.files is None:
            if not self.name:
                raise NotFoundError("no model: give the folder of a trained one, or the name of a built-in model")
            yield find_model(self.name)
            return
        with TemporaryDirectory(prefix="crfdeid-model-") as temporary:
            for name, content in self.files.items():
                Path(temporary, name).write_bytes(content)
            yield ModelFolder(Path(temporary))

    def __getstate__(self) -> dict[str, Any]:
        return {"name": self.name, "options": self.options, "files": self.pack()}

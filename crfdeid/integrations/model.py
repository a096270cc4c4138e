"""Model of an integration: loaded at first use, with its key from the environment, and packed as bytes."""

from __future__ import annotations

import shutil
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from crfdeid.errors import FormatError, NotFoundError
from crfdeid.model_card.pretrained import find_model
from crfdeid.pipeline import Deidentifier, load
from crfdeid.secrets import read_secret, vocabulary_key
from crfdeid.serialization import ModelFolder, has_private_vocabulary, verify
from crfdeid.utils.files import read_bytes


@dataclass(eq=False)
class IntegratedModel:
    """Trained model of a component that other libraries create, copy, save and send to processes.

    It is loaded at first use. The key of a private vocabulary comes from ``CRFDEID_SECRET``. Another process gets the
    model's files as bytes, and checks them against their checksums when it loads them.

    Args:
        name: a model's folder, or a built-in model; "" for one whose files come later (`unpack`).
        options: options of `crfdeid.load`.
    """

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def deidentifier(self) -> Deidentifier:
        """The loaded model.

        Raises:
            NotFoundError: there is no model.
            DataError, UsageError: as for `crfdeid.load`.
        """
        folder = self.folder
        key = vocabulary_key(read_secret()) if has_private_vocabulary(folder) else None
        return load(folder, key=key, **self.options)

    @cached_property
    def folder(self) -> ModelFolder:
        """Folder of the model.

        Raises:
            NotFoundError: no model was named.
        """
        if not self.name:
            raise NotFoundError("no model: give the folder of a trained one, or the name of a built-in model")
        return find_model(self.name)

    def pack(self) -> dict[str, bytes]:
        """Return the model's files by name, after checking them.

        Raises:
            DataError: there is no model, or a damaged one.
        """
        verify(self.folder)
        return {path.name: read_bytes(path) for path in sorted(self.folder.path.iterdir()) if path.is_file()}

    def unpack(self, files: Mapping[str, bytes]) -> None:
        """Take a model from its packed files, and check them.

        Raises:
            FormatError: a name is no plain file name.
            DataError: the files are no model, or damaged.
        """
        for name in files:
            if name != Path(name).name:
                raise FormatError("a packed model with a file name that names a folder: it was not packed here")
        temporary = Path(mkdtemp(prefix="crfdeid-model-"))
        weakref.finalize(self, shutil.rmtree, temporary, ignore_errors=True)
        for name, content in files.items():
            (temporary / name).write_bytes(content)
        self.open(temporary)

    def open(self, folder: Path) -> None:
        """Take the model in a folder, and check it.

        Raises:
            DataError: the folder has no model, or a damaged one.
        """
        verify(folder)
        self.__dict__.pop("deidentifier", None)
        self.folder = ModelFolder(folder)

    def __getstate__(self) -> dict[str, Any]:
        return {"name": self.name, "options": self.options, "files": self.pack()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.name, self.options = state["name"], state["options"]
        self.unpack(state["files"])

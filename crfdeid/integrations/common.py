"""Shared parts of the adapters: a model that is loaded at first use, and Presidio's entities and scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from crfdeid.documents import Evidence
from crfdeid.errors import FormatError, NotFoundError
from crfdeid.label_schemes import SURROGATE_KINDS
from crfdeid.model_card.pretrained import BUILT_IN_MODELS, find_model
from crfdeid.pipeline import Deidentifier
from crfdeid.redaction.redactor import Redactor
from crfdeid.serialization import ModelFolder, verify
from crfdeid.utils.files import read_bytes


@dataclass(eq=False)
class IntegratedModel:
    """Trained model of a component that other libraries create, save and send to processes.

    It is loaded at first use, and its files are checked against their checksums then. The key of a private vocabulary
    comes from ``CRFDEID_SECRET``. Another process gets the model's files as bytes.

    Args:
        redactor: the model and the policy; a model "" for none.
        files: the content of the model's files, by name, in place of a folder (`pack`).

    Raises:
        FormatError: ``files`` has a name that is no plain file name.
    """

    redactor: Redactor
    files: Mapping[str, bytes] | None = None

    def __post_init__(self) -> None:
        if not all(map(_is_file_name, self.files or ())):
            raise FormatError("a packed model with a file in another folder: it was not packed here")

    def require_threshold(self) -> None:
        """Check the policy's sensitivity or leak rate against the model's card; a missing model is not looked for.

        Raises:
            DataError: the model is damaged.
            UsageError: the card does not support it.
        """
        model, policy = self.redactor.model, self.redactor.policy
        asks = isinstance(policy.sensitivity, float) or policy.max_leak_rate is not None
        if asks and (model in BUILT_IN_MODELS or (model and Path(str(model)).is_dir())):
            _ = replace(self.redactor).threshold  # of a copy, which keeps no folder

    @cached_property
    def deidentifier(self) -> Deidentifier:
        """The loaded model.

        Raises:
            NotFoundError: no model was named, or there is none.
        """
        with self._folder() as folder:
            return replace(self.redactor, model=folder).load()

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
            if not self.redactor.model:
                raise NotFoundError("no model: give the folder of a trained one, or the name of a built-in model")
            yield find_model(self.redactor.model)
            return
        with TemporaryDirectory(prefix="crfdeid-model-") as temporary:
            for name, content in self.files.items():
                Path(temporary, name).write_bytes(content)
            yield ModelFolder(Path(temporary))

    def __getstate__(self) -> dict[str, Any]:
        return {"redactor": replace(self.redactor, model=""), "files": self.pack()}


def _is_file_name(name: str) -> bool:
    """True for a name that a file in a folder of any system can have."""
    is_short = 0 < len(name) <= 100 and name not in (".", "..")
    return is_short and name.isascii() and name.isprintable() and set("/\\").isdisjoint(name)


# Kind of surrogate of a type (`crfdeid.label_schemes`) -> Presidio's entity. Other types keep their own names.
_ENTITIES = {
    "age": "AGE",
    "date": "DATE_TIME",
    "hospital": "ORGANIZATION",
    "licence": "ID",
    "mail": "EMAIL_ADDRESS",
    "net": "IP_ADDRESS",
    "number": "ID",
    "person": "PERSON",
    "place": "LOCATION",
    "street": "LOCATION",
    "telephone": "PHONE_NUMBER",
    "town": "LOCATION",
    "web": "URL",
}
_LEAST_SCORE = 1e-6
"""Presidio drops results with a score of 0, and their text would not be redacted."""


def presidio_type(label: str) -> str:
    """Return Presidio's entity for a type of PHI.

    Example:
        >>> presidio_type("PATIENT"), presidio_type("PROFESSION")
        ('PERSON', 'PROFESSION')
    """
    return _ENTITIES.get(SURROGATE_KINDS.get(label, ""), label)


def presidio_score(evidence: Evidence) -> float:
    """Return the score of a span, above 0; 1.0 if nothing was measured."""
    measured = evidence.as_json()["score"]
    return 1.0 if measured is None else max(float(measured), _LEAST_SCORE)

"""The built-in models: four that ship with the library, one of the synthetic corpus that is trained, and the rules."""

from __future__ import annotations

import hashlib
import logging
import os
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crfdeid.documents import Document
from crfdeid.errors import DataError, NotFoundError
from crfdeid.model_card.card import model_digest
from crfdeid.registry import create
from crfdeid.serialization import ModelFolder, open_model
from crfdeid.tagger import OnProgress
from crfdeid.thresholds import VOIDS_CLAIM, claim_in
from crfdeid.utils.files import file_digest, take_lock
from crfdeid.utils.folders import make_cache_folder, write_folder
from crfdeid.validation import suggestion

if TYPE_CHECKING:
    from crfdeid.corpora.splits import Corpus

_SHIPPED_MODELS = {
    "english": "learned from invented notes alone",
    "spanish": "learned from case reports (MEDDOCAN) and invented notes",
    "german": "is experimental, learned from few invented notes alone,",
    "french": "is experimental, learned from few invented notes alone,",
}
_SYNTHETIC = "synthetic"
_RULES = "rules"
BUILT_IN_MODELS = {
    **_SHIPPED_MODELS,
    _SYNTHETIC: "learned from invented notes alone",
    _RULES: "finds numbers, dates and names after titles, hardly any other names,",
}
"""The built-in models by name, each with what a user must know of it."""
_SHIPPED = Path(__file__).parents[1] / "models"
"""Folder of the models that `experiments.builtin` made."""
_NOT_VALIDATED = "has not been validated on real notes: expect it to miss PHI"
# Libraries of its corpus and its training, on which the model depends as on this package's own files.
_LIBRARIES = ("Faker", "numpy", "python-crfsuite", "python-stdnum", "regex", "scipy", "sklearn-crfsuite")
_PACKAGES = ("crfdeid", "features")
_BASE_MODEL = "hybrid"
_SETTINGS: dict[str, Any] = {"max_iterations": 60, "keep_untried": True}
"""Fewer iterations than a model of one's own has by default: it is trained while its first user waits."""
_log = logging.getLogger(__name__)


def find_model(name: Path | str | ModelFolder, *, on_progress: OnProgress | None = None) -> ModelFolder:
    """The folder of a model, by the one rule that all commands and `crfdeid.load` have.

    The texts of `BUILT_IN_MODELS` are always the built-in models. Those of languages ship with the library;
    "synthetic" is a small model of the synthetic corpus, with the rules; "rules" are the rules that need no training
    notes. A folder of such a name is "./english", or a `Path`.

    None was validated on real notes, and a warning of the logger "crfdeid" says so each time. The last two are made at
    first use, "synthetic" in a minute or two, and kept in the cache; each version of code, data and libraries has its
    own folder. One that is damaged is made anew. Where several processes need one at once, one makes it and the others
    wait.

    Args:
        name: the folder, or the text; a folder that is open already stays the same object.
        on_progress: called for each step, where a model is trained now.

    Raises:
        NotFoundError: there is no folder of this name, and a built-in model has a similar one.
        DataError: the cache cannot be written.
    """
    if not isinstance(name, str) or name not in BUILT_IN_MODELS:
        hint = suggestion(str(name), BUILT_IN_MODELS)
        if hint and isinstance(name, str) and not Path(name).exists():
            raise NotFoundError(
                f"no such folder: {hint}The built-in models are {', '.join(BUILT_IN_MODELS)}", path=Path(name)
            )
        return open_model(name)
    advice = "train one on notes of your own (crfdeid train)"
    _log.warning("the model '%s' %s and %s; %s", name, BUILT_IN_MODELS[name], _NOT_VALIDATED, advice)
    if name in _SHIPPED_MODELS:
        return open_model(_SHIPPED / name)
    folder = make_cache_folder() / f"model-{name}-{build_fingerprint()[:16]}"
    model = open_model(folder)
    if not _is_intact(model):
        with _locked(folder.with_name(f".{folder.name}.lock")):
            model = open_model(folder)
            if not _is_intact(model):  # another process may have made it meanwhile
                _make(name, folder, on_progress)
                model = open_model(folder)
    return model


def validation_of(name: str, card: Mapping[str, Any] | None, max_leak_rate: float | None = None) -> str:
    """Return what a model was measured on, as a sentence for its user.

    Args:
        name: the name in `BUILT_IN_MODELS`, or the folder.
        card: the model's card; None without one.
        max_leak_rate: the leak rate of the claim that it is used with; None for none.

    Raises:
        SettingError: the card does not claim this rate.
    """
    if max_leak_rate is not None:
        return f"It claims that {claim_in(card, max_leak_rate)}; void with: {VOIDS_CLAIM}."
    if name in BUILT_IN_MODELS:
        return f"It {BUILT_IN_MODELS[name]} and {_NOT_VALIDATED}."
    if card is None:
        return f"It has no card, and {_NOT_VALIDATED}."
    if card["corpus"]["format"] == _SYNTHETIC:
        return f"It {BUILT_IN_MODELS[_SYNTHETIC]} and {_NOT_VALIDATED}."
    scores = card["dev"]["consistent"]
    recall, leaking = scores["token_binary"]["micro"]["recall"], scores["leaking_documents"]
    return (
        f"On its development notes ({leaking['total']:,}) its most probable tags found {100 * recall:.2f} % of the PHI "
        f"tokens, and left some in {leaking['count']:,} of them; other notes can differ."
    )


def _make(name: str, folder: Path, on_progress: OnProgress | None) -> None:
    """Make a built-in model. Only this needs all rules, or the synthetic corpus and the scores."""
    from crfdeid.model_card.training import train_model  # noqa: PLC0415
    from crfdeid.rules import RulesTagger  # noqa: PLC0415

    if name == _RULES:
        write_folder(folder, RulesTagger.untrained().save)
        return
    _log.info("first use of '%s': training it on invented notes, a minute or two; later runs read %s", name, folder)
    tagger = create(_BASE_MODEL, overrides=_SETTINGS)
    train_model(tagger, builtin_corpus(), folder, overwrite=True, on_progress=on_progress)


@cache
def build_fingerprint() -> str:
    """A digest of what decides about the model: code and data of the packages that make it, and versions of others."""
    root = Path(__file__).parents[2]
    paths = (path for package in _PACKAGES for path in (root / package).rglob("*") if path.suffix != ".pyc")
    parts = [platform.python_version(), *(f"{library} {version(library)}" for library in _LIBRARIES)]
    parts += (f"{path.relative_to(root)} {file_digest(path)}" for path in sorted(paths) if path.is_file())
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _is_intact(model: ModelFolder) -> bool:
    try:
        model_digest(model)
    except DataError:
        return False
    return True


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Wait until no other process is here. The system releases the lock when a process ends, also in a crash."""
    try:
        lock = take_lock(path, on_wait=lambda: _log.info("another process is training it: waiting for it"))
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}", path=path) from None
    try:
        yield
    finally:
        os.close(lock)


# Training time grows with the square of the number of types, and few people need to distinguish them: types that are
# replaced in the same way become one. Names are i2b2 2014's, or one of the seven for a type wider than any of those.
MERGED_TYPES: Mapping[str, str] = {
    **dict.fromkeys(("CITY", "STATE"), "LOCATION"),
    "FAX": "PHONE",
    "IPADDR": "URL",
    **dict.fromkeys(("SSN", "MEDICALRECORD", "HEALTHPLAN", "ACCOUNT", "LICENSE", "VEHICLE", "DEVICE"), "ID"),
    **dict.fromkeys(("BIOID", "IDNUM", "USERNAME"), "ID"),
}


def builtin_corpus() -> Corpus:
    """Training and development texts: notes, messages, queries, forms, tables, and text from outside the clinic."""
    from crfdeid.corpora.splits import Corpus, Split  # noqa: PLC0415
    from crfdeid.corpora.synthetic import generate_all_types  # noqa: PLC0415  Faker takes long to import.

    made = generate_all_types()
    train, dev = (Split.of(map(with_merged_types, part)) for part in (made.train, made.dev))
    return Corpus("synthetic (all types)", "synthetic", "all", train, dev, None)


def with_merged_types(document: Document) -> Document:
    """The document with the types of the built-in models."""
    spans = (span._replace(label=MERGED_TYPES.get(span.label, span.label)) for span in document.spans)
    return replace(document, spans=tuple(spans))

"""Settings of the experiment on transfer between corpora, and the systems that it trains."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from crfdeid.errors import OptionConflictError, SettingError
from experiments.running.settings import RANDOM, CommonSettings, Point
from experiments.running.systems import System, make_systems, require_phi_alone, require_profile

BINARY, CATEGORIES, NAME = "binary", "categories", "name"
COMPARED_TYPES = (BINARY, CATEGORIES, NAME)
"""Compared types: PHI or not; PHI of the right category; names alone."""

MODELS = ("crf",)
"""Default models."""

SAMPLES = 10_000
"""Corpora drawn for an interval."""

REQUIRED = (1.0, 0.999, 0.997, 0.99)
"""The sensitivities of section 3.4 and Table 5."""


class Source(NamedTuple):
    """Origin of a corpus.

    Attributes:
        name: in tables.
        train: the training documents; None for a built-in corpus.
        dev: documents that choose a network's best epoch; None for a tenth of the training documents.
        test: the documents to score; None for a built-in corpus.
        format: a name in `crfdeid.corpora.CORPUS_FORMATS`, or "auto"; of a built-in corpus, its kind.
        seed: of a built-in corpus; None for one that is read.
    """

    name: str
    train: Path | None = None
    dev: Path | None = None
    test: Path | None = None
    format: str = "auto"
    seed: int | None = None

    @property
    def paths(self) -> tuple[Path, ...]:
        """Files and folders to read."""
        return tuple(path for path in (self.train, self.dev, self.test) if path is not None)


@dataclass(frozen=True, kw_only=True)
class TransferExperiment(CommonSettings):
    """Settings of ``experiments.transfer``.

    Args:
        sources: the corpora.
        models: names in `crfdeid.registry.MODELS`.
        encoders: folders of encoders; the model bert is trained from each. None for its own.
        types: the compared types, one of `COMPARED_TYPES`.
        changes: settings that replace the profile's, in every model that has them.
        share: the share of each corpus's training documents to use.
        samples: corpora drawn for an interval.
    """

    sources: tuple[Source, ...]
    models: tuple[str, ...] = MODELS
    encoders: tuple[Path, ...] = ()
    types: str = BINARY
    changes: Point = ()
    share: float = 1.0
    samples: int = SAMPLES


_ENCODED = "bert"


class Entry(NamedTuple):
    """A model on a corpus.

    Attributes:
        model: its name in tables, with that of its encoder if there are several.
        trained_on: the training corpus.
        system: the system.
    """

    model: str
    trained_on: str
    system: System


def entries_of(experiment: TransferExperiment) -> tuple[Entry, ...]:
    """Every model on every corpus.

    Raises:
        UsageError: a setting or a profile that no model has; a model that tags more than PHI; encoders without the
            model that reads with them, or two of one name.
    """
    require_profile(experiment.profile, experiment.models)
    made = make_systems(experiment.models, [RANDOM], dict(experiment.changes))
    require_phi_alone(made)
    systems = list(_with_encoders(made, experiment))
    return tuple(
        Entry(system.name, source.name, replace(system, name=f"{system.name}@{source.name}", embedding=None))
        for system in systems
        for source in experiment.sources
    )


def _with_encoders(systems: Iterable[System], experiment: TransferExperiment) -> Iterable[System]:
    """The systems, with one for each encoder instead of bert."""
    names = [folder.resolve().name for folder in experiment.encoders]
    if names and _ENCODED not in experiment.models:
        raise OptionConflictError(f"--encoders: no model here reads with an encoder: give --models {_ENCODED}")
    if len(set(names)) < len(names):
        raise SettingError("--encoders: two folders have one name: rename one, tables tell them apart by it")
    for system in systems:
        if system.model != _ENCODED or not names:
            yield system
            continue
        for name, folder in zip(names, experiment.encoders, strict=True):
            own = {**dict(system.settings), "encoder": str(folder)}
            yield replace(system, name=f"{_ENCODED}-{name}", settings=tuple(own.items()))

"""What the experiment on transfer is asked to do: the options of ``experiments.transfer``, read once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from experiments.running.settings import OutputSettings, Point

BINARY, CATEGORIES, NAME = "binary", "categories", "name"
TYPES = (BINARY, CATEGORIES, NAME)
"""What is compared: PHI or not; PHI of the right category; names alone."""

MODELS = ("crf",)
"""What is trained unless told otherwise."""

SAMPLES = 10_000
"""Corpora drawn for an interval."""

REQUIRED = (1.0, 0.999, 0.997, 0.99)
"""The sensitivities of section 3.4 and Table 5."""


class Source(NamedTuple):
    """Where a corpus comes from.

    Attributes:
        name: what tables call it.
        train: what is learned from; None for a corpus that is made up.
        dev: what chooses a network's best epoch; None for a tenth of the training documents.
        test: what is scored; None for a corpus that is made up.
        format: a name in `crfdeid.corpora.CORPUS_FORMATS`, or "auto"; of a corpus that is made up, its kind.
        seed: of a corpus that is made up; None for one that is read.
    """

    name: str
    train: Path | None = None
    dev: Path | None = None
    test: Path | None = None
    format: str = "auto"
    seed: int | None = None

    @property
    def paths(self) -> tuple[Path, ...]:
        """Those that are read."""
        return tuple(path for path in (self.train, self.dev, self.test) if path is not None)


@dataclass(frozen=True, kw_only=True)
class TransferExperiment:
    """All that ``experiments.transfer`` is asked to do.

    Args:
        sources: the corpora.
        models: names in `crfdeid.registry.MODELS`.
        encoders: the folders of encoders that the model bert starts from, one after the other; none for its own.
        types: what is compared, one of `TYPES`.
        profile: the settings that each model starts from, or its default where it lacks the profile.
        changes: what replaces the profile's settings, in every model that has it.
        share: the share of each corpus's training documents that there is to learn from.
        output: what becomes of the results.
        seeds: each model is trained with each of them on each corpus.
        samples: corpora drawn for an interval.
        device: where networks are trained, one of `experiments.running.device.DEVICES`.
        jobs: how many cells are trained at the same time; None for as many as pays.
        command: the options that define the experiment as plain data, kept with its results.
    """

    sources: tuple[Source, ...]
    models: tuple[str, ...] = MODELS
    encoders: tuple[Path, ...] = ()
    types: str = BINARY
    profile: str = "default"
    changes: Point = ()
    share: float = 1.0
    output: OutputSettings = field(default_factory=OutputSettings)
    seeds: tuple[int, ...] = (0,)
    samples: int = SAMPLES
    device: str = "auto"
    jobs: int | None = None
    command: Mapping[str, Any] = field(default_factory=dict)

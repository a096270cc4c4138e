"""What is compared: systems, and the cells of work that an experiment on them takes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from crfdeid.errors import UsageError
from crfdeid.models import create, setting_names, settings_of, tagger_class
from experiments.running.settings import Point

if TYPE_CHECKING:  # Its package imports JAX, and an experiment on the CRF alone needs none.
    from crfdeid.tagger import Tagger, Traits
    from rnn.embeddings import WordVectors

Vectors = Mapping[tuple[str, float], "WordVectors"]
"""Embedding and share of the training documents -> word vectors; none for random ones."""


@dataclass(frozen=True)
class System:
    """A model as tables name it.

    Args:
        name: the model's, with the embedding's where several are compared: "elman", "elman-cbow".
        model: its name in `crfdeid.models.MODELS`.
        embedding: the word vectors it starts from; None for a model that takes none.
        settings: what replaces the settings of the profile.
    """

    name: str
    model: str
    embedding: str | None = None
    settings: Point = ()


class Cell(NamedTuple):
    """One training: the unit of work.

    Attributes:
        system: what is trained.
        seed: the seed of everything random in it.
        fraction: the share of the training documents it learns from.
        point: the settings tried in a sweep, over the system's; such a cell is scored on dev alone.
    """

    system: System
    seed: int
    fraction: float = 1.0
    point: Point = ()

    @property
    def name(self) -> str:
        """The cell's name among those of its system: the seed, and what makes it differ from a plain run."""
        fraction = () if self.fraction == 1.0 else (("fraction", self.fraction),)
        return ",".join([str(self.seed), *(f"{name}={value}" for name, value in (*fraction, *self.point))])

    @property
    def is_plain(self) -> bool:
        """Whether it is a run of the system as compared: all training data, no point of a sweep."""
        return self.fraction == 1.0 and not self.point


def make_systems(models: Iterable[str], embeddings: Sequence[str], settings: Mapping[str, Any]) -> list[System]:
    """Every model with every embedding it can start from; settings that a model does not have are left out.

    Raises:
        UsageError: none of the models has one of the settings.
    """
    found = []
    unused = set(settings)
    for model in models:
        known = setting_names(model, settings)
        own = tuple((name, value) for name, value in settings.items() if name in known)
        unused -= known
        if not traits_of(model, own).takes_vectors:
            found.append(System(model, model, None, own))
        elif len(embeddings) == 1:
            found.append(System(model, model, embeddings[0], own))
        else:
            found += [System(f"{model}-{embedding}", model, embedding, own) for embedding in embeddings]
    if unused:
        name = next(name for name in settings if name in unused)
        raise UsageError(f"--{name.replace('_', '-')}: no such setting in {', '.join(models)}")
    return found


def make_ensemble(models: Sequence[str], combine: str, settings: Mapping[str, Any]) -> System:
    """The models joined into one, which trains members of its own, with random word vectors.

    Args:
        models: the members.
        combine: how they are joined, one of `crfdeid.combined.ensemble.COMBINE`; also the system's name.
        settings: what replaces the settings of the members' profiles.
    """
    return System(combine, "ensemble", None, (("members", tuple(models)), ("combine", combine), *settings.items()))


def traits_of(model: str, settings: Iterable[tuple[str, Any]] = ()) -> Traits:
    """What a model with these settings needs and can do."""
    return tagger_class(model).traits(settings_of(model, overrides=dict(settings)))


def make_tagger(cell: Cell, profile: str, vectors: Vectors) -> Tagger:
    """A cell's tagger, untrained.

    Args:
        cell: what to train.
        profile: the settings it starts from.
        vectors: the word vectors there are.
    """
    system = cell.system
    settings = {**dict(system.settings), **dict(cell.point)}
    given = vectors.get((system.embedding, cell.fraction)) if system.embedding else None
    return create(system.model, profile=profile, seed=cell.seed, overrides=settings, vectors=given)


def plain_cells(systems: Iterable[System], seeds: Sequence[int], fractions: Sequence[float] = ()) -> list[Cell]:
    """Every system with every seed, on all training documents and on each share of them.

    A model without anything random is trained once: other seeds would change nothing.
    """
    shares = sorted({1.0, *fractions}, reverse=True)
    return [
        Cell(system, seed, share)
        for share in shares
        for seed in seeds
        for system in systems
        if seed == seeds[0] or traits_of(system.model, system.settings).uses_seed
    ]


def sweep_cells(systems: Iterable[System], seeds: Sequence[int], grid: Mapping[str, Sequence[Any]]) -> list[Cell]:
    """Every system at every point of the grid of those settings that it has.

    Raises:
        UsageError: a setting that none of the models has.
    """
    systems = list(systems)
    for name in grid:
        if not any(name in setting_names(system.model, dict(system.settings)) for system in systems):
            raise UsageError(f"--sweep: none of the models has a setting '{name}'")
    cells = []
    for system in systems:
        names = [name for name in grid if name in setting_names(system.model, dict(system.settings))]
        points = [tuple(zip(names, values, strict=True)) for values in itertools.product(*(grid[n] for n in names))]
        cells += [
            Cell(system, seed, point=point)
            for point in points
            if point
            for seed in seeds
            if seed == seeds[0] or traits_of(system.model, (*system.settings, *point)).uses_seed
        ]
    return cells


def choose(scores: Mapping[Cell, float]) -> dict[System, Point]:
    """The point of a sweep with the best mean score on dev for each system: the first of equals.

    Args:
        scores: every cell's F on dev.
    """
    values: dict[System, dict[Point, list[float]]] = {}
    for cell, score in scores.items():
        values.setdefault(cell.system, {}).setdefault(cell.point, []).append(score)
    return {
        system: max(points, key=lambda point: sum(points[point]) / len(points[point]))
        for system, points in values.items()
    }


def settle(systems: Iterable[System], chosen: Mapping[System, Point]) -> list[System]:
    """The systems with the settings that a sweep chose."""
    return [
        replace(system, settings=tuple({**dict(system.settings), **dict(chosen.get(system, ()))}.items()))
        for system in systems
    ]


def groups(cells: Sequence[Cell], *, together: bool) -> list[list[Cell]]:
    """The cells in the order and company they are trained in.

    Args:
        cells: what to train.
        together: whether replicates of one architecture are trained as one program, as pays on a GPU.
    """
    if not together:
        return [[cell] for cell in cells]
    from rnn.replicates import OWN_SETTINGS  # noqa: PLC0415

    found: dict[Any, list[Cell]] = {}
    for cell in cells:
        system = cell.system
        settings = {**dict(system.settings), **dict(cell.point)}
        if traits_of(system.model, settings.items()).accelerated:
            shape = tuple(sorted((n, v) for n, v in settings.items() if n not in OWN_SETTINGS))
            found.setdefault((system.model, system.embedding, cell.fraction, shape, bool(cell.point)), []).append(cell)
        else:
            found[cell] = [cell]
    return list(found.values())

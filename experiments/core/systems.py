"""Compared systems, and their cells: one training each, by seed, share of the training data, or point of a sweep."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from crfdeid.documents import PHI
from crfdeid.errors import OptionConflictError, UnknownNameError
from crfdeid.registry import create, model_settings, require_known, select, setting_names, tagger_class
from experiments.core.embeddings import RANDOM

if TYPE_CHECKING:
    from crfdeid.tagger import Tagger, Traits
    from rnn.embeddings import WordVectors

Point = tuple[tuple[str, Any], ...]
"""Settings of a model by name, hashable."""
Vectors = Mapping[tuple[str, float], "WordVectors"]
"""Embedding and share of the training documents -> word vectors; random ones have no entry."""


class Variant(NamedTuple):
    """A model with settings of its own, under a name for tables."""

    name: str
    model: str
    settings: Point = ()


@dataclass(frozen=True)
class System:
    """A model as tables name it.

    Args:
        name: the model's, with the embedding's where several are compared: "elman", "elman-cbow".
        model: its name in `crfdeid.registry.MODELS`.
        embedding: its word vectors; None for a model that takes none.
        settings: settings that replace the profile's.
        members: for a combined system, its members with the settings that replace those of each.
    """

    name: str
    model: str
    embedding: str | None = None
    settings: Point = ()
    members: tuple[tuple[str, Point], ...] = ()

    def overrides(self, point: Point = ()) -> dict[str, Any]:
        """Settings that replace the profile's, members' own under their names; ``point`` takes precedence."""
        own = {name: dict(settings) for name, settings in self.members if settings}
        return {**dict(self.settings), **own, **dict(point)}


class Cell(NamedTuple):
    """One training: the unit of work.

    Attributes:
        system: the system.
        seed: of everything random in its training.
        fraction: its share of the training documents.
        point: settings of a sweep that replace the system's; such a cell is scored on dev alone.
    """

    system: System
    seed: int
    fraction: float = 1.0
    point: Point = ()

    @property
    def name(self) -> str:
        """The cell's name within its system: the seed, and its differences from a plain run."""
        fraction = () if self.fraction == 1.0 else (("fraction", self.fraction),)
        return ",".join([str(self.seed), *(f"{name}={value}" for name, value in (*fraction, *self.point))])

    @property
    def is_plain(self) -> bool:
        """True for a run of the system as compared: all training data, no point of a sweep."""
        return self.fraction == 1.0 and not self.point


def make_systems(models: Iterable[str], embeddings: Sequence[str], settings: Mapping[str, Any]) -> list[System]:
    """Every model with every embedding that it can start from; settings that a model does not have are left out.

    Raises:
        UsageError: none of the models has one of the settings.
    """
    return make_variants([Variant(model, model) for model in models], embeddings, settings)


def make_variants(variants: Iterable[Variant], embeddings: Sequence[str], settings: Mapping[str, Any]) -> list[System]:
    """Every variant with every embedding that its model can start from; its settings take precedence over the others.

    Raises:
        UsageError: none of the models has one of the settings.
    """
    variants = list(variants)
    models = list(dict.fromkeys(variant.model for variant in variants))
    require_known(settings, frozenset().union(*(setting_names(m, settings) for m in models)), of=", ".join(models))
    found = []
    for name, model, changes in variants:
        own = tuple({**select(model, settings), **dict(changes)}.items())
        if not traits_of(System(name, model, None, own)).takes_vectors:
            found.append(System(name, model, None, own))
        elif len(embeddings) == 1:
            found.append(System(name, model, embeddings[0], own))
        else:
            found += [System(f"{name}-{embedding}", model, embedding, own) for embedding in embeddings]
    return found


def make_ensemble(models: Sequence[str], combine: str, settings: Mapping[str, Any]) -> System:
    """A system that combines models; it trains members of its own, with random word vectors.

    Args:
        models: the members.
        combine: one of `crfdeid.ensembles.ensemble.COMBINATIONS`; also the system's name.
        settings: settings that replace those of the members' profiles.
    """
    own = (("members", tuple(models)), ("combine", combine), *settings.items())
    return System(combine, "ensemble", None, own, tuple((name, ()) for name in models))


def traits_of(system: System, point: Point = ()) -> Traits:
    """Needs and abilities of a system at a point of a sweep."""
    return tagger_class(system.model).traits(model_settings(system.model, overrides=system.overrides(point)))


def cell_traits(cell: Cell) -> Traits:
    """Traits of a cell's model."""
    return traits_of(cell.system, cell.point)


def profile_of(system: System, profile: str) -> str:
    """The profile that a system starts from: the default where its model lacks the named one."""
    return profile if profile in tagger_class(system.model).profiles() else "default"


def require_profile(profile: str, models: Iterable[str]) -> None:
    """Refuse a profile that none of the models has.

    Raises:
        UsageError: none has it.
    """
    if not any(profile in tagger_class(name).profiles() for name in models):
        raise UnknownNameError(f"--profile: none of these models has the profile '{profile}'")


def require_phi_alone(systems: Iterable[System]) -> None:
    """Refuse systems that tag more than PHI.

    Raises:
        UsageError: one does.
    """
    for system in systems:
        if traits_of(system).layers != (PHI,):
            raise OptionConflictError(f"{system.name} also tags concepts: compare it by python -m experiments.joint")


def make_tagger(cell: Cell, profile: str, vectors: Vectors) -> Tagger:
    """A cell's untrained tagger.

    Args:
        cell: the cell.
        profile: of its settings.
        vectors: the word vectors of the experiment.
    """
    system = cell.system
    settings = system.overrides(cell.point)
    vectors_of_system = vectors.get((system.embedding, cell.fraction)) if system.embedding else None
    return create(system.model, profile=profile, seed=cell.seed, overrides=settings, vectors=vectors_of_system)


def plain_cells(
    systems: Iterable[System], seeds: Sequence[int], fractions: Sequence[float] = (), *, data_vary: bool = False
) -> list[Cell]:
    """Every system with every seed, on all training documents and on each share of them.

    A model without anything random is trained once, unless seeds vary its data: they would change nothing.
    """
    shares = sorted({1.0, *fractions}, reverse=True)
    return [
        Cell(system, seed, share)
        for share in shares
        for seed in seeds
        for system in systems
        if seed == seeds[0] or data_vary or traits_of(system).uses_seed
    ]


def same_shape(cells: Sequence[Cell], traits: Callable[[Cell], Traits]) -> list[list[Cell]]:
    """Groups of cells that `Tagger.fit_many` trains at once, in order: seeds, points of a sweep, and variants.

    Args:
        cells: the cells to train.
        traits: traits of a cell.
    """
    found: dict[Any, list[Cell]] = {}
    for cell in cells:
        shape = traits(cell).shape
        company = (shape, cell.system.embedding, cell.fraction, bool(cell.point))
        found.setdefault(cell if shape is None else company, []).append(cell)
    return list(found.values())


def each_alone(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Groups of one cell each."""
    return [[cell] for cell in cells]


def sweep_cells(systems: Iterable[System], seeds: Sequence[int], grid: Mapping[str, Sequence[Any]]) -> list[Cell]:
    """Every system at every point of the grid of the settings that it has.

    A combined system has no cells: its members take the best settings of their models (`settle`).

    Raises:
        UsageError: a setting that none of the models has.
    """
    known = {system: setting_names(system.model, system.overrides()) for system in systems if not system.members}
    require_known(grid, frozenset().union(*known.values()), of=", ".join(system.model for system in known))
    cells = []
    for system, its_names in known.items():
        names = [name for name in grid if name in its_names]
        points = [tuple(zip(names, values, strict=True)) for values in itertools.product(*(grid[n] for n in names))]
        cells += [
            Cell(system, seed, point=point)
            for point in points
            if point
            for seed in seeds
            if seed == seeds[0] or traits_of(system, point).uses_seed
        ]
    return cells


def choose(scores: Mapping[Cell, float]) -> dict[System, Point]:
    """For each system, the point of a sweep with the best mean score on dev; the first of equal ones.

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
    """The systems with the settings that a sweep chose.

    A member of a combined system takes the settings chosen for its model. A model that was compared with several kinds
    of word vectors gives those of random ones, which members start from, or else of the first kind.
    """
    ordered = sorted(chosen.items(), key=lambda choice: choice[0].embedding in (None, RANDOM), reverse=True)
    best: dict[str, Point] = {}
    for system, point in ordered:
        best.setdefault(system.model, point)
    return [
        replace(
            system,
            settings=tuple({**dict(system.settings), **dict(chosen.get(system, ()))}.items()),
            members=tuple((name, best.get(name, settings)) for name, settings in system.members),
        )
        for system in systems
    ]

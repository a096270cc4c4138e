"""The cells of a sweep over settings, and what each system chooses by them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from crfdeid.registry import require_known, setting_names
from experiments.running.settings import RANDOM, Point
from experiments.running.systems import Cell, System, traits_of


def sweep_cells(systems: Iterable[System], seeds: Sequence[int], grid: Mapping[str, Sequence[Any]]) -> list[Cell]:
    """Every system at every point of the grid of those settings that it has.

    A system that joins others is not among them: its members take what is best for each by itself (`settle`).

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
    """The systems with the settings that a sweep chose.

    A member of a joined system takes those that were chosen for its model; where that was compared with several kinds
    of word vectors, for random ones, which members start from, or else for the first.
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

"""Systems of the experiment on private training data: those of Table 2, of its figures, and of pooling."""

from __future__ import annotations

from collections.abc import Sequence

from crfdeid.tagger import Traits
from experiments.core.settings import Point
from experiments.core.systems import Cell, System
from experiments.private.options import DANN, PSEUDONYMS, RAW, REPRESENTATION, PrivateSettings

PROVIDER, HOSPITALS = "provider", ("hospital-a", "hospital-b")
PARTS = (PROVIDER, *HOSPITALS)
"""Owners of the parts of the training documents, for pooling."""
ALONE, POOLED_RAW, POOLED_PSEUDONYMS = "alone", "pooled-raw", "pooled-pseudonyms"
POOLED_REPRESENTATIONS = "pooled-representations"
POOLED = (ALONE, POOLED_RAW, POOLED_PSEUDONYMS, POOLED_REPRESENTATIONS)
"""Kinds of systems that are trained on parts of the training documents."""
REPRESENTED = (REPRESENTATION, DANN, POOLED_REPRESENTATIONS)
"""Kinds whose tagger reads a private representation."""

TRAITS = Traits(uses_seed=True, is_trained=True, accelerated=True, takes_vectors=True, public_vocabulary=False)
"""Traits of every system here: networks that start from word vectors."""


def systems_of(settings: PrivateSettings) -> list[System]:
    """Systems of Table 2 and of the figures: for each embedding, the numbers of neighbours of Table 2 first."""
    found = []
    for embedding in settings.vectors.sources:
        found.append(_system(RAW, embedding))
        for count in dict.fromkeys((settings.neighbours, *settings.pseudonyms)):
            found.append(_system(PSEUDONYMS, embedding, neighbours=count))
        for count in dict.fromkeys((settings.neighbours, *settings.representations)):
            found += [_system(kind, embedding, neighbours=count) for kind in (REPRESENTATION, DANN)]
    return [system for system in found if system.model in settings.kinds]


def of_table_2(settings: PrivateSettings) -> list[System]:
    """Systems of Table 2: without private data, and with N neighbours."""
    return [system for system in systems_of(settings) if neighbours_of(system) in (None, settings.neighbours)]


def pooling_systems(settings: PrivateSettings) -> list[System]:
    """Systems trained on parts of the training documents; none without pooling."""
    if not settings.pooling:
        return []
    alone = [System(f"{ALONE}-{part}", ALONE, PROVIDER, (("part", part),)) for part in PARTS]
    count = (("neighbours", settings.neighbours),)
    text = [System(POOLED_RAW, POOLED_RAW, PROVIDER), System(POOLED_PSEUDONYMS, POOLED_PSEUDONYMS, PROVIDER, count)]
    represented = [
        System(_name_of(point), POOLED_REPRESENTATIONS, PROVIDER, (*count, *point)) for point in ((), *settings.pooled)
    ]
    return [*alone, *text, *represented]


def cells_of(systems: Sequence[System], seeds: tuple[int, ...]) -> list[Cell]:
    """Every system with every seed."""
    return [Cell(system, seed) for seed in seeds for system in systems]


def neighbours_of(system: System) -> int | None:
    """Number of neighbours of a system's words of PHI; None for unchanged words."""
    found: int | None = dict(system.settings).get("neighbours")
    return found


def _name_of(point: Point) -> str:
    """Name, in tables and folders, of a pooling system whose representation has settings of its own."""
    return "-".join([POOLED_REPRESENTATIONS, *(f"{name}={value}" for name, value in point)])


def _system(kind: str, embedding: str, **settings: int) -> System:
    return System("-".join([kind, embedding, *map(str, settings.values())]), kind, embedding, tuple(settings.items()))

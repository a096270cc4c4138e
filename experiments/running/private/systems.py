"""What is trained: the systems of Table 2 and of the figures, and those that pool what hospitals have."""

from __future__ import annotations

from collections.abc import Sequence

from crfdeid.tagger import Traits
from experiments.running.private.settings import DANN, PSEUDONYMS, RAW, REPRESENTATION, PrivateExperiment
from experiments.running.settings import Point
from experiments.running.systems import Cell, System

PROVIDER, HOSPITALS = "provider", ("hospital-a", "hospital-b")
PARTS = (PROVIDER, *HOSPITALS)
"""Who has a part of the training documents, where they are pooled."""
ALONE, POOLED_RAW, POOLED_PSEUDONYMS = "alone", "pooled-raw", "pooled-pseudonyms"
POOLED_REPRESENTATIONS = "pooled-representations"
REPRESENTED = (REPRESENTATION, DANN, POOLED_REPRESENTATIONS)
"""Those whose tagger reads a private representation."""

TRAITS = Traits(uses_seed=True, is_trained=True, accelerated=True, takes_vectors=True, public_vocabulary=False)
"""Of every system here: all are networks that start from word vectors."""


def systems_of(experiment: PrivateExperiment) -> list[System]:
    """The systems of Table 2 and of the figures: for each embedding, the numbers of neighbours of Table 2 first."""
    found = []
    for embedding in experiment.vectors.sources:
        found.append(_system(RAW, embedding))
        for count in dict.fromkeys((experiment.neighbours, *experiment.pseudonyms)):
            found.append(_system(PSEUDONYMS, embedding, neighbours=count))
        for count in dict.fromkeys((experiment.neighbours, *experiment.representations)):
            found += [_system(kind, embedding, neighbours=count) for kind in (REPRESENTATION, DANN)]
    return [system for system in found if system.model in experiment.kinds]


def of_table_2(experiment: PrivateExperiment) -> list[System]:
    """Of these, the ones of Table 2: without private data, and with N neighbours."""
    return [system for system in systems_of(experiment) if neighbours_of(system) in (None, experiment.neighbours)]


def pooling_systems(experiment: PrivateExperiment) -> list[System]:
    """The systems that are trained on parts of the training documents; none where nothing is pooled."""
    if not experiment.pooling:
        return []
    alone = [System(f"{ALONE}-{part}", ALONE, PROVIDER, (("part", part),)) for part in PARTS]
    count = (("neighbours", experiment.neighbours),)
    text = [System(POOLED_RAW, POOLED_RAW, PROVIDER), System(POOLED_PSEUDONYMS, POOLED_PSEUDONYMS, PROVIDER, count)]
    represented = [
        System(_name_of(point), POOLED_REPRESENTATIONS, PROVIDER, (*count, *point))
        for point in ((), *experiment.pooled)
    ]
    return [*alone, *text, *represented]


def cells_of(systems: Sequence[System], seeds: tuple[int, ...]) -> list[Cell]:
    """Every system with every seed."""
    return [Cell(system, seed) for seed in seeds for system in systems]


def neighbours_of(system: System) -> int | None:
    """How many neighbours a system's words of PHI have; None where they stay as they are."""
    found: int | None = dict(system.settings).get("neighbours")
    return found


def _name_of(point: Point) -> str:
    """What tables and folders call those who pool by a representation with some settings of its own."""
    return "-".join([POOLED_REPRESENTATIONS, *(f"{name}={value}" for name, value in point)])


def _system(kind: str, embedding: str, **settings: int) -> System:
    return System("-".join([kind, embedding, *map(str, settings.values())]), kind, embedding, tuple(settings.items()))

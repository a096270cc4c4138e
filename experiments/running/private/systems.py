"""Settings of the experiment on private training data, and the systems of its Table 2, its figures and its pooling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from crfdeid.errors import UnknownNameError
from crfdeid.tagger import Traits
from experiments.running.settings import CommonSettings, CorpusSettings, Point, VectorSettings
from experiments.running.systems import Cell, System

RAW, PSEUDONYMS, REPRESENTATION, DANN = "non-private", "pseudonyms", "representation", "dann"
SYSTEM_KINDS = (RAW, PSEUDONYMS, REPRESENTATION, DANN)
"""Kinds of training sentences, in the order of Table 2."""


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """Amounts of a profile.

    Args:
        seeds: number of seeds of each system.
        pseudonyms: further numbers of neighbours, Figure 4.
        representations: numbers of neighbours of Figure 5, which is optional.
        tagger: settings of the tagger that replace those of its profile friedrich2019.
        representation: settings of the representation that replace its profile's (`rnn.privacy.settings.profiles`).
        names: number of names that the averaging attack is tried on.
        encodings: maximum number of encodings of one sentence over all candidates, for each number of draws.
    """

    seeds: int
    pseudonyms: tuple[int, ...]
    representations: tuple[int, ...]
    tagger: Mapping[str, Any]
    representation: Mapping[str, Any]
    names: int
    encodings: int


SIZES = MappingProxyType(
    {
        "default": Sizes(
            seeds=1,
            pseudonyms=(1, 20),
            representations=(5, 20, 500),
            tagger={"epochs": 6, "layers": 1, "hidden": 96, "patience": 3},
            representation={
                "epochs": 4,
                "adversary_epochs": 3,
                "rounds": 3,
                "adversary": 64,
                "hidden": 96,
                "attack_epochs": (5,),
                "attack_seeds": 3,
            },
            names=40,
            encodings=800,
        ),
        "friedrich2019": Sizes(
            seeds=5,
            pseudonyms=(1, 5, 20, 50, 200, 500, 1000),
            representations=(5, 20, 50, 200, 500, 1000),
            tagger={},
            representation={},
            names=200,
            encodings=6400,
        ),
    }
)
"""Profile -> amounts. The default is for minutes on two cores."""


@dataclass(frozen=True, kw_only=True)
class PrivateExperiment(CommonSettings):
    """Settings of ``experiments.private``; the profile, a key of `SIZES`, is also the representation's.

    Args:
        corpus: the documents.
        vectors: the embeddings; each system is trained with each of them.
        kinds: kinds of systems of Table 2 and of the figures, of `SYSTEM_KINDS`.
        neighbours: N of Table 2.
        pseudonyms: further N of pseudonyms, Figure 4.
        representations: further N of representations, Figure 5; none to leave that figure out.
        pooling: also train systems of a provider and two hospitals that pool their data.
        pooled: settings of further representations for pooling, over those of ``representation``.
        tagger: settings of the tagger that replace the profile's.
        representation: settings of the representation that replace the profile's.
    """

    corpus: CorpusSettings = field(default_factory=CorpusSettings)
    vectors: VectorSettings = field(default_factory=VectorSettings)
    kinds: tuple[str, ...] = SYSTEM_KINDS
    neighbours: int = 100
    pseudonyms: tuple[int, ...] = ()
    representations: tuple[int, ...] = ()
    pooling: bool = False
    pooled: tuple[Point, ...] = ()
    tagger: Point = ()
    representation: Point = ()

    def __post_init__(self) -> None:
        if self.profile not in SIZES:
            raise UnknownNameError(f"unknown profile '{self.profile}': choose from {', '.join(SIZES)}")

    @property
    def sizes(self) -> Sizes:
        """Amounts of the profile."""
        return SIZES[self.profile]


PROVIDER, HOSPITALS = "provider", ("hospital-a", "hospital-b")
PARTS = (PROVIDER, *HOSPITALS)
"""Owners of the parts of the training documents, for pooling."""
ALONE, POOLED_RAW, POOLED_PSEUDONYMS = "alone", "pooled-raw", "pooled-pseudonyms"
POOLED_REPRESENTATIONS = "pooled-representations"
REPRESENTED = (REPRESENTATION, DANN, POOLED_REPRESENTATIONS)
"""Kinds whose tagger reads a private representation."""

TRAITS = Traits(uses_seed=True, is_trained=True, accelerated=True, takes_vectors=True, public_vocabulary=False)
"""Traits of every system here: networks that start from word vectors."""


def systems_of(experiment: PrivateExperiment) -> list[System]:
    """Systems of Table 2 and of the figures: for each embedding, the numbers of neighbours of Table 2 first."""
    found = []
    for embedding in experiment.vectors.sources:
        found.append(_system(RAW, embedding))
        for count in dict.fromkeys((experiment.neighbours, *experiment.pseudonyms)):
            found.append(_system(PSEUDONYMS, embedding, neighbours=count))
        for count in dict.fromkeys((experiment.neighbours, *experiment.representations)):
            found += [_system(kind, embedding, neighbours=count) for kind in (REPRESENTATION, DANN)]
    return [system for system in found if system.model in experiment.kinds]


def of_table_2(experiment: PrivateExperiment) -> list[System]:
    """Systems of Table 2: without private data, and with N neighbours."""
    return [system for system in systems_of(experiment) if neighbours_of(system) in (None, experiment.neighbours)]


def pooling_systems(experiment: PrivateExperiment) -> list[System]:
    """Systems trained on parts of the training documents; none without pooling."""
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
    """Number of neighbours of a system's words of PHI; None for unchanged words."""
    found: int | None = dict(system.settings).get("neighbours")
    return found


def _name_of(point: Point) -> str:
    """Name, in tables and folders, of a pooling system whose representation has settings of its own."""
    return "-".join([POOLED_REPRESENTATIONS, *(f"{name}={value}" for name, value in point)])


def _system(kind: str, embedding: str, **settings: int) -> System:
    return System("-".join([kind, embedding, *map(str, settings.values())]), kind, embedding, tuple(settings.items()))

"""Settings and options of ``python -m experiments.private``, and checks of their combinations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType, SimpleNamespace
from typing import Any

import click

from crfdeid.cli.shell import setting, whole_number
from crfdeid.errors import SettingError, UnknownNameError
from crfdeid.tagger import Traits
from experiments.core.embeddings import RECIPES, VectorSettings
from experiments.core.options import counts, option, systems
from experiments.core.settings import CommonSettings, CorpusSettings, check, check_near, options_of, settings_of
from experiments.core.systems import Cell, Point, System
from experiments.papers import FRIEDRICH2019

DESCRIPTION = """\
Train taggers on what can be shared in the place of notes (pseudonyms by neighbours, private representations, DANN),
score them on the same documents, and attack what is shared: Table 2 and Figures 4 and 5 of friedrich2019."""
EXAMPLES = """\
examples:
  python -m experiments.private --output results/
      on the built-in synthetic corpus, with small sizes, in 10 minutes on two cores
  python -m experiments.private --train notes/train --dev notes/dev --figure-5 --pooling --output results/
      on your own annotated corpus, everything
  python -m experiments.private --profile friedrich2019 --train notes/train --test notes/test --output results/
      the paper's sizes, for days

exit codes: 0 done, 1 unreadable data, 2 invalid option, 130 interrupted"""

_EMBEDDING = {"default": "cbow", FRIEDRICH2019.name: FRIEDRICH2019.embedding}
_UNLABELLED_NOTES = 200

RAW, PSEUDONYMS, REPRESENTATION, DANN = "non-private", "pseudonyms", "representation", "dann"
SYSTEM_KINDS = (RAW, PSEUDONYMS, REPRESENTATION, DANN)
"""Kinds of training sentences, in the order of Table 2."""


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """Amounts of a profile.

    Args:
        pseudonyms: further numbers of neighbours, Figure 4.
        representations: numbers of neighbours of Figure 5, which is optional.
        tagger: settings of the tagger that replace those of its profile friedrich2019.
        representation: settings of the representation that replace its profile's (`rnn.privacy.settings.profiles`).
        names: number of names that the averaging attack is tried on.
        encodings: maximum number of encodings of one sentence over all candidates, for each number of draws.
    """

    pseudonyms: tuple[int, ...]
    representations: tuple[int, ...]
    tagger: Mapping[str, Any]
    representation: Mapping[str, Any]
    names: int
    encodings: int


SIZES = MappingProxyType(
    {
        "default": Sizes(
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
        FRIEDRICH2019.name: Sizes(
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


def _usual(numbers: Callable[[Sizes], Sequence[int]]) -> str:
    """A value of each profile, for a help text."""
    default, paper = (",".join(map(str, numbers(SIZES[name]))) for name in SIZES)
    return f"{default}; with the paper's profile {paper}"


def _setting(text: str) -> tuple[str, Any]:
    """A setting of the representation; attack_epochs takes several values: attack_epochs=20,50."""
    name, value = setting(text)
    return (name, counts(str(value))) if name == "attack_epochs" else (name, value)


def _point(text: str) -> Point:
    """Settings of a representation that apply together."""
    return tuple(setting(part) for part in text.split(","))


@dataclass(frozen=True, kw_only=True)
class PrivateArguments(CommonSettings):
    """Settings of ``experiments.private``; the profile, a key of `SIZES`, is also the representation's.

    Args:
        kinds: the systems of Table 2 and of the figures, separated by commas
        neighbours: the neighbours of pseudonyms, representations and DANN in Table 2
        pseudonyms: further numbers of neighbours of pseudonyms, Figure 4
        representations: Figure 5: further numbers of neighbours of representations and DANN
        pooled: divide the training documents among a provider and two hospitals that pool their data; each value adds
            pooling by a representation with these settings, such as deviation=0.1,weight=1
        representation: settings of the representation, its adversaries and its training, such as size=100 rounds=20
        tagger: settings of the taggers, such as epochs=20 layers=2
        corpus: the documents.
        vectors: the embeddings; each system is trained with each of them.
        pooling: also train systems of a provider and two hospitals that pool their data.
    """

    kinds: tuple[str, ...] = option(SYSTEM_KINDS, systems(SYSTEM_KINDS), name="--systems", metavar="NAMES")
    neighbours: int = option(100, whole_number(5))
    pseudonyms: tuple[int, ...] = option(
        (), counts, name="--figure-4", metavar="LIST", unset=True, usual=_usual(lambda sizes: sizes.pseudonyms)
    )
    representations: tuple[int, ...] = option(
        (),
        lambda text: counts(text) if text else (),
        name="--figure-5",
        bare=True,
        metavar="[LIST]",
        unset=True,
        usual=f"none; with no list {_usual(lambda sizes: sizes.representations)}",
    )
    pooled: tuple[Point, ...] = option(
        (),
        lambda text: _point(text) if text else None,
        name="--pooling",
        several=True,
        bare=True,
        metavar="[NAME=VALUE,...]",
    )
    representation: Point = option((), _setting, name="--set", several=True, metavar="NAME=VALUE")
    tagger: Point = option((), setting, several=True, metavar="NAME=VALUE")
    corpus: CorpusSettings = field(default_factory=CorpusSettings)
    vectors: VectorSettings = field(default_factory=VectorSettings)
    pooling: bool = False

    def __post_init__(self) -> None:
        if self.profile not in SIZES:
            raise UnknownNameError(f"unknown profile '{self.profile}': choose from {', '.join(SIZES)}")

    @property
    def sizes(self) -> Sizes:
        """Amounts of the profile."""
        return SIZES[self.profile]


def options() -> list[click.Parameter]:
    """Options of the command."""
    embedding = f"{_EMBEDDING['default']}; with the paper's profile {_EMBEDDING['friedrich2019']}"
    texts = "word vectors, separated by commas: files, or methods by which they are trained here"
    return options_of(
        PrivateArguments,
        without=["augment", "pseudonymise", "share", "neighbours_from", "unlabelled_notes"],
        profile={"help": f"amounts of training: default, which are small, or the paper's: {', '.join(SIZES)}"},
        sources={"default": None, "help": texts, "known": tuple(RECIPES), "usual": embedding},
        dev={"help": "documents that end each part of the training"},
        test={"help": "documents to score and to attack"},
    )


def read_settings(options: SimpleNamespace) -> PrivateArguments:
    """Settings from the options; check each and their combinations."""
    if options.profile not in SIZES:
        raise UnknownNameError(f"--profile: unknown profile '{options.profile}': choose from {', '.join(SIZES)}")
    sizes = SIZES[options.profile]
    options.embeddings = options.embeddings or (_EMBEDDING[options.profile],)
    for source in options.embeddings:
        check_near("embeddings", source)
    check(options)
    pooled = tuple(point for point in options.pooling if point)
    options.pooling = pooled if options.pooling else None
    if len(set(pooled)) < len(pooled):
        raise SettingError("--pooling: names a representation twice")
    return settings_of(
        PrivateArguments,
        options,
        unlabelled_notes=_UNLABELLED_NOTES,
        pseudonyms=sizes.pseudonyms if options.figure_4 is None else options.figure_4,
        representations=() if options.figure_5 is None else options.figure_5 or sizes.representations,
        pooling=options.pooling is not None,
        pooled=pooled,
    )


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


def systems_of(settings: PrivateArguments) -> list[System]:
    """Systems of Table 2 and of the figures: for each embedding, the numbers of neighbours of Table 2 first."""
    found = []
    for embedding in settings.vectors.sources:
        found.append(_system(RAW, embedding))
        for count in dict.fromkeys((settings.neighbours, *settings.pseudonyms)):
            found.append(_system(PSEUDONYMS, embedding, neighbours=count))
        for count in dict.fromkeys((settings.neighbours, *settings.representations)):
            found += [_system(kind, embedding, neighbours=count) for kind in (REPRESENTATION, DANN)]
    return [system for system in found if system.model in settings.kinds]


def of_table_2(settings: PrivateArguments) -> list[System]:
    """Systems of Table 2: without private data, and with N neighbours."""
    return [system for system in systems_of(settings) if neighbours_of(system) in (None, settings.neighbours)]


def pooling_systems(settings: PrivateArguments) -> list[System]:
    """Systems trained on parts of the training documents; none without pooling."""
    if not settings.pooling:
        return []
    alone = [System(f"{ALONE}-{part}", ALONE, PROVIDER, (("part", part),)) for part in PARTS]
    count = (("neighbours", settings.neighbours),)
    text = [System(POOLED_RAW, POOLED_RAW, PROVIDER), System(POOLED_PSEUDONYMS, POOLED_PSEUDONYMS, PROVIDER, count)]
    represented = []
    for point in ((), *settings.pooled):
        name = "-".join([POOLED_REPRESENTATIONS, *(f"{setting}={value}" for setting, value in point)])
        represented.append(System(name, POOLED_REPRESENTATIONS, PROVIDER, (*count, *point)))
    return [*alone, *text, *represented]


def cells_of(systems: Sequence[System], seeds: tuple[int, ...]) -> list[Cell]:
    """Every system with every seed."""
    return [Cell(system, seed) for seed in seeds for system in systems]


def neighbours_of(system: System) -> int | None:
    """Number of neighbours of a system's words of PHI; None for unchanged words."""
    found: int | None = dict(system.settings).get("neighbours")
    return found


def _system(kind: str, embedding: str, **settings: int) -> System:
    return System("-".join([kind, embedding, *map(str, settings.values())]), kind, embedding, tuple(settings.items()))

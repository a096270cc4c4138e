"""What the experiment on private training data is asked to do: the options of ``experiments.private``, read once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from crfdeid.errors import UnknownNameError
from experiments.running.settings import CorpusSettings, OutputSettings, Point, VectorSettings

RAW, PSEUDONYMS, REPRESENTATION, DANN = "non-private", "pseudonyms", "representation", "dann"
KINDS = (RAW, PSEUDONYMS, REPRESENTATION, DANN)
"""How sentences are given to those who train, in the order of Table 2."""


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """What a profile trains, and how long.

    Args:
        seeds: how many there are of each system.
        pseudonyms: the numbers of neighbours of Figure 4, beside that of Table 2.
        representations: those of Figure 5, where it is asked for.
        tagger: settings of the tagger, in the place of those that its own profile friedrich2019 has.
        representation: settings of the representation, in the place of its profile's (`rnn.privacy.settings.profiles`).
        names: how many names the attack by averaging is tried on.
        encodings: of one sentence, over all candidates, at most, for each number of draws.
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
"""What each profile trains. The default takes 10 minutes on two cores: on the synthetic corpus, an epoch of an
adversary takes some 7 s of one core, one of the representation 4, and compiling what either runs 25 and 50."""


@dataclass(frozen=True, kw_only=True)
class PrivateExperiment:
    """All that ``experiments.private`` is asked to do.

    Args:
        profile: a key of `SIZES`; also of the tagger's and the representation's settings.
        corpus: what is learned from and scored.
        vectors: the embeddings; each system is made with each of them.
        output: what becomes of the results.
        seeds: each system is trained with each of them.
        kinds: the systems of Table 2 and of the figures, of `KINDS`.
        neighbours: N of Table 2.
        pseudonyms: further N of pseudonyms, Figure 4.
        representations: further N of representations, Figure 5; none to leave that figure out.
        pooling: whether a provider and two hospitals pool what they have.
        pooled: settings of further representations that they pool by, over those of ``representation``.
        tagger: settings of the tagger that replace the profile's.
        representation: settings of the representation that replace the profile's.
        device: where networks are trained, one of `experiments.running.device.DEVICES`.
        jobs: how many cells are trained at the same time; None for as many as pays.
        command: the options that define the experiment as plain data, kept with its results.
    """

    profile: str = "default"
    corpus: CorpusSettings = field(default_factory=CorpusSettings)
    vectors: VectorSettings = field(default_factory=VectorSettings)
    output: OutputSettings = field(default_factory=OutputSettings)
    seeds: tuple[int, ...] = (0,)
    kinds: tuple[str, ...] = KINDS
    neighbours: int = 100
    pseudonyms: tuple[int, ...] = ()
    representations: tuple[int, ...] = ()
    pooling: bool = False
    pooled: tuple[Point, ...] = ()
    tagger: Point = ()
    representation: Point = ()
    device: str = "auto"
    jobs: int | None = None
    command: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.profile not in SIZES:
            raise UnknownNameError(f"unknown profile '{self.profile}': choose from {', '.join(SIZES)}")

    @property
    def sizes(self) -> Sizes:
        """What the profile trains."""
        return SIZES[self.profile]

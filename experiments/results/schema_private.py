"""The shape of results.json of the experiment on private training data."""

from __future__ import annotations

from typing import TypedDict

from experiments.results.schema import ResultsPart, SignificancePart, SystemPart

PRIVATE, PRIVATE_SCHEMA = "private", 1
"""How its results are told apart, and the version of their form."""


class FPart(TypedDict):
    """An F; None where the types do not allow this kind of score."""

    f1: float | None


class PrivateScores(TypedDict):
    """Means over seeds."""

    binary_hipaa: FPart
    entity_strict: FPart


class AccuracyPart(TypedDict):
    """How often adversaries were right, and the 95 % interval of that."""

    accuracy: float
    low: float
    high: float


class HitsPart(TypedDict):
    """How often the right name came first, and among the first ten."""

    top1: float
    top10: float
    chance: float


class LinkingPart(TypedDict):
    """How often two vectors of one name are more alike than those of two names."""

    auc: float | None


class InversionPart(TypedDict):
    """The shares of words that were read, and that are the most frequent ones."""

    recovered: float | None
    by_frequency: float | None
    others_recovered: float | None
    others_by_frequency: float | None


class AttacksPart(TypedDict):
    """What came of each attack; None where it does not apply."""

    fresh: AccuracyPart | None
    continued: AccuracyPart | None
    zeroed: AccuracyPart | None
    no_noise: AccuracyPart | None
    averaging: dict[str, HitsPart] | None
    averaging_names: dict[str, HitsPart] | None
    linking: LinkingPart | None
    inversion: InversionPart | None


class RemainsPart(TypedDict):
    """What pseudonyms leave of the words."""

    unchanged: float
    containing: float
    neighbours_that_contain: float


class PrivateSystem(TypedDict):
    """A way to give sentences to those who train, with an embedding."""

    name: str
    kind: str
    neighbours: int | None
    embedding: str | None
    size: int | None
    seeds: int
    scores: PrivateScores
    attacks: AttacksPart
    remains: RemainsPart | None


class PoolingPart(TypedDict):
    """Those that pool what they have."""

    systems: list[PrivateSystem]
    models: dict[str, SystemPart]
    significance: SignificancePart


class PrivateResultsPart(ResultsPart):
    """results.json of the experiment on private training data."""

    experiment: str
    systems: list[PrivateSystem]
    pooling: PoolingPart | None

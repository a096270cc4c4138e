"""The shape of results.json of a comparison; more keys may be there."""

from __future__ import annotations

from typing import Any, TypedDict

from experiments.results.schema_parts import (
    CorpusPart,
    CurvePoint,
    EmbeddingPart,
    EnvironmentPart,
    ErrorsPart,
    ScoresPart,
    SettingsPart,
)

SCHEMA = 2


class RunPart(TypedDict):
    """A system with one seed."""

    seed: int
    fit_seconds: float
    predict_seconds: float
    tokens_per_second: float
    dev_f1: float
    scores: ScoresPart
    errors: ErrorsPart
    learning_curve: list[CurvePoint]


class SystemPart(TypedDict):
    """A model with its word vectors, and its runs."""

    model: str
    embedding: str | None
    runs: list[RunPart]


class ShareRun(TypedDict):
    """A run on a share of the training documents."""

    seed: int
    dev_f1: float
    scores: ScoresPart


class SharePart(TypedDict):
    """A system on a share of the training documents."""

    fraction: float
    documents: int
    sentences: int
    tokens: int
    runs: list[ShareRun]


class TriedRun(TypedDict):
    """A run at a point of a sweep."""

    seed: int
    dev_f1: float


class TriedPoint(TypedDict):
    """A point of a sweep."""

    system: str
    values: dict[str, Any]
    runs: list[TriedRun]


class SweepPart(TypedDict):
    """Settings that were tried, and each system's choice."""

    names: list[str]
    points: list[TriedPoint]
    chosen: dict[str, dict[str, Any]]


class PairPart(TypedDict):
    """Two systems, tested in one category."""

    a: str
    b: str
    category: str
    f1_a: float
    f1_b: float
    difference: float
    low: float
    high: float
    p: float
    p_holm: float


class Interval(TypedDict):
    """An F and its confidence interval."""

    f1: float
    low: float
    high: float


class SignificancePart(TypedDict):
    """Which differences hold."""

    test: str
    permutations: int
    samples: int
    seed: int
    level: float
    measure: str
    pairs: list[PairPart]
    intervals: dict[str, dict[str, Interval]]


class ResultsPart(TypedDict):
    """results.json."""

    schema: int
    corpus: CorpusPart
    settings: SettingsPart
    environment: EnvironmentPart
    embeddings: dict[str, EmbeddingPart]
    models: dict[str, SystemPart]
    fractions: dict[str, list[SharePart]]
    sweep: SweepPart | None
    significance: SignificancePart | None

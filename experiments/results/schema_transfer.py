"""The shape of results.json of the experiment on transfer."""

from __future__ import annotations

from typing import TypedDict

from experiments.results.schema_parts import (
    CorpusPart,
    CountedMeasures,
    CurvePoint,
    EmbeddingPart,
    EnvironmentPart,
    ErrorsPart,
    SettingsPart,
)

TRANSFER, TRANSFER_SCHEMA = "transfer", 1
"""How its results are told apart, and the version of their form."""


class CellPart(TypedDict):
    """Scores of tokens with their intervals: ``low`` and ``high`` are those of F."""

    precision: float
    recall: float
    f1: float
    low: float
    high: float
    precision_low: float
    precision_high: float
    recall_low: float
    recall_high: float


class MissedPart(TypedDict):
    """Tokens of PHI that were not marked, and those of them directly beside one that was; over all runs."""

    tokens: int
    adjacent_found: int


class TestedPart(TypedDict):
    """Scores of tokens in the test documents of a corpus; counts are over all runs, ``tokens`` is not."""

    tokens: int
    multi_class: CountedMeasures
    binary: CountedMeasures
    by_category: dict[str, CountedMeasures]
    missed: MissedPart


class PointPart(TypedDict):
    """What a threshold gives on the test documents; without a required sensitivity, the most probable tags."""

    required: float | None
    threshold: float | None
    sensitivity: float
    ppv: float
    f1: float
    false_negatives_per_1000: float
    false_positives_per_1000: float


class TransferRun(TypedDict):
    """A model on a corpus, with one seed; operating points are those of this corpus's own test documents."""

    seed: int
    fit_seconds: float
    predict_seconds: float
    tokens_per_second: float
    dev_f1: float
    errors: ErrorsPart
    operating_points: list[PointPart]
    learning_curve: list[CurvePoint]


class TransferSystem(TypedDict):
    """A model on a corpus; ``label`` is what tables call the model."""

    model: str
    label: str
    trained_on: str
    runs: list[TransferRun]


class TransferResultsPart(TypedDict):
    """results.json: ``matrix`` and ``scores`` are by model, by what it was trained on, and by what it was tested on."""

    experiment: str
    schema: int
    types: str
    level: float
    samples: int
    matrix: dict[str, dict[str, dict[str, CellPart]]]
    scores: dict[str, dict[str, dict[str, TestedPart]]]
    corpora: dict[str, CorpusPart]
    corpus: CorpusPart
    settings: SettingsPart
    environment: EnvironmentPart
    embeddings: dict[str, EmbeddingPart]
    models: dict[str, TransferSystem]

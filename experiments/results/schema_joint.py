"""The shape of results.json of the experiment on PHI and concepts."""

from __future__ import annotations

from typing import TypedDict

from experiments.results.schema import SignificancePart
from experiments.results.schema_parts import (
    CorpusPart,
    CurvePoint,
    EmbeddingPart,
    EnvironmentPart,
    ErrorsPart,
    ScoresPart,
    SettingsPart,
)

JOINT, JOINT_SCHEMA = "joint", 1
"""How its results are told apart, and the version of their form."""


class Held(TypedDict):
    """Of the words that are nothing but PHI in training, how many a model of concepts has stored."""

    held: int
    words: int


class JointRun(TypedDict):
    """A system with one seed: scores, errors and F on dev by annotation layer."""

    seed: int
    fit_seconds: float
    predict_seconds: float
    tokens_per_second: float
    dev_f1: dict[str, float]
    scores: dict[str, ScoresPart]
    errors: dict[str, ErrorsPart]
    phi_held: Held | None
    learning_curve: list[CurvePoint]


class JointSystem(TypedDict):
    """A system, whether the PHI that it found is hidden from its part for concepts, and its runs."""

    model: str
    embedding: str | None
    hides_phi: bool
    runs: list[JointRun]


class TextsPart(TypedDict):
    """What a row of Table 5 learned concepts from, and what it read them in."""

    learns_from: str
    reads: str


class JointTables(TypedDict):
    """Which systems stand in which table."""

    compared: list[str]
    table_4: dict[str, str]
    table_5: dict[str, TextsPart]


class JointResultsPart(TypedDict):
    """results.json of the experiment on PHI and concepts; ``significance`` is by layer, and of Table 5."""

    experiment: str
    schema: int
    layers: list[str]
    corpus: CorpusPart
    settings: SettingsPart
    environment: EnvironmentPart
    embeddings: dict[str, EmbeddingPart]
    systems: dict[str, JointSystem]
    tables: JointTables
    significance: dict[str, SignificancePart]

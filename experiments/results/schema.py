"""Shapes of results.json: of a comparison, and of the experiments joint, private and transfer; other keys may occur."""

from __future__ import annotations

from typing import Any, TypedDict

from experiments.results.schema_parts import (
    CorpusPart,
    CountedMeasures,
    CurvePoint,
    EmbeddingPart,
    EnvironmentPart,
    ErrorsPart,
    Measures,
    ScoresPart,
    SettingsPart,
)

SCHEMA = 2
JOINT, JOINT_SCHEMA = "joint", 1
PRIVATE, PRIVATE_SCHEMA = "private", 1
TRANSFER, TRANSFER_SCHEMA = "transfer", 1
"""Value of the key ``experiment`` (absent from a comparison), and version of the shape."""


class TimedRun(TypedDict):
    """Times and learning curve of a system with one seed."""

    seed: int
    fit_seconds: float
    predict_seconds: float
    tokens_per_second: float
    learning_curve: list[CurvePoint]


class RunPart(TimedRun):
    """A system with one seed."""

    dev_f1: float
    scores: ScoresPart
    errors: ErrorsPart


class SystemPart(TypedDict):
    """A model with its word vectors, and its runs."""

    model: str
    embedding: str | None
    runs: list[RunPart]


class TriedRun(TypedDict):
    """A run at a point of a sweep."""

    seed: int
    dev_f1: float


class ShareRun(TriedRun):
    """A run on a share of the training documents."""

    scores: ScoresPart


class SharePart(TypedDict):
    """A system on a share of the training documents."""

    fraction: float
    documents: int
    sentences: int
    tokens: int
    runs: list[ShareRun]


class TriedPoint(TypedDict):
    """A point of a sweep."""

    system: str
    values: dict[str, Any]
    runs: list[TriedRun]


class SweepPart(TypedDict):
    """Tried settings, and each system's choice."""

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
    """Significance of differences, and intervals."""

    test: str
    permutations: int
    samples: int
    seed: int
    level: float
    measure: str
    pairs: list[PairPart]
    intervals: dict[str, dict[str, Interval]]


class CommonPart(TypedDict):
    """Keys that every results.json has."""

    schema: int
    corpus: CorpusPart
    settings: SettingsPart
    environment: EnvironmentPart
    embeddings: dict[str, EmbeddingPart]


class ResultsPart(CommonPart):
    """results.json of a comparison."""

    models: dict[str, SystemPart]
    fractions: dict[str, list[SharePart]]
    sweep: SweepPart | None
    significance: SignificancePart | None


class Held(TypedDict):
    """Words that occur in training only as PHI, and the number of them that a model of concepts has stored."""

    held: int
    words: int


class JointRun(TimedRun):
    """A system with one seed: scores, errors and F on dev by annotation layer."""

    dev_f1: dict[str, float]
    scores: dict[str, ScoresPart]
    errors: dict[str, ErrorsPart]
    phi_held: Held | None


class JointSystem(TypedDict):
    """A system and its runs; ``hides_phi``: its part for concepts reads text without the PHI that it found."""

    model: str
    embedding: str | None
    hides_phi: bool
    runs: list[JointRun]


class TextsPart(TypedDict):
    """Training text and test text of a row of Table 5."""

    learns_from: str
    reads: str


class JointTables(TypedDict):
    """Systems of each table."""

    compared: list[str]
    table_4: dict[str, str]
    table_5: dict[str, TextsPart]


class JointResultsPart(CommonPart):
    """results.json of the experiment on PHI and concepts; ``significance`` is by layer, and of Table 5."""

    experiment: str
    layers: list[str]
    systems: dict[str, JointSystem]
    tables: JointTables
    significance: dict[str, SignificancePart]


class FPart(TypedDict):
    """An F; None where the types do not allow this kind of score."""

    f1: float | None


class PrivateScores(TypedDict):
    """Means over seeds."""

    binary_hipaa: FPart
    entity_strict: FPart


class AccuracyPart(TypedDict):
    """Accuracy of adversaries, and its 95 % interval."""

    accuracy: float
    low: float
    high: float


class HitsPart(TypedDict):
    """Shares of attacks that ranked the right name first, and among the first ten."""

    top1: float
    top10: float
    chance: float


class LinkingPart(TypedDict):
    """Probability that two vectors of one name are more alike than two of different names."""

    auc: float | None


class InversionPart(TypedDict):
    """Shares of words that an attack recovers, and that the most frequent words cover."""

    recovered: float | None
    by_frequency: float | None
    others_recovered: float | None
    others_by_frequency: float | None


class AttacksPart(TypedDict):
    """Result of each attack; None where it does not apply."""

    fresh: AccuracyPart | None
    continued: AccuracyPart | None
    zeroed: AccuracyPart | None
    no_noise: AccuracyPart | None
    averaging: dict[str, HitsPart] | None
    averaging_names: dict[str, HitsPart] | None
    linking: LinkingPart | None
    inversion: InversionPart | None


class RemainsPart(TypedDict):
    """Shares of PHI that pseudonyms leave."""

    unchanged: float
    containing: float
    neighbours_that_contain: float


class PrivateSystem(TypedDict):
    """A way to share training sentences, with an embedding."""

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
    """Systems that pool the data of several hospitals."""

    systems: list[PrivateSystem]
    models: dict[str, SystemPart]
    significance: SignificancePart


class PrivateResultsPart(ResultsPart):
    """results.json of the experiment on private training data."""

    experiment: str
    systems: list[PrivateSystem]
    pooling: PoolingPart | None


class CellPart(Measures):
    """Scores of tokens with their intervals; ``low`` and ``high`` are the ends of F's."""

    low: float
    high: float
    precision_low: float
    precision_high: float
    recall_low: float
    recall_high: float


class MissedPart(TypedDict):
    """Unmarked tokens of PHI, and how many of them are adjacent to a marked one; over all runs."""

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
    """Scores of a threshold on the test documents; without a required sensitivity, of the most probable tags."""

    required: float | None
    threshold: float | None
    sensitivity: float
    ppv: float
    f1: float
    false_negatives_per_1000: float
    false_positives_per_1000: float


class TransferRun(TimedRun):
    """A model on a corpus, with one seed; operating points are those of this corpus's own test documents."""

    dev_f1: float
    errors: ErrorsPart
    operating_points: list[PointPart]


class TransferSystem(TypedDict):
    """A model on a corpus; ``label`` is its name in tables."""

    model: str
    label: str
    trained_on: str
    runs: list[TransferRun]


class TransferResultsPart(CommonPart):
    """results.json; the keys of ``matrix`` and ``scores`` are model, training corpus and test corpus."""

    experiment: str
    types: str
    level: float
    samples: int
    matrix: dict[str, dict[str, dict[str, CellPart]]]
    scores: dict[str, dict[str, dict[str, TestedPart]]]
    corpora: dict[str, CorpusPart]
    models: dict[str, TransferSystem]

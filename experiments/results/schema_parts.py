"""Parts that every results.json has: corpus, settings, environment, embeddings, scores, errors."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

SPLITS = ("train", "dev", "test")


class SplitPart(TypedDict):
    """A split's counts; ``unaligned``: spans that fit no tokens."""

    documents: int
    sentences: int
    tokens: int
    spans: int
    spans_by_type: dict[str, int]
    unaligned: int


class CorpusPart(TypedDict):
    """Training and scored documents; ``test`` names the scored split."""

    name: str
    format: str
    type_map: str
    types: list[str]
    test: str
    notices: list[str]
    splits: dict[str, SplitPart]
    sha256: str


class CommandPart(TypedDict):
    """The options that tables and the report name."""

    profile: str
    seeds: list[int]
    augment: NotRequired[str]
    pseudonymise: NotRequired[int | None]
    neighbours_from: NotRequired[str | None]


class SettingsPart(TypedDict):
    """The options, the repair of invalid tags, and each system's full settings."""

    command: CommandPart
    repair: str
    models: dict[str, dict[str, Any]]


class EnvironmentPart(TypedDict):
    """The machine, the libraries, and the duration of the experiment."""

    python: str
    platform: str
    packages: dict[str, str]
    commit: str | None
    device: str
    cores: int | None
    jobs: int
    corpus_seconds: float
    total_seconds: float


class Unknown(TypedDict):
    """Shares of a split's tokens, and of its different words, that have no vector."""

    tokens: float
    types: float


class EmbeddingPart(TypedDict):
    """Word vectors, the number of their vectors of word parts, and remarks for their reader."""

    kind: str
    words: int
    dim: int
    subword_buckets: int
    out_of_vocabulary: dict[str, Unknown]
    notices: list[str]
    fit_seconds: float


class Measures(TypedDict):
    """Fractions."""

    precision: float
    recall: float
    f1: float


class CountedMeasures(Measures):
    """Fractions, and their counts."""

    tp: int
    fp: int
    fn: int


class Scored(TypedDict):
    """One kind of score."""

    micro: CountedMeasures
    macro: Measures
    by_type: dict[str, CountedMeasures]


class ScoresPart(TypedDict):
    """Kinds of scores of a run."""

    entity_strict: Scored
    entity_relaxed: Scored
    token: Scored
    token_binary: Scored
    token_binary_hipaa: NotRequired[Scored]  # where types say which identifier of HIPAA they are


class Confusion(TypedDict):
    """Count of errors between two types."""

    gold: str
    predicted: str
    count: int


class Causes(TypedDict):
    """Counts of causes by category of error."""

    missed: dict[str, int]
    wrong: dict[str, int]
    boundary: dict[str, int]
    spurious: dict[str, int]


class Categories(TypedDict):
    """Number of errors of each category."""

    missed: int
    wrong: int
    boundary: int
    spurious: int


class ErrorsPart(TypedDict):
    """Counts of errors."""

    categories: Categories
    by_type: Causes
    causes: Causes
    confusions: list[Confusion]


class CurvePoint(TypedDict):
    """A step of training."""

    step: int
    loss: float | None
    dev_f1: float | None

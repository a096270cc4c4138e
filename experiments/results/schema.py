"""The shape of results.json and of the lines of the files beside it. More keys may be there than are named here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, NotRequired, TypedDict

from crfdeid.shapes import problems

SCHEMA = 2
PRIVATE, PRIVATE_SCHEMA = "private", 1
JOINT, JOINT_SCHEMA = "joint", 1
"""How results of other experiments than comparisons are told apart, and the versions of their form."""
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
    """What was learned from and scored; ``test`` names the split that was scored."""

    name: str
    format: str
    type_map: str
    types: list[str]
    test: str
    notices: list[str]
    splits: dict[str, SplitPart]
    sha256: str


class CommandPart(TypedDict):
    """The options, as they were given; those that tables and the report name are here."""

    profile: str
    seeds: list[int]
    augment: NotRequired[str]
    pseudonymise: NotRequired[int | None]
    neighbours_from: NotRequired[str | None]


class SettingsPart(TypedDict):
    """The options, how invalid tags are read, and each system's full settings."""

    command: CommandPart
    repair: str
    models: dict[str, dict[str, Any]]


class EnvironmentPart(TypedDict):
    """The machine, the libraries, and the time that everything took."""

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
    """The shares of a split's tokens, and of its different words, that have no vector."""

    tokens: float
    types: float


class EmbeddingPart(TypedDict):
    """Word vectors, how many vectors of word parts they have, and what a reader must know of them."""

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
    """Fractions, and the counts that they come from."""

    tp: int
    fp: int
    fn: int


class Scored(TypedDict):
    """One kind of score."""

    micro: CountedMeasures
    macro: Measures
    by_type: dict[str, CountedMeasures]


class ScoresPart(TypedDict):
    """The kinds of scores that a run has."""

    entity_strict: Scored
    entity_relaxed: Scored
    token: Scored
    token_binary: Scored
    token_binary_hipaa: NotRequired[Scored]  # where types say which identifier of HIPAA they are


class Confusion(TypedDict):
    """How often one type was taken for another."""

    gold: str
    predicted: str
    count: int


class Causes(TypedDict):
    """By category of error, how often each cause."""

    missed: dict[str, int]
    wrong: dict[str, int]
    boundary: dict[str, int]
    spurious: dict[str, int]


class Categories(TypedDict):
    """How many errors of each category."""

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

    models: dict[str, SystemPart]
    significance: SignificancePart


class PrivateResultsPart(ResultsPart):
    """results.json of the experiment on private training data."""

    experiment: str
    systems: list[PrivateSystem]
    pooling: PoolingPart | None


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


class SpanPart(TypedDict):
    """A span."""

    start: int
    end: int
    label: str


class SpansLine(TypedDict):
    """A line of predictions/: a document's spans of PHI, or those of each annotation layer."""

    id: str
    spans: NotRequired[list[SpanPart]]
    layers: NotRequired[dict[str, list[SpanPart]]]


class ErrorLine(TypedDict):
    """A line of errors/: an erroneous entity."""

    document: str
    category: str
    gold: SpanPart | None
    predicted: SpanPart | None
    causes: list[str]
    layer: NotRequired[str]  # of PHI it is left out


class TextLine(TypedDict):
    """A line of texts.jsonl: a document's text."""

    id: str
    text: str


def damage(results: Any) -> Iterator[str]:
    """What is wrong with data that should be those of results.json: their shape first, then what refers to what."""
    found = list(problems(results, _FORMS[kind_of(results)].shape))
    yield from found or (_loose_joint_ends(results) if is_joint(results) else _loose_ends(results))


class _Form(NamedTuple):
    schema: int
    shape: Any


_FORMS = {
    None: _Form(SCHEMA, ResultsPart),
    PRIVATE: _Form(PRIVATE_SCHEMA, PrivateResultsPart),
    JOINT: _Form(JOINT_SCHEMA, JointResultsPart),
}


def kind_of(results: Any) -> str | None:
    """The experiment that results are of; None for a comparison."""
    found = results.get("experiment") if isinstance(results, Mapping) else None
    return found if isinstance(found, str) and found in _FORMS else None


def schema_of(results: Any) -> int:
    """The version of their form that results of this kind have here."""
    return _FORMS[kind_of(results)].schema


def is_private(results: Any) -> bool:
    """Whether results are those of the experiment on private training data."""
    return kind_of(results) == PRIVATE


def is_joint(results: Any) -> bool:
    """Whether results are those of the experiment on PHI and concepts."""
    return kind_of(results) == JOINT


def _loose_ends(results: Mapping[str, Any]) -> Iterator[str]:
    splits, systems = results["corpus"]["splits"], results["models"]
    yield from (f"corpus.splits.{name} is none of {', '.join(SPLITS)}" for name in splits if name not in SPLITS)
    if results["corpus"]["test"] not in splits:
        yield "corpus.test names no split"
    if not systems:
        yield "models is empty"
    yield from _loose_systems(results, "models")


def _loose_systems(results: Mapping[str, Any], part: str) -> Iterator[str]:
    for name, system in results[part].items():
        if not system["runs"]:
            yield f"{part}.{name}.runs is empty"
        if system["embedding"] not in (None, *results["embeddings"]):
            yield f"{part}.{name}.embedding is not among embeddings"


def _loose_joint_ends(results: Mapping[str, Any]) -> Iterator[str]:
    systems, tables = results["systems"], results["tables"]
    if results["corpus"]["test"] not in results["corpus"]["splits"]:
        yield "corpus.test names no split"
    if not tables["compared"]:
        yield "tables.compared is empty"
    yield from _loose_systems(results, "systems")
    for name in [*tables["compared"], *tables["table_4"].values(), *tables["table_5"]]:
        if name not in systems:
            yield f"tables name {name}, which is not among systems"
        elif any(
            "concept" not in run[part] for run in systems[name]["runs"] for part in ("scores", "errors", "dev_f1")
        ):
            yield f"systems.{name} has a run without concepts"
    if not {*results["layers"]} <= results["significance"].keys():
        yield "significance lacks a layer"

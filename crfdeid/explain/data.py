"""Explanations as data: of one tag, of a model's weights, and of the spans hidden in a note.

All figures are log-odds in nats: positive ones support the tag, negative ones its contrast tag.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from crfdeid.documents import Document, Span
from features.tokens import Sentence


class TagContrast(NamedTuple):
    """A question: why a token has a tag and not the contrast tag."""

    token: int
    tag: str
    contrast_tag: str


@dataclass(frozen=True, slots=True)
class FeatureTerm:
    """A feature of a token, and its contribution to a CRF's log-odds.

    Attributes:
        name: the feature string.
        kind: see `crfdeid.explain.prediction.feature_kind`.
        count: count of the feature at the token, mostly 1.
        weight: weight for the tag.
        contrast_weight: weight for the contrast tag.
    """

    name: str
    kind: str
    count: int
    weight: float
    contrast_weight: float

    @property
    def value(self) -> float:
        """The contribution to the log-odds."""
        return self.count * (self.weight - self.contrast_weight)


@dataclass(frozen=True, slots=True)
class CrfSum:
    """A CRF's log-odds as the exact sum of its features and its neighbours.

    Attributes:
        features: features with weights, the largest value first.
        unknown: features without: not in the training notes, or 0 for every tag.
        before: contribution of the words before the token, the log-ratio of the forward messages.
        after: contribution of the words after it, the log-ratio of the backward messages.
    """

    features: tuple[FeatureTerm, ...]
    unknown: tuple[str, ...]
    before: float
    after: float

    @property
    def total(self) -> float:
        """The log-odds."""
        return sum(term.value for term in self.features) + self.before + self.after

    @property
    def by_kind(self) -> Mapping[str, float]:
        """The contribution of each kind of feature, the largest first."""
        sums: dict[str, float] = {}
        for term in self.features:
            sums[term.kind] = sums.get(term.kind, 0.0) + term.value
        return dict(sorted(sums.items(), key=lambda item: -abs(item[1])))


@dataclass(frozen=True, slots=True)
class WordTerm:
    """A word and its contribution.

    Attributes:
        word: the word, or another input in brackets, such as the line's field.
        place: distance from the token, 0 for the token itself; None for other inputs.
        value: contribution to the log-odds.
    """

    word: str
    place: int | None
    value: float


@dataclass(frozen=True, slots=True)
class Gradients:
    """Integrated gradients: a network's log-odds spread over the vectors of its words.

    Attributes:
        words: contributions of the words' vectors, in text order.
        around: contribution of the padding or the words around the sentence.
        baseline: log-odds with all word vectors at zero; other inputs, such as the casing, stay.
        log_odds: log-odds of the network.
    """

    words: tuple[WordTerm, ...]
    around: float
    baseline: float
    log_odds: float

    @property
    def total(self) -> float:
        """The sum of all contributions: the log-odds, up to the error of the integral."""
        return sum(term.value for term in self.words) + self.around + self.baseline


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """A model's prediction for a token of a sentence with replaced ``words``.

    ``tag`` is the predicted tag, with its probability; the log-odds compare the explained tag with its contrast tag.
    """

    words: tuple[str, ...]
    tag: str
    probability: float
    log_odds: float


@dataclass(frozen=True, slots=True)
class RuleFind:
    """A match of a rule at the token: the rule and its label, its precision in training, and the matched words."""

    name: str
    label: str
    share: float
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Explanation of a token's tag against a contrast tag.

    Attributes:
        model: name of the model in `crfdeid.registry.MODELS`.
        words: the sentence.
        token: index of the token in it.
        tag: the explained tag, by default the prediction.
        contrast_tag: the tag to compare with, by default the most probable one of another type.
        probability: probability of the tag.
        contrast_probability: probability of the contrast tag.
        phi: probability that the token is PHI of any type.
        log_odds: log-odds of the two tags.
        crf: exact sum of a CRF.
        occlusion: loss of log-odds for each word replaced by an unknown one.
        gradients: integrated gradients of a network that reads words.
        rules: matches of rules at the token.
        counterfactual: prediction for the requested replacements.
        members: explanations of the members of a combined model.
    """

    model: str
    words: tuple[str, ...]
    token: int
    tag: str
    contrast_tag: str
    probability: float
    contrast_probability: float
    phi: float
    log_odds: float
    crf: CrfSum | None = None
    occlusion: tuple[WordTerm, ...] = ()
    gradients: Gradients | None = None
    rules: tuple[RuleFind, ...] = ()
    counterfactual: Counterfactual | None = None
    members: tuple[Explanation, ...] = ()


@runtime_checkable
class SupportsGradients(Protocol):
    """A network that computes integrated gradients of its word vectors."""

    def integrated_gradients(self, sentence: Sentence, token: int, tag: str, contrast_tag: str) -> Gradients:
        """Integrated gradients of the log-odds of two tags at a token.

        Args:
            sentence: the sentence.
            token: index of the token.
            tag: the tag to explain.
            contrast_tag: the tag to compare with.
        """


@dataclass(frozen=True, slots=True)
class TagFeatures:
    """The features of a tag with the largest and the smallest weights.

    Attributes:
        tag: the tag.
        largest: feature strings or hashes with their positive weights, the largest first.
        smallest: the same with negative weights, the smallest first.
    """

    tag: str
    largest: tuple[tuple[str, float], ...]
    smallest: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class FeatureKindSummary:
    """Weights of one kind of feature in a CRF.

    Attributes:
        kind: see `crfdeid.explain.prediction.feature_kind`; or a neighbour (`crfdeid.explain.weights.WORDS_BEFORE`).
        features: number of features with a weight.
        weights: number of weights other than 0.
        l1: sum of the absolute weights.
        l2: root of the sum of squares.
        share: fraction of the log-odds of all tokens tagged as PHI in the caller's notes; all kinds sum to 1. None
            without notes, or without tagged tokens.
    """

    kind: str
    features: int
    weights: int
    l1: float
    l2: float
    share: float | None = None


@dataclass(frozen=True, slots=True)
class TagMatrix:
    """Matrix of values from tag to tag; ``names`` are those of rows (previous tags) and columns (next tags)."""

    title: str
    names: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class WeightNorm:
    """Norm of an array of weights.

    Attributes:
        name: path of the array in the network, with the part of it.
        shape: its shape.
        norm: root of the sum of squares.
        typical: root of the mean of squares.
    """

    name: str
    shape: tuple[int, ...]
    norm: float
    typical: float


@dataclass(frozen=True, slots=True)
class NearestWords:
    """Nearest neighbours of a word by the cosine of their vectors.

    ``near`` has words or hashes with their cosines, the nearest first; it is None if the word has no vector.
    """

    word: str
    near: tuple[tuple[str, float], ...] | None


@dataclass(frozen=True, slots=True)
class CrfSummary:
    """Learned weights of a CRF: transitions, features of each requested tag, and kinds, the largest L1 first."""

    transitions: TagMatrix
    features: tuple[TagFeatures, ...]
    kinds: tuple[FeatureKindSummary, ...]


@dataclass(frozen=True, slots=True)
class NetworkSummary:
    """Learned weights of a network.

    Attributes:
        norms: norms of its arrays, and of the parts for one input each.
        matrices: matrices from tag to tag, if the network has such weights.
        facts: further figures: a description, and the value.
        words: words with their nearest ones.
        hashed: True if its words are keyed hashes.
    """

    norms: tuple[WeightNorm, ...]
    matrices: tuple[TagMatrix, ...]
    facts: tuple[tuple[str, float], ...]
    words: tuple[NearestWords, ...]
    hashed: bool


@dataclass(frozen=True, slots=True)
class WeightSummary:
    """Learned weights of a model: of a CRF, a network that reads words, rules, or members of a combination.

    Attributes:
        model: name of the model in `crfdeid.registry.MODELS`.
        tags: its tags.
        hashed: True if its words are keyed hashes.
        crf: weights of a CRF.
        network: weights of a network.
        rules: rules in use: name, label, and precision in training.
        members: the members.
    """

    model: str
    tags: tuple[str, ...]
    hashed: bool = False
    crf: CrfSummary | None = None
    network: NetworkSummary | None = None
    rules: tuple[tuple[str, str, float], ...] = ()
    members: tuple[WeightSummary, ...] = ()


@runtime_checkable
class SupportsWeightSummary(Protocol):
    """A network that summarises its weights."""

    def contents(self, words: Sequence[str], sentences: Sequence[Sentence], *, top: int) -> NetworkSummary:
        """Summarise the weights.

        Args:
            words: words whose neighbours to list; empty: some frequent words.
            sentences: sentences over which to average figures that depend on text.
            top: number of nearest words.
        """


@dataclass(frozen=True, slots=True)
class Decision:
    """A hidden span, its text, and the component that marked it (`crfdeid.documents.Evidence`).

    Attributes:
        span: the span.
        value: its text.
        source: the component.
        score: its score; None if nothing was measured.
        origin: of consistency, the span elsewhere in the note with the same value; else None.
    """

    span: Span
    value: str
    source: str
    score: float | None
    origin: Span | None


@dataclass(frozen=True, slots=True)
class DocumentExplanation:
    """A note with the source of each hidden span.

    Attributes:
        document: the note with its PHI.
        decisions: one decision for each of its spans, by offset.
        allowed: spans of the model that the allow list removed.
        threshold: the probability of being PHI from which the model marks tokens; None for the most probable tags.
    """

    document: Document
    decisions: tuple[Decision, ...]
    allowed: tuple[Span, ...]
    threshold: float | None

"""Explanations as data: of one tag, of a model's weights, and of the spans hidden in a note.

All figures are log-odds in nats: positive ones support the tag, negative ones the tag it is contrasted with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from crfdeid.documents import Document, Span
from features.tokens import Sentence


class TagContrast(NamedTuple):
    """What is to be explained: the tag of a token, against another tag."""

    token: int
    tag: str
    contrast_tag: str


@dataclass(frozen=True, slots=True)
class FeatureTerm:
    """A feature of a token, and what it adds to a CRF's log-odds.

    Attributes:
        name: the feature string.
        kind: as of `crfdeid.explain.prediction`.
        count: how often the token has it: mostly once.
        weight: for the tag.
        rival_weight: for the rival.
    """

    name: str
    kind: str
    count: int
    weight: float
    contrast_weight: float

    @property
    def value(self) -> float:
        """What it adds to the log-odds."""
        return self.count * (self.weight - self.contrast_weight)


@dataclass(frozen=True, slots=True)
class CrfSum:
    """A CRF's log-odds taken apart, exactly: its features and its neighbours add up to them.

    Attributes:
        features: those that have a weight, the largest value first.
        unknown: those that have none: no training note had them, or training left them at 0 for every tag.
        before: what the words before the token say, the log-ratio of the forward messages.
        after: what the words after it say, the log-ratio of the backward messages.
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
        """What each kind of feature adds, the largest value first."""
        found: dict[str, float] = {}
        for term in self.features:
            found[term.kind] = found.get(term.kind, 0.0) + term.value
        return dict(sorted(found.items(), key=lambda item: -abs(item[1])))


@dataclass(frozen=True, slots=True)
class WordTerm:
    """A word, and what it adds.

    Attributes:
        word: the word, or in brackets something else that the model reads, such as the line's field.
        place: its distance from the token, 0 for the token itself; None for what is no word of the sentence.
        value: what it adds to the log-odds.
    """

    word: str
    place: int | None
    value: float


@dataclass(frozen=True, slots=True)
class Gradients:
    """Integrated gradients: a network's log-odds spread over the vectors of its words.

    Attributes:
        words: what each word's vectors add, in text order.
        around: what the padding or the words around the sentence add.
        baseline: the log-odds where all vectors are zeros; what a network reads beside them, such as the casing, stays.
        log_odds: the network's log-odds.
    """

    words: tuple[WordTerm, ...]
    around: float
    baseline: float
    log_odds: float

    @property
    def total(self) -> float:
        """The sum of all parts: the log-odds, but for the error of the integral."""
        return sum(term.value for term in self.words) + self.around + self.baseline


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """What a model says of a token once words of its sentence are others.

    Attributes:
        words: the sentence as it is then.
        tag: the most probable tag of the token then.
        probability: of that tag.
        log_odds: of the tag and the rival that are explained.
    """

    words: tuple[str, ...]
    tag: str
    probability: float
    log_odds: float


@dataclass(frozen=True, slots=True)
class RuleFind:
    """A trusted rule that finds the token.

    Attributes:
        name: the rule's.
        label: the type that it gives.
        share: how much of what it found in training was right.
        words: what it finds here.
    """

    name: str
    label: str
    share: float
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a model tags a token as it does, and not as the tag that comes next.

    Attributes:
        model: its name in `crfdeid.registry.MODELS`.
        words: the sentence.
        token: the place of the token in it.
        tag: the tag that is explained: the model's own, or one that was asked for.
        rival: what it is compared with: the most probable tag of another type, or one that was asked for.
        probability: of the tag.
        rival_probability: of the rival.
        phi: the probability that the token is PHI, whatever its type.
        log_odds: of the tag and the rival.
        crf: for a CRF, the exact sum.
        occlusion: for any model, what the log-odds lose when a word becomes one that no model knows.
        gradients: for a network that reads words, integrated gradients.
        rules: for the rules, those that find the token.
        altered: what the model says of the words that were asked for.
        members: for a model made of models, the explanation of each.
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
    """A tagger on a network that can say what the vectors of its words add."""

    def integrated_gradients(self, sentence: Sentence, token: int, tag: str, contrast_tag: str) -> Gradients:
        """The log-odds of a tag and a rival at a token, spread over the vectors of the words.

        Args:
            sentence: the sentence.
            token: the token's place in it.
            tag: a tag of the model's.
            rival: another.
        """
        ...


@dataclass(frozen=True, slots=True)
class TagFeatures:
    """The features that speak most for and most against a tag.

    Attributes:
        tag: the tag.
        largest: feature strings, or their hashes, and their weights; the largest weight first.
        smallest: the same with weights below 0; the smallest first.
    """

    tag: str
    largest: tuple[tuple[str, float], ...]
    smallest: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class FeatureKindSummary:
    """What one kind of feature carries in a CRF.

    Attributes:
        kind: as of `crfdeid.explain.prediction`; or what the neighbours say.
        features: how many of them have a weight.
        weights: how many weights they have that are not 0.
        l1: the sum of the weights' sizes.
        l2: the root of the sum of their squares.
        share: the part of the log-odds that they add at the tokens of given notes that are tagged as PHI, each against
            its best rival; a fraction, and all kinds together make 1. None where no notes were given, or none of
            their tokens is tagged.
    """

    kind: str
    features: int
    weights: int
    l1: float
    l2: float
    share: float | None = None


@dataclass(frozen=True, slots=True)
class TagMatrix:
    """A table of numbers: how a tag leads to another.

    Attributes:
        title: what it is.
        names: of rows and columns: the row is the tag before, the column the tag after it.
        values: row by row.
    """

    title: str
    names: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class WeightNorm:
    """How large an array of weights is.

    Attributes:
        name: its place in the network, and which part of it.
        shape: its shape.
        norm: the root of the sum of its squares.
        typical: the root of their mean.
    """

    name: str
    shape: tuple[int, ...]
    norm: float
    typical: float


@dataclass(frozen=True, slots=True)
class NearestWords:
    """The words whose vectors point most nearly the same way as a word's.

    Attributes:
        word: as it was asked for, or as it is stored.
        near: words, or their hashes, and cosines; the nearest first. None where the word has no vector of its own.
    """

    word: str
    near: tuple[tuple[str, float], ...] | None


@dataclass(frozen=True, slots=True)
class CrfSummary:
    """What a CRF has learned.

    Attributes:
        transitions: the weight of each tag after each tag.
        features: of each tag that was asked for.
        kinds: of feature, the largest L1 first.
    """

    transitions: TagMatrix
    features: tuple[TagFeatures, ...]
    kinds: tuple[FeatureKindSummary, ...]


@dataclass(frozen=True, slots=True)
class NetworkSummary:
    """What can be read off a network's weights.

    Attributes:
        norms: of its arrays, and of the parts that belong to one input each.
        matrices: from tag to tag, where the network has such a way.
        facts: what else a number can say: a sentence, and the number.
        words: nearest words.
        hashed: whether its words are keyed hashes.
    """

    norms: tuple[WeightNorm, ...]
    matrices: tuple[TagMatrix, ...]
    facts: tuple[tuple[str, float], ...]
    words: tuple[NearestWords, ...]
    hashed: bool


@dataclass(frozen=True, slots=True)
class WeightSummary:
    """What a model has learned.

    Attributes:
        model: its name in `crfdeid.registry.MODELS`.
        tags: those that it can give.
        hashed: whether its words are keyed hashes, and shown as such.
        crf: of a CRF.
        network: of a network that reads words.
        rules: of the rules those that are trusted: name, type, and the share of right finds in training.
        members: of a model made of models.
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
    """A tagger on a network of whose weights something can be said."""

    def contents(self, words: Sequence[str], sentences: Sequence[Sentence], *, top: int) -> NetworkSummary:
        """What can be read off its weights.

        Args:
            words: whose nearest words are wanted; none for some frequent ones.
            sentences: over which what hangs on the text is averaged, where there are any.
            top: how many nearest words.
        """
        ...


RECORD, SITE_LIST, SITE_PATTERN, RULE, MODEL, THRESHOLD, CONSISTENCY = REASON_KINDS = (
    "record",
    "site list",
    "site pattern",
    "rule",
    "model",
    "threshold",
    "consistency",
)
"""The kinds of reasons, in the order in which they are named."""


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason for which something is hidden.

    Attributes:
        kind: one of `KINDS`.
        name: the rule's, model's or pattern's name; of a record the kind of identifier; of a site's list the term.
        span: what it marks; of consistency, the span elsewhere in the note that the value comes from.
        probability: of a rule the share of its finds in training that were right; of a model the largest probability
            that a token of the span is PHI, and so for a threshold; None for the others.
        threshold: for a threshold, what the probability reaches.
    """

    kind: str
    name: str
    span: Span
    probability: float | None = None
    threshold: float | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """A span that is hidden, and why.

    Attributes:
        span: what is hidden.
        value: its text.
        reasons: in the order of `KINDS`.
    """

    span: Span
    value: str
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class DocumentExplanation:
    """A note, and why each span of it is hidden.

    Attributes:
        document: as `Deidentifier.annotate` gives it.
        decisions: one for each of its spans, by place.
        allowed: what a model found and a site's list of what is never hidden took away.
    """

    document: Document
    decisions: tuple[Decision, ...]
    allowed: tuple[Span, ...]

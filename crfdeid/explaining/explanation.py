"""What an explanation of one tag says, as data; `crfdeid.explaining.text` and its neighbours render it.

All figures are log-odds in nats: what speaks for the tag is above 0, what speaks for its rival is below.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from features.tokens import Sentence


class Question(NamedTuple):
    """What is to be explained: the tag of a token, against another tag."""

    token: int
    tag: str
    rival: str


@dataclass(frozen=True, slots=True)
class FeatureTerm:
    """A feature of a token, and what it adds to a CRF's log-odds.

    Attributes:
        name: the feature string.
        kind: as of `crfdeid.explaining.kinds`.
        count: how often the token has it: mostly once.
        weight: for the tag.
        rival_weight: for the rival.
    """

    name: str
    kind: str
    count: int
    weight: float
    rival_weight: float

    @property
    def value(self) -> float:
        """What it adds to the log-odds."""
        return self.count * (self.weight - self.rival_weight)


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
class Altered:
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
        model: its name in `crfdeid.models.MODELS`.
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
    rival: str
    probability: float
    rival_probability: float
    phi: float
    log_odds: float
    crf: CrfSum | None = None
    occlusion: tuple[WordTerm, ...] = ()
    gradients: Gradients | None = None
    rules: tuple[RuleFind, ...] = ()
    altered: Altered | None = None
    members: tuple[Explanation, ...] = ()


@runtime_checkable
class HasGradients(Protocol):
    """A tagger on a network that can say what the vectors of its words add."""

    def integrated_gradients(self, sentence: Sentence, token: int, tag: str, rival: str) -> Gradients:
        """The log-odds of a tag and a rival at a token, spread over the vectors of the words.

        Args:
            sentence: the sentence.
            token: the token's place in it.
            tag: a tag of the model's.
            rival: another.
        """
        ...

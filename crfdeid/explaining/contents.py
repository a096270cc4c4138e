"""What a model has learned, as data; `crfdeid.explaining.learned` collects it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from features.tokens import Sentence


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
class KindOfFeature:
    """What one kind of feature carries in a CRF.

    Attributes:
        kind: as of `crfdeid.explaining.kinds`; or what the neighbours say.
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
class Matrix:
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
class Norm:
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
class NearWords:
    """The words whose vectors point most nearly the same way as a word's.

    Attributes:
        word: as it was asked for, or as it is stored.
        near: words, or their hashes, and cosines; the nearest first. None where the word has no vector of its own.
    """

    word: str
    near: tuple[tuple[str, float], ...] | None


@dataclass(frozen=True, slots=True)
class CrfContents:
    """What a CRF has learned.

    Attributes:
        transitions: the weight of each tag after each tag.
        features: of each tag that was asked for.
        kinds: of feature, the largest L1 first.
    """

    transitions: Matrix
    features: tuple[TagFeatures, ...]
    kinds: tuple[KindOfFeature, ...]


@dataclass(frozen=True, slots=True)
class NetworkContents:
    """What can be read off a network's weights.

    Attributes:
        norms: of its arrays, and of the parts that belong to one input each.
        matrices: from tag to tag, where the network has such a way.
        facts: what else a number can say: a sentence, and the number.
        words: nearest words.
        hashed: whether its words are keyed hashes.
    """

    norms: tuple[Norm, ...]
    matrices: tuple[Matrix, ...]
    facts: tuple[tuple[str, float], ...]
    words: tuple[NearWords, ...]
    hashed: bool


@dataclass(frozen=True, slots=True)
class Contents:
    """What a model has learned.

    Attributes:
        model: its name in `crfdeid.models.MODELS`.
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
    crf: CrfContents | None = None
    network: NetworkContents | None = None
    rules: tuple[tuple[str, str, float], ...] = ()
    members: tuple[Contents, ...] = ()


@runtime_checkable
class HasContents(Protocol):
    """A tagger on a network of whose weights something can be said."""

    def contents(self, words: Sequence[str], sentences: Sequence[Sentence], *, top: int) -> NetworkContents:
        """What can be read off its weights.

        Args:
            words: whose nearest words are wanted; none for some frequent ones.
            sentences: over which what hangs on the text is averaged, where there are any.
            top: how many nearest words.
        """
        ...

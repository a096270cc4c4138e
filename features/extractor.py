"""Compose feature extractors, and the two named sets: `PAPER` and `STRONG`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import Protocol

from features.context import ContextWords, NGrams, SentencePosition
from features.layout import Layout
from features.lexicons import WordClasses
from features.orthography import Affixes, CapitalRun, Shapes
from features.patterns import Patterns
from features.pos import POS_BACKENDS, PosFeatures
from features.tokens import Sentence


class Extractor(Protocol):
    """What every feature extractor is: features for each token of a sentence, and a line that says which.

    A feature is a string, ``name=value``; a token has it or has it not. An extractor sees one sentence at a time and no
    labels, so its features depend neither on other sentences nor on what is to be predicted.
    """

    def extract(self, sentence: Sentence) -> list[list[str]]:
        """The features of each token: T lists of strings."""
        ...

    def describe(self) -> str:
        """What is extracted, in one line."""
        ...


@dataclass(frozen=True)
class FeatureSet:
    """Several extractors as one: each token has the features of all of them, in order.

    Args:
        name: what tables and saved models call the set.
        extractors: the parts.

    Example:
        >>> FeatureSet("words", (ContextWords(window=0),)).extract(Sentence.from_words(["Dr", "Doe"]))
        [['w[0]=Dr'], ['w[0]=Doe']]
    """

    name: str
    extractors: tuple[Extractor, ...]

    def extract(self, sentence: Sentence) -> list[list[str]]:
        """The features of each token: T lists of strings."""
        parts: list[list[list[str]]] = [[[] for _ in sentence.tokens]]  # So that a set of no extractors has rows too.
        parts += [extractor.extract(sentence) for extractor in self.extractors]
        return [list(chain.from_iterable(rows)) for rows in zip(*parts, strict=True)]

    def describe(self) -> list[str]:
        """What is extracted with the part-of-speech tagger there is, one line an extractor."""
        lines = [extractor.describe() for extractor in self.extractors]
        return lines if self.pos != "none" else [*lines, "no parts of speech or chunks"]

    @property
    def pos(self) -> str:
        """The name of the part-of-speech backend in use, a key of `POS_BACKENDS`."""
        for extractor in self.extractors:
            if isinstance(extractor, PosFeatures):
                return extractor.tagger.name
        return "none"

    def with_pos(self, pos: str) -> FeatureSet:
        """The same set with another part-of-speech backend; "none" takes part-of-speech and chunk features out.

        Raises:
            ValueError: there is no such backend.
            PosUnavailable: the backend cannot run here.
        """
        if pos not in POS_BACKENDS:
            raise ValueError(f"unknown part-of-speech tagger '{pos}': choose from {', '.join(POS_BACKENDS)}")
        backend = POS_BACKENDS[pos]
        kept: list[Extractor] = []
        for extractor in self.extractors:
            if not isinstance(extractor, PosFeatures):
                kept.append(extractor)
            elif backend is not None:
                kept.append(replace(extractor, tagger=backend()))
        return replace(self, extractors=tuple(kept))


# yadav2016, section 3.8. The unigrams of [-2, 2] are among the context words of [-3, 3]: a feature said twice would
# only weaken its own penalty, so the n-grams start at two words.
PAPER = FeatureSet("paper", (ContextWords(window=3), NGrams(sizes=(2, 3), window=2), PosFeatures()))

# What finds PHI better and in more languages: lower-case words, and how words look where they were never seen.
STRONG = FeatureSet(
    "strong",
    (
        ContextWords(window=3, lower=True),
        NGrams(sizes=(2,), window=1, lower=True),
        SentencePosition(),
        Shapes(),
        Affixes(),
        CapitalRun(),
        Patterns(),
        WordClasses(),
        Layout(),
        PosFeatures(),
    ),
)

FEATURE_SETS = {"paper": PAPER, "strong": STRONG}


def feature_set(name: str, *, pos: str) -> FeatureSet:
    """A named set with a named part-of-speech backend.

    Args:
        name: a key of `FEATURE_SETS`.
        pos: a key of `POS_BACKENDS`.

    Raises:
        ValueError: there is no such set or backend.
        PosUnavailable: the backend cannot run here.

    Example:
        >>> feature_set("paper", pos="none").describe()
        ['words in [-3, 3]', 'n-grams of 2, 3 words in [-2, 2]', 'no parts of speech or chunks']
    """
    if name not in FEATURE_SETS:
        raise ValueError(f"unknown feature set '{name}': choose from {', '.join(FEATURE_SETS)}")
    return FEATURE_SETS[name].with_pos(pos)

"""Features of the words around a token: single words, n-grams of words, and the token's place in its sentence."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from features.columns import AFTER, BOS, Batch, Column, Conjunction, Extractor, WordColumn, window_heads


@dataclass(frozen=True)
class ContextWords(Extractor):
    """The word itself and the words around it, each with its distance: ``w[-1]=Dr``.

    Args:
        window: words on each side.
        lower: whether to fold case, which halves the number of features and loses what capitals say.

    Example:
        >>> from features.tokens import Sentence
        >>> ContextWords(window=1).extract(Sentence.from_words(["Dr", "Doe"]))
        [['w[-1]=<s>', 'w[0]=Dr', 'w[1]=Doe'], ['w[-1]=Dr', 'w[0]=Doe', 'w[1]=</s>']]

    Reference:
        yadav2016, section 3.8, feature 1 (context words, window 3).
    """

    window: int = 3
    lower: bool = False

    def word_columns(self) -> list[WordColumn]:
        """The features that a word alone decides, kind by kind."""
        name, value = ("lower", str.lower) if self.lower else ("w", str)
        return [WordColumn(window_heads(name, self.window), value, BOS, AFTER)]

    def describe(self) -> str:
        """What is extracted, in one line."""
        return f"{'lower-case ' if self.lower else ''}words in [-{self.window}, {self.window}]"


@dataclass(frozen=True)
class NGrams(Extractor):
    """Runs of neighbouring words that lie within the window: ``w[0,1]=Dr Doe``.

    Args:
        sizes: the lengths of the runs, in words.
        window: words on each side within which a run must lie.
        lower: whether to fold case.

    Example:
        >>> from features.tokens import Sentence
        >>> NGrams(sizes=(2,), window=1).extract(Sentence.from_words(["Dr", "Doe"]))
        [['w[-1,0]=<s> Dr', 'w[0,1]=Dr Doe'], ['w[-1,0]=Dr Doe', 'w[0,1]=Doe </s>']]

    Reference:
        yadav2016, section 3.8, feature 2 (uni-, bi- and trigrams in [-2, 2]).
    """

    sizes: tuple[int, ...] = (1, 2, 3)
    window: int = 2
    lower: bool = False

    def conjunctions(self) -> list[Conjunction]:
        """The features that neighbouring words decide together, kind by kind."""
        name, value = ("lower", str.lower) if self.lower else ("w", str)
        fitting = [size for size in self.sizes if size <= 2 * self.window + 1]
        return [Conjunction(_run_heads(name, size, self.window), value, size) for size in fitting]

    def describe(self) -> str:
        """What is extracted, in one line."""
        sizes = ", ".join(str(size) for size in self.sizes)
        return f"{'lower-case ' if self.lower else ''}n-grams of {sizes} words in [-{self.window}, {self.window}]"


@dataclass(frozen=True)
class FarWords(Extractor):
    """Lower-case words further away, by their side and not by their distance: ``before=seen``, ``after=ward``.

    Args:
        nearest: the distance of the first of them, in tokens.
        farthest: the distance of the last.

    Example:
        >>> from features.tokens import Sentence
        >>> FarWords(nearest=2, farthest=3).extract(Sentence.from_words(["Seen", "by", "Dr", "Doe"]))[3]
        ['before=seen', 'before=by']
    """

    nearest: int = 4
    farthest: int = 8

    def word_columns(self) -> list[WordColumn]:
        """The features that a word alone decides, kind by kind."""
        distances = range(self.nearest, self.farthest + 1)
        before = tuple((-distance, "before=") for distance in reversed(distances))
        after = tuple((distance, "after=") for distance in distances)
        return [WordColumn(before, str.lower), WordColumn(after, str.lower)]

    def describe(self) -> str:
        """What is extracted, in one line."""
        return f"lower-case words {self.nearest} to {self.farthest} tokens away, by their side"


@cache
def _run_heads(name: str, size: int, window: int) -> tuple[tuple[int, str], ...]:
    starts = range(-window, window - size + 2)
    return tuple((start, f"{name}[{','.join(str(start + i) for i in range(size))}]=") for start in starts)


@dataclass(frozen=True)
class SentencePosition(Extractor):
    """Whether the token opens or closes its sentence: ``sentence=first``, ``sentence=last``, else nothing.

    Example:
        >>> from features.tokens import Sentence
        >>> SentencePosition().extract(Sentence.from_words(["Seen", "by", "us"]))
        [['sentence=first'], [], ['sentence=last']]
    """

    def columns(self, batch: Batch) -> list[Column]:
        """The features of the sentences, kind by kind."""
        opens = np.diff(batch.sentence_of, prepend=-1) != 0
        closes = np.diff(batch.sentence_of, append=-1) != 0
        return [
            Column(("sentence=",), (None, "first"), opens.astype(int)),
            Column(("sentence=",), (None, "last"), closes.astype(int)),
        ]

    def describe(self) -> str:
        """What is extracted, in one line."""
        return "first and last token of the sentence"

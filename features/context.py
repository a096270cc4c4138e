"""Features of the words around a token: single words, n-grams of words, and the token's place in its sentence."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from features.columns import Column, Extractor, padded, window_column
from features.tokens import Sentence


@dataclass(frozen=True)
class ContextWords(Extractor):
    """The word itself and the words around it, each with its distance: ``w[-1]=Dr``.

    Args:
        window: words on each side.
        lower: whether to fold case, which halves the number of features and loses what capitals say.

    Example:
        >>> ContextWords(window=1).extract(Sentence.from_words(["Dr", "Doe"]))
        [['w[-1]=<s>', 'w[0]=Dr', 'w[1]=Doe'], ['w[-1]=Dr', 'w[0]=Doe', 'w[1]=</s>']]

    Reference:
        yadav2016, section 3.8, feature 1 (context words, window 3).
    """

    window: int = 3
    lower: bool = False

    def columns(self, sentence: Sentence) -> list[Column]:
        """The features of the sentence, kind by kind."""
        words, name = sentence.words, "w"
        if self.lower:
            words, name = tuple(word.lower() for word in words), "lower"
        return [window_column(words, name, self.window)]

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
        >>> NGrams(sizes=(2,), window=1).extract(Sentence.from_words(["Dr", "Doe"]))
        [['w[-1,0]=<s> Dr', 'w[0,1]=Dr Doe'], ['w[-1,0]=Dr Doe', 'w[0,1]=Doe </s>']]

    Reference:
        yadav2016, section 3.8, feature 2 (uni-, bi- and trigrams in [-2, 2]).
    """

    sizes: tuple[int, ...] = (1, 2, 3)
    window: int = 2
    lower: bool = False

    def columns(self, sentence: Sentence) -> list[Column]:
        """The features of the sentence, kind by kind."""
        words = [word.lower() for word in sentence.words] if self.lower else sentence.words
        row, name = padded(words, self.window), "lower" if self.lower else "w"
        columns: list[Column] = []
        for size in self.sizes:
            runs = [" ".join(run) for run in zip(*(row[i:] for i in range(size)), strict=False)]
            columns.append((_run_heads(name, size, self.window), runs))
        return columns

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
        >>> FarWords(nearest=2, farthest=3).extract(Sentence.from_words(["Seen", "by", "Dr", "Doe"]))[3]
        ['before=seen', 'before=by']
    """

    nearest: int = 4
    farthest: int = 8

    def columns(self, sentence: Sentence) -> list[Column]:
        """The features of the sentence, kind by kind."""
        count = len(sentence.tokens)
        outside: list[str | None] = [None] * self.farthest
        row = [*outside, *(word.lower() for word in sentence.words), *outside]
        distances = self.farthest - self.nearest + 1
        return [
            (("before=",) * distances, row[: count + distances - 1]),
            (("after=",) * distances, row[self.farthest + self.nearest :]),
        ]

    def describe(self) -> str:
        """What is extracted, in one line."""
        return f"lower-case words {self.nearest} to {self.farthest} tokens away, by their side"


@cache
def _run_heads(name: str, size: int, window: int) -> tuple[str, ...]:
    starts = range(-window, window - size + 2)
    return tuple(f"{name}[{','.join(str(start + i) for i in range(size))}]=" for start in starts)


@dataclass(frozen=True)
class SentencePosition(Extractor):
    """Whether the token opens or closes its sentence: ``sentence=first``, ``sentence=last``, else nothing.

    Example:
        >>> SentencePosition().extract(Sentence.from_words(["Seen", "by", "us"]))
        [['sentence=first'], [], ['sentence=last']]
    """

    def columns(self, sentence: Sentence) -> list[Column]:
        """The features of the sentence, kind by kind."""
        rest: list[str | None] = [None] * (len(sentence.tokens) - 1)
        heads = ("sentence=",)
        return [(heads, ["first", *rest]), (heads, [*rest, "last"])] if sentence.tokens else []

    def describe(self) -> str:
        """What is extracted, in one line."""
        return "first and last token of the sentence"

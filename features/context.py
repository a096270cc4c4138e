"""Features of the words around a token: single words, n-grams of words, and the token's place in its sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from features.tokens import Sentence

# What stands where the window reaches beyond the sentence. The tokeniser never makes these of a text.
BEFORE, AFTER = "<s>", "</s>"


def padded(values: Sequence[str], width: int) -> list[str]:
    """The values of a sentence with ``width`` markers before and after them: index ``i`` moves to ``i + width``."""
    return [BEFORE] * width + list(values) + [AFTER] * width


def window_columns(values: Sequence[str], name: str, offsets: Sequence[int]) -> list[list[str]]:
    """One column of features for each offset: at token i, ``name[o]=values[i + o]``.

    Example:
        >>> window_columns(["Dr", "Doe"], "w", [-1, 0])
        [['w[-1]=<s>', 'w[-1]=Dr'], ['w[0]=Dr', 'w[0]=Doe']]
    """
    width, count = max((abs(offset) for offset in offsets), default=0), len(values)
    row = padded(values, width)
    columns = []
    for offset in offsets:
        head = f"{name}[{offset}]="
        columns.append([head + value for value in row[width + offset : width + offset + count]])
    return columns


def as_rows(columns: Sequence[Sequence[str]], count: int) -> list[list[str]]:
    """Columns of features, one value a token, as the features of each of ``count`` tokens."""
    return [list(row) for row in zip(*columns, strict=True)] if columns else [[] for _ in range(count)]


@dataclass(frozen=True)
class ContextWords:
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

    def extract(self, sentence: Sentence) -> list[list[str]]:
        """The features of each token: T lists of strings."""
        words, name = sentence.words, "w"
        if self.lower:
            words, name = tuple(word.lower() for word in words), "lower"
        columns = window_columns(words, name, range(-self.window, self.window + 1))
        return as_rows(columns, len(words))

    def describe(self) -> str:
        """What is extracted, in one line."""
        return f"{'lower-case ' if self.lower else ''}words in [-{self.window}, {self.window}]"


@dataclass(frozen=True)
class NGrams:
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

    def extract(self, sentence: Sentence) -> list[list[str]]:
        """The features of each token: T lists of strings."""
        words = [word.lower() for word in sentence.words] if self.lower else sentence.words
        row, count, name = padded(words, self.window), len(words), "lower" if self.lower else "w"
        columns = []
        for size in self.sizes:
            runs = [" ".join(run) for run in zip(*(row[i:] for i in range(size)), strict=False)]
            for first in range(-self.window, self.window - size + 2):
                head = f"{name}[{','.join(str(first + i) for i in range(size))}]="
                start = self.window + first
                columns.append([head + run for run in runs[start : start + count]])
        return as_rows(columns, count)

    def describe(self) -> str:
        """What is extracted, in one line."""
        sizes = ", ".join(str(size) for size in self.sizes)
        return f"{'lower-case ' if self.lower else ''}n-grams of {sizes} words in [-{self.window}, {self.window}]"


@dataclass(frozen=True)
class SentencePosition:
    """Whether the token opens or closes its sentence: ``sentence=first``, ``sentence=last``, else nothing.

    Example:
        >>> SentencePosition().extract(Sentence.from_words(["Seen", "by", "us"]))
        [['sentence=first'], [], ['sentence=last']]
    """

    def extract(self, sentence: Sentence) -> list[list[str]]:
        """The features of each token: T lists of strings."""
        rows: list[list[str]] = [[] for _ in sentence.tokens]
        if rows:
            rows[0].append("sentence=first")
            rows[-1].append("sentence=last")
        return rows

    def describe(self) -> str:
        """What is extracted, in one line."""
        return "first and last token of the sentence"

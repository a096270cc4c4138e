"""What every feature extractor gives: columns, one a kind of feature, from which a token's feature strings are read.

Most features hang on one word alone: the word itself, its shape, its first letters, for the tokens around it. These are
declared once, as a `WordColumn`, so that a model looks each word up once and remembers what it found. What hangs on
more than a word is given as a `Column`, for many sentences at a time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property
from itertools import chain, repeat
from typing import NamedTuple, final

from features.tokens import Sentence

# What stands where the window reaches beyond the sentence. The tokeniser never makes these of a text.
BEFORE, AFTER = "<s>", "</s>"
Value = str | None
"""How a feature string goes on; None for no feature."""


class WordColumn(NamedTuple):
    """One kind of feature that a word alone decides, for the tokens around it.

    Token i has ``head + value(word)`` for the word at i + o, for each offset o and its head.

    Attributes:
        heads: how the strings begin, each with the offset of the word from the token that has the feature.
        value: how they go on. It gives the same for the same word, always.
        before: how they go on where the window reaches before the sentence.
        after: how they go on where it reaches beyond its end.
    """

    heads: tuple[tuple[int, str], ...]
    value: Callable[[str], Value]
    before: Value = None
    after: Value = None


class Column(NamedTuple):
    """One kind of feature for the tokens of some sentences.

    There are W beginnings ("w[-1]=", "w[0]=", "w[1]=") and, for each sentence of T tokens, T + W - 1 values, one
    sentence after the other: token i of one has ``heads[k] + values[i + k]`` for each k, and lacks it where the value
    is None.

    Attributes:
        heads: how the strings begin.
        values: how they go on.
        counts: how often in a row each value stands; None for once.
    """

    heads: tuple[str, ...]
    values: Sequence[Value]
    counts: Sequence[int] | None = None


class Batch:
    """Some sentences, and what several extractors want of them.

    Args:
        sentences: the sentences.

    Attributes:
        sentences: the sentences.
        words: the texts of the tokens of each.
    """

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        self.sentences = sentences
        self.words = [[token[0] for token in sentence.tokens] for sentence in sentences]

    @cached_property
    def lower(self) -> list[list[str]]:
        """The words of each sentence in lower case."""
        return [[word.lower() for word in words] for words in self.words]


class Extractor(ABC):
    """What every feature extractor is: a class with `describe`, and `word_columns` or `columns` or both.

    A feature is a string, ``name=value``; a token has it or has it not. An extractor sees sentences one by one and no
    labels, so its features depend neither on other sentences nor on what is to be predicted.
    """

    __slots__ = ()

    def word_columns(self) -> Sequence[WordColumn]:
        """The features that a word alone decides, kind by kind."""
        return ()

    def columns(self, batch: Batch) -> list[Column]:
        """All other features of some sentences, kind by kind; several columns may have the same beginnings."""
        return []

    @abstractmethod
    def describe(self) -> str:
        """What is extracted, in one line."""

    @final
    def extract(self, sentence: Sentence) -> list[list[str]]:
        """The features of each token: T lists of strings."""
        rows: list[list[str]] = [[] for _ in sentence.tokens]
        self.add_features(Batch([sentence]), rows)
        return rows

    def add_features(self, batch: Batch, rows: Sequence[list[str]]) -> None:
        """Add the features of each token of a batch of one sentence to its row."""
        for column in self.word_columns():
            values = [column.value(word) for word in batch.words[0]]
            if {*values, column.before, column.after} != {None}:
                reach = max(abs(offset) for offset, _ in column.heads)
                around = padded(values, reach, column.before, column.after)
                for offset, head in column.heads:
                    _append(rows, head, around[reach + offset :])
        for heads, given, counts in self.columns(batch):
            found = list(given) if counts is None else [*chain(*map(repeat, given, counts))]
            for k, head in enumerate(heads):
                _append(rows, head, found[k:])


def _append(rows: Iterable[list[str]], head: str, values: Iterable[Value]) -> None:
    """Give each token its feature, where it has one."""
    for row, value in zip(rows, values, strict=False):
        if value is not None:
            row.append(head + value)


def padded(values: Iterable[Value], width: int, before: Value = BEFORE, after: Value = AFTER) -> list[Value]:
    """The values of a sentence with ``width`` markers before and after them: index ``i`` moves to ``i + width``."""
    return [before] * width + list(values) + [after] * width


def window_column(rows: Iterable[Iterable[str]], name: str, width: int) -> Column:
    """The values around each token: at token i, ``name[o]=values[i + o]`` for each offset o from -width to width.

    Args:
        rows: the values of each sentence.
        name: how the feature is called.
        width: tokens on each side.

    Example:
        >>> window_column([["Dr", "Doe"]], "w", 1).values
        ['<s>', 'Dr', 'Doe', '</s>']
    """
    heads = tuple(head for _, head in window_heads(name, width))
    return Column(heads, [value for row in rows for value in padded(row, width)])


@cache
def window_heads(name: str, width: int) -> tuple[tuple[int, str], ...]:
    """The beginnings of a window's features, ``name[o]=``, each with its offset o.

    Example:
        >>> window_heads("w", 1)
        ((-1, 'w[-1]='), (0, 'w[0]='), (1, 'w[1]='))
    """
    return tuple((offset, f"{name}[{offset}]=") for offset in range(-width, width + 1))

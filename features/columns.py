"""What every feature extractor gives: columns, one a kind of feature, from which a token's feature strings are read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache
from typing import final

from features.tokens import Sentence

# What stands where the window reaches beyond the sentence. The tokeniser never makes these of a text.
BEFORE, AFTER = "<s>", "</s>"


Column = tuple[tuple[str, ...], Sequence[str | None]]
"""One kind of feature for the T tokens of a sentence: how its strings begin, and how they go on.

There are W beginnings ("w[-1]=", "w[0]=", "w[1]=") and T + W - 1 values: token i has ``heads[k] + values[i + k]`` for
each k, and lacks it where the value is None. Kept apart, a model can look a value up once for all beginnings, without
building the strings.
"""


class Extractor(ABC):
    """What every feature extractor is: a class with `columns` and `describe`.

    A feature is a string, ``name=value``; a token has it or has it not. An extractor sees one sentence at a time and no
    labels, so its features depend neither on other sentences nor on what is to be predicted.
    """

    __slots__ = ()

    @abstractmethod
    def columns(self, sentence: Sentence) -> list[Column]:
        """The features of a sentence, kind by kind; several columns may have the same beginnings."""

    @abstractmethod
    def describe(self) -> str:
        """What is extracted, in one line."""

    @final
    def extract(self, sentence: Sentence) -> list[list[str]]:
        """The features of each token: T lists of strings."""
        rows: list[list[str]] = [[] for _ in sentence.tokens]
        for heads, values in self.columns(sentence):
            for k, head in enumerate(heads):
                for row, value in zip(rows, values[k : k + len(rows)], strict=True):
                    if value is not None:
                        row.append(head + value)
        return rows


def padded(values: Sequence[str], width: int) -> list[str]:
    """The values of a sentence with ``width`` markers before and after them: index ``i`` moves to ``i + width``."""
    return [BEFORE] * width + list(values) + [AFTER] * width


def window_column(values: Sequence[str], name: str, width: int) -> Column:
    """The values around each token: at token i, ``name[o]=values[i + o]`` for each offset o from -width to width.

    Example:
        >>> window_column(["Dr", "Doe"], "w", 1)
        (('w[-1]=', 'w[0]=', 'w[1]='), ['<s>', 'Dr', 'Doe', '</s>'])
    """
    return window_heads(name, width), padded(values, width)


@cache
def window_heads(name: str, width: int) -> tuple[str, ...]:
    """The beginnings of a window's features: ``name[o]=`` for each offset."""
    return tuple(f"{name}[{offset}]=" for offset in range(-width, width + 1))

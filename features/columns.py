"""What every feature extractor gives: columns, one a kind of feature, from which a token's feature strings are read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache
from typing import final

from features.tokens import Sentence

# What stands where the window reaches beyond the sentence. The tokeniser never makes these of a text.
BEFORE, AFTER = "<s>", "</s>"


Column = tuple[str, Sequence[str | None]]
"""One kind of feature for the T tokens of a sentence: how its strings begin, "w[-1]=", and how each token's goes on.

The feature string of token i is ``head + values[i]``; it has none where the value is None. Kept apart, a model can look
a feature up without building its string.
"""


class Extractor(ABC):
    """What every feature extractor is: a class with `columns` and `describe`.

    A feature is a string, ``name=value``; a token has it or has it not. An extractor sees one sentence at a time and no
    labels, so its features depend neither on other sentences nor on what is to be predicted.
    """

    __slots__ = ()

    @abstractmethod
    def columns(self, sentence: Sentence) -> list[Column]:
        """The features of a sentence, kind by kind; several columns may have one head."""

    @abstractmethod
    def describe(self) -> str:
        """What is extracted, in one line."""

    @final
    def extract(self, sentence: Sentence) -> list[list[str]]:
        """The features of each token: T lists of strings."""
        rows: list[list[str]] = [[] for _ in sentence.tokens]
        for head, values in self.columns(sentence):
            for row, value in zip(rows, values, strict=True):
                if value is not None:
                    row.append(head + value)
        return rows


def padded(values: Sequence[str], width: int) -> list[str]:
    """The values of a sentence with ``width`` markers before and after them: index ``i`` moves to ``i + width``."""
    return [BEFORE] * width + list(values) + [AFTER] * width


def window_columns(values: Sequence[str], name: str, width: int) -> list[Column]:
    """One column for each offset o from -width to width: at token i, ``name[o]=values[i + o]``.

    Example:
        >>> window_columns(["Dr", "Doe"], "w", 1)[:2]
        [('w[-1]=', ['<s>', 'Dr']), ('w[0]=', ['Dr', 'Doe'])]
    """
    count = len(values)
    row = padded(values, width)
    return [(head, row[start : start + count]) for start, head in enumerate(window_heads(name, width))]


@cache
def window_heads(name: str, width: int) -> tuple[str, ...]:
    """The heads of a window's columns: ``name[o]=`` for each offset."""
    return tuple(f"{name}[{offset}]=" for offset in range(-width, width + 1))

"""Features of how a word is written: its shape, its first and last letters, the run of capitals it is in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain, islice, pairwise, repeat
from typing import TypeVar

import regex

from features.batch import Batch
from features.columns import AFTER, BEFORE, Column, Conjunction, Extractor, Value, WordColumn, window_heads

_T = TypeVar("_T")

# Each word is looked at once for each process: most tokens of a note are words seen before.
_WORDS_KEPT = 1 << 16
_LONG_RUN = regex.compile(r"(X)X{2,}+|(x)x{2,}+|(9{12})9++")


@lru_cache(maxsize=_WORDS_KEPT)
def shape(word: str) -> str:
    """Capitals as X, other letters as x, digits as 9; longer runs of letters as two, so that only digits are counted.

    Example:
        >>> [shape(word) for word in ("Jane", "MRN", "20943", "A1c", "03/14")]
        ['Xxx', 'XX', '99999', 'X9x', '99/99']
    """
    letters = "".join("9" if c.isdigit() else "X" if c.isupper() else "x" if c.isalpha() else c for c in word)
    return str(_LONG_RUN.sub(lambda run: 2 * (run[1] or run[2] or "") + (run[3] or ""), letters))


@dataclass(frozen=True)
class Shapes(Extractor):
    """The shape of the words around the token, and the run of shapes around it.

    Args:
        window: tokens on each side.

    Example:
        >>> from features.tokens import Sentence
        >>> Shapes(window=0).extract(Sentence.from_words(["MRN", "20943"]))[1]
        ['shape[0]=99999', 'shape[-1,0,1]=XX 99999 </s>']
    """

    window: int = 2

    def word_columns(self) -> list[WordColumn]:
        """The features that a word alone decides, kind by kind."""
        return [WordColumn(window_heads("shape", self.window), shape, BEFORE, AFTER)]

    def conjunctions(self) -> list[Conjunction]:
        """The features that neighbouring words decide together, kind by kind."""
        return [Conjunction(((-1, "shape[-1,0,1]="),), shape, 3)]

    def describe(self) -> str:
        """What is extracted, in one line."""
        return f"word shapes in [-{self.window}, {self.window}] and as a run in [-1, 1]"


@dataclass(frozen=True)
class Affixes(Extractor):
    """The first and last letters of the word in lower case, as many as it has: ``prefix=d``, ``suffix=oe``.

    Args:
        longest: letters of the longest affix.

    Example:
        >>> from features.tokens import Sentence
        >>> Affixes(longest=2).extract(Sentence.from_words(["Doe", "x"]))
        [['prefix=d', 'suffix=e', 'prefix=do', 'suffix=oe'], ['prefix=x', 'suffix=x']]
    """

    longest: int = 4

    def word_columns(self) -> list[WordColumn]:
        """The features that a word alone decides, kind by kind."""
        columns = []
        for length in range(1, self.longest + 1):
            columns.append(WordColumn(((0, "prefix="),), partial(_first_letters, length=length)))
            columns.append(WordColumn(((0, "suffix="),), partial(_last_letters, length=length)))
        return columns

    def describe(self) -> str:
        """What is extracted, in one line."""
        return f"prefixes and suffixes of 1 to {self.longest} letters, in lower case"


def _first_letters(word: str, length: int) -> Value:
    lower = word.lower()
    return lower[:length] if length <= len(lower) else None


def _last_letters(word: str, length: int) -> Value:
    lower = word.lower()
    return lower[-length:] if length <= len(lower) else None


# Small words and marks that join the capitals of one name: "Hospital de la Paz", "J. Doe", "O'Neill", "Smith-Jones".
_JOINING_WORDS = "de del la las los el of the and y e i von van da do dos . - ' ’ & ª º"
_JOINTS = frozenset(_JOINING_WORDS.split())
_RUN = re.compile(r"C(?:[Cj]*C)?")


@dataclass(frozen=True)
class CapitalRun(Extractor):
    """The run of capitalised words that the token is in: its first word, and the words before and after it.

    Small joining words count as part of a run if a capital follows them.

    Example:
        >>> from features.tokens import Sentence
        >>> CapitalRun().extract(Sentence.from_words("seen at Port of Tawn Clinic .".split()))[3]
        ['caps:first=port', 'caps:last=clinic', 'caps:before=at', 'caps:after=.', 'caps:at=1', 'caps:left=2']
    """

    def columns(self, batch: Batch) -> list[Column]:
        """The features of the sentences, kind by kind."""
        # All sentences in one row, with one mark before, between and after them.
        kinds = "\n".join(["", *map("".join, batch.each(_kind)), ""])
        words = ["", *chain.from_iterable([*words, ""] for words in batch.words)]
        runs = [run.span() for run in _RUN.finditer(kinds)]
        ends = pairwise(chain([0], *runs, [len(kinds)]))
        gaps = [b - a - kinds.count("\n", a, b) for a, b in islice(ends, 0, None, 2)]
        sizes = [stop - first for first, stop in runs]
        values = {
            "caps:first=": [words[first].lower() for first, _ in runs],
            "caps:last=": [words[stop - 1].lower() for _, stop in runs],
            "caps:before=": [(words[first - 1] or BEFORE).lower() for first, _ in runs],
            "caps:after=": [(words[stop] or AFTER).lower() for _, stop in runs],
        }
        nothing, counts = [None] * len(gaps), _between(gaps, sizes)
        columns = [Column((head,), _between(nothing, found), counts) for head, found in values.items()]
        places = [_places(size) for size in sizes]
        each = [*chain.from_iterable((gap, *repeat(1, size)) for gap, size in zip(gaps, [*sizes, 0], strict=True))]
        for head, own in (("caps:at=", places), ("caps:left=", [row[::-1] for row in places])):
            columns.append(Column((head,), [*chain.from_iterable((None, *row) for row in own), None], each))
        return columns

    def describe(self) -> str:
        """What is extracted, in one line."""
        return "run of capitalised words: its first and last word, the words around it, the place in it"


def _between(gaps: Sequence[_T], values: Sequence[_T]) -> list[_T]:
    """What stands before, between and after the runs, and what at them, in turn."""
    return [*chain.from_iterable(zip(gaps, values, strict=False)), gaps[-1]]


@lru_cache
def _places(size: int) -> Sequence[str]:
    """The distances from the first token of a run, 5 at most."""
    return [str(min(i, 5)) for i in range(size)]


@lru_cache(maxsize=_WORDS_KEPT)
def _kind(word: str) -> str:
    """What a word is in a run: "C" with a capital, "j" what joins capitals, "." no part of one."""
    return "C" if word[0].isupper() else "j" if word.lower() in _JOINTS else "."

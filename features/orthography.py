"""Features of how a word is written: its shape, its first and last letters, the run of capitals it is in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain, repeat

import regex

from features.columns import AFTER, BEFORE, Batch, Column, Extractor, Value, WordColumn, padded, runs, window_heads

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

    def columns(self, batch: Batch) -> list[Column]:
        """The other features of the sentences, kind by kind."""
        rows = [padded(shapes, 1) for shapes in batch.each(shape)]
        return [Column(("shape[-1,0,1]=",), runs(rows, 3))]

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
_RUN_HEADS = ("caps:first=", "caps:last=", "caps:before=", "caps:after=")


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
        first_words: list[Value] = []
        last_words: list[Value] = []
        before: list[Value] = []
        after: list[Value] = []
        counts: list[int] = []
        at: list[Value] = []
        left: list[Value] = []
        single: list[int] = []
        # All sentences in one row, with one mark before, between and after them.
        kinds = "\n".join(["", *map("".join, batch.each(_kind)), ""])
        words = [None, *chain.from_iterable((*lower, None) for lower in batch.each(str.lower))]
        end = 0
        for run in _RUN.finditer(kinds):
            first, stop = run.span()
            gap, size = first - end - kinds.count("\n", end, first), stop - first
            first_words += None, words[first]
            last_words += None, words[stop - 1]
            before += None, words[first - 1] or BEFORE
            after += None, words[stop] or AFTER
            counts += gap, size
            places = _places(size)
            at += None, *places
            left += None, *reversed(places)
            single += gap, *repeat(1, size)
            end = stop
        rest = len(kinds) - end - kinds.count("\n", end)
        same = zip(_RUN_HEADS, (first_words, last_words, before, after), strict=True)
        columns = [Column((head,), [*values, None], [*counts, rest]) for head, values in same]
        single.append(rest)
        same = zip(("caps:at=", "caps:left="), (at, left), strict=True)
        return [*columns, *(Column((head,), [*values, None], single) for head, values in same)]

    def describe(self) -> str:
        """What is extracted, in one line."""
        return "run of capitalised words: its first and last word, the words around it, the place in it"


@lru_cache
def _places(size: int) -> Sequence[str]:
    """The distances from the first token of a run, 5 at most."""
    return [str(min(i, 5)) for i in range(size)]


@lru_cache(maxsize=_WORDS_KEPT)
def _kind(word: str) -> str:
    """What a word is in a run: "C" with a capital, "j" what joins capitals, "." no part of one."""
    return "C" if word[0].isupper() else "j" if word.lower() in _JOINTS else "."

"""Features of how a word is written: its shape, its first and last letters, the run of capitals it is in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import regex

from features.columns import Column, Extractor, padded, window_column
from features.tokens import Sentence

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
        >>> Shapes(window=0).extract(Sentence.from_words(["MRN", "20943"]))[1]
        ['shape[0]=99999', 'shape[-1,0,1]=XX 99999 </s>']
    """

    window: int = 2

    def columns(self, sentence: Sentence) -> list[Column]:
        """The features of the sentence, kind by kind."""
        shapes = [shape(word) for word in sentence.words]
        row = padded(shapes, 1)
        runs = [f"{a} {b} {c}" for a, b, c in zip(row, row[1:], row[2:], strict=False)]
        return [window_column(shapes, "shape", self.window), (("shape[-1,0,1]=",), runs)]

    def describe(self) -> str:
        """What is extracted, in one line."""
        return f"word shapes in [-{self.window}, {self.window}] and as a run in [-1, 1]"


@lru_cache(maxsize=_WORDS_KEPT)
def affixes(word: str, longest: int) -> tuple[str | None, ...]:
    """The first and last letters of a word, in lower case: one first letter, one last, two, two, to ``longest``.

    What is longer than the word is None.

    Example:
        >>> affixes("Doe", 2), affixes("x", 2)
        (('d', 'e', 'do', 'oe'), ('x', 'x', None, None))
    """
    lower = word.lower()
    pairs = ((lower[:n], lower[-n:]) if n <= len(lower) else (None, None) for n in range(1, longest + 1))
    return tuple(affix for pair in pairs for affix in pair)


@dataclass(frozen=True)
class Affixes(Extractor):
    """Prefixes and suffixes of the word, see `affixes`.

    Args:
        longest: letters of the longest affix.
    """

    longest: int = 4

    def columns(self, sentence: Sentence) -> list[Column]:
        """The features of the sentence, kind by kind."""
        parts = list(zip(*(affixes(word, self.longest) for word in sentence.words), strict=True))
        heads = (("prefix=",), ("suffix=",))
        return [(heads[k % 2], values) for k, values in enumerate(parts)]

    def describe(self) -> str:
        """What is extracted, in one line."""
        return f"prefixes and suffixes of 1 to {self.longest} letters, in lower case"


# Small words and marks that join the capitals of one name: "Hospital de la Paz", "J. Doe", "O'Neill", "Smith-Jones".
_JOINING_WORDS = "de del la las los el of the and y e i von van da do dos . - ' ’ & ª º"
_JOINTS = frozenset(_JOINING_WORDS.split())
_RUN_FEATURES = tuple((f"caps:{name}=",) for name in ("first", "last", "before", "after", "at", "left"))


@dataclass(frozen=True)
class CapitalRun(Extractor):
    """The run of capitalised words that the token is in: its first word, and the words before and after it.

    Small joining words count as part of a run if a capital follows them.

    Example:
        >>> CapitalRun().extract(Sentence.from_words("seen at Port of Tawn Clinic .".split()))[3]
        ['caps:first=port', 'caps:last=clinic', 'caps:before=at', 'caps:after=.', 'caps:at=1', 'caps:left=2']
    """

    def columns(self, sentence: Sentence) -> list[Column]:
        """The features of the sentence, kind by kind."""
        words = sentence.words
        runs = list(_capital_runs(words))
        if not runs:
            return []
        row = [word.lower() for word in padded(words, 1)]
        table: list[list[str | None]] = [[None] * len(words) for _ in _RUN_FEATURES]
        for first, stop in runs:
            same = (row[first + 1], row[stop], row[first], row[stop + 1])
            for i in range(first, stop):
                place = (str(min(i - first, 5)), str(min(stop - 1 - i, 5)))
                for values, value in zip(table, same + place, strict=True):
                    values[i] = value
        return list(zip(_RUN_FEATURES, table, strict=True))

    def describe(self) -> str:
        """What is extracted, in one line."""
        return "run of capitalised words: its first and last word, the words around it, the place in it"


def _capital_runs(words: Sequence[str]) -> Iterator[tuple[int, int]]:
    first = last = -1
    for i, word in enumerate(words):
        if word[0].isupper():
            first, last = (i if first < 0 else first), i
        elif first >= 0 and word.lower() not in _JOINTS:
            yield first, last + 1
            first = -1
    if first >= 0:
        yield first, last + 1

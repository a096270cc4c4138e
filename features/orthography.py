"""Features of how a word is written: its shape, its first and last letters, the run of capitals it is in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
import regex

from features.columns import (
    BOS,
    EOS,
    Column,
    Conjunction,
    Extractor,
    FeatureValue,
    SentenceBatch,
    WordColumn,
    window_heads,
)
from features.lexicons import word_set

# Most tokens of a note repeat earlier words.
_SHAPES_CACHED = 1 << 16
_LONG_RUN = regex.compile(r"(X)X{2,}+|(x)x{2,}+|(9{12})9++")


@lru_cache(maxsize=_SHAPES_CACHED)
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
        """The features that one word decides, kind by kind."""
        return [WordColumn(window_heads("shape", self.window), shape, BOS, EOS)]

    def conjunctions(self) -> list[Conjunction]:
        """The features that neighbouring words decide together, kind by kind."""
        return [Conjunction(((-1, "shape[-1,0,1]="),), shape, 3)]

    def describe(self) -> str:
        """A one-line description of the features."""
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
        """The features that one word decides, kind by kind."""
        columns = []
        for length in range(1, self.longest + 1):
            columns.append(WordColumn(((0, "prefix="),), partial(_first_letters, length=length)))
            columns.append(WordColumn(((0, "suffix="),), partial(_last_letters, length=length)))
        return columns

    def describe(self) -> str:
        """A one-line description of the features."""
        return f"prefixes and suffixes of 1 to {self.longest} letters, in lower case"


def _first_letters(word: str, length: int) -> FeatureValue:
    lower = word.lower()
    return lower[:length] if length <= len(lower) else None


def _last_letters(word: str, length: int) -> FeatureValue:
    lower = word.lower()
    return lower[-length:] if length <= len(lower) else None


# Small words and marks that join the capitals of one name: "Hospital de la Paz", "J. Doe", "O'Neill", "Smith-Jones".
_JOINTS = word_set("de del la las los el of the and y e i von van da do dos . - ' ’ & ª º")
_APART, _JOINT, _CAPITAL = range(3)  # roles of a word: outside a run, joining word, capitalised word
_FAR = 5  # tokens; the largest distance that is counted
_DISTANCES = (None, *map(str, range(_FAR + 1)))


@dataclass(frozen=True)
class CapitalRun(Extractor):
    """The run of capitalised words that the token is in: its first word, and the words before and after it.

    Small joining words count as part of a run if a capital follows them.

    Example:
        >>> from features.tokens import Sentence
        >>> CapitalRun().extract(Sentence.from_words("seen at Port of Tawn Clinic .".split()))[3]
        ['caps:first=port', 'caps:last=clinic', 'caps:before=at', 'caps:after=.', 'caps:at=1', 'caps:left=2']
    """

    def columns(self, batch: SentenceBatch) -> list[Column]:
        """The features of a batch, kind by kind."""
        first, last, run = _runs(batch)
        # The index of a word for each run; the last two indices are the ends of the sentence.
        words, outside = [*map(str.lower, (*batch.distinct, BOS, EOS))], len(batch.distinct)
        numbers, indices = batch.padded(batch.numbers, 1, outside, outside + 1)
        chosen = {
            "caps:first=": batch.numbers[first],
            "caps:last=": batch.numbers[last],
            "caps:before=": numbers[indices[first] - 1],
            "caps:after=": numbers[indices[last] + 1],
        }
        columns = [
            Column((head,), [None, *map(words.__getitem__, found.tolist())], run) for head, found in chosen.items()
        ]
        token = np.arange(len(run))
        for head, distance in (
            ("caps:at=", token - np.append(0, first)[run]),
            ("caps:left=", np.append(0, last)[run] - token),
        ):
            columns.append(Column((head,), _DISTANCES, np.where(run, np.minimum(distance, _FAR) + 1, 0)))
        return columns

    def describe(self) -> str:
        """A one-line description of the features."""
        return "run of capitalised words: its first and last word, the words around it, the place in it"


def _runs(batch: SentenceBatch) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """First and last token of each run, [R], and the number of each token's run, from 1; 0 for none, [N]."""
    kinds = np.array([*map(_kind, batch.distinct)], int)[batch.numbers]
    # A sentence and a word outside runs each begin a segment of tokens, which holds one run or none.
    segment = np.cumsum(kinds == _APART) + batch.sentence_of
    capitals = np.flatnonzero(kinds == _CAPITAL)
    first = capitals[np.diff(segment[capitals], prepend=-1) != 0]
    last = capitals[np.diff(segment[capitals], append=-1) != 0]
    begun, ended = np.zeros((2, len(kinds) + 1), int)
    begun[first] = ended[last + 1] = 1
    begun, ended = np.cumsum(begun), np.cumsum(ended)
    return first, last, np.where(begun > ended, begun, 0)[:-1]


def _kind(word: str) -> int:
    """The role of a word in a run of capitals: `_CAPITAL`, `_JOINT` or `_APART`."""
    return _CAPITAL if word[0].isupper() else _JOINT if word.lower() in _JOINTS else _APART

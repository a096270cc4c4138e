"""Nearest neighbours of words by the cosine of their vectors, the substitutes of words of PHI.

Reference:
    M. Friedrich, A. Köhn, G. Wiedemann, C. Biemann (2019). Adversarial learning of privacy-preserving text
    representations for de-identification of medical records. ACL, section 4.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt
import regex

from crfdeid.errors import SettingError
from features.tokenizer import normal_form
from rnn.embeddings.lookup import Lookup, nearest_rows
from rnn.embeddings.vectors import SPECIAL_WORDS, WordVectors
from rnn.vocab import unknown_class

_DIGIT = regex.compile(r"\p{Nd}")
_MOST_DIGITS = 9  # counted in a word: 10 ** 9 spellings are more than any number of neighbours


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Nearest neighbours of chosen words: each word itself, then the nearest first.

    The vectors alone define neighbours: if they are public, the neighbours of a word reveal nothing about its notes.
    The vector of a word is that of `Lookup`: its own, or that of its parts, or that of unknown words of its casing. The
    neighbours of a word without any are the first words of the vectors, which are the most frequent, those of its
    casing class (`rnn.vocab.UNKNOWN_CLASSES`) before all others. So every word has neighbours if ``count`` is above 1.

    Of equally near words the first of the vectors comes first. Some words of the vectors are never neighbours: special
    words, words with spaces, with invisible characters or not in normal form (`normal_form`), and the few words
    with capitals in lower-case vectors.

    Neighbours are spelt as in the vectors. Those from lower-case vectors get the capitals of the word that they
    replace: at its beginning, or throughout.

    Args:
        count: neighbours of a word, itself included; fewer only if the vectors have fewer words.
        words: possible neighbours, in the order of the vectors.
        spellings: number of words behind each of ``words``: 10 to the number of its digits if the vectors fold digits,
            else 1.
        rows: word -> indices in ``words`` of its neighbours but itself, the nearest first.
        alike: word -> number of words with its vector that differ in their digits at most, itself included.
        lower_case: whether ``words`` are in lower case.
        unknown: words without a vector.

    Example:
        >>> table = np.array([[1, 0], [3, 4], [0, 1]], np.float32)
        >>> neighbours = Neighbours.of(["Doe"], WordVectors(("doe", "roe", "fever"), table), 2)
        >>> neighbours["Doe"]
        ('Doe', 'Roe')
    """

    count: int
    words: tuple[str, ...]
    spellings: npt.NDArray[np.int64]
    rows: Mapping[str, npt.NDArray[np.intp]]
    alike: Mapping[str, int]
    lower_case: bool
    unknown: frozenset[str]

    @classmethod
    def of(cls, words: Iterable[str], vectors: WordVectors, count: int) -> Self:
        """Find the neighbours of words.

        Args:
            words: the words.
            vectors: the word vectors, which define neighbours.
            count: neighbours of each word, itself included; 1 or more.

        Raises:
            SettingError: ``count`` is less than 1.
        """
        if count < 1:
            raise SettingError(f"{count} neighbours: give 1, which is a word itself, or more")
        lookup = Lookup(vectors)
        space = _Space.of(lookup)
        chosen = sorted(set(words))
        found = {word: lookup.vector(word) for word in chosen}
        unknown = frozenset(word for word, vector in found.items() if vector is None)
        rows = dict(space.nearest({word: v for word, v in found.items() if v is not None}, count))
        rows |= {word: space.first_of_class(word, count) for word in unknown}
        folded = vectors.folds_digits
        spellings = np.array([_spellings(word) if folded else 1 for word in space.words], np.int64)
        alike = {word: _spellings(word) if folded or word in unknown else 1 for word in chosen}
        return cls(count, space.words, spellings, rows, alike, vectors.lower_case, unknown)

    def __getitem__(self, word: str) -> tuple[str, ...]:
        """Return the `count` neighbours of a word, itself first; 0 is any digit in vectors that fold digits.

        No two of them differ in their digits alone.

        Raises:
            KeyError: the word is not among the chosen ones.
        """
        return (word, *(self._written(row, word) for row in self.rows[word]))

    def draw(self, word: str, random: np.random.Generator) -> str:
        """Draw one of the `count` nearest words uniformly: the word itself with a probability of 1 / `count`.

        In vectors that fold digits, "14" and all other words of two digits have one vector. They are nearest to each
        other and come first, each of them counts, and random digits are drawn: "14" becomes "92", not "00". A word with
        digits and without a vector is treated likewise.

        Raises:
            KeyError: the word is not among the chosen ones.
        """
        rows, ends = self.rows[word], self._ends(word)
        place = int(np.searchsorted(ends, random.integers(min(self.count, ends[-1])), side="right"))
        if place == 0:
            return word
        if place == 1:
            drawn = word
            while drawn == word:
                drawn = _with_digits(word, random)
            return drawn
        row = rows[place - 2]
        written = self._written(row, word)
        return _with_digits(written, random) if self.spellings[row] > 1 else written

    def _ends(self, word: str) -> npt.NDArray[np.int64]:
        """Cumulative numbers of words: itself, words of other digits, then each neighbour with its spellings."""
        if word not in self._known_ends:
            sizes = np.concatenate([[1, self.alike[word] - 1], self.spellings[self.rows[word]]])
            self._known_ends[word] = np.cumsum(sizes)
        return self._known_ends[word]

    @cached_property
    def _known_ends(self) -> dict[str, npt.NDArray[np.int64]]:
        return {}

    def _written(self, row: int, word: str) -> str:
        return _cased(self.words[row], word) if self.lower_case else self.words[row]


@dataclass(frozen=True)
class _Space:
    """Possible neighbours and their vectors."""

    lookup: Lookup
    words: tuple[str, ...]
    table: npt.NDArray[np.float32]

    @classmethod
    def of(cls, lookup: Lookup) -> Self:
        vectors = lookup.vectors
        usable = np.array([_is_token(word, lower_case=vectors.lower_case) for word in vectors.words])
        words = tuple(word for word, can in zip(vectors.words, usable, strict=True) if can)
        return cls(lookup, words, vectors.table if usable.all() else vectors.table[usable])

    def nearest(self, found: Mapping[str, np.ndarray], count: int) -> Iterator[tuple[str, npt.NDArray[np.intp]]]:
        """Yield each word and the indices of the nearest others."""
        if not found or not self.words:
            yield from ((word, np.zeros(0, np.intp)) for word in found)
            return
        own = {word: place for place, word in enumerate(self.words)}
        for word, near in zip(found, nearest_rows(np.stack(list(found.values())), self.table, count), strict=True):
            others = near.rows[near.rows != own.get(self.lookup.own_word(word) or "", -1)]
            yield word, others[: count - 1]

    def first_of_class(self, word: str, count: int) -> npt.NDArray[np.intp]:
        """Indices of the first words, those of a word's casing class before the others."""
        wanted = unknown_class(self.lookup.spelt(word))
        others = np.array([unknown_class(known) != wanted for known in self.words], bool)
        return np.argsort(others, kind="stable")[: count - 1]


def _is_token(word: str, *, lower_case: bool) -> bool:
    """Report whether a word of the vectors can be a token of a note."""
    if word in SPECIAL_WORDS or not word or not word.isprintable() or " " in word:
        return False
    return (word.isascii() or normal_form(word).text == word) and not (lower_case and word != word.lower())


def _cased(word: str, like: str) -> str:
    """Give a lower-case word the capitals of another one: at its beginning, or throughout."""
    if like.isupper() and len(like) > 1:
        cased = word.upper()
    elif like[:1].isupper():
        cased = word[:1].upper() + word[1:]
    else:
        return word
    return cased if len(cased) == len(word) else word  # "ß" has no capital of one letter


def _spellings(word: str) -> int:
    """Number of words that differ from a word in their digits at most."""
    return int(10 ** min(len(_DIGIT.findall(word)), _MOST_DIGITS))


def _with_digits(word: str, random: np.random.Generator) -> str:
    return _DIGIT.sub(lambda _: str(random.integers(10)), word)

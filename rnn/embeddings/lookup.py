"""Words looked up in vectors: any word, those of a network's initial table, and the nearest ones by cosine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rnn.embeddings.vectors import SPECIAL_WORDS, SubwordVectors, WordVectors, class_word
from rnn.vocab import FIRST_WORD, UNKNOWN_CLASSES, Vocabulary, unknown_class, zero_digits


@dataclass(frozen=True, eq=False)
class Lookup:
    """Looks up words in vectors, scaled so that the table has the standard deviation 1.

    A word is folded as the vectors' words are: digits to 0, or lower case. It has its own vector, else that of its
    lower-case form, else that of its parts, else that of unknown words of its casing
    (`rnn.embeddings.vectors.class_word`), else zeros.

    Args:
        vectors: the vectors.

    Example:
        >>> lookup = Lookup(WordVectors(("fever", "00"), np.array([[2, 0], [0, 2]], np.float32)))
        >>> lookup(["Fever", "17", "Doe"])
        array([[2., 0.],
               [0., 2.],
               [0., 0.]], dtype=float32)
    """

    vectors: WordVectors

    def __call__(self, words: Sequence[str]) -> npt.NDArray[np.float32]:
        """Vector of each word, [N, D]."""
        found = np.zeros((len(words), self.vectors.dim), np.float32)
        for row, word in zip(found, words, strict=True):
            vector = self.vector(word)
            row[...] = 0.0 if vector is None else vector
        return found * np.float32(self._scale)

    def spelt(self, word: str) -> str:
        """Fold a word as the vectors' words are folded."""
        folded = zero_digits(word) if self.vectors.folds_digits else word
        return folded.lower() if self.vectors.lower_case else folded

    def own_word(self, word: str) -> str | None:
        """Entry of the vectors for a word; None for an unknown word."""
        spelt = self.spelt(word)
        return next((form for form in (spelt, spelt.lower()) if form in self._rows), None)

    def vector(self, word: str) -> npt.NDArray[np.float32] | None:
        """Vector of a word, [D], at the scale of the vectors; None if there is none."""
        own = self.own_word(word)
        if own is not None:
            return self.vectors.table[self._rows[own]]
        subwords = self.vectors.subwords
        of_parts = None if subwords is None else subwords.vector(self.spelt(word))
        if of_parts is not None and of_parts.any():
            return of_parts
        of_class = self._rows.get(class_word(word))
        return None if of_class is None else self.vectors.table[of_class]

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.vectors.words)}

    @cached_property
    def _scale(self) -> float:
        spread = float(self.vectors.table.std())
        return 1.0 / spread if spread > 0 else 1.0


def extend(vocabulary: Vocabulary, vectors: WordVectors) -> Vocabulary:
    """Append the words of vectors to a vocabulary, in their order.

    The vectors' words are folded as the vocabulary's. If the vectors are lower-case, as GloVe's are, unknown words are
    read in lower case from now on (`Vocabulary.lower_case`).
    """
    read = zero_digits if vocabulary.fold_digits else str
    words = dict.fromkeys(vocabulary.words)
    words.update(dict.fromkeys(read(word) for word in vectors.words if word not in SPECIAL_WORDS))
    return replace(vocabulary, words=tuple(words), lower_case=vectors.lower_case)


def initial_table(vocabulary: Vocabulary, vectors: WordVectors, random_table: npt.ArrayLike) -> np.ndarray:
    """Initial embedding table of a network, [V, D].

    The row of a word is the vector of that word, else of its lower-case form, else that of its parts, else random.
    Padding and the casing classes of unknown words have the vectors of `BOUNDARY` and of their `CLASS_WORDS`, if the
    vectors hold these. If the vocabulary folds digits, the first of several words that fold to the same one counts. All
    vectors are multiplied by `matching_scale`.

    Args:
        vocabulary: the words of the rows.
        vectors: the vectors, of size D.
        random_table: a random table, [V, D].
    """
    read = zero_digits if vocabulary.fold_digits else str
    found: dict[str, int] = {}
    for i, word in enumerate(vectors.words):
        found.setdefault(read(word), i)
    table = np.array(random_table, np.float32)
    scale = matching_scale(vectors, table)
    for i, word in enumerate((*SPECIAL_WORDS, *vocabulary.words)):
        row = found.get(word, found.get(word.lower()))
        if row is not None:
            table[i] = scale * vectors.table[row]
        elif vectors.subwords is not None and i >= FIRST_WORD:
            table[i] = scale * unseen_vectors([word], vocabulary, vectors.subwords)[0]
    return table


def matching_scale(vectors: WordVectors, random_table: npt.ArrayLike) -> float:
    """Factor that gives vectors the standard deviation of a random table; 1 if either is constant.

    A network's learning rate suits one scale, and the sources of vectors differ in theirs; unscaled CBOW vectors cost
    several points of F. Vectors of words and of their parts have the same factor (`SubwordVectors.scaled`).
    """
    wanted, given = np.asarray(random_table, np.float32).std(), vectors.table.std()
    return float(wanted / given) if wanted > 0 and given > 0 else 1.0


def scaled_subwords(vectors: WordVectors, bound: float) -> SubwordVectors | None:
    """Vectors of parts of words in the scale of `initial_table`, whose random numbers are from -bound to bound."""
    if vectors.subwords is None:
        return None
    deviation = bound / 3**0.5
    return vectors.subwords.scaled(matching_scale(vectors, np.array([-deviation, deviation])))


def unseen_vectors(words: Sequence[str], vocabulary: Vocabulary, subwords: SubwordVectors) -> npt.NDArray[np.float32]:
    """Vectors of unknown words from their parts, [N, D]; words are folded as the vocabulary reads them."""
    spelt = [zero_digits(word) if vocabulary.fold_digits else word for word in words]
    return subwords.vectors([word.lower() for word in spelt] if vocabulary.lower_case else spelt)


def concatenate(several: Sequence[WordVectors], words: Iterable[str]) -> WordVectors:
    """Concatenate the vectors of some words from several sources (lange2020, section 3.1).

    Each source is scaled to the standard deviation 1. A source without a vector for a word gives that of unknown words,
    or zeros (`Lookup`).

    Args:
        several: the sources, of sizes D1, D2 and so on.
        words: words to have vectors of size D1 + D2 + …; words that no source knows are left out.

    Raises:
        ValueError: there are no sources.

    Example:
        >>> one = WordVectors(("fever",), np.array([[1, -1]], np.float32))
        >>> other = WordVectors(("fever", "cough"), np.array([[2], [-2]], np.float32))
        >>> both = concatenate([one, other], ["cough", "fever", "rash"])
        >>> both.words[-2:], both.table[-2:].tolist()
        (('cough', 'fever'), [[0.0, 0.0, -1.0], [1.0, -1.0, 1.0]])
    """
    kinds = [Lookup(vectors) for vectors in several]

    def known(word: str) -> bool:
        return any(kind.own_word(word) is not None or kind.vectors.subwords is not None for kind in kinds)

    there = (*SPECIAL_WORDS, *filter(known, sorted(set(words).difference(SPECIAL_WORDS))))
    notices = dict.fromkeys(notice for vectors in several for notice in vectors.notices)
    return WordVectors(there, np.concatenate([kind(there) for kind in kinds], axis=1), notices=tuple(notices))


_PROBES = {"lower": 4, "initial capital": 3, "all capitals": 1}  # words of each casing class
_SHORTEST = 4  # letters of such a word: shorter ones say little
_MOST_COSINES = 1 << 24  # at once: 64 MB
_SHORTEST_LENGTH = float(np.finfo(np.float32).tiny)  # a shorter vector counts as zeros


class Near(NamedTuple):
    """Rows of a table of vectors, [count], and their cosines with a vector, [count]; the nearest first."""

    rows: npt.NDArray[np.intp]
    cosines: npt.NDArray[np.float64]


def nearest(vectors: WordVectors, word: str, k: int = 8) -> list[tuple[str, float]]:
    """Find the k words with the greatest cosine with a word, and that cosine; the greatest first.

    Raises:
        ValueError: the word has no vector.

    Example:
        >>> vectors = WordVectors(("fever", "cough", "Doe"), np.array([[1, 0], [3, 4], [0, 1]], np.float32))
        >>> [(word, round(cosine, 2)) for word, cosine in nearest(vectors, "fever", k=2)]
        [('cough', 0.6), ('Doe', 0.0)]
    """
    if word not in vectors.words:
        raise ValueError("the word has no vector")
    own = vectors.words.index(word)
    ((rows, cosines),) = nearest_rows(vectors.table[[own]], vectors.table, k + 1)
    others = [
        (vectors.words[row], cosine) for row, cosine in zip(rows.tolist(), cosines.tolist(), strict=True) if row != own
    ]
    return others[:k]


def nearest_rows(queries: npt.NDArray[np.float32], table: npt.NDArray[np.float32], count: int) -> Iterator[Near]:
    """Find the rows of a table with the greatest cosine with each query; a query of zeros has the cosine 0 with all.

    The result is exact and does not depend on how the queries are grouped. Cosines are taken in single precision, of a
    block of queries with the whole table, at most `_MOST_COSINES` at once. All rows that rounding could have moved are
    then sorted in double precision.

    Args:
        queries: the vectors, [Q, D].
        table: the rows to choose from, [V, D].
        count: rows for each query, at most V.

    Yields:
        For each query its rows, the nearest first, of equals the first of the table; and their cosines.
    """
    lengths = np.sqrt(np.einsum("vd,vd->v", table, table, dtype=float)).clip(_SHORTEST_LENGTH).astype(np.float32)
    count = min(count, len(table))
    block = max(1, _MOST_COSINES // len(table))
    for begin in range(0, len(queries), block):
        part = queries[begin : begin + block].astype(float)
        part /= np.linalg.norm(part, axis=1, keepdims=True).clip(_SHORTEST_LENGTH)
        for query, cosines in zip(part, part.astype(np.float32) @ table.T / lengths, strict=True):
            yield _first(query, table, cosines, count)


def _first(query: np.ndarray, table: np.ndarray, cosines: np.ndarray, count: int) -> Near:
    """Find the nearest rows to a vector of length 1 from cosines in single precision."""
    rounding = 2 * (len(query) + 8) * np.finfo(np.float32).eps  # of two sums of D products
    bound = np.partition(cosines, len(cosines) - count)[len(cosines) - count] - rounding
    rows = np.flatnonzero(cosines >= bound)
    near = table[rows].astype(float)
    exact = (near * query).sum(axis=1) / np.sqrt((near * near).sum(axis=1)).clip(_SHORTEST_LENGTH)
    order = np.argsort(-exact, kind="stable")[:count]
    return Near(rows[order], exact[order])


def out_of_vocabulary(counts: Mapping[str, int], vectors: WordVectors) -> dict[str, float]:
    """Shares of a text's tokens and of its types (distinct words) without a vector.

    Words are read as by a network that starts from the vectors: digits folded, in lower case if the vectors are.

    Args:
        counts: number of occurrences of each word.
        vectors: the vectors.

    Returns:
        "tokens" and "types", fractions; 0 for a text without words.

    Example:
        >>> vectors = WordVectors(("fever", "00"), np.eye(2, dtype=np.float32))
        >>> out_of_vocabulary({"fever": 2, "17": 1, "42": 1, "Doe": 1}, vectors)
        {'tokens': 0.2, 'types': 0.3333333333333333}
    """
    folded = _folded(counts)
    ids = extend(Vocabulary(()), vectors).ids(list(folded))
    unknown = [count for count, number in zip(folded.values(), ids, strict=True) if number < FIRST_WORD]
    return {
        "tokens": sum(unknown) / max(folded.total(), 1),
        "types": len(unknown) / max(len(folded), 1),
    }


def probe_words(counts: Mapping[str, int], vectors: WordVectors) -> list[str]:
    """Choose words to show neighbours of: the most frequent ones of several casings with a vector.

    Args:
        counts: number of occurrences of each word in a corpus.
        vectors: the vectors; words are looked up in lower case if the vectors are.
    """
    folded, known = _folded(counts), set(vectors.words)
    chosen: dict[str, str] = {}  # by the word as the vectors spell it
    left = Counter(_PROBES)
    for word in sorted(folded, key=lambda word: (-folded[word], word)):
        casing = UNKNOWN_CLASSES[unknown_class(word) - 1]
        spelt = word if word in known else word.lower()
        if left[casing] and word.isalpha() and len(word) >= _SHORTEST and spelt in known and spelt not in chosen:
            left[casing] -= 1
            chosen[spelt] = casing
    return sorted(chosen, key=lambda word: list(_PROBES).index(chosen[word]))


def _folded(counts: Mapping[str, int]) -> Counter[str]:
    folded: Counter[str] = Counter()
    for word, count in counts.items():
        folded[zero_digits(word)] += count
    return folded

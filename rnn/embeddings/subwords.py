"""Vectors of unknown words from fastText's n-grams of characters.

A word is read between the marks < and >. Every run of ``min_n`` to ``max_n`` characters in it is an n-gram. A public
hash assigns each n-gram to one of a fixed number of buckets with a vector each. The word's vector is the mean of those
of its n-grams.

Reference:
    P. Bojanowski, E. Grave, A. Joulin, T. Mikolov (2017). Enriching word vectors with subword information. TACL 5,
    section 3.2. arXiv:1607.04606. What the paper leaves open is as in fastText and gensim: a sum became a mean, and a
    mark alone is no n-gram.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Never, Self

import numpy as np
import numpy.typing as npt

from crfdeid.errors import OptionConflictError

_MOST_REMEMBERED = 1 << 14  # cached words: 20 MB for D = 300


@dataclass(frozen=True, eq=False)
class SubwordVectors:
    """Vectors of n-grams of characters, which give a vector to any word.

    It holds no words: known words are in `rnn.embeddings.WordVectors`, or in a network's table.

    Args:
        buckets: vectors that n-grams share, [buckets, D] float32.
        min_n: smallest number of characters of an n-gram.
        max_n: largest number of characters of an n-gram.

    Raises:
        ValueError: an invalid table, a number that is not finite, or invalid lengths of n-grams.

    Example:
        >>> subwords = SubwordVectors(np.eye(4, dtype=np.float32), min_n=2, max_n=3)
        >>> ngram_buckets("a", count=4, min_n=1, max_n=2)  # <a, a, a>
        [2, 0, 2]
        >>> subwords.vector("a").round(2)
        array([0.33, 0.  , 0.67, 0.  ], dtype=float32)
    """

    buckets: npt.NDArray[np.float32]
    min_n: int
    max_n: int
    _seen: dict[str, np.ndarray] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.buckets.dtype != np.float32 or self.buckets.ndim != 2 or self.buckets.size == 0:
            raise ValueError(f"a table [buckets, D] of float32 is due, not {self.buckets.dtype} {self.buckets.shape}")
        if not np.isfinite(self.buckets).all():
            raise ValueError("a vector of n-grams holds a number that is not finite")
        if not 1 <= self.min_n <= self.max_n:
            raise ValueError(f"n-grams of {self.min_n} to {self.max_n} characters: give 1 or more, the fewest first")

    def __len__(self) -> int:
        """Return the number of buckets."""
        return len(self.buckets)

    @property
    def dim(self) -> int:
        """Size of a vector, D."""
        return self.buckets.shape[1]

    def vector(self, word: str) -> npt.NDArray[np.float32]:
        """Mean of a word's n-grams, [D], read-only; zeros for a word too short to have any."""
        found = self._seen.get(word)
        if found is None:
            if len(self._seen) >= _MOST_REMEMBERED:
                self._seen.clear()
            found = self._seen[word] = self._mean(word)
        return found

    def vectors(self, words: Sequence[str]) -> npt.NDArray[np.float32]:
        """Vector of each word, [N, D]."""
        return np.array([self.vector(word) for word in words], np.float32).reshape(-1, self.dim)

    def _mean(self, word: str) -> npt.NDArray[np.float32]:
        rows = ngram_buckets(word, count=len(self), min_n=self.min_n, max_n=self.max_n)
        mean = self.buckets[rows].mean(axis=0) if rows else np.zeros(self.dim, np.float32)
        mean.setflags(write=False)  # it is cached
        return mean

    def scaled(self, factor: float) -> Self:
        """Multiply all vectors by a number."""
        return type(self)(self.buckets * np.float32(factor), self.min_n, self.max_n)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays to save: "buckets", and "lengths", the range of characters of an n-gram."""
        return {"buckets": self.buckets, "lengths": np.array([self.min_n, self.max_n], np.int32)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> Self:
        """Restore vectors from `arrays`.

        Raises:
            KeyError: an array is missing.
            ValueError: an array is invalid.
        """
        min_n, max_n = map(int, arrays["lengths"])
        return cls(arrays["buckets"], min_n, max_n)

    def hashed(self, key: bytes) -> Never:
        """Refuse to hash: no simple key keeps secret which words these vectors were trained on.

        A vocabulary can store keyed hashes of its words, because nothing else in it reveals their spelling
        (`rnn.vocab.Vocabulary.hashed`). These vectors do reveal it:

        - Unchanged, they show whether a name was in the text. Training changes the buckets of the text's n-grams; all
          others keep their initial numbers, which follow from the seed. The public hash shows whether the buckets of a
          name were changed.
        - Shuffled by a key, they show the same: each untouched bucket is recognised by its initial numbers.
        - Shuffled, with secret initial numbers, they are still related: a word's vector is the mean of its n-grams'.
          Frequent words can be identified by their use, then the rows of their n-grams, and from these rare words, the
          names, could be spelt. No bound on this is known.

        Raises:
            OptionConflictError: always.
        """
        raise OptionConflictError(
            "vectors of parts of words cannot be stored with a private vocabulary, because they tell how its words are "
            "spelt: train without the secret, or start from random, rnnlm or cbow vectors"
        )


def ngram_buckets(word: str, *, count: int, min_n: int, max_n: int) -> list[int]:
    """Bucket of each n-gram of a word, sorted by start, then by length.

    Args:
        word: any text; lone surrogates are read as in `encodable`.
        count: number of buckets.
        min_n: smallest number of characters of an n-gram, the marks < and > included.
        max_n: largest number of characters.
    """
    from gensim.models.fasttext import ft_ngram_hashes  # noqa: PLC0415  a second to import

    found: list[int] = ft_ngram_hashes(encodable(word), min_n, max_n, count)
    return found


def encodable(word: str) -> str:
    """Escape lone surrogates (halves of UTF-16 characters), which UTF-8 cannot encode.

    Example:
        >>> encodable("Do\\ud800")
        'Do\\\\ud800'
    """
    return word.encode(errors="backslashreplace").decode()

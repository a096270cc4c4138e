"""Word vectors, the special words among them, vectors of n-grams for all other words, and the cache of vectors."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, Never, Self

import numpy as np
import numpy.typing as npt

from crfdeid.errors import DataError, IntegrityError, NotFoundError, OptionConflictError
from crfdeid.utils.files import read_bytes, write_files
from crfdeid.utils.folders import cache_folder, make_cache_folder
from rnn.vocab import UNKNOWN_CLASSES, unknown_class, zero_digits

BOUNDARY = "</s>"  # the end of a sentence, as in word2vec's files; its vector becomes that of padding
CLASS_WORDS = tuple(f"<{name}>" for name in UNKNOWN_CLASSES)
SPECIAL_WORDS = (BOUNDARY, *CLASS_WORDS)  # the words of the ids before `rnn.vocab.FIRST_WORD`; in no text
_SUBWORDS = "subwords."  # prefix of the names of their arrays in a saved file
_MOST_REMEMBERED = 1 << 14  # cached words: 20 MB for D = 300
_CAPITALS = 0.01  # vectors are lower-case if a smaller share of their words has capitals: no list is free of them


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Words and their vectors.

    Args:
        words: the words, each once; the most frequent first if frequencies are known.
        table: their vectors, [V, D] float32.
        subwords: makes vectors of size D for all other words from their parts; None for no such vectors.
        notices: warnings about the vectors for readers of results, one sentence each.

    Raises:
        ValueError: words, table and subwords do not match, a word is repeated, or a number is not finite.

    Example:
        >>> vectors = WordVectors(("fever", "cough"), np.eye(2, 3, dtype=np.float32))
        >>> len(vectors), vectors.dim
        (2, 3)
    """

    words: tuple[str, ...]
    table: npt.NDArray[np.float32]
    subwords: SubwordVectors | None = None
    notices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.table.dtype != np.float32 or self.table.ndim != 2:
            raise ValueError(f"word vectors are a table [V, D] of float32, not {self.table.dtype} {self.table.shape}")
        if len(self.words) != len(self.table):
            raise ValueError(f"{len(self.words)} words for {len(self.table)} vectors: give one vector a word")
        if self.table.size == 0:
            raise ValueError("there are no word vectors: give at least one word and one dimension")
        if len(set(self.words)) != len(self.words):
            raise ValueError(f"{len(self.words) - len(set(self.words))} words are there twice: give each word once")
        if not np.isfinite(self.table).all():
            raise ValueError("a word vector holds a number that is not finite")
        if self.subwords is not None and self.subwords.dim != self.dim:
            raise ValueError(f"vectors of size {self.dim} for words, of size {self.subwords.dim} for their parts")

    def __len__(self) -> int:
        return len(self.words)

    @property
    def dim(self) -> int:
        """Size of a vector, D."""
        return self.table.shape[1]

    @cached_property
    def lower_case(self) -> bool:
        """True if the words are in lower case, as GloVe's are."""
        return sum(word != word.lower() for word in self.words) < _CAPITALS * len(self)

    @cached_property
    def folds_digits(self) -> bool:
        """True if every digit in the words is 0, as in vectors that the library trains (`replace_rare`)."""
        return all(word == zero_digits(word) for word in self.words)

    def save(self, path: Path) -> None:
        """Write the vectors to a file ``.npz`` that only its owner can read: words of notes are PHI.

        Raises:
            DataError: the file cannot be written.
        """
        buffer = io.BytesIO()
        np.savez(buffer, allow_pickle=False, **self.arrays())
        write_files({path: buffer.getvalue()})

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays to save, by name; words and notices as JSON in bytes."""
        # As JSON, because an array of texts drops NUL at a word's end and pads every word to the longest.
        texts = {"words": self.words, "notices": self.notices}
        arrays = {name: np.frombuffer(json.dumps(text).encode(), np.uint8) for name, text in texts.items()}
        if self.subwords is not None:
            arrays |= {_SUBWORDS + name: array for name, array in self.subwords.arrays().items()}
        return {"table": self.table, **arrays}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> Self:
        """Restore vectors from `arrays`.

        Raises:
            KeyError, TypeError, ValueError: the arrays are not those of word vectors.
        """
        words, notices = (tuple(json.loads(arrays[name].tobytes())) for name in ("words", "notices"))
        parts = {name.removeprefix(_SUBWORDS): a for name, a in arrays.items() if name.startswith(_SUBWORDS)}
        return cls(words, arrays["table"], SubwordVectors.from_arrays(parts) if parts else None, notices)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read vectors that `save` wrote.

        Raises:
            NotFoundError: there is no such file.
            IntegrityError: the file is damaged.
        """
        try:
            with np.load(io.BytesIO(read_bytes(path)), allow_pickle=False) as file:
                return cls.from_arrays(dict(file))
        except FileNotFoundError:
            raise NotFoundError("no such file of word vectors", path=path) from None
        except DataError:
            raise
        except (OSError, EOFError, KeyError, TypeError, AttributeError, ValueError, zipfile.BadZipFile):
            raise IntegrityError("not saved word vectors, or damaged: make them again", path=path) from None


@dataclass(frozen=True, eq=False)
class SubwordVectors:
    """Vectors of fastText's n-grams of characters, which give a vector to any word.

    A word is read between the marks < and >. Every run of ``min_n`` to ``max_n`` characters in it is an n-gram. A
    public hash assigns each n-gram to one of a fixed number of buckets with a vector each. The word's vector is the
    mean of those of its n-grams.

    It holds no words: known words are in `WordVectors`, or in a network's table.

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

    Reference:
        P. Bojanowski, E. Grave, A. Joulin, T. Mikolov (2017). Enriching word vectors with subword information. TACL 5,
        section 3.2. arXiv:1607.04606. What the paper leaves open is as in fastText and gensim: a sum became a mean, and
        a mark alone is no n-gram.
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
        """Restore vectors from `arrays`."""
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


def class_word(word: str) -> str:
    """Return the special word of all unknown words of the same casing.

    Example:
        >>> class_word("Brown")
        '<initial capital>'
    """
    return CLASS_WORDS[unknown_class(word) - 1]


def replace_rare(sentences: Iterable[Sequence[str]], *, min_count: int = 2) -> list[list[str]]:
    """Fold digits to 0 and replace each rare word by its `class_word`, to train the vectors of unknown words.

    Args:
        sentences: the words of each sentence.
        min_count: number of occurrences below which a word is rare.

    Example:
        >>> replace_rare([["Dr", "Doe", "3"], ["Dr", "Roe", "4"]])
        [['Dr', '<initial capital>', '0'], ['Dr', '<initial capital>', '0']]
    """
    folded = [[zero_digits(word) for word in sentence] for sentence in sentences]
    counts = Counter(word for sentence in folded for word in sentence)
    return [[word if counts[word] >= min_count else class_word(word) for word in sentence] for sentence in folded]


def random_vectors(words: Sequence[str], *, dim: int = 100, bound: float = 0.25, seed: int = 0) -> WordVectors:
    """Make vectors of uniform random numbers from -bound to bound (yadav2016, section 3.1).

    Args:
        words: the words, each once.
        dim: size of a vector, D.
        bound: bound of the numbers.
        seed: seed of the random numbers.

    Example:
        >>> random_vectors(["fever", "cough"], dim=3).table.shape
        (2, 3)
    """
    random = np.random.default_rng(seed)
    return WordVectors(tuple(words), random.uniform(-bound, bound, (len(words), dim)).astype(np.float32))


def cached(
    name: str, inputs: Any, make: Callable[[], WordVectors], *, libraries: Sequence[str] = ("numpy",)
) -> WordVectors:
    """Load vectors from the cache, else make and store them.

    The file's name is a hash of the inputs. Folder and file are readable by their owner alone, since the words are
    those of the notes. A damaged file is replaced. Files are written atomically, so processes may share the cache.

    Args:
        name: prefix of the file's name, such as "cbow".
        inputs: everything the vectors depend on (settings, texts, seed): JSON data that may hold dataclasses.
        make: makes the vectors.
        libraries: distributions whose versions matter, in addition to this one.

    Raises:
        DataError: the folder cannot be made or written to.
    """
    libraries = ("crfdeid", *libraries)
    content = [inputs, {library: version(library) for library in libraries}]
    digest = hashlib.sha256(json.dumps(content, sort_keys=True, default=dataclasses.asdict).encode()).hexdigest()
    path = cache_folder() / f"{name}-{digest}.npz"
    try:
        return WordVectors.load(path)
    except DataError:
        pass  # missing or damaged: it is made below
    make_cache_folder()  # fails before the long training
    vectors = make()
    vectors.save(path)
    return vectors

"""Word vectors, the special words among them, a network's initial vocabulary and table, and the cache of vectors."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from crfdeid.errors import DataError, IntegrityError, NotFoundError
from crfdeid.utils.files import read_bytes, write_files
from crfdeid.utils.folders import cache_folder, make_cache_folder
from rnn.embeddings.subwords import SubwordVectors
from rnn.vocab import FIRST_WORD, UNKNOWN_CLASSES, Vocabulary, unknown_class, zero_digits

BOUNDARY = "</s>"  # the end of a sentence, as in word2vec's files; its vector becomes that of padding
CLASS_WORDS = tuple(f"<{name}>" for name in UNKNOWN_CLASSES)
SPECIAL_WORDS = (BOUNDARY, *CLASS_WORDS)  # the words of the ids before `rnn.vocab.FIRST_WORD`; in no text
_SUBWORDS = "subwords."  # prefix of the names of their arrays in a saved file
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


def extend(vocabulary: Vocabulary, vectors: WordVectors) -> Vocabulary:
    """Append the words of vectors to a vocabulary, in their order.

    The vectors' words are folded as the vocabulary's. If the vectors are lower-case, as GloVe's are, unknown words are
    read in lower case from now on (`Vocabulary.lower_case`).
    """
    read = zero_digits if vocabulary.fold_digits else str
    words = dict.fromkeys(vocabulary.words)
    words.update(dict.fromkeys(read(word) for word in vectors.words if word not in SPECIAL_WORDS))
    return dataclasses.replace(vocabulary, words=tuple(words), lower_case=vectors.lower_case)


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
    digest = _digest([inputs, {library: version(library) for library in libraries}])
    path = cache_folder() / f"{name}-{digest}.npz"
    try:
        return WordVectors.load(path)
    except DataError:
        pass  # missing or damaged: it is made below
    make_cache_folder()  # fails before the long training
    vectors = make()
    vectors.save(path)
    return vectors


def _digest(inputs: Any) -> str:
    content = json.dumps(inputs, sort_keys=True, default=dataclasses.asdict)
    return hashlib.sha256(content.encode()).hexdigest()

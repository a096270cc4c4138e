"""Word vectors as data, the words they are learned for, and how a network starts from them."""

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

BOUNDARY = "</s>"  # the word that stands for a sentence's end, as in word2vec's files; its vector is the padding's
CLASS_WORDS = tuple(f"<{name}>" for name in UNKNOWN_CLASSES)
SPECIAL_WORDS = (BOUNDARY, *CLASS_WORDS)  # the words of the ids before `rnn.vocab.FIRST_WORD`; in no text
_SUBWORDS = "subwords."  # before the names of their arrays in a saved file
_CAPITALS = 0.01  # vectors are lower-case when a smaller share of their words has capitals: no list is without odd ones


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Words and their vectors.

    Args:
        words: the words, each once; the most frequent first where frequencies are known.
        table: their vectors, [V, D] float32.
        subwords: makes vectors of size D for all other words, from their parts; None where nothing does.
        notices: what a reader of results must know about the vectors, one sentence each.

    Raises:
        ValueError: words, table and subwords do not fit together, a word is there twice, or a number is not finite.

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
        """The size of a vector, D."""
        return self.table.shape[1]

    @cached_property
    def lower_case(self) -> bool:
        """Whether the words are in lower case, as GloVe's are."""
        return sum(word != word.lower() for word in self.words) < _CAPITALS * len(self)

    @cached_property
    def folds_digits(self) -> bool:
        """Whether every digit in the words is 0, as in vectors that were trained here (`replace_rare`)."""
        return all(word == zero_digits(word) for word in self.words)

    def save(self, path: Path) -> None:
        """Write the vectors to a file ``.npz`` that only its owner may read: words of notes are PHI.

        Raises:
            DataError: the file cannot be written.
        """
        buffer = io.BytesIO()
        np.savez(buffer, allow_pickle=False, **self.arrays())
        write_files({path: buffer.getvalue()})

    def arrays(self) -> dict[str, np.ndarray]:
        """All there is to save, by name; words and notices as JSON in bytes."""
        # As JSON, because an array of texts drops NUL at a word's end and takes every word as long as the longest.
        texts = {"words": self.words, "notices": self.notices}
        arrays = {name: np.frombuffer(json.dumps(text).encode(), np.uint8) for name, text in texts.items()}
        if self.subwords is not None:
            arrays |= {_SUBWORDS + name: array for name, array in self.subwords.arrays().items()}
        return {"table": self.table, **arrays}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> Self:
        """The vectors that `arrays` gave.

        Raises:
            KeyError, TypeError, ValueError: they are not those of word vectors.
        """
        words, notices = (tuple(json.loads(arrays[name].tobytes())) for name in ("words", "notices"))
        parts = {name.removeprefix(_SUBWORDS): a for name, a in arrays.items() if name.startswith(_SUBWORDS)}
        return cls(words, arrays["table"], SubwordVectors.from_arrays(parts) if parts else None, notices)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read vectors that `save` wrote.

        Raises:
            DataError: there is no such file, or it is damaged.
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
    """The word that stands for all unknown words of the same casing.

    Example:
        >>> class_word("Brown")
        '<initial capital>'
    """
    return CLASS_WORDS[unknown_class(word) - 1]


def replace_rare(sentences: Iterable[Sequence[str]], *, min_count: int = 2) -> list[list[str]]:
    """Sentences as word vectors learn from them: digits folded to 0, each rare word replaced by its `class_word`.

    So the words that no vector will be learned for teach the vector that unknown words will get.

    Args:
        sentences: the words of each sentence.
        min_count: a word that is seen less often is rare.

    Example:
        >>> replace_rare([["Dr", "Doe", "3"], ["Dr", "Roe", "4"]])
        [['Dr', '<initial capital>', '0'], ['Dr', '<initial capital>', '0']]
    """
    folded = [[zero_digits(word) for word in sentence] for sentence in sentences]
    counts = Counter(word for sentence in folded for word in sentence)
    return [[word if counts[word] >= min_count else class_word(word) for word in sentence] for sentence in folded]


def extend(vocabulary: Vocabulary, vectors: WordVectors) -> Vocabulary:
    """A vocabulary and, after its own, the words of the vectors that it lacks, in their order.

    The vectors' words are folded as the vocabulary's are. Where the vectors are lower-case, as GloVe's are, unknown
    words are read in lower case from now on (`Vocabulary.lower_case`).
    """
    read = zero_digits if vocabulary.fold_digits else str
    words = dict.fromkeys(vocabulary.words)
    words.update(dict.fromkeys(read(word) for word in vectors.words if word not in SPECIAL_WORDS))
    return dataclasses.replace(vocabulary, words=tuple(words), lower_case=vectors.lower_case)


def initial_table(vocabulary: Vocabulary, vectors: WordVectors, random_table: npt.ArrayLike) -> np.ndarray:
    """The embedding table a network starts from, [V, D].

    The row of a word is the vector of that word, else of its lower-case form, else that of its parts, else random.
    Padding and the casing classes of unknown words have the vectors of `BOUNDARY` and of their `CLASS_WORDS`, if there
    are any. Where the vocabulary folds digits, the first of the vectors' words that fold to the same one counts. All
    vectors are multiplied by `matching_scale`.

    Args:
        vocabulary: what the rows stand for.
        vectors: the given vectors, of size D.
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
    """The number that gives vectors the standard deviation of a random table when they are multiplied by it.

    A network's learning rate suits one scale, and the sources of vectors differ in theirs (CBOW's is three times the
    random one, and costs several points of F when left as it is). Vectors of words and those of their parts are
    multiplied by the same number (`SubwordVectors.scaled`).

    Returns:
        1 where the numbers of either are all equal.
    """
    wanted, given = np.asarray(random_table, np.float32).std(), vectors.table.std()
    return float(wanted / given) if wanted > 0 and given > 0 else 1.0


def unseen_vectors(words: Sequence[str], vocabulary: Vocabulary, subwords: SubwordVectors) -> npt.NDArray[np.float32]:
    """The vectors of words that a vocabulary lacks, from their parts, [N, D].

    They are spelt as the vocabulary reads them: digits folded, and in lower case where the vectors' words are so.
    """
    spelt = [zero_digits(word) if vocabulary.fold_digits else word for word in words]
    return subwords.vectors([word.lower() for word in spelt] if vocabulary.lower_case else spelt)


def random_vectors(words: Sequence[str], *, dim: int = 100, bound: float = 0.25, seed: int = 0) -> WordVectors:
    """Vectors whose numbers are drawn uniformly from -bound to bound (yadav2016, section 3.1).

    Args:
        words: the words, each once.
        dim: the size of a vector, D.
        bound: the largest number there can be.
        seed: the seed of the draw.

    Example:
        >>> random_vectors(["fever", "cough"], dim=3).table.shape
        (2, 3)
    """
    random = np.random.default_rng(seed)
    return WordVectors(tuple(words), random.uniform(-bound, bound, (len(words), dim)).astype(np.float32))


def cached(
    name: str, inputs: Any, make: Callable[[], WordVectors], *, libraries: Sequence[str] = ("numpy",)
) -> WordVectors:
    """The vectors that were made from the same inputs before, else those that ``make`` gives, kept for the next time.

    Both folder and file are their owner's alone: the words are those of the notes. A damaged file is made anew. Two
    processes that make the same vectors at once both write them, each file whole.

    Args:
        name: what is made, such as "cbow": the beginning of the file's name.
        inputs: all that the vectors depend on (settings, texts, seed): JSON data, with dataclasses anywhere in it.
        make: makes the vectors.
        libraries: the distributions whose versions matter, besides this one.

    Raises:
        DataError: the folder cannot be made or written to.
    """
    libraries = ("crfdeid", *libraries)
    digest = _digest([inputs, {library: version(library) for library in libraries}])
    path = cache_folder() / f"{name}-{digest}.npz"
    try:
        return WordVectors.load(path)
    except DataError:
        pass  # not there, or damaged: what is made now replaces it
    make_cache_folder()  # before the long training, not after it
    vectors = make()
    vectors.save(path)
    return vectors


def _digest(inputs: Any) -> str:
    content = json.dumps(inputs, sort_keys=True, default=dataclasses.asdict)
    return hashlib.sha256(content.encode()).hexdigest()

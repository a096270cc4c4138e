"""Reader of pretrained word vectors: files of word2vec, GloVe and fastText.

The format is recognised by a file's content. gensim reads all formats but fastText's binary files; damage that gensim
accepts is refused here.

fastText's binary files hold gigabytes, so only the required parts are read. A file is a list of settings, a list of
words with their counts, and a table: one row for each word, then one for each bucket of n-grams
(`rnn.embeddings.SubwordVectors`). A word's vector is the mean of its row and those of its n-grams.
"""

from __future__ import annotations

import gzip
import itertools
import logging
import mmap
import re
import struct
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from crfdeid.errors import DataError, FormatError, IntegrityError, ReadError
from crfdeid.utils.files import require_file
from rnn.embeddings.vectors import BOUNDARY, SubwordVectors, WordVectors, ngram_buckets

_FASTTEXT = struct.pack("<i", 793712314)  # first bytes of fastText's binary files
_DAMAGED = "damaged or cut off: fetch it anew"
_NOT_FINITE = "holds numbers that are not finite: remove these words, or fetch it anew"

_SETTINGS = struct.Struct("<8x12i8x")  # the 1st is D, the 9th to 11th are the buckets and the lengths of n-grams
_WORDS = struct.Struct("<3i2q")  # entries, words, labels, tokens, pruned buckets
_ENTRY = struct.calcsize("<qb")  # after a word: its count and its kind
_PRUNED = struct.calcsize("<2i")
_TABLE = struct.Struct("<?2q")  # quantised?, rows, D


class _Layout(NamedTuple):
    """Layout of a file.

    Attributes:
        words: its first words, in order.
        buckets: number of buckets.
        min_n: smallest number of characters of an n-gram.
        max_n: largest number; 0 without n-grams.
        shape: shape of its table.
        offset: byte offset of its table.
    """

    words: list[str]
    buckets: int
    min_n: int
    max_n: int
    shape: tuple[int, int]
    offset: int


def read_fasttext(path: Path, *, limit: int) -> WordVectors:
    """Read the vectors of a binary file's first words, and those of n-grams if they have at most ``limit`` buckets.

    More buckets are left out with a notice (`WordVectors.notices`), because a model stores all of them: fastText's
    default of two million takes 2.4 GB for D = 300.

    Args:
        path: the file.
        limit: largest number of words to read, and of buckets to keep.

    Raises:
        DataError: the file is damaged or cut off, or holds a classifier or rounded (quantised) vectors.
    """
    try:
        with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
            layout = _layout(content, limit, path)
    except DataError:
        raise
    except (struct.error, ValueError):
        raise IntegrityError(_DAMAGED, path=path) from None
    rows = np.memmap(path, "<f4", "r", layout.offset, layout.shape)  # [words + buckets, D]
    buckets = rows[len(rows) - layout.buckets :]
    first: dict[str, int] = {}  # the first vector of a repeated word counts
    for i, word in enumerate(layout.words):
        first.setdefault(word, i)
    with np.errstate(over="ignore", invalid="ignore"):
        table = np.array([_mean(word, rows[i], buckets, layout) for word, i in first.items()], np.float32)
    kept = layout.buckets if layout.max_n and layout.buckets <= limit else 0
    if not (np.isfinite(table).all() and np.isfinite(buckets[:kept]).all()):
        raise IntegrityError(_NOT_FINITE, path=path)
    subwords = SubwordVectors(np.array(buckets, np.float32), layout.min_n, layout.max_n) if kept else None
    notice = (
        f"{path.name}: its n-grams have {layout.buckets:,} buckets, too many to store with a model; they are left out, "
        "so words that it does not list have no vector."
    )
    return WordVectors(tuple(first), table, subwords, (notice,) if layout.max_n and not kept else ())


def _mean(word: str, own: np.ndarray, buckets: np.ndarray, layout: _Layout) -> npt.NDArray[np.float32]:
    """Mean of a word's own row and those of its n-grams; the sentence's end has no n-grams in fastText."""
    if not layout.max_n or word == BOUNDARY:
        return own
    parts = ngram_buckets(word, count=layout.buckets, min_n=layout.min_n, max_n=layout.max_n)
    return np.concatenate([own[None], buckets[parts]]).mean(axis=0)


def _layout(content: mmap.mmap, limit: int, path: Path) -> _Layout:
    """Read a file up to its table, which must have the announced size and be complete."""
    dim, *_, buckets, min_n, max_n, _ = _SETTINGS.unpack_from(content)
    entries, count, labels, _, pruned = _WORDS.unpack_from(content, _SETTINGS.size)
    if entries < 1:
        raise ValueError("no words")
    offset, words = _SETTINGS.size + _WORDS.size, []
    for i in range(entries):
        end = content.find(b"\0", offset)
        if end < 0:
            raise ValueError("a word without an end")
        if i < limit:
            words.append(content[offset:end].decode(errors="backslashreplace"))
        offset = end + 1 + _ENTRY
    offset += max(pruned, 0) * _PRUNED
    quantised, rows, columns = _TABLE.unpack_from(content, offset)
    offset += _TABLE.size
    if labels:
        raise FormatError("a classifier of fastText, not word vectors: give the vectors' file", path=path)
    if quantised:
        raise FormatError("a compressed (quantised) file of fastText: give the whole one", path=path)
    sizes = columns == dim > 0 and count == entries and 0 <= buckets == rows - count
    if not sizes or 4 * rows * columns > len(content) - offset:
        raise ValueError("a table of another size")
    min_n, max_n = (max(min_n, 1), max_n) if buckets > 0 and max_n >= max(min_n, 1) else (1, 0)
    return _Layout(words, buckets, min_n, max_n, (rows, columns), offset)


_GZIP = b"\x1f\x8b"
_PICKLE = b"\x80"
_HEADER = re.compile(rb"\d{1,10} (\d{1,5})\s*")  # of word2vec's files: the number of words and D
_HEAD_BYTES = 1 << 20  # enough for two lines of any size of vector
# What gensim's loaders raise on damaged files.
_FAILURES = (ValueError, TypeError, AssertionError, EOFError, LookupError, OSError, MemoryError)
_FORMATS = "word2vec (text, binary), GloVe (text), fastText (.vec, .bin)"


def read_vectors(path: Path, *, limit: int = 200_000) -> WordVectors:
    """Read word vectors in a format of word2vec, GloVe or fastText. No code of the file is run.

    All but fastText's binary files may be compressed by gzip, with a name that ends in .gz. The first vector of a
    repeated word counts. fastText's binary files also hold vectors of n-grams, for words that they do not list: these
    are read if there are at most ``limit`` of them, else left out with a notice (`WordVectors.notices`).

    Args:
        path: the file.
        limit: largest number of vectors to read; the files list the most frequent words first.

    Raises:
        DataError: the file cannot be read, has another format, is damaged or cut off.
    """
    try:
        require_file(path)
        with _open(path) as stream:
            head = stream.read(_HEAD_BYTES)
    except OSError as error:
        raise ReadError(f"cannot be read: {error.strerror or 'not a gzip file'}", path=path) from None
    except (EOFError, zlib.error):
        raise IntegrityError("a damaged gzip file: fetch it anew", path=path) from None
    kind, dim = _recognise(head, path)
    if kind == "fasttext":
        return read_fasttext(path, limit=limit)
    if kind != "binary":
        _check_lines(path, dim, limit, header=kind == "text")
    from gensim.models import KeyedVectors  # noqa: PLC0415  a second to import

    options: dict[str, Any] = {"binary": kind == "binary", "no_header": kind == "glove", "unicode_errors": "replace"}
    try:
        with _quiet():
            loaded: Any = KeyedVectors.load_word2vec_format(str(path), limit=limit, **options)
    except _FAILURES:
        raise IntegrityError(_DAMAGED, path=path) from None
    words = tuple(word for word in loaded.index_to_key[:limit] if word is not None)  # None for a repeated word
    table = np.array(loaded.vectors[: len(words)], np.float32)
    if not np.isfinite(table).all():
        raise IntegrityError(_NOT_FINITE, path=path)
    return WordVectors(words, table)


def _open(path: Path) -> BinaryIO:
    """Open a file as gensim does: gzip is recognised by the name."""
    return cast(BinaryIO, gzip.open(path) if path.suffix == ".gz" else path.open("rb"))


def _recognise(head: bytes, path: Path) -> tuple[str, int]:
    """Recognise the format by a file's beginning; also return D, or 0 if the beginning does not tell it."""
    if head.startswith(_GZIP):
        raise FormatError("compressed by gzip: unpack it, or let its name end in .gz", path=path)
    if head.startswith(_PICKLE):
        problem = "saved as Python objects, which could run code: write it with gensim's save_word2vec_format"
        raise FormatError(problem, path=path)
    if head.startswith(_FASTTEXT):
        if path.suffix == ".gz":
            raise FormatError("a compressed binary file of fastText: unpack it (gunzip)", path=path)
        return "fasttext", 0
    first, _, rest = head.partition(b"\n")
    found = _HEADER.fullmatch(first)
    if found and min(map(int, first.split())) > 0:
        dim = int(found[1])
        return ("text" if _numbers(rest.partition(b"\n")[0]) == dim else "binary"), dim
    dim = _numbers(first)
    if dim >= 2:
        return "glove", dim
    raise FormatError(f"no word vectors that can be read: give a file of {_FORMATS}", path=path)


def _numbers(line: bytes) -> int:
    """Count the numbers after a word; 0 if there is anything else."""
    _, *values = line.rstrip().split(b" ")
    try:
        return len([float(value) for value in values])
    except ValueError:
        return 0


def _check_lines(path: Path, dim: int, limit: int, *, header: bool) -> None:
    """Refuse lines with other than ``dim`` numbers: gensim repeats a single number ``dim`` times."""
    with _open(path) as stream:
        declared = int(stream.readline().split()[0]) if header else 0
        number = int(header)
        for number, line in enumerate(itertools.islice(stream, limit), start=1 + header):
            count = line.rstrip().count(b" ")
            if count != dim:
                problem = (
                    f"{count} numbers where {dim} are due: remove the line, or fetch the file anew if it is cut off"
                )
                raise FormatError(problem, path=path, line=number)
    if number - header < min(declared, limit):
        raise IntegrityError(f"cut off: {number - header} vectors of {declared}: fetch it anew", path=path)


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence gensim's log, which would print words of a file, and its warnings about numbers and unclosed files."""
    logger = logging.getLogger("gensim")
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        with np.errstate(over="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            yield
    finally:
        logger.setLevel(level)

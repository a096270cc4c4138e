"""Word vectors that others have trained: files of word2vec, GloVe and fastText.

The format is told by a file's content. gensim reads all but fastText's binary files (`rnn.embeddings.fasttext_file`);
what is checked here is what gensim lets pass.
"""

from __future__ import annotations

import gzip
import itertools
import logging
import re
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from crfdeid.errors import FormatError, IntegrityError, ReadError
from crfdeid.utils.files import require_file
from rnn.embeddings.fasttext_file import DAMAGED, FASTTEXT, NOT_FINITE, read_fasttext
from rnn.embeddings.vectors import WordVectors

_GZIP = b"\x1f\x8b"
_PICKLE = b"\x80"
_HEADER = re.compile(rb"\d{1,10} (\d{1,5})\s*")  # of word2vec's files: the number of words and D
_HEAD_BYTES = 1 << 20  # enough for two lines of any size of vector
# What gensim's loaders raise on damaged files.
_FAILURES = (ValueError, TypeError, AssertionError, EOFError, LookupError, OSError, MemoryError)
_FORMATS = "word2vec (text, binary), GloVe (text), fastText (.vec, .bin)"


def read_vectors(path: Path, *, limit: int = 200_000) -> WordVectors:
    """Read word vectors in a format of word2vec, GloVe or fastText. No code of the file is run.

    All but fastText's binary files may be compressed by gzip, with a name that ends in .gz. Of a word that is there
    twice the first vector counts. fastText's binary files hold vectors of n-grams too, for words that they do not list:
    these are kept where there are no more than ``limit`` of them, else left out with a notice (`WordVectors.notices`).

    Args:
        path: the file.
        limit: the most vectors to read; the files list the most frequent words first.

    Raises:
        DataError: the file cannot be read, is of no such format, is damaged or cut off.
    """
    try:
        head = _head(path)
    except OSError as error:
        raise ReadError(f"cannot be read: {error.strerror or 'not a gzip file'}", path=path) from None
    except (EOFError, zlib.error):
        raise IntegrityError("a damaged gzip file: fetch it anew", path=path) from None
    kind, dim = _recognise(head, path)
    if kind == "fasttext":
        return read_fasttext(path, limit=limit)
    if kind != "binary":
        _check_lines(path, dim, limit, header=kind == "text")
    with _quiet():
        loaded = _load(kind, path, limit)
    if loaded is None:
        raise IntegrityError(DAMAGED, path=path)
    words = tuple(word for word in loaded.index_to_key[:limit] if word is not None)  # None for a word met again
    table = np.array(loaded.vectors[: len(words)], np.float32)
    if not np.isfinite(table).all():
        raise IntegrityError(NOT_FINITE, path=path)
    return WordVectors(words, table)


def _load(kind: str, path: Path, limit: int) -> Any:
    """gensim's KeyedVectors; None where gensim fails."""
    from gensim.models import KeyedVectors  # noqa: PLC0415  a second to import

    try:
        return KeyedVectors.load_word2vec_format(
            str(path), binary=kind == "binary", no_header=kind == "glove", limit=limit, unicode_errors="replace"
        )
    except _FAILURES:
        return None


def _open(path: Path) -> BinaryIO:
    """As gensim does it: gzip is told by the name."""
    return cast(BinaryIO, gzip.open(path) if path.suffix == ".gz" else path.open("rb"))


def _head(path: Path) -> bytes:
    require_file(path)
    with _open(path) as stream:
        return stream.read(_HEAD_BYTES)


def _recognise(head: bytes, path: Path) -> tuple[str, int]:
    """The format, by a file's beginning, and D where that tells it."""
    if head.startswith(_GZIP):
        raise FormatError("compressed by gzip: unpack it, or let its name end in .gz", path=path)
    if head.startswith(_PICKLE):
        problem = "saved as Python objects, which could run code: write it with gensim's save_word2vec_format"
        raise FormatError(problem, path=path)
    if head.startswith(FASTTEXT):
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
    """How many numbers stand behind a word; 0 where anything else does."""
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
    """Without gensim's log, which would print words of a file, and its warnings about numbers and unclosed files."""
    logger = logging.getLogger("gensim")
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        with np.errstate(over="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            yield
    finally:
        logger.setLevel(level)

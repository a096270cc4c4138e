"""Binary files of fastText, read without loading what is not needed: they hold gigabytes.

A file is a list of settings, a list of words with their counts, and a table: one row for each word, then one for each
bucket of n-grams (`rnn.embeddings.subwords`). A word's vector is the mean of its row and those of its n-grams.
"""

from __future__ import annotations

import mmap
import struct
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from crfdeid.errors import FormatError, IntegrityError
from rnn.embeddings.subwords import SubwordVectors, ngram_buckets
from rnn.embeddings.vectors import BOUNDARY, WordVectors

FASTTEXT = struct.pack("<i", 793712314)
"""How such a file begins."""
DAMAGED = "damaged or cut off: fetch it anew"
NOT_FINITE = "holds numbers that are not finite: remove these words, or fetch it anew"

_SETTINGS = struct.Struct("<8x12i8x")  # the 1st is D, the 9th to 11th are the buckets and the lengths of n-grams
_WORDS = struct.Struct("<3i2q")  # entries, words, labels, tokens, pruned buckets
_ENTRY = struct.calcsize("<qb")  # behind a word: its count and its kind
_PRUNED = struct.calcsize("<2i")
_TABLE = struct.Struct("<?2q")  # quantised?, rows, D


class _Layout(NamedTuple):
    """What a file says of itself.

    Attributes:
        words: its first words, in order.
        dim: the size of a vector, D.
        buckets: how many there are.
        min_n: the fewest characters of an n-gram.
        max_n: the most; 0 where there are no n-grams.
        labels: how many of its entries are no words, but a classifier's labels.
        quantised: whether its vectors are rounded.
        shape: of its table.
        place: where its table begins, in bytes.
        fits: whether the table is the one announced, and there as a whole.
    """

    words: list[str]
    dim: int
    buckets: int
    min_n: int
    max_n: int
    labels: int
    quantised: bool
    shape: tuple[int, int]
    place: int
    fits: bool


def read_fasttext(path: Path, *, limit: int) -> WordVectors:
    """The vectors of a file's first words, and those of its n-grams unless they have more than ``limit`` buckets.

    More buckets are left out, because a model stores all of them: the two million that fastText makes if it is not told
    otherwise take 2.4 GB where D is 300. `WordVectors.notices` says so.

    Args:
        path: the file.
        limit: the most words to read, and the most buckets to keep.

    Raises:
        DataError: the file is damaged or cut off, or holds a classifier or rounded (quantised) vectors.
    """
    layout = _checked_layout(path, limit)
    rows = np.memmap(path, "<f4", "r", layout.place, layout.shape)  # [words + buckets, D]
    buckets = rows[len(rows) - layout.buckets :]
    first: dict[str, int] = {}  # of a word that is there twice, the first vector counts
    for i, word in enumerate(layout.words):
        first.setdefault(word, i)
    with np.errstate(over="ignore", invalid="ignore"):
        table = np.array([_mean(word, rows[i], buckets, layout) for word, i in first.items()], np.float32)
    kept = layout.buckets if layout.max_n and layout.buckets <= limit else 0
    if not (np.isfinite(table).all() and np.isfinite(buckets[:kept]).all()):
        raise IntegrityError(NOT_FINITE, path=path)
    subwords = SubwordVectors(np.array(buckets, np.float32), layout.min_n, layout.max_n) if kept else None
    return WordVectors(tuple(first), table, subwords, _notices(path, layout, kept))


def _mean(word: str, own: np.ndarray, buckets: np.ndarray, layout: _Layout) -> npt.NDArray[np.float32]:
    """The mean of a word's own row and those of its n-grams; fastText gives none to the sentence's end."""
    if not layout.max_n or word == BOUNDARY:
        return own
    parts = ngram_buckets(word, count=layout.buckets, min_n=layout.min_n, max_n=layout.max_n)
    return np.concatenate([own[None], buckets[parts]]).mean(axis=0)


def _notices(path: Path, layout: _Layout, kept: int) -> tuple[str, ...]:
    if kept or not layout.max_n:
        return ()
    return (
        f"{path.name}: its n-grams have {layout.buckets:,} buckets, too many to store with a model; they are left out, "
        "so words that it does not list have no vector.",
    )


def _checked_layout(path: Path, limit: int) -> _Layout:
    try:
        with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
            layout = _layout(content, limit)
    except (struct.error, ValueError):
        raise IntegrityError(DAMAGED, path=path) from None
    if layout.labels:
        raise FormatError("a classifier of fastText, not word vectors: give the vectors' file", path=path)
    if layout.quantised:
        raise FormatError("a compressed (quantised) file of fastText: give the whole one", path=path)
    if not layout.fits:
        raise IntegrityError(DAMAGED, path=path)
    return layout


def _layout(content: mmap.mmap, limit: int) -> _Layout:
    """Walk through a file up to its table.

    Raises:
        struct.error, ValueError: it ends before, or has no words.
    """
    dim, *_, buckets, min_n, max_n, _ = _SETTINGS.unpack_from(content)
    entries, count, labels, _, pruned = _WORDS.unpack_from(content, _SETTINGS.size)
    if entries < 1:
        raise ValueError("no words")
    place, words = _SETTINGS.size + _WORDS.size, []
    for i in range(entries):
        end = content.find(b"\0", place)
        if end < 0:
            raise ValueError("a word without an end")
        if i < limit:
            words.append(content[place:end].decode(errors="backslashreplace"))
        place = end + 1 + _ENTRY
    place += max(pruned, 0) * _PRUNED
    quantised, rows, columns = _TABLE.unpack_from(content, place)
    place += _TABLE.size
    fits = (
        columns == dim > 0
        and count == entries
        and 0 <= buckets == rows - count
        and 4 * rows * columns <= len(content) - place
    )
    min_n, max_n = (max(min_n, 1), max_n) if buckets > 0 and max_n >= max(min_n, 1) else (1, 0)
    return _Layout(words, dim, buckets, min_n, max_n, labels, quantised, (rows, columns), place, fits)

"""Sentences as rows of named arrays, and rows as batches of a few fixed shapes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

NumpyArrays = Mapping[str, npt.NDArray[Any]]


_NONE = np.empty(0, np.int32)


class Row(NamedTuple):
    """Arrays that a network reads for one sentence of T tokens.

    Attributes:
        inputs: named arrays. The first axis is T plus the network's margin around a sentence, which is the same for
            all rows ("words" of a window with m words on either side: [T + 2m]).
        targets: ids of the gold tags for each annotation layer, [T]; empty for a layer without annotation.
        length: T.
        words: index in its note of the word that begins at each position, [T], -1 for none; empty if row and sentence
            have the same tokens.
        note: index of that note within the call.
    """

    inputs: NumpyArrays
    targets: NumpyArrays
    length: int
    words: npt.NDArray[Any] = _NONE
    note: int = 0

    @property
    def counted(self) -> int:
        """Number of tokens with a target of 0 or more; T without targets."""
        tokens = [target for target in self.targets.values() if target.shape == (self.length,)]
        return max((int(np.count_nonzero(target >= 0)) for target in tokens), default=self.length)


class Batch(NamedTuple):
    """B rows padded with zeros to one length T; surplus rows are empty.

    Attributes:
        inputs: by name, [B, T + margin, ...].
        targets: by annotation layer, [B, T]; the lengths keep padding out of the loss.
        lengths: tokens a row, [B] int32; 0 for an empty row.
        real: True where there is a token, [B, T] bool.
    """

    inputs: Mapping[str, Any]
    targets: Mapping[str, Any]
    lengths: Any
    real: Any


def make_batch(rows: Sequence[Row], *, length: int, size: int = 0) -> Batch:
    """Pad rows to ``length`` tokens and to at least ``size`` rows.

    Example:
        >>> rows = [Row({"words": np.array([7, 8])}, {}, 2), Row({"words": np.array([9])}, {}, 1)]
        >>> make_batch(rows, length=3).inputs["words"].tolist()
        [[7, 8, 0], [9, 0, 0]]
    """
    count = max(len(rows), size)
    lengths = np.zeros(count, np.int32)
    lengths[: len(rows)] = [row.length for row in rows]
    short = length - rows[0].length  # every array of the first row grows by this

    def stacked(arrays: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
        shape = (count, arrays[0].shape[0] + short, *arrays[0].shape[1:])
        together = np.zeros(shape, arrays[0].dtype)
        for row, array in zip(together, arrays, strict=False):
            row[: len(array)] = array
        return together

    return Batch(
        {name: stacked([row.inputs[name] for row in rows]) for name in rows[0].inputs},
        {name: stacked([row.targets[name] for row in rows]) for name in rows[0].targets},
        lengths,
        np.arange(length)[None] < lengths[:, None],
    )


def group_by_structure(rows: Sequence[Row]) -> list[list[Row]]:
    """Group rows that can share a batch: the same arrays, with the same shapes after the first axis.

    Example:
        >>> rows = [Row({"words": np.ones(shape, int)}, {}, 2) for shape in ((2,), (2, 2), (2,))]
        >>> [len(some) for some in group_by_structure(rows)]
        [2, 1]
    """
    found: dict[Any, list[Row]] = {}
    for row in rows:
        shapes = [(name, array.shape[1:]) for arrays in (row.inputs, row.targets) for name, array in arrays.items()]
        found.setdefault(tuple(shapes), []).append(row)
    return list(found.values())


def make_buckets(rows: Sequence[Row], *, buckets: int, cost: int) -> list[Batch]:
    """Put training rows into batches of few padded lengths (`bucket_lengths`).

    Rows without tokens are left out. Rows of different structure (`group_by_structure`) do not share a batch.
    """
    return [make_batch(some, length=length) for some, length in rows_by_length(rows, buckets=buckets, cost=cost)]


def rows_by_length(rows: Sequence[Row], *, buckets: int, cost: int) -> Iterator[tuple[list[Row], int]]:
    """Group rows for `make_buckets`: rows with their padded length."""
    for some in group_by_structure(rows):
        lengths = np.array([row.length for row in some])
        limits = bucket_lengths(lengths[lengths > 0], buckets=buckets, cost=cost)
        bucket_of = np.searchsorted(limits, lengths)
        for number, limit in enumerate(limits):
            members = np.flatnonzero((bucket_of == number) & (lengths > 0)).tolist()
            yield [some[i] for i in members], limit


def bucket_lengths(lengths: Sequence[int] | np.ndarray, *, buckets: int = 8, cost: int = 0) -> list[int]:
    """Padded lengths, at most ``buckets``, of least total cost.

    Each sentence is padded to the next of them; each is the length of some sentence. Dynamic programming over the
    distinct lengths: with k buckets, total_k[j] = min over i < j of total_(k-1)[i] + (tokens of the sentences of
    lengths i+1..j, each padded to the length of j); the number of buckets is the k with the least total_k + k * cost.

    Args:
        lengths: tokens of each sentence.
        buckets: largest number of lengths.
        cost: cost of one more length, in padded tokens.

    Example:
        >>> bucket_lengths([1, 1, 2, 9, 10], buckets=2)
        [2, 10]
    """
    distinct, counts = np.unique(np.asarray(lengths), return_counts=True)
    before = np.concatenate([[0], np.cumsum(counts)])  # sentences shorter than each distinct length
    together = (before[None, 1:] - before[:-1, None]) * distinct[None, :].astype(float)  # [i, j]: lengths i..j as one
    together[np.tril_indices(len(distinct), -1)] = np.inf
    total = np.concatenate([[0.0], np.full(len(distinct), np.inf)])
    previous: list[np.ndarray] = []  # by number of buckets: where the last bucket before each length ends
    totals: list[float] = []
    for k in range(1, min(buckets, len(distinct)) + 1):
        options = total[:-1, None] + together
        previous.append(options.argmin(axis=0))
        total = np.concatenate([[np.inf], options.min(axis=0)])
        totals.append(total[-1] + k * cost)
    chosen, end = [], len(distinct)
    for choice in reversed(previous[: int(np.argmin(totals)) + 1]):
        chosen.append(int(distinct[end - 1]))
        end = int(choice[end - 1])
    return chosen[::-1]


# Prediction has a few fixed shapes, the same for every call, so that little is compiled and no sentence's result
# depends on the other sentences: lengths 8, 16, 32, 64, …, and for each of them a batch of few rows and one of many.
_FEW = 4
MANY_TOKENS = 2048


def padded_length(length: int) -> int:
    """Smallest power of two that is at least ``length``, and at least 8."""
    return max(8, 1 << (length - 1).bit_length())


class PaddingPolicy(NamedTuple):
    """Padded lengths and batch sizes for prediction.

    Attributes:
        padded: length of a row -> its padded length.
        many_tokens: padded tokens of a full batch.
    """

    padded: Callable[[int], int] = padded_length
    many_tokens: int = MANY_TOKENS


POWER_OF_TWO_PADDING = PaddingPolicy()  # 8, 16, 32, 64, …
POWER_OF_FOUR_PADDING = PaddingPolicy(lambda length: max(16, 1 << -(-(length - 1).bit_length() // 2) * 2))
"""Padded lengths 16, 64, 256, …: fewer programs, for networks that compute little for a token."""


def batches(rows: Sequence[Row], padding: PaddingPolicy = POWER_OF_TWO_PADDING) -> Iterator[tuple[list[int], Batch]]:
    """Put rows into batches for prediction: pairs of the rows' indices and the batch.

    Args:
        rows: the rows; those without tokens are left out.
        padding: padded lengths and batch sizes.
    """
    for members, length, size in predict_batches([row.length for row in rows], padding):
        yield members, make_batch([rows[i] for i in members], length=length, size=size)


def predict_batches(
    lengths: Sequence[int], padding: PaddingPolicy = POWER_OF_TWO_PADDING
) -> Iterator[tuple[list[int], int, int]]:
    """Plan batches for prediction: the sentences' indices, the padded length and the number of rows of each.

    Sentences without tokens are left out.
    """
    by_length: dict[int, list[int]] = {}
    for i, length in enumerate(lengths):
        if length:
            by_length.setdefault(padding.padded(length), []).append(i)
    for length, members in sorted(by_length.items()):
        many = max(padding.many_tokens // length, 1)
        for start in range(0, len(members), many):
            part = members[start : start + many]
            yield part, length, min(_FEW, many) if len(part) <= _FEW else many

"""Alignment of a text with its redacted form, where another tool redacted it and recorded nothing.

The alignment keeps as many words as both texts can keep: a word in doubt is shown as left, and a reader looks at it.
Of the alignments with the most words, it takes one with the most other pieces, and of these one with the fewest
replacements. White space counts like any other piece: it joins the words of a kept passage.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crfdeid.errors import MismatchError
from crfdeid.label_schemes import BINARY

# A label, a run of letters, of digits or of white space, or one other character.
_PIECE = re.compile(r"\[[A-Z][A-Z_-]*(?:-\d+|:[0-9a-f]+)?\]|[^\W\d_]+|\d+|\s+|.", re.DOTALL)
_LABEL = re.compile(r"\[([A-Z][A-Z_-]*?)(?:-\d+|:[0-9a-f]+)?\]")
# A word outweighs all other pieces of its text together, and another piece all replacements.
_WORD, _OTHER, _BLOCK = 1 << 42, 1 << 21, 1
_NEVER = -(1 << 62)
_WHOLE = 1 << 18  # cells of a table that is not cut
_MOST_CELLS = 1 << 28
_ANCHOR = 16  # pieces in a row that occur once in each text: no replacement repeats so many
_Ids = NDArray[np.int32]


class TextChange(NamedTuple):
    """A range of the original text, and the text in its place.

    Attributes:
        start: its first character in the original.
        end: the one after its last; ``start`` where text was put in and nothing was taken out.
        by: the text in its place; "" where it was removed.
    """

    start: int
    end: int
    by: str

    @property
    def label(self) -> str:
        """Its type, where a label such as ``[DOCTOR]`` or ``[DOCTOR-2]`` is its replacement; else "PHI"."""
        match = _LABEL.fullmatch(self.by.strip())
        return match[1] if match else BINARY


class _Change(NamedTuple):
    """Pieces [i, j) of the text before, which become pieces [k, m) of the text after."""

    i: int
    j: int
    k: int
    m: int


def find_replacements(original: str, redacted: str) -> list[TextChange]:
    """Find the replacements that turn a text into its redacted form, none with a word that both texts keep.

    A surrogate that shares a word with the original is found without that word: it differs in nothing there.

    Args:
        original: the text before.
        redacted: the text after.

    Returns:
        By place. Put in their places, they give ``redacted``, character by character.

    Raises:
        MismatchError: the texts are long and have almost nothing in common.

    Example:
        >>> find_replacements("Seen by Dr. Roe on 3/14.", "Seen by Dr. [DOCTOR] on [DATE].")
        [TextChange(start=12, end=15, by='[DOCTOR]'), TextChange(start=19, end=23, by='[DATE]')]
    """
    before, after = _PIECE.findall(original), _PIECE.findall(redacted)
    starts = [0, *accumulate(map(len, before))]
    changes = _changes(before, after)
    return [_trimmed(original, TextChange(starts[i], starts[j], "".join(after[k:m]))) for i, j, k, m in changes]


def _trimmed(original: str, change: TextChange) -> TextChange:
    """A change without the parts of words that stay before its first label and after its last, as in "[DOCTOR]MRN"."""
    start, end, by = change
    labels = list(_LABEL.finditer(by))
    if not labels:
        return change
    tail, head = len(by) - labels[-1].end(), labels[0].start()
    if tail and original[start:end].endswith(by[-tail:]):
        end, by = end - tail, by[:-tail]
    if head and original[start:end].startswith(by[:head]):
        start, by = start + head, by[head:]
    return TextChange(start, end, by)


def _changes(before: Sequence[str], after: Sequence[str]) -> Iterator[_Change]:
    ids: dict[str, int] = {}
    a, b = (np.array([ids.setdefault(piece, len(ids)) for piece in side], np.int32) for side in (before, after))
    weights = np.array([_WORD if any(map(str.isalnum, piece)) else _OTHER for piece in ids], np.int64)
    shorter = min(len(a), len(b))
    equal = np.flatnonzero(a[:shorter] != b[:shorter])
    head = int(equal[0]) if len(equal) else shorter
    rest = shorter - head
    equal = np.flatnonzero(a[len(a) - rest :][::-1] != b[len(b) - rest :][::-1])
    tail = int(equal[0]) if len(equal) else rest
    whole = ((head, head), (len(a) - tail, len(b) - tail))
    cuts = _cuts(a, b, *whole)
    for (i, k), (j, m) in pairwise([whole[0], *cuts, whole[1]]):
        for change in _aligned(a[i:j], b[k:m], weights):
            yield _Change(i + change.i, i + change.j, k + change.k, k + change.m)


def _cuts(a: _Ids, b: _Ids, first: tuple[int, int], last: tuple[int, int]) -> list[tuple[int, int]]:
    """Places inside passages that occur once in each text, where long texts are cut; none for short texts."""
    (i, k), (j, m) = first, last
    if (j - i) * (m - k) <= _WHOLE:
        return []
    here, there = _unique_passages(a, i, j), _unique_passages(b, k, m)
    pairs = [(place, there[passage]) for passage, place in here.items() if passage in there]
    if any(one[1] >= other[1] for one, other in pairwise(pairs)):  # No replacement changes their order.
        return []
    cuts, before = [], first
    for one, other in pairs:
        if (one - before[0]) * (other - before[1]) > _WHOLE // 4:
            before = (one + _ANCHOR // 2, other + _ANCHOR // 2)
            cuts.append(before)
    return cuts


def _unique_passages(ids: _Ids, first: int, last: int) -> dict[bytes, int]:
    """The first place of each passage of `_ANCHOR` pieces that occurs once, in order."""
    places: dict[bytes, int] = {}
    repeated = set()
    for place in range(first, last - _ANCHOR):
        passage = ids[place : place + _ANCHOR].tobytes()
        if places.setdefault(passage, place) != place:
            repeated.add(passage)
    return {passage: place for passage, place in places.items() if passage not in repeated}


_FROM_MATCH, _OPENED, _LEFT = 1, 2, 4


def _aligned(a: _Ids, b: _Ids, weights: NDArray[np.int64]) -> Iterator[_Change]:
    """Yield the changes between two sequences of pieces.

    With M the best score of alignments that end in a match, and G of those that end in a replacement::

        M[i, j] = max(M, G)[i - 1, j - 1] + weight(a[i])  if a[i] = b[j]
        G[i, j] = max(G[i - 1, j], G[i, j - 1], M[i - 1, j] - 1, M[i, j - 1] - 1)

    so that each row of G is a running maximum.
    """
    if not len(a) or not len(b):
        if len(a) or len(b):
            yield _Change(0, len(a), 0, len(b))
        return
    if len(a) * len(b) > _MOST_CELLS:
        raise MismatchError("the redacted text has almost nothing in common with the original: give the same note")
    steps = np.zeros((len(a) + 1, len(b) + 1), np.uint8)  # [i, j]
    match = np.full(len(b) + 1, _NEVER, np.int64)
    match[0] = 0
    gap = np.full(len(b) + 1, -_BLOCK, np.int64)
    gap[0] = _NEVER
    steps[0, 0], steps[0, 1:] = _FROM_MATCH, _LEFT
    steps[0, 1] |= _OPENED
    for row, piece in enumerate(a, start=1):
        best = np.maximum(match, gap)
        above, opened_above = gap, match - _BLOCK
        match = np.full(len(b) + 1, _NEVER, np.int64)
        match[1:][b == piece] = best[:-1][b == piece] + weights[piece]
        base = np.maximum(above, opened_above)
        opened_left = np.full(len(b) + 1, _NEVER, np.int64)
        opened_left[1:] = match[:-1] - _BLOCK
        gap = np.maximum.accumulate(np.maximum(base, opened_left))
        down = gap == base
        opened = np.where(down, base > above, gap == opened_left)
        steps[row] = _FROM_MATCH * (match >= gap) + _OPENED * opened + _LEFT * ~down
    yield from reversed(list(_traced(steps)))


def _traced(steps: NDArray[np.uint8]) -> Iterator[_Change]:
    """Yield the changes of the best alignment, the last one first."""
    i, j = steps.shape[0] - 1, steps.shape[1] - 1
    while i or j:
        if steps[i, j] & _FROM_MATCH:
            i, j = i - 1, j - 1
            continue
        end, opened = (i, j), False
        while not opened:
            step = steps[i, j]
            opened = bool(step & _OPENED)
            i, j = (i, j - 1) if step & _LEFT else (i - 1, j)
        yield _Change(i, end[0], j, end[1])

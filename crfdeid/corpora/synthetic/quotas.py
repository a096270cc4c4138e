"""Meets wanted counts exactly: chooses, over all notes of a split, which optional blocks stay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random

from crfdeid.corpora.synthetic.notes import Draft

_LATER = 0.4


def meet(drafts: Sequence[Draft], quota: Mapping[str, int], rng: Random) -> list[set[tuple[int, int]]]:
    """For every draft, the blocks to leave out, so that the spans of all notes together meet the counts.

    Blocks that are always there are counted first. The optional ones are then taken in random order, each if it still
    fits. As most types have many blocks with a single span, one pass ends with every count met.

    Args:
        drafts: the notes.
        quota: type -> the number of spans wanted.
        rng: the source of the order.

    Raises:
        ValueError: the drafts cannot meet the counts: there are too few or too many notes for them.
    """
    left = Counter(quota)
    optional = []
    for n, draft in enumerate(drafts):
        for i, section in enumerate(draft.sections):
            for j, block in enumerate(section.blocks):
                if block.required:
                    left.subtract(block.piece.counts())
                else:
                    optional.append((n, i, j))
    # Blocks with one span come somewhat later, so that some are left to close the counts with.
    optional.sort(key=lambda place: rng.random() + _LATER * (_counts(drafts, *place).total() == 1))
    left_out: list[set[tuple[int, int]]] = [set() for _ in drafts]
    for n, i, j in optional:
        counts = _counts(drafts, n, i, j)
        if all(left[label] >= count for label, count in counts.items()):
            left.subtract(counts)
        else:
            left_out[n].add((i, j))
    missed = {label: count for label, count in sorted(left.items()) if count}
    if missed:
        raise ValueError(f"{len(drafts)} notes cannot meet these counts, spans still to place: {missed}")
    return left_out


def _counts(drafts: Sequence[Draft], note: int, section: int, block: int) -> Counter[str]:
    return drafts[note].sections[section].blocks[block].piece.counts()

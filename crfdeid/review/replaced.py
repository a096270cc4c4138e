"""What was replaced in a redacted note, from its text before and after: however it was redacted, and by whatever."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import accumulate
from typing import NamedTuple

from crfdeid.label_schemes import BINARY

# A label, a stretch of letters and digits, one of white space, or one other character.
_PIECE = re.compile(r"\[[A-Z][A-Z_-]*(?:-\d+)?\]|[^\W_]+|\s+|.", re.DOTALL)
_Change = tuple[int, int, int, int]  # pieces [i, j) of the text before become pieces [k, m) of the text after
_LABEL = re.compile(r"\[([A-Z][A-Z_-]*?)(?:-\d+)?\]")


class Replaced(NamedTuple):
    """A stretch of the original text, and what stands in its place.

    Attributes:
        start: its first character in the original.
        end: the one after its last.
        by: the text in its place; "" where it was removed.
    """

    start: int
    end: int
    by: str

    @property
    def label(self) -> str:
        """Its type, where a label such as ``[DOCTOR]`` or ``[DOCTOR-2]`` stands in its place; else "PHI"."""
        found = _LABEL.fullmatch(self.by.strip())
        return found[1] if found else BINARY


def find_replaced(original: str, redacted: str) -> list[Replaced]:
    """What has to be replaced in a text to give its redacted form, as few words as can be.

    A surrogate that shares a word with the original is found without that word: it differs in nothing there.

    Args:
        original: the text before.
        redacted: the text after.

    Returns:
        By place, none empty. Put in their places, they give ``redacted``, character by character.

    Example:
        >>> find_replaced("Seen by Dr. Roe on 3/14.", "Seen by Dr. [DOCTOR] on [DATE].")
        [Replaced(start=12, end=15, by='[DOCTOR]'), Replaced(start=19, end=23, by='[DATE]')]
    """
    if original == redacted:
        return []
    before, after = _PIECE.findall(original), _PIECE.findall(redacted)
    matcher = SequenceMatcher(_is_space, before, after, autojunk=False)
    changes = [(i, j, k, m) for tag, i, j, k, m in matcher.get_opcodes() if tag != "equal"]
    starts = [0, *accumulate(map(len, before))]
    return [
        Replaced(starts[i], starts[j], "".join(after[k:m])) for i, j, k, m in _filled(changes, len(before)) if i < j
    ]


def _is_space(piece: str) -> bool:
    """White space is no anchor: it stands everywhere."""
    return piece.isspace()


def _filled(changes: Sequence[_Change], size: int) -> list[_Change]:
    """The changes with a piece of the original in each, those that then touch as one.

    What was only put in takes the piece before it, or after it where there is none.
    """
    done: list[_Change] = []
    for i, j, k, m in changes:
        if i < j:
            change = i, j, k, m
        elif i:
            change = i - 1, j, k - 1, m
        else:
            change = i, min(j + 1, size), k, m + 1
        if done and change[0] <= done[-1][1]:
            first, _, begin, _ = done.pop()
            change = first, change[1], begin, change[3]
        done.append(change)
    return done

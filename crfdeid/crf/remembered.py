"""What was looked up once, by value: a number for each, and the rows of its features."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from threading import Lock
from typing import Any

import numpy as np

from features.columns import Value

NOTHING, BEFORE, AFTER = range(3)
"""The numbers of what has no feature; and, of words, of what stands before a sentence and after it."""


class Remembered(dict[Value, int]):
    """Values, numbered as they come, and the rows of the features of each: -1 where there is none.

    Several threads may look values up: numbers and rows are given under a lock, and never change.

    Args:
        look_up: the rows of a value that is not known yet.
        width: how many these are, W.
    """

    def __init__(self, look_up: Callable[[Any], Sequence[int]], width: int) -> None:
        super().__init__({None: NOTHING})
        self._look_up = look_up
        self._lock = Lock()
        self._count = 1
        self._rows = np.full((64, width), -1, np.int32)

    @property
    def rows(self) -> np.ndarray:
        """The rows of each number: [at least as many as there are, W]. To be asked for after the numbers."""
        return self._rows

    def numbers(self, values: Iterable[Value]) -> np.ndarray:
        """The numbers of some values."""
        return np.fromiter(map(self.__getitem__, values), np.intp)

    def __missing__(self, value: str) -> int:
        found = self._look_up(value)
        if max(found, default=-1) < 0:  # most of what is new has no weight
            self[value] = NOTHING
            return NOTHING
        with self._lock:
            number = self.get(value)
            if number is None:
                number = self[value] = self._append(found)
        return number

    def add(self, rows: Sequence[int]) -> int:
        """Give what is no value a number of its own."""
        with self._lock:
            return self._append(rows)

    def _append(self, rows: Sequence[int]) -> int:
        number = self._count
        if number == len(self._rows):
            self._rows = np.concatenate([self._rows, np.full_like(self._rows, -1)])
        self._rows[number] = rows
        self._count = number + 1
        return number

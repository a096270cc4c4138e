"""What the operating system draws, where nobody may be able to compute it: noise, order, and which neighbour."""

from __future__ import annotations

import os
import secrets
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

_PART = 1 << 20  # normal numbers that are made at a time
_BITS = 52  # of a uniform number: with the half that is added, as many as a float holds


class SystemRandom(np.random.Generator):
    """Numbers whose every bit is the operating system's.

    NumPy's own generators go on from a state. Whoever knows some of their numbers can compute it and all others: who
    guesses one sentence right knows its noise, or which neighbours of its words were drawn, and must learn nothing of
    the rest by that. So the methods of a generator that are not written anew here are refused.
    """

    def __init__(self) -> None:
        super().__init__(np.random.PCG64())  # it must have a state, which nothing here uses

    def standard_normal(  # type: ignore[override]
        self, size: int | tuple[int, ...] = (), dtype: npt.DTypeLike = np.float64, out: None = None
    ) -> npt.NDArray[Any]:
        """Independent standard normal numbers, by the inverse of their distribution function.

        Args:
            size: the shape.
            dtype: of the array.
            out: not used.
        """
        found = np.empty(size, dtype)
        flat = found.reshape(-1)
        for start in range(0, flat.size, _PART):
            part = flat[start : start + _PART]
            whole = np.frombuffer(os.urandom(8 * part.size), np.uint64) >> np.uint64(64 - _BITS)
            part[:] = ndtri((whole + 0.5) / 2.0**_BITS)  # uniform in (0, 1), ends left out
        return found

    def integers(self, low: int, *_: Any, **__: Any) -> int:  # type: ignore[override]
        """A whole number from 0, below ``low``."""
        return secrets.randbelow(int(low))

    def permutation(self, x: int, *_: Any, **__: Any) -> list[int]:  # type: ignore[override]
        """The numbers from 0, ``x`` of them, in random order."""
        order = list(range(x))
        secrets.SystemRandom().shuffle(order)
        return order


def _refused(*_: Any, **__: Any) -> Any:
    raise NotImplementedError("the operating system draws no such numbers here: write it in SystemRandom")


for _name in vars(np.random.Generator).keys() - vars(SystemRandom).keys():
    if not _name.startswith("_"):
        setattr(SystemRandom, _name, _refused)


def generator(seed: int | None) -> np.random.Generator:
    """What draws from a seed; None for the operating system."""
    return SystemRandom() if seed is None else np.random.default_rng(seed)

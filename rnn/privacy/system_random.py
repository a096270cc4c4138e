"""Random numbers of the operating system for noise, order and choices that must not be predictable."""

from __future__ import annotations

import os
import secrets
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

_PART = 1 << 20  # normal numbers made at a time
_BITS = 52  # of a uniform number: with the added half, as many as a float holds


class SystemRandom(np.random.Generator):
    """Generator whose every bit is from the operating system.

    The numbers of NumPy's generators follow from a state, which can be computed from some of them: an attacker who
    guesses one sentence knows its noise or neighbours, and could then predict all others. Methods that this class does
    not override are refused.
    """

    def __init__(self) -> None:
        super().__init__(np.random.PCG64())  # the base class needs a state, which is not used

    def standard_normal(  # type: ignore[override]
        self, size: int | tuple[int, ...] = (), dtype: npt.DTypeLike = np.float64, out: None = None
    ) -> npt.NDArray[Any]:
        """Independent standard normal numbers, by the inverse of their distribution function.

        Args:
            size: shape of the array.
            dtype: type of the array.
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
        """Integer from 0 to ``low`` - 1."""
        return secrets.randbelow(int(low))

    def permutation(self, x: int, *_: Any, **__: Any) -> list[int]:  # type: ignore[override]
        """Integers from 0 to ``x`` - 1 in random order."""
        order = list(range(x))
        secrets.SystemRandom().shuffle(order)
        return order


def _refused(*_: Any, **__: Any) -> Any:
    raise NotImplementedError("the operating system draws no such numbers here: write it in SystemRandom")


for _name in vars(np.random.Generator).keys() - vars(SystemRandom).keys():
    if not _name.startswith("_"):
        setattr(SystemRandom, _name, _refused)


def generator(seed: int | None) -> np.random.Generator:
    """Return NumPy's generator for a seed; for None, one of the operating system."""
    return SystemRandom() if seed is None else np.random.default_rng(seed)

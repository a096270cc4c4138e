"""How large the share of leaking notes can be, given how many of a random sample were found to leak.

A note leaks where at least one token of PHI is left in it. The bounds are exact and one-sided: were the true share
larger than the bound, so few leaking notes would be found in at most 5 % of samples.

Reference:
    Clopper and Pearson 1934 (Biometrika), The use of confidence or fiducial limits illustrated in the case of the
    binomial; Wright 1991 (Exact confidence bounds when sampling from small finite universes), for the hypergeometric.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from crfdeid.errors import UsageError

LEVEL = 0.95
_MOST_NOTES = 10**9  # more than anybody reads
_NEGLIGIBLE = 1e-18


def upper_bound(
    reviewed: int, leaking: int, *, recall: float = 1.0, total: int | None = None, level: float = LEVEL
) -> float:
    """The upper confidence bound of the share of leaking notes.

    Of n notes read, k are found to leak. Of an endless supply of notes, where a reader finds each leaking note with
    probability r, k is binomial with n and r p, so that the bound is ``BetaInv(level; k + 1, n - k) / r`` (Clopper and
    Pearson 1934). Of M notes, drawn without replacement, it is D / M for the largest number D of leaking notes with
    which k or fewer would be found with a probability above 1 - level.

    Args:
        reviewed: the notes read, n, drawn at random.
        leaking: those found to leak, k.
        recall: the share of leaking notes that a reader finds, r, or a lower bound of it.
        total: all notes, M, those that were read among them; None where they are many or go on coming.
        level: the confidence.

    Returns:
        A fraction; 1.0 where nothing was read.

    Raises:
        UsageError: numbers that cannot be.

    Example:
        >>> round(100 * upper_bound(300, 0), 3), round(100 * upper_bound(300, 0, recall=0.96), 2)
        (0.994, 1.04)
    """
    _check(reviewed, leaking, recall, total)
    if total is not None:
        return most_leaking(reviewed, leaking, total, recall=recall, level=level) / total
    if leaking >= reviewed:
        return 1.0
    from scipy.stats import beta  # noqa: PLC0415  It takes long to import.

    return min(1.0, float(beta.ppf(level, leaking + 1, reviewed - leaking)) / recall)


def most_leaking(reviewed: int, leaking: int, total: int, *, recall: float = 1.0, level: float = LEVEL) -> int:
    """The largest number of leaking notes among M that fits k found of n; arguments are those of `upper_bound`."""
    low, high = leaking, total  # the first fits: k of them are there
    while low < high:
        middle = (low + high + 1) // 2
        fits = tail(reviewed, leaking, total, np.array([middle]), recall=recall)[0] > 1 - level
        low, high = (middle, high) if fits else (low, middle - 1)
    return low


def tail(reviewed: int, leaking: int, total: int, among: NDArray[np.int64], *, recall: float) -> NDArray[np.float64]:
    """The probability of finding k leaking notes or fewer, for each number of leaking notes that there may be.

    The number of leaking notes x in the sample is hypergeometric, and how many of these a reader finds binomial:
    ``P(found <= k) = sum_x Hypergeometric(x; M, D, n) Binomial(found <= k; x, r)``.

    Args:
        reviewed: the notes read, n.
        leaking: those found to leak, k.
        total: all notes, M.
        among: leaking notes among all, D: [D].
        recall: the share of leaking notes that a reader finds, r.

    Returns:
        [D].
    """
    from scipy.stats import binom, hypergeom  # noqa: PLC0415

    drawn = np.arange(min(reviewed, int(among.max(initial=0))) + 1)  # [x]
    found = np.asarray(binom.cdf(leaking, drawn, recall))  # [x]
    likely = found > _NEGLIGIBLE
    # Not hypergeom.cdf, which adds up in Python.
    share: NDArray[np.float64] = hypergeom.pmf(drawn[likely], total, among[:, None], reviewed) @ found[likely]
    return share


def notes_to_read(
    bound: float, *, leaking: int = 0, recall: float = 1.0, total: int | None = None, level: float = LEVEL
) -> int:
    """How many notes to read for an upper bound, if so many of them are found to leak.

    Args:
        bound: the share of leaking notes that is to be shown, a fraction.
        leaking: how many are expected to be found.
        recall: as of `upper_bound`.
        total: as of `upper_bound`.
        level: the confidence.

    Raises:
        UsageError: no number of notes is enough.

    Example:
        >>> notes_to_read(0.01), notes_to_read(0.01, recall=0.96), notes_to_read(0.01, leaking=1)
        (299, 311, 473)
    """
    if not 0 < bound < 1:
        raise UsageError(f"a bound of {bound}: give a share between 0 and 1, such as 0.01")

    def enough(reviewed: int) -> bool:
        return upper_bound(reviewed, leaking, recall=recall, total=total, level=level) <= bound

    most = _MOST_NOTES if total is None else total
    if leaking > most or not enough(most):
        raise UsageError(f"a bound of {bound} with {leaking} leaking notes: too low, also where all notes are read")
    return _first(enough, max(leaking, 1), most)


def _first(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The first number for which something holds that then holds for all larger ones, ``high`` among them."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _check(reviewed: int, leaking: int, recall: float, total: int | None) -> None:
    if not 0 <= leaking <= reviewed:
        raise UsageError(f"{leaking} leaking notes of {reviewed} read: give from 0 to all of them")
    if not 0 < recall <= 1:
        raise UsageError(f"a reviewer's recall of {recall}: give a share above 0, at most 1, such as 0.96")
    if total is not None and not max(reviewed, 1) <= total:
        raise UsageError(f"{reviewed} notes read of {total}: there cannot be fewer than were read")

"""The share of leaking notes over several kinds of notes, each with a random sample of its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from crfdeid.errors import DataError, UsageError
from crfdeid.review.bounds import LEVEL, most_leaking, tail, upper_bound
from crfdeid.review.table import read_table, whole

_PROPORTIONAL = 1.1


@dataclass(frozen=True, slots=True)
class Stratum:
    """A kind of notes.

    Args:
        name: of the kind.
        notes: all notes of it.
        reviewed: those read, drawn at random from them.
        leaking: those found to leak.

    Raises:
        UsageError: numbers that cannot be.
    """

    name: str
    notes: int
    reviewed: int
    leaking: int

    def __post_init__(self) -> None:
        if not (0 <= self.leaking <= self.reviewed <= self.notes and self.notes):
            problem = f"{self.leaking} leaking of {self.reviewed} read of {self.notes} notes"
            raise UsageError(f"{problem}: give numbers that hold each other, and at least one note of a kind")

    def bound(self, *, recall: float = 1.0, level: float = LEVEL) -> float:
        """The upper bound for this kind alone."""
        return upper_bound(self.reviewed, self.leaking, recall=recall, total=self.notes, level=level)


def read_strata(path: Path) -> list[Stratum]:
    """The kinds of notes of a table with columns ``stratum``, ``notes``, ``reviewed`` and ``leaking``.

    Raises:
        DataError: it cannot be read, or a line is not such a kind.
    """
    found = []
    for line, row in read_table(path, ("stratum", "notes", "reviewed", "leaking")):
        numbers = (whole(row[name], path, line) for name in ("notes", "reviewed", "leaking"))
        try:
            found.append(Stratum(row["stratum"], *numbers))
        except UsageError as problem:
            raise DataError(str(problem), path=path, line=line) from None
    if not found:
        raise DataError("holds no kind of notes: give one a line", path=path)
    if len({stratum.name for stratum in found}) < len(found):
        raise DataError("names a kind of notes twice: give each one line", path=path)
    return found


def stratified_bound(strata: Sequence[Stratum], *, recall: float = 1.0, level: float = LEVEL) -> float:
    """The upper bound of the share of leaking notes over all kinds together.

    Which of two bounds is given depends on how many were read of each kind alone, and never on what was found in them,
    so that the level holds:

    - *pooled*, where kinds were read in proportion to their sizes: the number of leaking notes found is a sum of
      independent draws of different probability, n of them, and the binomial of the same mean has the heavier tail
      (Hoeffding 1956), so that Clopper and Pearson's bound U holds for this mean. The share over all kinds is at most
      ``w U``, where w, here at most 1.1, is the largest ratio of a kind's share of the notes to its share of those
      read.
    - *combined*, where some kind was read more than others: numbers of leaking notes D_h are possible together where
      Fisher's combination of the kinds' tail probabilities, ``-sum ln P_h(found <= k_h; D_h)``, is at most half the
      chi-squared quantile of 2 S degrees of freedom; the bound is the largest sum of D_h that is.

    Args:
        strata: the kinds.
        recall: as of `upper_bound`, the same in all kinds.
        level: the confidence.

    Returns:
        A fraction of all notes of all kinds.

    Example:
        >>> kinds = [Stratum("letters", 8000, 200, 0), Stratum("reports", 4000, 100, 0)]
        >>> round(stratified_bound(kinds), 5) == round(upper_bound(300, 0), 5)
        True

    Reference:
        Hoeffding 1956 (Annals of Mathematical Statistics), On the distribution of the number of successes in
        independent trials; Fisher 1932, Statistical methods for research workers, section 21.1;
        Ottoboni et al. 2018 (E-Vote-ID),
        Risk-limiting audits by stratified union-intersection tests of elections, for the sum's bound.
    """
    if len(strata) == 1:
        return strata[0].bound(recall=recall, level=level)
    weight = _weight(strata)
    if weight > _PROPORTIONAL:
        return _combined(strata, recall, level)
    reviewed, leaking = sum(one.reviewed for one in strata), sum(one.leaking for one in strata)
    bound = upper_bound(reviewed, leaking, level=level)
    # So near to 1, Hoeffding's theorem says nothing.
    return 1.0 if reviewed * bound < leaking + 1 else min(1.0, weight * bound / recall)


def _weight(strata: Sequence[Stratum]) -> float:
    """The largest ratio of a kind's share of the notes to its share of those read."""
    notes, reviewed = sum(one.notes for one in strata), sum(one.reviewed for one in strata)
    return max(one.notes * reviewed / (one.reviewed * notes) if one.reviewed else math.inf for one in strata)


def _combined(strata: Sequence[Stratum], recall: float, level: float) -> float:
    """The largest number of leaking notes in all kinds whose combined evidence is not above the limit.

    Evidence grows by the more, the more leaking notes there are (the tails are log-concave), so that the numbers can be
    built up one note at a time, the cheapest first. Were a step out of order, the bound would be too high, not too low.
    """
    from scipy.stats import chi2  # noqa: PLC0415  It takes long to import.

    limit = float(chi2.ppf(level, 2 * len(strata))) / 2
    steps = np.sort(np.concatenate([_evidence(one, recall, limit) for one in strata]))
    found = sum(one.leaking for one in strata)
    return float(found + np.count_nonzero(np.cumsum(steps) <= limit)) / sum(one.notes for one in strata)


def _evidence(stratum: Stratum, recall: float, limit: float) -> np.ndarray:
    """What each further leaking note adds to -ln P, from those found on; as far as one kind alone may go."""
    counts = stratum.reviewed, stratum.leaking, stratum.notes
    most = most_leaking(*counts, recall=recall, level=1 - float(np.exp(-limit)))
    probable = tail(*counts, np.arange(stratum.leaking, most + 1), recall=recall)
    return np.maximum(np.diff(-np.log(probable)), 0.0)

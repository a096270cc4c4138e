"""Upper bounds of the share of leaking notes, from the leaks found in a random sample.

A note leaks where at least one token of PHI is left in it. The bounds are exact and one-sided: were the true share
larger than the bound, so few leaking notes would be found in at most 5 % of samples.

Reference:
    Clopper and Pearson 1934 (Biometrika), The use of confidence or fiducial limits illustrated in the case of the
    binomial; Wright 1991 (Exact confidence bounds when sampling from small finite universes), for the hypergeometric.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crfdeid.errors import EmptyInputError, FormatError, SettingError, UsageError, located
from crfdeid.utils.tables import read_table, whole_numbers
from crfdeid.validation import LEAST_RECALL, MOST_LEAKING, MOST_NOTES

CONFIDENCE_LEVEL = 0.95
_NEGLIGIBLE = 1e-18


def upper_bound(
    reviewed: int, leaking: int, *, recall: float = 1.0, total: int | None = None, level: float = CONFIDENCE_LEVEL
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
        total: all notes, M, including those read; None for an unlimited number.
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


def most_leaking(
    reviewed: int, leaking: int, total: int, *, recall: float = 1.0, level: float = CONFIDENCE_LEVEL
) -> int:
    """The largest number of leaking notes among M that fits k found of n; arguments are those of `upper_bound`."""

    def is_most(among: int) -> bool:
        tail = _detection_tail(reviewed, leaking, total, np.array([among + 1]), recall=recall)
        return bool(tail[0] <= 1 - level)

    return leaking + bisect_left(range(leaking, total), True, key=is_most)  # k of them are there


def _detection_tail(
    reviewed: int, leaking: int, total: int, among: NDArray[np.int64], *, recall: float
) -> NDArray[np.float64]:
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
    from scipy.stats import binom, hypergeom, nbinom  # noqa: PLC0415

    # From `surely` on, a reader finds more than k of x leaking notes: k + 1 of them need no more draws than that.
    surely = leaking + 1 + float(nbinom.isf(_NEGLIGIBLE, leaking + 1, recall))
    drawn = np.arange(int(min(reviewed, among.max(initial=0), surely)) + 1)  # [x]
    tail = np.asarray(binom.cdf(leaking, drawn, recall))  # [x]
    likely = tail > _NEGLIGIBLE
    # Not hypergeom.cdf, which adds up in Python.
    share: NDArray[np.float64] = hypergeom.pmf(drawn[likely], total, among[:, None], reviewed) @ tail[likely]
    return share


def notes_to_read(
    bound: float, *, leaking: int = 0, recall: float = 1.0, total: int | None = None, level: float = CONFIDENCE_LEVEL
) -> int:
    """Number of notes to read for an upper bound, for a number of leaking notes.

    Args:
        bound: the share of leaking notes to prove, a fraction.
        leaking: expected number of leaking notes among those read.
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
        raise SettingError(f"a bound of {bound}: give a share between 0 and 1, such as 0.01")

    def enough(reviewed: int) -> bool:
        return upper_bound(reviewed, leaking, recall=recall, total=total, level=level) <= bound

    most = MOST_NOTES if total is None else total
    if leaking > most or not enough(most):
        raise SettingError(f"a bound of {bound} with {leaking} leaking notes: too low, also where all notes are read")
    least = max(leaking, 1)
    return least + bisect_left(range(least, most), True, key=enough)


def leaks_allowed(reviewed: int, bound: float, *, level: float = CONFIDENCE_LEVEL) -> int:
    """The largest number of leaking notes among n that proves a bound: whose `upper_bound` is not above it.

    Args:
        reviewed: the notes, n, drawn at random.
        bound: the share of leaking notes to prove, a fraction.
        level: the confidence.

    Returns:
        -1 where n notes are too few, also without a leak.

    Example:
        >>> leaks_allowed(298, 0.01), leaks_allowed(299, 0.01), leaks_allowed(300, 0.05)
        (-1, 0, 8)
    """
    from scipy.stats import binom  # noqa: PLC0415

    leaking = int(binom.ppf(1 - level, reviewed, bound))  # the first with a tail of at least 1 - level
    return leaking if binom.cdf(leaking, reviewed, bound) <= 1 - level else leaking - 1


def _check(reviewed: int, leaking: int, recall: float, total: int | None) -> None:
    if not 0 <= leaking <= min(reviewed, MOST_LEAKING):
        raise SettingError(
            f"{leaking} leaking notes of {reviewed} read: give from 0 to all of them, at most {MOST_LEAKING:,}"
        )
    _check_recall(recall)
    if total is not None and not max(reviewed, 1) <= total <= MOST_NOTES:
        raise SettingError(f"{reviewed} notes read of {total}: give from those that were read to {MOST_NOTES:,}")


def _check_recall(recall: float) -> None:
    if not LEAST_RECALL <= recall <= 1:
        raise SettingError(f"a reviewer's recall of {recall}: give a share from {LEAST_RECALL} to 1, such as 0.96")


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
        if not (0 <= self.leaking <= self.reviewed <= self.notes <= MOST_NOTES and self.notes):
            problem = f"{self.leaking} leaking of {self.reviewed} read of {self.notes} notes"
            raise SettingError(f"{problem}: give numbers that hold each other, and at least one note of a kind")

    def bound(self, *, recall: float = 1.0, level: float = CONFIDENCE_LEVEL) -> float:
        """The upper bound for this kind alone."""
        return upper_bound(self.reviewed, self.leaking, recall=recall, total=self.notes, level=level)


def read_strata(path: Path) -> list[Stratum]:
    """The kinds of notes of a table with columns ``stratum``, ``notes``, ``reviewed`` and ``leaking``.

    Raises:
        DataError: it cannot be read, or a line is not such a kind.
    """
    strata, numbers = [], ("notes", "reviewed", "leaking")
    for line, row in read_table(path, ("stratum", *numbers)):
        with located(path, line):
            try:
                strata.append(Stratum(row["stratum"], *whole_numbers(row[name] for name in numbers)))
            except UsageError as problem:
                raise FormatError(str(problem)) from None
    if not strata:
        raise EmptyInputError("holds no kind of notes: give one a line", path=path)
    if len({stratum.name for stratum in strata}) < len(strata):
        raise FormatError("names a kind of notes twice: give each one line", path=path)
    return strata


def stratified_bound(strata: Sequence[Stratum], *, recall: float = 1.0, level: float = CONFIDENCE_LEVEL) -> float:
    """The upper bound of the share of leaking notes over all kinds together.

    The choice between two bounds depends on the numbers of notes read of each kind, and never on the reviewers'
    findings, so that the level holds:

    - *pooled*, if kinds were read in proportion to their sizes: the number of leaking notes found is a sum of n
      independent draws of different probability. The binomial of the same mean has the heavier tail (Hoeffding 1956),
      so that Clopper and Pearson's bound U holds for this mean. The share over all kinds is at most ``w U``, where w,
      here at most 1.1, is the largest ratio of a kind's share of the notes to its share of those read.
    - *combined*, if some kind was read more than others: numbers of leaking notes D_h are possible together where
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
        independent trials; Fisher 1932, Statistical methods for research workers, section 21.1; Ottoboni et al. 2018
        (E-Vote-ID), Risk-limiting audits by stratified union-intersection tests of elections, for the sum's bound.
    """
    if len(strata) == 1:
        return strata[0].bound(recall=recall, level=level)
    notes, reviewed, leaking = (sum(getattr(one, name) for one in strata) for name in ("notes", "reviewed", "leaking"))
    # The largest ratio of a kind's share of the notes to its share of those read.
    weight = max(one.notes * reviewed / (one.reviewed * notes) if one.reviewed else math.inf for one in strata)
    if weight > _PROPORTIONAL:
        return _combined(strata, recall, level)
    bound = upper_bound(reviewed, leaking, level=level)
    # So near to 1, Hoeffding's theorem says nothing.
    return 1.0 if reviewed * bound < leaking + 1 else min(1.0, weight * bound / recall)


def _combined(strata: Sequence[Stratum], recall: float, level: float) -> float:
    """The largest number of leaking notes in all kinds whose combined evidence is not above the limit.

    Evidence grows by the more, the more leaking notes there are (the tails are log-concave), so that the numbers can be
    built up one note at a time, the cheapest first. Were a step out of order, the bound would be too high, not too low.
    """
    from scipy.stats import chi2  # noqa: PLC0415  It takes long to import.

    limit = float(chi2.ppf(level, 2 * len(strata))) / 2
    steps = np.sort(np.concatenate([_evidence(one, recall, limit) for one in strata]))
    leaking = sum(one.leaking for one in strata)
    return float(leaking + np.count_nonzero(np.cumsum(steps) <= limit)) / sum(one.notes for one in strata)


def _evidence(stratum: Stratum, recall: float, limit: float) -> np.ndarray:
    """Increase of -ln P with each further leaking note, up to the limit of one kind alone."""
    counts = stratum.reviewed, stratum.leaking, stratum.notes
    most = most_leaking(*counts, recall=recall, level=1 - float(np.exp(-limit)))
    probable = _detection_tail(*counts, np.arange(stratum.leaking, most + 1), recall=recall)
    return np.maximum(np.diff(-np.log(probable)), 0.0)


_MAX_CELLS = 1 << 20  # draws times notes held at once: 8 MiB


class NoteCount(NamedTuple):
    """A reviewer's counts for one note.

    Attributes:
        leaked: number of its tokens of PHI that were not hidden.
        tokens: number of all its tokens of PHI.
    """

    leaked: int
    tokens: int


def read_counts(path: Path) -> list[NoteCount]:
    """The counts of a table with columns ``leaked`` and ``tokens``, one note a line.

    Raises:
        DataError: it cannot be read, or a line holds no such counts.
    """
    counts = []
    for line, row in read_table(path, NoteCount._fields):
        with located(path, line):
            count = NoteCount(*whole_numbers(row.values()))
            if count.leaked > count.tokens:
                raise FormatError(
                    f"{count.leaked} leaked of {count.tokens} tokens: count those hidden and those left as tokens"
                )
            counts.append(count)
    if not counts:
        raise EmptyInputError("holds no counts: give one line for each note that was read", path=path)
    return counts


def leaked_tokens_bound(
    counts: Sequence[NoteCount],
    *,
    recall: float = 1.0,
    level: float = CONFIDENCE_LEVEL,
    samples: int = 20_000,
    seed: int = 0,
) -> float:
    """The upper bound of the share of PHI tokens that leak.

    Notes are resampled with random weights (the Bayesian bootstrap), together with one imagined note: as long as the
    longest note that was read, and leaking all its tokens. Without it, a sample in which nothing leaks would give a
    bound of 0. With it, and notes that have one token each, this is Clopper and Pearson's bound, and for a mean of
    values between 0 and 1 it is Learned-Miller and Thomas's. The bound assumes that no note is longer than the longest
    one read.

    Args:
        counts: of each note read, drawn at random.
        recall: the share of leaking notes that a reader finds; the reader counts all leaks of a note found.
        level: the confidence.
        samples: number of resamplings.
        seed: of the draws.

    Returns:
        A fraction of all PHI tokens.

    Raises:
        UsageError: no tokens were counted, or the recall is out of range.

    Example:
        >>> clean = [NoteCount(0, 20)] * 300
        >>> 0.009 < leaked_tokens_bound(clean) < 0.011
        True

    Reference:
        Rubin 1981 (Annals of Statistics), The Bayesian bootstrap; Learned-Miller and Thomas 2019, A new confidence
        interval for the mean of a bounded random variable (arXiv 1905.06208), section 2; Phan et al. 2021 (ICML),
        Towards practical mean bounds for small samples.
    """
    _check_recall(recall)
    table = np.array(counts, float).reshape(-1, 2)  # [N, 2]
    longest = table[:, 1].max(initial=0)
    if not longest:
        raise SettingError("no note has a token of PHI: there is no share of leaked tokens to bound")
    table = np.vstack([table, [longest, longest]])  # [N + 1, 2]
    rng, step = np.random.default_rng(seed), max(1, _MAX_CELLS // len(table))
    sums = [rng.exponential(size=(min(step, samples - done), len(table))) @ table for done in range(0, samples, step)]
    drawn = np.concatenate(sums)  # [samples, 2]
    return min(1.0, float(np.quantile(drawn[:, 0] / drawn[:, 1], level)) / recall)

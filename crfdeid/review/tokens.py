"""How large the share of leaked tokens can be: resampled by note, for tokens of one note leak together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from crfdeid.errors import DataError, UsageError
from crfdeid.review.bounds import LEVEL
from crfdeid.review.table import read_table, whole

_CELLS = 1 << 20  # draws times notes held at once: 8 MiB


class NoteCount(NamedTuple):
    """What a reviewer counted in a note.

    Attributes:
        leaked: the tokens of PHI that were left in it.
        tokens: all its tokens of PHI, those that were hidden and those left.
    """

    leaked: int
    tokens: int


def read_counts(path: Path) -> list[NoteCount]:
    """The counts of a table with columns ``leaked`` and ``tokens``, one note a line.

    Raises:
        DataError: it cannot be read, or a line holds no such counts.
    """
    found = []
    for line, row in read_table(path, NoteCount._fields):
        count = NoteCount(*(whole(row[name], path, line) for name in NoteCount._fields))
        if count.leaked > count.tokens:
            problem = f"{count.leaked} leaked of {count.tokens} tokens: count those hidden and those left as tokens"
            raise DataError(problem, path=path, line=line)
        found.append(count)
    if not found:
        raise DataError("holds no counts: give one line for each note that was read", path=path)
    return found


def leaked_tokens_bound(
    counts: Sequence[NoteCount], *, recall: float = 1.0, level: float = LEVEL, samples: int = 20_000, seed: int = 0
) -> float:
    """The upper bound of the share of PHI tokens that leak.

    Notes are resampled with random weights (the Bayesian bootstrap), and to those that were read comes one more that
    nobody has seen: as long as the longest of them, and leaking all its tokens. Without it, a sample in which nothing
    leaks would give a bound of 0. With it, and notes that have one token each, this is Clopper and Pearson's bound, and
    for a mean of values between 0 and 1 it is Learned-Miller and Thomas's. A longer note than any that was read is not
    allowed for.

    Args:
        counts: of each note read, drawn at random.
        recall: the share of leaking notes that a reader finds; in a note that he finds, he counts all that leaks.
        level: the confidence.
        samples: how often the notes are resampled.
        seed: of the draws.

    Returns:
        A fraction of all PHI tokens.

    Raises:
        UsageError: no tokens were counted, or a recall that is none.

    Example:
        >>> clean = [NoteCount(0, 20)] * 300
        >>> 0.009 < leaked_tokens_bound(clean) < 0.011
        True

    Reference:
        Rubin 1981 (Annals of Statistics), The Bayesian bootstrap; Learned-Miller and Thomas 2019, A new confidence
        interval for the mean of a bounded random variable (arXiv 1905.06208), section 2; Phan et al. 2021 (ICML),
        Towards practical mean bounds for small samples.
    """
    if not 0 < recall <= 1:
        raise UsageError(f"a reviewer's recall of {recall}: give a share above 0, at most 1, such as 0.96")
    table = np.array(counts, float).reshape(-1, 2)  # [N, 2]
    longest = table[:, 1].max(initial=0)
    if not longest:
        raise UsageError("no note has a token of PHI: there is no share of leaked tokens to bound")
    table = np.vstack([table, [longest, longest]])  # [N + 1, 2]
    rng, step = np.random.default_rng(seed), max(1, _CELLS // len(table))
    sums = [rng.exponential(size=(min(step, samples - done), len(table))) @ table for done in range(0, samples, step)]
    drawn = np.concatenate(sums)  # [samples, 2]
    return min(1.0, float(np.quantile(drawn[:, 0] / drawn[:, 1], level)) / recall)

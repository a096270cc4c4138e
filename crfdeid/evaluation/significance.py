"""Significance of a difference between two systems: a paired test and confidence intervals, by document.

Everything works on arrays of strict entity counts, ``[N documents, C categories, 3]``, the last axis being tp, fp, fn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crfdeid.documents import Document
from crfdeid.errors import EmptyInputError, SettingError
from crfdeid.evaluation.counts import Counts
from crfdeid.evaluation.entities import Predictions, pair_up, score_entities

_FloatArray = NDArray[np.float64]
_CountArray = NDArray[Any]

# Above the rounding errors of sums and of F, below the smallest difference that counts can make.
# Equal differences must count as equal, or p comes out too small.
_TIE = 1e-9
# Documents times draws held at once: 8 MiB of doubles.
_MAX_CELLS = 1 << 20


def document_counts(gold: Sequence[Document], predicted: Predictions, types: Sequence[str]) -> NDArray[np.int64]:
    """The strict entity counts of each document, those of `score_entities`, overall and by type.

    Args:
        gold: the annotated documents.
        predicted: for each of them, by id, the predicted spans.
        types: the types to count by themselves. Those left out still count overall.

    Returns:
        [N, 1 + len(types), 3]: tp, fp, fn of each document; category 0 is all types together (micro).

    Raises:
        DataError: as for `score_entities`.

    Example:
        >>> from crfdeid.documents import Span
        >>> note = Document("n1", "Seen by Ann Doe", (Span(8, 15, "DOCTOR"),))
        >>> document_counts([note], {"n1": [Span(8, 11, "DOCTOR"), Span(8, 15, "DOCTOR")]}, ["DATE"]).tolist()
        [[[1, 1, 0], [0, 0, 0]]]
    """
    counts = np.zeros((len(gold), 1 + len(types), 3), np.int64)
    for row, (document, spans) in enumerate(pair_up(gold, predicted)):
        scores = score_entities([document], {document.id: spans})
        found = [scores.micro, *(scores.by_type.get(label, Counts()) for label in types)]
        counts[row] = [(c.tp, c.fp, c.fn) for c in found]
    return counts


def f1_scores(counts: _CountArray) -> _FloatArray:
    """F of each row of counts, ``2 tp / (2 tp + fp + fn)``; 0 where the denominator is 0, as in `Counts`.

    Args:
        counts: [..., 3].

    Returns:
        [...].

    Example:
        >>> f1_scores(np.array([[3, 1, 2], [0, 0, 0]])).round(4).tolist()
        [0.6667, 0.0]
    """
    return _fractions(_terms(counts))


def randomisation_test(a: _CountArray, b: _CountArray, *, permutations: int = 10_000, seed: int = 0) -> _FloatArray:
    """Approximate randomisation test of a difference in F.

    Under the null hypothesis, the outputs of the two systems on each document are exchangeable. So each document's
    counts are exchanged with probability 1/2, independently, and

        p = (1 + #{|F_a* - F_b*| >= |F_a - F_b|}) / (1 + permutations),

    two-sided. Documents whose exchange changes neither F of a category are left out there. Where the n others allow
    no more than ``permutations`` exchanges, all 2^n are tried instead, and p is exact: the share of them that reaches
    the observed difference.

    Args:
        a: [N, C, 3], a system's counts, which may be means over several trainings.
        b: [N, C, 3], the other's on the same documents.
        permutations: number of exchanges drawn.
        seed: of the draws. Each category draws anew from it, so that p depends on nothing but its own counts.

    Returns:
        [C], p of each category; the same for (b, a).

    Raises:
        SettingError: ``permutations`` is below 1.
        ValueError: the shapes differ.

    Example:
        >>> hit, miss = [[1, 0, 0]], [[0, 0, 1]]
        >>> randomisation_test(np.array([hit] * 6), np.array([miss] * 6)).tolist()  # all or none exchanged: 2 / 2^6
        [0.03125]

    Reference:
        Noreen 1989, Computer-Intensive Methods for Testing Hypotheses; Yeh 2000 (COLING), for F.
    """
    if permutations < 1:
        raise SettingError(f"permutations {permutations}: at least 1 is needed")
    if a.shape != b.shape:
        raise ValueError(f"counts of shapes {a.shape} and {b.shape}: the two systems must have the same documents")
    return np.array([_p_value(_terms(a[:, c]), _terms(b[:, c]), permutations, seed) for c in range(a.shape[1])])


def _p_value(a: _FloatArray, b: _FloatArray, permutations: int, seed: int) -> float:
    """p of one category from F's terms, [N, 2]."""
    total_a, total_b = a.sum(axis=0), b.sum(axis=0)
    least = np.abs(_fractions(total_a) - _fractions(total_b)) - _TIE
    gain = (b - a)[(a != b).any(axis=1)]
    exact = 2 ** len(gain) <= permutations
    exchanges = _all_exchanges(len(gain)) if exact else _drawn_exchanges(len(gain), permutations, seed)
    extreme = 0
    for exchanged in exchanges:
        shift = exchanged.astype(np.float64) @ gain  # [rows, 2]
        difference = _fractions(total_a + shift) - _fractions(total_b - shift)
        extreme += int(np.count_nonzero(np.abs(difference) >= least))
    return extreme / 2 ** len(gain) if exact else (1 + extreme) / (1 + permutations)


def _all_exchanges(n: int) -> Iterator[NDArray[np.bool_]]:
    for start, stop in _chunks(2**n, n):
        yield (np.arange(start, stop)[:, None] >> np.arange(n)) & 1 == 1  # [rows, n]


def _drawn_exchanges(n: int, permutations: int, seed: int) -> Iterator[NDArray[np.bool_]]:
    rng = np.random.default_rng(seed)
    for start, stop in _chunks(permutations, n):
        yield rng.random((stop - start, n)) < 0.5  # [rows, n]


def bootstrap_f1(counts: _CountArray, *, samples: int = 10_000, seed: int = 0) -> _FloatArray:
    """F on resampled corpora: N documents drawn from the N with replacement, the same ones for all that is counted.

    Which documents are drawn depends on N, ``samples`` and ``seed`` alone: systems on the same documents get the
    same resamples, in one call or in several, so that their F may be subtracted row by row.

    Args:
        counts: [N, ..., 3]; categories, and systems, between the documents and the counts.
        samples: number of corpora drawn.
        seed: of the draws.

    Returns:
        [samples, ...].

    Raises:
        SettingError: ``samples`` is below 1.
        EmptyInputError: there are no documents.

    Example:
        >>> f1 = bootstrap_f1(np.array([[[1, 0, 0]], [[0, 1, 1]]]))  # one document right, one wrong
        >>> np.unique(f1).tolist()
        [0.0, 0.5, 1.0]

    Reference:
        Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapter 13; Koehn 2004 (EMNLP), for paired systems.
    """
    if samples < 1:
        raise SettingError(f"samples {samples}: at least 1 is needed")
    n = len(counts)
    if not n:
        raise EmptyInputError("no documents to draw from: intervals need at least one")
    terms = _terms(counts)
    columns = terms.reshape(n, -1)
    found = np.empty((samples, *terms.shape[1:-1]))
    rng = np.random.default_rng(seed)
    for start, stop in _chunks(samples, n):
        drawn = rng.integers(n, size=(stop - start, n)) + n * np.arange(stop - start)[:, None]
        times = np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape)  # [rows, n]
        sums = times.astype(np.float64) @ columns
        found[start:stop] = _fractions(sums.reshape(-1, *terms.shape[1:]))
    return found


def percentile_interval(values: _FloatArray, *, level: float = 0.05) -> tuple[_FloatArray, _FloatArray]:
    """The bootstrap's percentile interval, which leaves ``level / 2`` of the resampled values out at either end.

    Args:
        values: [samples, ...], F of `bootstrap_f1`, or the difference of two of them.
        level: the share left out: 0.05 for a 95 % interval.

    Returns:
        The lower and the upper ends, [...] each.

    Raises:
        SettingError: ``level`` is not between 0 and 1.

    Example:
        >>> low, high = percentile_interval(np.arange(101.0), level=0.1)
        >>> low.item(), high.item()
        (5.0, 95.0)
    """
    if not 0 < level < 1:
        raise SettingError(f"level {level}: a share between 0 and 1 is needed, 0.05 for 95 % intervals")
    low, high = np.quantile(values, (level / 2, 1 - level / 2), axis=0)
    return low, high


def holm(p: ArrayLike) -> _FloatArray:
    """Holm's correction of the p values of m tests that are looked at together.

    The i-th smallest p is multiplied by m - i + 1, raised to the largest before it, and cut at 1. With all null
    hypotheses rejected whose corrected p is at most α, the probability of one wrong rejection or more is at most α,
    however the tests depend on each other.

    Args:
        p: [m], one family of tests.

    Returns:
        [m], in the order of ``p``.

    Example:
        >>> holm([0.01, 0.04, 0.03]).tolist()
        [0.03, 0.06, 0.06]

    Reference:
        Holm 1979, A Simple Sequentially Rejective Multiple Test Procedure.
    """
    p = np.asarray(p, np.float64)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(stepped, 1.0)
    return corrected


def _terms(counts: _CountArray) -> _FloatArray:
    """F's numerator and denominator, which add up over documents: [..., 3] -> [..., 2]."""
    hits = 2.0 * counts[..., 0]
    return np.stack([hits, hits + counts[..., 1] + counts[..., 2]], axis=-1)


def _fractions(terms: _FloatArray) -> _FloatArray:
    """[..., 2] -> [...]; a denominator of 0, or one that only rounding keeps from it, gives 0."""
    part, whole = terms[..., 0], terms[..., 1]
    return np.divide(part, whole, out=np.zeros_like(whole), where=whole > _TIE)


def _chunks(rows: int, width: int) -> Iterator[tuple[int, int]]:
    """Stretches of ``rows`` that keep an array of ``width`` columns small."""
    step = max(1, _MAX_CELLS // max(1, width))
    return ((start, min(rows, start + step)) for start in range(0, rows, step))

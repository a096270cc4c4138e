"""Significance of a difference between two systems: a paired test and confidence intervals, by document.

Everything works on arrays of strict entity counts, ``[N documents, C categories, 3]``, the last axis being tp, fp, fn.
"""

from __future__ import annotations

import itertools
import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crfdeid.documents import Document
from crfdeid.errors import EmptyInputError, SettingError, UnknownNameError
from crfdeid.evaluation.entities import Counts, Predictions, pair_up, score_entities
from crfdeid.label_schemes import in_order

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

    Example:
        >>> from crfdeid.documents import Span
        >>> note = Document("n1", "Seen by Ann Doe", (Span(8, 15, "DOCTOR"),))
        >>> document_counts([note], {"n1": [Span(8, 11, "DOCTOR"), Span(8, 15, "DOCTOR")]}, ["DATE"]).tolist()
        [[[1, 1, 0], [0, 0, 0]]]
    """
    counts = np.zeros((len(gold), 1 + len(types), 3), np.int64)
    for row, (document, spans) in enumerate(pair_up(gold, predicted)):
        scores = score_entities([document], {document.id: spans})
        rows = [scores.micro, *(scores.by_type.get(label, Counts()) for label in types)]
        counts[row] = [(c.tp, c.fp, c.fn) for c in rows]
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

        `p = (1 + #{|F_a* - F_b*| >= |F_a - F_b|}) / (1 + permutations)`,

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
    return bootstrap_ratios(_terms(counts), samples=samples, seed=seed)


def bootstrap_ratios(terms: _FloatArray, *, samples: int = 10_000, seed: int = 0) -> _FloatArray:
    """A ratio of sums over documents, on resampled corpora; draws, errors and result as of `bootstrap_f1`.

    Args:
        terms: numerator and denominator of each document: [N, ..., 2].
        samples: number of corpora drawn.
        seed: of the draws.
    """
    if samples < 1:
        raise SettingError(f"samples {samples}: at least 1 is needed")
    n = len(terms)
    if not n:
        raise EmptyInputError("no documents to draw from: intervals need at least one")
    columns = terms.reshape(n, -1)
    ratios = np.empty((samples, *terms.shape[1:-1]))
    rng = np.random.default_rng(seed)
    for start, stop in _chunks(samples, n):
        drawn = rng.integers(n, size=(stop - start, n)) + n * np.arange(stop - start)[:, None]
        times = np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape)  # [rows, n]
        sums = times.astype(np.float64) @ columns
        ratios[start:stop] = _fractions(sums.reshape(-1, *terms.shape[1:]))
    return ratios


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


OVERALL = "Overall"
Pair = tuple[str, str]


def compare_systems(
    gold: Sequence[Document],
    predictions: Mapping[str, Sequence[Predictions]],
    *,
    permutations: int = 10_000,
    samples: int = 10_000,
    seed: int = 0,
    level: float = 0.05,
    pairs: Sequence[Pair] | None = None,
    by_type: bool = True,
) -> dict[str, Any]:
    """Test pairs of systems on the same documents, and give every F and every difference an interval.

    A system's counts of a document are averaged over its runs first; F is then that of the averaged counts, which is
    close to the mean of the runs' F, but not equal to it. The result of a pair depends on no other system, except
    ``p_holm``, whose family is all these pairs in one category.

    Intervals cover the choice of documents and, for a system with several runs, of their seeds: to each resampled F is
    added a draw of Student's t with the standard error of the mean over seeds. A bootstrap of a few seeds would be too
    narrow. The test covers documents alone.

    Args:
        gold: the annotated documents.
        predictions: for each system, the predicted spans of each of its runs in every document.
        permutations: exchanges drawn for each test.
        samples: corpora drawn for the intervals.
        seed: of the draws.
        level: the intervals hold with probability ``1 - level``, and a difference when ``p_holm`` is at most that.
        pairs: the systems to test against each other; None for every pair.
        by_type: also test each type, not only all types together.

    Returns:
        The ``significance`` part of results.json, with categories "Overall", then the types of gold: the seven
        subtypes in their order, others by name.

    Raises:
        DataError: as for `score_entities`; or there are no documents.
        UsageError: a system has no runs, or a number is out of range.
    """
    types = {span.label for document in gold for span in document.spans}
    categories = [OVERALL, *(in_order(types) if by_type else ())]
    counts = {name: [document_counts(gold, run, categories[1:]) for run in runs] for name, runs in predictions.items()}
    return compare_counts(
        counts, categories, permutations=permutations, samples=samples, seed=seed, level=level, pairs=pairs
    )


def compare_counts(
    counts_of_runs: Mapping[str, Sequence[NDArray[np.int64]]],
    categories: Sequence[str] = (OVERALL,),
    *,
    permutations: int = 10_000,
    samples: int = 10_000,
    seed: int = 0,
    level: float = 0.05,
    pairs: Sequence[Pair] | None = None,
) -> dict[str, Any]:
    """Compare systems as `compare_systems` does, given the counts of each run: [N, C, 3] (`document_counts`).

    Raises:
        UsageError: a system has no runs, or a number is out of range.
    """
    counts = _averaged_counts(counts_of_runs)
    f1 = {name: f1_scores(own.sum(axis=0)) for name, own in counts.items()}
    resampled = {
        name: bootstrap_f1(own, samples=samples, seed=seed) + _of_seeds(counts_of_runs[name], name, samples, seed)
        for name, own in counts.items()
    }
    pairs = list(itertools.combinations(counts, 2)) if pairs is None else pairs
    p = {(a, b): randomisation_test(counts[a], counts[b], permutations=permutations, seed=seed) for a, b in pairs}
    ends = {(a, b): percentile_interval(resampled[b] - resampled[a], level=level) for a, b in pairs}
    return {
        "test": "approximate randomisation",
        "permutations": permutations,
        "samples": samples,
        "seed": seed,
        "level": level,
        "measure": "strict entity F",
        "pairs": [row for i, name in enumerate(categories) for row in _pair_rows(name, i, f1, p, ends)],
        "intervals": {name: _intervals(categories, f1[name], resampled[name], level) for name in counts},
    }


def _averaged_counts(counts_of_runs: Mapping[str, Sequence[NDArray[np.int64]]]) -> dict[str, NDArray[np.int64]]:
    """Each system's counts, [N, C, 3], averaged over its runs, times one number that makes them whole for all systems.

    The factor changes no F. Sums of whole numbers are exact, so that no digit of the results depends on the order in
    which a machine adds.
    """
    for name, runs in counts_of_runs.items():
        if not runs:
            raise UnknownNameError(f"the system '{name}' has no predictions: give those of at least one run")
    scale = math.lcm(*(len(runs) for runs in counts_of_runs.values()))
    return {name: np.sum(runs, axis=0) * (scale // len(runs)) for name, runs in counts_of_runs.items()}


def _of_seeds(runs: Sequence[NDArray[np.int64]], name: str, samples: int, seed: int) -> _FloatArray:
    """Draws of the error of a mean over a system's seeds, [samples, C]; 0 for a single run.

    Draws of several systems are independent: each has its own, by its name.
    """
    if len(runs) < 2:
        return np.zeros((samples, 1))
    f1 = np.array([f1_scores(run.sum(axis=0)) for run in runs])  # [runs, C]
    error = f1.std(axis=0, ddof=1) / math.sqrt(len(runs))
    rng = np.random.default_rng((seed, zlib.crc32(name.encode())))
    return np.asarray(error * rng.standard_t(len(runs) - 1, size=(samples, 1)))


def _pair_rows(
    category: str,
    index: int,
    f1: Mapping[str, NDArray[np.float64]],
    p: Mapping[Pair, NDArray[np.float64]],
    ends: Mapping[Pair, tuple[NDArray[np.float64], NDArray[np.float64]]],
) -> list[dict[str, Any]]:
    """Result of each pair in one category, the family of Holm's correction."""
    corrected = holm([values[index] for values in p.values()])
    return [
        {
            "a": a,
            "b": b,
            "category": category,
            "f1_a": f1[a][index].item(),
            "f1_b": f1[b][index].item(),
            "difference": (f1[b][index] - f1[a][index]).item(),
            "low": ends[a, b][0][index].item(),
            "high": ends[a, b][1][index].item(),
            "p": p[a, b][index].item(),
            "p_holm": adjusted.item(),
        }
        for (a, b), adjusted in zip(p, corrected, strict=True)
    ]


def _intervals(
    categories: Sequence[str], f1: NDArray[np.float64], resampled: NDArray[np.float64], level: float
) -> dict[str, dict[str, float]]:
    lows, highs = (np.clip(ends, 0.0, 1.0) for ends in percentile_interval(resampled, level=level))
    rows = zip(categories, f1.tolist(), lows.tolist(), highs.tolist(), strict=True)
    return {name: {"f1": value, "low": low, "high": high} for name, value, low, high in rows}

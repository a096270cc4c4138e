"""Significance of differences between systems: the ``significance`` part of results.json."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crfdeid.documents import Document
from crfdeid.errors import UnknownNameError
from crfdeid.evaluation import (
    Predictions,
    bootstrap_f1,
    document_counts,
    f1_scores,
    holm,
    percentile_interval,
    randomisation_test,
)
from crfdeid.label_schemes import in_order

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
    f1 = {name: f1_scores(found.sum(axis=0)) for name, found in counts.items()}
    resampled = {name: bootstrap_f1(found, samples=samples, seed=seed) for name, found in counts.items()}
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
    lows, highs = percentile_interval(resampled, level=level)
    rows = zip(categories, f1.tolist(), lows.tolist(), highs.tolist(), strict=True)
    return {name: {"f1": value, "low": low, "high": high} for name, value, low, high in rows}

"""Measures of what a model gives away: exposure, area under the ROC curve, true positives at few false ones, epsilon.

Scores rank items by how probably they were in the training data. All functions take arrays and know nothing of models.

Reference:
    Carlini et al. (2019), The secret sharer, section 4; Carlini et al. (2022), Membership inference attacks from first
    principles, section 3; DeLong et al. (1988), Comparing the areas under two or more correlated receiver operating
    characteristic curves; Steinke, Nasr and Jagielski (2023), Privacy auditing with one (1) training run.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crfdeid.errors import EmptyInputError, SettingError
from crfdeid.evaluation.tokens import Proportion

_Floats = NDArray[np.float64]

LOW_FALSE_POSITIVE_RATES = (0.01, 0.001)
CONFIDENCE = 0.95
_GUESSED_SHARES = (0.1, 0.25, 0.5, 1.0)
"""Shares of the canaries that are guessed; the confidence of the bound covers the choice of the best."""
_MOST_EPSILON, _HALVINGS = 64.0, 30


def exposure(scores: _Floats, references: _Floats) -> _Floats:
    """Exposure of each secret in bits: log2 of the candidates less log2 of the secret's rank among them.

    The candidates are the secret and the references. A reference with an equal score ranks before the secret.

    Args:
        scores: of the secrets, [N].
        references: scores of words that were drawn like the secrets and are in no note, [R].

    Returns:
        [N], from 0 to log2(R + 1).

    Example:
        >>> exposure(np.array([5.0, 1.5]), np.array([0.0, 1.0, 2.0])).tolist()
        [2.0, 1.0]
    """
    ranks = 1 + len(references) - np.searchsorted(np.sort(references), scores, side="left")
    bits: _Floats = math.log2(len(references) + 1) - np.log2(ranks)
    return bits


class RocArea(NamedTuple):
    """Area under the ROC curve, and its interval (DeLong et al. 1988).

    Attributes:
        value: the probability that a member has a higher score than another item; equal scores count a half.
        low: lower end of the interval.
        high: upper end.
    """

    value: float
    low: float
    high: float


def roc_area(members: _Floats, others: _Floats, *, confidence: float = CONFIDENCE) -> RocArea:
    """Return the area under the ROC curve of scores that should be higher for members.

    Args:
        members: scores of members, [M].
        others: scores of other items, [N].
        confidence: of the interval.

    Raises:
        EmptyInputError: there is no member, or no other item.

    Example:
        >>> roc_area(np.array([0.9, 0.5]), np.array([0.5, 0.1])).value
        0.875
    """
    if not len(members) or not len(others):
        raise EmptyInputError("an area under the curve needs members and other items: give some of both")
    above, below = _share_below(members, others), 1 - _share_below(others, members)
    value = float(above.mean())
    variance = sum(float(part.var(ddof=1)) / len(part) for part in (above, below) if len(part) > 1)
    reach = NormalDist().inv_cdf((1 + confidence) / 2) * math.sqrt(variance)
    return RocArea(value, max(value - reach, 0.0), min(value + reach, 1.0))


def _share_below(scores: _Floats, others: _Floats) -> _Floats:
    """Share of the others below each score; equal ones count a half."""
    ordered = np.sort(others)
    counts = np.searchsorted(ordered, scores, side="left") + np.searchsorted(ordered, scores, side="right")
    shares: _Floats = counts / (2 * len(others))
    return shares


def true_positives(members: _Floats, others: _Floats, rate: float) -> Proportion:
    """Count the members that a threshold finds whose rate of false positives is at most ``rate``.

    With fewer than 1 / rate other items, no false positive is allowed.

    Args:
        members: scores of members.
        others: scores of other items, at least one.
        rate: share of the others that may be taken for members, a fraction.

    Example:
        >>> true_positives(np.array([3.0, 2.0, 0.0]), np.array([1.0, 2.0]), 0.01)
        Proportion(count=1, total=3)
    """
    threshold = np.sort(others)[::-1][int(rate * len(others))]
    return Proportion(int((members > threshold).sum()), len(members))


def attack_figures(members: _Floats, others: _Floats) -> dict[str, Any]:
    """Figures of an attack that tells members from other items by scores, as JSON data.

    Returns:
        "members" and "others", the numbers of items; "auc" with "value", "low" and "high"; "true_positives" by the
        allowed rate of false ones, with count, total and 95 % interval.
    """
    area = roc_area(members, others)
    return {
        "members": len(members),
        "others": len(others),
        "auc": area._asdict(),
        "true_positives": {
            f"{rate:g}": true_positives(members, others, rate).to_dict() for rate in LOW_FALSE_POSITIVE_RATES
        },
    }


def guess_p_value(correct: int, guesses: int, canaries: int, epsilon: float, delta: float) -> float:
    """Bound the probability of so many correct guesses about a training that is (epsilon, delta)-private.

    Each of m canaries is in the training data with probability 1/2, independently. Of r guesses, v are correct. With W
    from a binomial distribution of r trials and probability q = e^epsilon / (1 + e^epsilon),

        P(v or more correct) <= P(W >= v) + 2 m delta max over i of P(v > W >= v - i) / i.

    Args:
        correct: number of correct guesses, v.
        guesses: number of guesses, r.
        canaries: number of canaries, m, guessed or not.
        epsilon: the privacy parameter, 0 or more.
        delta: the other one, from 0 to 1.

    Reference:
        Steinke et al. (2023), Theorem 3.1 and Algorithm 1.
    """
    from scipy.stats import binom  # noqa: PLC0415  It takes long to import.

    q, steps = 1 / (1 + math.exp(-epsilon)), np.arange(1, correct + 1)
    between = binom.pmf(correct - steps, guesses, q).cumsum()  # P(v > W >= v - i), [v]
    most = float((between / steps).max(initial=0.0))
    return min(float(binom.sf(correct - 1, guesses, q)) + 2 * canaries * delta * most, 1.0)


def epsilon_lower_bound(
    correct: int, guesses: int, canaries: int, *, delta: float = 0.0, confidence: float = CONFIDENCE
) -> float:
    """Return the largest epsilon that so many correct guesses refute; 0 if they refute none.

    Args:
        correct: number of correct guesses.
        guesses: number of guesses.
        canaries: number of canaries, each in the training data with probability 1/2.
        delta: of the privacy that is refuted.
        confidence: probability that the bound is below the true epsilon.

    Raises:
        SettingError: numbers that contradict each other.

    Example:
        >>> round(epsilon_lower_bound(100, 100, 100), 2), epsilon_lower_bound(50, 100, 100)
        (3.49, 0.0)
    """
    if not 0 <= correct <= guesses <= canaries:
        raise SettingError(f"{correct} correct of {guesses} guesses about {canaries} canaries: each holds the former")
    low, high, level = 0.0, _MOST_EPSILON, 1 - confidence
    if guess_p_value(correct, guesses, canaries, low, delta) > level:
        return low
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if guess_p_value(correct, guesses, canaries, middle, delta) > level:
            high = middle
        else:
            low = middle
    return low


def audit_epsilon(scores: _Floats, inserted: NDArray[np.bool_], *, delta: float) -> dict[str, Any]:
    """Bound epsilon from below by guessing which canaries were in the training data.

    The highest scores are guessed to be in, as many of the lowest to be out. Some shares of the canaries are guessed;
    each bound has a confidence that makes the best of them one of 95 %.

    Args:
        scores: of all canaries, [M].
        inserted: True for those in the training data, [M].
        delta: of the privacy that is refuted.

    Returns:
        "epsilon", "delta", "confidence", and "guesses" and "correct" of the best share.
    """
    right = inserted[np.argsort(scores, kind="stable")]  # the lowest score first
    bounds = []
    for share in _GUESSED_SHARES:
        half = int(share * len(scores)) // 2
        correct = int((~right[:half]).sum() + right[len(right) - half :].sum())
        level = 1 - (1 - CONFIDENCE) / len(_GUESSED_SHARES)
        bound = epsilon_lower_bound(correct, 2 * half, len(scores), delta=delta, confidence=level)
        bounds.append({"epsilon": bound, "guesses": 2 * half, "correct": correct})
    return {"delta": delta, "confidence": CONFIDENCE, **max(bounds, key=lambda one: one["epsilon"])}

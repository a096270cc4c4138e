"""How well a threshold holds on other notes than those it was chosen on.

The threshold that gives a required sensitivity on the development notes gives it there by construction. On other notes
of the same kind it gives a little more or less by chance; on notes of another kind it may give anything.

- `between_halves` measures the chance: chosen on one half of the notes, applied to the other, many times.
- `sensitivity_interval` says how sure a sensitivity is that was measured on other notes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crfdeid.errors import DataError
from crfdeid.scoring.operating_points import TokenProbabilities, at_threshold, choose_threshold, joined
from crfdeid.scoring.significance import percentile_interval


class Transfer(NamedTuple):
    """What the thresholds for one required sensitivity gave on notes they were not chosen on.

    Attributes:
        required: the sensitivity, a fraction.
        sensitivities: what was reached in each trial, [S].
        false_positives_per_1000: in each trial, [S].
    """

    required: float
    sensitivities: NDArray[np.float64]
    false_positives_per_1000: NDArray[np.float64]

    @property
    def reached(self) -> float:
        """The share of trials with at least the required sensitivity."""
        return float(np.mean(self.sensitivities >= self.required - 1e-9))  # 0.99 * 100 is 99, also in binary


def between_halves(
    notes: Sequence[TokenProbabilities], *, required: Sequence[float], trials: int = 200, seed: int = 0
) -> list[Transfer]:
    """Choose thresholds on a random half of the notes and apply them to the other half.

    Args:
        notes: from `crfdeid.scoring.document_probabilities`, of notes the model was not trained on.
        required: sensitivities above 0, at most 1.
        trials: how many times the notes are halved.
        seed: of the halving.

    Returns:
        One entry per required sensitivity.

    Raises:
        DataError: some half holds no PHI.
    """
    rng = np.random.default_rng(seed)
    found = np.empty((trials, len(required), 2))
    for trial in range(trials):
        order = rng.permutation(len(notes))
        chosen_on, applied_to = (joined([notes[i] for i in half]) for half in np.array_split(order, 2))
        if not (chosen_on[1].any() and applied_to[1].any()):
            raise DataError("a half of the notes holds no PHI: more annotated notes are needed")
        ranked = np.sort(chosen_on[0][chosen_on[1]])
        for row, share in enumerate(required):
            facts = at_threshold(choose_threshold(ranked, share), *applied_to).to_dict()
            found[trial, row] = facts["sensitivity"], facts["false_positives_per_1000"]
    return [Transfer(share, found[:, row, 0], found[:, row, 1]) for row, share in enumerate(required)]


def sensitivity_interval(
    notes: Sequence[TokenProbabilities], threshold: float, *, samples: int = 2000, seed: int = 0, level: float = 0.05
) -> tuple[float, float]:
    """The bootstrap interval of the sensitivity of a threshold that was chosen on other notes; notes are what is drawn.

    Args:
        notes: from `crfdeid.scoring.document_probabilities`. Those without PHI say nothing and are not drawn.
        threshold: tokens with at least this probability of being PHI are hidden.
        samples: how many times as many notes as there are, are drawn with replacement.
        seed: of the draws.
        level: the share left out: 0.05 for a 95 % interval.

    Raises:
        DataError: the notes hold no PHI.

    Example:
        >>> notes = [TokenProbabilities(np.array([0.9, 0.1]), np.array([True, i == 0])) for i in range(20)]
        >>> low, high = sensitivity_interval(notes, 0.5)  # 20 of 21 found
        >>> round(low, 2), high
        (0.87, 1.0)
    """
    counts = [at_threshold(threshold, *note).counts for note in notes]
    table = np.array([(c.tp, c.tp + c.fn) for c in counts if c.tp + c.fn])  # [notes with PHI, 2]
    if not len(table):
        raise DataError("the notes hold no PHI, so sensitivity cannot be measured on them: give annotated notes")
    rng = np.random.default_rng(seed)
    sums = np.array([table[rng.integers(len(table), size=len(table))].sum(axis=0) for _ in range(samples)])
    low, high = percentile_interval(sums[:, 0] / sums[:, 1], level=level)
    return float(low), float(high)

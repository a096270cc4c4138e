"""Counts of hits, false alarms and misses, and the fractions computed from them; nothing is rounded here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

Labels = Iterable[str] | Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of true positives, false positives and false negatives.

    A fraction whose denominator is 0 is 0.0: nothing predicted has precision 0, nothing to find has recall 0.

    Args:
        tp: true positives, items in gold and prediction.
        fp: false positives, items in the prediction only.
        fn: false negatives, items in gold only.

    Example:
        >>> Counts(tp=3, fp=1, fn=2).f1
        0.6666666666666666
    """

    tp: int = 0
    fp: int = 0
    fn: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.tp + other.tp, self.fp + other.fp, self.fn + other.fn)

    @property
    def precision(self) -> float:
        """``tp / (tp + fp)``."""
        return _fraction(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> float:
        """``tp / (tp + fn)``."""
        return _fraction(self.tp, self.tp + self.fn)

    @property
    def f1(self) -> float:
        """``2 tp / (2 tp + fp + fn)``: from the counts, so that no fraction is fed into another."""
        return _fraction(2 * self.tp, 2 * self.tp + self.fp + self.fn)

    def to_dict(self) -> dict[str, float | int]:
        """The three fractions and the three counts, as plain data."""
        return {
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "tp": self.tp,
            "fp": self.fp,
            "fn": self.fn,
        }


class Averages(NamedTuple):
    """Unweighted means over types. ``f1`` is the mean of the types' F, not the F of the mean precision and recall."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class Scores:
    """Counts by type, sorted by the type's name. A type with neither gold nor prediction does not appear."""

    by_type: dict[str, Counts]

    @property
    def micro(self) -> Counts:
        """The counts of all types together: every item weighs the same."""
        return sum(self.by_type.values(), Counts())

    @property
    def macro(self) -> Averages:
        """The mean over types: every type weighs the same. All 0.0 where there is no type."""
        types = self.by_type.values()
        return Averages(
            _fraction(sum(t.precision for t in types), len(types)),
            _fraction(sum(t.recall for t in types), len(types)),
            _fraction(sum(t.f1 for t in types), len(types)),
        )

    def to_dict(self) -> dict[str, Any]:
        """The scores as plain data for a JSON file: keys "micro", "macro", "by_type"; fractions, not per cent."""
        return {
            "micro": self.micro.to_dict(),
            "macro": self.macro._asdict(),
            "by_type": {label: counts.to_dict() for label, counts in self.by_type.items()},
        }


def scores_from_totals(*, matched: Labels, gold: Labels, predicted: Labels) -> Scores:
    """Scores from the labels of the items that were matched, are in gold, and are in the prediction.

    Args:
        matched: the labels, each as often as it occurs, or their numbers by label; ``gold`` and ``predicted`` likewise.

    Example:
        >>> scores_from_totals(matched={"DATE": 2}, gold={"DATE": 3}, predicted=["DATE", "DATE", "ID"]).by_type
        {'DATE': Counts(tp=2, fp=0, fn=1), 'ID': Counts(tp=0, fp=1, fn=0)}
    """
    hits, right, found = Counter(matched), Counter(gold), Counter(predicted)
    return Scores(
        {
            label: Counts(hits[label], found[label] - hits[label], right[label] - hits[label])
            for label in sorted(right.keys() | found.keys())
        }
    )


def _fraction(part: float, whole: int) -> float:
    return part / whole if whole else 0.0

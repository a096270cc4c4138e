"""What would leak: the PHI tokens of each type that nothing hides, and how sure their share is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from crfdeid.documents import Document
from crfdeid.scoring.entities import Predictions
from crfdeid.scoring.tokens import count_token_pairs


@dataclass(frozen=True, slots=True)
class Share:
    """How many of some things there are.

    Args:
        count: of these.
        total: of all.
    """

    count: int
    total: int

    @property
    def fraction(self) -> float:
        """How many of all; 0 where there are none."""
        return self.count / max(self.total, 1)

    def interval(self, level: float = 0.05) -> tuple[float, float]:
        """Wilson's interval for the share, as if each of the things came by chance alone.

        Tokens of one note do not: their true range is wider.

        Args:
            level: the share of cases in which it may miss: 0.05 for a 95 % interval.

        Example:
            >>> low, high = Share(0, 100).interval()
            >>> round(low, 3), round(high, 3)
            (0.0, 0.037)

        Reference:
            Wilson 1927 (JASA), Probable inference, the law of succession, and statistical inference.
        """
        from scipy.stats import binomtest  # noqa: PLC0415  It takes long to import.

        if not self.total:
            return 0.0, 1.0
        found = binomtest(self.count, self.total).proportion_ci(1 - level, method="wilson")
        return float(found.low), float(found.high)

    def to_dict(self) -> dict[str, Any]:
        """As plain data: "count", "total", and the ends of the 95 % interval, "low" and "high", fractions."""
        low, high = self.interval()
        return {"count": self.count, "total": self.total, "low": low, "high": high}


def leaks_by_type(gold: Sequence[Document], predictions: Predictions) -> dict[str, Share]:
    """The share of each type's tokens that no predicted span of any type touches; by gold's types, sorted.

    A doctor who is taken for a patient is hidden all the same, and so does not leak.

    Raises:
        DataError: as for `crfdeid.scoring.score_entities`.

    Example:
        >>> from crfdeid.documents import Span
        >>> note = Document("1", "Ann saw Dr. Doe", (Span(0, 3, "PATIENT"), Span(12, 15, "DOCTOR")))
        >>> leaks_by_type([note], {"1": [Span(0, 3, "DOCTOR")]})
        {'DOCTOR': Share(count=1, total=1), 'PATIENT': Share(count=0, total=1)}
    """
    missed: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for (right, found), count in count_token_pairs(gold, predictions).items():
        if right:
            total[right] += count
            missed[right] += 0 if found else count
    return {label: Share(missed[label], total[label]) for label in sorted(total)}

"""Agreement of two annotators of the same notes: F of one against the other, and Cohen's kappa."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from crfdeid.documents import Document
from crfdeid.evaluation.entities import Predictions, Scores, score_entities
from crfdeid.evaluation.significance import bootstrap_f1, document_counts, percentile_interval
from crfdeid.evaluation.tokens import TokenPairs, binary_pairs, count_token_pairs


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of two annotators.

    Args:
        strict: the second's entities against the first's: type and both boundaries. F is the same the other way round,
            precision and recall change places.
        relaxed: type and overlap.
        f1_interval: the 95 % interval of strict micro F, notes being drawn.
        kappa: Cohen's, over the types of tokens; None where neither marked anything.
        kappa_phi: the same over PHI or not.
        notes: number of notes that both annotated.
        notes_alike: in how many of them every entity is the same.
    """

    strict: Scores
    relaxed: Scores
    f1_interval: tuple[float, float]
    kappa: float | None
    kappa_phi: float | None
    notes: int
    notes_alike: int

    def to_dict(self) -> dict[str, Any]:
        """As plain data; fractions, not per cent."""
        return {
            "f1": self.strict.micro.f1,
            "f1_interval": list(self.f1_interval),
            "f1_relaxed": self.relaxed.micro.f1,
            "kappa": self.kappa,
            "kappa_phi": self.kappa_phi,
            "notes": self.notes,
            "notes_alike": self.notes_alike,
            "by_type": {label: counts.to_dict() for label, counts in self.strict.by_type.items()},
        }


def agreement(first: Sequence[Document], second: Predictions) -> Agreement:
    """Measure the agreement of two annotators of the same notes.

    Args:
        first: the notes with the first annotator's spans.
        second: for each of them, by id, the second annotator's spans.

    Reference:
        Hripcsak and Rothschild 2005 (JAMIA), Agreement, the F-measure, and reliability in information retrieval: kappa
        of entities converges to F, because the number of stretches that neither annotator marked is unbounded.
    """
    strict = score_entities(first, second)
    counts = document_counts(first, second, [])[:, 0]  # [N, 3]
    low, high = percentile_interval(bootstrap_f1(counts))
    tokens = count_token_pairs(first, second)
    return Agreement(
        strict,
        score_entities(first, second, match="relaxed"),
        (float(low), float(high)),
        cohens_kappa(tokens),
        cohens_kappa(binary_pairs(tokens)),
        len(first),
        int((counts[:, 1:].sum(axis=1) == 0).sum()),
    )


def cohens_kappa(pairs: TokenPairs) -> float | None:
    """Cohen's kappa: agreement of two annotators beyond that expected by chance.

    ``(p_o - p_e) / (1 - p_e)``, where p_o is the share of tokens of the same type, and p_e the sum over types of the
    product of the annotators' shares.

    Args:
        pairs: number of tokens of each pair of types; "" for no type.

    Returns:
        At most 1; None if both gave all tokens the same type, where kappa is undefined.

    Example:
        >>> cohens_kappa({("DATE", "DATE"): 20, ("DATE", ""): 5, ("", "DATE"): 10, ("", ""): 15})
        0.4

    Reference:
        Cohen 1960 (Educational and Psychological Measurement), A coefficient of agreement for nominal scales.
    """
    total = sum(pairs.values())
    sides: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for (first, second), count in pairs.items():
        sides[0][first] += count
        sides[1][second] += count
    # In whole numbers: only the last step rounds.
    same = sum(count for (first, second), count in pairs.items() if first == second) * total
    chance = sum(count * sides[1][label] for label, count in sides[0].items())
    return None if total * total == chance else (same - chance) / (total * total - chance)

"""Scores of a model in the test documents of a corpus: tokens, by category or as PHI, with intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crfdeid import label_schemes
from crfdeid.documents import Document, tokens_of
from crfdeid.evaluation import Counts, Predictions, bootstrap_f1, percentile_interval, token_scores
from crfdeid.evaluation.tokens import MissedToken, missed_tokens, token_types
from experiments.running.transfer.systems import BINARY, CATEGORIES, NAME

Pairs = Counter[tuple[str, str]]


class Tested(NamedTuple):
    """Counts of a model's runs in some documents.

    Attributes:
        by_document: for each document, number of tokens of each pair of gold and predicted type, over all runs.
        tokens: number of tokens, over one run.
        missed: unmarked tokens of PHI, over all runs.
        adjacent_found: of these, tokens directly before or after a marked token of PHI.
    """

    by_document: Sequence[Pairs]
    tokens: int
    missed: int
    adjacent_found: int

    def pairs(self) -> Pairs:
        """Counts over all documents."""
        return sum(self.by_document, Pairs())


class GoldTokens:
    """Test documents of a corpus, tokenised once for all models.

    Args:
        documents: with their gold spans.
    """

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = []
        for document in documents:
            tokens = tokens_of(document)
            self._documents.append((document.id, tokens, token_types(tokens, document.spans)))

    def tested(self, runs: Sequence[Predictions]) -> Tested:
        """Counts of several runs of one model."""
        by_document: list[Pairs] = []
        missed: list[MissedToken] = []
        for name, tokens, gold in self._documents:
            by_document.append(Pairs())
            for run in runs:
                found = token_types(tokens, run[name])
                by_document[-1].update(zip(gold, found, strict=True))
                missed += missed_tokens(gold, found)
        adjacent = sum(token.adjacent_found for token in missed)
        return Tested(by_document, sum(len(gold) for *_, gold in self._documents), len(missed), adjacent)


def counts_of(pairs: Mapping[tuple[str, str], int], types: str) -> Counts:
    """True positives, false positives and false negatives among tokens.

    Args:
        pairs: gold and predicted type -> tokens.
        types: the compared types, one of `experiments.running.transfer.systems.COMPARED_TYPES`.
    """
    if types == BINARY:
        return token_scores(pairs, binary=True).micro
    scores = token_scores(pairs)
    return scores.by_type.get(label_schemes.NAME, Counts()) if types == NAME else scores.micro


def measured(tested: Tested, types: str, *, samples: int, level: float = 0.05) -> dict[str, float]:
    """A cell of Table 4: precision (PPV), recall (sensitivity) and F, with intervals by drawing documents.

    Args:
        tested: counts.
        types: the compared types.
        samples: corpora drawn.
        level: 1 minus the probability that an interval holds.

    Returns:
        "precision", "recall", "f1"; "low" and "high", the ends of F's interval; "precision_low" and so on.
    """
    counts = [counts_of(pairs, types) for pairs in tested.by_document]
    whole = sum(counts, Counts())
    found = {"precision": whole.precision, "recall": whole.recall, "f1": whole.f1}
    lows, highs = percentile_interval(bootstrap_f1(_as_f1(counts), samples=samples), level=level)
    for column, name in enumerate(("", "precision_", "recall_")):
        found |= {f"{name}low": lows[column].item(), f"{name}high": highs[column].item()}
    return found


def _as_f1(counts: Sequence[Counts]) -> NDArray[np.int64]:
    """Counts whose F is the F, the precision and the recall of each document: [N, 3, 3].

    F is 2 tp / (2 tp + fp + fn): precision where as many are missed as are wrong, recall the other way round.
    """
    rows = [((c.tp, c.fp, c.fn), (c.tp, c.fp, c.fp), (c.tp, c.fn, c.fn)) for c in counts]
    return np.array(rows, np.int64)


def scores_of(tested: Tested) -> dict[str, Any]:
    """Tables 2 and 3, and section 4.2: scores of tokens by category and as PHI, and counts of missed tokens."""
    pairs = tested.pairs()
    by_category = token_scores(pairs)
    return {
        "tokens": tested.tokens,
        "multi_class": counts_of(pairs, CATEGORIES).to_dict(),
        "binary": counts_of(pairs, BINARY).to_dict(),
        "by_category": {label: counts.to_dict() for label, counts in by_category.by_type.items()},
        "missed": {"tokens": tested.missed, "adjacent_found": tested.adjacent_found},
    }

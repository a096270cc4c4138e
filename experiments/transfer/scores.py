"""Scores of a system in the test documents of a corpus: tokens, by category or as PHI, with intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from crfdeid import label_schemes
from crfdeid.documents import Document, tokens_of
from crfdeid.evaluation import (
    Counts,
    Predictions,
    bootstrap_f1,
    count_token_pairs,
    percentile_interval,
    token_scores,
)
from crfdeid.evaluation.tokens import missed_tokens, token_types
from experiments.transfer.options import BINARY, NAME

LEVEL = 0.05
"""1 minus the probability that an interval holds."""

Pairs = Counter[tuple[str, str]]


def pairs_by_document(gold: Sequence[Document], runs: Sequence[Predictions]) -> list[Pairs]:
    """For each document, the number of tokens of each pair of gold and predicted type, over all runs."""
    return [
        sum((count_token_pairs([document], {document.id: run[document.id]}) for run in runs), Pairs())
        for document in gold
    ]


def missed_in(gold: Sequence[Document], found: Predictions) -> dict[str, int]:
    """Section 4.2: unmarked tokens of PHI, and those of them directly before or after a marked token of PHI."""
    missed = []
    for document in gold:
        tokens = tokens_of(document)
        missed += missed_tokens(token_types(tokens, document.spans), token_types(tokens, found[document.id]))
    return {"tokens": len(missed), "adjacent_found": sum(token.adjacent_found for token in missed)}


def counts_of(pairs: Mapping[tuple[str, str], int], types: str) -> Counts:
    """True positives, false positives and false negatives among tokens.

    Args:
        pairs: gold and predicted type -> tokens.
        types: the compared types, one of `experiments.transfer.options.COMPARED_TYPES`.
    """
    if types == BINARY:
        return token_scores(pairs, binary=True).micro
    scores = token_scores(pairs)
    return scores.by_type.get(label_schemes.NAME, Counts()) if types == NAME else scores.micro


def measured(tested: Sequence[Pairs], types: str, *, samples: int) -> dict[str, float]:
    """A cell of Table 4: precision (PPV), recall (sensitivity) and F, with intervals by drawing documents.

    Args:
        tested: from `pairs_by_document`.
        types: the compared types.
        samples: corpora drawn.

    Returns:
        "precision", "recall", "f1"; "low" and "high", the ends of F's interval; "precision_low" and so on.
    """
    counts = [counts_of(pairs, types) for pairs in tested]
    whole = sum(counts, Counts())
    found = {"precision": whole.precision, "recall": whole.recall, "f1": whole.f1}
    lows, highs = percentile_interval(bootstrap_f1(_as_f1(counts), samples=samples), level=LEVEL)
    for column, name in enumerate(("", "precision_", "recall_")):
        found |= {f"{name}low": lows[column].item(), f"{name}high": highs[column].item()}
    return found


def _as_f1(counts: Sequence[Counts]) -> NDArray[np.int64]:
    """Counts whose F is the F, the precision and the recall of each document: [N, 3, 3].

    F is 2 tp / (2 tp + fp + fn): precision where as many are missed as are wrong, recall the other way round.
    """
    rows = [((c.tp, c.fp, c.fn), (c.tp, c.fp, c.fp), (c.tp, c.fn, c.fn)) for c in counts]
    return np.array(rows, np.int64)

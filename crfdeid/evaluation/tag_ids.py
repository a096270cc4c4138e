"""Entity counts of tag ids in arrays, for a score after every epoch of training."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crfdeid.bio import continues
from crfdeid.evaluation.counts import Scores, scores_from_totals


def count_tag_ids(tags: Sequence[str], gold: np.ndarray, predicted: np.ndarray, first: np.ndarray) -> Scores:
    """Score a prediction as `crfdeid.evaluation.count_tags` does, without a loop over tokens.

    The sentences are concatenated, P tokens in all.

    Args:
        tags: tag of each id.
        gold: ids of the gold tags, [P].
        predicted: ids of the predicted tags, [P].
        first: True at the first token of a sentence, [P].

    Example:
        >>> gold, predicted, first = np.array([0, 1, 2]), np.array([0, 2, 2]), np.array([1, 0, 0], bool)
        >>> count_tag_ids(["B-ID", "I-ID", "O"], gold, predicted, first).micro
        Counts(tp=0, fp=1, fn=1)
    """
    types = sorted({tag[2:] for tag in tags if tag[:2] in ("B-", "I-") and tag[2:]})
    number = {label: k for k, label in enumerate(types, start=1)}
    labels = np.array([number.get(tag[2:], 0) if tag[:2] in ("B-", "I-") else 0 for tag in tags])
    continuing = np.array([[continues(tag, before) for tag in tags] for before in tags], bool)
    start, end, label = _entities(gold, labels, continuing, first)
    ends_at, label_at = np.full(gold.size, -1), np.zeros(gold.size, labels.dtype)
    ends_at[start], label_at[start] = end, label
    in_gold = np.bincount(label, minlength=len(types) + 1)
    start, end, label = _entities(predicted, labels, continuing, first)
    hit = (ends_at[start] == end) & (label_at[start] == label)

    def by_type(counts: np.ndarray) -> dict[str, int]:
        return {name: int(n) for name, n in zip(types, counts[1:], strict=True) if n}

    found, matched = (np.bincount(some, minlength=len(in_gold)) for some in (label, label[hit]))
    return scores_from_totals(matched=by_type(matched), gold=by_type(in_gold), predicted=by_type(found))


def _entities(
    ids: np.ndarray, labels: np.ndarray, continuing: np.ndarray, first: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Entities of tag ids [P] in order: their first and last tokens, and label numbers.

    An I-X that does not continue an X begins an entity, as `crfdeid.bio` reads it by default.
    """
    label = labels[ids]
    marked = label > 0
    follows = np.zeros_like(marked)  # continues the entity of the previous token
    follows[1:] = continuing[ids[:-1], ids[1:]] & ~first[1:]
    leads = np.zeros_like(marked)
    leads[:-1] = follows[1:]
    start = np.flatnonzero(marked & ~follows)
    return start, np.flatnonzero(marked & ~leads), label[start]

"""Spans from probabilities: everything that is PHI with at least the probability of a threshold.

How thresholds are chosen, on annotated notes, is in `crfdeid.scoring.operating_points`; using one needs no scores.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crfdeid.bio import OUTSIDE
from crfdeid.documents import Span
from crfdeid.label_schemes import BINARY
from crfdeid.spans import in_characters, merge
from features.tokens import Sentence


def phi_probabilities(table: np.ndarray, tags: Sequence[str]) -> np.ndarray:
    """The probability that each token is PHI, 1 - P(O): [T].

    It is summed over the other tags, which keeps the digits of small probabilities.

    Args:
        table: the tokens' marginals, [T, K].
        tags: the tags of the columns.
    """
    columns = [k for k, tag in enumerate(tags) if tag != OUTSIDE]
    found: np.ndarray = table[:, columns].sum(axis=1, dtype=float)
    return found


def phi_spans(sentence: Sentence, table: np.ndarray, tags: Sequence[str], threshold: float) -> list[Span]:
    """The spans of all tokens with at least a probability of being PHI.

    Each such token has the type with the largest probability, B and I together. Where that of O is at least as large,
    the token is hidden by the threshold alone: its type is `BINARY` ("PHI"), for the model gives it
    none. A run of neighbours of one type is one span, but for a token that is more probably the beginning of an entity
    than the inside of one: it begins another.

    Args:
        sentence: the T tokens.
        table: their marginals, [T, K].
        tags: the tags of the columns.
        threshold: a probability.

    Example:
        >>> table = np.array([[0.9, 0.1, 0.0], [0.3, 0.6, 0.1], [0.6, 0.1, 0.3]])
        >>> phi_spans(Sentence.from_words(["by", "Dr", "Doe"]), table, ("O", "B-DOCTOR", "I-DOCTOR"), 0.25)
        [Span(start=3, end=5, label='DOCTOR'), Span(start=6, end=9, label='PHI')]
    """
    labels = sorted({tag[2:] for tag in tags if tag != OUTSIDE})
    if not labels:
        return []
    begin, inside = (_columns(table, tags, prefix, labels) for prefix in ("B-", "I-"))  # [T, L] each
    typed = begin + inside
    best = typed.argmax(axis=1)  # [T]
    named = typed.max(axis=1) > _outside(table, tags)  # [T]

    def goes_on(whole: Span, span: Span) -> bool:
        place = span.start, best[span.start]
        begins = bool(named[span.start]) and bool(begin[place] > inside[place])
        return whole.end == span.start and whole.label == span.label and not begins

    hidden = np.flatnonzero(phi_probabilities(table, tags) >= threshold).tolist()
    single = (Span(i, i + 1, labels[best[i]] if named[i] else BINARY) for i in hidden)
    return in_characters(sentence.tokens, merge(single, joins=goes_on))


def _outside(table: np.ndarray, tags: Sequence[str]) -> np.ndarray:
    """The probability of O, 0 in a model that has no such tag: [T]."""
    return table[:, list(tags).index(OUTSIDE)] if OUTSIDE in tags else np.zeros(len(table))


def _columns(table: np.ndarray, tags: Sequence[str], prefix: str, labels: Sequence[str]) -> np.ndarray:
    """The column of each label's B or I tag, zeros where there is none: [T, L]."""
    place = {tag: k for k, tag in enumerate(tags)}
    zeros = np.zeros(len(table))
    return np.stack([table[:, place[prefix + name]] if prefix + name in place else zeros for name in labels], axis=1)

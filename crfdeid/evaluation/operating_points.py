"""Operating points: thresholds for a required sensitivity to PHI, and their precision.

A model gives each token a probability of being PHI, 1 - P(O). Hiding every token with at least the probability of a
threshold finds a share of the PHI tokens (sensitivity) and hides others too (false positives). The threshold for a
required sensitivity is the highest one that reaches it, which has the fewest false positives of all that do. (The
caption of johnson2020, Table 5, says "lowest"; the lowest of all hides everything.)

Reference:
    johnson2020, section 4.1 and Table 5.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crfdeid.bio import OUTSIDE, phi_probabilities, type_probabilities
from crfdeid.documents import Document, positions_in, tokens_of
from crfdeid.errors import DataError, UsageError
from crfdeid.evaluation.entities import Counts
from crfdeid.tagger import Tagger
from features.tokens import Sentence

_MOST_PROBABLE, _LEAST_PROBABLE = 0.5, 0.01  # thresholds by type
_ROUNDING = 1e-9  # 0.99 * 100 is 99, also in binary


class OperatingPoint(NamedTuple):
    """A threshold and its counts on some notes.

    Attributes:
        required: the required sensitivity, a fraction; None without one.
        threshold: tokens with at least this probability of being PHI are hidden; None for the most probable tags.
        counts: PHI tokens found and missed, and other tokens hidden.
        tokens: all tokens.
    """

    required: float | None
    threshold: float | None
    counts: Counts
    tokens: int

    def to_dict(self) -> dict[str, float | int | None]:
        """As plain data: sensitivity (recall), PPV (precision) and F1 as fractions; FN and FP in 1,000 tokens.

        ``missed`` of ``phi_tokens`` PHI tokens are below the threshold; a small number makes it uncertain.
        """
        counts, tokens = self.counts, max(self.tokens, 1)
        return {
            "required": self.required,
            "threshold": self.threshold,
            "sensitivity": counts.recall,
            "ppv": counts.precision,
            "f1": counts.f1,
            "false_negatives_per_1000": 1000 * counts.fn / tokens,
            "false_positives_per_1000": 1000 * counts.fp / tokens,
            "tokens": self.tokens,
            "phi_tokens": counts.tp + counts.fn,
            "missed": counts.fn,
        }


def operating_points(
    probabilities: np.ndarray, is_phi: np.ndarray, *, required: Sequence[float]
) -> list[OperatingPoint]:
    """The threshold for each required sensitivity (`_choose_threshold`), and its counts.

    Args:
        probabilities: of being PHI, for each token: [N].
        is_phi: true for tokens of PHI: [N], bool.
        required: sensitivities above 0, at most 1.

    Raises:
        DataError: no token is PHI, so that no threshold can be chosen.
        UsageError: a sensitivity out of range.

    Example:
        >>> is_phi = np.array([True, True, False, False])
        >>> (point,) = operating_points(np.array([0.9, 0.2, 0.6, 0.1]), is_phi, required=[1.0])
        >>> point.threshold, point.counts
        (0.2, Counts(tp=2, fp=1, fn=0))
    """
    ranked = np.sort(probabilities[is_phi])
    thresholds = [_choose_threshold(ranked, share) for share in required]
    points = (at_threshold(threshold, probabilities, is_phi) for threshold in thresholds)
    return [point._replace(required=share) for point, share in zip(points, required, strict=True)]


def _choose_threshold(ranked: np.ndarray, required: float) -> float:
    """The highest threshold that finds a required share of the PHI.

    Of M PHI tokens at least ``ceil(required M)`` must be found: the threshold is the probability of the one at that
    place, counted from the most probable. Tokens of equal probability are hidden together. A PHI token that the model
    gives no probability at all is found only by the threshold 0, which hides everything.

    Args:
        ranked: the probabilities of the PHI tokens, ascending: [M].
        required: a sensitivity above 0, at most 1.

    Raises:
        DataError: there is no PHI token.
        UsageError: a sensitivity that is none.
    """
    if not 0 < required <= 1:
        raise UsageError(f"a required sensitivity of {required}: give a fraction above 0, at most 1")
    if not len(ranked):
        raise DataError("the notes hold no PHI, so no threshold can be chosen on them: give annotated notes")
    return float(ranked[-max(math.ceil(required * len(ranked) - _ROUNDING), 1)])


class ThresholdCosts(NamedTuple):
    """Costs of several thresholds on some notes, as plain data.

    Attributes:
        tokens: number of all tokens.
        phi_tokens: number of PHI tokens.
        missed: PHI tokens below each threshold.
        false_positives: other tokens at or above each threshold.
    """

    tokens: int
    phi_tokens: int
    missed: list[int]
    false_positives: list[int]

    @classmethod
    def of(cls, thresholds: Sequence[float], probabilities: np.ndarray, is_phi: np.ndarray) -> ThresholdCosts:
        """Count the costs of thresholds.

        Args:
            thresholds: tokens with at least this probability are hidden.
            probabilities: of being PHI, for each token: [N].
            is_phi: true for tokens of PHI: [N], bool.
        """
        phi, others = np.sort(probabilities[is_phi]), np.sort(probabilities[~is_phi])
        missed, found = (ranked.searchsorted(thresholds).tolist() for ranked in (phi, others))
        return cls(len(is_phi), len(phi), missed, [len(others) - below for below in found])

    def point(self, index: int, threshold: float, required: float | None = None) -> OperatingPoint:
        """Return the operating point of one of the thresholds."""
        counts = Counts(self.phi_tokens - self.missed[index], self.false_positives[index], self.missed[index])
        return OperatingPoint(required, threshold, counts, self.tokens)


def threshold_curve(
    probabilities: np.ndarray, is_phi: np.ndarray, *, highest: float = 1.0, points: int = 300
) -> list[float]:
    """Return the thresholds at which the number of found PHI tokens changes, from the highest to the lowest.

    The lowest finds all. If there are more thresholds than points, they are thinned evenly in the logarithm of the
    number of missed tokens, so that those that matter for high sensitivities stay.

    Args:
        probabilities: of being PHI, for each token: [N].
        is_phi: true for tokens of PHI: [N], bool.
        highest: the first threshold.
        points: the most thresholds.

    Example:
        >>> threshold_curve(np.array([0.9, 0.2, 0.6, 0.1]), np.array([True, True, False, True]), highest=0.5)
        [0.5, 0.2, 0.1]
    """
    below = np.unique(probabilities[is_phi & (probabilities < highest)])  # ascending
    if len(below) >= points:
        below = below[np.unique(np.geomspace(1, len(below), points - 1).round().astype(int)) - 1]
    return [highest, *below[::-1].tolist()]


def type_thresholds(
    tables: Sequence[np.ndarray], tags: Sequence[str], gold: Sequence[Sequence[str]], *, miss_cost: float
) -> dict[str, float]:
    """Return for each type the threshold below 0.5 with the lowest cost; types for which none pays are left out.

    A token counts for the type with its largest probability, B and I together, whatever its gold type. One number for
    all types would be wrong for most: a model is surer of types with many examples.

    Args:
        tables: marginals of each sentence, [T, K].
        tags: the tags of the columns.
        gold: the right tags of each sentence.
        miss_cost: wrongly marked tokens that a missed token of PHI is worth.

    Example:
        >>> table = np.array([[0.7, 0.3], [0.8, 0.2], [0.9, 0.1]])
        >>> type_thresholds([table], ["O", "B-DATE"], [["B-DATE", "O", "O"]], miss_cost=1.0)
        {'DATE': 0.3}
    """
    table = np.concatenate(tables)
    labels, begin, inside = type_probabilities(table, tags)
    if not labels:
        return {}
    probabilities = phi_probabilities(table, tags)
    best = (begin + inside).argmax(axis=1)
    is_phi = np.array([tag != OUTSIDE for row in gold for tag in row])
    found = {}
    for number, label in enumerate(labels):
        own = np.flatnonzero((best == number) & (probabilities < _MOST_PROBABLE) & (probabilities >= _LEAST_PROBABLE))
        own = own[np.argsort(-probabilities[own], kind="stable")]
        gains = np.where(is_phi[own], miss_cost, -1.0).cumsum()  # of marking the tokens down to each
        if len(own) and gains.max() > 0:
            found[label] = float(probabilities[own[gains.argmax()]])
    return found


def at_threshold(threshold: float, probabilities: np.ndarray, is_phi: np.ndarray) -> OperatingPoint:
    """Apply a threshold, for instance one that was chosen on other notes.

    Args:
        threshold: tokens with at least this probability are hidden.
        probabilities: of being PHI, for each token: [N].
        is_phi: true for tokens of PHI: [N], bool.
    """
    return OperatingPoint(None, threshold, _counts(probabilities >= threshold, is_phi), len(is_phi))


def _counts(hidden: np.ndarray, is_phi: np.ndarray) -> Counts:
    tp = int((hidden & is_phi).sum())
    return Counts(tp, int(hidden.sum()) - tp, int(is_phi.sum()) - tp)


class TokenProbabilities(NamedTuple):
    """The tokens of one document, by place.

    Attributes:
        probabilities: of being PHI, [N].
        is_phi: true for tokens of gold PHI, [N] bool.
    """

    probabilities: np.ndarray
    is_phi: np.ndarray


def phi_by_sentence(
    tagger: Tagger, documents: Sequence[Document]
) -> Iterator[list[tuple[Sentence, NDArray[np.float64]]]]:
    """For each document its sentences, each with the probability of being PHI of its tokens, [T]."""
    groups = [document.sentences() for document in documents]
    tables = iter(tagger.marginals([sentence for group in groups for sentence in group]))
    return ([(sentence, phi_probabilities(next(tables), tagger.tags)) for sentence in group] for group in groups)


def document_probabilities(tagger: Tagger, documents: Sequence[Document]) -> list[TokenProbabilities]:
    """The probability of being PHI, and whether it is, for each token of each annotated document.

    A token is PHI where it shares a character with a gold span, also with one that no tags can express.
    """
    found = zip(documents, phi_by_sentence(tagger, documents), strict=True)
    return [TokenProbabilities(_by_token(sentences), phi_tokens(document)) for document, sentences in found]


def token_probabilities(tagger: Tagger, documents: Sequence[Document]) -> tuple[np.ndarray, np.ndarray]:
    """`document_probabilities` of all documents together.

    Returns:
        Probabilities, [N], and gold, [N] bool, over all tokens of all documents.
    """
    return concatenate_notes(document_probabilities(tagger, documents))


def concatenate_notes(notes: Sequence[TokenProbabilities]) -> tuple[np.ndarray, np.ndarray]:
    """The tokens of several documents together: probabilities, [N], and gold, [N] bool."""
    probabilities = np.concatenate([np.empty(0), *(note.probabilities for note in notes)])
    return probabilities, np.concatenate([np.empty(0, bool), *(note.is_phi for note in notes)])


def _by_token(values: Sequence[tuple[Sentence, np.ndarray]]) -> np.ndarray:
    """Values of the tokens, sentence by sentence, in the order of `tokens_of`: [N]."""
    starts = [token.start for sentence, _ in values for token in sentence.tokens]
    joined = np.concatenate([np.empty(0), *(part for _, part in values)])
    return joined[np.argsort(np.array(starts, int), kind="stable")]


def phi_tokens(document: Document) -> np.ndarray:
    """Mask of the tokens that share a character with a gold span: [N], bool."""
    tokens = tokens_of(document)
    is_phi = np.zeros(len(tokens), bool)
    for span in document.spans:
        positions = positions_in(tokens, span)
        is_phi[positions.start : positions.stop] = True
    return is_phi

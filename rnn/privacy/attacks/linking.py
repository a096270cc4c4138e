"""Linking: recognition of published vectors of the same name by their cosine (friedrich2019, section 9).

Sentences are shuffled before they are shared. If the vectors of a name are more similar to each other than to those of
other names of its type, sentences can be joined to notes again. Types are published, so names are compared within a
type, after each dimension of their vectors was standardised: the cosine of the raw vectors makes a weaker attack.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from crfdeid.documents import LabelledSentence
from rnn.privacy.attacks.encoders import SentenceEncoder
from rnn.privacy.attacks.targets import Target, names_of

_TINY = 1e-9  # lower bound of deviations and lengths, which may be 0
_DIGITS = 6  # of a cosine, so that rounding does not separate equal vectors


@dataclass(frozen=True, slots=True)
class Linking:
    """Result of the attack.

    Args:
        auc: area under the ROC curve: the probability that a pair of the same name has a greater cosine than a pair of
            two names of one type, where equal ones count a half. Chance is 0.5. None without pairs of both kinds.
        same: number of pairs of the same name.
        other: number of pairs of two names of one type.
    """

    auc: float | None
    same: int
    other: int

    @classmethod
    def of(cls, cosines: npt.NDArray[np.float64], same: npt.NDArray[np.bool_]) -> Self:
        """Compute the result from every pair's cosine, and whether it is of the same name."""
        return cls(area_under_curve(cosines, same), int(same.sum()), int((~same).sum()))


def link(
    encoder: SentenceEncoder,
    sentences: Sequence[LabelledSentence],
    *,
    seed: int,
    names: int = 2000,
    each: int = 5,
) -> Linking:
    """Attack names by linking: score every pair of names of one type from two sentences by the cosine of their vectors.

    Args:
        encoder: the attacked encoder; the sentences are encoded once, with noise.
        sentences: annotated sentences.
        seed: seed of all random numbers.
        names: largest number of names.
        each: largest number of occurrences of one word, so that frequent names do not dominate.
    """
    random = np.random.default_rng(seed)
    targets = _some(names_of(sentences), names, each, random)
    wanted = sorted({target.number for target in targets})
    encoded = dict(zip(wanted, encoder.encode([sentences[i].sentence for i in wanted], random), strict=True))
    by_label: dict[str, list[Target]] = {}
    for target in targets:
        by_label.setdefault(target.label, []).append(target)
    cosines, same = [np.zeros(0)], [np.zeros(0, bool)]
    for members in by_label.values():
        pairs = _Pairs.of(members, np.stack([encoded[target.number][target.place] for target in members]))
        cosines.append(pairs.cosines)
        same.append(pairs.same)
    return Linking.of(np.concatenate(cosines), np.concatenate(same))


def area_under_curve(scores: npt.NDArray[np.float64], positive: npt.NDArray[np.bool_]) -> float | None:
    """Area under the ROC curve; equal scores count a half.

    Args:
        scores: score of each item.
        positive: True for positive items.

    Returns:
        The area; None without items of both kinds.

    Example:
        >>> area_under_curve(np.array([0.9, 0.5, 0.5, 0.1]), np.array([True, True, False, False]))
        0.875
    """
    from scipy.stats import rankdata  # noqa: PLC0415  It takes long to import.

    found, others = int(positive.sum()), int((~positive).sum())
    if not found or not others:
        return None
    ranks = rankdata(scores)[positive].sum() - found * (found + 1) / 2  # Mann and Whitney's U
    return float(ranks / (found * others))


class _Pairs(NamedTuple):
    """Pairs of names of one type from two sentences: cosines, and True for pairs of the same name."""

    cosines: npt.NDArray[np.float64]
    same: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, targets: Sequence[Target], vectors: np.ndarray) -> Self:
        """Make every pair."""
        standard = _standardised(vectors.astype(np.float64))
        directions = standard / np.maximum(np.linalg.norm(standard, axis=1, keepdims=True), _TINY)
        first, second = np.triu_indices(len(targets), 1)
        numbers = np.array([target.number for target in targets])
        words = np.unique([target.word for target in targets], return_inverse=True)[1]
        apart = numbers[first] != numbers[second]
        first, second = first[apart], second[apart]
        cosines = (directions @ directions.T)[first, second].round(_DIGITS)
        return cls(cosines, words[first] == words[second])


def _standardised(vectors: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return (vectors - vectors.mean(axis=0)) / np.maximum(vectors.std(axis=0), _TINY)


def _some(targets: Sequence[Target], names: int, each: int, random: np.random.Generator) -> list[Target]:
    """Choose at most ``names`` targets, at most ``each`` of one word."""
    seen: Counter[str] = Counter()
    some = []
    for i in random.permutation(len(targets)).tolist():
        seen[targets[i].word] += 1
        if seen[targets[i].word] <= each:
            some.append(targets[i])
    return some[:names]

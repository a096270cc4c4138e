"""Linking: whether two published vectors of one name find each other (friedrich2019, section 9).

Sentences are shuffled before they are shared. Where the vectors of a name are more like each other than like those of
other names of its type, sentences can be pieced together to notes again. Types are published, so the names of a type
are compared among themselves, after each dimension of their vectors was given the mean 0 and the deviation 1: the
cosine of the vectors as they are makes a weaker attack.
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

_TINY = 1e-9  # no deviation and no length is smaller: both may be 0
_DIGITS = 6  # of a cosine: equal vectors stay equal although they are rounded


@dataclass(frozen=True, slots=True)
class Linking:
    """What came of the attack.

    Args:
        auc: how often, of a pair of the same name and one of two names of one type, the former's vectors have the
            greater cosine; equal ones count a half. Chance is 0.5. None where there is no pair of either kind.
        same: pairs of the same name.
        other: pairs of two names of one type.
    """

    auc: float | None
    same: int
    other: int

    @classmethod
    def of(cls, cosines: npt.NDArray[np.float64], same: npt.NDArray[np.bool_]) -> Self:
        """Of every pair's cosine, and which pairs are one name."""
        return cls(area_under_curve(cosines, same), int(same.sum()), int((~same).sum()))


def link(
    encoder: SentenceEncoder,
    sentences: Sequence[LabelledSentence],
    *,
    seed: int,
    names: int = 2000,
    each: int = 5,
) -> Linking:
    """Attack names by linking: every pair of names of one type from two sentences, by the cosine of their vectors.

    Args:
        encoder: what the sentences are published with, once, with noise.
        sentences: annotated sentences.
        seed: of all that is drawn.
        names: names that are looked at, at most.
        each: of these the most that are one word, so that frequent ones do not outweigh the others.
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
    """How often a positive one of two things has the higher score; equal scores count a half.

    Args:
        scores: of each thing.
        positive: which things are positive, bool.

    Returns:
        None where all are positive, or none is.

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
    """Pairs of names of one type from two sentences: the cosine of their vectors, and whether they are one name."""

    cosines: npt.NDArray[np.float64]
    same: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, targets: Sequence[Target], vectors: np.ndarray) -> Self:
        """Every pair of these."""
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
    """At most ``names`` of them, and ``each`` of one word."""
    seen: Counter[str] = Counter()
    some = []
    for i in random.permutation(len(targets)).tolist():
        seen[targets[i].word] += 1
        if seen[targets[i].word] <= each:
            some.append(targets[i])
    return some[:names]

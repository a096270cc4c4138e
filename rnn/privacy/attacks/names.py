"""Attacks on names in shared vectors: inversion by averaging, and linking.

Averaging finds the name of a published vector by trying candidates. The attacker has the frozen encoder, substitutes
each candidate for the name, encodes the sentence many times, and chooses the candidate whose mean is nearest to the
published vectors. The remaining words are assumed to be known, the worst case. The distance covers the vectors of the
name and of the tokens around it, since a recurrent encoder spreads a word: the sum of ((mean - published) /
deviation)^2, with the standard deviation of the noise in each dimension, which the attacker can measure. On
representations with trained noise, a distance with all covariances of the noise was no better. Encoding without noise
is about as good as the mean of 256 samples.

Linking recognises vectors of the same name by their cosine (friedrich2019, section 9). Sentences are shuffled before
they are shared. If the vectors of a name are more similar to each other than to those of other names of its type,
sentences can be joined to notes again. Types are published, so names are compared within a type, after each dimension
of their vectors was standardised: the cosine of the raw vectors makes a weaker attack.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from crfdeid.audit.measures import roc_area
from crfdeid.bio import OUTSIDE
from crfdeid.documents import LabelledSentence
from crfdeid.errors import SettingError
from crfdeid.evaluation.tokens import Proportion
from crfdeid.validation import require_counts
from features.tokens import Sentence
from rnn.inputs import casing
from rnn.privacy.adversaries import with_word
from rnn.privacy.attacks.encoders import SentenceEncoder, noise_deviation

_TOKENS = 1 << 16  # encoded in one call: 13 MB of vectors of size 50
_TINY = 1e-9  # lower bound of deviations and lengths, which may be 0
_DIGITS = 6  # of a cosine, so that rounding does not separate equal vectors


class Target(NamedTuple):
    """Token of PHI in its sentence.

    Attributes:
        sentence: the sentence.
        place: index of the token.
        label: type of the PHI.
        number: index of the sentence among those searched.
    """

    sentence: Sentence
    place: int
    label: str
    number: int = 0

    @property
    def word(self) -> str:
        """Text of the token."""
        return self.sentence.tokens[self.place].text


def is_name(word: str) -> bool:
    """Count a token of PHI as a name if it has a letter.

    Punctuation is not secret. Numbers are left out because word vectors with folded digits, such as the library's, have
    one vector for all numbers of a length.
    """
    return any(map(str.isalpha, word))


def names_of(sentences: Iterable[LabelledSentence]) -> list[Target]:
    """Find every annotated name in sentences, in order."""
    return [
        Target(item.sentence, place, tag[2:], number)
        for number, item in enumerate(sentences)
        for place, (token, tag) in enumerate(zip(item.sentence.tokens, item.tags, strict=True))
        if tag != OUTSIDE and is_name(token.text)
    ]


def sample_targets(targets: Sequence[Target], count: int, random: np.random.Generator) -> list[Target]:
    """Sample at most ``count`` targets without replacement, in their order."""
    if len(targets) <= count:
        return list(targets)
    return [targets[i] for i in sorted(random.choice(len(targets), count, replace=False).tolist())]


@dataclass(frozen=True, kw_only=True)
class AveragingSettings:
    """Effort of averaging.

    Args:
        draws: numbers of noise samples for each candidate; 0 for one encoding without noise.
        published: numbers of published encodings of the same sentence; the first is used with all ``draws``, the others
            with the most.
        encodings: largest number of encodings of one sentence, over all candidates, for each number of draws. If they
            do not suffice, the candidates nearest without noise have them, and the others follow in that order.
        around: tokens on either side of the name that are compared too.

    Raises:
        UsageError: a value cannot work.
    """

    draws: tuple[int, ...] = (0, 1, 16, 256)
    published: tuple[int, ...] = (1, 2, 8)
    encodings: int = 3_200
    around: int = 1

    def __post_init__(self) -> None:
        require_counts(self, "encodings")
        require_counts(self, "around", least=0)
        if not self.draws or min(self.draws) < 0 or not self.published or min(self.published) < 1:
            raise SettingError("draws and published are numbers: give one or more of each, published from 1")

    @property
    def cells(self) -> list[tuple[int, int]]:
        """Combinations of a number of noise samples and a number of published encodings."""
        first, *others = self.published
        return [(draws, first) for draws in self.draws] + [(max(self.draws), count) for count in others]


@dataclass(frozen=True, slots=True)
class Hits:
    """Shares of right names ranked first, and among the first ten.

    Args:
        top1: names ranked first.
        top10: names ranked among the first ten.
        chance: expected share ranked first by guessing: the mean of 1 / candidates.
        chance10: expected share among the first ten by guessing.
    """

    top1: Proportion
    top10: Proportion
    chance: float
    chance10: float

    @classmethod
    def of(cls, ranks: Sequence[tuple[int, int]]) -> Self:
        """Compute the shares from each right name's rank, from 0, and its number of candidates."""
        hits = [Proportion(sum(rank < first for rank, _ in ranks), len(ranks)) for first in (1, 10)]
        chances = [float(np.mean([min(first / count, 1.0) for _, count in ranks] or [0.0])) for first in (1, 10)]
        return cls(hits[0], hits[1], chances[0], chances[1])


@dataclass(frozen=True)
class Averaging:
    """Result of averaging.

    Args:
        by_draws: number of noise samples -> hits, with one published encoding.
        by_published: number of published encodings -> hits, with the most samples.
        same_casing: hits with the most samples and one published encoding, with candidates of the name's casing class
            alone, since casing is published.
    """

    by_draws: Mapping[int, Hits]
    by_published: Mapping[int, Hits]
    same_casing: Hits


def invert_by_averaging(
    encoder: SentenceEncoder,
    targets: Sequence[Target],
    candidates: Callable[[str], Sequence[str]],
    settings: AveragingSettings,
    *,
    seed: int,
    on_progress: Callable[[int, int], None] = lambda *_: None,
) -> Averaging:
    """Attack names by averaging.

    Args:
        encoder: the attacked encoder, which the attacker has.
        targets: the names, each in its sentence.
        candidates: function of a name that gives its candidates; the name itself is added.
        settings: effort of the attack.
        seed: seed of all random numbers.
        on_progress: called after each name with the numbers of names done and in all.
    """
    random = np.random.default_rng(seed)
    sentences = [target.sentence for target in targets]
    deviation = noise_deviation(encoder, sentences, random) if targets else np.ones(encoder.size, np.float32)
    ranks: dict[tuple[int, int], list[tuple[int, int]]] = {cell: [] for cell in settings.cells}
    of_casing: list[tuple[int, int]] = []
    most, once = max(settings.draws), settings.published[0]
    for number, target in enumerate(targets, start=1):
        words = [target.word, *dict.fromkeys(word for word in candidates(target.word) if word != target.word)]
        shuffled = [words[i] for i in random.permutation(len(words))]
        orders = _by_distance(encoder, target, shuffled, settings, deviation, random)
        for cell, order in orders.items():
            ranks[cell].append((order.index(target.word), len(order)))
        same = [word for word in orders[most, once] if casing(word) == casing(target.word)]
        of_casing.append((same.index(target.word), len(same)))
        on_progress(number, len(targets))
    return Averaging(
        {draws: Hits.of(ranks[draws, once]) for draws in settings.draws},
        {published: Hits.of(ranks[most, published]) for published in settings.published},
        Hits.of(of_casing),
    )


def _by_distance(
    encoder: SentenceEncoder,
    target: Target,
    words: Sequence[str],
    settings: AveragingSettings,
    deviation: npt.NDArray[np.float32],
    random: np.random.Generator,
) -> dict[tuple[int, int], list[str]]:
    """Sort candidates by distance for each of the settings' `cells`; equally near ones keep their order."""
    window = slice(max(target.place - settings.around, 0), target.place + settings.around + 1)  # w tokens

    def encode(sentences: Sequence[Sentence], noise: np.random.Generator | None) -> npt.NDArray[np.float32]:
        return np.stack([vectors[window] for vectors in encoder.encode(sentences, noise)])  # [N, w, size]

    def mean(sentences: Sequence[Sentence], draws: int) -> npt.NDArray[np.float32]:
        at_once = max(_TOKENS // (len(sentences) * len(target.sentence.tokens)), 1)
        total: Any = np.float32(0)
        for start in range(0, draws, at_once):
            count = min(at_once, draws - start)
            vectors = encode([*sentences] * count, random)
            total = total + vectors.reshape(count, len(sentences), *vectors.shape[1:]).sum(axis=0)
        means: npt.NDArray[np.float32] = total / np.float32(draws)
        return means

    def nearest_first(means: npt.NDArray[np.float32], published: npt.NDArray[np.float32]) -> npt.NDArray[np.intp]:
        return np.argsort((((means - published[None]) / deviation) ** 2).sum(axis=(1, 2)), kind="stable")

    sentences = [with_word(target.sentence, target.place, word) for word in words]
    seen = encode([target.sentence] * max(settings.published), random)
    noiseless = encode(sentences, None)
    orders = {}
    for draws, count in settings.cells:
        published = seen[:count].mean(axis=0)
        order = nearest_first(noiseless, published)
        if draws:
            most = max(settings.encodings // draws, 1)
            order[:most] = order[:most][nearest_first(mean([sentences[i] for i in order[:most]], draws), published)]
        orders[draws, count] = [words[i] for i in order]
    return orders


@dataclass(frozen=True, slots=True)
class Linking:
    """Result of linking.

    Args:
        auc: area under the ROC curve: the probability that a pair of the same name has a greater cosine than a pair of
            two names of one type, where equal ones count a half. Chance is 0.5. None without pairs of both kinds.
        same: number of pairs of the same name.
        other: number of pairs of two names of one type.
    """

    auc: float | None
    same: int
    other: int


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
    targets, seen, chosen = names_of(sentences), Counter[str](), list[Target]()
    for i in random.permutation(len(targets)).tolist():
        seen[targets[i].word] += 1
        if seen[targets[i].word] <= each:
            chosen.append(targets[i])
    by_label: defaultdict[str, list[Target]] = defaultdict(list)
    for target in chosen[:names]:
        by_label[target.label].append(target)
    wanted = sorted({target.number for target in chosen[:names]})
    encoded = dict(zip(wanted, encoder.encode([sentences[i].sentence for i in wanted], random), strict=True))
    cosines, same = [np.zeros(0)], [np.zeros(0, bool)]
    for members in by_label.values():
        vectors = np.stack([encoded[target.number][target.place] for target in members]).astype(np.float64)
        standard = (vectors - vectors.mean(axis=0)) / np.maximum(vectors.std(axis=0), _TINY)
        directions = standard / np.maximum(np.linalg.norm(standard, axis=1, keepdims=True), _TINY)
        first, second = np.triu_indices(len(members), 1)
        numbers = np.array([target.number for target in members])
        apart = numbers[first] != numbers[second]
        first, second = first[apart], second[apart]
        cosines.append((directions @ directions.T)[first, second].round(_DIGITS))
        words = np.unique([target.word for target in members], return_inverse=True)[1]
        same.append(words[first] == words[second])
    scores, positive = np.concatenate(cosines), np.concatenate(same)
    found, others = scores[positive], scores[~positive]
    return Linking(roc_area(found, others).value if len(found) and len(others) else None, len(found), len(others))

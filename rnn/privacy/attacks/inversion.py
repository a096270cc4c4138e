"""Learned inversion: a decoder trained on a public corpus reads words out of vectors (friedrich2019's A1).

Every known token is an example. The score of a word w for a vector r is the sum over its examples m of

    exp(-|(r - m) / (b d)|^2 / 2)

with m encoded without noise, d the noise's standard deviation in each dimension (`noise_deviation`) and b a width: a
sum of kernels (Parzen 1962), which for b = 1 is Bayes' rule if the known tokens are all possible ones. Casing and tags
are published too: an example of another casing does not count, and one of another tag counts a hundredth. The width,
and whether the vectors of the adjacent tokens are compared too, are chosen on a tenth of the known documents, at most
ten, separately for PHI and for other words.

A network (a BiLSTM under a softmax over all known words) was tried instead: it read fewer words of PHI, also out of
plain vectors, and took ten times as long. Under strong noise it read more of the other words, by their context.

Words that are no PHI are counted separately: adversaries see only PHI replaced, so nothing protects other words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from crfdeid.bio import OUTSIDE
from crfdeid.documents import LabelledSentence
from crfdeid.errors import EmptyInputError, MismatchError
from crfdeid.evaluation.tokens import Proportion
from rnn.inputs import casing
from rnn.privacy.attacks.encoders import SentenceEncoder, noise_deviation
from rnn.privacy.attacks.names import is_name

_OTHER_TAG = np.float32(np.log(0.01))  # log-weight of an example with another tag
_AROUND = (0, 1)  # tokens on either side that may be compared too
_WIDTHS = (1.0, 1.5, 2.5)  # of kernels
_TRIED = 10  # one in ten known documents, and at most ten, choose the comparison
_AT_ONCE = 1 << 22  # pairs of a vector and an example that are compared at once: 17 MB


class _Comparison(NamedTuple):
    """Comparison of vectors: number of adjacent tokens on either side, and width of the kernel."""

    around: int
    width: float


_COMPARISONS = tuple(_Comparison(around, width) for around, width in product(_AROUND, _WIDTHS))


class _Examples(NamedTuple):
    """Tokens: words, tags, and vectors with those of adjacent tokens, by the number of these."""

    words: npt.NDArray[np.str_]
    tags: npt.NDArray[np.str_]
    vectors: Mapping[int, npt.NDArray[np.float32]]  # around -> [tokens, (2 around + 1) size]

    @classmethod
    def of(cls, sentences: Sequence[LabelledSentence], encoded: Sequence[np.ndarray]) -> Self:
        words = [word for item in sentences for word in item.sentence.words]
        tags = [tag for item in sentences for tag in item.tags]
        vectors = {around: np.concatenate([_with_those_around(v, around) for v in encoded]) for around in _AROUND}
        return cls(np.array(words), np.array(tags), vectors)

    @property
    def casings(self) -> npt.NDArray[np.intp]:
        return np.array([casing(word) for word in self.words.tolist()])

    @property
    def phi(self) -> npt.NDArray[np.bool_]:
        return self.tags != OUTSIDE

    def where(self, wanted: npt.NDArray[np.bool_]) -> _Examples:
        """Select examples by a mask."""
        vectors = {around: array[wanted] for around, array in self.vectors.items()}
        return _Examples(self.words[wanted], self.tags[wanted], vectors)


@dataclass(frozen=True, eq=False)
class Decoder:
    """Decoder of vectors to words.

    Args:
        deviation: standard deviation of the encoder's noise, [size].
        examples: the known tokens, encoded without noise.
        phi: comparison for vectors of PHI.
        others: comparison for vectors of other words.
    """

    deviation: npt.NDArray[np.float32]
    examples: _Examples
    phi: _Comparison
    others: _Comparison

    @classmethod
    def learn(cls, encoder: SentenceEncoder, known: Sequence[LabelledSentence], *, seed: int) -> Self:
        """Learn from sentences with known words.

        Args:
            encoder: the attacked encoder.
            known: the sentences. Of two documents or more, some choose the comparison.
            seed: seed of the noise, and of the choice of these documents.

        Raises:
            EmptyInputError: there are no sentences.
        """
        if not known:
            raise EmptyInputError("no sentences to learn from: give at least one")
        random, sentences = np.random.default_rng(seed), [item.sentence for item in known]
        deviation = noise_deviation(encoder, sentences, random)
        examples = _Examples.of(known, encoder.encode(sentences, None))
        drawn = _Examples.of(known, encoder.encode(sentences, random))
        documents = sorted({item.document for item in known})
        count = min(-(-len(documents) // _TRIED), _TRIED)
        chosen = {documents[i] for i in random.permutation(len(documents))[:count]}
        tried = np.array([item.document in chosen for item in known for _ in item.tags])
        others = cls(deviation, examples.where(~tried), _COMPARISONS[0], _COMPARISONS[0])
        best = others._best(drawn.where(tried)) if len(documents) > 1 else (_COMPARISONS[0], _COMPARISONS[0])
        return cls(deviation, examples, *best)

    def read(self, vectors: Sequence[np.ndarray], sentences: Sequence[LabelledSentence]) -> list[list[str]]:
        """Read the word with the greatest score at each token.

        Args:
            vectors: published vectors of each sentence, [T, size].
            sentences: the same sentences, of which only casing and tags are used.
        """
        if not sentences:
            return []
        seen = _Examples.of(sentences, vectors)
        found = np.where(seen.phi, self._read(seen, self.phi), self._read(seen, self.others))
        ends = np.cumsum([len(item.tags) for item in sentences])
        return [words.tolist() for words in np.split(found, ends[:-1])]

    def _best(self, seen: _Examples) -> tuple[_Comparison, _Comparison]:
        """Choose the comparisons that read most tokens of PHI, and most others; of equals the first."""
        right = [self._read(seen, comparison) == seen.words for comparison in _COMPARISONS]
        counts = [(int(hits[seen.phi].sum()), int(hits[~seen.phi].sum())) for hits in right]
        phi, others = (int(np.argmax([count[group] for count in counts])) for group in (0, 1))
        return _COMPARISONS[phi], _COMPARISONS[others]

    def _read(self, seen: _Examples, comparison: _Comparison) -> npt.NDArray[np.str_]:
        """Read the word of each token, [tokens]; "" for a casing without examples."""
        found = np.zeros(len(seen.words), self.examples.words.dtype)
        scale = np.tile(self.deviation, 2 * comparison.around + 1)[None] * np.float32(comparison.width)
        known, casings = self.examples.casings, seen.casings
        numbers = np.unique(np.concatenate([self.examples.tags, seen.tags]), return_inverse=True)[1]  # compare faster
        tags, seen_tags = np.split(numbers, [len(self.examples.tags)])
        order = np.argsort(self.examples.words, kind="stable")  # examples of one word are contiguous
        for number in np.unique(casings):
            examples = order[known[order] == number]
            if not len(examples):
                continue
            words, vectors = self.examples.words[examples], self.examples.vectors[comparison.around][examples] / scale
            wanted = np.flatnonzero(casings == number)
            for part in np.array_split(wanted, -(-len(wanted) * len(examples) // _AT_ONCE)):
                asked = seen.vectors[comparison.around][part] / scale
                same_tag = seen_tags[part][:, None] == tags[examples][None]
                found[part] = _most_probable(words, vectors, asked, same_tag)
        return found


def _most_probable(
    words: npt.NDArray[np.str_],
    examples: npt.NDArray[np.float32],
    vectors: npt.NDArray[np.float32],
    same_tag: npt.NDArray[np.bool_],
) -> npt.NDArray[np.str_]:
    """Find the word with the greatest score for each vector; vectors are in units of the kernels' width.

    Args:
        words: the word of each example, sorted.
        examples: their vectors, [examples, D].
        vectors: the vectors to read, [vectors, D].
        same_tag: whether a vector and an example have the same tag, [vectors, examples].
    """
    squares = (vectors**2).sum(axis=1)[:, None] + (examples**2).sum(axis=1)[None]
    logs = vectors @ examples.T - squares / 2  # [vectors, examples]
    logs += np.where(same_tag, np.float32(0), _OTHER_TAG)
    kernels = np.exp(logs - logs.max(axis=1, keepdims=True))
    firsts = np.flatnonzero(np.append(True, words[1:] != words[:-1]))
    scores = np.add.reduceat(kernels, firsts, axis=1)  # [vectors, words]
    return words[firsts][scores.argmax(axis=1)]


def _with_those_around(vectors: np.ndarray, around: int) -> npt.NDArray[np.float32]:
    """Concatenate each token's vector with those of adjacent tokens, zeros at the ends: [T, (2 around + 1) size]."""
    padded = np.pad(vectors, ((around, around), (0, 0)))
    return np.concatenate([padded[k : k + len(vectors)] for k in range(2 * around + 1)], axis=1)


@dataclass(frozen=True, slots=True)
class Recovered:
    """Shares of words that were read.

    Args:
        recovered: words that the decoder read; an unknown word counts as not read.
        by_frequency: words that are the most frequent ones for their published tag and casing, the baseline.
        known: words that the decoder knows, an upper bound.
    """

    recovered: Proportion
    by_frequency: Proportion
    known: Proportion


@dataclass(frozen=True, slots=True)
class Inversion:
    """Result of the attack, for words with a letter or a digit.

    Args:
        phi: words of PHI.
        names: words of PHI with a letter.
        others: words that are no PHI.
        words: number of words that the decoder knows.
        examples: number of tokens that it learned from.
    """

    phi: Recovered
    names: Recovered
    others: Recovered
    words: int
    examples: int


def invert_by_learning(
    encoder: SentenceEncoder,
    known: Sequence[LabelledSentence],
    attacked: Sequence[LabelledSentence],
    *,
    seed: int,
) -> Inversion:
    """Train a decoder on known sentences and read others.

    Args:
        encoder: the attacked encoder; the attacked sentences are encoded once, with noise.
        known: sentences that the attacker has as text: the provider's public corpus.
        attacked: sentences of other documents.
        seed: seed of all random numbers.

    Raises:
        EmptyInputError: there are no known sentences.
        MismatchError: a document is both known and attacked.
    """
    if {item.document for item in known} & {item.document for item in attacked}:
        raise MismatchError("a document is both known and attacked: give different ones")
    decoder = Decoder.learn(encoder, known, seed=seed)
    published = encoder.encode([item.sentence for item in attacked], np.random.default_rng([seed, 1]))
    read, guessed = decoder.read(published, attacked), _most_frequent(known, attacked)
    vocabulary = set(decoder.examples.words.tolist())
    words = [word for item in attacked for word in item.sentence.words]
    results = zip(words, chain.from_iterable(read), chain.from_iterable(guessed), strict=True)
    hits = np.array([(word == found, word == guess, word in vocabulary) for word, found, guess in results], bool)
    is_phi = np.array([tag != OUTSIDE for item in attacked for tag in item.tags], bool)
    counted = np.array([any(map(str.isalnum, word)) for word in words], bool)
    named = np.array(list(map(is_name, words)), bool)
    phi, names, others = (_recovered(hits[group]) for group in (is_phi & counted, is_phi & named, ~is_phi & counted))
    return Inversion(phi, names, others, len(vocabulary), len(decoder.examples.words))


def _recovered(hits: npt.NDArray[np.bool_]) -> Recovered:
    """Shares of the words that were read, guessed and known, [words, 3]."""
    return Recovered(*(Proportion(count, len(hits)) for count in hits.reshape(-1, 3).sum(axis=0).tolist()))


def _most_frequent(known: Sequence[LabelledSentence], attacked: Sequence[LabelledSentence]) -> list[list[str]]:
    """Guess for each token the most frequent known word of its tag and casing, else of its casing, else of all."""
    counts: dict[tuple[str, int] | int | None, Counter[str]] = {}
    for item in known:
        for word, tag in zip(item.sentence.words, item.tags, strict=True):
            for clue in _clues(word, tag):
                counts.setdefault(clue, Counter())[word] += 1
    best = {clue: words.most_common(1)[0][0] for clue, words in counts.items()}
    return [
        [
            next(best[clue] for clue in _clues(word, tag) if clue in best)
            for word, tag in zip(item.sentence.words, item.tags, strict=True)
        ]
        for item in attacked
    ]


def _clues(word: str, tag: str) -> tuple[tuple[str, int], int, None]:
    """Published properties of a word, the most specific first: tag and casing, casing, nothing."""
    return (tag, casing(word)), casing(word), None

"""A decoder: it learns to read words out of published vectors from sentences whose words are known.

Every known token is an example. The score of a word w for a vector r is the sum over its examples m of

    exp(-|(r - m) / (b d)|^2 / 2)

with m encoded without noise, d the noise's standard deviation in each dimension (`noise_deviation`) and b a width: a
sum of kernels (Parzen 1962), which for b = 1 is Bayes' rule where the known tokens are all that there can be. Casing
and tags are published too: an example of another casing counts nothing, and one of another tag a hundredth. Which
width is best, and whether the vectors of the tokens around are a help, is learned on a tenth of the known documents,
at most ten, for PHI and for other words each.

A network (a BiLSTM under a softmax over all known words) was tried in its place: it read fewer words of PHI, plain
vectors among them, and took ten times as long. Under strong noise it read more of the other words, by their context.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from crfdeid.bio import OUTSIDE
from crfdeid.documents import LabelledSentence
from crfdeid.errors import EmptyInputError
from rnn.privacy.attacks.noise import noise_deviation
from rnn.privacy.encoder import Encoder
from rnn.processors.casing import casing

_OTHER_TAG = np.float32(np.log(0.01))  # added to an example's log of another tag
_AROUND = (0, 1)  # tokens on either side whose vectors may be compared too
_WIDTHS = (1.0, 1.5, 2.5)  # of kernels
_TRIED = 10  # one in so many known documents tells which are best, and at most so many
_AT_ONCE = 1 << 22  # pairs of a vector and an example that are compared together: 17 MB


class _Comparison(NamedTuple):
    """How vectors are compared: with those of how many tokens around, and how wide a kernel is."""

    around: int
    width: float


_COMPARISONS = tuple(_Comparison(around, width) for around, width in product(_AROUND, _WIDTHS))


class _Examples(NamedTuple):
    """Tokens: their words, their tags, and the vectors of each with those around it, by their number."""

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
        """Those that are wanted."""
        vectors = {around: array[wanted] for around, array in self.vectors.items()}
        return _Examples(self.words[wanted], self.tags[wanted], vectors)


@dataclass(frozen=True, eq=False)
class Decoder:
    """What was learned.

    Args:
        deviation: of the encoder's noise, [size].
        examples: the known tokens, encoded without noise.
        phi: how vectors of PHI are compared.
        others: how those of other words are.
    """

    deviation: npt.NDArray[np.float32]
    examples: _Examples
    phi: _Comparison
    others: _Comparison

    @classmethod
    def learn(cls, encoder: Encoder, known: Sequence[LabelledSentence], *, seed: int) -> Self:
        """Learn from sentences whose words are known.

        Args:
            encoder: makes the vectors that are to be read.
            known: the sentences. Of two documents or more, some tell how to compare.
            seed: of the noise, and of which documents tell that.

        Raises:
            DataError: there are no sentences.
        """
        if not known:
            raise EmptyInputError("no sentences to learn from: give at least one")
        random, sentences = np.random.default_rng(seed), [item.sentence for item in known]
        deviation = noise_deviation(encoder, sentences, random)
        examples = _Examples.of(known, encoder.encode(sentences, None))
        drawn = _Examples.of(known, encoder.encode(sentences, random))
        documents = sorted({item.document for item in known})
        told = min(-(-len(documents) // _TRIED), _TRIED)
        told_by = {documents[i] for i in random.permutation(len(documents))[:told]}
        tried = np.array([item.document in told_by for item in known for _ in item.tags])
        others = cls(deviation, examples.where(~tried), _COMPARISONS[0], _COMPARISONS[0])
        best = others._best(drawn.where(tried)) if len(documents) > 1 else (_COMPARISONS[0], _COMPARISONS[0])
        return cls(deviation, examples, *best)

    def read(self, vectors: Sequence[np.ndarray], sentences: Sequence[LabelledSentence]) -> list[list[str]]:
        """The word with the greatest score at each token.

        Args:
            vectors: what was published of each sentence, [T, size].
            sentences: the same ones: only their tokens' casing and their tags are looked at.
        """
        if not sentences:
            return []
        seen = _Examples.of(sentences, vectors)
        found = np.where(seen.phi, self._read(seen, self.phi), self._read(seen, self.others))
        ends = np.cumsum([len(item.tags) for item in sentences])
        return [words.tolist() for words in np.split(found, ends[:-1])]

    def _best(self, seen: _Examples) -> tuple[_Comparison, _Comparison]:
        """With what most tokens of PHI are read right, and with what most others; of equals the first."""
        right = [self._read(seen, comparison) == seen.words for comparison in _COMPARISONS]
        counts = [(int(hits[seen.phi].sum()), int(hits[~seen.phi].sum())) for hits in right]
        phi, others = (int(np.argmax([count[group] for count in counts])) for group in (0, 1))
        return _COMPARISONS[phi], _COMPARISONS[others]

    def _read(self, seen: _Examples, comparison: _Comparison) -> npt.NDArray[np.str_]:
        """The word of each token, [tokens]; one of a casing without examples is read as ""."""
        found = np.zeros(len(seen.words), self.examples.words.dtype)
        scale = np.tile(self.deviation, 2 * comparison.around + 1)[None] * np.float32(comparison.width)
        known, casings = self.examples.casings, seen.casings
        numbers = np.unique(np.concatenate([self.examples.tags, seen.tags]), return_inverse=True)[1]  # compare faster
        tags, seen_tags = np.split(numbers, [len(self.examples.tags)])
        order = np.argsort(self.examples.words, kind="stable")  # those of one word side by side
        for number in np.unique(casings):
            examples = order[known[order] == number]
            if not len(examples):
                continue
            kernels = _Kernels(
                self.examples.words[examples],
                tags[examples],
                self.examples.vectors[comparison.around][examples] / scale,
            )
            wanted = np.flatnonzero(casings == number)
            for part in np.array_split(wanted, -(-len(wanted) * len(examples) // _AT_ONCE)):
                found[part] = kernels.best(seen.vectors[comparison.around][part] / scale, seen_tags[part])
        return found


class _Kernels(NamedTuple):
    """Examples of one casing, sorted by their words, and their vectors in units of the kernels' width."""

    words: npt.NDArray[np.str_]
    tags: npt.NDArray[np.intp]
    vectors: npt.NDArray[np.float32]

    def best(self, vectors: npt.NDArray[np.float32], tags: npt.NDArray[np.intp]) -> npt.NDArray[np.str_]:
        """The word with the greatest score for each vector."""
        squares = (vectors**2).sum(axis=1)[:, None] + (self.vectors**2).sum(axis=1)[None]
        logs = vectors @ self.vectors.T - squares / 2  # [vectors, examples]
        logs += np.where(tags[:, None] == self.tags[None], np.float32(0), _OTHER_TAG)
        kernels = np.exp(logs - logs.max(axis=1, keepdims=True))
        firsts = np.flatnonzero(np.append(True, self.words[1:] != self.words[:-1]))
        scores = np.add.reduceat(kernels, firsts, axis=1)  # [vectors, words]
        return self.words[firsts][scores.argmax(axis=1)]


def _with_those_around(vectors: np.ndarray, around: int) -> npt.NDArray[np.float32]:
    """Each token's vector beside those of its neighbours, zeros beyond the sentence: [T, (2 around + 1) size]."""
    padded = np.pad(vectors, ((around, around), (0, 0)))
    return np.concatenate([padded[k : k + len(vectors)] for k in range(2 * around + 1)], axis=1)

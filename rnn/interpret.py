"""Explanations of networks: integrated gradients of one decision, and summaries of the weights.

Integrated gradients follow the straight path from vectors of zeros to a sentence's own vectors v. The attribution of a
number v_i to the log-odds g is

    v_i * integral over s from 0 to 1 of (d g / d v_i)(s v),

and all attributions sum to g(v) - g(0) (completeness). The integral is taken at 64 points, over 8 parts of the path, by
the Gauss-Legendre rule. The attributions of a part must sum to the difference of g at its two ends: if they do not, as
where a recurrent network switches abruptly, the part is halved and integrated again.

Reference:
    Sundararajan et al. (2017), Axiomatic Attribution for Deep Networks, sections 3 and 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from crfdeid.documents import PHI
from crfdeid.explain.data import Gradients, NearestWords, NetworkSummary, TagMatrix, WeightNorm, WordTerm
from features.tokens import Sentence
from rnn.batching import make_batch, padded_length
from rnn.embeddings.lookup import nearest_rows
from rnn.interfaces import Params
from rnn.network import Structure, TrainedModel, embedding_lookup, full_precision
from rnn.vocab import FIRST_WORD, Vocabulary

_PARTS, _POINTS = 8, 8  # parts of the path, and points of a part: 64 points at first
_FAR_OFF = 1e-3  # a part is halved if its attributions miss their sum by this share of it
_FAR_OFF_NATS = 1e-4  # plus this
_MOST_HALVED = 16  # halvings of a part: a millionth of the path is accepted


def integrated_gradients(
    learned: TrainedModel, sentence: Sentence, token: int, tag: str, contrast_tag: str
) -> Gradients:
    """Attribute the log-odds of two tags at a token to the vectors of the sentence's words.

    Args:
        learned: the trained model; its processor makes one row a sentence.
        sentence: the sentence.
        token: index of the token.
        tag: a PHI tag of the model.
        contrast_tag: another PHI tag.
    """
    (row,) = learned.processor.rows([sentence])
    length = padded_length(row.length)
    inputs = {name: array[0] for name, array in make_batch([row], length=length).inputs.items()}
    number = {name: k for k, name in enumerate(learned.processor.tags[PHI])}
    question = np.array([token, number[tag], number[contrast_tag]], np.int32)

    def ask(starts: np.ndarray, width: float) -> tuple[dict[str, np.ndarray], np.ndarray]:
        found = _shares(
            learned.structure,
            learned.params,
            inputs,
            np.int32(row.length),
            question,
            starts.astype(np.float32),
            np.float32(width),
        )
        return jax.tree.map(np.asarray, found)

    shares, baseline, odds = _along(ask)
    words, around = np.zeros(row.length), 0.0
    for found in shares.values():
        first = (len(found) - length) // 2  # a network may look at places around the sentence
        own = found[first : first + row.length]
        words += own
        around += float(found.sum() - own.sum())
    terms = (WordTerm(word, i - token, float(words[i])) for i, word in enumerate(sentence.words))
    return Gradients(tuple(terms), around, baseline, odds)


_Ask = Callable[[np.ndarray, float], tuple[dict[str, np.ndarray], np.ndarray]]


def _along(ask: _Ask) -> tuple[dict[str, np.ndarray], float, float]:
    """Attributions along the whole path in double precision, and the log-odds at its start and its end.

    Args:
        ask: `_shares` for parts of one width.
    """
    sums: dict[str, np.ndarray] = {}
    starts, width = np.arange(_PARTS) / _PARTS, 1 / _PARTS
    baseline = odds = 0.0
    for halved in range(_MOST_HALVED + 1):
        left = []
        for first in range(0, len(starts), _PARTS):
            some = starts[first : first + _PARTS]
            padded = np.concatenate([some, np.zeros(_PARTS - len(some))])  # one shape, and so one program
            shares, ends = ask(padded, width)
            if not halved:
                baseline, odds = float(ends[0, 0]), float(ends[-1, 1])
            gained = ends[:, 1] - ends[:, 0]
            off = np.abs(sum(array.sum(axis=1, dtype=float) for array in shares.values()) - gained)
            far = (off > _FAR_OFF * np.abs(gained) + _FAR_OFF_NATS) & (halved < _MOST_HALVED)
            for i, start in enumerate(some):
                if far[i]:
                    left += [start, start + width / 2]
                    continue
                for name, array in shares.items():
                    sums[name] = sums.get(name, 0.0) + array[i].astype(float)
        starts, width = np.array(left), width / 2
        if not left:
            break
    return sums, baseline, odds


@partial(jax.jit, static_argnames="structure")
@full_precision
def _shares(
    structure: Structure,
    params: Params,
    inputs: Mapping[str, jax.Array],
    length: jax.Array,
    question: jax.Array,
    starts: jax.Array,
    width: jax.Array,
) -> tuple[dict[str, jax.Array], jax.Array]:
    """Attributions of some parts of the path for each table, [parts, P]; log-odds at the parts' ends, [parts, 2]."""
    network = structure.network(params)
    vectors = embedding_lookup(network, params, inputs)

    def log_odds(vectors: Mapping[str, jax.Array]) -> jax.Array:
        found: jax.Array = network.scores(vectors, inputs, length)[PHI].log_odds(length, *question)
        return found

    def at(place: jax.Array) -> dict[str, jax.Array]:
        return {name: place * array for name, array in vectors.items()}

    def added(start: jax.Array) -> dict[str, jax.Array]:
        points, widths = (jnp.asarray(values, jnp.float32) for values in _rule())
        gradients = jax.vmap(lambda point: jax.grad(log_odds)(at(start + width * point)))(points)
        means = {name: jnp.tensordot(widths, array, axes=1) for name, array in gradients.items()}  # [P, ..., D]
        return {
            name: width * (means[name] * array).reshape(len(array), -1).sum(axis=1) for name, array in vectors.items()
        }

    ends = jax.lax.map(lambda start: jnp.stack([log_odds(at(start)), log_odds(at(start + width))]), starts)
    return jax.lax.map(added, starts), ends


def _rule() -> tuple[np.ndarray, np.ndarray]:
    """Points and weights of the Gauss-Legendre rule on [0, 1]."""
    points, widths = np.polynomial.legendre.leggauss(_POINTS)
    return (points + 1) / 2, widths / 2


_FREQUENT = 8  # words whose neighbours are shown by default
_SHORTEST = 4  # letters of such a word: shorter ones say little


def norms(arrays: Mapping[str, np.ndarray]) -> Iterator[WeightNorm]:
    """Norm of each array."""
    return (norm(name, array) for name, array in arrays.items())


def norm(name: str, array: np.ndarray) -> WeightNorm:
    """Euclidean norm and root mean square of an array."""
    total = float((array**2).sum())
    return WeightNorm(name, array.shape, total**0.5, (total / max(array.size, 1)) ** 0.5)


def window_norms(name: str, weights: np.ndarray, window: int) -> Iterator[WeightNorm]:
    """Norms of the weights for each word of a context window.

    Args:
        name: the array's name.
        weights: those of the first hidden layer, [H, W * D].
        window: words in a window, W.
    """
    for place, part in enumerate(np.split(weights, window, axis=1)):
        yield norm(f"{name}, word at {place - window // 2:+d}" if place != window // 2 else f"{name}, the word", part)


def token_norms(name: str, weights: np.ndarray, sizes: Mapping[str, int]) -> Iterator[WeightNorm]:
    """Norms of the weights for each input of a token.

    Args:
        name: the array's name.
        weights: those of the first BiLSTM layer, [8H, inputs].
        sizes: name -> size of the concatenated inputs (`rnn.inputs.TokenInputs.sizes`).
    """
    start = 0
    for what, size in sizes.items():
        yield norm(f"{name}, {what}", weights[:, start : start + size])
        start += size


def transitions(tags: Sequence[str], weights: np.ndarray) -> TagMatrix:
    """Transitions of a CRF layer, [K, K]."""
    return TagMatrix("Score of a tag after a tag (CRF layer)", tuple(tags), tuple(map(tuple, weights.tolist())))


def near_words(vocabulary: Vocabulary, table: np.ndarray, words: Sequence[str], count: int) -> tuple[NearestWords, ...]:
    """Nearest words to some words, by the vectors after training.

    Args:
        vocabulary: the words. The neighbours in a hashed vocabulary are hashes, and there is no default choice.
        table: their vectors, [V, D].
        words: the words to show neighbours of; empty for some frequent ones.
        count: neighbours of each word.
    """
    frequent = (word for word in vocabulary.words if word.isalpha() and len(word) >= _SHORTEST)  # sorted by frequency
    unasked = [] if vocabulary.key is not None else [*islice(frequent, _FREQUENT)]
    vectors = table[FIRST_WORD:].astype(np.float32)
    found = []
    for word in words or unasked:
        (number,) = vocabulary.ids([word])
        if number < FIRST_WORD:
            found.append(NearestWords(word, None))
            continue
        ((rows, cosines),) = nearest_rows(vectors[[number - FIRST_WORD]], vectors, count + 1)
        pairs = zip(rows.tolist(), cosines.tolist(), strict=True)
        near = [(vocabulary.words[row], cosine) for row, cosine in pairs if row != number - FIRST_WORD]
        found.append(NearestWords(word, tuple(near[:count])))
    return tuple(found)


class ExplainsWords:
    """Mixin of `rnn.tagger.NetworkTagger` that explains a network with its own word vectors."""

    trained: Callable[[], TrainedModel]

    def stores(self, words: Sequence[str]) -> list[bool]:
        """Report for each word whether the vocabulary has it."""
        vocabulary = self.trained().processor.vocabulary
        return [number >= FIRST_WORD for number in vocabulary.ids(words)]

    def integrated_gradients(self, sentence: Sentence, token: int, tag: str, contrast_tag: str) -> Gradients:
        """Attribute the log-odds of two tags at a token to the vectors of the words (`rnn.interpret`)."""
        return integrated_gradients(self.trained(), sentence, token, tag, contrast_tag)

    def contents(self, words: Sequence[str], sentences: Sequence[Sentence], *, top: int) -> NetworkSummary:
        """Summarise the weights; see `crfdeid.explain.data.SupportsWeightSummary`."""
        learned = self.trained()
        arrays = {name: np.asarray(array, float) for name, array in learned.params.items()}
        network, vocabulary = learned.structure.network(arrays), self.phi_processor(learned.processor).vocabulary
        return NetworkSummary(
            norms=(*norms(arrays), *self.input_norms(network)),
            matrices=tuple(self.tag_matrices(network, sentences)),
            facts=tuple(self.facts(network)),
            words=near_words(vocabulary, arrays["tables.words"], words, top),
            hashed=vocabulary.key is not None,
        )

    def phi_processor(self, processor: Any) -> Any:
        """Processor of the part that finds PHI."""
        return processor

    def input_norms(self, network: Any) -> Iterable[WeightNorm]:
        """Norms of the weights of each input; none by default."""
        return ()

    def tag_matrices(self, network: Any, sentences: Sequence[Sentence]) -> Iterable[TagMatrix]:
        """Influence of each tag on the next; none by default."""
        return ()

    def facts(self, network: Any) -> Iterable[tuple[str, float]]:
        """Further figures, each with a sentence that describes it; none by default."""
        return ()

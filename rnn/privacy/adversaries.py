"""The two adversaries, and the pairs of sentences that they classify as real or fake (friedrich2019, section 5.3).

A sentence x and its copy x', in which one PHI token is replaced by one of its N nearest neighbours, give a quadruple of
pairs. An adversary reads the representation of the first and the words, or another representation, of the second:

    real: (x, x), (x', x')        fake: (x, x'), (x', x)

The authors' code has the pairs (x, x) and (x', x) alone: words as they were, and in fake pairs the representation of
the copy. Then x' occurs in fake pairs alone, so that an odd representation betrays them without the words. With all
four, a guess from one side alone is right half of the time. By a representation of zeros it is so in both schemes.

A token's first neighbour, the token itself, never replaces it: the fake pair would be a real one.

T1 reads a representation and word vectors; T2 reads two representations with independent noise, and their cosine token
by token.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from flax import nnx
from jax import lax

from crfdeid.bio import OUTSIDE
from crfdeid.documents import LabelledSentence
from crfdeid.errors import EmptyInputError
from features.tokens import Sentence
from rnn.embeddings.lookup import Lookup
from rnn.embeddings.vectors import WordVectors
from rnn.layers.lstm import BiLstm
from rnn.network import uniform
from rnn.privacy.neighbours import Neighbours
from rnn.privacy.settings import require_neighbours
from rnn.privacy.substitution import phi_words
from rnn.vocab import FIRST_WORD, Vocabulary

TASKS = ("T1", "T2")
LOG_2 = float(np.log(2.0))
"""Loss of an adversary that guesses at random."""

PAIR_KINDS = {"symmetric": ((0, 0), (1, 1), (0, 1), (1, 0)), "one-sided": ((0, 0), (1, 0))}
"""Pairs of a quadruple by scheme (`PrivateSettings.pairs`), 0 for x and 1 for x', half of them real.

The first sentence has its representation read, the second its words or its representation. Real pairs are of the same.
"""


@dataclass(frozen=True, eq=False)
class PairVocabulary:
    """Words of sentences and neighbours of their PHI, with an id and a vector each.

    Args:
        vocabulary: the words.
        table: their vectors by `Lookup`, [V, D]; rows without a word are zeros.
        neighbours: neighbours of each word of PHI.
    """

    vocabulary: Vocabulary
    table: npt.NDArray[np.float32]
    neighbours: Neighbours

    @classmethod
    def of(cls, sentences: Sequence[LabelledSentence], vectors: WordVectors, count: int) -> Self:
        """Collect the words of sentences and the neighbours of their PHI.

        Args:
            sentences: the sentences.
            vectors: the word vectors, which define neighbours.
            count: neighbours of a word, itself included.

        Raises:
            SettingError: ``count`` is less than 2.
        """
        require_neighbours(count)
        phi = phi_words(sentences)
        neighbours = Neighbours.of(phi, vectors, count)
        known = {word for item in sentences for word in item.sentence.words}
        words = sorted(known.union(*(neighbours[word] for word in phi)))
        # Rounded up to a power of two: another number of neighbours needs no other compiled programs.
        table = np.zeros((1 << (len(words) + FIRST_WORD - 1).bit_length(), vectors.dim), np.float32)
        table[FIRST_WORD : FIRST_WORD + len(words)] = Lookup(vectors)(words)
        return cls(Vocabulary(tuple(words), fold_digits=False), table, neighbours)

    def word(self, number: int) -> str:
        """Word of an id."""
        return self.vocabulary.words[number - FIRST_WORD]


class TokenReplacement(NamedTuple):
    """Replacement of one token of a sentence.

    Attributes:
        sentence: index of the sentence in `Replaceable.sentences`.
        place: index of the token.
        word: id of the other word.
    """

    sentence: int
    place: int
    word: int


@dataclass(frozen=True, eq=False)
class Replaceable:
    """Sentences with a replaceable PHI token, and the possible replacements.

    Args:
        numbers: indices of these sentences among those of `of`.
        sentences: the sentences.
        places: indices of the replaceable tokens of each sentence.
        choices: for each of these tokens, the ids of its neighbours with another vector.
    """

    numbers: Sequence[int]
    sentences: Sequence[LabelledSentence]
    places: Sequence[npt.NDArray[np.intp]]
    choices: Sequence[Sequence[npt.NDArray[np.int32]]]

    @classmethod
    def of(cls, sentences: Sequence[LabelledSentence], words: PairVocabulary) -> Self:
        """Select the sentences that can make a fake pair.

        Raises:
            EmptyInputError: there is none.
        """
        others = {word: _others(word, words) for word in phi_words(sentences)}
        found = []
        for number, item in enumerate(sentences):
            tokens = item.sentence.words
            phi = (place for place, tag in enumerate(item.tags) if tag != OUTSIDE)
            places = [place for place in phi if len(others[tokens[place]])]
            if places:
                found.append((number, item, np.array(places), [others[tokens[place]] for place in places]))
        if not found:
            raise EmptyInputError("no sentence holds a PHI token that has a neighbour: there is nothing to tell apart")
        return cls(*map(list, zip(*found, strict=True)))

    def draw(self, random: np.random.Generator) -> list[TokenReplacement]:
        """Draw for each sentence one of its PHI tokens and one of the token's neighbours, uniformly."""
        drawn = []
        for number, (places, choices) in enumerate(zip(self.places, self.choices, strict=True)):
            which = int(random.integers(len(places)))
            options = choices[which]
            drawn.append(TokenReplacement(number, int(places[which]), int(options[random.integers(len(options))])))
        return drawn

    def replaced(self, drawn: TokenReplacement, words: PairVocabulary) -> Sentence:
        """Make the sentence x' of a replacement; it has no note."""
        return with_word(self.sentences[drawn.sentence].sentence, drawn.place, words.word(drawn.word))


def both(ids: npt.NDArray[np.int32], drawn: TokenReplacement) -> npt.NDArray[np.int32]:
    """Ids of the words of a sentence and of its copy, [T, 2]."""
    pair = np.stack([ids, ids], axis=1)
    pair[drawn.place, 1] = drawn.word
    return pair


def with_word(sentence: Sentence, place: int, word: str) -> Sentence:
    """Substitute another word for a token, and drop the note of the sentence."""
    tokens = list(sentence.tokens)
    tokens[place] = tokens[place]._replace(text=word)
    return replace(sentence, tokens=tuple(tokens), note=(), note_start=0)


def _others(word: str, words: PairVocabulary) -> npt.NDArray[np.int32]:
    """Ids of a word's neighbours with another vector: others would make a fake pair equal to a real one."""
    ids = np.array(words.vocabulary.ids(words.neighbours[word]), np.int32)
    return ids[(words.table[ids] != words.table[ids[0]]).any(axis=1)]


class PairIndex(NamedTuple):
    """Indices into a quadruple's arrays for each of P pairs.

    A quadruple has four encodings with independent noise: two of x, then two of x'.

    Attributes:
        first: index of the encoding that both adversaries read, [P].
        other: index of the second encoding for T2, [P].
        words: sentence of the word vectors for T1, [P]: 0 for x, 1 for x'.
        sign: 1 for a real pair, -1 for a fake one, [P].
    """

    first: np.ndarray
    other: np.ndarray
    words: np.ndarray
    sign: np.ndarray

    @classmethod
    def of(cls, pairs: str) -> PairIndex:
        """Indices for the named pair scheme (`PrivateSettings.pairs`)."""
        first, second = np.array(PAIR_KINDS[pairs]).T
        return cls(2 * first, 2 * second + 1, second, np.where(first == second, 1, -1).astype(np.float32))


class Adversary(nnx.Module):
    """Bidirectional LSTM with one output, the logit of "the same sentence", from the last state of each direction.

    Args:
        inputs: size of the input of a token.
        hidden: units in each direction.
        rngs: source of the initial weights.
    """

    def __init__(self, inputs: int, hidden: int, *, rngs: nnx.Rngs) -> None:
        self.layer = BiLstm(inputs, hidden, rngs=rngs)
        self.U = nnx.Param(uniform(rngs.params(), (1, 2 * hidden), None))  # [1, 2H]
        self.c = nnx.Param(jnp.zeros(1))

    def __call__(self, inputs: jax.Array, length: jax.Array) -> jax.Array:
        """Logit of one pair.

        Args:
            inputs: [T, inputs].
            length: number of real tokens.
        """
        size = self.layer.R[...].shape[1]
        states = self.layer(inputs, jnp.arange(inputs.shape[0]) < length, jnp.ones((2, size)))  # [T, 2H]
        forward = lax.dynamic_index_in_dim(states, length - 1, keepdims=False)[:size]
        ends = jnp.concatenate([forward, states[0, size:]])
        return (self.U[...] @ ends + self.c[...])[0]


class Adversaries(nnx.Module):
    """Both adversaries, T1 and T2.

    Args:
        dim: size of a word vector, D.
        size: size of a token's representation, S.
        hidden: units of an LSTM in each direction.
        rngs: source of the initial weights.
    """

    def __init__(self, *, dim: int, size: int, hidden: int, rngs: nnx.Rngs) -> None:
        self.T1 = Adversary(size + dim, hidden, rngs=rngs)
        self.T2 = Adversary(2 * size + 1, hidden, rngs=rngs)

    def __call__(self, encoded: jax.Array, vectors: jax.Array, length: jax.Array, shown: PairIndex) -> jax.Array:
        """Logits of each pair by each adversary, [P, 2].

        Args:
            encoded: the four representations of a quadruple, [4, T, S].
            vectors: its word vectors, [2, T, D].
            length: number of real tokens.
            shown: indices of the pairs.
        """
        first, other, words = encoded[shown.first], encoded[shown.other], vectors[shown.words]  # [P, T, ...]
        with_words = jnp.concatenate([first, words], axis=2)
        with_other = jnp.concatenate([first, other, cosines(first, other)[..., None]], axis=2)
        logits = [
            jax.vmap(lambda inputs, adversary=adversary: adversary(inputs, length))(inputs)
            for adversary, inputs in ((self.T1, with_words), (self.T2, with_other))
        ]
        return jnp.stack(logits, axis=1)


def cosines(one: jax.Array, other: jax.Array) -> jax.Array:
    """Cosine of each vector, [..., S], with its counterpart, [...]; 0 if either is zero."""
    squares = jnp.sum(one * one, axis=-1) * jnp.sum(other * other, axis=-1)
    some = squares > 0
    # `where` twice: the gradient of the unused branch must be finite too.
    return jnp.where(some, jnp.sum(one * other, axis=-1) * lax.rsqrt(jnp.where(some, squares, 1.0)), 0.0)


def losses(logits: jax.Array, sign: Any, together: str) -> jax.Array:
    """Cross-entropy of the adversaries in nats, the mean over pairs, of `pair_losses`: [2] or [1]."""
    return jnp.mean(pair_losses(logits, sign, together), axis=0)


def pair_losses(logits: jax.Array, sign: Any, together: str) -> jax.Array:
    """Cross-entropy of the adversaries in nats for each pair.

    Args:
        logits: [P, 2].
        sign: 1 for a real pair, -1 for a fake one, [P].
        together: "each" for that of each adversary, [P, 2]; "average" for that of the mean of their probabilities,
            [P, 1].
    """
    right = jax.nn.log_sigmoid(logits * jnp.asarray(sign)[:, None])  # [P, 2], log-probability of the right class
    if together == "average":
        right = jnp.logaddexp(right[:, :1], right[:, 1:]) - LOG_2
    return -right

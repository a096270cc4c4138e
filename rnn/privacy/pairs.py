"""Real and fake pairs of sentences, which adversaries classify (friedrich2019, section 5.3).

A sentence x and its copy x', in which one PHI token is replaced by one of its N nearest neighbours, give a quadruple of
pairs. An adversary reads the representation of the first and the words, or another representation, of the second:

    real: (x, x), (x', x')        fake: (x, x'), (x', x)

The paper has the pairs (x, x) and (x, x') alone. Then x' occurs in fake pairs alone, so that an odd word betrays them
without the representation. With all four, a guess from one side alone is right half of the time.

A token's first neighbour, the token itself, never replaces it: the fake pair would be a real one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from crfdeid.bio import OUTSIDE
from crfdeid.documents import LabelledSentence
from crfdeid.errors import EmptyInputError
from features.tokens import Sentence
from rnn.embeddings.lookup import Lookup
from rnn.embeddings.vectors import WordVectors
from rnn.privacy.neighbours import Neighbours
from rnn.privacy.settings import require_neighbours
from rnn.privacy.substitution import phi_words
from rnn.vocab import FIRST_WORD, Vocabulary


class PairKind(NamedTuple):
    """Pair of a quadruple: 0 for x, 1 for x'.

    Attributes:
        first: sentence of the representation.
        second: sentence of the words, or of the second representation.
    """

    first: int
    second: int

    @property
    def real(self) -> bool:
        """True if both are of the same sentence."""
        return self.first == self.second


PAIR_KINDS = {
    "symmetric": (PairKind(0, 0), PairKind(1, 1), PairKind(0, 1), PairKind(1, 0)),
    "one-sided": (PairKind(0, 0), PairKind(0, 1)),
}
"""Pairs of a quadruple by scheme (`PrivateSettings.pairs`), half of them real."""


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
    def of(cls, sentences: Iterable[LabelledSentence], words: PairVocabulary) -> Self:
        """Select the sentences that can make a fake pair.

        Raises:
            EmptyInputError: there is none.
        """
        others: dict[str, npt.NDArray[np.int32]] = {}
        found = []
        for number, item in enumerate(sentences):
            tokens = item.sentence.words
            for place in phi_places(item):
                if tokens[place] not in others:
                    others[tokens[place]] = _others(tokens[place], words)
            places = [place for place in phi_places(item) if len(others[tokens[place]])]
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


def phi_places(item: LabelledSentence) -> list[int]:
    """Indices of the PHI tokens of a sentence."""
    return [place for place, tag in enumerate(item.tags) if tag != OUTSIDE]


def _others(word: str, words: PairVocabulary) -> npt.NDArray[np.int32]:
    """Ids of a word's neighbours with another vector: others would make a fake pair equal to a real one."""
    ids = np.array(words.vocabulary.ids(words.neighbours[word]), np.int32)
    return ids[(words.table[ids] != words.table[ids[0]]).any(axis=1)]

"""Real and fake pairs of sentences, for adversaries to tell apart (friedrich2019, section 5.3).

A sentence x and its copy x', in which one PHI token is replaced by one of its N nearest neighbours, give a quadruple of
pairs. An adversary is shown the representation of the first and the words, or another representation, of the second:

    real: (x, x), (x', x')        fake: (x, x'), (x', x)

The paper makes the fake pair by replacing a token, (x, x'), beside the real (x, x). Then the replaced sentence stands
in fake pairs alone, and an odd word gives the answer without a look at the representation. In the four, what anybody
makes of one side alone is right as often as it is wrong.

The token itself, its own first neighbour, replaces nothing here: that fake pair would be a real one.
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
    """One pair of a quadruple, by which of its sentences stand in it: 0 for x, 1 for x'.

    Attributes:
        first: whose representation it is.
        second: whose words, or second representation, stand beside it.
    """

    first: int
    second: int

    @property
    def real(self) -> bool:
        """Whether both are of the same sentence."""
        return self.first == self.second


PAIR_KINDS = {
    "symmetric": (PairKind(0, 0), PairKind(1, 1), PairKind(0, 1), PairKind(1, 0)),
    "one-sided": (PairKind(0, 0), PairKind(0, 1)),
}
"""The pairs of a quadruple that are shown, by `PrivateSettings.pairs`: as many real ones as fake."""


@dataclass(frozen=True, eq=False)
class PairVocabulary:
    """The words of some sentences and the neighbours of their PHI, with a number and a vector each.

    Args:
        vocabulary: the words.
        table: their vectors, as `Lookup` gives them, [V, D]; zeros in the rows that are no word's.
        neighbours: of each word of PHI.
    """

    vocabulary: Vocabulary
    table: npt.NDArray[np.float32]
    neighbours: Neighbours

    @classmethod
    def of(cls, sentences: Sequence[LabelledSentence], vectors: WordVectors, count: int) -> Self:
        """The words of some sentences.

        Args:
            sentences: the sentences; their PHI gets neighbours.
            vectors: say what is near, and give the words' vectors.
            count: how many neighbours a word has, itself among them.

        Raises:
            UsageError: ``count`` is less than 2.
        """
        require_neighbours(count)
        phi = phi_words(sentences)
        neighbours = Neighbours.of(phi, vectors, count)
        known = {word for item in sentences for word in item.sentence.words}
        words = sorted(known.union(*(neighbours[word] for word in phi)))
        # A table of a round size: another number of neighbours needs no other compiled programs.
        table = np.zeros((1 << (len(words) + FIRST_WORD - 1).bit_length(), vectors.dim), np.float32)
        table[FIRST_WORD : FIRST_WORD + len(words)] = Lookup(vectors)(words)
        return cls(Vocabulary(tuple(words), fold_digits=False), table, neighbours)

    def word(self, number: int) -> str:
        """The word of an id."""
        return self.vocabulary.words[number - FIRST_WORD]


class TokenReplacement(NamedTuple):
    """One token of a sentence, and what stands in its place.

    Attributes:
        sentence: the sentence's place in `Replaceable.sentences`.
        place: the token's.
        word: the id of the other word.
    """

    sentence: int
    place: int
    word: int


@dataclass(frozen=True, eq=False)
class Replaceable:
    """Sentences that have a PHI token to replace, and what by.

    Args:
        numbers: which of the sentences that were given these are.
        sentences: these sentences.
        places: of each, the tokens of PHI that can be replaced.
        choices: of each such token, the ids of its neighbours, but those whose vector is its own.
    """

    numbers: Sequence[int]
    sentences: Sequence[LabelledSentence]
    places: Sequence[npt.NDArray[np.intp]]
    choices: Sequence[Sequence[npt.NDArray[np.int32]]]

    @classmethod
    def of(cls, sentences: Iterable[LabelledSentence], words: PairVocabulary) -> Self:
        """Those of some sentences that can make a fake pair; none of them twice.

        Raises:
            DataError: none can.
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
        """For each sentence one of its PHI tokens, and one of that token's neighbours, each as likely."""
        drawn = []
        for number, (places, choices) in enumerate(zip(self.places, self.choices, strict=True)):
            which = int(random.integers(len(places)))
            options = choices[which]
            drawn.append(TokenReplacement(number, int(places[which]), int(options[random.integers(len(options))])))
        return drawn

    def replaced(self, drawn: TokenReplacement, words: PairVocabulary) -> Sentence:
        """The sentence x' of a replacement; it has no note."""
        return with_word(self.sentences[drawn.sentence].sentence, drawn.place, words.word(drawn.word))


def both(ids: npt.NDArray[np.int32], drawn: TokenReplacement) -> npt.NDArray[np.int32]:
    """The ids of a sentence's words beside those of its copy, [T, 2]."""
    pair = np.stack([ids, ids], axis=1)
    pair[drawn.place, 1] = drawn.word
    return pair


def with_word(sentence: Sentence, place: int, word: str) -> Sentence:
    """The sentence with another word in the place of a token, and nothing of its note."""
    tokens = list(sentence.tokens)
    tokens[place] = tokens[place]._replace(text=word)
    return replace(sentence, tokens=tuple(tokens), note=(), note_start=0)


def phi_places(item: LabelledSentence) -> list[int]:
    """Which tokens of a sentence are PHI."""
    return [place for place, tag in enumerate(item.tags) if tag != OUTSIDE]


def _others(word: str, words: PairVocabulary) -> npt.NDArray[np.int32]:
    """The ids of a word's neighbours, but those whose vector is its own: with them, a fake pair would be a real one."""
    ids = np.array(words.vocabulary.ids(words.neighbours[word]), np.int32)
    return ids[(words.table[ids] != words.table[ids[0]]).any(axis=1)]

"""What is attacked: the names in annotated sentences, and sentences with another name in the place of one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from crfdeid.bio import OUTSIDE
from crfdeid.documents import LabelledSentence
from features.tokens import Sentence
from rnn.privacy.pairs import with_word


class Target(NamedTuple):
    """A token of PHI in its sentence.

    Attributes:
        sentence: the sentence.
        place: the token's, from 0.
        label: the type of the PHI.
        number: the sentence's, among those that it was found in.
    """

    sentence: Sentence
    place: int
    label: str
    number: int = 0

    @property
    def word(self) -> str:
        """The token's text: what an attack is after."""
        return self.sentence.tokens[self.place].text

    def with_word(self, word: str) -> Sentence:
        """The sentence with another word in the place of the token, and nothing of its note.

        Example:
            >>> Target(Sentence.from_words(["seen", "by", "Doe"]), 2, "DOCTOR").with_word("Roe").words
            ('seen', 'by', 'Roe')
        """
        return with_word(self.sentence, self.place, word)


def is_name(word: str) -> bool:
    """Whether a token of PHI counts as a name: whether there is a letter in it.

    Marks hide nothing. Numbers are left out because word vectors that fold digits, as those that are learned here do,
    have one vector for all numbers of so many digits: there is nothing to be told apart.
    """
    return any(map(str.isalpha, word))


def names_of(sentences: Iterable[LabelledSentence]) -> list[Target]:
    """Every name that is marked in annotated sentences, in their order."""
    return [
        Target(item.sentence, place, tag[2:], number)
        for number, item in enumerate(sentences)
        for place, (token, tag) in enumerate(zip(item.sentence.tokens, item.tags, strict=True))
        if tag != OUTSIDE and is_name(token.text)
    ]


def sample_targets(targets: Sequence[Target], count: int, random: np.random.Generator) -> list[Target]:
    """At most ``count`` of them, drawn without replacement, in their order."""
    if len(targets) <= count:
        return list(targets)
    return [targets[i] for i in sorted(random.choice(len(targets), count, replace=False).tolist())]

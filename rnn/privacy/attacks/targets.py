"""Targets of attacks: names in annotated sentences, and sentences with a substituted name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from crfdeid.bio import OUTSIDE
from crfdeid.documents import LabelledSentence
from features.tokens import Sentence
from rnn.privacy.pairs import with_word


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

    def with_word(self, word: str) -> Sentence:
        """Substitute another word for the token, and drop the note.

        Example:
            >>> Target(Sentence.from_words(["seen", "by", "Doe"]), 2, "DOCTOR").with_word("Roe").words
            ('seen', 'by', 'Roe')
        """
        return with_word(self.sentence, self.place, word)


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

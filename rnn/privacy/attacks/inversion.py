"""Learned inversion: a decoder that learned from a public corpus reads words out of vectors (friedrich2019's A1).

Nothing in the representation protects words that are no PHI: an adversary sees PHI replaced and nothing else. How many
of them can be read stands beside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from crfdeid.bio import OUTSIDE
from crfdeid.documents import LabelledSentence
from crfdeid.errors import MismatchError
from crfdeid.evaluation.tokens import Proportion
from rnn.privacy.attacks.decoder import Decoder
from rnn.privacy.attacks.targets import is_name
from rnn.privacy.encoder import Encoder
from rnn.processors.casing import casing


@dataclass(frozen=True, slots=True)
class Recovered:
    """How many words were read.

    Args:
        recovered: words that the decoder read. One that it does not know counts as not read.
        by_frequency: words that are the most frequent ones for their tag and casing, which are published too.
        known: words that the decoder knows: it can read no more.
    """

    recovered: Proportion
    by_frequency: Proportion
    known: Proportion


@dataclass(frozen=True, slots=True)
class Inversion:
    """What came of the attack, of words with a letter or a digit.

    Args:
        phi: words of PHI.
        names: of these the ones with a letter.
        others: words that are no PHI.
        words: how many words the decoder knows.
        examples: how many tokens it learned from.
    """

    phi: Recovered
    names: Recovered
    others: Recovered
    words: int
    examples: int


def invert_by_learning(
    encoder: Encoder,
    known: Sequence[LabelledSentence],
    attacked: Sequence[LabelledSentence],
    *,
    seed: int,
) -> Inversion:
    """Let a decoder learn from known sentences, and read others.

    Args:
        encoder: what both are published with, the latter once, with noise.
        known: sentences whose words the attacker has: the provider's public corpus.
        attacked: sentences of other documents.
        seed: of all that is drawn.

    Raises:
        DataError: there are no known sentences, or a document is on both sides.
    """
    if {item.document for item in known} & {item.document for item in attacked}:
        raise MismatchError("a document is both known and attacked: give different ones")
    decoder = Decoder.learn(encoder, known, seed=seed)
    published = encoder.encode([item.sentence for item in attacked], np.random.default_rng([seed, 1]))
    read, guessed = decoder.read(published, attacked), _most_frequent(known, attacked)
    vocabulary = set(decoder.examples.words.tolist())
    tokens = [
        _Token(word, tag != OUTSIDE, found == word, guess == word, word in vocabulary)
        for item, *words in zip(attacked, read, guessed, strict=True)
        for word, tag, found, guess in zip(item.sentence.words, item.tags, *words, strict=True)
        if any(map(str.isalnum, word))
    ]
    phi = [token for token in tokens if token.phi]
    names = [token for token in phi if is_name(token.word)]
    others = [token for token in tokens if not token.phi]
    return Inversion(
        _recovered(phi), _recovered(names), _recovered(others), len(vocabulary), len(decoder.examples.words)
    )


class _Token(NamedTuple):
    """A word that is attacked, whether it is PHI, and how that went."""

    word: str
    phi: bool
    read: bool
    guessed: bool
    known: bool


def _recovered(tokens: Sequence[_Token]) -> Recovered:
    counts = [sum(marks) for marks in zip(*(token[2:] for token in tokens), strict=True)] or [0, 0, 0]
    return Recovered(*(Proportion(count, len(tokens)) for count in counts))


def _most_frequent(known: Sequence[LabelledSentence], attacked: Sequence[LabelledSentence]) -> list[list[str]]:
    """For each token the most frequent known word of its tag and casing, else of its casing, else of all."""
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
    """What is published beside a word's vector, the most telling first: the word itself tells its casing alone."""
    return (tag, casing(word)), casing(word), None

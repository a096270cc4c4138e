"""From annotated notes to sentences with pseudonyms, and what these leave: the work of ``crfdeid pseudonymise``."""

from __future__ import annotations

import secrets
from typing import Any, NamedTuple

import numpy as np

from crfdeid.corpora.splits import Split
from crfdeid.documents import LabelledSentence
from rnn.embeddings import WordVectors
from rnn.sharing.neighbours import Neighbours
from rnn.sharing.pseudonyms import (
    Remains,
    neighbours_that_contain,
    phi_words,
    replaced,
    shareable,
    shuffled,
)


class SystemDraws(np.random.Generator):
    """Order and neighbours drawn by the operating system.

    NumPy's own generators go on from a state. Whoever knows what some words were, and so which of their neighbours were
    drawn, could compute it, and then what all the others were.
    """

    def __init__(self) -> None:
        super().__init__(np.random.PCG64())  # which is not used

    def integers(self, low: int, *_: Any, **__: Any) -> int:  # type: ignore[override]
        """A whole number from 0, below ``low``."""
        return secrets.randbelow(int(low))

    def permutation(self, x: int, *_: Any, **__: Any) -> list[int]:  # type: ignore[override]
        """The numbers from 0, ``x`` of them, in random order."""
        order = list(range(x))
        secrets.SystemRandom().shuffle(order)
        return order


class Pseudonymised(NamedTuple):
    """Sentences with pseudonyms, and what they leave.

    Attributes:
        sentences: in random order, each in a document of its own with a new id.
        left_out: how many sentences were left out, because no tags express all of their PHI.
        remains: what the pseudonyms leave of the words that they replaced.
        containing: how many neighbours of a word hold it, the word itself left out: the mean over the words of PHI.
        words: how many words of PHI there are, each counted once.
        unknown: how many of them have no vector.
    """

    sentences: list[LabelledSentence]
    left_out: int
    remains: Remains
    containing: float
    words: int
    unknown: int


def pseudonymise(notes: Split, vectors: WordVectors, *, count: int, seed: int | None = None) -> Pseudonymised:
    """Each sentence of notes as a document of its own, its PHI replaced by neighbours.

    Args:
        notes: the notes, with all of their PHI annotated.
        vectors: what says which words are near: public ones, learned from other text than the notes.
        count: how many neighbours a word may become, itself among them.
        seed: of order and choice, for experiments: who knows it can undo the replacement. None to let
            the operating system draw.

    Raises:
        UsageError: ``count`` is less than 1.
    """
    random = SystemDraws() if seed is None else np.random.default_rng(seed)
    before = shareable(notes.encoded)
    words = phi_words(before)
    neighbours = Neighbours.of(words, vectors, count)
    after = replaced(before, neighbours, random)
    return Pseudonymised(
        shuffled(after, random),
        len(notes.sentences) - len(before),
        Remains.of(before, after),
        neighbours_that_contain(words, neighbours),
        len(words),
        len(neighbours.unknown),
    )

"""From annotated notes to sentences with pseudonyms, and what these leave: the work of ``crfdeid pseudonymise``."""

from __future__ import annotations

from typing import NamedTuple

from crfdeid.corpora.splits import Split
from crfdeid.documents import LabelledSentence
from rnn.embeddings import WordVectors
from rnn.privacy.neighbours import Neighbours
from rnn.privacy.substitution import ResidualPHI, neighbours_that_contain, phi_words, replaced, shareable, shuffled
from rnn.privacy.system_random import generator


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
    remains: ResidualPHI
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
    random = generator(seed)
    before = shareable(notes.encoded)
    words = phi_words(before)
    neighbours = Neighbours.of(words, vectors, count)
    after = replaced(before, neighbours, random)
    return Pseudonymised(
        shuffled(after, random),
        len(notes.sentences) - len(before),
        ResidualPHI.of(before, after),
        neighbours_that_contain(words, neighbours),
        len(words),
        len(neighbours.unknown),
    )

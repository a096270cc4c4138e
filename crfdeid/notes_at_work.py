"""Notes at work, read in stretches of sentences: however long a note is, few of its sentences are in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from crfdeid.documents import Document, Span
from crfdeid.given.known import Known
from crfdeid.token_table import TokenTable
from features.tokens import Sentence

# Sentences are tagged together up to so many tokens: more than those of a batch of ordinary notes.
_STRETCH_TOKENS = 1 << 15


@dataclass(eq=False, slots=True)
class NoteAtWork:
    """A note at work.

    Attributes:
        document: the note, in the end with its PHI.
        known: what the record says of its patient.
        found: the PHI that the model has found so far.
        concepts: the concepts that it has found so far.
        tokens: all that were read so far, for consistency.
    """

    document: Document
    known: Known | None
    found: list[Span] = field(default_factory=list)
    concepts: list[Span] = field(default_factory=list)
    tokens: TokenTable = field(default_factory=TokenTable)


Stretch = Sequence[tuple[NoteAtWork, Sequence[Sentence]]]


def stretches(notes: Iterable[NoteAtWork]) -> Iterator[Stretch]:
    """Sentences that are tagged together, note by note: of a long note, no more are in memory at once."""
    stretch: list[tuple[NoteAtWork, list[Sentence]]] = []
    count = 0
    for note in notes:
        group: list[Sentence] = []
        stretch.append((note, group))
        for sentence in note.document.each_sentence():
            if count >= _STRETCH_TOKENS:
                yield stretch
                group, count = [], 0
                stretch = [(note, group)]
            group.append(sentence)
            count += len(sentence.tokens)
    yield stretch


def within(sentences: Sequence[Sentence], spans: Iterable[Span]) -> list[Span]:
    """The spans that share a character with some neighbouring sentences."""
    tokens = [token for sentence in sentences for token in (*sentence.tokens[:1], *sentence.tokens[-1:])]
    if not tokens:
        return []
    return [span for span in spans if tokens[0].start < span.end and span.start < tokens[-1].end]

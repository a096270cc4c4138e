"""Copies of one note, rewritten: in another spelling, or with other values of PHI.

- In another spelling, small letters, capitals, or letters without their accents, every offset stays.
- From few notes a model learns their names and towns by heart, and the marks that separate an address's parts in them.
  A copy with other values has a surrogate of each value that has one, and other marks between the values of a line, so
  that the model must use the form of a value and the words around it (mention replacement).

Reference:
    Dai and Adel (2020), "An analysis of simple data augmentation for named entity recognition", section 3.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import accumulate
from types import MappingProxyType

from crfdeid.corpora.marked_text import MarkedText, join_parts, labelled
from crfdeid.documents import PHI, Document, Span, merge
from crfdeid.errors import DataError
from crfdeid.redaction.redact import redact
from features.tokenizer import Token
from features.tokens import Sentence

_UNSEEN = "\u200b"  # replaces a removed mark: the normal form of text leaves it out
_BETWEEN_VALUES = re.compile(r"[ .,;:()\-–]{1,4}")
_MARKS = (" ", " ", " ", ". ", ", ", " - ", "; ")
_SHARE_CHANGED = 0.5

Rewrite = Callable[[Document], Document]
"""Rewrites a note's text and keeps its annotations aligned."""


def in_small_letters(document: Document) -> Document:
    """The note in lower case.

    Example:
        >>> in_small_letters(Document("1", "Dr. Muñoz")).text
        'dr. muñoz'
    """
    return by_character(document, str.lower)


def in_capitals(document: Document) -> Document:
    """The note in upper case; letters that become two, such as ß, stay."""
    return by_character(document, str.upper)


def without_accents(document: Document) -> Document:
    """The note with every letter that has marks as the letter without them.

    Example:
        >>> without_accents(Document("1", "Dr. Muñoz, Málaga")).text
        'Dr. Munoz, Malaga'
    """
    return by_character(document, _bare)


def in_small_letters_without_accents(document: Document) -> Document:
    """The note in lower case and without accents, as in hurried typing."""
    return in_small_letters(without_accents(document))


REWRITES: Mapping[frozenset[str], tuple[Rewrite, ...]] = MappingProxyType(
    {
        frozenset({"accents"}): (without_accents,),
        frozenset({"case"}): (in_small_letters, in_capitals),
        frozenset({"accents", "case"}): (
            in_small_letters,
            without_accents,
            in_small_letters_without_accents,
            in_capitals,
        ),
    }
)
"""Rewrites by kinds of spelling; copies use them in rotation."""


Edit = tuple[int, int, str]
"""Start and end of a range of a note's text, and the text in its place."""


def with_edits(document: Document, edits: Iterable[Edit]) -> Document:
    """A note with ranges of its text replaced, none of which overlap, and its spans moved.

    A span that begins or ends inside a range begins or ends after the new text. The tokens that came with the data, if
    any, are dropped.

    Example:
        >>> from crfdeid.documents import Span
        >>> with_edits(Document("1", "by Dr. Quill", (Span(7, 12, "DOCTOR"),)), [(6, 7, ""), (7, 8, "qu")]).spans
        (Span(start=6, end=12, label='DOCTOR'),)
    """
    pieces = list(document.text)
    for start, end, new in edits:
        pieces[start:end] = [new, *[""] * (end - start - 1)]
    return with_pieces(document, pieces)


def with_pieces(document: Document, pieces: Sequence[str]) -> Document:
    """A note with a piece of text in place of each character, and the spans of all layers moved."""
    offsets = [0, *accumulate(map(len, pieces))]
    layers = {
        name: tuple(Span(offsets[start], offsets[end], label) for start, end, label in document.layer(name))
        for name in document.annotated
    }
    return replace(
        document, text="".join(pieces), spans=layers.pop(PHI, ()), layers=layers, pretokenized=None, evidence={}
    )


def by_character(document: Document, change: Callable[[str], str]) -> Document:
    """A note with each character mapped to one character, so that offsets stay; what would become two stays."""

    @cache
    def one(character: str) -> str:
        changed = change(character)
        return changed if len(changed) == 1 else character

    def rewrite(text: str) -> str:
        return "".join(map(one, text))

    pretokenized = document.pretokenized
    sentences = None if pretokenized is None else tuple(_rewritten(pretokenized, rewrite))
    return replace(document, text=rewrite(document.text), pretokenized=sentences)


def _rewritten(sentences: Sequence[Sentence], rewrite: Callable[[str], str]) -> Iterator[Sentence]:
    """Sentences with all their texts rewritten; shared tokens of a note stay shared."""

    def tokens(row: Sequence[Token]) -> tuple[Token, ...]:
        return tuple(token._replace(text=rewrite(token.text)) for token in row)

    notes = {id(sentence.note): sentence.note for sentence in sentences}
    shared = {key: tokens(note) for key, note in notes.items()}
    for sentence in sentences:
        yield replace(
            sentence,
            tokens=tokens(sentence.tokens),
            heading=rewrite(sentence.heading),
            line_prefix=rewrite(sentence.line_prefix),
            note=shared[id(sentence.note)],
        )


@cache
def _bare(character: str) -> str:
    """A letter without its marks, if its Unicode decomposition is one letter followed by marks."""
    if "\u0300" <= character <= "\u036f":  # an accent by itself, after its letter
        return _UNSEEN
    parts = unicodedata.normalize("NFD", character)
    is_marked = len(parts) > 1 and parts[0].isalpha() and all(map(unicodedata.combining, parts[1:]))
    return parts[0] if is_marked else character


def with_other_values(document: Document, number: int) -> Document | None:
    """A copy of a note with surrogates of its values.

    Args:
        document: a note with its PHI.
        number: of the copy; each has other surrogates.

    Returns:
        The copy; None for a note whose tokens came with the data, that has another annotation layer or spans that
        overlap, or whose language has no surrogates.

    Example:
        >>> from crfdeid.documents import Span
        >>> note = Document("1", "Seen by Dr. Quill of the clinic.", (Span(12, 17, "DOCTOR"),))
        >>> copy = with_other_values(note, 0)
        >>> copy.text.startswith("Seen by Dr. "), "Quill" in copy.text
        (True, False)
    """
    if document.pretokenized is not None or document.layers or len(merge(document.spans)) < len(document.spans):
        return None
    key = f"surrogates of training copy {number}".encode()  # not secret: the copies are never written
    try:
        copy = redact(document, "surrogate", secret=key, patient=f"{document.id} {number}", markup="plain")
    except DataError:  # a language without surrogates
        return None
    return _joined(document, copy, random.Random(f"{document.id} {number}"))


def _joined(document: Document, copy: Document, draw: random.Random) -> Document:
    """The note with the values of a copy, and other marks between some of the values that only marks separate."""

    def parts() -> Iterator[MarkedText]:
        end = 0
        for span, other in zip(merge(document.spans), copy.spans, strict=True):
            gap, value = document.text[end : span.start], copy.text[other.start : other.end]
            if value == f"[{span.label}]":  # no surrogate
                value = document.text[span.start : span.end]
            if end and _BETWEEN_VALUES.fullmatch(gap) and draw.random() < _SHARE_CHANGED:
                gap = draw.choice(_MARKS)
            yield MarkedText(gap)
            yield labelled(value, span.label)
            end = span.end
        yield MarkedText(document.text[end:])

    joined = join_parts(parts())
    return replace(document, text=joined.text, spans=joined.spans)

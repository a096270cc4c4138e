"""Copies of notes in another spelling: small letters, capitals, letters without their accents; every offset stays."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from types import MappingProxyType

from crfdeid.documents import Document
from features.tokenizer import Token
from features.tokens import Sentence

_UNSEEN = "\u200b"  # replaces a removed mark: the normal form of text leaves it out

Rewrite = Callable[[Document], Document]
"""Rewrites a note's text and keeps its annotations aligned."""


def in_small_letters(document: Document) -> Document:
    """The note in lower case.

    Example:
        >>> in_small_letters(Document("1", "Dr. Muñoz")).text
        'dr. muñoz'
    """
    return _by_character(document, _small)


def in_capitals(document: Document) -> Document:
    """The note in upper case; letters that become two, such as ß, stay."""
    return _by_character(document, _capital)


def without_accents(document: Document) -> Document:
    """The note with every letter that has marks as the letter without them.

    Example:
        >>> without_accents(Document("1", "Dr. Muñoz, Málaga")).text
        'Dr. Munoz, Malaga'
    """
    return _by_character(document, _bare)


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


def _by_character(document: Document, change: Callable[[str], str]) -> Document:
    """A note with each character mapped to one character, so that offsets stay."""

    def rewrite(text: str) -> str:
        return "".join(map(change, text))

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
def _small(character: str) -> str:
    return _one(character.lower(), character)


@cache
def _capital(character: str) -> str:
    return _one(character.upper(), character)


@cache
def _bare(character: str) -> str:
    """A letter without its marks, if its Unicode decomposition is one letter followed by marks."""
    if "\u0300" <= character <= "\u036f":  # an accent by itself, after its letter
        return _UNSEEN
    parts = unicodedata.normalize("NFD", character)
    is_marked = len(parts) > 1 and parts[0].isalpha() and all(map(unicodedata.combining, parts[1:]))
    return parts[0] if is_marked else character


def _one(changed: str, character: str) -> str:
    return changed if len(changed) == 1 else character

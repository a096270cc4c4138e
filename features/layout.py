"""Features of where a token stands: the section, the field of a form, the place in the note."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from features.columns import Column, Extractor
from features.orthography import shape
from features.tokens import Sentence

_FIELD_WORDS = 3
_POSITIONS = 10


@dataclass(frozen=True)
class Layout(Extractor):
    """The heading above, the field a value belongs to, and the part of the note.

    - ``heading``: the heading above the sentence; ``prefix``: what stands before the first colon of its line.
    - ``field``: up to three words before the nearest colon on the left in the sentence, and ``field+``: the same with
      the distance from that colon, in tokens: the value of a field starts right after it.
    - ``place``: the tenth of the note's lines in which the sentence stands.

    Example:
        >>> from features.tokens import split_sentences
        >>> Layout().extract(split_sentences("Attending: Dr. Doe")[0])[2]
        ['heading=', 'prefix=attending', 'place=0', 'field=attending', 'field+1=attending']
    """

    def columns(self, sentence: Sentence) -> list[Column]:
        """The features of the sentence, kind by kind."""
        count = len(sentence.tokens)
        place = _POSITIONS * sentence.line // max(sentence.line_count, 1)
        columns: list[Column] = [
            (("heading=",), [sentence.heading.lower()] * count),
            (("prefix=",), [sentence.line_prefix.lower()] * count),
            (("place=",), [str(place)] * count),
        ]
        words = [word.lower() for word in sentence.words]
        return columns + _field_columns(words) if ":" in words else columns

    def describe(self) -> str:
        """What is extracted, in one line."""
        return "heading, line prefix, words before the nearest colon and the distance from it, tenth of the note"


@dataclass(frozen=True)
class PrefixWords(Extractor):
    """The word and its shape, each with the line's prefix: ``prefix+lower=attending|doe``, ``prefix+shape=…|Xxx``.

    In the fields of a form the same word means different things: a number after "MRN" and one after "Phone".

    Example:
        >>> from features.tokens import split_sentences
        >>> PrefixWords().extract(split_sentences("Attending: Dr. Doe")[0])[2]
        ['prefix+lower=attending|dr', 'prefix+shape=attending|Xx']
    """

    def columns(self, sentence: Sentence) -> list[Column]:
        """The features of the sentence, kind by kind."""
        prefix = f"{sentence.line_prefix.lower()}|"
        words = sentence.words
        return [
            (("prefix+lower=",), [prefix + word.lower() for word in words]),
            (("prefix+shape=",), [prefix + shape(word) for word in words]),
        ]

    def describe(self) -> str:
        """What is extracted, in one line."""
        return "the word and its shape, each with the line's prefix"


def _field_columns(words: Sequence[str]) -> list[Column]:
    fields: list[str | None] = []
    distances: list[str | None] = []
    field, colon = "", 0
    for i, word in enumerate(words):
        fields.append(field or None)
        distances.append(f"{min(i - colon, 9)}={field}" if field else None)
        if word == ":":
            field, colon = " ".join(words[max(i - _FIELD_WORDS, 0) : i]), i
    return [(("field=",), fields), (("field+",), distances)]

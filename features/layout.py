"""Features of where a token stands: the section, the field of a form, the place in the note."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

import numpy as np

from features.columns import Batch, Column, Conjunction, Extractor
from features.orthography import shape
from features.tokens import Sentence

_FIELD_WORDS = 3
_POSITIONS = 10
_FAR = 9  # tokens; what is farther counts as that


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

    def columns(self, batch: Batch) -> list[Column]:
        """The features of the sentences, kind by kind."""
        of_sentences = {
            "heading=": [sentence.heading.lower() for sentence in batch.sentences],
            "prefix=": [_prefix(sentence) for sentence in batch.sentences],
            "place=": [_place(sentence) for sentence in batch.sentences],
        }
        columns = [Column((head,), values, batch.sentence_of) for head, values in of_sentences.items()]
        return columns + _fields(batch)

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

    def conjunctions(self) -> list[Conjunction]:
        """The features that words decide together with the prefix of their line, kind by kind."""
        return [
            Conjunction(((0, "prefix+lower="),), str.lower, opening=_prefix, joint="|"),
            Conjunction(((0, "prefix+shape="),), shape, opening=_prefix, joint="|"),
        ]

    def describe(self) -> str:
        """What is extracted, in one line."""
        return "the word and its shape, each with the line's prefix"


def _prefix(sentence: Sentence) -> str:
    return sentence.line_prefix.lower()


def _place(sentence: Sentence) -> str:
    return str(_POSITIONS * sentence.line // max(sentence.line_count, 1))


def _fields(batch: Batch) -> list[Column]:
    """The field that each token belongs to, alone and with the distance from its colon."""
    is_colon = np.array([word == ":" for word in batch.distinct], bool)[batch.numbers]
    colons, field = np.flatnonzero(is_colon), np.cumsum(is_colon) - is_colon  # the colons before each token
    nearest = np.append(-1, colons)[field]
    field[batch.sentence_of[nearest] != batch.sentence_of] = 0  # that one is in an earlier sentence
    firsts = np.maximum(colons - _FIELD_WORDS, batch.begins[batch.sentence_of[colons]])
    words = [*chain.from_iterable(batch.words)] if len(colons) else []
    names = [" ".join(words[a:b]).lower() or None for a, b in zip(firsts.tolist(), colons.tolist(), strict=True)]
    # The values with a distance: for each field one after the other, as many as it has tokens, up to the farthest.
    counts = np.minimum(np.bincount(field, minlength=len(names) + 1)[1:], _FAR)
    values = [
        f"{distance}={name}" if name else None
        for name, count in zip(names, counts.tolist(), strict=True)
        for distance in range(1, count + 1)
    ]
    distances = np.minimum(np.arange(len(field)) - nearest, _FAR)
    before = np.append(0, np.cumsum(counts) - counts)[field]
    chosen = np.where(field, before + distances, 0)
    return [Column(("field=",), [None, *names], field), Column(("field+",), [None, *values], chosen)]

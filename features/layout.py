"""Features of where a token stands: the section, the field of a form, the place in the note."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from features.batch import Batch
from features.columns import Column, Conjunction, Extractor, Value
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
        counts = [len(words) for words in batch.words]
        fields = [_fields(words) if ":" in words else ([None], [len(words)]) for words in batch.words]
        names, runs = ([*chain.from_iterable(part)] for part in zip(*fields, strict=True)) if fields else ([], [])
        return [
            Column(("heading=",), [sentence.heading.lower() for sentence in batch.sentences], counts),
            Column(("prefix=",), [_prefix(sentence) for sentence in batch.sentences], counts),
            Column(("place=",), [_place(sentence) for sentence in batch.sentences], counts),
            Column(("field=",), names, runs),
            Column(("field+",), *_distances(names, runs)),
        ]

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


def _fields(words: Sequence[str]) -> tuple[list[Value], list[int]]:
    """The fields of a sentence, and how many tokens have each."""
    colons = [i for i, word in enumerate(words) if word == ":"]
    names = [" ".join(map(str.lower, words[max(colon - _FIELD_WORDS, 0) : colon])) or None for colon in colons]
    return [None, *names], [b - a for a, b in pairwise([0, *(colon + 1 for colon in colons), len(words)])]


def _distances(names: Sequence[Value], runs: Sequence[int]) -> tuple[list[Value], list[int]]:
    """The fields with the distance of each token from the colon, and how many tokens have each."""
    values: list[Value] = []
    counts: list[int] = []
    for name, run in zip(names, runs, strict=True):
        near = min(run, _FAR - 1) if name else 0
        values += [f"{distance}={name}" for distance in range(1, near + 1)]
        values.append(f"{_FAR}={name}" if name else None)
        counts += [*[1] * near, run - near]
    return values, counts

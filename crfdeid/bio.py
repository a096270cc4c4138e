"""Spans to IOB2 tags and back, and which tag may follow which.

IOB2: the first token of an entity is ``B-TYPE``, the others ``I-TYPE``, everything else ``O`` (yadav2016, Table 1). So
an ``I-X`` stands only after a ``B-X`` or another ``I-X``: `continues`, `may_follow` and `may_begin` say so for two
tags, `valid_transitions` and `valid_first` for all pairs, as arrays.

A tagger can emit sequences that are not valid IOB2; what is then read out of them is a named policy:

- ``"begin"``: an ``I-X`` that does not continue an ``X`` begins a new entity (the reading of conlleval).
- ``"discard"``: an ``I-X`` that does not continue an ``X`` is dropped (strict IOB2). It loses entities, so it leaks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from sys import intern
from typing import Literal, NamedTuple

import numpy as np

from crfdeid.documents import PHI, Document, LabelledSentence, Layers, Span, in_characters, merge
from crfdeid.label_schemes import BINARY
from features.normal import bare_edges
from features.tokens import Sentence

Repair = Literal["begin", "discard"]
OUTSIDE = "O"


def continues(tag: str, before: str) -> bool:
    """Whether a tag continues the entity that the token before it is in.

    Example:
        >>> goes_on("I-DATE", "B-DATE"), goes_on("I-DATE", "B-ID"), goes_on("B-DATE", "B-DATE")
        (True, False, False)
    """
    return tag.startswith("I-") and before in (tag, f"B-{tag[2:]}")


def may_begin(tag: str) -> bool:
    """Whether a sentence may begin with a tag: with any but an ``I-X``."""
    return not tag.startswith("I-")


def may_follow(tag: str, before: str) -> bool:
    """Whether a tag may stand after another in valid IOB2.

    Example:
        >>> may_follow("I-DATE", "B-DATE"), may_follow("I-DATE", "O"), may_follow("O", "B-DATE")
        (True, False, True)
    """
    return may_begin(tag) or continues(tag, before)


def valid_transitions(tags: Sequence[str]) -> np.ndarray:
    """`may_follow` for every pair of tags: [K, K] bool, the row being the tag before, the column the one after it.

    Example:
        >>> valid_transitions(["B-ID", "I-ID", "O"]).tolist()
        [[True, True, True], [True, True, True], [True, False, True]]
    """
    pairs = [[may_follow(tag, before) for tag in tags] for before in tags]
    return np.array(pairs, bool).reshape(len(tags), len(tags))


def valid_first(tags: Sequence[str]) -> np.ndarray:
    """`may_begin` for every tag: [K] bool.

    Example:
        >>> valid_first(["B-ID", "I-ID", "O"]).tolist()
        [True, False, True]
    """
    return np.array([may_begin(tag) for tag in tags], bool)


class Encoded(NamedTuple):
    """A document as tagged sentences.

    Attributes:
        sentences: the sentences, with the tags of every annotation layer.
        unaligned: the PHI spans that no tag sequence over the tokens can express.
        unaligned_layers: such spans of the further layers, by the layer's name.
    """

    sentences: list[LabelledSentence]
    unaligned: list[Span]
    unaligned_layers: Mapping[str, tuple[Span, ...]] = Layers()

    def left_over(self, layer: str) -> Sequence[Span]:
        """The unaligned spans of a layer, `PHI` or another."""
        return self.unaligned if layer == PHI else self.unaligned_layers[layer]


def encode(document: Document) -> Encoded:
    """Tags for every sentence of a document, in each of its annotation layers.

    A span is unaligned when it starts or ends inside a token, crosses a sentence's end, or overlaps a longer span of
    its layer (the longest one wins). Unaligned spans are returned, never silently lost: the scorer works on the
    original spans, so each counts as missed. Invisible marks at the ends of a span are not asked for.
    """
    sentences = document.sentences()
    places = _Places.of(sentences, document.text)
    tags, unaligned = _tag(document.spans, places)
    further = {name: _tag(spans, places) for name, spans in document.layers.items()}
    labelled = [
        LabelledSentence(
            sentence,
            tags[i],
            document.id,
            {name: rows[i] for name, (rows, _) in further.items()},
            phi_annotated=document.phi_annotated,
        )
        for i, sentence in enumerate(sentences)
    ]
    return Encoded(labelled, unaligned, Layers({name: left for name, (_, left) in further.items()}))


class _Places(NamedTuple):
    """Where the tokens of a document begin and end: offset -> number of the sentence and of the token in it.

    Invisible marks at their ends left out, since an annotation may hold them or not.
    """

    starts: Mapping[int, tuple[int, int]]
    ends: Mapping[int, tuple[int, int]]
    lengths: Sequence[int]
    text: str

    @classmethod
    def of(cls, sentences: Sequence[Sentence], text: str) -> _Places:
        starts: dict[int, tuple[int, int]] = {}
        ends: dict[int, tuple[int, int]] = {}
        for s, sentence in enumerate(sentences):
            for i, token in enumerate(sentence.tokens):
                start, end = bare_edges(text, token.start, token.end)
                starts[start] = ends[end] = (s, i)
        return cls(starts, ends, [len(sentence.tokens) for sentence in sentences], text)

    def first_and_last(self, span: Span) -> tuple[tuple[int, int] | None, tuple[int, int] | None]:
        """The tokens with which a span begins and ends; None where it does so within one."""
        start, end = bare_edges(self.text, span.start, span.end)
        return self.starts.get(start), self.ends.get(end)


def _tag(spans: Sequence[Span], places: _Places) -> tuple[list[tuple[str, ...]], list[Span]]:
    """The tags of every sentence in one annotation layer, and the spans that are unaligned."""
    tags = [[OUTSIDE] * length for length in places.lengths]
    unaligned = []
    for span in sorted(spans, key=lambda s: (s.start - s.end, s)):
        first, last = places.first_and_last(span)
        if first is None or last is None or first[0] != last[0]:
            unaligned.append(span)
            continue
        row, begin, stop = tags[first[0]], first[1], last[1] + 1
        if any(tag != OUTSIDE for tag in row[begin:stop]):
            unaligned.append(span)
            continue
        write_span(row, Span(begin, stop, span.label))
    return [tuple(row) for row in tags], sorted(unaligned)


def tag_spans(tags: Sequence[str], repair: Repair = "begin") -> list[Span]:
    """The entities of one tag sequence, as spans of token positions (half-open).

    Example:
        >>> tag_spans(["B-DATE", "I-DATE", "O", "I-ID"])
        [Span(start=0, end=2, label='DATE'), Span(start=3, end=4, label='ID')]
    """
    if tags.count(OUTSIDE) == len(tags):
        return []  # as in most sentences
    opening = ("B-", "I-") if repair == "begin" else ("B-",)
    spans: list[Span] = []
    start, before = 0, OUTSIDE  # the entity that is open: its first token, and its last tag so far
    for i, tag in enumerate(tags):
        if not (tag == before == OUTSIDE or continues(tag, before)):
            if before != OUTSIDE:
                spans.append(Span(start, i, intern(before[2:])))
            start, before = i, tag if tag.startswith(opening) and len(tag) > 2 else OUTSIDE
    if before != OUTSIDE:
        spans.append(Span(start, len(tags), intern(before[2:])))
    return spans


def decode(sentence: Sentence, tags: Sequence[str], repair: Repair = "begin") -> list[Span]:
    """The entities of one tagged sentence, as spans of character offsets in its document.

    Raises:
        ValueError: there is not exactly one tag per token.
    """
    if len(tags) != len(sentence.tokens):
        raise ValueError(f"{len(tags)} tags for {len(sentence.tokens)} tokens")
    return in_characters(sentence.tokens, tag_spans(tags, repair))


def write_span(row: list[str], span: Span) -> None:
    """Tag the tokens of a span of token positions in a sentence's tags.

    Example:
        >>> row = ["O", "O", "O"]
        >>> write_span(row, Span(1, 3, "DATE"))
        >>> row
        ['O', 'B-DATE', 'I-DATE']
    """
    row[span.start : span.end] = [f"B-{span.label}", *[f"I-{span.label}"] * (span.end - span.start - 1)]


def phi_probabilities(table: np.ndarray, tags: Sequence[str]) -> np.ndarray:
    """The probability that each token is PHI, 1 - P(O): [T].

    It is summed over the other tags, which keeps the digits of small probabilities.

    Args:
        table: the tokens' marginals, [T, K].
        tags: the tags of the columns.
    """
    columns = [k for k, tag in enumerate(tags) if tag != OUTSIDE]
    found: np.ndarray = table[:, columns].sum(axis=1, dtype=float)
    return found


def phi_spans(sentence: Sentence, table: np.ndarray, tags: Sequence[str], threshold: float) -> list[Span]:
    """The spans of all tokens with at least a probability of being PHI.

    Each such token has the type with the largest probability, B and I together. Where that of O is at least as large,
    the token is hidden by the threshold alone: its type is `BINARY` ("PHI"), for the model gives it
    none. A run of neighbours of one type is one span, but for a token that is more probably the beginning of an entity
    than the inside of one: it begins another.

    Args:
        sentence: the T tokens.
        table: their marginals, [T, K].
        tags: the tags of the columns.
        threshold: a probability.

    Example:
        >>> table = np.array([[0.9, 0.1, 0.0], [0.3, 0.6, 0.1], [0.6, 0.1, 0.3]])
        >>> phi_spans(Sentence.from_words(["by", "Dr", "Doe"]), table, ("O", "B-DOCTOR", "I-DOCTOR"), 0.25)
        [Span(start=3, end=5, label='DOCTOR'), Span(start=6, end=9, label='PHI')]
    """
    labels = sorted({tag[2:] for tag in tags if tag != OUTSIDE})
    if not labels:
        return []
    begin, inside = (_columns(table, tags, prefix, labels) for prefix in ("B-", "I-"))  # [T, L] each
    typed = begin + inside
    best = typed.argmax(axis=1)  # [T]
    named = typed.max(axis=1) > _outside(table, tags)  # [T]

    def goes_on(whole: Span, span: Span) -> bool:
        place = span.start, best[span.start]
        begins = bool(named[span.start]) and bool(begin[place] > inside[place])
        return whole.end == span.start and whole.label == span.label and not begins

    hidden = np.flatnonzero(phi_probabilities(table, tags) >= threshold).tolist()
    single = (Span(i, i + 1, labels[best[i]] if named[i] else BINARY) for i in hidden)
    return in_characters(sentence.tokens, merge(single, joins=goes_on))


def _outside(table: np.ndarray, tags: Sequence[str]) -> np.ndarray:
    """The probability of O, 0 in a model that has no such tag: [T]."""
    return table[:, list(tags).index(OUTSIDE)] if OUTSIDE in tags else np.zeros(len(table))


def _columns(table: np.ndarray, tags: Sequence[str], prefix: str, labels: Sequence[str]) -> np.ndarray:
    """The column of each label's B or I tag, zeros where there is none: [T, L]."""
    place = {tag: k for k, tag in enumerate(tags)}
    zeros = np.zeros(len(table))
    return np.stack([table[:, place[prefix + name]] if prefix + name in place else zeros for name in labels], axis=1)

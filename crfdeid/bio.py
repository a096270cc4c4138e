"""Spans to IOB2 tags and back.

IOB2: the first token of an entity is ``B-TYPE``, the others ``I-TYPE``, everything else ``O`` (yadav2016, Table 1).
A tagger can emit sequences that are not valid IOB2; what is then read out of them is a named policy:

- ``"begin"``: an ``I-X`` that does not continue an ``X`` begins a new entity (the reading of conlleval).
- ``"discard"``: an ``I-X`` that does not continue an ``X`` is dropped (strict IOB2). It loses entities, so it leaks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from crfdeid.documents import Document, LabelledSentence, Span
from features.tokens import Sentence

Repair = Literal["begin", "discard"]
OUTSIDE = "O"


class Encoded(NamedTuple):
    """A document as tagged sentences, and the spans that no tag sequence over its tokens can express."""

    sentences: list[LabelledSentence]
    unaligned: list[Span]


def encode(document: Document) -> Encoded:
    """Tags for every sentence of a document.

    A span is unaligned when it starts or ends inside a token, crosses a sentence's end, or overlaps a longer span (the
    longest one wins). Unaligned spans are returned, never silently lost: the scorer works on the original spans, so
    each counts as missed.
    """
    sentences = document.sentences()
    starts = {t.start: (s, i) for s, sentence in enumerate(sentences) for i, t in enumerate(sentence.tokens)}
    ends = {t.end: (s, i) for s, sentence in enumerate(sentences) for i, t in enumerate(sentence.tokens)}
    tags = [[OUTSIDE] * len(sentence.tokens) for sentence in sentences]
    unaligned = []
    for span in sorted(document.spans, key=lambda s: (s.start - s.end, s)):
        first, last = starts.get(span.start), ends.get(span.end)
        if first is None or last is None or first[0] != last[0]:
            unaligned.append(span)
            continue
        row, begin, stop = tags[first[0]], first[1], last[1] + 1
        if any(tag != OUTSIDE for tag in row[begin:stop]):
            unaligned.append(span)
            continue
        row[begin:stop] = [f"B-{span.label}"] + [f"I-{span.label}"] * (stop - begin - 1)
    labelled = [LabelledSentence(s, tuple(row), document.id) for s, row in zip(sentences, tags, strict=True)]
    return Encoded(labelled, sorted(unaligned))


def tag_spans(tags: Sequence[str], repair: Repair = "begin") -> list[Span]:
    """The entities of one tag sequence, as spans of token positions (half-open).

    Example:
        >>> tag_spans(["B-DATE", "I-DATE", "O", "I-ID"])
        [Span(start=0, end=2, label='DATE'), Span(start=3, end=4, label='ID')]
    """
    spans: list[Span] = []
    start, current = 0, ""
    for i, tag in enumerate(tags):
        label = tag[2:]
        if tag[:2] == "I-" and label == current:
            continue
        if current:
            spans.append(Span(start, i, current))
        begins = tag[:2] == "B-" or (tag[:2] == "I-" and repair == "begin")
        start, current = i, label if begins else ""
    if current:
        spans.append(Span(start, len(tags), current))
    return spans


def decode(sentence: Sentence, tags: Sequence[str], repair: Repair = "begin") -> list[Span]:
    """The entities of one tagged sentence, as spans of character offsets in its document.

    Raises:
        ValueError: there is not exactly one tag a token.
    """
    if len(tags) != len(sentence.tokens):
        raise ValueError(f"{len(tags)} tags for {len(sentence.tokens)} tokens")
    tokens = sentence.tokens
    return [Span(tokens[s].start, tokens[e - 1].end, label) for s, e, label in tag_spans(tags, repair)]

"""IOB2 tags and marginal probabilities to spans and back.

IOB2: the first token of an entity is ``B-TYPE``, the others ``I-TYPE``, everything else ``O`` (yadav2016, Table 1). An
``I-X`` therefore follows only a ``B-X`` or another ``I-X``: `continues`, `may_follow` and `may_begin` check one tag,
`valid_transitions` and `valid_first` give arrays for all tags.

A tagger can emit sequences that are not valid IOB2. How they are decoded is a named policy:

- ``"begin"``: an ``I-X`` that does not continue an ``X`` begins a new entity (the reading of conlleval).
- ``"discard"``: an ``I-X`` that does not continue an ``X`` is dropped (strict IOB2). It loses entities, so it leaks.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from sys import intern
from typing import Literal, NamedTuple

import numpy as np

from crfdeid.documents import (
    PHI,
    Document,
    LabelledSentence,
    Layers,
    Span,
    in_characters,
    merge,
    positions_in,
    trim_span,
)
from features.tokenizer import Token, bare_edges, is_blank
from features.tokens import Sentence

Repair = Literal["begin", "discard"]
OUTSIDE = "O"


def is_tag(tag: str) -> bool:
    """Return True for a tag of IOB2.

    Example:
        >>> [is_tag(tag) for tag in ("O", "B-DATE", "I-DATE", "B-", "DATE")]
        [True, True, True, False, False]
    """
    return tag == OUTSIDE or (tag[:2] in ("B-", "I-") and len(tag) > 2)


def continues(tag: str, before: str) -> bool:
    """Return True if a tag continues the entity of the preceding tag.

    Example:
        >>> continues("I-DATE", "B-DATE"), continues("I-DATE", "B-ID"), continues("B-DATE", "B-DATE")
        (True, False, False)
    """
    return tag.startswith("I-") and before in (tag, f"B-{tag[2:]}")


def may_begin(tag: str) -> bool:
    """Return True if a sentence may begin with a tag: any but an ``I-X``."""
    return not tag.startswith("I-")


def may_follow(tag: str, before: str) -> bool:
    """Return True if a tag may follow another in valid IOB2.

    Example:
        >>> may_follow("I-DATE", "B-DATE"), may_follow("I-DATE", "O"), may_follow("O", "B-DATE")
        (True, False, True)
    """
    return may_begin(tag) or continues(tag, before)


def valid_transitions(tags: Sequence[str]) -> np.ndarray:
    """Return `may_follow` for all pairs of tags, [K, K] bool: rows are preceding tags, columns following ones.

    Example:
        >>> valid_transitions(["B-ID", "I-ID", "O"]).tolist()
        [[True, True, True], [True, True, True], [True, False, True]]
    """
    pairs = [[may_follow(tag, before) for tag in tags] for before in tags]
    return np.array(pairs, bool).reshape(len(tags), len(tags))


def valid_first(tags: Sequence[str]) -> np.ndarray:
    """Return `may_begin` for all tags, [K] bool.

    Example:
        >>> valid_first(["B-ID", "I-ID", "O"]).tolist()
        [True, False, True]
    """
    return np.array([may_begin(tag) for tag in tags], bool)


class Encoded(NamedTuple):
    """Tagged sentences of a document, and the spans that tags cannot express.

    Attributes:
        sentences: the sentences, with the tags of every annotation layer.
        unaligned: the PHI spans that no tag sequence over the tokens can express exactly.
        unaligned_layers: such spans of the further layers, by the layer's name.
    """

    sentences: list[LabelledSentence]
    unaligned: list[Span]
    unaligned_layers: Mapping[str, tuple[Span, ...]] = Layers()

    def left_over(self, layer: str) -> Sequence[Span]:
        """Return the unaligned spans of a layer, `PHI` or another."""
        return self.unaligned if layer == PHI else self.unaligned_layers[layer]


def encode(document: Document) -> Encoded:
    """Tag the sentences of a document, in each of its annotation layers, so that every token of a span is tagged.

    White space and ignored marks at the ends of a span do not matter. A span that begins or ends inside a token is
    widened to the token, and one over the end of a sentence is cut there into an entity for each sentence. Of spans
    that overlap, the longest is tagged first: a span inside it adds nothing, and one that reaches beyond it is tagged
    there. Of the latter the sentence is `LabelledSentence.contradictory`, and no model learns that layer from it.

    Such spans are returned as unaligned, never silently lost: scores use the original spans, so each of them counts as
    a false negative.
    """
    sentences = document.sentences()
    alignment = Alignment.of(sentences, document.text)
    phi = _tag(document.spans, alignment)
    further = {name: _tag(spans, alignment) for name, spans in document.layers.items()}
    tagged = {PHI: phi, **further}
    labelled = [
        LabelledSentence(
            sentence,
            phi.rows[i],
            document.id,
            {name: layer.rows[i] for name, layer in further.items()},
            phi_annotated=document.phi_annotated,
            contradictory=frozenset(name for name, layer in tagged.items() if i in layer.contradictory),
        )
        for i, sentence in enumerate(sentences)
    ]
    return Encoded(labelled, phi.unaligned, Layers({name: layer.unaligned for name, layer in further.items()}))


class Alignment(NamedTuple):
    """Tokens of all sentences of a note, to align its spans with.

    Attributes:
        text: the note.
        tokens: the tokens.
        starts: position of each sentence's first token, then the number of tokens.
    """

    text: str
    tokens: Sequence[Token]
    starts: Sequence[int]

    @classmethod
    def of(cls, sentences: Sequence[Sentence], text: str) -> Alignment:
        """The tokens of the sentences of a note."""
        starts = [0, *accumulate(len(sentence.tokens) for sentence in sentences)]
        return cls(text, [token for sentence in sentences for token in sentence.tokens], starts)

    def parts(self, span: Span) -> Iterator[tuple[int, range]]:
        """Yield each sentence that a trimmed span touches, and the positions of the span's tokens there."""
        if is_blank(self.text[span.start]):  # and so is the rest
            return
        positions = positions_in(self.tokens, span)
        start = positions.start
        while start < positions.stop:
            sentence = bisect_right(self.starts, start) - 1
            stop = min(positions.stop, self.starts[sentence + 1])
            yield sentence, range(start, stop)
            start = stop

    def is_exact(self, span: Span, positions: range) -> bool:
        """Return True if a trimmed span begins and ends where its tokens do."""
        first, last = self.tokens[positions.start], self.tokens[positions.stop - 1]
        return bare_edges(self.text, first.start, last.end) == span[:2]


class _Tagged(NamedTuple):
    """Tags of every sentence in one annotation layer, the unaligned spans, and the sentences to learn nothing from."""

    rows: list[tuple[str, ...]]
    unaligned: list[Span]
    contradictory: set[int]


def _tag(spans: Iterable[Span], alignment: Alignment) -> _Tagged:
    """Tag the tokens of a note in one annotation layer."""
    row = [OUTSIDE] * len(alignment.tokens)
    unaligned: list[Span] = []
    contradictory: set[int] = set()
    trimmed = ((trim_span(alignment.text, span), span) for span in spans)
    for bare, span in sorted(trimmed, key=lambda pair: (pair[0].start - pair[0].end, pair)):
        parts = list(alignment.parts(bare))
        is_aligned = len(parts) == 1 and alignment.is_exact(bare, parts[0][1])
        for sentence, part in parts:
            free = [i for i in part if row[i] == OUTSIDE]
            for run in _runs(free):
                write_span(row, Span(run.start, run.stop, span.label))
            is_aligned &= len(free) == len(part)
            if 0 < len(free) < len(part):
                contradictory.add(sentence)
        if not is_aligned:
            unaligned.append(span)
    rows = [tuple(row[start:stop]) for start, stop in pairwise(alignment.starts)]
    return _Tagged(rows, sorted(unaligned), contradictory)


def _runs(numbers: Sequence[int]) -> Iterator[range]:
    """Yield the runs of consecutive numbers in a sorted list."""
    start = 0
    for end in range(1, len(numbers) + 1):
        if end == len(numbers) or numbers[end] != numbers[end - 1] + 1:
            yield range(numbers[start], numbers[end - 1] + 1)
            start = end


def tag_spans(tags: Sequence[str], repair: Repair = "begin") -> list[Span]:
    """Return the entities of one tag sequence, as spans of token positions (half-open).

    Example:
        >>> tag_spans(["B-DATE", "I-DATE", "O", "I-ID"])
        [Span(start=0, end=2, label='DATE'), Span(start=3, end=4, label='ID')]
    """
    if tags.count(OUTSIDE) == len(tags):
        return []  # as in most sentences
    opening = ("B-", "I-") if repair == "begin" else ("B-",)
    spans: list[Span] = []
    start, before = 0, OUTSIDE  # the open entity: its first token, and its last tag so far
    for i, tag in enumerate(tags):
        if not (tag == before == OUTSIDE or continues(tag, before)):
            if before != OUTSIDE:
                spans.append(Span(start, i, intern(before[2:])))
            start, before = i, tag if tag.startswith(opening) and len(tag) > 2 else OUTSIDE
    if before != OUTSIDE:
        spans.append(Span(start, len(tags), intern(before[2:])))
    return spans


def decode(sentence: Sentence, tags: Sequence[str], repair: Repair = "begin") -> list[Span]:
    """Return the entities of one tagged sentence, as spans of character offsets in its document.

    Raises:
        ValueError: the numbers of tags and tokens differ.
    """
    if len(tags) != len(sentence.tokens):
        raise ValueError(f"{len(tags)} tags for {len(sentence.tokens)} tokens")
    return in_characters(sentence.tokens, tag_spans(tags, repair))


def covering_tags(sentences: Sequence[Sentence], spans: Iterable[Span]) -> list[list[str]]:
    """Tag every token that shares a character with a span.

    Unlike in `encode`, spans that overlap are merged first.

    Args:
        sentences: those of a note, in order.
        spans: spans of the note, which may overlap, begin within a token or cross the end of a sentence.
    """
    tokens = [token for sentence in sentences for token in sentence.tokens]
    tags = [OUTSIDE] * len(tokens)
    for span in merge(spans):
        positions = positions_in(tokens, span)
        if positions:
            write_span(tags, Span(positions.start, positions.stop, span.label))
    rows, begin = [], 0
    for sentence in sentences:
        row = tags[begin : begin + len(sentence.tokens)]
        rows.append([f"B-{tag[2:]}" if tag[:2] == "I-" and not i else tag for i, tag in enumerate(row)])
        begin += len(row)
    return rows


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
    """Return the probability that each token is PHI, 1 - P(O): [T].

    Summing over the other tags keeps the digits of small probabilities.

    Args:
        table: the tokens' marginals, [T, K].
        tags: the tags of the columns.
    """
    columns = [k for k, tag in enumerate(tags) if tag != OUTSIDE]
    return table[:, columns].sum(axis=1, dtype=float)


def type_probabilities(table: np.ndarray, tags: Sequence[str]) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return the types, and the probabilities that each token begins or continues an entity of each: [T, L] each.

    Args:
        table: the tokens' marginals, [T, K].
        tags: the tags of the columns.
    """
    labels = sorted({tag[2:] for tag in tags if tag != OUTSIDE})
    return labels, _columns(table, tags, "B-", labels), _columns(table, tags, "I-", labels)


def _columns(table: np.ndarray, tags: Sequence[str], prefix: str, labels: Sequence[str]) -> np.ndarray:
    """Return the column of each label's B or I tag, zeros for a missing one: [T, L]."""
    column = {tag: k for k, tag in enumerate(tags)}
    zeros = np.zeros(len(table))
    columns = [table[:, column[prefix + name]] if prefix + name in column else zeros for name in labels]
    return np.stack(columns, axis=1) if columns else np.zeros((len(table), 0))

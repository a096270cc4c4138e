"""Spans side by side: which of them become one, which tokens they hold, and which characters."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence

from crfdeid.documents import Document, Span
from features.tokens import Token


def overlap(whole: Span, span: Span) -> bool:
    """Whether two spans share a character; the first does not begin after the second."""
    return span.start < whole.end


def longest(spans: Sequence[Span]) -> str:
    """The type of the longest span, of equals the first."""
    return max(spans, key=lambda span: span.end - span.start).label


def merge(
    spans: Iterable[Span],
    *,
    joins: Callable[[Span, Span], bool] = overlap,
    label: Callable[[Sequence[Span]], str] = longest,
) -> list[Span]:
    """Spans that belong together become one over all they cover.

    Args:
        spans: in any order.
        joins: the rule: whether the next span belongs to those that were merged so far. It is given one span over all
            of these, with the type of the first, and the next span by place. By default those that share a character
            belong together, and those that only touch stay apart.
        label: the type of the whole, from those that were merged, by place.

    Returns:
        The merged spans, sorted by place.

    Example:
        >>> merge([Span(0, 4, "ID"), Span(2, 9, "DATE"), Span(9, 12, "ID")])
        [Span(start=0, end=9, label='DATE'), Span(start=9, end=12, label='ID')]
        >>> merge([Span(0, 4, "ID"), Span(4, 9, "ID")], joins=lambda whole, span: whole.end == span.start)
        [Span(start=0, end=9, label='ID')]
    """
    groups = _groups(sorted(spans), joins)
    named = ((whole, label(parts)) for whole, parts in groups)
    return [whole if whole.label == name else whole._replace(label=name) for whole, name in named]


def _groups(spans: Iterable[Span], joins: Callable[[Span, Span], bool]) -> Iterator[tuple[Span, list[Span]]]:
    """The spans that belong together, each time with one over all of them that has the type of the first."""
    whole: Span | None = None
    parts: list[Span] = []
    for span in spans:
        if whole is None or not joins(whole, span):
            if whole is not None:
                yield whole, parts
            whole, parts = span, []
        elif span.end > whole.end:
            whole = whole._replace(end=span.end)
        parts.append(span)
    if whole is not None:
        yield whole, parts


def tokens_of(document: Document) -> list[Token]:
    """All tokens of a document's sentences, by place."""
    return sorted((token for sentence in document.sentences() for token in sentence.tokens), key=lambda t: t.start)


def positions_in(tokens: Sequence[Token], span: Span) -> range:
    """The positions of the tokens that share a character with a span; ``tokens`` by place and free of overlaps.

    Example:
        >>> positions_in([Token("Ann", 0, 3), Token("Doe", 4, 7)], Span(2, 4, "DOCTOR"))
        range(0, 1)
    """
    first = bisect_right(tokens, span.start, key=lambda token: token.end)
    return range(first, bisect_left(tokens, span.end, lo=first, key=lambda token: token.start))


def in_characters(tokens: Sequence[Token], spans: Iterable[Span]) -> list[Span]:
    """Spans of token positions as spans of the characters that the tokens stand for.

    Example:
        >>> in_characters([Token("Ann", 0, 3), Token("Doe", 4, 7)], [Span(0, 2, "DOCTOR")])
        [Span(start=0, end=7, label='DOCTOR')]
    """
    return [Span(tokens[start].start, tokens[stop - 1].end, label) for start, stop, label in spans]

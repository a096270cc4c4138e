"""What was given and what a model found, as one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from crfdeid.documents import Span
from crfdeid.spans import merge


def add_given(found: Sequence[Span], given: Iterable[Span]) -> list[Span]:
    """The spans of a model and those that have to be hidden whatever it says.

    Those that share a character become one, with the type of the longest. Of two in the same place what was given
    counts, and of several that were given the first: put those of the record before those of a site.

    Example:
        >>> add_given([Span(0, 5, "DOCTOR"), Span(9, 20, "ID")], [Span(0, 5, "PATIENT"), Span(12, 14, "DATE")])
        [Span(start=0, end=5, label='PATIENT'), Span(start=9, end=20, label='ID')]
    """
    first: dict[tuple[int, int], Span] = {}
    for span in (*given, *found):
        first.setdefault((span.start, span.end), span)
    return merge(first.values())

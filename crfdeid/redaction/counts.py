"""Counts of a note for the report of a run: words, concepts, and the sources of its spans."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from crfdeid.documents import CONCEPT, Document, Span
from crfdeid.io.records import Sources

_WORD = re.compile(r"\w++")


def count_sources(document: Document) -> Sources:
    """Return the number and the lowest score of the spans of each source."""
    scores: dict[str, list[float | None]] = {}
    for evidence in (document.evidence[span] for span in document.spans if span in document.evidence):
        scores.setdefault(evidence.source, []).append(evidence.as_json()["score"])
    return {
        source: {"spans": len(some), "lowest_score": min((x for x in some if x is not None), default=None)}
        for source, some in sorted(scores.items())
    }


def count_words(document: Document, hidden_spans: Sequence[Span]) -> tuple[int, int]:
    """Return the numbers of words of a note: all, and the words that the replaced spans cover, at least in part."""
    # Counted one by one: a list of all words takes many times the memory of a long note.
    ranges = ((0, len(document.text)), *((span.start, span.end) for span in hidden_spans))
    whole, *hidden = (sum(1 for _ in _WORD.finditer(document.text, *one)) for one in ranges)
    return whole, sum(hidden)


def count_concepts(document: Document) -> Counter[str]:
    """Return the number of concepts of each type."""
    return Counter(span.label for span in document.layer(CONCEPT))

"""The notes of a review page: their text, what is marked in it on each side, and what a model is unsure of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from crfdeid.corpora.exchanged import text_digest
from crfdeid.documents import Document, Span
from crfdeid.review.replaced import find_replaced
from crfdeid.tagger import Tagger
from crfdeid.thresholds import phi_probabilities

UNSURE = 0.02
"""Tokens with a probability of being PHI from this to one minus this are shown as uncertain."""


@dataclass(frozen=True, slots=True)
class PageNote:
    """A note on a review page.

    Args:
        document: the note; its spans are those that a reviewer corrects.
        others: the spans of the other side: what a model found, or a second annotator marked.
        by: for each span of the document, what stands in its place in the redacted note; none where there is none.
        sha256: the digest of the redacted text; "" where there is none.
        kept: values that surrogates leave as they are (`crfdeid.review.kept`), with their kinds.
    """

    document: Document
    others: tuple[Span, ...] = ()
    by: tuple[str, ...] = ()
    sha256: str = ""
    kept: tuple[Span, ...] = ()


def compared(first: Sequence[Document], second: Mapping[str, Sequence[Span]]) -> list[PageNote]:
    """The notes of two sides: gold and predicted, or two annotators'."""
    return [PageNote(document, tuple(second[document.id])) for document in first]


def redacted(pairs: Iterable[tuple[Document, str]]) -> list[PageNote]:
    """Notes with what was replaced in them, from their texts before and after."""
    notes = []
    for document, after in pairs:
        found = find_replaced(document.text, after)
        spans = tuple(Span(one.start, one.end, one.label) for one in found)
        made = Document(document.id, document.text, spans, place=document.place)
        notes.append(PageNote(made, by=tuple(one.by for one in found), sha256=text_digest(after)))
    return notes


def unsure_tokens(tagger: Tagger, documents: Sequence[Document]) -> list[list[tuple[int, int, float]]]:
    """For each note the tokens that a model is unsure of: where they begin and end, and how probably they are PHI."""
    groups = [document.sentences() for document in documents]
    tables = iter(tagger.marginals([sentence for group in groups for sentence in group]))
    found = []
    for group in groups:
        here = []
        for sentence in group:
            probable = phi_probabilities(next(tables), tagger.tags).tolist()
            here += [
                (token.start, token.end, round(share, 3))
                for token, share in zip(sentence.tokens, probable, strict=True)
                if UNSURE <= share <= 1 - UNSURE and token.start < token.end
            ]
        found.append(sorted(here))
    return found

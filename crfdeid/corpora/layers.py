"""Annotation layers: concepts read with PHI, on the same texts or on others, and regions excluded from scores.

A concept corpus is in any format of `crfdeid.corpora`; its spans are the concepts.
docs/explanation/joint.md is the guide.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import regex

from crfdeid.corpora import read_corpus
from crfdeid.corpora.common import pair_by_id, spans_in
from crfdeid.documents import CONCEPT, Document, Layers, Span
from crfdeid.errors import EmptyInputError, MismatchError, SpanError, located
from crfdeid.utils.files import read_text
from crfdeid.utils.tables import read_table, whole_numbers

IGNORED_CONCEPT_TYPES = ("UNCLEAR",)
"""Concept types that are ignored by default: one of PharmaCoNER's, which its own score leaves out."""


@dataclass(frozen=True, kw_only=True)
class ConceptPaths:
    """Paths and reading options of the concepts of a corpus.

    Args:
        train: the folder or file with the concepts of the training documents.
        dev: likewise, of the development documents; None to take a share of the training documents.
        test: likewise, of the test documents; None for none.
        format: their format, or "auto".
        ignored_types: types to ignore, neither learned nor scored.
        disjoint: concepts and PHI are in different documents: two corpora that share no text.
    """

    train: Path
    dev: Path | None = None
    test: Path | None = None
    format: str = "auto"
    ignored_types: tuple[str, ...] = IGNORED_CONCEPT_TYPES
    disjoint: bool = False


def read_concepts(path: Path, *, format: str = "auto", ignored_types: Iterable[str] = ()) -> tuple[list[Document], int]:
    """The documents of a corpus of concepts, whose spans are the concepts.

    Args:
        path: a file or folder.
        format: a key of `crfdeid.corpora.CORPUS_FORMATS`, or "auto". Of documents with several layers, `CONCEPT` is
            read.
        ignored_types: types to ignore.

    Returns:
        The documents, and the number of ignored spans.
    """
    documents, ignored = concept_documents(read_corpus(path, format=format)), set(ignored_types)
    count = sum(span.label in ignored for document in documents for span in document.spans)
    kept = [replace(one, spans=tuple(span for span in one.spans if span.label not in ignored)) for one in documents]
    return kept, count


def mark_terms(documents: Iterable[Document], path: Path) -> list[Document]:
    """Documents whose spans are the places of the terms of a list, as whole words in any case.

    Args:
        documents: the documents; their own annotations are left out.
        path: a text file with one term a line.

    Raises:
        EmptyInputError: the list has no term.
        DataError: it cannot be read.
    """
    terms = [term for line in read_text(path).splitlines() if (term := line.strip())]
    if not terms:
        raise EmptyInputError("no terms here: write one a line", path=path)
    pattern = regex.compile(r"(?<!\w)(?:\L<terms>)(?!\w)", regex.IGNORECASE, terms=terms)
    return [
        Document(one.id, one.text, tuple(Span(*match.span(), "TERM") for match in pattern.finditer(one.text)))
        for one in documents
    ]


def concept_documents(documents: Iterable[Document]) -> list[Document]:
    """Documents whose spans are their concepts: the layer `CONCEPT`, or without it all spans."""
    return [select_layer(document, CONCEPT) if CONCEPT in document.layers else document for document in documents]


def select_layer(document: Document, name: str) -> Document:
    """A document with the spans of one annotation layer only, for scores and most formats.

    Raises:
        DataError: it is not annotated in that layer.

    Example:
        >>> from crfdeid.documents import Span
        >>> layers = {"concept": (Span(9, 16, "DRUG"),)}
        >>> select_layer(Document("1", "Dr. Doe: aspirin", (Span(4, 7, "DOCTOR"),), layers=layers), "concept").spans
        (Span(start=9, end=16, label='DRUG'),)
    """
    return replace(document, spans=document.layer(name), layers=Layers(), phi_annotated=True)


def join_layers(phi: Sequence[Document], concepts: Sequence[Document]) -> list[Document]:
    """Documents with their PHI and, in the layer `CONCEPT`, their concepts.

    Args:
        phi: documents with PHI marked.
        concepts: the same documents, under the same ids, with concepts marked. One side alone may have a byte-order
            mark; offsets are those of ``phi``.

    Raises:
        DataError: a document is missing on one side, its two texts differ, or it has concepts already.

    Example:
        >>> from crfdeid.documents import Span
        >>> phi = [Document("1", "Dr. Doe: aspirin", (Span(4, 7, "DOCTOR"),))]
        >>> join_layers(phi, [Document("1", "Dr. Doe: aspirin", (Span(9, 16, "DRUG"),))])[0].layers
        Layers({'concept': (Span(start=9, end=16, label='DRUG'),)})
    """
    _require_no_concepts(phi)
    remedy = "both need the same documents, under the same ids, also documents without annotations"
    pairs = pair_by_id(phi, concepts, sides=("the PHI", "the concepts"), remedy=remedy)
    return [_join_document(document, other) for document, other in pairs]


def _join_document(document: Document, other: Document) -> Document:
    problem = f"the text is not that of {other.source} from here on: both layers need the same text"
    return replace(document, layers={**document.layers, CONCEPT: tuple(spans_in(document, other, problem=problem))})


def concat_corpora(phi: Sequence[Document], concepts: Sequence[Document]) -> list[Document]:
    """The documents of two corpora that share no text, each annotated in one layer only.

    Concepts of the first and PHI of the second are unknown, which differs from none: see `Document.annotated`.

    Args:
        phi: documents with PHI marked; they come first.
        concepts: documents with concepts marked.

    Raises:
        DataError: an id or a text is in both corpora, or the first has concepts already.
    """
    _require_no_concepts(phi)
    ids, texts = (
        {document.id: document.source for document in phi},
        {document.text: document.source for document in phi},
    )
    for document in concepts:
        for what, known in (("id", ids.get(document.id)), ("text", texts.get(document.text))):
            if known is not None:
                raise MismatchError(
                    f"the same {what} as {known}: two corpora must not share a document", path=document.source
                )
    others = (
        replace(document, spans=(), layers={CONCEPT: document.spans}, phi_annotated=False) for document in concepts
    )
    return [*phi, *others]


def _require_no_concepts(documents: Iterable[Document]) -> None:
    for document in documents:
        if CONCEPT in document.layers:
            raise MismatchError("already has concepts: leave out the second corpus", path=document.source)


_REGION_COLUMNS = ("document", "start", "end")
Regions = Mapping[str, Sequence[tuple[int, int]]]
"""Document id -> its regions, as half-open offsets."""


def read_excluded_regions(path: Path, documents: Iterable[Document]) -> dict[str, list[tuple[int, int]]]:
    """Regions of documents that the annotators of a layer never saw, from a table.

    MEDDOCAN inserted invented personal data into texts that PharmaCoNER had annotated: the inserted text has no
    annotation of concepts.

    Args:
        path: a CSV file; its first line names the columns, including ``document``, ``start`` and ``end``.
        documents: the documents; lines about others are ignored, since a table may serve several splits.

    Returns:
        The sorted regions of each document, by id; none for a document that the table does not name.

    Raises:
        DataError: a column is missing, a region is empty or outside its text, or no line is about the documents.
    """
    sizes = {document.id: len(document.text) for document in documents}
    regions_of: dict[str, list[tuple[int, int]]] = {name: [] for name in sizes}
    for line, row in read_table(path, _REGION_COLUMNS):
        with located(path, line):
            if row["document"] in sizes:
                start, end = whole_numbers((row["start"], row["end"]))
                if not start < end <= sizes[row["document"]]:
                    problem = f"the region [{start}, {end}) is empty or outside the text"
                    raise SpanError(f"{problem} of {sizes[row['document']]} characters")
                regions_of[row["document"]].append((start, end))
    if not any(regions_of.values()):
        raise MismatchError(
            "no line is about any of these documents: their ids must be in its column 'document'", path=path
        )
    return {name: sorted(regions) for name, regions in regions_of.items()}


class ScoredDocuments(NamedTuple):
    """Annotated documents, and the predicted spans of each, by id."""

    gold: list[Document]
    predicted: dict[str, list[Span]]


def exclude_regions(
    gold: Iterable[Document], predicted: Mapping[str, Iterable[Span]], regions: Regions
) -> ScoredDocuments:
    """Leave out the spans, on either side, that lie wholly within an excluded region.

    A span that extends beyond a region contains text that the annotators saw, and stays.

    Example:
        >>> found = {"1": [Span(0, 7, "DRUG"), Span(5, 12, "DRUG")]}
        >>> exclude_regions([Document("1", "aspirin Prozac")], found, {"1": [(0, 8)]}).predicted
        {'1': [Span(start=5, end=12, label='DRUG')]}
    """
    documents = [replace(one, spans=tuple(_outside_regions(one.spans, regions.get(one.id, ())))) for one in gold]
    return ScoredDocuments(
        documents, {name: _outside_regions(spans, regions.get(name, ())) for name, spans in predicted.items()}
    )


def _outside_regions(spans: Iterable[Span], regions: Sequence[tuple[int, int]]) -> list[Span]:
    return [span for span in spans if not any(start <= span.start and span.end <= end for start, end in regions)]

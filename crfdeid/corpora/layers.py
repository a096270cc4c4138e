"""Two annotation layers: a corpus of concepts read beside a corpus of PHI, on the same texts or on others.

A concept corpus is in any format of `crfdeid.corpora`; what is marked in it are concepts. docs/joint.md is the guide.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from crfdeid.corpora import read_corpus
from crfdeid.corpora.pairs import pair_by_id, spans_in
from crfdeid.documents import CONCEPT, Document, Layers
from crfdeid.errors import DataError

LEFT_OUT = ("UNCLEAR",)
"""The types that count as no concepts unless told otherwise: one of PharmaCoNER's, which its own score leaves out."""


@dataclass(frozen=True, kw_only=True)
class ConceptPaths:
    """Where the concepts of a corpus are, and how they are read.

    Args:
        train: the folder or file with the concepts of the training documents.
        dev: those of the development documents; None where these are a share of the training documents.
        test: those of the test documents; None where there are none.
        format: their format, or "auto".
        left_out: types that are no concepts here, neither learned nor scored.
        apart: whether they are of other documents than the PHI: two corpora that share no text.
    """

    train: Path
    dev: Path | None = None
    test: Path | None = None
    format: str = "auto"
    left_out: tuple[str, ...] = LEFT_OUT
    apart: bool = False


def read_concepts(path: Path, *, format: str = "auto", left_out: Iterable[str] = ()) -> tuple[list[Document], int]:
    """The documents of a corpus of concepts, whose spans are the concepts.

    Args:
        path: a file or folder.
        format: a key of `crfdeid.corpora.FORMATS`, or "auto". Of documents with several layers, `CONCEPT` is read.
        left_out: types that are no concepts here.

    Returns:
        The documents, and how many spans were left out.

    Raises:
        UsageError, DataError: as of `read_corpus`.
    """
    dropped, documents, count = set(left_out), [], 0
    for document in concept_documents(read_corpus(path, format=format)):
        kept = tuple(span for span in document.spans if span.label not in dropped)
        count += len(document.spans) - len(kept)
        documents.append(replace(document, spans=kept))
    return documents, count


def concept_documents(documents: Iterable[Document]) -> list[Document]:
    """Documents whose spans are their concepts: the layer `CONCEPT`, or without such a layer all that is marked."""
    return [alone(document, CONCEPT) if CONCEPT in document.layers else document for document in documents]


def alone(document: Document, name: str) -> Document:
    """A document with the spans of one annotation layer alone: what scores and most formats work on.

    Raises:
        DataError: it is not annotated in that layer.

    Example:
        >>> from crfdeid.documents import Span
        >>> layers = {"concept": (Span(9, 16, "DRUG"),)}
        >>> alone(Document("1", "Dr. Doe: aspirin", (Span(4, 7, "DOCTOR"),), layers=layers), "concept").spans
        (Span(start=9, end=16, label='DRUG'),)
    """
    return replace(document, spans=document.layer(name), layers=Layers(), phi_annotated=True)


def join_layers(phi: Sequence[Document], concepts: Sequence[Document]) -> list[Document]:
    """Documents with their PHI and, in the layer `CONCEPT`, their concepts.

    Args:
        phi: documents with PHI marked.
        concepts: the same documents, under the same ids, with concepts marked. A byte-order mark at the beginning may
            be there on one side alone; offsets are those of ``phi``.

    Raises:
        DataError: a document is missing on one side, its two texts differ, or it has concepts already.

    Example:
        >>> from crfdeid.documents import Span
        >>> phi = [Document("1", "Dr. Doe: aspirin", (Span(4, 7, "DOCTOR"),))]
        >>> join_layers(phi, [Document("1", "Dr. Doe: aspirin", (Span(9, 16, "DRUG"),))])[0].layers
        Layers({'concept': (Span(start=9, end=16, label='DRUG'),)})
    """
    _require_no_concepts(phi)
    remedy = "both need the same documents, under the same ids, those in which nothing is marked too"
    pairs = pair_by_id(phi, concepts, sides=("the PHI", "the concepts"), remedy=remedy)
    return [_joined(document, other) for document, other in pairs]


def _joined(document: Document, other: Document) -> Document:
    problem = f"the text is not that of {other.place} from here on: both layers need the same text"
    return replace(document, layers={**document.layers, CONCEPT: tuple(spans_in(document, other, problem=problem))})


def set_side_by_side(phi: Sequence[Document], concepts: Sequence[Document]) -> list[Document]:
    """The documents of two corpora that share no text, each annotated in one layer only.

    Nobody marked concepts in the first, or PHI in the second, which is another thing than that there are none:
    `Document.annotated` says what was.

    Args:
        phi: documents with PHI marked; they come first.
        concepts: documents with concepts marked.

    Raises:
        DataError: an id or a text stands in both corpora, or the first has concepts already.
    """
    _require_no_concepts(phi)
    ids, texts = {document.id: document.place for document in phi}, {document.text: document.place for document in phi}
    for document in concepts:
        for what, known in (("id", ids.get(document.id)), ("text", texts.get(document.text))):
            if known is not None:
                problem = f"the same {what} as {known}: two corpora that are set side by side share no document"
                raise DataError(problem, path=document.place)
    others = (
        replace(document, spans=(), layers={CONCEPT: document.spans}, phi_annotated=False) for document in concepts
    )
    return [*phi, *others]


def _require_no_concepts(documents: Iterable[Document]) -> None:
    for document in documents:
        if CONCEPT in document.layers:
            raise DataError("has concepts of its own: leave out the second corpus", path=document.place)

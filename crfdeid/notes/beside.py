"""The concepts of redacted notes, kept beside them: one file for a whole run, whose offsets are those of the new texts.

What is kept of each input file is a result of it like the redacted file, under a name of its own in the output's hidden
folder, so that a run which goes on finds it. At the end of the run it is put together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from crfdeid.documents import Document
from crfdeid.notes import sources
from crfdeid.notes.journal import BESIDE
from crfdeid.notes.pipeline import OutputPlan
from crfdeid.notes.records import Columns, NoteFile, Record, Writer
from crfdeid.notes.tagged import LinesWriter, Together
from crfdeid.system.files import write_parts

SUFFIX = ".jsonl"


def beside_name(file: NoteFile) -> str:
    """Where in the output folder the concepts of an input file are kept; its own name could be too long with more."""
    return f"{BESIDE}/{hashlib.sha256(file.result_name.encode()).hexdigest()[:32]}{SUFFIX}"


def with_concepts_alone(document: Document) -> Document:
    """A redacted note with its concepts.

    Where something was hidden is not in it: among surrogates it would show which names are none.

    Example:
        >>> from crfdeid.documents import Span
        >>> layers = {"concept": (Span(13, 17, "DRUG"),)}
        >>> with_concepts_alone(Document("1", "Dr. Roe gave zinc", (Span(4, 7, "DOCTOR"),), layers=layers)).annotated
        ('concept',)
    """
    return replace(document, spans=(), phi_annotated=False)


class ConceptsWriter(LinesWriter):
    """Writes redacted notes with their concepts, one per line."""

    def write(self, row: Record, document: Document | None) -> None:
        """Write the line of a document."""
        super().write(row, None if document is None else with_concepts_alone(document))


def plan_with_concepts(columns: Columns) -> OutputPlan:
    """Files of the same name and kind, and for each a file of its concepts."""

    def writer(file: NoteFile, places: Sequence[Path]) -> Writer:
        text, concepts = places
        return Together([sources.writer(file, text, columns), ConceptsWriter(concepts)])

    return OutputPlan(lambda file: [file.result_name, beside_name(file)], writer, columns)


def put_together(parts: Iterable[Path], file: Path) -> None:
    """Write the concepts of a whole run; the file appears whole or not at all.

    Raises:
        DataError: it cannot be written.
    """
    write_parts(file, _lines(parts))


def _lines(parts: Iterable[Path]) -> Iterator[str]:
    for part in parts:
        with part.open(encoding="utf-8", newline="") as stream:
            yield from stream

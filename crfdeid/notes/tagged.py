"""Writers of what ``tag`` finds: the formats of `crfdeid.corpora`, one file for each input file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from crfdeid.corpora import WRITERS
from crfdeid.corpora.jsonl import to_line
from crfdeid.documents import Document, Span
from crfdeid.notes.records import NoteFile, Record, Writer

# Format -> the endings of the files that stand for a file of notes, the one that holds its text first.
ENDINGS = {"brat": (".txt", ".ann"), "jsonl": (".jsonl",), "i2b2-2014": (".xml",), "conll": (".conll",)}
_FOLDERS = ("brat", "i2b2-2014")


def target_names(file: NoteFile, format: str) -> list[str]:
    """The names of the files written for an input file."""
    stem = file.result_name.removesuffix(file.path.suffix)
    return [stem + ending for ending in ENDINGS[format]]


def tag_writer(file: NoteFile, target: Path, format: str) -> Writer:
    """What writes the documents of one input file.

    Args:
        file: the input file.
        target: the first of the files to write.
        format: "jsonl" for a file with several notes, a key of `ENDINGS` for one.
    """
    if format == "jsonl":
        return _LinesWriter(target)
    return _NoteWriter(target, format)


class _LinesWriter:
    """Writes documents as they come, one per line, in the form of `crfdeid.corpora.jsonl`."""

    def __init__(self, target: Path) -> None:
        self._stream = target.open("w", encoding="utf-8", newline="")

    def write(self, row: Record, document: Document | None) -> None:
        if document is not None:
            self._stream.write(to_line(document))

    def close(self) -> None:
        self._stream.close()


class _NoteWriter:
    """Writes the one document of a file with its format's own writer."""

    def __init__(self, target: Path, format: str) -> None:
        self._target, self._format = target, format

    def write(self, row: Record, document: Document | None) -> None:
        if document is None:
            return
        if self._format == "brat":
            document = _with_mark(document, row.around)
        if self._format in _FOLDERS:
            # The writer makes the file's name from the id: below the folder, this is the name alone.
            WRITERS[self._format]([replace(document, id=self._target.stem)], self._target.parent)
        else:
            WRITERS[self._format]([document], self._target)

    def close(self) -> None:
        """Nothing is left to do."""


def _with_mark(document: Document, mark: str) -> Document:
    """The document as brat counts it: with the byte-order mark that its file begins with."""
    shift = len(mark)
    spans = tuple(Span(start + shift, end + shift, label) for start, end, label in document.spans)
    return Document(document.id, mark + document.text, spans)

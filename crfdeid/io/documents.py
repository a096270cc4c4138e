"""Binary files that are one note: DOCX, written as DOCX, and PDF, of which only the text is written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from crfdeid.documents import Document
from crfdeid.errors import FormatError, LimitError, ReadError, located
from crfdeid.io.records import Columns, Note, NoteFile, Record, with_known_phi
from crfdeid.io.text import Passthrough
from crfdeid.markup import BINARY_SUFFIXES, pack, unpack
from crfdeid.utils.files import open_file, open_owner_file

_MOST_BYTES = 256_000_000


class DocumentWriter:
    """Writer of a file with its redacted text; the file is read again, so that no run holds it in memory."""

    def __init__(self, file: NoteFile, target: Path, columns: Columns) -> None:
        self._path, self._stream = file.path, open_owner_file(target)
        self.close = self._stream.close

    def write(self, row: Record, document: Document | None) -> None:
        """Write the document of a note."""
        if document is not None:
            with open_file(self._path) as source:
                pack(source, _format(self._path), document.text, self._stream)


def read(file: NoteFile, columns: Columns) -> Iterator[Record]:
    """Read the single note of a file."""
    if columns.known:
        raise FormatError("a document has no columns with known PHI: give --record-file", path=file.path)
    if file.size > _MOST_BYTES:
        raise LimitError("a document of more than 256 MB: export its text", path=file.path)
    try:
        with located(file.path), open_file(file.path) as stream:
            text = unpack(stream, _format(file.path))
    except OSError as error:
        raise ReadError(f"cannot be read: {error.strerror}", path=file.path) from None
    note = Note(file.result_name.removesuffix(file.path.suffix), text, file.patient, markup=_format(file.path))
    yield Record(with_known_phi(note, file, columns), None, file.size, Passthrough(""))


def _format(path: Path) -> str:
    return BINARY_SUFFIXES[path.suffix.lower()]


writer = DocumentWriter  # of this `FileFormat`

"""Every note of a file or folder, to be read and not to be written again: all of them, or an error."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from crfdeid.errors import DataError
from crfdeid.notes.records import Columns, Failure, Note
from crfdeid.notes.sources import KINDS, Rename, kind_of, note_files


def read_notes(root: Path, columns: Columns | None = None, *, rename: Rename | None = None) -> Iterator[Note]:
    """The notes of a file or folder, in its order; files of unknown kinds are passed over.

    Args:
        root: a file of notes, or a folder of them.
        columns: which columns mean something; None for those that ``crfdeid tag`` looks at without options.
        rename: as of `note_files`: ids that are made of a file's name are made of its new name.

    Raises:
        DataError: there is no note, or a file or a note cannot be read, or two notes have one id.
    """
    columns = Columns(own_id=True) if columns is None else columns
    seen: set[str] = set()
    for file in note_files(root, rename):
        if isinstance(file, Failure):
            raise DataError(file.reason, path=root / file.file)
        kind = kind_of(file)
        for record in () if kind is None else kind.read(file, columns):
            if isinstance(record.content, Failure):
                failure = record.content
                line = failure.line or record.number
                raise DataError(failure.reason, path=file.path, line=line, offset=failure.offset)
            if record.content is None:
                continue
            if record.content.id in seen:
                problem = "the same id as a note before it: ids must be unique"
                raise DataError(problem, path=file.path, line=record.number)
            seen.add(record.content.id)
            yield record.content
    if not seen:
        raise DataError(f"holds no notes: expected files that end in {', '.join(KINDS)}", path=root)

"""Columns of notes in tables of standard layouts, for ``--table``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from crfdeid.errors import DataError, FormatError, OptionConflictError, UnknownNameError
from crfdeid.io.records import NoteFile
from crfdeid.io.sources import column_names, note_files


class Layout(NamedTuple):
    """Names of a table's columns in lower case; of several, a table has one."""

    text: Sequence[str]
    id: Sequence[str]
    patient: Sequence[str]


LAYOUTS = {
    "omop": Layout(("note_text",), ("note_id",), ("person_id",)),
    "mimic": Layout(("text",), ("note_id", "row_id"), ("subject_id",)),
}
"""Name -> columns. OMOP: table NOTE of the Common Data Model 5.4. MIMIC: NOTEEVENTS of MIMIC-III, and MIMIC-IV-Note."""


def find_layout(name: str) -> Layout:
    """Return a layout.

    Raises:
        UnknownNameError: an unknown name.
    """
    if name not in LAYOUTS:
        raise UnknownNameError(f"unknown layout of tables: choose from {', '.join(LAYOUTS)}")
    return LAYOUTS[name]


def layout_columns(name: str, names: Sequence[str], *, path: Path | None = None) -> tuple[str, str, str]:
    """Return the columns of text, id and patient as a table spells them, in capitals or not.

    Args:
        name: the layout.
        names: the table's columns.
        path: its file, for the error.

    Raises:
        FormatError: columns are missing, or there are two with one name.

    Example:
        >>> layout_columns("mimic", ["ROW_ID", "SUBJECT_ID", "TEXT"])
        ('TEXT', 'ROW_ID', 'SUBJECT_ID')
    """
    found = [[one for one in names if one.lower() in column] for column in find_layout(name)]
    wrong = [" or ".join(column) for column, own in zip(find_layout(name), found, strict=True) if len(own) != 1]
    if wrong:
        problem = f"a table of --table {name} has one column each: {', '.join(wrong)}; this one has none or several"
        raise FormatError(f"{problem}: name yours with --text-column, --id-column and --patient-column", path=path)
    text, id, patient = (own[0] for own in found)
    return text, id, patient


def columns_of_notes(name: str, root: Path) -> tuple[str, str, str]:
    """Return `layout_columns` of the first table of a file or folder that can be read.

    Raises:
        FormatError: as of `layout_columns`.
        OptionConflictError: there is no such table.
    """
    for path, names in _tables(root):
        return layout_columns(name, names, path=path)
    raise OptionConflictError("--table is for tables, and NOTES has none that can be read: leave it out")


def _tables(root: Path) -> Iterator[tuple[Path, Sequence[str]]]:
    for file in note_files(root):
        if isinstance(file, NoteFile):
            with suppress(DataError):  # The run reports it.
                if names := column_names(file):
                    yield file.path, names

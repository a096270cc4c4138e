"""Files of notes below a folder, in a fixed order, and the notes in them."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import NamedTuple, cast

from crfdeid.errors import DataError, EmptyInputError, MismatchError, MissingExtraError, UnknownNameError, UsageError
from crfdeid.io.date_columns import FIRST_ROWS, Sureness, date_in, most_sure
from crfdeid.io.journal import STATE_FOLDER
from crfdeid.io.records import Columns, Failure, FileFormat, Note, NoteFile, Record, Writer
from crfdeid.known_phi.patients import folder_patient
from crfdeid.markup import BINARY_SUFFIXES, MARKUP_SUFFIXES, result_name
from crfdeid.secrets import Keys, hash_word
from crfdeid.serialization import DESKTOP_FILES
from crfdeid.utils.files import COMPRESSIONS, NO_FILE, relative_name, split_suffix

_FORMATS = {
    ".txt": "crfdeid.io.text",
    **dict.fromkeys(MARKUP_SUFFIXES, "crfdeid.io.text"),
    **dict.fromkeys(BINARY_SUFFIXES, "crfdeid.io.documents"),
    ".jsonl": "crfdeid.io.jsonl",
    ".ndjson": "crfdeid.io.jsonl",
    ".csv": "crfdeid.io.csv",
    ".tsv": "crfdeid.io.csv",
    ".parquet": "crfdeid.io.parquet",
}
_PACKED = ("crfdeid.io.text", "crfdeid.io.jsonl", "crfdeid.io.csv")  # Formats whose files can be compressed.
NOTE_FORMATS = {
    suffix + compression: module
    for compression in ("", *COMPRESSIONS)
    for suffix, module in _FORMATS.items()
    if not compression or module in _PACKED
}
"""Suffix -> module of the format, a `FileFormat` that is imported on use."""
NOTE_ENDINGS = f"{', '.join(_FORMATS)}; or, of a text format, in {' or '.join(COMPRESSIONS)}"
"""These suffixes, for messages."""
_KEYED = re.compile(r"(?:[0-9a-f]{32}/)*[0-9a-f]{32}(?:\.[^./]*){0,2}")
_WHOLE = ("crfdeid.io.text", "crfdeid.io.documents")
NOTE_SUFFIXES = frozenset(suffix for suffix, module in NOTE_FORMATS.items() if module in _WHOLE)
"""Suffixes of files that are one note."""
_TABLES = NOTE_FORMATS.keys() - NOTE_SUFFIXES
_WATCHED_TABLES = 100
_NO_TARGET = "a link that leads to no file: put the file in its place"


class InputSurvey(NamedTuple):
    """Bytes of all files of notes, number of files of unknown formats, and number of tables."""

    size: int
    unknown: int
    tables: int


def note_format(file: NoteFile) -> FileFormat | None:
    """Format of a file, by its suffix; None for an unknown one."""
    return _format(file) if file.suffix in NOTE_FORMATS else None


def read_file(file: NoteFile, columns: Columns) -> Iterator[Record]:
    """Read the rows of a file of notes by `FileFormat.read`."""
    return _format(file).read(file, columns)


def column_names(file: NoteFile) -> Sequence[str]:
    """Return the names of a table's columns, or of the keys of its first line; none for another file.

    Raises:
        DataError: it cannot be read.
    """
    return _format(file).column_names(file) if file.suffix in _TABLES else ()


def open_writer(file: NoteFile, target: Path, columns: Columns) -> Writer:
    """Open a writer of the same file with other texts by `FileFormat.writer`."""
    return _format(file).writer(file, target, columns)


def target_name(file: NoteFile) -> str:
    """Name of a file's redacted results below the output folder."""
    return result_name(file.result_name)


def _format(file: NoteFile) -> FileFormat:
    return cast(FileFormat, import_module(NOTE_FORMATS[file.suffix]))


def require_no_dates(files: Iterable[NoteFile | Failure], columns: Columns) -> None:
    """Check names of files and the first rows of tables for dates next to surrogates, before anything is written.

    Raises:
        UsageError: a table has a column of dates in the clear, or of dates that cannot be shifted; or the name of a
            result holds a date, or all names may be dates.
    """
    if not columns.dates.refuse:
        return
    names: set[Sureness | None] = set()
    for file in files:
        if not isinstance(file, NoteFile) or note_format(file) is None:
            continue
        path = PurePosixPath(split_suffix(file.result_name)[0])  # "2031/03/14/note.txt" and its folders
        names.add(most_sure(date_in("_".join(part.split())) for part in (str(path), *path.parts)))
        if "sure" in names:
            break
        if file.suffix in _TABLES:
            try:
                for _ in islice(read_file(file, columns), FIRST_ROWS + 1):
                    pass
            except DataError:  # The run lists it as a failure.
                continue
            except MissingExtraError:
                raise
            except UsageError as problem:
                raise UsageError(f"{file.name}: {problem}") from None
    if "sure" in names or names == {"possible"}:
        what = "names of files hold dates, which next to surrogates reveal the patient's shift"
        raise UsageError(f"{what}: give --rename-files, or rename the files")


def identifier_columns(files: Iterable[NoteFile | Failure], columns: Columns) -> list[str]:
    """Return the columns that the results have unchanged and whose values look like identifiers.

    The first rows of the first `_WATCHED_TABLES` tables are read.
    """
    names: dict[str, None] = {}  # in order
    tables = (file for file in files if isinstance(file, NoteFile) and file.suffix in _TABLES)
    for file in islice(tables, _WATCHED_TABLES):
        from crfdeid.io.identifier_columns import IdentifierWatch  # noqa: PLC0415  Tables alone have columns.

        watch = IdentifierWatch()
        with suppress(DataError, UsageError):  # the run reports it
            for _ in islice(read_file(file, replace(columns, watch=watch.see)), FIRST_ROWS):
                pass
        names.update(dict.fromkeys(watch.names()))
    return list(names)


Rename = Callable[[str], str]
"""Gives the results of an input file or folder another name."""


def renaming(keys: Keys) -> Rename:
    """New names of ``--rename-files`` under a user's secret, the same in every run.

    Raises:
        SecretError: there is no secret.
    """
    return keyed_names(keys.file_names)


def keyed_names(key: bytes) -> Rename:
    """New names for files and folders, each a hash of its path under a key; a file's suffix stays.

    The same file has the same new name in every run with the key, and files of one folder stay together.
    """

    def rename(name: str) -> str:
        parts = name.split("/")
        paths = ["/".join(parts[:end]) for end in range(1, len(parts) + 1)]
        return "/".join(hash_word(path, key) for path in paths) + split_suffix(name)[1]

    return rename


def is_keyed(name: str) -> bool:
    """True for a file's name of the form that `keyed_names` gives.

    Example:
        >>> rename = keyed_names(b"0123456789abcdef")
        >>> is_keyed(rename("ward 3/note 1.txt")), is_keyed("ward 3/note 1.txt")
        (True, False)
    """
    return _KEYED.fullmatch(name) is not None


def note_files(root: Path, rename: Rename | None = None) -> Iterator[NoteFile | Failure]:
    """List every file of a folder, of any format, or a single file: sorted, those of subfolders last.

    Hidden files and folders are ignored. Names are listed a folder at a time, so that memory does not grow with the
    number of folders. A file or folder that cannot be read is a failure; the others are listed.

    Args:
        root: the folder or file.
        rename: gives the results other names; None for the same names.
    """
    waiting = [root]  # A list instead of recursion, since folders may be nested to any depth.
    while waiting:
        path = waiting.pop()
        entry = _entry(path, root, rename)
        if entry is not None:
            yield entry
            continue
        try:
            names = sorted(name for name in os.listdir(path) if not name.startswith("."))  # noqa: PTH208  not Paths
        except OSError as error:
            yield Failure(f"cannot be read: {error.strerror}", _shown(path, root))
            continue
        subfolders = []
        for below in (path / name for name in names):
            entry = _entry(below, root, rename)
            if entry is None:
                subfolders.append(below)
            else:
                yield entry
        waiting += reversed(subfolders)


def _entry(path: Path, root: Path, rename: Rename | None) -> NoteFile | Failure | None:
    """The file of a name in a folder, or its failure; None for a subfolder."""
    link = False
    try:
        link = path.is_symlink()
        state = path.stat()
        if stat.S_ISREG(state.st_mode):
            name = relative_name(path, root)
            renamed = None if rename is None else rename(name)
            return NoteFile(path, name, state.st_size, state.st_mtime_ns, folder_patient(name), renamed)
    except DataError as problem:
        return Failure(problem.problem, _shown(path, root))
    except OSError as error:
        return Failure(_NO_TARGET if link else f"cannot be read: {error.strerror}", _shown(path, root))
    if link and path != root:
        return Failure(_NO_TARGET, _shown(path, root))
    return None if stat.S_ISDIR(state.st_mode) else Failure(NO_FILE, _shown(path, root))


def _shown(path: Path, root: Path) -> str:
    """Name below the input that any terminal can show."""
    return str(path.relative_to(root)).encode("utf-8", errors="backslashreplace").decode()


def survey_input(root: Path, targets: Callable[[NoteFile], list[str]], rename: Rename | None = None) -> InputSurvey:
    """Survey the whole input before a run.

    Args:
        root: the file or folder.
        targets: names of the outputs of an input file.
        rename: as of `note_files`.

    Raises:
        UsageError: the input does not exist or is a device, or two files have the same output.
        EmptyInputError: there are no notes.
    """
    if not root.exists():
        raise UnknownNameError(f"NOTES: no such file or folder: {root}")
    if not root.is_file() and not root.is_dir():
        raise UsageError(f"NOTES: {root} is {NO_FILE}; - reads one note from standard input")
    size = unknown = known = tables = 0
    folder, taken = "", set[str]()
    for file in note_files(root, rename):
        if isinstance(file, NoteFile) and note_format(file) is None:
            unknown += 1
            continue
        known += 1
        if isinstance(file, Failure):
            continue
        size += file.size
        tables += file.suffix in _TABLES
        if file.name.rpartition("/")[0] != folder:
            folder = file.name.rpartition("/")[0]
            taken.clear()
        for target in targets(file):
            name = os.path.normcase(target)  # Windows has one name for "A.txt" and "a.txt".
            if name in taken:
                raise UsageError(f"NOTES: two files would be written to {target}: rename one of them")
            taken.add(name)
    if not known:
        raise _no_notes(root)
    return InputSurvey(size, unknown, tables)


def unread_files(path: Path) -> Iterator[Path]:
    """Yield the files of a folder of results that no reader of notes reads, hidden ones too.

    The run state is no part of the results, nor are the files that desktops leave behind.
    """
    for folder, subfolders, names in os.walk(path):
        here = Path(folder)
        subfolders[:] = sorted(name for name in subfolders if not (here == path and name == STATE_FOLDER))
        for name in sorted(set(names) - DESKTOP_FILES):
            hidden = any(part.startswith(".") for part in (here / name).relative_to(path).parts)
            if hidden or split_suffix(name)[1].lower() not in NOTE_FORMATS or result_name(name) != name:
                yield here / name


def read_all_notes(
    root: Path, columns: Columns | None = None, *, rename: Rename | None = None, skip_failures: bool = False
) -> Iterator[Note]:
    """Read the notes of a file or folder, in order, or fail; files of unknown formats are ignored.

    Args:
        root: a file of notes, or a folder of them.
        columns: the columns with a meaning; None for the defaults of ``crfdeid tag``.
        rename: as of `note_files`; ids that are names of files are the new names.
        skip_failures: leave out files and rows that cannot be read, which a run fails too.

    Raises:
        DataError: there is no note, a file or a note cannot be read, or an id is repeated.
    """
    columns = Columns(use_id_key=True) if columns is None else columns
    seen: set[str] = set()
    for file in note_files(root, rename):
        if isinstance(file, Failure):
            if skip_failures:
                continue
            raise DataError(file.reason, path=root / file.file)
        for record in () if note_format(file) is None else read_file(file, columns):
            note = record.content
            if note is None or (isinstance(note, Failure) and skip_failures):
                continue
            if isinstance(note, Failure):
                raise DataError(note.reason, path=file.path, line=note.line or record.number, offset=note.offset)
            if note.id in seen:
                problem = "the same id as a note before it: ids must be unique"
                raise MismatchError(problem, path=file.path, line=record.number)
            seen.add(note.id)
            yield note
    if not seen:
        raise _no_notes(root)


def _no_notes(root: Path) -> EmptyInputError:
    return EmptyInputError(f"holds no notes: expected files that end in {NOTE_ENDINGS}", path=str(root))

"""`crfdeid reveal`: redacted notes with their encrypted values restored."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

from crfdeid.cli.options import (
    ENCRYPTION_KEY_FILE,
    FILES,
    OUTPUT,
    STDIN,
    TEXT_COLUMN,
    require_new_folder,
    require_path,
)
from crfdeid.cli.shell import Argument, Option, command, file_path
from crfdeid.documents import Document
from crfdeid.errors import DataError, FormatError, MismatchError, UsageError

_Tokens = dict[tuple[str, int | None], int]  # number of encrypted values, by file and row


@command(
    Argument(
        "notes",
        file_path,
        help="Redacted notes: a file (text, JSON Lines, CSV or Parquet), a folder, or - for standard input.",
    ),
    ENCRYPTION_KEY_FILE.but(required=True),
    OUTPUT.but(required=False, only=(FILES,), help="New folder for the results; none for standard input."),
    Option(
        "--check",
        file_path,
        only=(FILES,),
        metavar="FILE",
        help="Report of the redaction: a note that lacks a value, or has one too many, is an error.",
    ),
    TEXT_COLUMN.but(only=(FILES,)),
    details="A value that was altered is an error, and nothing is written.",
    examples=(
        "crfdeid reveal clean/ --encryption-key-file key --output restored/ --check report.json",
        "crfdeid reveal - --encryption-key-file key < clean/note.txt",
    ),
)
def run(options: SimpleNamespace) -> None:
    """Restore the encrypted values.

    Args:
        options: values of the options.

    Raises:
        UsageError: options that cannot work.
        DataError: notes cannot be read, a value was altered, or values are missing.
    """
    from crfdeid.cli.note_run import read_stdin, write_stdout  # noqa: PLC0415
    from crfdeid.redaction.encryption import reveal as restore  # noqa: PLC0415
    from crfdeid.secrets import read_encryption_key  # noqa: PLC0415
    from crfdeid.utils.folders import write_folder  # noqa: PLC0415

    key = read_encryption_key(options.encryption_key_file)
    if options.notes == STDIN:
        write_stdout(restore(read_stdin(None), key, path="standard input").text)
        return
    if options.output is None:
        raise UsageError("--output is needed: name a new folder for the results")
    require_new_folder(options.output, {"NOTES": require_path(options.notes)})
    expected = None if options.check is None else _read_report(options.check)
    found: _Tokens = {}

    def fill(folder: Path) -> None:
        found.update(_restore_files(options, key, folder))
        if expected is not None:
            _compare(expected, found)

    write_folder(options.output, fill)
    print(f"reveal: {sum(found.values()):,} values in {len(found):,} notes", file=sys.stderr)


def _restore_files(options: SimpleNamespace, key: bytes, folder: Path) -> Iterator[tuple[tuple[str, int | None], int]]:
    """Write each file with its values; yield the file and row of each note, and its number of values."""
    from crfdeid.io.records import Columns, Failure  # noqa: PLC0415
    from crfdeid.io.sources import note_files, note_format, open_writer, read_file  # noqa: PLC0415
    from crfdeid.redaction.encryption import reveal as restore  # noqa: PLC0415
    from crfdeid.utils.files import make_private_folder  # noqa: PLC0415

    columns = Columns(text=options.text_column)
    for file in note_files(options.notes):
        if isinstance(file, Failure):
            raise DataError(file.reason, path=file.file)
        if note_format(file) is None:
            continue
        target = folder / file.name
        make_private_folder(target.parent)
        with closing(open_writer(file, target, columns)) as writer:
            for record in read_file(file, columns):
                note, document = record.content, None
                if isinstance(note, Failure):
                    raise DataError(note.reason, path=file.name, line=note.line or record.number, offset=note.offset)
                if note is not None:
                    revealed = restore(note.text, key, path=file.name)
                    document = Document(note.id, revealed.text)
                    yield (file.name, record.number), revealed.tokens
                writer.write(record, document)


def _read_report(path: Path) -> _Tokens:
    from crfdeid.utils.files import read_text  # noqa: PLC0415

    try:
        notes = json.loads(read_text(path))["notes"]
        return {(note["file"], note.get("row")): int(note.get("tokens", 0)) for note in notes}
    except (ValueError, KeyError, TypeError):
        raise FormatError("not a report of crfdeid redact", path=path) from None


def _compare(expected: _Tokens, found: _Tokens) -> None:
    """Refuse notes whose number of values is not that of the report."""
    for file, row in expected.keys() | found.keys():
        wanted, there = expected.get((file, row)), found.get((file, row))
        if wanted != there:
            counts = f"{there or 0} encrypted values, and the report has {wanted or 0}"
            raise MismatchError(f"{counts}: restore the redacted note", path=file, line=row)

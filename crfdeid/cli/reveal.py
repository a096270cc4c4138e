"""`crfdeid reveal`: redacted notes with their encrypted values or their numbered tokens restored."""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

from crfdeid.cli import options as shared
from crfdeid.cli.shell import Argument, Option, command, file_path
from crfdeid.documents import Document
from crfdeid.errors import DataError, EmptyInputError, FormatError, MismatchError, UsageError, shorten_list

_Tokens = dict[tuple[str, int | None], int]  # number of encrypted values, by file and row
_REPORT = {
    "summary": {"tokens": int},
    "notes": [{"file": str, "row?": (int, None), "tokens?": (int, None)}],
    "failures": [{"file": str, "row": (int, None)}],
}
_STDIN = "standard input"
_NO_VALUE = "no encrypted value in it: give what redact --operator encrypt wrote"
_NO_REPORT = "not the report of a run of this version with encrypted values: give the one of this redaction, unaltered"


@command(
    Argument(
        "notes",
        file_path,
        help="Redacted notes: a file (text, JSON Lines, CSV or Parquet), a folder, or - for standard input.",
    ),
    shared.ENCRYPTION_KEY_FILE,
    Option(
        "--map",
        file_path,
        only=(shared.PIPED,),
        help="File that redact --map wrote: its numbered tokens are restored in an answer of a language model.",
    ),
    shared.OUTPUT.but(
        required=False, only=(shared.FILES,), help="New folder for the results; none for standard input."
    ),
    Option(
        "--check",
        file_path,
        only=(shared.FILES,),
        help="Report of the redaction: a note that lacks a value, or has one too many, is an error.",
    ),
    shared.TEXT_COLUMN.but(only=(shared.FILES,)),
    shared.MARKUP.but(help="Format of all notes, as of the redaction: the values are spelled as it asks."),
    details="An altered encrypted value is an error, and so are notes without one: nothing is written then. A numbered "
    "token that is not in the map, or may be prose, stays, is named, and makes the exit code 1.",
    examples=(
        "crfdeid reveal clean/ --encryption-key-file key --output restored/ --check report.json",
        "crfdeid reveal - --map map.json < answer.txt",
    ),
)
def run(options: SimpleNamespace) -> int:
    """Restore encrypted values or numbered tokens."""
    from crfdeid.cli.note_run import read_stdin, write_stdout  # noqa: PLC0415
    from crfdeid.io.records import shown_name  # noqa: PLC0415
    from crfdeid.io.sources import unread_files  # noqa: PLC0415
    from crfdeid.secrets import read_encryption_key  # noqa: PLC0415
    from crfdeid.utils.folders import write_folder  # noqa: PLC0415

    if (options.encryption_key_file is None) == (options.map is None):
        raise UsageError("give --encryption-key-file for encrypted values, or --map for numbered tokens")
    if options.map is not None:
        return _restore_answer(options.map)
    from crfdeid.redaction.in_markup import reveal_source  # noqa: PLC0415

    key = read_encryption_key(options.encryption_key_file)
    if options.notes == shared.STDIN:
        revealed = reveal_source(read_stdin(None), key, options.markup, path=_STDIN)
        if not revealed.tokens:
            raise MismatchError(_NO_VALUE, path=_STDIN)
        write_stdout(revealed.text)
        return 0
    if options.output is None:
        raise UsageError("--output is needed: name a new folder for the results")
    shared.require_new_folder(options.output, {"NOTES": shared.require_path(options.notes)})
    expected = None if options.check is None else _read_report(options.check)
    for path in unread_files(options.notes):
        print(f"left out, no file of notes: {shown_name(str(path.relative_to(options.notes)))}", file=sys.stderr)
    tokens: _Tokens = {}

    def fill(folder: Path) -> None:
        tokens.update(_restore_files(options, key, folder))
        _require_values(options.notes, tokens, expected)

    write_folder(options.output, fill)
    print(f"reveal: {sum(tokens.values()):,} values in {len(tokens):,} notes", file=sys.stderr)
    return 0


def _restore_answer(path: Path) -> int:
    """Restore the numbered tokens of standard input; return 1 if one is refused."""
    from crfdeid.cli.note_run import read_stdin, write_stdout  # noqa: PLC0415
    from crfdeid.redaction.round_trip import read_map, restore  # noqa: PLC0415

    done = restore(read_stdin(None), read_map(path))
    write_stdout(done.text)
    if done.missing:
        print(f"tokens of the map that are missing: {shorten_list(done.missing)}", file=sys.stderr)
    refused = {"not in the map": done.unknown, "a token or prose, so it stays": done.ambiguous}
    for why, places in refused.items():
        for start, _ in places:
            print(f"{_STDIN}, offset {start}: {why}", file=sys.stderr)
    return min(len(done.unknown) + len(done.ambiguous), 1)


def _restore_files(options: SimpleNamespace, key: bytes, folder: Path) -> Iterator[tuple[tuple[str, int | None], int]]:
    """Write each file with its values; yield the file and row of each note, and its number of values."""
    from crfdeid.io.records import Columns, Failure  # noqa: PLC0415
    from crfdeid.io.sources import note_files, note_format, open_writer, read_file, target_name  # noqa: PLC0415
    from crfdeid.redaction.in_markup import reveal_source  # noqa: PLC0415
    from crfdeid.utils.files import make_owner_folder  # noqa: PLC0415

    columns = Columns(text=options.text_column)
    for file in note_files(options.notes):
        if isinstance(file, Failure):
            raise DataError(file.reason, path=file.file)
        if note_format(file) is None or target_name(file) != file.name:  # PDF is no result.
            continue
        target = folder / file.name
        make_owner_folder(target.parent)
        with closing(open_writer(file, target, columns)) as writer:
            for record in read_file(file, columns):
                note, document = record.content, None
                if isinstance(note, Failure):
                    raise DataError(note.reason, path=file.name, line=note.line or record.number, offset=note.offset)
                if note is not None:
                    revealed = reveal_source(note.text, key, note.markup or options.markup, path=file.name)
                    document = Document(note.id, revealed.text)
                    yield (file.name, record.number), revealed.tokens
                writer.write(record, document)


def _read_report(path: Path) -> _Tokens:
    """Numbers of encrypted values by file and row of the results, which lack the rows that failed."""
    from crfdeid.markup import result_name  # noqa: PLC0415
    from crfdeid.utils.files import read_text  # noqa: PLC0415
    from crfdeid.utils.json import parse_json  # noqa: PLC0415
    from crfdeid.validation import shape_errors  # noqa: PLC0415

    report = parse_json(read_text(path), path=path, otherwise=_NO_REPORT)
    if any(shape_errors(report, _REPORT)):
        raise FormatError(_NO_REPORT, path=path)
    failed: dict[str, list[int]] = defaultdict(list)
    for failure in report["failures"]:
        if failure["row"] is not None:
            failed[failure["file"]].append(failure["row"])
    for rows in failed.values():
        rows.sort()
    tokens = {}
    for note in report["notes"]:
        row = note.get("row")
        result = None if row is None else row - bisect_left(failed[note["file"]], row)
        tokens[result_name(note["file"]), result] = note.get("tokens") or 0
    whole = len(tokens) == len(report["notes"]) and sum(tokens.values()) == report["summary"]["tokens"]
    if not whole or min(tokens.values(), default=0) < 0:
        raise FormatError(_NO_REPORT, path=path)
    return tokens


def _require_values(path: Path, tokens: _Tokens, expected: _Tokens | None) -> None:
    """Refuse a path without notes or without values, and notes whose number of values is not that of the report."""
    from crfdeid.io.sources import NOTE_ENDINGS  # noqa: PLC0415

    if not tokens:
        problem = f"holds no notes that end in {NOTE_ENDINGS}: give what redact --operator encrypt wrote"
        raise EmptyInputError(problem, path=path)
    if expected is None:
        if not any(tokens.values()):
            raise MismatchError(_NO_VALUE, path=path)
        return
    for file, row in sorted(expected.keys() | tokens.keys(), key=lambda note: (note[0], note[1] or 0)):
        wanted, there = expected.get((file, row)), tokens.get((file, row))
        if wanted != there:
            where = "the note" if row is None else f"row {row}"
            counts = f"{where} is missing" if there is None else f"{where} has {there:,} encrypted values"
            reported = "does not have it" if wanted is None else f"has {wanted:,}"
            raise MismatchError(f"{counts}, and the report {reported}: restore the redacted note", path=file)

"""Journal of a run: notes, failures and finished files, one JSON object a line, in the state of `crfdeid.io.output`.

Anybody could have changed the file: an entry of another form is refused, and so is a name that leads out of the output
folder.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from crfdeid.errors import IntegrityError
from crfdeid.io.records import SOURCES, Failure, NoteCounts
from crfdeid.model_card.drift import NOTE_MEASURES
from crfdeid.redaction.record import RECORD_SHAPE
from crfdeid.utils.files import naming, open_no_link, sync
from crfdeid.validation import shape_errors

STATE_FOLDER = ".crfdeid"
"""Folder of the run state in an output folder."""
JOURNAL = "finished.jsonl"
"""File of the journal in it."""
SIDECARS = f"{STATE_FOLDER}/sidecar"
"""Folder of the sidecar files, one for each input file, until the end of the run joins them."""
DAMAGED_STATE = "damaged: name a new --output folder, the input has all that is needed"
"""Message for a file of the run state that no run wrote."""
_FAILURE_MARK = '"reason": '  # in the line of each failure, and hardly in another


@dataclass(frozen=True)
class NoteDone(NoteCounts):
    """Entry of a note with a result.

    Attributes:
        file: name of its file's results.
        source_fingerprint: changes with the input file.
        row: row, from 1; None if the file is the note.
        hmac: keyed hash of its text, if there is a secret.
        unsearched: columns of the patient's record that hide nothing, or little, each with the reason.
        record: what was replaced, as data of a `RedactionRecord`; None where nothing was to be hidden.
    """

    file: str
    source_fingerprint: str
    row: int | None
    hmac: str | None
    unsearched: Mapping[str, str] | None = None
    record: Mapping[str, Any] | None = None


class FailureEntry(NamedTuple):
    """Entry of a note, file or folder without a result; the fingerprint is "" without a file."""

    source_fingerprint: str
    failure: Failure


class FileCompleted(NamedTuple):
    """Entry of a file whose results have their final names.

    Attributes:
        file: name of its results.
        source_fingerprint: as of its notes.
        source_digest: SHA-256 of its content before it was read.
        outputs: SHA-256 of each result, by name.
    """

    file: str
    source_fingerprint: str
    source_digest: str
    outputs: Mapping[str, str]


JournalEntry = NoteDone | FailureEntry | FileCompleted


def read_journal(path: Path, *, having: str = "") -> Iterator[JournalEntry]:
    """Read the entries of a journal in order; a last line without an end is ignored.

    Args:
        path: the journal's file.
        having: skip lines without this text, without decoding them.

    Raises:
        IntegrityError: a line is no entry.
    """
    with open_no_link(path, "r") as stream:
        for number, line in enumerate(stream, start=1):
            if not line.endswith("\n"):
                return
            if having not in line:
                continue
            try:
                entry = _read(_DECODER.decode(line))
            except (ValueError, RecursionError):
                entry = None
            if entry is None:
                raise IntegrityError(DAMAGED_STATE, path=path, line=number)
            yield entry


class Journal:
    """Journal of a run, in a file that may not exist yet.

    Raises:
        DataError: the file is a link.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stream = open_no_link(path, "a")

    def entries(self, *, having: str = "") -> Iterator[JournalEntry]:
        """Read the entries by `read_journal`."""
        with naming(self._path):
            self._stream.flush()
        return read_journal(self._path, having=having)

    def failures(self) -> Iterator[FailureEntry]:
        """Read the failures in order, in a tenth of the time of all entries."""
        return (entry for entry in self.entries(having=_FAILURE_MARK) if isinstance(entry, FailureEntry))

    def accounted(self) -> Iterator[NoteDone | FailureEntry]:
        """Read the failures, and the notes with results, at the end of a run; a file that failed has none."""
        failed = {(one.failure.file, one.source_fingerprint) for one in self.failures() if one.failure.row is None}
        for entry in self.entries():
            if isinstance(entry, FailureEntry) or (
                isinstance(entry, NoteDone) and (entry.file, entry.source_fingerprint) not in failed
            ):
                yield entry

    def keep_only(self, fingerprints: Mapping[str, str]) -> None:
        """Remove the entries of all files but these, each with its fingerprint."""
        fresh = self._path.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        with naming(fresh), open_no_link(fresh, "a") as stream:
            for entry in self.entries():
                file = entry.failure.file if isinstance(entry, FailureEntry) else entry.file
                if fingerprints.get(file) == entry.source_fingerprint:
                    stream.write(_line(entry))
        sync(fresh)
        self._stream.close()
        fresh.replace(self._path)
        sync(self._path.parent)
        self._stream = open_no_link(self._path, "a")

    def add(self, entry: JournalEntry) -> None:
        """Write an entry; it is on the disk after the next `sync`."""
        with naming(self._path):
            self._stream.write(_line(entry))

    def sync(self) -> None:
        """Bring the journal to the disk."""
        with naming(self._path):
            self._stream.flush()
            os.fsync(self._stream.fileno())

    def close(self) -> None:
        """Write buffered entries."""
        with naming(self._path):
            self._stream.close()


def _count(digits: str) -> int:
    """A number of a line: none is negative, or larger than any count."""
    if not digits.isdecimal() or len(digits) > 18:
        raise ValueError
    return int(digits)


_DECODER = json.JSONDecoder(parse_int=_count)
_JSON_NOTE = {
    "source_fingerprint": str,
    "file": str,
    "row": (int, None),
    "found": {str: int},
    "hmac": (str, None),
    "locale?": (str, None),
    "concepts?": ({str: int}, None),
    "left_out?": ({str: int}, None),
    "unsearched?": ({str: str}, None),
    "words?": int,
    "hidden_words?": int,
    "drift_warnings?": [str],
    "tokens?": int,
    "kept?": {str: int},
    "sources?": (SOURCES, None),
    "base64?": [[int]],
    "kept_fields?": [str],
    "record?": (RECORD_SHAPE, None),
}
_DEFAULTS = vars(NoteDone("", "", None, None, found={}))
_JSON_FAILURE = {
    "source_fingerprint": str,
    "reason": str,
    "file": str,
    "row": (int, None),
    "line": (int, None),
    "offset": (int, None),
    "error": str,
}
_JSON_COMPLETED = {"source_fingerprint": str, "source_digest": str, "file": str, "outputs": {str: str}}


def _line(entry: JournalEntry) -> str:
    """The line of an entry; values of a note that are the default are left out."""
    match entry:
        case FailureEntry(source_fingerprint, failure):
            line = {"source_fingerprint": source_fingerprint, **failure._asdict()}
        case FileCompleted():
            line = entry._asdict()
        case NoteDone():
            values = vars(entry).items()
            line = {name: value for name, value in values if name in _JSON_NOTE or value != _DEFAULTS[name]}
    return json.dumps(line) + "\n"


def _read(line: Any) -> JournalEntry | None:
    """The entry of a line's object; None if it is none."""
    if not any(shape_errors(line, _JSON_NOTE)):
        note = NoteDone(**{name: line[name] for name in _DEFAULTS if name in line})
        return note if {*note.drift_warnings} <= {*NOTE_MEASURES} else None
    if not any(shape_errors(line, _JSON_FAILURE)):
        return FailureEntry(line["source_fingerprint"], Failure(**{name: line[name] for name in Failure._fields}))
    if not any(shape_errors(line, _JSON_COMPLETED)) and all(map(_is_output, [line["file"], *line["outputs"]])):
        return FileCompleted(**{name: line[name] for name in FileCompleted._fields})
    return None


def _is_output(name: str) -> bool:
    """True for the name of a file below the output folder, outside the run state but for sidecars."""
    parts = PurePosixPath(name).parts
    if not parts or "\0" in name or name != "/".join(parts) or parts[0] == "/" or ".." in parts:
        return False
    return parts[0] != STATE_FOLDER or str(PurePosixPath(name).parent) == SIDECARS

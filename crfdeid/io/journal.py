"""Run state in the hidden folder of an output: the run's configuration, and the journal of notes, failures and files.

The journal has one JSON object a line. Only entries of completed files count when a run resumes; the rest is redone.
Anybody could have changed these files, so a line of another form is refused, and so is a name that leads out of the
output folder.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from crfdeid.errors import DataError, IntegrityError, OptionConflictError, VersionError
from crfdeid.io.records import SOURCES, Failure, Sources
from crfdeid.model_card.drift import NOTE_MEASURES
from crfdeid.utils.files import naming, open_no_link, sync
from crfdeid.utils.json import parse_json
from crfdeid.validation import shape_errors

STATE_FOLDER = ".crfdeid"
"""Folder of the run state in an output folder."""
CONFIG = "settings.json"
"""File of the run's configuration in it."""
JOURNAL = "finished.jsonl"
"""File of the journal in it."""
SIDECARS = f"{STATE_FOLDER}/sidecar"
"""Folder of the sidecar files, one for each input file, until the end of the run joins them."""
_STATE_VERSION = 2
_DAMAGED = "damaged: name a new --output folder, the input has all that is needed"
_FAILURE_MARK = '"reason": '  # in the line of each failure, and hardly in another
_SECRET = "secret"


# --- configuration


def new_run_config(settings: Mapping[str, Any]) -> str:
    """Text of the configuration of a new run."""
    return json.dumps({"state_version": _STATE_VERSION, **settings}, indent=1) + "\n"


def read_run_config(path: Path) -> dict[str, Any] | None:
    """Read the configuration of a run; None if there is none.

    Raises:
        VersionError: another version of the library wrote it.
        DataError: the file is damaged, or a link.
    """
    try:
        with open_no_link(path, "r") as stream:
            config = parse_json(stream.read(), path=path, otherwise=_DAMAGED)
    except FileNotFoundError:
        return None
    if not isinstance(config, dict):
        raise IntegrityError(_DAMAGED, path=path)
    if config.pop("state_version", None) != _STATE_VERSION:
        raise VersionError("run state of another version of crfdeid: name a new --output folder", path=path)
    return config


def require_same_config(before: Mapping[str, Any], now: Mapping[str, Any], folder: Path) -> None:
    """Check that a resumed run has the configuration of the run before, so that results are not mixed.

    Raises:
        OptionConflictError: settings differ.
    """
    different = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    if not different:
        return
    if different == [_SECRET] and None in (before.get(_SECRET), now.get(_SECRET)):
        # Without surrogates, only the audit's hashes depend on the secret.
        problem = (
            "with a secret for the audit: give --report and that secret again, or name a new folder"
            if now.get(_SECRET) is None
            else "without a secret for the audit, and its results have no hashes: resume without one (no "
            "--secret-file, CRFDEID_SECRET not set), or name a new folder"
        )
    else:
        problem = f"with another {', '.join(different)}: give the same options, or name a new folder"
    raise OptionConflictError(f"--resume: {folder} was begun {problem}")


# --- journal


class NoteDone(NamedTuple):
    """Entry of a note with a result.

    Attributes:
        file: name of its file's results.
        source_fingerprint: changes with the input file.
        row: row, from 1; None if the file is the note.
        found: number of spans of each type in it.
        hmac: keyed hash of its text, if there is a secret.
        locale: locale of its surrogates.
        concepts: number of concepts of each type in its result; None if the model looked for none.
        left_out: number of concepts of each type that overlap hidden text.
        unsearched: columns of the patient's record that hide nothing, or little, each with the reason.
        words: number of words; 0 if nothing is to be hidden.
        hidden_words: number of hidden words.
        drift_warnings: measures by which it differs from the development notes, names of `NOTE_MEASURES`.
        tokens: number of encrypted values in its result.
        kept: number of spans of each type that stay.
        sources: number and lowest score of the spans of each source; None if not requested.
    """

    file: str
    source_fingerprint: str
    row: int | None
    found: Mapping[str, int]
    hmac: str | None
    locale: str | None = None
    concepts: Mapping[str, int] | None = None
    left_out: Mapping[str, int] | None = None
    unsearched: Mapping[str, str] | None = None
    words: int = 0
    hidden_words: int = 0
    drift_warnings: Sequence[str] = ()
    tokens: int = 0
    kept: Mapping[str, int] = {}
    sources: Sources | None = None


class FailureEntry(NamedTuple):
    """Entry of a note, file or folder without a result; the fingerprint is "" without a file."""

    source_fingerprint: str
    failure: Failure

    @property
    def ends_file(self) -> bool:
        """True if the file as a whole has no result, whatever notes of it were done before."""
        return self.failure.row is None


class FileCompleted(NamedTuple):
    """Entry of a file whose results have their final names."""

    file: str
    source_fingerprint: str
    outputs: Sequence[str]


JournalEntry = NoteDone | FailureEntry | FileCompleted


class Journal:
    """Journal of a run, in one file.

    Args:
        path: the file, which may not exist yet.

    Raises:
        DataError: the file is a link.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stream = open_no_link(path, "a")

    def entries(self, *, having: str = "") -> Iterator[JournalEntry]:
        """Read the entries in order; a last line without an end is ignored.

        Args:
            having: skip lines without this text.

        Raises:
            IntegrityError: a line is no entry.
        """
        with naming(self._path):
            self._stream.flush()
        with open_no_link(self._path, "r") as stream:
            for number, line in enumerate(stream, start=1):
                if not line.endswith("\n"):
                    return
                if having not in line:
                    continue
                try:
                    entry = _read(json.loads(line))
                except (ValueError, RecursionError):
                    entry = None
                if entry is None:
                    raise IntegrityError(_DAMAGED, path=self._path, line=number)
                yield entry

    def failures(self) -> Iterator[FailureEntry]:
        """Read the failures in order, in a tenth of the time of all entries."""
        return (entry for entry in self.entries(having=_FAILURE_MARK) if isinstance(entry, FailureEntry))

    def accounted(self) -> Iterator[NoteDone | FailureEntry]:
        """Read the failures, and the notes with results, at the end of a run."""
        failed = {(one.failure.file, one.source_fingerprint) for one in self.failures() if one.ends_file}
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


def _line(entry: JournalEntry) -> str:
    if isinstance(entry, FailureEntry):
        fields = {"source_fingerprint": entry.source_fingerprint, **entry.failure._asdict()}
    else:
        fields = entry._asdict()
    if isinstance(entry, NoteDone):
        absent = {
            "concepts": entry.concepts is None,
            "left_out": entry.concepts is None,
            "unsearched": entry.unsearched is None,
            "drift_warnings": not entry.drift_warnings,
            "tokens": not entry.tokens,
            "kept": not entry.kept,
            "sources": entry.sources is None,
        }
        fields = {name: value for name, value in fields.items() if not absent.get(name)}
    return json.dumps(fields) + "\n"


def _read(line: Any) -> JournalEntry | None:
    """The entry of a line's object; None if it is none."""
    match line:
        case {"source_fingerprint": str(fingerprint), "file": str(file), "outputs": [*outputs]}:
            return FileCompleted(file, fingerprint, outputs) if all(map(_is_output, [file, *outputs])) else None
        case {
            "source_fingerprint": str(),
            "file": str(),
            "row": row,
            "found": dict(),
            "hmac": None | str(),
            "locale": None | str(),
        }:
            note = NoteDone(**{name: line[name] for name in NoteDone._fields if name in line})
            counts = all(map(_are_counts, (note.found, note.concepts, note.left_out, note.kept)))
            words = all(isinstance(number, int) for number in (note.words, note.hidden_words, note.tokens))
            valid = counts and words and _are_texts(note.unsearched) and _are_measures(note.drift_warnings)
            valid = valid and (note.sources is None or not any(shape_errors(note.sources, SOURCES)))
            return note if valid and _are_numbers(row) else None
        case {
            "source_fingerprint": str(fingerprint),
            "file": str(file),
            "reason": str(reason),
            "row": row,
            "line": at,
            "offset": offset,
        }:
            failure = Failure(reason, file, row, at, offset, line.get("error", DataError.__name__))
            valid = _are_numbers(row, at, offset) and isinstance(failure.error, str)
            return FailureEntry(fingerprint, failure) if valid else None
        case _:
            return None


def _are_counts(value: Any) -> bool:
    return value is None or (isinstance(value, dict) and _are_numbers(*value.values()))


def _are_texts(value: Any) -> bool:
    return value is None or (isinstance(value, dict) and all(isinstance(one, str) for one in value.values()))


def _are_numbers(*values: Any) -> bool:
    return all(value is None or isinstance(value, int) for value in values)


def _are_measures(value: Any) -> bool:
    return value == () or (isinstance(value, list) and all(name in NOTE_MEASURES for name in value))


def _is_output(name: Any) -> bool:
    """True for the name of a file below the output folder, outside the run state but for sidecars."""
    if not isinstance(name, str) or not name or "\0" in name:
        return False
    parts = PurePosixPath(name).parts
    if name != "/".join(parts) or parts[0] == "/" or ".." in parts:
        return False
    return parts[0] != STATE_FOLDER or str(PurePosixPath(name).parent) == SIDECARS

"""The list of what a run has done, ``finished.jsonl``: by it a run goes on, and accounts for itself at the end.

One JSON object a line, of three kinds: a note that is done, what failed, and a file that is finished. Only what belongs
to a finished file counts later: the rest is done again. Lines are read as what anybody could have written there: a line
of another form is refused, and so is a name that leads out of the output folder.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from crfdeid.errors import DataError, UsageError
from crfdeid.io.records import Failure
from crfdeid.model_card.drift import NOTE_MEASURES
from crfdeid.utils.files import naming, open_no_link, sync
from crfdeid.utils.json import parse_json

STATE_FOLDER = ".crfdeid"
"""The folder of the output that holds what a run needs for itself."""
SIDECARS = f"{STATE_FOLDER}/beside"
"""The folder in it of what is written beside the results, file by file, until the run puts it together."""
JOURNAL = "finished.jsonl"
"""The name of the list in it."""
_FAILURE_MARK = '"reason": '  # in each line of theirs, and hardly in another
DAMAGED_STATE = "damaged: name a new --output folder, the input has all that is needed"


class NoteDone(NamedTuple):
    """A note that has a result.

    Attributes:
        file: the name of its file's results: of the file itself, or the new one where files get new names.
        stamp: what changes with the file.
        row: its row, from 1; None where the file is the note.
        found: how many spans of each type were found in it.
        hmac: the keyed hash of its text, where there is a secret.
        locale: of its surrogates.
        concepts: how many concepts of each type its result has; None where none were looked for.
        left_out: how many concepts of each type it has not, since they overlap hidden text.
        unsearched: the columns of its patient's record that hide nothing, or little, and why (`Known.unsearched`).
        words: how many words it has; 0 where nothing is hidden.
        hidden_words: how many of them are hidden.
        unlike: the measures by which it is unlike the development notes, names of `MEASURES`.
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


class FailureEntry(NamedTuple):
    """A note, file or folder that has no result; the stamp is "" where there is no file to change."""

    source_fingerprint: str
    failure: Failure

    @property
    def ends_file(self) -> bool:
        """Whether the file as a whole has no result, whatever was done of it before."""
        return self.failure.row is None


class FileCompleted(NamedTuple):
    """A file whose results have their final names."""

    file: str
    source_fingerprint: str
    outputs: Sequence[str]


JournalEntry = NoteDone | FailureEntry | FileCompleted


class Journal:
    """The list, in one file.

    Args:
        path: the file; there need be none yet.

    Raises:
        DataError: it is a link.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stream = open_no_link(path, "a")

    def entries(self) -> Iterator[JournalEntry]:
        """What the list says, in order; a last line that was cut off is left out.

        Raises:
            DataError: a line is none of this list's.
        """
        return self._entries()

    def failures(self) -> Iterator[FailureEntry]:
        """What failed, in order; the other lines are passed over, which takes a tenth of the time of reading them."""
        return (entry for entry in self._entries(having=_FAILURE_MARK) if isinstance(entry, FailureEntry))

    def _entries(self, having: str = "") -> Iterator[JournalEntry]:
        """What the lines say that have something in them."""
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
                    raise DataError(DAMAGED_STATE, path=self._path, line=number)
                yield entry

    def accounted(self) -> Iterator[NoteDone | FailureEntry]:
        """What failed, and the notes that have results, once all files were worked through."""
        failed = {(one.failure.file, one.source_fingerprint) for one in self.failures() if one.ends_file}
        for entry in self.entries():
            if isinstance(entry, FailureEntry) or (
                isinstance(entry, NoteDone) and (entry.file, entry.source_fingerprint) not in failed
            ):
                yield entry

    def keep_only(self, stamps: Mapping[str, str]) -> None:
        """Forget all files but these, each as it was when it had this stamp."""
        fresh = self._path.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        with naming(fresh), open_no_link(fresh, "a") as stream:
            for entry in self.entries():
                file = entry.failure.file if isinstance(entry, FailureEntry) else entry.file
                if stamps.get(file) == entry.source_fingerprint:
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
        """Bring the list to the disk."""
        with naming(self._path):
            self._stream.flush()
            os.fsync(self._stream.fileno())

    def close(self) -> None:
        """Write what is left."""
        with naming(self._path):
            self._stream.close()


def _line(entry: JournalEntry) -> str:
    fields = (
        {"source_fingerprint": entry.source_fingerprint, **entry.failure._asdict()}
        if isinstance(entry, FailureEntry)
        else entry._asdict()
    )
    if isinstance(entry, NoteDone) and entry.concepts is None:
        del fields["concepts"], fields["left_out"]
    if isinstance(entry, NoteDone) and entry.unsearched is None:
        del fields["unsearched"]
    if isinstance(entry, NoteDone) and not entry.drift_warnings:
        del fields["drift_warnings"]
    return json.dumps(fields) + "\n"


def _read(line: Any) -> JournalEntry | None:
    """An entry from a line's object; None where it is none."""
    match line:
        case {"source_fingerprint": str(source_fingerprint), "file": str(file), "outputs": [*outputs]} if all(
            map(_is_plain, [file, *outputs])
        ):
            return FileCompleted(file, source_fingerprint, outputs)
        case {
            "source_fingerprint": str(),
            "file": str(),
            "row": row,
            "found": dict(),
            "hmac": None | str(),
            "locale": None | str(),
        }:
            note = NoteDone(**{name: line[name] for name in NoteDone._fields if name in line})
            counts = all(map(_are_counts, (note.found, note.concepts, note.left_out)))
            words = isinstance(note.words, int) and isinstance(note.hidden_words, int)
            sound = counts and words and _are_texts(note.unsearched) and _are_measures(note.drift_warnings)
            return note if sound and _are_numbers(row) else None
        case {
            "source_fingerprint": str(source_fingerprint),
            "file": str(file),
            "reason": str(reason),
            "row": row,
            "line": at,
            "offset": offset,
        }:
            failure = Failure(reason, file, row, at, offset, line.get("error", DataError.__name__))
            sound = _are_numbers(row, at, offset) and isinstance(failure.error, str)
            return FailureEntry(source_fingerprint, failure) if sound else None
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


def _is_plain(name: Any) -> bool:
    """Whether this is the name of a file below a folder, and none of those that a run keeps for itself."""
    if not isinstance(name, str) or not name or "\0" in name:
        return False
    parts = PurePosixPath(name).parts
    if name != "/".join(parts) or parts[0] == "/" or ".." in parts:
        return False
    return parts[0] != STATE_FOLDER or str(PurePosixPath(name).parent) == SIDECARS


_SECRET = "secret"


def read_run_config(path: Path) -> dict[str, Any] | None:
    """The settings that a run was begun with; None where there are none.

    Raises:
        DataError: they are damaged, or the file is a link.
    """
    try:
        with open_no_link(path, "r") as stream:
            before = parse_json(stream.read(), path=path, otherwise=DAMAGED_STATE)
    except FileNotFoundError:
        return None
    if not isinstance(before, dict):
        raise DataError(DAMAGED_STATE, path=path)
    return before


def require_same_config(before: Mapping[str, Any], now: Mapping[str, Any], folder: Path) -> None:
    """Refuse to go on with other settings than a run was begun with.

    Raises:
        UsageError: some differ.
    """
    different = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    if not different:
        return
    remedy = "give the same options, or name a new folder"
    if different == [_SECRET] and None in (before.get(_SECRET), now.get(_SECRET)):
        raise UsageError(f"--resume: {folder} was begun {_about_secret(begun_with_one=now.get(_SECRET) is None)}")
    raise UsageError(f"--resume: {folder} was begun with another {', '.join(different)}: {remedy}")


def _about_secret(*, begun_with_one: bool) -> str:
    """What to do where one of two runs alone has a secret: then nothing but the audit's hashes depends on it."""
    if begun_with_one:
        return "with a secret for the audit: give --audit and that secret again, or name a new folder"
    return (
        "without a secret for the audit, and what is done has no hashes: resume without one (no --secret-file, "
        "CRFDEID_SECRET not set), or name a new folder"
    )

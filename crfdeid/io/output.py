"""Output folder of a run: one run at a time, files that appear whole, and a journal of finished work.

The run state is in the hidden folder ``.crfdeid``:

    lock             locked by the run that writes
    settings.json    configuration of the run, which --resume must repeat
    finished.jsonl   journal of notes, failures and finished files, one JSON object a line; what was replaced in each
                     note, for its review: offsets and digests, no text
    part/            files while they are written
    sidecar/         concepts of each file, until the end of the run joins them

A file is written in ``part``, brought to the disk, renamed, and then listed as finished. A run that is killed, or loses
power, therefore leaves no partial file under a final name, and redoes at most one file when it resumes.

Only journal entries of finished files count when a run resumes; the rest is redone. The journal has the digests of
each finished file and of its results: a file with another content is redone, whatever its time, and so is one that
lacks a result. A result with another content is refused, since it may have been corrected by hand.

Anybody could have changed these files: an entry of another form is refused, and so is a name that leads out of the
output folder. No link below the output is followed, otherwise another user's file could be overwritten or deleted.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple, Self, TextIO

from crfdeid.errors import (
    DataError,
    IntegrityError,
    MismatchError,
    OptionConflictError,
    OutputExistsError,
    ReadError,
    UsageError,
    VersionError,
    WriteError,
    shorten_list,
)
from crfdeid.io.records import SOURCES, Failure, NoteCounts, NoteFile, NoteResult, shown_name
from crfdeid.io.sources import NOTE_FORMATS, Rename, note_files, note_format
from crfdeid.model_card.drift import NOTE_MEASURES
from crfdeid.redaction.record import RECORD_SHAPE
from crfdeid.serialization import DESKTOP_FILES
from crfdeid.utils.files import file_digest, make_folders, make_owner_folder, naming, open_no_link, sync, write_files
from crfdeid.utils.json import parse_json
from crfdeid.validation import shape_errors

STATE_FOLDER = ".crfdeid"
"""Folder of the run state in an output folder."""
JOURNAL = "finished.jsonl"
"""File of the journal in it."""
SETTINGS = "settings.json"
"""File of the configuration of a run in it."""
SIDECARS = f"{STATE_FOLDER}/sidecar"
"""Folder of the sidecar files, one for each input file, until the end of the run joins them."""
_STATE_VERSION = 5
_DAMAGED = "damaged: name a new --output folder, the input has all that is needed"
_FAILURE_MARK = '"reason": '  # in the line of each failure, and hardly in another
_SECRET = "secret"
_MOST_DIGITS = 18


Withdrawn = Literal["keep", "remove"]
"""Treatment of the results of a file that the input no longer has."""


def unread_files(path: Path) -> Iterator[Path]:
    """Yield the files of a folder of results that no reader of notes reads, hidden ones too.

    The run state is no part of the results, nor are the files that desktops leave behind.

    Args:
        path: the folder; a single file has no others.
    """
    for folder, subfolders, names in os.walk(path):
        here = Path(folder)
        subfolders[:] = sorted(name for name in subfolders if not (here == path and name == STATE_FOLDER))
        for name in sorted(set(names) - DESKTOP_FILES):
            hidden = any(part.startswith(".") for part in (here / name).relative_to(path).parts)
            if hidden or Path(name).suffix.lower() not in NOTE_FORMATS:
                yield here / name


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


def _require_same_settings(before: Mapping[str, Any], now: Mapping[str, Any], folder: Path) -> None:
    """Check that a resumed run has the settings of the run before, so that results are not mixed."""
    different = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    if not different:
        return
    if different == [_SECRET] and None in (before.get(_SECRET), now.get(_SECRET)):
        # Without surrogates, only the report's hashes depend on the secret.
        problem = (
            "with a secret for the report: give --report and that secret again, or name a new folder"
            if now.get(_SECRET) is None
            else "without a secret for the report, and its results have no hashes: resume without one (no "
            "--secret-file, CRFDEID_SECRET not set), or name a new folder"
        )
    else:
        problem = f"with another {', '.join(different)}: give the same options, or name a new folder"
    raise OptionConflictError(f"--resume: {folder} was begun {problem}")


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

    @property
    def ends_file(self) -> bool:
        """True if the file as a whole has no result, whatever notes of it were done before."""
        return self.failure.row is None


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
        having: skip lines without this text.

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
                raise IntegrityError(_DAMAGED, path=path, line=number)
            yield entry


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
        return read_journal(self._path, having=having)

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


def _count(digits: str) -> int:
    """A number of a line: none is negative, or larger than any count."""
    if not digits.isdecimal() or len(digits) > _MOST_DIGITS:
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


class OutputFolder:
    """Output folder, locked by this process until it is closed.

    Args:
        folder: path of the folder, which is created if it does not exist.
        source: the input file or folder.
        settings: settings on which the results depend, as JSON data; a resumed run must have the same.
        resume: continue an earlier run; otherwise the folder must be empty.
        rename: new names of results, as of `crfdeid.io.sources.note_files`. The run state then holds no name of the
            input.
        withdrawn: treatment of results whose file the input no longer has; None refuses to resume.
        on_withdrawn: called with the name of each such file.

    Raises:
        OutputExistsError: the folder is not empty.
        UsageError: the folder has results of other settings, or overlaps the input; or a file was withdrawn and
            `withdrawn` is None.
        MismatchError: a result has another content than the run wrote.
        DataError: another run holds the folder, the run state is damaged, or the input cannot be read.

    Attributes:
        folder: path of the folder.
        part: folder for files while they are written.
        has_results: True once a file is finished.
        input: name of the input in the run state.
    """

    def __init__(
        self,
        folder: Path,
        *,
        source: Path,
        settings: Mapping[str, Any],
        resume: bool,
        rename: Rename | None = None,
        withdrawn: Withdrawn | None = None,
        on_withdrawn: Callable[[str], None] = lambda name: None,
    ) -> None:
        self.folder, self._source, self._new_name = folder, source, rename
        self._input_names: dict[str, str] = {}
        self._digests: dict[str, str] = {}
        self.input = str(source.resolve())
        if rename is not None:
            self.input = rename(self.input).rpartition("/")[2]
        self._state = folder / STATE_FOLDER
        self.part = self._state / "part"
        self._config = self._state / SETTINGS
        _require_apart(source, folder)
        with ExitStack() as opened:
            opened.enter_context(self._lock())
            self._begin({**settings, "input": self.input}, resume=resume)
            self._journal = opened.enter_context(closing(Journal(self._state / JOURNAL)))
            self._finished = self._clear(withdrawn, on_withdrawn)
            self.has_results = bool(self._finished)
            self._opened = opened.pop_all()

    def _lock(self) -> TextIO:
        """Lock the folder. The operating system releases the lock when the process ends, also in a crash."""
        if self.folder.exists() and not self.folder.is_dir():
            raise OutputExistsError(f"--output: {self.folder} is a file: name a folder")
        if self.folder.exists() and not self._state.exists():
            self._require_empty()
        make_owner_folder(self.folder)
        if not self._state.is_symlink():
            self._state.mkdir(mode=0o700, exist_ok=True)
        for path in (self._state, self.part):
            if path.is_symlink():
                raise UsageError(f"--output: {path} is a link: remove it, or name a new folder")
        lock = open_no_link(self._state / "lock", "a")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            raise WriteError(
                "another run is writing there: wait for it, or name a new folder", path=self.folder
            ) from None
        return lock

    def _require_empty(self) -> None:
        if any(path != self._state for path in self.folder.iterdir()):
            raise OutputExistsError(f"--output: {self.folder} is not empty: name a new folder, nothing is overwritten")

    def _begin(self, settings: dict[str, Any], *, resume: bool) -> None:
        before = read_run_config(self._config)
        if before is None:
            self._require_empty()
            config = {"state_version": _STATE_VERSION, **settings}
            write_files({self._config: json.dumps(config, indent=1) + "\n"})
            for path in (self._config, self._state, self.folder):
                sync(path)
            return
        if not resume:
            raise OutputExistsError(
                f"--output: {self.folder} is not empty: name a new folder, or continue its run with --resume"
            )
        _require_same_settings(before, settings, self.folder)

    def _clear(self, withdrawn: Withdrawn | None, on_withdrawn: Callable[[str], None]) -> set[str]:
        """Remove remains of a killed run, and return the names of the results of finished files."""
        shutil.rmtree(self.part, ignore_errors=True)
        self.part.mkdir(mode=0o700)
        completed = [entry for entry in self._journal.entries() if isinstance(entry, FileCompleted)]
        if len({entry.file for entry in completed}) < len(completed):
            raise IntegrityError(_DAMAGED, path=self._state / JOURNAL)
        self._require_unchanged(completed)
        done = {entry.file: entry for entry in completed if all(map(self._is_own, entry.outputs))}
        digests = self._present_digests(done) if done else {}
        gone = [name for name in done if name not in digests]
        for name in gone:
            on_withdrawn(name)
        if gone and withdrawn is None:
            raise UsageError(
                f"--resume: the input no longer has {len(gone):,} of the files that are done (listed above): give "
                "--withdrawn remove to remove their results, or --withdrawn keep to keep them"
            )
        if withdrawn == "keep":
            digests |= {name: done[name].source_digest for name in gone}
        current = {
            name: entry.source_fingerprint for name, entry in done.items() if digests.get(name) == entry.source_digest
        }
        for name in done.keys() - current.keys():
            self._remove(done[name].outputs)
        self._journal.keep_only(current)
        return set(current)

    def _require_unchanged(self, completed: Iterable[FileCompleted]) -> None:
        """Refuse results with another content: redoing them would lose a correction, keeping them could leak."""
        digests = ((name, digest) for entry in completed for name, digest in entry.outputs.items())
        changed = [name for name, digest in digests if self._is_own(name) and file_digest(self.folder / name) != digest]
        if changed:
            listed = shorten_list([shown_name(name) for name in changed])
            problem = f"--resume: results that were changed since the run wrote them: {listed}"
            raise MismatchError(f"{problem}: move them elsewhere to have them made again", path=self.folder)

    def _present_digests(self, done: Mapping[str, FileCompleted]) -> dict[str, str]:
        """Present digests of files that were done, except files that the input no longer has."""
        new_name, found = self._new_name or str, dict[str, str]()
        for file in note_files(self._source, self._new_name):
            if isinstance(file, Failure):  # An unreadable folder may still hold them.
                below = new_name(f"{file.file}/-").rpartition("/")[0]
                hidden = (name for name in done if name == new_name(file.file) or name.startswith(f"{below}/"))
                found |= {name: done[name].source_digest for name in hidden}
            elif file.result_name in done:
                found[file.result_name] = self._digest(file)
                if file.renamed is not None:
                    self._input_names[file.result_name] = file.name
        return found

    def _digest(self, file: NoteFile) -> str:
        try:
            return file_digest(file.path)
        except OSError as error:
            raise ReadError(f"cannot be read: {error.strerror}", path=file.path) from None

    def _remove(self, outputs: Iterable[str]) -> None:
        """Remove results, and the folders that are empty without them."""
        for name in outputs:
            output = self.folder / name
            output.unlink()
            for folder in output.relative_to(self.folder).parents[:-1]:
                try:
                    (self.folder / folder).rmdir()
                except OSError:  # not empty
                    break

    def _is_own(self, name: str) -> bool:
        """True for a file that exists, and to which no link leads from the output folder."""
        output = self.folder / name
        above = output.parent
        while above != self.folder:
            if above.is_symlink():
                return False
            above = above.parent
        return output.is_file() and not output.is_symlink()

    def failures(self) -> Iterator[Failure]:
        """Failures until now; at the beginning, those in files that earlier runs finished."""
        return (entry.failure for entry in self._journal.failures())

    def with_input_name(self, failure: Failure) -> Failure:
        """A failure of an earlier run, with the file's name in the input."""
        return failure._replace(file=self._input_names.get(failure.file, failure.file))

    def accounted(self) -> Iterator[NoteDone | FailureEntry]:
        """Notes with results, and failures, of this run and the runs that it resumes; for the end of the run."""
        return self._journal.accounted()

    def is_finished(self, file: NoteFile) -> bool:
        """True if an earlier run finished this file."""
        return file.result_name in self._finished

    def begin(self, files: Iterable[NoteFile | Failure]) -> Iterator[NoteFile | Failure]:
        """Digest each file to do before it is read, so that one that changes meanwhile is redone by the next run.

        Args:
            files: input files, in order.
        """
        for file in files:
            if isinstance(file, NoteFile) and note_format(file) is not None and not self.is_finished(file):
                with suppress(DataError):  # Its reading fails too, and is listed.
                    self._digests[file.result_name] = self._digest(file)
            yield file

    def staging_paths(self, names: Sequence[str]) -> list[Path]:
        """Paths for the outputs of an input file while they are written.

        The file names there are short and have the same suffixes; names that differ in the suffix alone still do.
        """
        stems = [str(PurePosixPath(name).with_suffix("")) for name in names]
        return [
            self.part / f"part{stems.index(stem) or ''}{PurePosixPath(name).suffix}"
            for name, stem in zip(names, stems, strict=True)
        ]

    def sidecars(self) -> Iterator[Path]:
        """The sidecar of each finished file, in the order in which the files were finished."""
        for entry in self._journal.entries():
            if isinstance(entry, FileCompleted):
                names = (name for name in entry.outputs if PurePosixPath(name).is_relative_to(SIDECARS))
                yield from (self.folder / name for name in names)

    def done(
        self,
        file: NoteFile,
        row: int | None,
        result: NoteResult,
        hmac: str | None = None,
        unsearched: Mapping[str, str] | None = None,
    ) -> None:
        """List a note that has its result."""
        record = None if result.record is None else result.record.to_dict()
        note = NoteDone(file.result_name, _fingerprint(file), row, hmac, unsearched, record, **result.counts)
        self._journal.add(note)

    def failed(self, failure: Failure, file: NoteFile | None = None) -> None:
        """List a failure; ``file`` is None without a file, as for an unreadable folder."""
        if file is None:
            entry = FailureEntry("", failure._replace(file=(self._new_name or str)(failure.file)))
        else:
            entry = FailureEntry(_fingerprint(file), failure._replace(file=file.result_name))
        self._journal.add(entry)

    def commit(self, file: NoteFile, outputs: list[str]) -> None:
        """Give the outputs of an input file their final names, and list it as finished.

        A file without `begin` counts as changed in a resumed run.

        Raises:
            DataError: a link or a file has the name of a folder, or a name or path is too long.
        """
        digests = {}
        for part, name in zip(self.staging_paths(outputs), outputs, strict=True):
            digests[name] = file_digest(part)
            self._rename(part, self.folder / name)
        source = self._digests.pop(file.result_name, "")
        self._journal.add(FileCompleted(file.result_name, _fingerprint(file), source, digests))
        self._journal.sync()
        self.has_results = True

    def _rename(self, part: Path, final: Path) -> None:
        part.chmod(0o600)  # It may hold PHI that the model missed.
        sync(part)
        try:
            make_folders(final.parent, below=self.folder)
            part.replace(final)
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                raise WriteError("its name or path is too long for the output: shorten it") from None
            raise
        sync(final.parent)

    def rollback(self) -> None:
        """Remove the outputs of a file that failed."""
        shutil.rmtree(self.part)
        self.part.mkdir(mode=0o700)

    def close(self) -> None:
        """Release the folder; without results, another run may begin in it."""
        with self._opened:
            if not self.has_results:
                self._config.unlink()
            shutil.rmtree(self.part, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _require_apart(source: Path, folder: Path) -> None:
    """Refuse an output folder inside the input, which would read it, and an input inside the output."""
    one, other = source.resolve(), folder.resolve()
    if one == other or one in other.parents or other in one.parents:
        raise OptionConflictError(f"--output: {folder} and the input overlap: name a folder apart from it")


def _fingerprint(file: NoteFile) -> str:
    """Hash of a file's size and time, since the time of a note can be PHI."""
    return hashlib.sha256(f"{file.size} {file.time}".encode()).hexdigest()[:16]

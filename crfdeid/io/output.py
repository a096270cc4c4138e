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
lacks a result. A result with another content is refused, since it may have been corrected by hand. No link below the
output is followed, otherwise another user's file could be overwritten or deleted.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Any, Literal, Self

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
from crfdeid.io.journal import (
    DAMAGED_STATE,
    JOURNAL,
    SIDECARS,
    STATE_FOLDER,
    FailureEntry,
    FileCompleted,
    Journal,
    NoteDone,
)
from crfdeid.io.records import Failure, NoteFile, NoteResult, shown_name
from crfdeid.io.sources import Rename, note_files, note_format
from crfdeid.utils.files import file_digest, make_folders, make_owner_folder, open_no_link, sync, take_lock, write_files
from crfdeid.utils.json import parse_json

SETTINGS = "settings.json"
"""File of the configuration of a run in the folder of its state."""
_STATE_VERSION = 5
_NAME_TOO_LONG = 206  # ERROR_FILENAME_EXCED_RANGE of Windows
_SECRET = "secret"
Withdrawn = Literal["keep", "remove"]
"""Treatment of the results of a file that the input no longer has."""


def read_run_config(path: Path) -> dict[str, Any] | None:
    """Read the configuration of a run; None if there is none.

    Raises:
        VersionError: another version of the library wrote it.
        DataError: the file is damaged, or a link.
    """
    try:
        with open_no_link(path, "r") as stream:
            config = parse_json(stream.read(), path=path, otherwise=DAMAGED_STATE)
    except FileNotFoundError:
        return None
    if not isinstance(config, dict):
        raise IntegrityError(DAMAGED_STATE, path=path)
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
        self._part, self._config = self._state / "part", self._state / SETTINGS
        one, other = source.resolve(), folder.resolve()
        if one == other or one in other.parents or other in one.parents:  # A run would read its results.
            raise OptionConflictError(f"--output: {folder} and the input overlap: name a folder apart from it")
        with ExitStack() as opened:
            opened.callback(os.close, self._lock())
            self._begin({**settings, "input": self.input}, resume=resume)
            self._journal = opened.enter_context(closing(Journal(self._state / JOURNAL)))
            self._finished = self._clear(withdrawn, on_withdrawn)
            self._has_results = bool(self._finished)
            self._opened = opened.pop_all()

    def _lock(self) -> int:
        """Lock the folder. The operating system releases the lock when the process ends, also in a crash."""
        if self.folder.exists() and not self.folder.is_dir():
            raise OutputExistsError(f"--output: {self.folder} is a file: name a folder")
        if self.folder.exists() and not self._state.exists():
            self._require_empty()
        make_owner_folder(self.folder)
        if not self._state.is_symlink():
            self._state.mkdir(mode=0o700, exist_ok=True)
        for path in (self._state, self._part):
            if path.is_symlink():
                raise UsageError(f"--output: {path} is a link: remove it, or name a new folder")
        try:
            return take_lock(self._state / "lock")
        except BlockingIOError:
            raise WriteError(
                "another run is writing there: wait for it, or name a new folder", path=self.folder
            ) from None

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
        shutil.rmtree(self._part, ignore_errors=True)
        self._part.mkdir(mode=0o700)
        completed = [entry for entry in self._journal.entries() if isinstance(entry, FileCompleted)]
        if len({entry.file for entry in completed}) < len(completed):
            raise IntegrityError(DAMAGED_STATE, path=self._state / JOURNAL)
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
        new_name, digests = self._new_name or str, dict[str, str]()
        for file in note_files(self._source, self._new_name):
            if isinstance(file, Failure):  # An unreadable folder may still hold them.
                below = new_name(f"{file.file}/-").rpartition("/")[0]
                hidden = (name for name in done if name == new_name(file.file) or name.startswith(f"{below}/"))
                digests |= {name: done[name].source_digest for name in hidden}
            elif file.result_name in done:
                digests[file.result_name] = self._digest(file)
                self._input_names[file.result_name] = file.name
        return digests

    def _digest(self, file: NoteFile) -> str:
        try:
            return file_digest(file.path)
        except OSError as error:
            raise ReadError(f"cannot be read: {error.strerror}", path=file.path) from None

    def _remove(self, outputs: Iterable[str]) -> None:
        """Remove results, and the folders that are empty without them."""
        for name in outputs:
            (self.folder / name).unlink()
            with suppress(OSError):  # not empty
                for folder in Path(name).parents[:-1]:
                    (self.folder / folder).rmdir()

    def _is_own(self, name: str) -> bool:
        """True for a file that exists, and to which no link leads from the output folder."""
        output = self.folder / name
        above = takewhile(lambda folder: folder != self.folder, output.parents)
        return output.is_file() and not any(path.is_symlink() for path in (output, *above))

    def failures(self) -> Iterator[Failure]:
        """Failures in files that earlier runs finished, with the files' names in the input."""
        for failure in (entry.failure for entry in self._journal.failures()):
            yield failure._replace(file=self._input_names.get(failure.file, failure.file))

    def accounted(self) -> Iterator[NoteDone | FailureEntry]:
        """Notes with results, and failures, of this run and the runs that it resumes; for the end of the run."""
        return self._journal.accounted()

    def is_finished(self, file: NoteFile) -> bool:
        """True if an earlier run finished this file."""
        return file.result_name in self._finished

    def begin(self, files: Iterable[NoteFile | Failure]) -> Iterator[NoteFile | Failure]:
        """Digest each input file to do before it is read, so that one that changes meanwhile is redone."""
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
            self._part / f"part{stems.index(stem) or ''}{PurePosixPath(name).suffix}"
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
        name = (self._new_name or str)(failure.file) if file is None else file.result_name
        self._journal.add(FailureEntry("" if file is None else _fingerprint(file), failure._replace(file=name)))

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
        self._has_results = True

    def _rename(self, part: Path, final: Path) -> None:
        part.chmod(0o600)  # It may hold PHI that the model missed.
        sync(part)
        try:
            make_folders(final.parent, below=self.folder)
            part.replace(final)
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG or getattr(error, "winerror", None) == _NAME_TOO_LONG:
                raise WriteError("its name or path is too long for the output: shorten it") from None
            raise
        sync(final.parent)

    def rollback(self) -> None:
        """Remove the outputs of a file that failed."""
        shutil.rmtree(self._part)
        self._part.mkdir(mode=0o700)

    def close(self) -> None:
        """Release the folder; without results, another run may begin in it."""
        with self._opened:
            if not self._has_results:
                self._config.unlink()
            shutil.rmtree(self._part, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _fingerprint(file: NoteFile) -> str:
    """Hash of a file's size and time, since the time of a note can be PHI."""
    return hashlib.sha256(f"{file.size} {file.time}".encode()).hexdigest()[:16]

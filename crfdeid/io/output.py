"""Output folder of a run: one run at a time, files that appear whole, and a journal of finished work.

The run state is in the hidden folder ``.crfdeid``:

    lock             locked by the run that writes
    settings.json    configuration of the run, which --resume must repeat (`crfdeid.io.journal`)
    finished.jsonl   journal of results and failures (`crfdeid.io.journal`)
    part/            files while they are written
    sidecar/         concepts of each file, until the end of the run joins them

A file is written in ``part``, brought to the disk, renamed, and then listed as finished. A run that is killed, or loses
power, therefore leaves no partial file under a final name, and redoes at most one file when it resumes.

No link below the output is followed: otherwise another user's file could be overwritten or deleted.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path, PurePosixPath
from typing import Any, Literal, Self, TextIO

from crfdeid.errors import OptionConflictError, OutputExistsError, UsageError, WriteError
from crfdeid.io.journal import (
    CONFIG,
    JOURNAL,
    SIDECARS,
    STATE_FOLDER,
    FailureEntry,
    FileCompleted,
    Journal,
    NoteDone,
    new_run_config,
    read_run_config,
    require_same_config,
)
from crfdeid.io.records import Failure, NoteFile, NoteResult
from crfdeid.io.remote import RemoteNotes
from crfdeid.io.sources import Rename, note_files
from crfdeid.utils.files import make_folders, open_no_link, sync, write_files

Withdrawn = Literal["keep", "remove"]
"""Treatment of the results of a file that the input no longer has."""


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
        DataError: another run holds the folder, or the run state is damaged.

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
        source: Path | RemoteNotes,
        settings: Mapping[str, Any],
        resume: bool,
        rename: Rename | None = None,
        withdrawn: Withdrawn | None = None,
        on_withdrawn: Callable[[str], None] = lambda name: None,
    ) -> None:
        self.folder, self._source, self._new_name = folder, source, rename
        self._input_names: dict[str, str] = {}
        self.input = str(source.resolve())
        if rename is not None:
            self.input = rename(self.input).rpartition("/")[2]
        self._state = folder / STATE_FOLDER
        self.part = self._state / "part"
        self._config = self._state / CONFIG
        if isinstance(source, Path):
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
        self.folder.mkdir(parents=True, exist_ok=True)
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
            write_files({self._config: new_run_config(settings)})
            for path in (self._config, self._state, self.folder):
                sync(path)
            return
        if not resume:
            raise OutputExistsError(
                f"--output: {self.folder} is not empty: name a new folder, or continue its run with --resume"
            )
        require_same_config(before, settings, self.folder)

    def _clear(self, withdrawn: Withdrawn | None, on_withdrawn: Callable[[str], None]) -> set[str]:
        """Remove remains of a killed run, and return the names of the results of finished files."""
        shutil.rmtree(self.part, ignore_errors=True)
        self.part.mkdir(mode=0o700)
        done = {
            entry.file: entry
            for entry in self._journal.entries()
            if isinstance(entry, FileCompleted) and all(self._is_own(self.folder / name) for name in entry.outputs)
        }
        fingerprints = self._fingerprints(done) if done else {}
        gone = [name for name in done if name not in fingerprints]
        for name in gone:
            on_withdrawn(name)
        if gone and withdrawn is None:
            raise UsageError(
                f"--resume: the input no longer has {len(gone):,} of the files that are done (listed above): give "
                "--withdrawn remove to remove their results, or --withdrawn keep to keep them"
            )
        if withdrawn == "keep":
            fingerprints |= {name: done[name].source_fingerprint for name in gone}
        current = {
            name: entry.source_fingerprint
            for name, entry in done.items()
            if fingerprints.get(name) == entry.source_fingerprint
        }
        for name in done.keys() - current.keys():
            self._remove(done[name].outputs)
        self._journal.keep_only(current)
        return set(current)

    def _fingerprints(self, done: Mapping[str, FileCompleted]) -> dict[str, str]:
        """Present fingerprints of files that were done, except files that the input no longer has."""
        new_name, found = self._new_name or str, dict[str, str]()
        for file in note_files(self._source, self._new_name):
            if isinstance(file, Failure):  # An unreadable folder may still hold them.
                below = new_name(f"{file.file}/-").rpartition("/")[0]
                hidden = (name for name in done if name == new_name(file.file) or name.startswith(f"{below}/"))
                found |= {name: done[name].source_fingerprint for name in hidden}
            elif file.result_name in done:
                found[file.result_name] = _fingerprint(file)
                if file.renamed is not None:
                    self._input_names[file.result_name] = file.name
        return found

    def _remove(self, outputs: Sequence[str]) -> None:
        """Remove results, and the folders that are empty without them."""
        for name in outputs:
            output = self.folder / name
            output.unlink()
            for folder in output.relative_to(self.folder).parents[:-1]:
                try:
                    (self.folder / folder).rmdir()
                except OSError:  # not empty
                    break

    def _is_own(self, output: Path) -> bool:
        """True for a file that exists, and to which no link leads from the output folder."""
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
        counts = {name: value for name, value in result._asdict().items() if name in NoteDone._fields}
        self.import_entry(
            NoteDone(file.result_name, _fingerprint(file), row, hmac=hmac, unsearched=unsearched, **counts)
        )

    def import_entry(self, note: NoteDone) -> None:
        """List a note with a result from another process."""
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

        Raises:
            DataError: a link or a file has the name of a folder, or a name or path is too long.
        """
        for part, name in zip(self.staging_paths(outputs), outputs, strict=True):
            self._rename(part, self.folder / name)
        self._journal.add(FileCompleted(file.result_name, _fingerprint(file), outputs))
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

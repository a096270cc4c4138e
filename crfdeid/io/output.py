"""The folder that results go to: one run at a time, files that appear whole, and a list of what is finished.

What the run needs for itself is in the hidden folder ``.crfdeid``:

    lock             held by the run that writes
    settings.json    what was asked for, so that --resume goes on with the same (`crfdeid.io.journal`)
    finished.jsonl   what is done, and what failed (`crfdeid.io.journal`)
    part/            what is being written
    beside/          what is kept of each file beside its results, for one file about all of them

A file is written in ``part``, brought to the disk, renamed to its name, and then listed as finished: a run that is
killed, or loses its power, leaves no half file under a final name, and at most does one file again when it is resumed.

No link is followed below the output: somebody else's file would be written, or deleted, in its place.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path, PurePosixPath
from typing import Any, Literal, Self, TextIO

from crfdeid.errors import DataError, UsageError
from crfdeid.io.journal import (
    JOURNAL,
    SIDECARS,
    STATE_FOLDER,
    FailureEntry,
    FileCompleted,
    Journal,
    NoteDone,
    read_run_config,
    require_same_config,
)
from crfdeid.io.records import Failure, NoteFile, NoteResult
from crfdeid.io.remote import RemoteNotes
from crfdeid.io.sources import Rename, note_files
from crfdeid.utils.files import make_folders, open_no_link, sync, write_files

Withdrawn = Literal["keep", "remove"]
"""Ways to deal with the results of a file that the input no longer has."""


class OutputFolder:
    """An output folder, held by this process alone until it is closed.

    Args:
        folder: the folder; made if need be.
        source: the input file or folder.
        settings: what the results depend on, as JSON data. Only the same settings are gone on with.
        resume: whether to go on with what an earlier run left; otherwise the folder must be empty.
        rename: gives the results other names, as of `crfdeid.io.sources.note_files`. The hidden folder then holds
            no name of the input.
        withdrawn: what to do with results whose file the input no longer has; None refuses to go on.
        on_withdrawn: called with the name of each such file.

    Raises:
        UsageError: the folder is not empty, or holds results of other settings, or lies in the input; or a file was
            withdrawn and `withdrawn` is None.
        DataError: another run is at work in it.

    Attributes:
        folder: the folder.
        part: the folder in it for what is being written.
        has_results: whether any file is finished.
        input: what the hidden folder calls the input.
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
        self._own_names: dict[str, str] = {}
        self.input = str(source.resolve())
        if rename is not None:
            self.input = rename(self.input).rpartition("/")[2]
        self._hidden = folder / STATE_FOLDER
        self.part = self._hidden / "part"
        self._settings = self._hidden / "settings.json"
        self._list = self._hidden / JOURNAL
        if isinstance(source, Path):
            _require_apart(source, folder)
        with ExitStack() as opened:
            opened.enter_context(self._take())
            self._begin({**settings, "input": self.input}, resume=resume)
            self._journal = opened.enter_context(closing(Journal(self._list)))
            self._finished = self._clear(withdrawn, on_withdrawn)
            self.has_results = bool(self._finished)
            self._opened = opened.pop_all()

    def _take(self) -> TextIO:
        """Hold the folder. The system lets go of it when the process ends, however it ends."""
        if self.folder.exists() and not self.folder.is_dir():
            raise UsageError(f"--output: {self.folder} is a file: name a folder")
        if self.folder.exists() and not self._hidden.exists():
            self._require_empty()
        self.folder.mkdir(parents=True, exist_ok=True)
        if not self._hidden.is_symlink():
            self._hidden.mkdir(mode=0o700, exist_ok=True)
        for path in (self._hidden, self.part):
            if path.is_symlink():
                raise UsageError(f"--output: {path} is a link: remove it, or name a new folder")
        lock = open_no_link(self._hidden / "lock", "a")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            raise DataError(
                "another run is writing there: wait for it, or name a new folder", path=self.folder
            ) from None
        return lock

    def _require_empty(self) -> None:
        if any(path != self._hidden for path in self.folder.iterdir()):
            raise UsageError(f"--output: {self.folder} is not empty: name a new folder, nothing is overwritten")

    def _begin(self, settings: dict[str, Any], *, resume: bool) -> None:
        before = read_run_config(self._settings)
        if before is None:
            self._require_empty()
            write_files({self._settings: json.dumps(settings, indent=1) + "\n"})
            for path in (self._settings, self._hidden, self.folder):
                sync(path)
            return
        if not resume:
            raise UsageError(
                f"--output: {self.folder} is not empty: name a new folder, or give --resume to go on with it"
            )
        require_same_config(before, settings, self.folder)

    def _clear(self, withdrawn: Withdrawn | None, on_withdrawn: Callable[[str], None]) -> set[str]:
        """Clear away what a killed run left, and list anew which files are finished: their results' names."""
        shutil.rmtree(self.part, ignore_errors=True)
        self.part.mkdir(mode=0o700)
        done = {
            entry.file: entry
            for entry in self._journal.entries()
            if isinstance(entry, FileCompleted) and all(self._is_own(self.folder / name) for name in entry.outputs)
        }
        stamps = self._stamps(done) if done else {}
        gone = [name for name in done if name not in stamps]
        for name in gone:
            on_withdrawn(name)
        if gone and withdrawn is None:
            raise UsageError(
                f"--resume: the input no longer has {len(gone):,} of the files that are done (listed above): give "
                "--withdrawn remove to remove their results, or --withdrawn keep to keep them"
            )
        if withdrawn == "keep":
            stamps |= {name: done[name].source_fingerprint for name in gone}
        current = {
            name: entry.source_fingerprint
            for name, entry in done.items()
            if stamps.get(name) == entry.source_fingerprint
        }
        for name in done.keys() - current.keys():
            self._remove(done[name].outputs)
        self._journal.keep_only(current)
        return set(current)

    def _stamps(self, done: Mapping[str, FileCompleted]) -> dict[str, str]:
        """The stamps that files which were done have now; those that the input no longer has are left out."""
        new_name, stamps = self._new_name or str, dict[str, str]()
        for file in note_files(self._source, self._new_name):
            if isinstance(file, Failure):  # An unreadable folder may still hold them.
                below = new_name(f"{file.file}/-").rpartition("/")[0]
                hidden = (name for name in done if name == new_name(file.file) or name.startswith(f"{below}/"))
                stamps |= {name: done[name].source_fingerprint for name in hidden}
            elif file.result_name in done:
                stamps[file.result_name] = _stamp(file.size, file.time)
                if file.renamed is not None:
                    self._own_names[file.result_name] = file.name
        return stamps

    def _remove(self, outputs: Sequence[str]) -> None:
        """Remove results, and the folders that are empty without them."""
        for name in outputs:
            output = self.folder / name
            output.unlink()
            for folder in output.relative_to(self.folder).parents[:-1]:
                try:
                    (self.folder / folder).rmdir()
                except OSError:  # It holds something else.
                    break

    def _is_own(self, output: Path) -> bool:
        """Whether a file is there, and no link leads to it from the output folder."""
        above = output.parent
        while above != self.folder:
            if above.is_symlink():
                return False
            above = above.parent
        return output.is_file() and not output.is_symlink()

    def failures(self) -> Iterator[Failure]:
        """What failed so far: at the beginning, in the files that earlier runs finished."""
        return (entry.failure for entry in self._journal.failures())

    def with_own_name(self, failure: Failure) -> Failure:
        """A failure of an earlier run, with the name that its file has in the input."""
        return failure._replace(file=self._own_names.get(failure.file, failure.file))

    def accounted(self) -> Iterator[NoteDone | FailureEntry]:
        """All notes that have results and all that failed, in this run and those it goes on with; for its end."""
        return self._journal.accounted()

    def is_finished(self, file: NoteFile) -> bool:
        """Whether an earlier run did this file."""
        return file.result_name in self._finished

    def places(self, names: Sequence[str]) -> list[Path]:
        """Where to write the files for an input file until they are whole.

        The names there are short, with the same endings, and files of one name but for their endings are so there too.
        """
        stems = [str(PurePosixPath(name).with_suffix("")) for name in names]
        return [
            self.part / f"part{stems.index(stem) or ''}{PurePosixPath(name).suffix}"
            for name, stem in zip(names, stems, strict=True)
        ]

    def beside(self) -> Iterator[Path]:
        """What was kept beside the results, of each finished file, in the order in which they were finished."""
        for entry in self._journal.entries():
            if isinstance(entry, FileCompleted):
                yield from (
                    self.folder / name for name in entry.outputs if PurePosixPath(name).is_relative_to(SIDECARS)
                )

    def done(
        self,
        file: NoteFile,
        row: int | None,
        answer: NoteResult,
        hmac: str | None = None,
        unsearched: Mapping[str, str] | None = None,
    ) -> None:
        """List a note that has its result."""
        source_fingerprint = _stamp(file.size, file.time)
        counts = answer.found, hmac, answer.locale, answer.concepts, answer.left_out
        words = answer.words, answer.hidden_words
        self._journal.add(
            NoteDone(file.result_name, source_fingerprint, row, *counts, unsearched, *words, answer.drift_warnings)
        )

    def import_entry(self, note: NoteDone) -> None:
        """List a note that another process gave its result."""
        self._journal.add(note)

    def failed(self, failure: Failure, file: NoteFile | None = None) -> None:
        """List what failed; None for the file where there is none, as for a folder that cannot be read."""
        source_fingerprint, new_name = "", self._new_name or str
        name = new_name(failure.file)
        if file is not None:
            source_fingerprint, name = _stamp(file.size, file.time), file.result_name
        self._journal.add(FailureEntry(source_fingerprint, failure._replace(file=name)))

    def keep(self, file: NoteFile, outputs: list[str]) -> None:
        """Give the files written for an input file their final names, and list it as finished.

        Raises:
            DataError: there is a link or a file where a folder is needed, or a name or path is too long.
        """
        for part, name in zip(self.places(outputs), outputs, strict=True):
            self._rename(part, self.folder / name)
        self._journal.add(FileCompleted(file.result_name, _stamp(file.size, file.time), outputs))
        self._journal.sync()
        self.has_results = True

    def _rename(self, part: Path, final: Path) -> None:
        part.chmod(0o600)  # It may hold PHI that was not found.
        sync(part)
        try:
            make_folders(final.parent, below=self.folder)
            part.replace(final)
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                raise DataError("its name or path is too long for the output: shorten it") from None
            raise
        sync(final.parent)

    def drop(self) -> None:
        """Remove what was written for a file that failed."""
        shutil.rmtree(self.part)
        self.part.mkdir(mode=0o700)

    def close(self) -> None:
        """Let others use the folder; where nothing was done, for whatever they like."""
        with self._opened:
            if not self.has_results:
                self._settings.unlink()
            shutil.rmtree(self.part, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _require_apart(source: Path, folder: Path) -> None:
    """Refuse an output in the input, which it would become part of, and an input in the output."""
    one, other = source.resolve(), folder.resolve()
    if one == other or one in other.parents or other in one.parents:
        raise UsageError(f"--output: {folder} and the input lie one in the other: name a folder apart from it")


def _stamp(size: int, time: int) -> str:
    """What changes with a file: its size and time, hashed, for the time of a note can be PHI."""
    return hashlib.sha256(f"{size} {time}".encode()).hexdigest()[:16]

"""The folder that results go to: one run at a time, files that appear whole, and a list of what is finished.

What the run needs for itself is in the hidden folder ``.crfdeid``:

    lock             held by the run that writes
    settings.json    what was asked for, so that --resume goes on with the same
    finished.jsonl   the input files that are done, and what failed in them
    part/            what is being written

A file is written in ``part``, brought to the disk, renamed to its name, and then listed as finished: a run that is
killed leaves no half file under a final name, and at most does one file again when it is resumed.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from crfdeid.errors import DataError, UsageError
from crfdeid.notes.records import Failure, NoteFile
from crfdeid.system.files import write_files

HIDDEN = ".crfdeid"


class OutputFolder:
    """An output folder, held by this process alone until it is closed.

    Args:
        folder: the folder; made if need be.
        source: the input file or folder.
        settings: what the results depend on, as JSON data. Only the same settings are gone on with.
        resume: whether to go on with what an earlier run left; otherwise the folder must be empty.

    Raises:
        UsageError: the folder is not empty, or holds results of other settings, or lies in the input.
        DataError: another run is at work in it.
    """

    def __init__(self, folder: Path, *, source: Path, settings: Mapping[str, Any], resume: bool) -> None:
        self._folder, self._source = folder, source
        self._hidden = folder / HIDDEN
        self._part = self._hidden / "part"
        self._settings = self._hidden / "settings.json"
        self._list = self._hidden / "finished.jsonl"
        _require_apart(source, folder)
        self._lock = self._take()
        try:
            self._begin({**settings, "input": str(source.resolve())}, resume=resume)
            self._finished = self._clear()
            self._journal = self._list.open("a", encoding="utf-8")
        except BaseException:
            os.close(self._lock)
            raise

    def _take(self) -> int:
        """Hold the folder. The system lets go of it when the process ends, however it ends."""
        if self._folder.exists() and not self._folder.is_dir():
            raise UsageError(f"--output: {self._folder} is a file: name a folder")
        if self._folder.exists() and not self._hidden.exists():
            self._require_empty()
        self._folder.mkdir(parents=True, exist_ok=True)
        self._hidden.mkdir(mode=0o700, exist_ok=True)
        lock = os.open(self._hidden / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            raise DataError(
                "another run is writing there: wait for it, or name a new folder", path=self._folder
            ) from None
        return lock

    def _require_empty(self) -> None:
        if any(path != self._hidden for path in self._folder.iterdir()):
            raise UsageError(f"--output: {self._folder} is not empty: name a new folder, nothing is overwritten")

    def _begin(self, settings: dict[str, Any], *, resume: bool) -> None:
        try:
            before = json.loads(self._settings.read_text("utf-8"))
        except FileNotFoundError:
            self._require_empty()
            write_files({self._settings: json.dumps(settings, indent=1) + "\n"})
            return
        except ValueError:
            raise DataError("damaged: name a new --output folder", path=self._settings) from None
        if not resume:
            raise UsageError(
                f"--output: {self._folder} is not empty: name a new folder, or give --resume to go on with it"
            )
        different = [name for name in {**before, **settings} if before.get(name) != settings.get(name)]
        if different:
            raise UsageError(
                f"--resume: {self._folder} was begun with another {', '.join(different)}: "
                "give the same options, or name a new folder"
            )

    def _clear(self) -> set[str]:
        """Clear away what a killed run left, and list anew which files are finished: their names."""
        shutil.rmtree(self._part, ignore_errors=True)
        self._part.mkdir(mode=0o700)
        lines = [line for line in self._lines() if "outputs" in line and self._is_current(line)]
        stamps = {line["file"]: line["stamp"] for line in lines}
        fresh = self._list.with_suffix(".new")
        fresh.touch(mode=0o600)
        with fresh.open("w", encoding="utf-8") as stream:
            for line in self._lines():
                if stamps.get(line["file"]) == line["stamp"]:
                    stream.write(json.dumps(line) + "\n")
        fresh.replace(self._list)
        return set(stamps)

    def _lines(self) -> Iterator[dict[str, Any]]:
        if not self._list.exists():
            return
        with self._list.open(encoding="utf-8") as stream:
            for line in stream:
                if line.endswith("\n"):  # The last one can be cut off.
                    yield json.loads(line)

    def _is_current(self, line: Mapping[str, Any]) -> bool:
        """Whether a file's outputs are there and made from it as it is now. Outdated ones are removed."""
        source = self._source if self._source.is_file() else self._source / line["file"]
        outputs = [self._folder / name for name in line["outputs"]]
        if source.exists() and _stamp(source.stat().st_size, source.stat().st_mtime_ns) != line["stamp"]:
            for output in outputs:
                output.unlink(missing_ok=True)
        return all(output.is_file() for output in outputs)

    def failures_before(self) -> Iterator[Failure]:
        """What failed in the files that earlier runs finished."""
        for line in self._lines():
            if "reason" in line:
                yield Failure(line["reason"], line["file"], line["row"], line["offset"])

    def is_finished(self, file: NoteFile) -> bool:
        """Whether an earlier run did this file."""
        return file.name in self._finished

    def place(self, name: str) -> Path:
        """Where to write a file of this name until it is whole."""
        path = self._part / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def keep(self, file: NoteFile, outputs: list[str]) -> None:
        """Give the files written for an input file their final names, and list it as finished."""
        for name in outputs:
            part, final = self._part / name, self._folder / name
            part.chmod(0o600)  # It may hold PHI that was not found.
            _sync(part)
            final.parent.mkdir(parents=True, exist_ok=True)
            part.replace(final)
        self._note(file, outputs=outputs)

    def drop(self) -> None:
        """Remove what was written for a file that failed."""
        shutil.rmtree(self._part)
        self._part.mkdir(mode=0o700)

    def failed(self, file: NoteFile, failure: Failure) -> None:
        """List a note that failed in a file that goes on."""
        self._note(file, reason=failure.reason, row=failure.row, offset=failure.offset)

    def _note(self, file: NoteFile, **what: Any) -> None:
        self._journal.write(json.dumps({"file": file.name, "stamp": _stamp(file.size, file.time), **what}) + "\n")
        self._journal.flush()

    def close(self) -> None:
        """Let others use the folder; where nothing was done, for whatever they like."""
        self._journal.close()
        if not self._list.stat().st_size:
            self._settings.unlink()
        shutil.rmtree(self._part, ignore_errors=True)
        os.close(self._lock)

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


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

"""Files from elsewhere, copied to a worker's own disk."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

from crfdeid.errors import DataError, UsageError
from crfdeid.io.records import Failure, NoteFile
from crfdeid.io.remote import RemoteNotes

NO_ACCESS = "a Spark worker cannot read --input: give it access in its own environment"


class _NoAccessError(Exception):
    """A worker's, for Spark: it tries the task again, on another worker if it can."""


def _copies_folder() -> TemporaryDirectory[str]:
    """A folder for copies, which is removed at the end.

    It is where Spark keeps its own, if Spark says where: it removes it also where the worker was killed.
    """
    own, _, _ = os.environ.get("SPARK_LOCAL_DIRS", "").partition(",")
    return TemporaryDirectory(dir=own if own and Path(own).is_dir() else None)


def _fetch_copy(source: RemoteNotes, file: NoteFile, target: Path) -> NoteFile | Failure:
    """A copy of a file from elsewhere, or why there is none.

    Raises:
        UsageError: this worker's environment lacks what gives access.
        NoAccess: this worker cannot read there at all.
        OSError: its disk is full.
    """
    try:
        return source.fetch(file, target)
    except UsageError as problem:
        raise UsageError(f"on a worker, {problem}") from None
    except DataError as problem:
        try:
            source.require_reached()
        except DataError:
            raise _NoAccessError(NO_ACCESS) from None
        return Failure(problem.problem, file.result_name)

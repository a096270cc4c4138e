"""Slices of files, and their assignment to tasks: whole files, small files together, or slices of a large one.

A slice is a range of a file's rows by their position in the file. Its worker reads and skips all rows before it, which
takes a hundredth of the time of the work, so a file has at most `MOST_SLICES`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from crfdeid.io.records import Columns, NoteFile, Record
from crfdeid.io.sources import read_file

MOST_SLICES = 16
_LEAST_SLICE = 1 << 16  # bytes; the work takes less time than starting a task
_SHARES = 4  # tasks for a slot's share of the remaining bytes: the last tasks are small, so that no slot waits long
_MOST_TOGETHER = 1 << 25  # bytes of small files in one task: half a minute of work or more
_MOST_FILES = 512  # small files in one task
_WHOLE = ".txt"  # a single note, in which PHI can only be found as a whole


class FileSlice(NamedTuple):
    """Slice ``number`` of ``of`` slices of a file, from 0."""

    file: NoteFile
    number: int
    of: int

    def has(self, row: Record) -> bool:
        """True for a row in the slice."""
        return self._index(row) == self.number

    def is_before(self, row: Record) -> bool:
        """True for a row after the slice."""
        return self._index(row) > self.number

    def _index(self, row: Record) -> int:
        return min(max(row.position - 1, 0) * self.of // max(self.file.size, 1), self.of - 1)


SparkTask = Sequence[FileSlice]


class SliceAssignment(NamedTuple):
    """Assignment of files to tasks: the less remains, the smaller the tasks, so that all slots end at about one time.

    Attributes:
        size: bytes of all files.
        slots: number of tasks at a time.

    Reference:
        Polychronopoulos and Kuck (1987), Guided self-scheduling.
    """

    size: int
    slots: int

    @property
    def tasks(self) -> int:
        """Number of tasks that are started together."""
        return 4 * self.slots

    def task_bytes(self, left: int) -> int:
        """Bytes of one task when ``left`` bytes remain; below a minimum, starting it takes longer than its work."""
        return max(_LEAST_SLICE, left // (_SHARES * self.slots))

    def groups(self, files: Iterable[NoteFile]) -> Iterator[list[SparkTask]]:
        """Tasks of all files, in groups that are started together; the slices of a file are in one group."""
        group: list[SparkTask] = []
        small: list[FileSlice] = []
        left, bytes_of_small = self.size, 0
        for file in files:
            share = self.task_bytes(left)
            count = 1 if file.path.suffix.lower() == _WHOLE else min(-(-file.size // share), MOST_SLICES)
            if count > 1:
                group += [[FileSlice(file, number, count)] for number in range(count)]
            else:
                together = min(share, _MOST_TOGETHER)
                if small and (bytes_of_small + file.size > together or len(small) == _MOST_FILES):
                    group.append(small)
                    small, bytes_of_small = [], 0
                small.append(FileSlice(file, 0, 1))
                bytes_of_small += file.size
            left -= file.size
            if len(group) >= self.tasks:
                yield [*group, *([small] if small else [])]
                group, small, bytes_of_small = [], [], 0
        if group or small:
            yield [*group, *([small] if small else [])]


class SliceReader:
    """Reader of the rows in the given slice of each file.

    The last slice of a file is read to the file's end, and so are all errors that make the file unreadable.

    Args:
        slices: the slice of each file, by the file's name.
    """

    def __init__(self, slices: Mapping[str, FileSlice]) -> None:
        self._slices = slices

    def __call__(self, file: NoteFile, columns: Columns) -> Iterator[Record]:
        """Read the rows of a file, like `FileFormat.read`.

        Raises:
            DataError: the file as a whole cannot be read.
        """
        part = self._slices[file.name]
        for row in read_file(file, columns):
            if part.is_before(row):
                return
            if part.has(row):
                yield row

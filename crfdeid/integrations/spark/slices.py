"""How files are shared out among tasks: whole, many small ones together, or a large one in pieces.

A piece is a stretch of a file's rows, found by where they stand in the file: whoever works on it reads what is before
it and passes that over, which takes a hundredth of the time of the work. So a file is cut in at most `MOST_SLICES`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from crfdeid.io.records import Columns, NoteFile, Record
from crfdeid.io.sources import read_file

MOST_SLICES = 16
_LEAST_SLICE = 1 << 16  # bytes: less is done before a task has started
_SHARES = 4  # of what is left a task gets this part of a slot's share: the last ones are small, and no slot waits long
_MOST_TOGETHER = 1 << 25  # bytes of small files in one task: half a minute of work or more
_MOST_FILES = 512  # ... and how many files
_WHOLE = ".txt"  # one note, which only the whole of it can show what to hide in


class FileSlice(NamedTuple):
    """A stretch of a file's rows: the one of this number, from 0, of so many."""

    file: NoteFile
    number: int
    of: int

    def has(self, row: Record) -> bool:
        """Whether a row of the file is in it."""
        return self._place(row) == self.number

    def is_before(self, row: Record) -> bool:
        """Whether a row of the file, and all after it, are behind it."""
        return self._place(row) > self.number

    def _place(self, row: Record) -> int:
        return min(max(row.position - 1, 0) * self.of // max(self.file.size, 1), self.of - 1)


SparkTask = Sequence[FileSlice]


class SliceAssignment(NamedTuple):
    """How much one task gets: the less is left, the less, so that all slots end at about the same time.

    Attributes:
        size: the bytes of all files.
        slots: how many tasks can be at work at once.

    Reference:
        Polychronopoulos and Kuck (1987), Guided self-scheduling.
    """

    size: int
    slots: int

    @property
    def tasks(self) -> int:
        """How many tasks are started at a time."""
        return 4 * self.slots

    def piece(self, left: int) -> int:
        """The bytes of one task when so many are left; not so few that starting it takes longer than the work."""
        return max(_LEAST_SLICE, left // (_SHARES * self.slots))

    def groups(self, files: Iterable[NoteFile]) -> Iterator[list[SparkTask]]:
        """The tasks of all files, those that are started at a time together; a file's pieces are in one group."""
        group: list[SparkTask] = []
        small: list[FileSlice] = []
        left, bytes_of_small = self.size, 0
        for file in files:
            piece = self.piece(left)
            count = 1 if file.path.suffix.lower() == _WHOLE else min(-(-file.size // piece), MOST_SLICES)
            if count > 1:
                group += [[FileSlice(file, number, count)] for number in range(count)]
            else:
                together = min(piece, _MOST_TOGETHER)
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
    """Reads of each file the rows that one of these pieces has.

    The last piece of a file is read to the end of the file, and with it all that can make the file unreadable.
    """

    def __init__(self, pieces: Mapping[str, FileSlice]) -> None:
        self._pieces = pieces

    def __call__(self, file: NoteFile, columns: Columns) -> Iterator[Record]:
        """The rows of a file, as of `FileFormat.read`.

        Raises:
            DataError: the file as a whole cannot be read.
        """
        piece = self._pieces[file.name]
        for row in read_file(file, columns):
            if piece.is_before(row):
                return
            if piece.has(row):
                yield row

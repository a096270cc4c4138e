"""How files are shared out among tasks: whole, many small ones together, or a large one in pieces.

A piece is a stretch of a file's rows, found by where they stand in the file: whoever works on it reads what is before
it and passes that over, which takes a hundredth of the time of the work. So a file is cut in at most `MOST_PIECES`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from crfdeid.notes.records import Columns, NoteFile, Record
from crfdeid.notes.sources import read_file

MOST_PIECES = 16
_LEAST_PIECE = 1 << 18  # bytes: less is done before a task has started
_TASKS = 8  # for each that can be at work at once: when the last ones are done, no slot waits long for another
_MOST_TOGETHER = 1 << 25  # bytes of small files in one task: half a minute of work or more
_MOST_FILES = 512  # ... and how many files
_WHOLE = ".txt"  # one note, which only the whole of it can show what to hide in


class Piece(NamedTuple):
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


Task = Sequence[Piece]


class Sharing(NamedTuple):
    """How much one task gets.

    Attributes:
        piece: the bytes that a file is cut in.
        together: the bytes of small files that are done together.
        tasks: how many tasks are started at a time.
    """

    piece: int
    together: int
    tasks: int

    @classmethod
    def of(cls, size: int, slots: int) -> Sharing:
        """Enough tasks for all, and not so many that starting them takes longer than the work.

        Args:
            size: the bytes of all files.
            slots: how many tasks can be at work at once.
        """
        piece = max(_LEAST_PIECE, size // (_TASKS * slots))
        return cls(piece, min(piece, _MOST_TOGETHER), 4 * slots)

    def groups(self, files: Iterable[NoteFile]) -> Iterator[list[Task]]:
        """The tasks of all files, those that are started at a time together; a file's pieces are in one group."""
        group: list[Task] = []
        small: list[Piece] = []
        bytes_of_small = 0
        for file in files:
            count = 1 if file.path.suffix.lower() == _WHOLE else min(-(-file.size // self.piece), MOST_PIECES)
            if count > 1:
                group += [[Piece(file, number, count)] for number in range(count)]
            else:
                if small and (bytes_of_small + file.size > self.together or len(small) == _MOST_FILES):
                    group.append(small)
                    small, bytes_of_small = [], 0
                small.append(Piece(file, 0, 1))
                bytes_of_small += file.size
            if len(group) >= self.tasks:
                yield [*group, *([small] if small else [])]
                group, small, bytes_of_small = [], [], 0
        if group or small:
            yield [*group, *([small] if small else [])]


class PieceReader:
    """Reads of each file the rows that one of these pieces has.

    The last piece of a file is read to the end of the file, and with it all that can make the file unreadable.
    """

    def __init__(self, pieces: Mapping[str, Piece]) -> None:
        self._pieces = pieces

    def __call__(self, file: NoteFile, columns: Columns) -> Iterator[Record]:
        """The rows of a file, as of `FileKind.read`.

        Raises:
            DataError: the file as a whole cannot be read.
        """
        piece = self._pieces[file.name]
        for row in read_file(file, columns):
            if piece.is_before(row):
                return
            if piece.has(row):
                yield row

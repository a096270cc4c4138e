"""What every format of an explanation is made from: titles, lines and tables."""

from __future__ import annotations

from dataclasses import dataclass, field

Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class Title:
    """The title of what follows.

    Attributes:
        text: the title.
        level: 1 for that of the whole.
    """

    text: str
    level: int = 1


@dataclass(frozen=True, slots=True)
class Lines:
    """Sentences, each on a line of its own."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Attributes:
        title: what it shows.
        columns: their names.
        rows: of cells; floats are rendered with three decimals, and with their sign in ``signed`` columns.
        signed: the numbers of the columns whose floats speak for or against.
        shaded: whether the cells' floats are to be shaded by their size, as a picture of a matrix.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    signed: frozenset[int] = field(default=frozenset())
    shaded: bool = False

    def written(self, row: tuple[Cell, ...]) -> list[str]:
        """The cells of a row as text."""
        return [written(cell, signed=column in self.signed) for column, cell in enumerate(row)]


Block = Title | Lines | Table


def written(cell: Cell, *, signed: bool = False) -> str:
    """A cell as text.

    Example:
        >>> written(0.5, signed=True), written(1200), written(None), written("a\\tb")
        ('+0.500', '1,200', '–', 'a\\\\tb')
    """
    if cell is None:
        return "–"
    if isinstance(cell, str):
        return visible(cell)
    if isinstance(cell, int):
        return f"{cell:,}"
    return f"{cell:+.3f}" if signed else f"{cell:.3f}"


def visible(text: str) -> str:
    """A text of a note as a terminal may show it: what is no printable character is escaped.

    Example:
        >>> visible("Quill\\x1b[2J é")
        'Quill\\\\x1b[2J é'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)

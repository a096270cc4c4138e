"""Blocks as text, Markdown and data frames; explanations as JSON data."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tabulate import tabulate

from crfdeid.explaining.rendering.blocks import Block, Lines, Table, Title, visible

if TYPE_CHECKING:
    import pandas as pd

_MARKUP = re.compile(r"([\\`*_{}\[\]<>|#])")


def as_text(blocks: Iterable[Block]) -> str:
    """Blocks as text for a terminal.

    Example:
        >>> print(as_text([Title("Why"), Lines(("Because.",))]))
        Why
        ===
        <BLANKLINE>
        Because.
    """
    return "\n\n".join(map(_as_text, blocks))


def _as_text(block: Block) -> str:
    match block:
        case Title(text, level):
            return f"{visible(text)}\n{('=' if level == 1 else '-') * len(visible(text))}"
        case Lines(lines):
            return "\n".join(map(visible, lines))
        case Table():
            rows = [block.written(row) for row in block.rows]
            table = tabulate(rows, block.columns, tablefmt="simple", disable_numparse=True, colalign=_align(block))
            return f"{visible(block.title)}:\n\n{table}"


def as_markdown(blocks: Iterable[Block]) -> str:
    """Blocks as Markdown; what a note could bring of markup is escaped."""
    return "\n\n".join(map(_as_markdown, blocks)) + "\n"


def _as_markdown(block: Block) -> str:
    match block:
        case Title(text, level):
            return f"{'#' * level} {_escaped(text)}"
        case Lines(lines):
            return "\n\n".join(map(_escaped, lines))
        case Table():
            rows = [[_escaped(cell) for cell in block.written(row)] for row in block.rows]
            columns = [_escaped(column) for column in block.columns]
            table = tabulate(rows, columns, tablefmt="pipe", disable_numparse=True, colalign=_align(block))
            return f"{_escaped(block.title)}:\n\n{table}"


def _escaped(text: str) -> str:
    return _MARKUP.sub(r"\\\1", visible(text))


def _align(table: Table) -> Sequence[str]:
    """Numbers to the right: a column is of numbers where its first cell that is there is one."""
    columns = zip(*table.rows, strict=True) if table.rows else [()] * len(table.columns)
    firsts = (next((cell for cell in column if cell is not None), "") for column in columns)
    return ["left" if isinstance(first, str) else "right" for first in firsts]


def as_frames(blocks: Iterable[Block]) -> dict[str, pd.DataFrame]:
    """The tables of blocks as data frames, by their titles; of several with one title, each has a number behind it."""
    import pandas as pd  # noqa: PLC0415  A second of waiting that only those wait for who want frames.

    found: dict[str, pd.DataFrame] = {}
    for block in blocks:
        if isinstance(block, Table):
            number = sum(name.partition(" (")[0] == block.title for name in found) + 1
            name = block.title if number == 1 else f"{block.title} ({number})"
            found[name] = pd.DataFrame(list(block.rows), columns=list(block.columns))
    return found


def as_json(data: Any) -> str:
    """A dataclass of this package, or a list or dictionary of such, as JSON; what is computed of its parts is left out.

    Example:
        >>> from crfdeid.explaining.explanation import WordTerm
        >>> print(as_json(WordTerm("Dr", -1, 0.5)))
        {
         "word": "Dr",
         "place": -1,
         "value": 0.5
        }
    """
    return json.dumps(data, default=_plain, ensure_ascii=False, indent=1)


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no data")

"""Tables: CSV files that are read by their columns, and Markdown tables."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from crfdeid.errors import FormatError
from crfdeid.utils.files import read_text
from crfdeid.utils.json import require_unique

_DELIMITERS = (",", ";", "\t", "|")
LONGEST_FIELD = (1 << 31) - 1
"""Limit of `csv.field_size_limit`, which is 131,072 characters by default: the largest number of C on Windows."""
_MAX_DIGITS = 12  # more characters, notes or tokens than there are


def read_table(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a table as of `open_table`, with the text of some columns alone, which must not be missing."""
    problem = f"a column is missing: the first line names the columns, {', '.join(columns)} among them"
    _, rows = open_table(path, set(columns).issubset, problem=problem)
    return ((line, {name: row[name] for name in columns}) for line, row in rows)


def open_table(
    path: Path, is_header: Callable[[Sequence[str]], bool], *, problem: str
) -> tuple[Sequence[str], Iterator[tuple[int, dict[str, str]]]]:
    """The names of a table's columns, and its rows, each with its first line, as text by column.

    Args:
        path: the file, delimited by the first of commas, semicolons, tabs and bars with which it has a valid header.
        is_header: whether names of columns are valid.
        problem: the message for a file without a valid header.

    Raises:
        DataError: the file cannot be read, has no valid header, repeats a column, or violates RFC 4180; the rows raise
            it where one has another number of fields.
    """
    csv.field_size_limit(LONGEST_FIELD)
    text = read_text(path)
    first = text.partition("\n")[0].rstrip("\r")
    for delimiter in _DELIMITERS:
        header = [name.strip() for name in next(csv.reader([first], delimiter=delimiter), [])]
        if is_header(header):
            require_unique(header, path=path, line=1)
            return header, _rows(text, delimiter, header, path)
    raise FormatError(problem, path=path, line=1)


def _rows(text: str, delimiter: str, header: Sequence[str], path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    reader = csv.reader(text.splitlines(keepends=True), delimiter=delimiter, strict=True)
    first_line = 1
    try:
        for fields in reader:
            if fields and first_line > 1:
                if len(fields) != len(header):
                    problem = f"{len(fields)} fields where the header has {len(header)}"
                    raise FormatError(problem, path=path, line=first_line)
                yield first_line, dict(zip(header, map(str.strip, fields), strict=True))
            first_line = reader.line_num + 1
    except csv.Error:
        problem = "the row that begins here has a misplaced or unclosed double quote"
        raise FormatError(problem, path=path, line=first_line) from None


def whole_numbers(texts: Iterable[str]) -> list[int]:
    """Fields of a row as whole numbers from 0.

    Raises:
        FormatError: one is none.
    """
    fields = list(texts)
    if not all(text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS for text in fields):
        raise FormatError("expected a whole number from 0 in each column of numbers")
    return list(map(int, fields))


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A Markdown table: its first column to the left, the others to the right.

    Example:
        >>> print(markdown_table(["type", "F"], [["DATE", "97.10"]]))
        | type   |     F |
        |:-------|------:|
        | DATE   | 97.10 |
    """
    from tabulate import tabulate  # noqa: PLC0415  Readers of tables write none.

    align = ["left", *["right"] * (len(head) - 1)]
    return tabulate(list(rows), head, tablefmt="pipe", disable_numparse=True, colalign=align)

"""Tables: CSV files that are read by their columns, and Markdown tables."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from crfdeid.errors import FormatError
from crfdeid.utils.files import read_text
from crfdeid.utils.json import require_unique

_MAX_DIGITS = 12  # more characters, notes or tokens than there are


def read_table(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a table, each with its line, as the text of each column that is asked for.

    Args:
        path: the file, with tabs or commas between the fields; its first line names the columns.
        columns: names of the columns to read.

    Raises:
        DataError: it cannot be read, a column is missing or there twice, or a row has not as many fields as the header.
    """
    text = read_text(path)
    reader = csv.reader(text.splitlines(), delimiter="\t" if "\t" in text.partition("\n")[0] else ",", strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        missing = [name for name in columns if name not in header]
        if missing:
            raise FormatError(
                f"no column {', '.join(missing)}: the first line names the columns, {', '.join(columns)} among them",
                path=path,
                line=1,
            )
        require_unique(header, path=path, line=1)
        for row in filter(None, reader):
            if len(row) != len(header):
                raise FormatError(
                    f"{len(row)} fields, where the first line has {len(header)}", path=path, line=reader.line_num
                )
            named = dict(zip(header, (field.strip() for field in row), strict=True))
            yield reader.line_num, {name: named[name] for name in columns}
    except csv.Error:
        raise FormatError("no row of a table: check its quotes", path=path, line=reader.line_num) from None


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

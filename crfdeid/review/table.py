"""Small tables that people write: CSV with a header, or with tabs in the place of commas."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from crfdeid.errors import DataError
from crfdeid.system.files import read_text
from crfdeid.system.unique_keys import require_unique

_LONGEST = 12  # digits: more notes or tokens than there are


def read_table(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a table, each with its line, as the text of each column that is asked for.

    Raises:
        DataError: it cannot be read, a column is missing or there twice, or a row has not as many fields as the header.
    """
    text = read_text(path)
    reader = csv.reader(text.splitlines(), delimiter="\t" if "\t" in text.partition("\n")[0] else ",", strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        missing = [name for name in columns if name not in header]
        if missing:
            problem = (
                f"no column {', '.join(missing)}: the first line names the columns, {', '.join(columns)} among them"
            )
            raise DataError(problem, path=path, line=1)
        require_unique(header, path=path, line=1)
        for row in reader:
            if not row:
                continue
            if len(row) != len(header):
                problem = f"{len(row)} fields, where the first line has {len(header)}"
                raise DataError(problem, path=path, line=reader.line_num)
            named = dict(zip(header, (field.strip() for field in row), strict=True))
            yield reader.line_num, {name: named[name] for name in columns}
    except csv.Error:
        raise DataError("no row of a table: check its quotes", path=path, line=reader.line_num) from None


def whole(text: str, path: Path, line: int) -> int:
    """A field as a whole number from 0.

    Raises:
        DataError: it is none.
    """
    if not (text.isascii() and text.isdigit() and len(text) <= _LONGEST):
        raise DataError("expected a whole number from 0 in each column of numbers", path=path, line=line)
    return int(text)

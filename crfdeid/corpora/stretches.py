"""Stretches of texts that the annotators of a layer never saw, from a table: scores can be made with and without them.

MEDDOCAN put invented personal data into texts that PharmaCoNER annotated: in what it added, nobody marked concepts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from crfdeid.documents import Document, Span
from crfdeid.errors import DataError
from crfdeid.system.files import read_text

_COLUMNS = ("document", "start", "end")
Stretches = Mapping[str, Sequence[tuple[int, int]]]
"""Document id -> its stretches, as half-open offsets."""


def read_stretches(path: Path, documents: Iterable[Document]) -> dict[str, list[tuple[int, int]]]:
    """The stretches of some documents, from a table with tabs between its columns.

    Args:
        path: the table; its first line names the columns, ``document``, ``start`` and ``end`` among them.
        documents: the documents; lines about others are passed over, since a table may serve several splits.

    Returns:
        For each document, by id, its stretches, by place; none for one that the table does not name.

    Raises:
        DataError: there are no such columns, a stretch is empty or outside its text, or no line is about the documents.
    """
    sizes = {document.id: len(document.text) for document in documents}
    found: dict[str, list[tuple[int, int]]] = {name: [] for name in sizes}
    for number, row in _rows(path):
        if row["document"] in sizes:
            found[row["document"]].append(_stretch(row, sizes[row["document"]], path, number))
    if not any(found.values()):
        raise DataError("no line is about any of these documents: their ids stand in its column 'document'", path=path)
    return {name: sorted(stretches) for name, stretches in found.items()}


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The lines of the table, by number, as columns by name."""
    header, *rows = (line.removesuffix("\r").split("\t") for line in read_text(path).split("\n"))
    if not set(_COLUMNS).issubset(header):
        problem = f"expected columns {', '.join(_COLUMNS)}, named in the first line, with tabs between them"
        raise DataError(problem, path=path, line=1)
    for number, row in enumerate(rows, start=2):
        if len(row) == len(header):
            yield number, dict(zip(header, row, strict=True))
        elif row != [""]:
            raise DataError(f"{len(row)} columns, where the first line has {len(header)}", path=path, line=number)


def _stretch(row: Mapping[str, str], size: int, path: Path, number: int) -> tuple[int, int]:
    start, end = row["start"], row["end"]
    if not all(text.isascii() and text.isdigit() and len(text) < 19 for text in (start, end)):
        raise DataError("start and end are offsets, as whole numbers", path=path, line=number)
    if not 0 <= int(start) < int(end) <= size:
        problem = f"the stretch [{start}, {end}) is empty or outside the text of {size} characters"
        raise DataError(problem, path=path, line=number)
    return int(start), int(end)


class Compared(NamedTuple):
    """What is scored: annotated documents, and the spans found in each, by id."""

    gold: list[Document]
    predicted: dict[str, list[Span]]


def without_stretches(
    gold: Iterable[Document], predicted: Mapping[str, Iterable[Span]], stretches: Stretches
) -> Compared:
    """What is scored where stretches do not count: without the spans, on either side, that lie wholly within one.

    A span that reaches out of a stretch holds text that the annotators did see, and stays.

    Example:
        >>> found = {"1": [Span(0, 7, "DRUG"), Span(5, 12, "DRUG")]}
        >>> without_stretches([Document("1", "aspirin Prozac")], found, {"1": [(0, 8)]}).predicted
        {'1': [Span(start=5, end=12, label='DRUG')]}
    """
    documents = [replace(one, spans=tuple(_outside(one.spans, stretches.get(one.id, ())))) for one in gold]
    return Compared(documents, {name: _outside(spans, stretches.get(name, ())) for name, spans in predicted.items()})


def _outside(spans: Iterable[Span], stretches: Sequence[tuple[int, int]]) -> list[Span]:
    return [span for span in spans if not any(start <= span.start and span.end <= end for start, end in stretches)]

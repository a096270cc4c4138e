"""brat standoff: the text in a ``.txt`` file, its spans in the ``.ann`` file of the same name.

Only text-bound annotations (``T1<tab>TYPE start end<tab>covered text``) mark entities; relations, events, attributes,
normalisations and notes are ignored. See docs/reference/formats.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from crfdeid.corpora.common import build_document, document_file, find_files, parse_lines, relative_stem
from crfdeid.documents import Document, Span
from crfdeid.errors import FormatError, NotFoundError, SpanError
from crfdeid.utils.files import read_text

SUFFIXES: tuple[str, ...] = (".txt", ".ann")
_ENTITY = re.compile(r"T\S*\t(\S+) (\d{1,18}) (\d{1,18})\t(.*)", re.ASCII | re.DOTALL)
_DISCONTINUOUS = re.compile(r"T\S*\t\S+ \d+ \d+;")
_OTHER_KINDS = tuple("REAMN#*")
# brat shows the covered text on one line.
_ON_ONE_LINE = str.maketrans("\r\n", "  ")


def looks_like(file: Path) -> bool:
    """True for an ``.ann`` file, and a text with one of the same name."""
    return file.suffix.lower() == ".ann" or file.with_suffix(".ann").is_file()


def read(path: Path) -> list[Document]:
    """Every ``.txt``/``.ann`` pair of a folder and its subfolders, or the one pair a ``.txt`` file belongs to.

    Raises:
        DataError: one of a pair is missing, a line is malformed, a span is discontinuous, or the covered text given
            in the ``.ann`` file is not the text at its offsets.
    """
    documents = []
    for file in find_files(path, ".txt", ".ann"):
        other = file.with_suffix(".ann" if file.suffix.lower() == ".txt" else ".txt")
        if not other.is_file():
            raise NotFoundError(
                f"{other.name} is missing: add it (an empty .ann file for a text without annotations)",
                path=file,
            )
        if file.suffix.lower() == ".txt":
            text = read_text(file, keep_mark=True)
            spans = parse_lines(other, partial(_span, text=text), ignored=_OTHER_KINDS)
            documents.append(build_document(relative_stem(file, path), text, spans, path=other))
    return documents


def _span(line: str, text: str) -> Span:
    if _DISCONTINUOUS.match(line):
        raise SpanError("a discontinuous span (start end;start end): split it into one span for each part")
    entity = _ENTITY.fullmatch(line.removesuffix("\r"))
    if entity is None:
        raise FormatError("not a brat line: expected T1<tab>TYPE start end<tab>text")
    span = Span(int(entity[2]), int(entity[3]), entity[1])
    if text[span.start : span.end].translate(_ON_ONE_LINE) != entity[4]:
        raise SpanError(
            f"the text column is not the text at [{span.start}, {span.end}): offsets count Unicode characters of "
            "the .txt file, with line ends and any byte-order mark"
        )
    return span


def to_files(documents: Sequence[Document], path: Path) -> dict[Path, str]:
    """A ``.txt`` and an ``.ann`` file in a folder for each document.

    Raises:
        DataError: an id cannot be a file's name, or a label holds white space.
    """
    contents = {}
    for document in documents:
        contents[document_file(path, document, ".txt")] = document.text
        contents[document_file(path, document, ".ann")] = "".join(_lines(document))
    return contents


def _lines(document: Document) -> Iterator[str]:
    for number, (start, end, label) in enumerate(document.spans, start=1):
        if label.split() != [label]:
            raise FormatError("a brat label cannot be empty or hold white space: rename the type", path=document.source)
        yield f"T{number}\t{label} {start} {end}\t{document.text[start:end].translate(_ON_ONE_LINE)}\n"

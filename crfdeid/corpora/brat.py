"""brat standoff: the text in a ``.txt`` file, its spans in the ``.ann`` file of the same name.

Only text-bound annotations (``T1<tab>TYPE start end<tab>covered text``) mark entities; relations, events, attributes,
normalisations and notes are not read. brat writes a span over a line end as fragments (``0 4;5 9``), one a line. See
docs/reference/formats.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path

from crfdeid.corpora.common import build_document, document_file, find_files, parse_lines, relative_stem, squeezed
from crfdeid.documents import Document, Span
from crfdeid.errors import FormatError, NotFoundError, SpanError
from crfdeid.utils.files import read_text

SUFFIXES: tuple[str, ...] = (".txt", ".ann")
_ENTITY = re.compile(r"T\S*\t(\S+) (\d{1,18} \d{1,18}(?:;\d{1,18} \d{1,18})*)\t(.*)", re.ASCII | re.DOTALL)
_UNREAD = {
    "R": "relations",
    "E": "events",
    "A": "attributes",
    "M": "attributes",
    "N": "normalisations",
    "*": "equivalences",
}
_OTHER_KINDS = (*_UNREAD, "#")
_CHARACTER = re.compile(r"\r\n|(?s:.)")
_LINE_ENDS = re.compile(r"\s*[\r\n]\s*")
# brat shows the covered text on one line.
_ON_ONE_LINE = str.maketrans("\r\n", "  ")


def looks_like(file: Path) -> bool:
    """True for an ``.ann`` file, and a text with one of the same name."""
    return file.suffix.lower() == ".ann" or file.with_suffix(".ann").is_file()


def read(path: Path) -> list[Document]:
    """Every ``.txt``/``.ann`` pair of a folder and its subfolders, or the one pair a ``.txt`` file belongs to.

    Raises:
        DataError: one of a pair is missing, a line is malformed, a span has text between its parts, or the covered
            text given in the ``.ann`` file is not the text at its offsets.
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
            documents.append(_document(file, other, relative_stem(file, path)))
    return documents


def _document(file: Path, annotations: Path, name: str) -> Document:
    text = read_text(file, keep_mark=True)
    try:
        spans = _spans(annotations, text)
    except SpanError as error:
        try:
            spans = _spans_without_returns(annotations, text)
        except SpanError:
            raise error from None
    lines = read_text(annotations).split("\n")
    unread = [_UNREAD[line[0]] for line in lines if line[:1] in _UNREAD]
    return build_document(name, text, spans, path=annotations, unread=unread)


def _spans(annotations: Path, text: str) -> list[Span]:
    return parse_lines(annotations, partial(_span, text=text), ignored=_OTHER_KINDS)


def _spans_without_returns(annotations: Path, text: str) -> list[Span]:
    """The spans of a file whose offsets count CRLF as one character, as programs do that read it as a line end."""
    starts = [*(match.start() for match in _CHARACTER.finditer(text)), len(text)]
    spans = _spans(annotations, text.replace("\r\n", "\n"))
    return [Span(starts[start], starts[end], label) for start, end, label in spans]


def _span(line: str, text: str) -> Span:
    entity = _ENTITY.fullmatch(line.removesuffix("\r"))
    if entity is None:
        raise FormatError("not a brat line: expected T1<tab>TYPE start end<tab>text")
    places = [tuple(map(int, place.split(" "))) for place in entity[2].split(";")]
    gaps = [text[end:start] for (_, end), (start, _) in pairwise(places) if end <= start]
    if len(gaps) < len(places) - 1 or any(squeezed(gap) for gap in gaps):
        raise SpanError(
            "a discontinuous span (start end;start end) with text between its parts: split it into one span a part"
        )
    span = Span(places[0][0], places[-1][1], entity[1])
    if span.end > len(text) or squeezed(text[span.start : span.end]) != squeezed(entity[3]):
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
        parts = list(_fragments(document.text, start, end))
        places = ";".join(f"{first} {last}" for first, last in parts)
        covered = " ".join(document.text[first:last].translate(_ON_ONE_LINE) for first, last in parts)
        yield f"T{number}\t{label} {places}\t{covered}\n"


def _fragments(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The parts of a span on each line, since brat shows no span over a line end; the whole keeps its offsets."""
    for gap in _LINE_ENDS.finditer(text, start, end):
        if start < gap.start() and gap.end() < end:
            yield start, gap.start()
            start = gap.end()
    yield start, end

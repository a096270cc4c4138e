"""ASQ-PHI: short clinical queries and the identifiers in them, by value and without offsets. Read only.

    ===QUERY===
    Dosing for Jane Doe
    ===PHI_TAGS===
    {"identifier_type": "NAME", "value": "Jane Doe"}

A value marks each of its occurrences as whole words, longest value first, except inside a longer one (a hospital's
abbreviation in a record number). Typographic and typewriter quotes count as the same character.
"""

from __future__ import annotations

import re
from pathlib import Path

from crfdeid.corpora.common import build_document, find_files, relative_stem
from crfdeid.documents import Document, Span
from crfdeid.errors import FormatError, SpanError
from crfdeid.utils.files import read_head, read_text
from crfdeid.utils.json import parse_json

SUFFIXES: tuple[str, ...] = (".txt",)
_QUERY, _TAGS = "===QUERY===", "===PHI_TAGS==="
# One character for one, so that offsets stay.
_QUOTES = str.maketrans("‘’‛ʼ“”‟", "''''\"\"\"")


def looks_like(file: Path) -> bool:
    """True for a file that begins with a query block."""
    return read_head(file).lstrip().startswith(_QUERY)


def read(path: Path) -> list[Document]:
    """The queries of a file, or of every ``.txt`` file of a folder, in order; ids are ``<file>:<number>``, from 1.

    Raises:
        DataError: a block is malformed, or a value is not in its query.
    """
    return [document for file in find_files(path, ".txt") for document in _documents(file, relative_stem(file, path))]


def _documents(path: Path, name: str) -> list[Document]:
    lines = [line.removesuffix("\r") for line in read_text(path).split("\n")]
    starts = [number for number, line in enumerate(lines) if line == _QUERY]
    if any(line.strip() for line in (lines[: starts[0]] if starts else lines)):
        raise FormatError(f"expected {_QUERY} before anything else", path=path, line=1)
    return [
        _document(lines[start:stop], f"{name}:{number}", path, start + 1)
        for number, (start, stop) in enumerate(zip(starts, [*starts[1:], len(lines)], strict=True), start=1)
    ]


def _document(block: list[str], document_id: str, path: Path, first_line: int) -> Document:
    if block.count(_TAGS) != 1:
        raise FormatError(f"a query needs one line {_TAGS}", path=path, line=first_line)
    middle = block.index(_TAGS)
    text = "\n".join(block[1:middle])
    if not text.strip():
        raise FormatError("an empty query", path=path, line=first_line)
    # A dictionary, because a value may be listed once per occurrence.
    tags = {
        _tag(line, path, number): number
        for number, line in enumerate(block[middle + 1 :], start=first_line + middle + 1)
        if line.strip()
    }
    spans: list[Span] = []
    for label, value in sorted(tags, key=lambda tag: -len(tag[1])):
        places = _places(text, value)
        if not places:
            raise SpanError(
                f"the {label} value is not in its query: correct the value", path=path, line=tags[label, value]
            )
        free = [(start, end) for start, end in places if not any(start < s.end and end > s.start for s in spans)]
        # A value that occurs only inside others becomes a nested span: it is never dropped.
        spans += [Span(start, end, label) for start, end in free or places]
    return build_document(document_id, text, spans, path=path, line=first_line)


def _tag(line: str, path: Path, number: int) -> tuple[str, str]:
    expected = 'expected {"identifier_type": text, "value": text}'
    match parse_json(line, path=path, line=number, otherwise=expected):
        case {"identifier_type": str(label), "value": str(value)} if label and value:
            return label, value
    raise FormatError(expected, path=path, line=number)


def _places(text: str, value: str) -> list[tuple[int, int]]:
    """Occurrences of a value as whole words; without any, all its occurrences."""
    folded, pattern = text.translate(_QUOTES), re.escape(value.translate(_QUOTES))
    whole = [match.span() for match in re.finditer(rf"(?<!\w){pattern}(?!\w)", folded)]
    return whole or [match.span() for match in re.finditer(pattern, folded)]

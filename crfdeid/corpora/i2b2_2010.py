"""i2b2 2010 concepts: texts, and ``.con`` files with the lines and tokens of each concept.

    c="left hip pain" 12:3 12:5||t="problem"

Lines count from 1, and the tokens of a line, which white space separates, from 0; the last token belongs to
the concept. The challenge has its files in ``txt/`` and ``concept/``; a ``.con`` in the folder of its ``.txt`` is read
too. See docs/reference/formats.md.
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

SUFFIXES: tuple[str, ...] = (".con",)
_SUFFIX, _TEXT_SUFFIX = ".con", ".txt"
_CONCEPTS, _TEXTS = "concept", "txt"
_LINE = re.compile(r'c="(.*)" (\d{1,9}):(\d{1,9}) (\d{1,9}):(\d{1,9})\|\|t="([^"|]+)"', re.ASCII)
_TOKEN = re.compile(r"\S+")


def looks_like(file: Path) -> bool:
    """True for every ``.con`` file."""
    return True


def read(path: Path) -> list[Document]:
    """Read every text of a folder and its subfolders with its concepts, or the text of one ``.con`` file.

    Ids are the names of the ``.con`` files below the folder, without suffix and without ``concept/``. Types are as in
    the file, in small letters for those of the challenge.

    Raises:
        DataError: a text has no ``.con`` file or the other way round, a line is malformed or names missing tokens, or
            its concept is not the text of its tokens.
    """
    files = find_files(path, _SUFFIX, _TEXT_SUFFIX)
    root = path.parent if path.is_file() else path
    pairs = {file: _place_of(file, root) for file in files if file.suffix.lower() == _SUFFIX}
    texts = {text for text, _ in pairs.values()}
    for file in files:
        if file not in pairs and file not in texts:
            raise NotFoundError(
                "there is no .con file for it: add it (an empty one says that nothing is marked)", path=file
            )
    return [_document(file, *pair) for file, pair in pairs.items()]


def _place_of(file: Path, root: Path) -> tuple[Path, str]:
    """Path of the text of a ``.con`` file, in the same folder, or in ``txt/`` for a file in ``concept/``; and its id.

    Raises:
        DataError: it is in neither.
    """
    text = file.with_suffix(_TEXT_SUFFIX)
    if text.is_file():
        return text, relative_stem(file, root)
    top = root.parent if root.name == _CONCEPTS else root
    *folders, _ = file.relative_to(top).parts
    if _CONCEPTS in folders:
        at = folders.index(_CONCEPTS)
        text = top.joinpath(*folders[:at], _TEXTS, *folders[at + 1 :], text.name)
        del folders[at]
    if not text.is_file():
        raise NotFoundError(f"{text.name} is missing here and in {_TEXTS}/: add it", path=file)
    return text, "/".join([*folders, relative_stem(file, file.parent)])


def _document(file: Path, text_file: Path, document_id: str) -> Document:
    text = read_text(text_file, keep_mark=True)
    spans = parse_lines(file, partial(_span, text=text, rows=_tokens(text)))
    return build_document(document_id, text, spans, path=file)


def _span(line: str, text: str, rows: Sequence[Sequence[tuple[int, int]]]) -> Span:
    match = _LINE.fullmatch(line.strip())
    if match is None:
        raise FormatError('not a line of i2b2 2010: expected c="concept" line:token line:token||t="type"')
    first, last = ((int(match[n]), int(match[n + 1])) for n in (2, 4))
    for row, token in (first, last):
        if not 1 <= row <= len(rows) or token >= len(rows[row - 1]):
            raise SpanError(f"there is no token {row}:{token}: lines count from 1, tokens, between white space, from 0")
    start, end = rows[first[0] - 1][first[1]][0], rows[last[0] - 1][last[1]][1]
    if last < first or _folded(text[start:end]) != _folded(match[1]):
        raise SpanError(f"the concept in it is not what stands at {first[0]}:{first[1]} to {last[0]}:{last[1]}")
    return Span(start, end, match[6])


def _tokens(text: str) -> list[list[tuple[int, int]]]:
    """Start and end of the tokens of each line."""
    rows, begin = [], 0
    for line in text.split("\n"):
        rows.append([(begin + match.start(), begin + match.end()) for match in _TOKEN.finditer(line)])
        begin += len(line) + 1
    return rows


def _folded(text: str) -> str:
    """A concept as its line has it: in small letters, its tokens with one space between them."""
    return " ".join(text.split()).lower()


def to_files(documents: Sequence[Document], path: Path) -> dict[Path, str]:
    """A file in each of the challenge's folders, ``txt/`` and ``concept/``, for each document.

    Raises:
        DataError: an id cannot be a file's name, a span does not begin and end with a token, or a type has a character
            that such a line cannot hold.
    """
    contents = {}
    for document in documents:
        contents[document_file(path / _TEXTS, document, _TEXT_SUFFIX)] = document.text
        contents[document_file(path / _CONCEPTS, document, _SUFFIX)] = "".join(_lines(document))
    return contents


def _lines(document: Document) -> Iterator[str]:
    rows = enumerate(_tokens(document.text), start=1)
    offsets = [(begin, end, f"{row}:{n}") for row, tokens in rows for n, (begin, end) in enumerate(tokens)]
    starts, ends = ({one[side]: one[2] for one in offsets} for side in (0, 1))
    for start, end, label in document.spans:
        if start not in starts or end not in ends:
            raise SpanError(
                f"the {label} span [{start}, {end}) does not begin and end with a token between white space",
                path=document.source,
                offset=start,
            )
        if not label or not label.isprintable() or '"' in label or "|" in label:
            raise FormatError(
                "an i2b2 2010 label cannot be empty or hold a quote or bar: rename it", path=document.source
            )
        yield f'c="{_folded(document.text[start:end])}" {starts[start]} {ends[end]}||t="{label}"\n'

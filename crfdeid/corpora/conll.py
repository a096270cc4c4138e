"""Columns: one token per line, its tag in the last column, a blank line after each sentence.

``-DOCSTART-`` lines begin documents; in a file without any, each sentence is a document. Columns are separated by
tabs, or in a line without tabs by spaces. A tag is ``O`` or a prefix, a hyphen and a type (``B-fromloc.city_name``).
A document's text is its tokens joined by single spaces, its sentences by line ends.

All the usual schemes (IOB1, IOB2, IOBES/BIOES, BILOU) are read by one rule, conlleval's, so that the scheme need not be
guessed. An entity begins

- at ``B``, ``S`` or ``U``;
- at ``I``, ``E`` or ``L`` after ``O``, after another type, or after an ``E``, ``L``, ``S`` or ``U``;

and continues up to the next entity or ``O``. IOB2 is written.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from crfdeid import bio
from crfdeid.corpora.common import find_files
from crfdeid.documents import Document, Span
from crfdeid.errors import FormatError, SpanError
from crfdeid.utils.files import read_head, read_text, relative_name
from features.tokens import Sentence

SUFFIXES: tuple[str, ...] = ()
_DOCUMENT_START = "-DOCSTART-"
_TAG = re.compile(r"O|[BIESLU]-\S+")
_BREAKS_LINE = re.compile(r"[\t\r\n]")
_SNIFFED_LINES = 50
# Content of a -DOCSTART- line of a document without a name.
_FILLERS = {"O", "-X-", "_", "-"}


class _Lines(NamedTuple):
    """The words and tags of one sentence, and the line in the file it begins at."""

    first: int
    words: list[str]
    tags: list[str]


class _Part(NamedTuple):
    """A document: its id, the line in the file it begins at, and its sentences."""

    id: str
    first: int
    sentences: list[_Lines]


def looks_like(file: Path) -> bool:
    """True for a file whose first lines all end in a tag."""
    lines = [_columns(line) for line in read_head(file).split("\n")[:_SNIFFED_LINES] if line.strip()]
    lines = [line for line in lines if line[0] != _DOCUMENT_START]
    return bool(lines) and all(len(line) > 1 and _TAG.fullmatch(line[-1]) for line in lines)


def read(path: Path) -> list[Document]:
    """The documents of a file, or of every file of a folder, in order; ids are ``<file>:<line>`` unless given.

    Raises:
        DataError: a line has one column, its last column is no tag, or it holds a carriage return.
    """
    return [
        _document(part, f"{file}, line {part.first}")
        for file in find_files(path)
        for part in _parts(file, relative_name(file, path))
    ]


def _parts(path: Path, name: str) -> list[_Part]:
    parts = [_Part(f"{name}:1", 1, [])]
    sentence: _Lines | None = None
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        columns = _columns(line)
        if "\r" in line.rstrip("\r"):
            raise FormatError("a carriage return within the line: convert the line ends to LF", path=path, line=number)
        if columns[0] == _DOCUMENT_START:
            named = len(columns) == 3 and columns[1] not in _FILLERS
            parts.append(_Part(columns[1] if named else f"{name}:{number}", number, []))
            sentence = None
        elif columns == [""]:
            sentence = None
        else:
            _require_tagged(columns, path, number)
            if sentence is None:
                sentence = _Lines(number, [], [])
                parts[-1].sentences.append(sentence)
            sentence.words.append(columns[0])
            sentence.tags.append(columns[-1])
    before, *named_parts = parts
    if not named_parts:
        return [_Part(f"{name}:{sentence.first}", sentence.first, [sentence]) for sentence in before.sentences]
    return parts if before.sentences else named_parts


def _columns(line: str) -> list[str]:
    line = line.rstrip(" \t\r")
    return line.split("\t") if "\t" in line else re.split(" +", line)


def _require_tagged(columns: list[str], path: Path, number: int) -> None:
    if len(columns) < 2 or not columns[0]:
        raise FormatError("expected a token and its tag, with white space between", path=path, line=number)
    if not _TAG.fullmatch(columns[-1]):
        raise FormatError(
            "the last column is no tag: expected O, or B-, I-, E-, S-, L- or U- and a type", path=path, line=number
        )


def _document(part: _Part, source: str) -> Document:
    lines = part.sentences
    # A line end between two sentences is one character, as the space between two words is.
    note = Sentence.from_words([word for _, words, _ in lines for word in words]).tokens
    sentences: list[Sentence] = []
    spans: list[Span] = []
    begin = 0
    for row, (_, words, tags) in enumerate(lines):
        tokens = note[begin : begin + len(words)]
        sentence = Sentence(tokens, line=row, line_count=len(lines), note=note, note_start=begin)
        spans += bio.decode(sentence, _iob2(tags))
        sentences.append(sentence)
        begin += len(words)
    text = "\n".join(" ".join(words) for _, words, _ in lines)
    return Document(part.id, text, tuple(spans), tuple(sentences), source=source)


def _iob2(tags: Sequence[str]) -> list[str]:
    converted, before = [], bio.OUTSIDE  # the tag before, unless the entity ended with it
    for tag in tags:
        same = tag if tag == bio.OUTSIDE else f"{'B' if tag[0] in 'BSU' else 'I'}-{tag[2:]}"
        converted.append(same if bio.may_follow(same, before) else f"B-{tag[2:]}")
        before = bio.OUTSIDE if tag[0] in "ELSU" else converted[-1]
    return converted


def to_files(documents: Sequence[Document], path: Path) -> dict[Path, str]:
    """One file of all documents, each after a ``-DOCSTART-`` line with its id; tokens, not white space, are kept.

    Raises:
        DataError: a span does not fit the tokens, an id or a token holds a tab or a line end, or a label white space.
    """
    return {path: "".join(map(_block, documents))}


def _block(document: Document) -> str:
    encoded = bio.encode(document)
    if encoded.unaligned:
        raise SpanError(
            "columns cannot hold a span that does not fit the tokens: write brat or jsonl",
            path=document.source,
            offset=encoded.unaligned[0].start,
        )
    if not document.id or document.id in _FILLERS or _BREAKS_LINE.search(document.id):
        raise FormatError(
            "its id fits no column, as one with a line end does not: rename the document", path=document.source
        )
    rows = [f"{_DOCUMENT_START}\t{document.id}\tO\n\n"]
    for labelled in encoded.sentences:
        for token, tag in zip(labelled.sentence.tokens, labelled.tags, strict=True):
            word = document.text[token.start : token.end]  # as it came, not in normal form
            if not word or word == _DOCUMENT_START or _BREAKS_LINE.search(word):
                raise FormatError(
                    "a token that columns cannot hold: write jsonl", path=document.source, offset=token.start
                )
            if not _TAG.fullmatch(tag):
                raise FormatError("columns cannot hold an empty label or one with white space", path=document.source)
            rows.append(f"{word}\t{tag}\n")
        rows.append("\n")
    return "".join(rows)

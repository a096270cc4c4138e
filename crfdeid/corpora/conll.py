"""Columns: one token per line, its tag in the last column, a blank line after each sentence.

Columns between these are not read. A second column of tags is refused, unless it holds the types of chunks.

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
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from crfdeid import bio
from crfdeid.corpora.common import find_files, is_placeholder, placeholder_error
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


# Types of chunks (CoNLL-2000; German in CoNLL-2003), the one further column of tags in files of entities.
_CHUNKS = {"NP", "VP", "PP", "ADVP", "ADJP", "SBAR", "PRT", "INTJ", "CONJP", "LST", "UCP", "NC", "VC", "PC", "AC"}
_ROW_NUMBER = re.compile(r"(\d+[-.:])?(\d+)", re.ASCII)


class _Lines(NamedTuple):
    """The columns of each token of one sentence, and the line in the file it begins at."""

    first: int
    rows: list[list[str]]

    @property
    def words(self) -> list[str]:
        return [row[0] for row in self.rows]

    @property
    def tags(self) -> list[str]:
        return [row[-1] for row in self.rows]


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
        DataError: a line has one column, its last column is no tag, or it holds a carriage return; or a file numbers
            its rows, or has two columns of tags.
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
                sentence = _Lines(number, [])
                parts[-1].sentences.append(sentence)
            sentence.rows.append(columns)
    _require_one_reading([sentence for part in parts for sentence in part.sentences], path)
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

    label = columns[-1][2:]
    if label and is_placeholder(label):
        raise placeholder_error(label, path=path, line=number)


def _require_one_reading(sentences: Sequence[_Lines], path: Path) -> None:
    """Refuse a file whose first column numbers its rows, and one with another column of tags than the last.

    Raises:
        FormatError: with the first line.
    """
    rows = [row for sentence in sentences for row in sentence.rows]
    columns = min(map(len, rows), default=0)
    if columns < 3:
        return
    first = sentences[0].first
    if len(rows) > 1 and all(map(_is_numbered, sentences)):
        problem = "the first column numbers the rows, and is no token: remove it (cut -f2-)"
        raise FormatError(problem, path=path, line=first)
    for column in range(1, columns - 1):
        tags = {row[column] for row in rows}
        types = {tag[2:] for tag in tags} - {""}
        # After a part of speech, a column of O alone has the place of the chunks.
        are_chunks = types <= _CHUNKS if types else columns > 3
        if all(map(_TAG.fullmatch, tags)) and not are_chunks:
            problem = (
                f"columns {column + 1} and {len(rows[0])} both hold tags, of which one may be a prediction or an inner "
                "layer: keep the tokens and the annotated tags (cut -f1,2)"
            )
            raise FormatError(problem, path=path, line=first)


def _is_numbered(sentence: _Lines) -> bool:
    """True if the first column counts: 1, 2, 3; 1-2, 1, 2 (CoNLL-U, whose ranges are no rows); or 7-1, 7-2."""
    matches = [match for row in sentence.rows if (match := _ROW_NUMBER.fullmatch(row[0]))]
    plain = [match for match in matches if match[1] is None]
    numbers = [int(match[2]) for match in plain or matches]
    return len(matches) == len(sentence.rows) and all(after == before + 1 for before, after in pairwise(numbers))


def _document(part: _Part, source: str) -> Document:
    lines = part.sentences
    # A line end between two sentences is one character, as the space between two words is.
    note = Sentence.from_words([word for sentence in lines for word in sentence.words]).tokens
    sentences: list[Sentence] = []
    spans: list[Span] = []
    begin = 0
    for row, line in enumerate(lines):
        tokens = note[begin : begin + len(line.rows)]
        sentence = Sentence(tokens, line=row, line_count=len(lines), note=note, note_start=begin)
        spans += bio.decode(sentence, _iob2(line.tags))
        sentences.append(sentence)
        begin += len(tokens)
    text = "\n".join(" ".join(sentence.words) for sentence in lines)
    columns = max((len(row) for sentence in lines for row in sentence.rows), default=0)
    unread = tuple(f"column {number}" for number in range(2, columns))
    return Document(part.id, text, tuple(spans), tuple(sentences), unread=unread, source=source)


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

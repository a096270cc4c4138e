"""Helpers of the corpus formats: files, documents, pairing by id, exported keys, UTF-16 offsets.

Messages name the source of a document and not its id, which can be PHI.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path, PurePosixPath
from types import MappingProxyType, NoneType
from typing import Any

from crfdeid.documents import Document, Span, lone_surrogate, text_digest
from crfdeid.errors import (
    EncodingError,
    FormatError,
    IntegrityError,
    MismatchError,
    NotFoundError,
    ReadError,
    SpanError,
    located,
    shorten_list,
)
from crfdeid.known_phi.patients import patient_name
from crfdeid.utils.files import BYTE_ORDER_MARK, read_text, relative_name, require_file
from crfdeid.utils.json import NOT_A_LINE, parse_json

# Parts of a path that Windows reserves, or reads as another name.
_NOT_ON_WINDOWS = re.compile(r'[<>:"|?*]|[. ]$|^(aux|con|nul|prn|com\d|lpt\d)(\.|$)', re.ASCII | re.IGNORECASE)
# Files of a published corpus that hold no data.
_COMPANION_STEMS = {"readme", "license", "licence", "citation", "changelog"}


def find_files(path: Path, *suffixes: str) -> list[Path]:
    """The data files of a corpus, sorted: the path itself, or the files of a folder and its subfolders.

    Hidden files and folders (``.DS_Store``, ``._note.txt``, ``.git``) are left out.

    Args:
        path: a file or a folder.
        suffixes: the endings to take, such as ".xml"; none given means every file but a README, licence and the like.

    Raises:
        DataError: a folder cannot be read, or contains a pipe, a broken link or the like: part of the corpus
            would be missing.
    """
    try:
        require_file(path)
        files = [path] if path.is_file() else sorted(_files_below(path))
    except OSError as error:
        raise ReadError(f"cannot be read: {error.strerror}", path=path) from None
    if files == [path]:
        return files
    if suffixes:
        return [file for file in files if file.suffix.lower() in suffixes]
    return [file for file in files if file.stem.lower() not in _COMPANION_STEMS]


def _files_below(folder: Path) -> Iterator[Path]:
    for entry in folder.iterdir():
        if entry.name.startswith("."):
            continue
        if entry.is_file():
            yield entry
        elif entry.is_symlink():
            raise NotFoundError("a broken link: remove it, or replace it by its target", path=entry)
        elif entry.is_dir():
            yield from _files_below(entry)
        else:
            require_file(entry)


def relative_stem(file: Path, root: Path) -> str:
    """`relative_name` without the suffix: the id of a document that is a file."""
    return relative_name(file, root).removesuffix(file.suffix)


def json_lines(file: Path) -> Iterator[tuple[int, Any]]:
    """The number and JSON value of each line of a file that is not empty.

    Raises:
        DataError: a line is not JSON, or an object in it has a key twice.
    """
    # Not splitlines(): a JSON string may hold U+2028 and its like unescaped.
    for number, line in enumerate(read_text(file).split("\n"), start=1):
        if line.strip():
            yield number, parse_json(line, path=file, line=number, otherwise=NOT_A_LINE)


PATIENT_KEY = "patient"


def record_patient(record: Mapping[str, Any], column: str | None) -> str | None:
    """The patient of a JSON record: "" for none, and None if the record does not say, so that the folder does.

    Args:
        record: the record.
        column: its key with the patient; None for `PATIENT_KEY`, if that holds a text or a number.

    Raises:
        FormatError: the value is neither.
    """
    if column is not None:
        return patient_name(record.get(column)) or ""
    value = record.get(PATIENT_KEY, {})
    return patient_name(value) or "" if isinstance(value, (str, int, float, NoneType)) else None


def read_json_lines(
    path: Path,
    suffixes: Iterable[str],
    parse: Callable[[Any, Path, int], Document | None],
    *,
    patient_column: str | None = None,
) -> list[Document]:
    """The documents of a file of JSON Lines, or of all such files of a folder, in order; errors name file and line.

    Args:
        path: the file or folder.
        suffixes: the endings of the files in a folder.
        parse: the document of a line, from its JSON value, its file and its number; None for a line to leave out.
        patient_column: as of `record_patient`.
    """
    documents = []
    for file in find_files(path, *suffixes):
        for number, record in json_lines(file):
            with located(file, number):
                _require_accepted(record)
                document = parse(record, file, number)
                patient = record_patient(record, patient_column)
            if document is not None:
                documents.append(document if patient is None else replace(document, patient=patient))
    return documents


def _require_accepted(record: Any) -> None:
    """Refuse an example that a reader of Prodigy rejected or ignored: its spans are no annotation."""
    answer = record.get("answer") if isinstance(record, dict) else None
    if answer in ("reject", "ignore"):
        raise FormatError(f'"answer": "{answer}", so that its spans are no annotation: leave the line out')


def parse_lines(path: Path, parse: Callable[[str], Span], *, ignored: tuple[str, ...] = ()) -> list[Span]:
    """The spans of a file with one in each line; errors name file and line.

    Args:
        path: the file.
        parse: the span of a line.
        ignored: beginnings of lines without a span; so are blank lines.
    """
    spans = []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip() and not line.startswith(ignored):
            with located(path, number):
                spans.append(parse(line))
    return spans


def build_document(
    document_id: str,
    text: str,
    spans: Sequence[Span] | None,
    *,
    path: Path | str,
    line: int | None = None,
    layers: Mapping[str, tuple[Span, ...]] = MappingProxyType({}),
    unread: Iterable[str] = (),
) -> Document:
    """A document whose errors name its file and line.

    Args:
        document_id: its id.
        text: its text.
        spans: its PHI; None for a document without annotation of PHI.
        path: the file.
        line: its line there.
        layers: further annotation layers.
        unread: columns and layers of the file that are not read; duplicates are left out.

    Raises:
        DataError: a span is empty or reaches outside the text, or a text holds a lone surrogate.
    """
    source = str(path) if line is None else f"{path}, line {line}"
    with located(path, line):
        document = Document(
            document_id,
            text,
            tuple(spans or ()),
            layers=layers,
            phi_annotated=spans is not None,
            unread=tuple(dict.fromkeys(unread)),
            source=source,
        )
        require_characters(document)
    return document


def require_characters(document: Document) -> None:
    """Refuse a lone surrogate, which fits no file.

    Raises:
        DataError: the text, the id or a label holds one.
    """
    labels = (span.label for spans in (document.spans, *document.layers.values()) for span in spans)
    for value in (document.text, document.id, *document.layers, *labels):
        offset = lone_surrogate(value)
        if offset is not None:
            raise EncodingError(
                f"a lone surrogate ({value[offset]!r}), which is no Unicode character: remove or replace it",
                path=document.source,
                offset=offset,
            )


def document_file(folder: Path, document: Document, suffix: str) -> Path:
    """Path of a document's file: its id below the folder, never outside it and never hidden.

    Raises:
        DataError: the id cannot be a file's name.
    """
    name = PurePosixPath(document.id)
    hidden = any(part.startswith(".") for part in name.parts)  # ".." among them
    plain = document.id == name.as_posix() and not name.is_absolute() and not hidden
    if sys.platform == "win32":  # A colon would hide the text: it names a second stream of a file.
        plain = plain and not any(map(_NOT_ON_WINDOWS.search, name.parts))
    if not name.parts or not plain or "\\" in document.id or not document.id.isprintable():
        raise FormatError(
            "its id cannot be a file's name below a folder, in plain characters: rename the document",
            path=document.source,
        )
    return folder / f"{document.id}{suffix}"


def pair_by_id(
    first: Sequence[Document], second: Sequence[Document], *, sides: tuple[str, str], remedy: str
) -> list[tuple[Document, Document]]:
    """Pairs of documents with the same id.

    Args:
        first: documents with unique ids; the pairs are in their order.
        second: likewise.
        sides: the names of the two in messages.
        remedy: the remedy in messages.

    Raises:
        DataError: a document is missing on one side.
    """
    others = {document.id: document for document in second}
    ids = {document.id for document in first}
    lacking = (
        (sides[1], [document.source for document in first if document.id not in others]),
        (sides[0], [document.source for document in second if document.id not in ids]),
    )
    missing = [f"missing in {side}: {shorten_list(sources, between='; ')}" for side, sources in lacking if sources]
    if missing:
        raise MismatchError(f"{'. '.join(missing)}: {remedy}")
    return [(document, others[document.id]) for document in first]


def same_notes(
    first: Sequence[Document], second: Sequence[Document], *, sides: tuple[str, str], doing: str
) -> dict[str, list[Span]]:
    """The spans of the second side for each document of the first, by id; both sides need the same documents.

    Args:
        first: documents with unique ids.
        second: likewise.
        sides: the names of the two in messages.
        doing: the verb in messages, such as "score".

    Raises:
        DataError: a document is missing on one side (skipped, it would count as perfect), or its text differs.
    """
    remedy = f"{doing} the same notes on both sides, under the same ids, those without findings too"
    problem = (
        f"the text is not that of the note of {sides[0]} from here on: {doing} what was marked in the same notes, in a "
        "format that keeps the text (column formats do not)"
    )
    pairs = pair_by_id(first, second, sides=sides, remedy=remedy)
    return {document.id: spans_in(document, other, problem=problem) for document, other in pairs}


def spans_in(document: Document, other: Document, *, problem: str) -> list[Span]:
    """The spans of another reading of a document, as offsets in this one's text.

    Some formats count a file's byte-order mark, others drop it: no other difference is allowed.

    Args:
        document: the document.
        other: the same document, read from elsewhere.
        problem: the message for texts that differ.

    Raises:
        DataError: the texts differ; the error has the offset in ``document``.

    Example:
        >>> read, found = Document("1", "\\ufeffDoe"), Document("1", "Doe", (Span(0, 3, "DOCTOR"),))
        >>> spans_in(read, found, problem="the texts differ")
        [Span(start=1, end=4, label='DOCTOR')]
    """
    here, there = (text.removeprefix(BYTE_ORDER_MARK) for text in (document.text, other.text))
    mark = len(document.text) - len(here)
    if here != there:
        differing = (i for i, (a, b) in enumerate(zip(here, there, strict=False)) if a != b)
        offset = mark + next(differing, min(len(here), len(there)))
        raise MismatchError(problem, path=document.source, offset=offset)
    shift = mark - (len(other.text) - len(there))
    moved = ((max(start + shift, 0), end + shift, label) for start, end, label in other.spans)
    return [Span(*span) for span in moved if span[1] > 0]


NOTE_KEY, DIGEST_KEY = "note", "sha256"


def exported_keys(document: Document) -> dict[str, str]:
    """The id, the digest and any patient of a document, as keys that annotation tools pass through."""
    patient = {} if document.patient is None else {PATIENT_KEY: document.patient}
    return {NOTE_KEY: document.id, DIGEST_KEY: text_digest(document.text), **patient}


def require_unaltered(record: Mapping[str, Any], text: str, *, path: Path, line: int | None = None) -> None:
    """Refuse a text whose digest is not that of the exported text; a record without a digest passes.

    Raises:
        DataError: the text was altered.
    """
    if DIGEST_KEY in record and record[DIGEST_KEY] != text_digest(text):
        raise IntegrityError(
            "the text is not the one that was exported: the tool altered it, so that no offset can be trusted",
            path=path,
            line=line,
        )


_PLACEHOLDERS = {"null", "none", "nil", "nan", "undefined", "n/a", "_"}


def is_placeholder(label: str) -> bool:
    """True for a type such as ``null`` that a program writes where there is none.

    Example:
        >>> is_placeholder("null"), is_placeholder("NAME")
        (True, False)
    """
    return label.lower() in _PLACEHOLDERS


def placeholder_error(
    label: str, *, path: Path | str, line: int | None = None, offset: int | None = None
) -> FormatError:
    """The error for a span with such a type."""
    problem = f"the type '{label}' is a placeholder: correct the type, or remove the span"
    return FormatError(problem, path=path, line=line, offset=offset)


def squeezed(text: str) -> str:
    """A text without white space, to compare covered texts, where tools fold or drop it."""
    return "".join(text.split())


_LAST_OF_ONE = "\uffff"  # all characters up to it are one unit in UTF-16, those above two


class Utf16:
    """A text's offsets in code points and in UTF-16 code units.

    Args:
        text: the text.

    Example:
        >>> both = Utf16("a\\U0001f60ab")
        >>> both.units(2), both.points(3)
        (3, 2)
    """

    def __init__(self, text: str) -> None:
        self._starts = list(accumulate((1 + (character > _LAST_OF_ONE) for character in text), initial=0))

    def units(self, point: int) -> int:
        """The offset in UTF-16 code units of an offset in code points."""
        return self._starts[point]

    def points(self, unit: int) -> int:
        """The offset in code points of an offset in UTF-16 code units.

        Raises:
            SpanError: it is outside the text, or within a character.
        """
        if not 0 <= unit <= self._starts[-1]:
            raise SpanError(f"an offset of {unit} in a text of {self._starts[-1]} UTF-16 code units")
        point = bisect_left(self._starts, unit)
        if self._starts[point] != unit:
            raise SpanError(f"the offset {unit} lies within a character: offsets are to count UTF-16 code units")
        return point

    def span(self, start: int, end: int, label: str) -> Span:
        """A span from offsets in UTF-16 code units."""
        return Span(self.points(start), self.points(end), label)

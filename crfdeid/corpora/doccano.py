"""doccano's JSON Lines: {"text": "Seen 3/14", "label": [[5, 9, "DATE"]]} a line, with the keys of the imported line.

Offsets count UTF-16 code units, as doccano's editor does (doccano issue 2290), unless the project counts grapheme
clusters. The format does not record that option: leave it off. The export of a project with relations has "entities"
instead of "label", objects with "start_offset", which are read. "entities" as lists, [5, 9, "DATE"], are spaCy's: their
offsets count code points.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from crfdeid.corpora import tab
from crfdeid.corpora.common import (
    NOTE_KEY,
    Utf16,
    build_document,
    exported_keys,
    read_json_lines,
    require_unaltered,
)
from crfdeid.documents import Document, Span
from crfdeid.errors import FormatError
from crfdeid.utils.files import read_head

SUFFIXES: tuple[str, ...] = (".jsonl", ".ndjson")
_SPACY = "entities"
_LABELS = ("label", "labels", _SPACY)
_OURS = ("spans", "layers")


def looks_like(file: Path) -> bool:
    """True for a file whose first line begins with keys of doccano's records."""
    if tab.looks_like(file):
        return False
    head = read_head(file).split("\n")[0]
    try:
        record = json.loads(head)
    except (ValueError, RecursionError):  # a line longer than the part that was read
        keys = [key for key in (*_LABELS, *_OURS) if f'"{key}": ' in head or f'"{key}":' in head]
        return bool(keys) and keys[0] in _LABELS and not set(keys).intersection(_OURS)
    return isinstance(record, dict) and not record.keys() & set(_OURS) and bool(record.keys() & set(_LABELS))


def read(path: Path, *, patient_column: str | None = None) -> list[Document]:
    """The documents of a file, or of every ``.jsonl`` file of a folder, in order; patients as of `record_patient`.

    Raises:
        DataError: a line is not such a record, an offset is none of its text, or its text is not the exported one.
    """
    return read_json_lines(path, SUFFIXES, _document, patient_column=patient_column)


def _document(record: Any, path: Path, number: int) -> Document:
    keys = [key for key in _LABELS if key in record] if isinstance(record, dict) else []
    if len(keys) > 1:
        raise FormatError(f'"{keys[0]}" and "{keys[1]}", which both list labels: leave one out')
    labels = record[keys[0]] if keys else None
    if not isinstance(labels, list) or not isinstance(record.get("text"), str):
        raise FormatError(
            'expected {"text": text, "label": [[start, end, type]]} ("label": [] says that nothing is marked)'
        )
    text, offsets = record["text"], Utf16(record["text"])
    require_unaltered(record, text, path=path, line=number)
    spans = [_span(entry, offsets, is_spacy=keys == [_SPACY]) for entry in labels]
    name, unread = str(record.get(NOTE_KEY, record.get("id", number))), ("relations",) * bool(record.get("relations"))
    return build_document(name, text, spans, path=path, line=number, unread=unread)


def _span(entry: Any, offsets: Utf16, *, is_spacy: bool) -> Span:
    match entry:
        case [int(start), int(end), str(label)] if is_spacy and label and type(start) is type(end) is int:
            return Span(start, end, label)
        case [int(start), int(end), str(label)] | {
            "start_offset": int(start),
            "end_offset": int(end),
            "label": str(label),
        }:
            if label and type(start) is type(end) is int:  # true is no offset
                return offsets.span(start, end, label)
    raise FormatError("expected a label as [start, end, type]")


def to_files(documents: Sequence[Document], path: Path) -> dict[Path, str]:
    """One file of all documents, one per line."""
    return {path: "".join(map(to_line, documents))}


def to_line(document: Document) -> str:
    """A document as a line that doccano imports, with its spans as labels to correct."""
    offsets = Utf16(document.text)
    labels = [[offsets.units(start), offsets.units(end), label] for start, end, label in document.spans]
    record = {"text": document.text, "label": labels, **exported_keys(document)}
    return json.dumps(record, ensure_ascii=False) + "\n"

"""Spans that other tools write for notes: read to be scored, next to the notes that they belong to.

=================  =============================================================  =====================
tool               record of a note                                               a span's type
=================  =============================================================  =====================
presidio           list of `RecognizerResult.to_dict`, or {"results": [...]}      "entity_type"
transformers       list of a token-classification pipeline, or {"entities": []}   "entity_group", "entity"
spacy              `Doc.to_json`, or a file of a `DocBin` (.spacy)                "label"
privacy-filter     {"text": ..., "detected_spans": [...]}                         "label"
spans              {KEY: [...]}, whatever the key                                 any of these
=================  =============================================================  =====================

A file of JSON Lines has a record a line, and a file of JSON one record, a list of records, or an object of records by
the note's id. A record belongs to the note of its id, else of its text, else of its place among all records, which then
need the number of the notes. Offsets count code points.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from crfdeid.corpora.common import build_document, find_files, json_lines, relative_stem
from crfdeid.documents import Document, Span
from crfdeid.errors import FormatError, MismatchError, located
from crfdeid.utils.files import read_text
from crfdeid.utils.json import parse_json


class Tool(NamedTuple):
    """Keys of a tool.

    Attributes:
        spans: those of a record under which its spans are.
        label: those of a span under which its type is.
    """

    spans: tuple[str, ...]
    label: tuple[str, ...]


TOOLS: Mapping[str, Tool] = {
    "presidio": Tool(("results", "analyzer_results"), ("entity_type",)),
    "transformers": Tool(("entities", "predictions"), ("entity_group", "entity")),
    "spacy": Tool(("ents",), ("label",)),
    "privacy-filter": Tool(("detected_spans",), ("label",)),
    "spans": Tool(("spans", "entities"), ("label", "type", "entity_type", "entity_group", "entity")),
}
_SUFFIXES = (".json", ".jsonl", ".ndjson", ".spacy")
_ID_KEYS = ("id", "note_id", "doc_id")
_OFFSETS = (("start", "end"), ("begin", "end"), ("start_offset", "end_offset"), ("start_char", "end_char"))
_POSITION = re.compile(r"(?P<position>[BIES])-(?P<label>.+)", re.DOTALL)  # of a token in its span


class _Record(NamedTuple):
    """A note's spans as a tool wrote them.

    Attributes:
        content: the record.
        path: its file.
        line: its line, or None.
        id: the note's id; None if the file does not say.
    """

    content: Any
    path: Path
    line: int | None
    id: str | None


def read_tool_output(
    path: Path, notes: Sequence[Document], *, tool: str, spans_key: str | None = None
) -> list[Document]:
    """The notes with the spans that a tool found in them, in the order of its records.

    Args:
        path: a file, or a folder of them.
        notes: the notes that it read, with unique ids.
        tool: one of `TOOLS`.
        spans_key: key of a record under which its spans are; None for the tool's.

    Raises:
        DataError: a record has another form, belongs to no note or to a note twice, or a span has no place in its note.
    """
    keys = TOOLS[tool] if spans_key is None else TOOLS[tool]._replace(spans=(spans_key,))
    records = [record for file in find_files(path, *_SUFFIXES) for record in _records(file, path, keys)]
    by_id, by_text = {note.id: note for note in notes}, {note.text: note for note in notes}
    found: dict[str, Document] = {}
    for place, record in enumerate(records):
        with located(record.path, record.line):
            text, entries = _parts(record.content, keys)
            if record.id is not None:
                note = by_id.get(record.id)
            elif text is not None:
                note = by_text.get(text)
            else:
                note = notes[place] if len(records) == len(notes) else None
            if note is None or note.id in found:
                problem = "a note of NOTES has two records" if note is not None else "no note of NOTES has this record"
                raise MismatchError(f'{problem}: give each record the "id" or the "text" of its note')
            text = note.text if text is None else text
            spans = _joined(text, [span for entry in entries for span in _spans(entry, text, keys)])
        found[note.id] = build_document(note.id, text, spans, path=record.path, line=record.line)
    return list(found.values())


def _records(file: Path, root: Path, keys: Tool) -> Iterator[_Record]:
    """The records of a file; of one that holds a single record, in a folder, the note's id is its name."""
    suffix = file.suffix.lower()
    if suffix == ".spacy":
        yield from (_Record(content, file, None, None) for content in _doc_bin(file))
        return
    if suffix != ".json":
        yield from (_Record(content, file, line, _id_of(content)) for line, content in json_lines(file))
        return
    content = parse_json(read_text(file), path=file, otherwise="not JSON")
    stem = relative_stem(file, root) if root.is_dir() else None
    if isinstance(content, dict):
        if any(key in content for key in keys.spans):
            yield _Record(content, file, None, _id_of(content) or stem)
        else:
            yield from (_Record(one, file, None, name) for name, one in content.items())
    elif not isinstance(content, list):
        raise FormatError("expected a list or an object of records", path=file)
    elif all(map(_is_span, content)) if content else stem is not None:
        yield _Record(content, file, None, stem)
    else:
        yield from (_Record(one, file, None, _id_of(one)) for one in content)


def _doc_bin(file: Path) -> Iterator[dict[str, Any]]:
    """The documents of a `DocBin` as records; their user data may name the note as "id"."""
    import spacy  # noqa: PLC0415  It is needed for such files alone.
    from spacy.tokens import DocBin  # noqa: PLC0415

    try:
        documents = list(DocBin().from_disk(file).get_docs(spacy.blank("xx").vocab))
    except Exception:  # of zlib, msgpack or spaCy; its message may quote the text
        raise FormatError(f"not a DocBin of spaCy {spacy.__version__}: write it again", path=file) from None
    for document in documents:
        ents = [{"start": one.start_char, "end": one.end_char, "label": one.label_} for one in document.ents]
        yield {"text": document.text, "ents": ents}


def _id_of(content: Any) -> str | None:
    if not isinstance(content, dict):
        return None
    found = next((content[key] for key in _ID_KEYS if isinstance(content.get(key), str | int)), None)
    return None if found is None else str(found)


def _is_span(entry: Any) -> bool:
    return isinstance(entry, dict) and any(start in entry for start, _ in _OFFSETS)


def _parts(content: Any, keys: Tool) -> tuple[str | None, list[Any]]:
    """The text of a record, if it has one, and its spans."""
    entries, text = content, None
    if isinstance(content, dict):
        entries = next((content[key] for key in keys.spans if key in content), None)
        text = content.get("text")
    if not isinstance(entries, list) or not isinstance(text, str | None):
        raise FormatError(f'expected a list of spans, or an object with one under "{keys.spans[0]}" (--spans-key)')
    return text, entries


def _spans(entry: Any, text: str, keys: Tool) -> Iterator[Span]:
    """The span of an entry; none for a token outside every span."""
    problem = 'expected a span with "start" and "end", numbers, and a type'
    if isinstance(entry, list) and len(entry) == 3:
        start, end, label = entry
    elif isinstance(entry, dict):
        pairs = ((entry.get(first), entry.get(last)) for first, last in _OFFSETS if first in entry)
        start, end = next(pairs, (None, None))
        label = next((entry[key] for key in keys.label if key in entry), None)
        own = entry.get("text")
        if isinstance(own, str) and type(start) is type(end) is int and text[start:end] != own:
            raise FormatError(
                "the span's text is not that of its offsets, which are to count code points", offset=start
            )
    else:
        raise FormatError(problem)
    if not (type(start) is type(end) is int and isinstance(label, str) and label):
        raise FormatError(f"{problem} under {' or '.join(keys.label)}; of transformers, use a fast tokenizer")
    if label != "O":
        yield Span(start, end, label)


def _joined(text: str, spans: Sequence[Span]) -> list[Span]:
    """The spans, where they are tokens with a position ("B-PER", "I-PER") those of the entities."""
    parsed = [(span, _POSITION.fullmatch(span.label)) for span in spans]
    if not all(position for _, position in parsed):
        return list(spans)
    found: list[Span] = []
    for span, position in sorted(parsed, key=lambda pair: pair[0]):
        one = span._replace(label=position["label"]) if position else span
        inside = position is not None and position["position"] in "IE"
        if found and inside and found[-1].label == one.label and not text[found[-1].end : one.start].strip():
            one = found.pop()._replace(end=one.end)
        found.append(one)
    return found

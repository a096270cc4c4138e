"""Text Anonymization Benchmark: one document a line, with the mentions of its entities.

{"id": "1", "text": "Ann Quill, a baker", "entities": [{"start_offset": 0, "end_offset": 9, "entity_type": "PERSON",
"identifier_type": "DIRECT", "entity_id": "1_e1", "span_text": "Ann Quill"}, ...]}

Direct and quasi-identifiers are PHI; mentions of the type NO_MASK are in `Document.mentions` alone. Offsets count code
points, mentions may overlap, and other keys are ignored.

Reference:
    I. Pilán, P. Lison, L. Øvrelid, A. Papadopoulou, D. Sánchez, M. Batet: The Text Anonymization Benchmark (TAB): A
    Dedicated Corpus and Evaluation Framework for Text Anonymization. Computational Linguistics 48(4), 2022.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from crfdeid.corpora.common import build_document, read_json_lines
from crfdeid.documents import DIRECT, NO_MASK, QUASI, Document, Mention, Span
from crfdeid.errors import FormatError, SpanError
from crfdeid.utils.files import open_file

SUFFIXES: tuple[str, ...] = (".jsonl", ".ndjson")
_IDENTIFIERS = (DIRECT, QUASI, NO_MASK)


def looks_like(file: Path) -> bool:
    """True for a file whose first line has mentions with identifier types."""
    try:
        with open_file(file) as stream:
            first = json.loads(stream.readline())
    except (OSError, ValueError, RecursionError):
        return False
    entities = first.get("entities") if isinstance(first, dict) else None
    return isinstance(entities, list) and any(isinstance(one, dict) and "identifier_type" in one for one in entities)


def read(path: Path, *, patient_column: str | None = None) -> list[Document]:
    """The documents of a file, or of every ``.jsonl`` file of a folder, in order; patients as of `record_patient`.

    Raises:
        DataError: a line is not such a document, or a mention's text is not the text at its offsets.
    """
    return read_json_lines(path, SUFFIXES, _document, patient_column=patient_column)


def _document(record: Any, path: Path, number: int) -> Document:
    match record:
        case {"id": str() | int() as identity, "text": str(text), "entities": list(entities)}:
            pass
        case _:
            raise FormatError('expected {"id": text, "text": text, "entities": [...]}')
    mentions = [_mention(entry, text) for entry in entities]
    masked = [mention.span for mention in mentions if mention.identifier != NO_MASK]
    document = build_document(str(identity), text, list(dict.fromkeys(masked)), path=path, line=number)
    return replace(document, mentions=tuple(mentions))


def _mention(entry: Any, text: str) -> Mention:
    match entry:
        case {
            "start_offset": int(start),
            "end_offset": int(end),
            "entity_type": str(label),
            "identifier_type": str(identifier),
            "entity_id": str() | int() as entity,
            **rest,
        } if label and identifier in _IDENTIFIERS and type(start) is type(end) is int:
            pass
        case _:
            keys = "start_offset, end_offset, entity_type, entity_id"
            raise FormatError(f"expected a mention with {keys} and identifier_type: {', '.join(_IDENTIFIERS)}")
    if not 0 <= start < end <= len(text) or rest.get("span_text", text[start:end]) != text[start:end]:
        raise SpanError("a mention's text is not the text at its offsets: they count Unicode characters", offset=start)
    return Mention(Span(start, end, label), str(entity), identifier)


def to_files(documents: Sequence[Document], path: Path) -> dict[Path, str]:
    """One file of all documents; PHI that is no mention is a quasi-identifier, one entity for each value."""
    lines = (
        {"id": document.id, "text": document.text, "entities": list(_entities(document))} for document in documents
    )
    return {path: "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)}


def _entities(document: Document) -> Iterator[dict[str, Any]]:
    known = {mention.span for mention in document.mentions}
    values = list(dict.fromkeys(document.text[span.start : span.end] for span in document.spans))
    new = [
        Mention(span, f"{document.id}_value{values.index(document.text[span.start : span.end]) + 1}", QUASI)
        for span in document.spans
        if span not in known
    ]
    for (start, end, label), entity, identifier in sorted((*document.mentions, *new)):
        yield {
            "start_offset": start,
            "end_offset": end,
            "span_text": document.text[start:end],
            "entity_type": label,
            "identifier_type": identifier,
            "entity_id": entity,
        }

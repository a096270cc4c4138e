"""JSON Lines: one document per line, as an object with "id", "text" and "spans"; most other keys are ignored.

{"id": "n1", "text": "Seen 3/14", "spans": [{"start": 5, "end": 9, "label": "DATE"}]}

A text or number under "patient", or another key that the reader names, is the document's patient.
A span that a model marked also has its "source" and its "score", a number or null (`crfdeid.documents.Evidence`).
Further annotation layers are in "layers": {"concept": [...]}, which may hold PHI too, as "phi" instead of "spans".
Without either, a document has no annotation of PHI. Marks of ``crfdeid review page`` are such lines too; a note that
its reader did not read to its end is left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from crfdeid.corpora import doccano, tab
from crfdeid.corpora.common import PATIENT_KEY, build_document, read_json_lines
from crfdeid.documents import PHI, Document, Evidence, Span
from crfdeid.errors import FormatError

SUFFIXES: tuple[str, ...] = (".jsonl", ".ndjson")


def looks_like(file: Path) -> bool:
    """True for a file that is neither doccano's nor the Text Anonymization Benchmark's."""
    return not (doccano.looks_like(file) or tab.looks_like(file))


def read(path: Path, *, patient_column: str | None = None) -> list[Document]:
    """The documents of a file, or of every ``.jsonl`` file of a folder, in order; patients as of `record_patient`.

    Raises:
        DataError: a line is not JSON, or not such a document.
    """
    return read_json_lines(path, SUFFIXES, _document, patient_column=patient_column)


def _document(record: Any, path: Path, number: int) -> Document | None:
    match record:
        case {"marks": int(), "replaced": str(), "read": False}:
            return None
        case {"id": str() | int() as identity, "text": str(text), **rest} if "spans" in rest or "layers" in rest:
            layers = _layers(rest)
        case _:
            raise FormatError(
                'expected {"id": text, "text": text, "spans": [...]} ("spans": [] says that nothing is marked)'
            )
    phi = layers.pop(PHI, None)
    document = build_document(str(identity), text, phi, path=path, line=number, layers=layers)
    entries: Any = rest.get("spans", ())
    evidence = {_span(entry): source for entry in entries if (source := _evidence(entry)) is not None}
    return replace(document, evidence=evidence) if evidence else document


def _layers(record: Mapping[Any, Any]) -> dict[str, tuple[Span, ...]]:
    """The spans of each annotation layer; those of PHI are ``spans``, or a layer like the others."""
    further = record.get("layers", {})
    phi = {PHI: record["spans"]} if "spans" in record else {}
    lists = [*further.values(), *phi.values()] if isinstance(further, dict) else [None]
    if not all(isinstance(entries, list) for entries in lists):
        raise FormatError('expected "spans" as a list, and "layers", where there are any, as {"concept": [...]}')
    if PHI in further and phi:
        raise FormatError('PHI is given twice, as "spans" and in "layers": leave one out')
    return {name: tuple(map(_span, entries)) for name, entries in {**phi, **further}.items()}


def _span(entry: Any) -> Span:
    match entry:
        case {"start": int(start), "end": int(end), "label": str(label)} if label and type(start) is type(end) is int:
            return Span(start, end, label)
    raise FormatError('expected a span as {"start": number, "end": number, "label": text}')


def _evidence(entry: Any) -> Evidence | None:
    match entry:
        case {"source": str(source), "score": None | float() | int() as score}:
            return Evidence(source, score)
    return None


def to_files(documents: Sequence[Document], path: Path) -> dict[Path, str]:
    """One file of all documents, one per line."""
    return {path: "".join(map(to_line, documents))}


def to_line(document: Document) -> str:
    """A document as a line of such a file."""
    layers = {name: [span._asdict() for span in document.layer(name)] for name in document.annotated}
    for name, entries in layers.items():
        for span, entry in zip(document.layer(name), entries, strict=True):
            if span in document.evidence:
                entry.update(document.evidence[span].as_json())
    phi = {"spans": layers.pop(PHI)} if PHI in layers else {}
    patient = {} if document.patient is None else {PATIENT_KEY: document.patient}
    record = {"id": document.id, **patient, "text": document.text, **phi, **({"layers": layers} if layers else {})}
    return json.dumps(record, ensure_ascii=False) + "\n"

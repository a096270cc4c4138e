"""Writers of annotations: the formats of ``crfdeid tag``, and the concepts of redacted notes in a sidecar file.

With several annotation layers, JSON Lines holds all of them; in any other format each layer has its own folder, which
is a corpus by itself.

The concepts of redacted notes are written to one sidecar file for each input file, in the run state, so that a resumed
run finds them; the end of the run joins them. Their offsets are those of the redacted texts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from crfdeid.corpora import CORPUS_FORMATS, doccano, formats_where, jsonl, label_studio
from crfdeid.corpora.layers import select_layer
from crfdeid.documents import CONCEPT, PHI, Document, Span
from crfdeid.io import sources
from crfdeid.io.journal import SIDECARS
from crfdeid.io.records import Columns, NoteFile, Record, Writer
from crfdeid.io.runner import OutputPlan
from crfdeid.utils.files import open_owner_file, split_suffix, write_files, write_parts

# Format -> endings of the outputs for an input file, the one with the text first.
TAG_ENDINGS = {name: CORPUS_FORMATS[name].endings for name in formats_where(lambda format: format.tagged)}
TAG_ENDINGS["transformers"] = (".json",)
TABLE_FORMATS = formats_where(lambda format: format.tagged and format.records)
"""Formats whose files can hold several notes, as tables do."""
_LAYERED = formats_where(lambda format: format.tagged and format.layered)
_LAYER_FOLDERS = {PHI: "phi", CONCEPT: "concepts"}
SIDECAR_SUFFIX = ".jsonl"


def target_names(file: NoteFile, format: str, layers: Sequence[str] = (PHI,)) -> list[str]:
    """Names of the outputs for an input file, layer by layer."""
    stem = split_suffix(file.result_name)[0]
    separate = format not in _LAYERED and len(layers) > 1
    stems = [f"{_LAYER_FOLDERS[layer]}/{stem}" for layer in layers] if separate else [stem]
    return [stem + ending for stem in stems for ending in TAG_ENDINGS[format]]


def tag_writer(
    targets: Sequence[Path], format: str, layers: Sequence[str] = (PHI,), *, model: str = "", for_test: bool = False
) -> Writer:
    """Open a writer for the documents of one input file.

    Args:
        targets: the files to write, in the order of `target_names`.
        format: one of `TABLE_FORMATS` for a file with several notes, a key of `TAG_ENDINGS` for one.
        layers: the annotation layers of the documents.
        model: name of the model, for formats that have a field for it.
        for_test: leave out the model's spans.
    """
    if format == "jsonl":
        return LinesWriter(targets[0])
    texts = targets[:: len(TAG_ENDINGS[format])]
    writers = [_layer_writer(text, format, model) for text in texts]
    return MultiWriter([LayerWriter(writer, layer, for_test) for writer, layer in zip(writers, layers, strict=True)])


def _layer_writer(target: Path, format: str, model: str) -> Writer:
    if format == "doccano":
        return LinesWriter(target, doccano.to_line)
    if format == "label-studio":
        return TasksWriter(target, model)
    return _NoteWriter(target, format)


def sidecar_name(file: NoteFile) -> str:
    """Name of an input file's sidecar in the output folder: a hash, since a longer name could be too long."""
    return f"{SIDECARS}/{hashlib.sha256(file.result_name.encode()).hexdigest()[:32]}{SIDECAR_SUFFIX}"


def sidecar_plan(columns: Columns) -> OutputPlan:
    """Plan with an output of the same name and format, and a sidecar, for each input file."""

    def writer(file: NoteFile, paths: Sequence[Path]) -> Writer:
        text, sidecar = paths
        concepts = LinesWriter(sidecar, lambda document: jsonl.to_line(concepts_only(document)))
        return MultiWriter([sources.open_writer(file, text, columns), concepts])

    return OutputPlan(lambda file: [sources.target_name(file), sidecar_name(file)], writer, columns)


def concepts_only(document: Document) -> Document:
    """A redacted note with its concepts alone: spans of PHI would show which names are not surrogates.

    Example:
        >>> from crfdeid.documents import Span
        >>> layers = {"concept": (Span(13, 17, "DRUG"),)}
        >>> concepts_only(Document("1", "Dr. Roe gave zinc", (Span(4, 7, "DOCTOR"),), layers=layers)).annotated
        ('concept',)
    """
    return replace(document, spans=(), phi_annotated=False)


def write_concepts(file: Path, document: Document) -> None:
    """Write the sidecar of a single redacted note."""
    write_files({file: jsonl.to_line(concepts_only(document))})


def concat_sidecars(parts: Iterable[Path], file: Path) -> None:
    """Join the sidecars of a run into one file, which appears whole or not at all.

    Raises:
        DataError: it cannot be written.
    """

    def lines() -> Iterator[str]:
        for part in parts:
            with part.open(encoding="utf-8", newline="") as stream:
                yield from stream

    write_parts(file, lines())


class MultiWriter:
    """Writer of the same rows to several files, by a writer for each."""

    def __init__(self, writers: Sequence[Writer]) -> None:
        self._writers = writers

    def write(self, row: Record, document: Document | None) -> None:
        """Write a row to each file."""
        for writer in self._writers:
            writer.write(row, document)

    def close(self) -> None:
        """Finish all files, also those after one that fails."""
        with ExitStack() as last:
            for writer in self._writers:
                last.callback(writer.close)


class LayerWriter:
    """Writer of one annotation layer; `for_test` leaves out the model's spans."""

    def __init__(self, writer: Writer, layer: str, for_test: bool) -> None:
        self._writer, self._layer, self._for_test = writer, layer, for_test
        self.close = writer.close

    def write(self, row: Record, document: Document | None) -> None:
        """Write the layer of a document."""
        if document is not None:
            document = select_layer(document, self._layer)
            if self._for_test:
                document = replace(document, spans=(), phi_annotated=False)
        self._writer.write(row, document)


class LinesWriter:
    """Writer of one line a document.

    Args:
        target: the file.
        to_line: converts a document to its line; by default that of `crfdeid.corpora.jsonl`.
    """

    def __init__(self, target: Path, to_line: Callable[[Document], str] = jsonl.to_line) -> None:
        self._stream, self._to_line = TextIOWrapper(open_owner_file(target), "utf-8", newline=""), to_line
        self.close = self._stream.close

    def write(self, row: Record, document: Document | None) -> None:
        """Write the line of a document."""
        if document is not None:
            self._stream.write(self._to_line(document))


class TasksWriter:
    """Writer of a list of Label Studio's tasks, with the name of the model that found the PHI."""

    def __init__(self, target: Path, model: str) -> None:
        self._stream, self._model = TextIOWrapper(open_owner_file(target), "utf-8", newline=""), model
        self._before = "[\n"

    def write(self, row: Record, document: Document | None) -> None:
        """Write the task of a document."""
        if document is not None:
            task = label_studio.to_task(document, annotated=False, model=self._model, score=row.p_no_miss)
            self._stream.write(self._before + task)
            self._before = ",\n"

    def close(self) -> None:
        """Finish the list and the file."""
        with self._stream:
            self._stream.write("[]\n" if self._before == "[\n" else "\n]\n")


class _NoteWriter:
    """Writer of a single document, by its format's writer."""

    def __init__(self, target: Path, format: str) -> None:
        self._target, self._format = target, format

    def write(self, row: Record, document: Document | None) -> None:
        if document is not None:
            write_files(self._contents(document, mark=row.passthrough.before))

    def _contents(self, document: Document, *, mark: str) -> Mapping[Path, str | bytes]:
        """The files of a document; the offsets of two formats count the byte-order mark of its file."""
        if self._format == "transformers":
            return {self._target: json.dumps(_entities(document, len(mark)), ensure_ascii=False) + "\n"}
        if self._format == "brat":
            spans = tuple(Span(len(mark) + start, len(mark) + end, label) for start, end, label in document.spans)
            document = Document(document.id, mark + document.text, spans)
        format = CORPUS_FORMATS[self._format]
        if format.by_note:
            # The writer makes the file's name from the id: below the folder, this is the name alone.
            return format.to_files([replace(document, id=self._target.stem)], self._target.parent)
        return format.to_files([document], self._target)

    def close(self) -> None:
        """Do nothing: `write` has finished the file."""


def _entities(document: Document, shift: int) -> list[dict[str, Any]]:
    """The spans as transformers' pipelines return them; the score is 1 where nothing was measured."""
    scores = {span: evidence.as_json()["score"] for span, evidence in document.evidence.items()}
    return [
        {
            "entity_group": span.label,
            "score": 1.0 if scores.get(span) is None else scores[span],
            "word": document.text[span.start : span.end],
            "start": shift + span.start,
            "end": shift + span.end,
        }
        for span in document.spans
    ]

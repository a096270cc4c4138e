"""The concepts of redacted notes, kept beside them: one file for a whole run, whose offsets are those of the new texts.

What is kept of each input file is a result of it like the redacted file, under a name of its own in the output's hidden
folder, so that a run which goes on finds it. At the end of the run it is put together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from crfdeid.corpora import CORPUS_WRITERS, doccano, jsonl, label_studio
from crfdeid.corpora.layers import select_layer
from crfdeid.documents import CONCEPT, PHI, Document, Span
from crfdeid.io import sources
from crfdeid.io.journal import SIDECARS
from crfdeid.io.records import Columns, NoteFile, Record, Writer
from crfdeid.io.runner import OutputPlan
from crfdeid.utils.files import write_parts

# Format -> the endings of the files that stand for a file of notes, the one that holds its text first.
TAG_ENDINGS = {
    "brat": (".txt", ".ann"),
    "jsonl": (".jsonl",),
    "i2b2-2014": (".xml",),
    "conll": (".conll",),
    "label-studio": (".json",),
    "doccano": (".jsonl",),
    "xmi": (".xmi",),
}
MULTI_NOTE_FORMATS = ("jsonl", "label-studio", "doccano")
"""The formats whose files can hold several notes, as a table does."""
BLIND_FORMATS = ("brat", "label-studio", "doccano", "xmi")
"""The formats in which annotators can be given notes without what a model found."""
_FOLDERS = ("brat", "i2b2-2014", "xmi")
LAYER_FOLDERS = {PHI: "phi", CONCEPT: "concepts"}
"""Where each annotation layer goes, in a format that holds one."""


def target_names(file: NoteFile, format: str, layers: Sequence[str] = (PHI,)) -> list[str]:
    """The names of the files written for an input file: of several layers, those of each in their order."""
    stem = file.result_name.removesuffix(file.path.suffix)
    apart = format != "jsonl" and len(layers) > 1
    stems = [f"{LAYER_FOLDERS[layer]}/{stem}" for layer in layers] if apart else [stem]
    return [stem + ending for stem in stems for ending in TAG_ENDINGS[format]]


def tag_writer(
    targets: Sequence[Path],
    format: str,
    layers: Sequence[str] = (PHI,),
    *,
    model: str = "",
    for_test: bool = False,
) -> Writer:
    """What writes the documents of one input file.

    Args:
        targets: the files to write, in the order of `target_names`.
        format: one of `MULTI_NOTE_FORMATS` for a file with several notes, a key of `TAG_ENDINGS` for one.
        layers: the annotation layers that the documents have.
        model: what found them, for formats that say so.
        for_test: leave out what was found: the notes will be annotated to measure the model.
    """
    if format == "jsonl":
        return LinesWriter(targets[0])
    texts = targets[:: len(TAG_ENDINGS[format])]
    writers = [_layer_writer(text, format, model, for_test) for text in texts]
    return MultiWriter([LayerWriter(writer, layer, for_test) for writer, layer in zip(writers, layers, strict=True)])


def _layer_writer(target: Path, format: str, model: str, for_test: bool) -> Writer:
    """What writes documents of one layer."""
    if format == "doccano":
        return LinesWriter(target, doccano.to_line)
    if format == "label-studio":
        return TasksWriter(target, model)
    return _NoteWriter(target, format)


class MultiWriter:
    """Writers that each write the same rows to files of their own.

    Args:
        writers: the writers.
    """

    def __init__(self, writers: Sequence[Writer]) -> None:
        self._writers = writers

    def write(self, row: Record, document: Document | None) -> None:
        """Write a row with each."""
        for writer in self._writers:
            writer.write(row, document)

    def close(self) -> None:
        """Finish all files, those after one that fails too."""
        with ExitStack() as last:
            for writer in self._writers:
                last.callback(writer.close)


class LayerWriter:
    """Writes one layer of documents with the writer of a format that holds one.

    Args:
        writer: the writer.
        layer: the layer.
        for_test: leave out what was found.
    """

    def __init__(self, writer: Writer, layer: str, for_test: bool) -> None:
        self._writer, self._layer, self._for_test = writer, layer, for_test

    def write(self, row: Record, document: Document | None) -> None:
        """Write the layer of a document."""
        if document is not None:
            document = select_layer(document, self._layer)
        if document is not None and self._for_test:
            document = replace(document, spans=(), phi_annotated=False)
        self._writer.write(row, document)

    def close(self) -> None:
        """Finish the file."""
        self._writer.close()


class LinesWriter:
    """Writes documents as they come, one per line.

    Args:
        target: the file.
        to_line: a document as a line; by default as one of `crfdeid.corpora.jsonl`.
    """

    def __init__(self, target: Path, to_line: Callable[[Document], str] = jsonl.to_line) -> None:
        self._stream, self._to_line = target.open("w", encoding="utf-8", newline=""), to_line

    def write(self, row: Record, document: Document | None) -> None:
        """Write the line of a document."""
        if document is not None:
            self._stream.write(self._to_line(document))

    def close(self) -> None:
        """Finish the file."""
        self._stream.close()


class TasksWriter:
    """Writes documents as they come into a list of Label Studio's tasks.

    Args:
        target: the file.
        model: what found the PHI.
    """

    def __init__(self, target: Path, model: str) -> None:
        self._stream, self._model = target.open("w", encoding="utf-8", newline=""), model
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
    """Writes the one document of a file with its format's own writer."""

    def __init__(self, target: Path, format: str) -> None:
        self._target, self._format = target, format

    def write(self, row: Record, document: Document | None) -> None:
        if document is None:
            return
        if self._format == "brat":
            document = _with_mark(document, row.passthrough)
        if self._format in _FOLDERS:
            # The writer makes the file's name from the id: below the folder, this is the name alone.
            CORPUS_WRITERS[self._format]([replace(document, id=self._target.stem)], self._target.parent)
        else:
            CORPUS_WRITERS[self._format]([document], self._target)

    def close(self) -> None:
        """Nothing is left to do."""


def _with_mark(document: Document, mark: str) -> Document:
    """The document as brat counts it: with the byte-order mark that its file begins with."""
    shift = len(mark)
    spans = tuple(Span(start + shift, end + shift, label) for start, end, label in document.spans)
    return Document(document.id, mark + document.text, spans)


SIDECAR_SUFFIX = ".jsonl"


def sidecar_name(file: NoteFile) -> str:
    """Where in the output folder the concepts of an input file are kept; its own name could be too long with more."""
    return f"{SIDECARS}/{hashlib.sha256(file.result_name.encode()).hexdigest()[:32]}{SIDECAR_SUFFIX}"


def concepts_only(document: Document) -> Document:
    """A redacted note with its concepts.

    Where something was hidden is not in it: among surrogates it would show which names are none.

    Example:
        >>> from crfdeid.documents import Span
        >>> layers = {"concept": (Span(13, 17, "DRUG"),)}
        >>> with_concepts_alone(Document("1", "Dr. Roe gave zinc", (Span(4, 7, "DOCTOR"),), layers=layers)).annotated
        ('concept',)
    """
    return replace(document, spans=(), phi_annotated=False)


class ConceptsWriter(LinesWriter):
    """Writes redacted notes with their concepts, one per line."""

    def write(self, row: Record, document: Document | None) -> None:
        """Write the line of a document."""
        super().write(row, None if document is None else concepts_only(document))


def sidecar_plan(columns: Columns) -> OutputPlan:
    """Files of the same name and kind, and for each a file of its concepts."""

    def writer(file: NoteFile, places: Sequence[Path]) -> Writer:
        text, concepts = places
        return MultiWriter([sources.open_writer(file, text, columns), ConceptsWriter(concepts)])

    return OutputPlan(lambda file: [file.result_name, sidecar_name(file)], writer, columns)


def concat_sidecars(parts: Iterable[Path], file: Path) -> None:
    """Write the concepts of a whole run; the file appears whole or not at all.

    Raises:
        DataError: it cannot be written.
    """
    write_parts(file, _sidecar_lines(parts))


def _sidecar_lines(parts: Iterable[Path]) -> Iterator[str]:
    for part in parts:
        with part.open(encoding="utf-8", newline="") as stream:
            yield from stream

"""Writers of what ``tag`` finds: the formats of `crfdeid.corpora`, one file for each input file.

Of several annotation layers, JSON Lines holds all; in the other formats each has a folder of its own, which can be read
back by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from crfdeid.corpora import WRITERS
from crfdeid.corpora.jsonl import to_line
from crfdeid.corpora.layers import alone
from crfdeid.documents import CONCEPT, PHI, Document, Span
from crfdeid.notes.records import NoteFile, Record, Writer

# Format -> the endings of the files that stand for a file of notes, the one that holds its text first.
ENDINGS = {"brat": (".txt", ".ann"), "jsonl": (".jsonl",), "i2b2-2014": (".xml",), "conll": (".conll",)}
_FOLDERS = ("brat", "i2b2-2014")
LAYER_FOLDERS = {PHI: "phi", CONCEPT: "concepts"}
"""Where each annotation layer goes, in a format that holds one."""


def target_names(file: NoteFile, format: str, layers: Sequence[str] = (PHI,)) -> list[str]:
    """The names of the files written for an input file: of several layers, those of each in their order."""
    stem = file.result_name.removesuffix(file.path.suffix)
    apart = format != "jsonl" and len(layers) > 1
    stems = [f"{LAYER_FOLDERS[layer]}/{stem}" for layer in layers] if apart else [stem]
    return [stem + ending for stem in stems for ending in ENDINGS[format]]


def tag_writer(targets: Sequence[Path], format: str, layers: Sequence[str] = (PHI,)) -> Writer:
    """What writes the documents of one input file.

    Args:
        targets: the files to write, in the order of `target_names`.
        format: "jsonl" for a file with several notes, a key of `ENDINGS` for one.
        layers: the annotation layers that the documents have.
    """
    if format == "jsonl":
        return LinesWriter(targets[0])
    texts = targets[:: len(ENDINGS[format])]
    return Together([_NoteWriter(text, format, layer) for text, layer in zip(texts, layers, strict=True)])


class Together:
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


class LinesWriter:
    """Writes documents as they come, one per line, in the form of `crfdeid.corpora.jsonl`."""

    def __init__(self, target: Path) -> None:
        self._stream = target.open("w", encoding="utf-8", newline="")

    def write(self, row: Record, document: Document | None) -> None:
        """Write the line of a document."""
        if document is not None:
            self._stream.write(to_line(document))

    def close(self) -> None:
        """Finish the file."""
        self._stream.close()


class _NoteWriter:
    """Writes one layer of the one document of a file with its format's own writer."""

    def __init__(self, target: Path, format: str, layer: str) -> None:
        self._target, self._format, self._layer = target, format, layer

    def write(self, row: Record, document: Document | None) -> None:
        if document is None:
            return
        document = alone(document, self._layer)
        if self._format == "brat":
            document = _with_mark(document, row.around)
        if self._format in _FOLDERS:
            # The writer makes the file's name from the id: below the folder, this is the name alone.
            WRITERS[self._format]([replace(document, id=self._target.stem)], self._target.parent)
        else:
            WRITERS[self._format]([document], self._target)

    def close(self) -> None:
        """Nothing is left to do."""


def _with_mark(document: Document, mark: str) -> Document:
    """The document as brat counts it: with the byte-order mark that its file begins with."""
    shift = len(mark)
    spans = tuple(Span(start + shift, end + shift, label) for start, end, label in document.spans)
    return Document(document.id, mark + document.text, spans)

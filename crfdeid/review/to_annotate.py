"""A sample as a folder for annotators: its notes in a tool's format, and drawn.csv, which says how each was drawn."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from crfdeid.corpora import label_studio, write_corpus
from crfdeid.documents import Document
from crfdeid.review.sampling import Drawn
from crfdeid.system.files import write_files
from crfdeid.system.folders import whole_folder

LIST = "drawn.csv"
_FILES = {"jsonl": "notes.jsonl", "doccano": "notes.jsonl", "label-studio": "notes.json"}
FORMATS = ("brat", "xmi", *_FILES)


def write_sample(drawn: Sequence[Drawn], folder: Path, *, format: str, model: str = "", for_test: bool = False) -> None:
    """Write a sample; the folder appears whole or not at all.

    Args:
        drawn: the notes, with what a model found in them, for annotators to correct.
        folder: where to.
        format: one of `FORMATS`.
        model: which model found it; "" for none.
        for_test: leave out what was found, and how the notes were rated.

    Raises:
        UsageError: the folder cannot be exchanged for another.
        DataError: it cannot be written, or the format cannot hold a note.
    """
    documents = [_shown(one.candidate.document, for_test) for one in drawn]
    with whole_folder(folder) as partial:
        target = partial / _FILES[format] if format in _FILES else partial
        if format == "label-studio" and model and not for_test:
            tasks = (
                label_studio.to_task(document, annotated=False, model=model, score=one.candidate.complete)
                for document, one in zip(documents, drawn, strict=True)
            )
            write_files({target: "[\n" + ",\n".join(tasks) + "\n]\n"})
        elif format == "label-studio":
            bare = (replace(document, phi_annotated=False) for document in documents)
            tasks = (label_studio.to_task(document, annotated=False) for document in bare)
            write_files({target: "[\n" + ",\n".join(tasks) + "\n]\n"})
        else:
            write_corpus(documents, target, format=format)
        write_files({partial / LIST: _table(drawn, rated=not for_test)})


def _shown(document: Document, for_test: bool) -> Document:
    return replace(document, spans=()) if for_test else document


def _table(drawn: Sequence[Drawn], *, rated: bool) -> str:
    stream = io.StringIO()
    rows = csv.writer(stream, lineterminator="\n")
    rows.writerow(["note", "drawn", "minutes", "expected_misses"])
    for one in drawn:
        note = one.candidate
        missed = "" if note.missed is None or not rated else f"{note.missed:.3f}"
        rows.writerow([note.document.id, one.by, f"{note.minutes:.2f}", missed])
    return stream.getvalue()

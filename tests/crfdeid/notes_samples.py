"""Work for the tests of crfdeid.notes that needs no model, and can be sent to another process.

from notes_samples import HideQuill, written
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from crfdeid.documents import Document
from crfdeid.notes import sources
from crfdeid.notes.output import OutputFolder
from crfdeid.notes.pipeline import Plan, process
from crfdeid.notes.pools import pool
from crfdeid.notes.records import Columns, Failure, Note
from crfdeid.notes.work import Result, Work, Worker, one_by_one


@dataclass(frozen=True)
class HideQuill:
    """Writes [PATIENT:whose] for "Quill"; fails on a note that holds "BOOM", and dies on one that holds "DIE"."""

    def start(self) -> Worker:
        def work(notes: Sequence[Note]) -> list[Result]:
            return [self._hide(note) for note in notes]

        return one_by_one(work)

    def _hide(self, note: Note) -> Document:
        if "DIE" in note.text:
            os._exit(9)
        if "BOOM" in note.text:
            raise KeyError(note.text)
        return Document(note.id, note.text.replace("Quill", f"[PATIENT:{note.patient}]"))


PLAIN = Columns()


def redact_plan(columns: Columns = PLAIN) -> Plan:
    """Files of the same name and kind."""
    return Plan(lambda file: [file.name], lambda file, target: sources.writer(file, target, columns), columns)


def run(
    source: Path,
    target: Path,
    *,
    columns: Columns = PLAIN,
    work: Work | None = None,
    jobs: int = 1,
    resume: bool = False,
    settings: dict[str, str] | None = None,
) -> list[Failure]:
    """Do a file or folder; what failed."""
    failures: list[Failure] = []
    with (
        OutputFolder(target, source=source, settings=settings or {}, resume=resume) as output,
        pool(work or HideQuill(), jobs) as workers,
    ):
        failures += output.failures_before()
        process(sources.note_files(source), redact_plan(columns), workers, output, on_failure=failures.append)
    return failures


def written(folder: Path) -> dict[str, bytes]:
    """What is in a folder, by name; hidden files left out."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    }


def changed(document: Document, text: str) -> Document:
    """A document with another text, and no spans."""
    return replace(document, text=text, spans=())

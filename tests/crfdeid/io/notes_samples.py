"""Work for the tests of crfdeid.io that needs no model, and can be sent to another process.

from notes_samples import HideQuill, written
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from crfdeid.bio import encode
from crfdeid.documents import Document, Span
from crfdeid.io import sources
from crfdeid.io.output import OutputFolder
from crfdeid.io.records import Columns, Failure, Note, NoteResult
from crfdeid.io.run_report import write_report
from crfdeid.io.runner import OutputPlan, process_files, start_workers
from crfdeid.io.worker import Result, Worker, WorkerTask, isolate_failures


@dataclass(frozen=True)
class HideQuill:
    """Writes [PATIENT:whose] for "Quill"; fails on a note that holds "BOOM", and dies on one that holds "DIE"."""

    def start(self) -> Worker:
        def work(notes: Sequence[Note]) -> list[Result]:
            return [self._hide(note) for note in notes]

        return isolate_failures(work)

    def _hide(self, note: Note) -> NoteResult:
        if "DIE" in note.text:
            os._exit(9)
        if "BOOM" in note.text:
            raise KeyError(note.text)
        hidden = note.text.replace("Quill", f"[PATIENT:{note.patient or note.id}]")
        return NoteResult(Document(note.id, hidden), found={"PATIENT": note.text.count("Quill")})


PLAIN = Columns()
REPORT_KEY = b"a key of the tests"


def redact_plan(columns: Columns = PLAIN) -> OutputPlan:
    """Files of the same name and kind."""
    return OutputPlan(
        lambda file: [file.name], lambda file, places: sources.open_writer(file, places[0], columns), columns
    )


def run(
    source: Path,
    target: Path,
    *,
    columns: Columns = PLAIN,
    work: WorkerTask | None = None,
    jobs: int = 1,
    resume: bool = False,
    settings: dict[str, str] | None = None,
    audit: Path | None = None,
) -> list[Failure]:
    """Do a file or folder; what failed."""
    failures: list[Failure] = []
    with (
        OutputFolder(target, source=source, settings=settings or {}, resume=resume) as output,
        start_workers(work or HideQuill(), jobs) as workers,
    ):
        failures += output.failures()
        files = output.begin(sources.note_files(source))
        process_files(files, redact_plan(columns), workers, output, on_failure=failures.append, report_key=REPORT_KEY)
        if audit is not None:
            write_report(audit, {}, output.accounted)
    return failures


def written(folder: Path) -> dict[str, bytes]:
    """What is in a folder, by name; hidden files left out."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    }


def tiny_model(folder: Path, *, max_iterations: int = 30) -> Path:
    """A CRF that has learnt a few invented names, numbers and dates."""
    from crfdeid.crf.tagger import CrfTagger  # noqa: PLC0415
    from crfdeid.crf.training import CrfSettings  # noqa: PLC0415

    names = ("Quill", "Orla Marsh", "Abe Vole", "Ines Tarn")
    documents = []
    for number in range(16):
        name, date, phone = names[number % 4], f"{number % 12 + 1}/{number + 3}/2031", f"555-{1000 + 37 * number}"
        text = f"Patient {name} was seen on {date}.\nAttending: Dr. {names[number % 3]}, call {phone}. Leg pain.\n"
        parts = [
            ("PATIENT", name, 8),
            ("DATE", date, 8),
            ("DOCTOR", names[number % 3], text.index("Dr.")),
            ("PHONE", phone, 8),
        ]
        spans = [
            Span(text.index(part, start), text.index(part, start) + len(part), label) for label, part, start in parts
        ]
        documents.append(Document(str(number), text, tuple(spans)))
    tagger = CrfTagger(CrfSettings(max_iterations=max_iterations))
    tagger.fit([sentence for document in documents for sentence in encode(document).sentences], [])
    tagger.save(folder)
    return folder


DRUGS = ("zinc", "iron", "copper")


def tiny_joint_notes() -> list[Document]:
    """Invented notes with their PHI and their concepts, of which one in each holds a name."""
    names = ("Quill", "Orla Marsh", "Abe Vole", "Ines Tarn")
    documents = []
    for number in range(12):
        name, doctor, drug = names[number % 4], names[number % 3], DRUGS[number % 3]
        date, phone = f"{number % 12 + 1}/{number + 3}/2031", f"555-{1000 + 37 * number}"
        text = f"Patient {name} was seen on {date} by Dr. {doctor}, call {phone}.\n"
        text += f"Leg pain. Given {drug}; {doctor} sign.\n"
        phi = [("PATIENT", name, 8), ("DATE", date, 8), ("DOCTOR", doctor, text.index("Dr.")), ("PHONE", phone, 8)]
        phi.append(("DOCTOR", doctor, text.index("; ")))
        concepts = [("PROBLEM", "Leg pain", 8), ("TREATMENT", drug, 8), ("PROBLEM", f"{doctor} sign", text.index("; "))]
        spans, further = (
            tuple(Span(text.index(part, at), text.index(part, at) + len(part), label) for label, part, at in marked)
            for marked in (phi, concepts)
        )
        documents.append(Document(str(number), text, spans, layers={"concept": further}))
    return documents


def tiny_joint_model(folder: Path) -> Path:
    """Two CRFs one after the other, which have learnt PHI and concepts of a few invented notes, with a card."""
    from crfdeid.corpora.splits import Corpus, Split  # noqa: PLC0415
    from crfdeid.model_card.training import train_model  # noqa: PLC0415
    from crfdeid.registry import create  # noqa: PLC0415

    split = Split.of(tiny_joint_notes())
    settings = {"deid": "crf", "concepts": "crf", "max_iterations": 20, "folds": 2}
    train_model(create("pipeline", overrides=settings), Corpus("notes", "jsonl", "all", split, split, None), folder)
    return folder


def crfdeid(*arguments: str | Path) -> list[str]:
    """The command line of a process of its own."""
    return [sys.executable, "-c", "import sys; from crfdeid.cli import main; sys.exit(main())", *map(str, arguments)]

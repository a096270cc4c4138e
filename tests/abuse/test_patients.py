"""Notes that name nobody as their patient, and parts that would share patients: neither may be linked or leak."""

import json
import re
import shlex
from pathlib import Path

import pytest
from attack import NOTE
from patient_cases import NOBODY_TEXTS, TWELVE_TEXTS

from crfdeid.cli import main
from crfdeid.corpora import read_corpus, write_corpus
from crfdeid.documents import Document, Span

SURROGATE = "redact model {} --operator surrogate --locale en_US --output {} --patient-column who"
SEEN = re.compile(r"seen on ([0-9/]+)\.")


def test_nobody_is_no_patient_and_twelve_is_one(box: Path) -> None:
    for kind, names in (("nobody", NOBODY_TEXTS), ("twelve", TWELVE_TEXTS)):
        lines = []
        for number, name in enumerate(names):
            text = f"{NOTE}Bay {kind} {number}.\n"
            lines.append(json.dumps({"who": name, "text": text}))
            if name and "/" not in name:
                (box / kind / name).mkdir(parents=True)
                (box / kind / name / "note.txt").write_text(f"{text}Door 2.\n")
        (box / kind / "ward").mkdir()
        (box / kind / "ward" / "rows.jsonl").write_text("\n".join(lines) + "\n")
        assert main(shlex.split(SURROGATE.format(kind, f"out-{kind}"))) == 0
        texts = [file.read_text() for file in (box / f"out-{kind}").rglob("*.*") if file.is_file()]
        dates = [date for text in texts for date in SEEN.findall(text)]
        assert len(dates) == sum(bool(name) and "/" not in name for name in names) + len(names)
        # Shifts of two notes may be equal by chance, of all not.
        assert len(set(dates)) == 1 if kind == "twelve" else len(set(dates)) > 0.9 * len(dates)


def notes(folder: Path, patients: range) -> None:
    """Notes of patients in folders; each patient has one text that all share with the next, and one in capitals."""
    for patient in patients:
        texts = [f"Seen by Doe {patient // 2}.", f"SEEN BY DOE  {patient // 2}.", f"Doe called {patient}."]
        documents = [Document(f"{n}", text, (Span(8, 11, "DOCTOR"),)) for n, text in enumerate(texts)]
        write_corpus(documents, folder / f"p{patient}", format="brat")


def test_parts_share_neither_patients_nor_texts(box: Path, capsys: pytest.CaptureFixture[str]) -> None:
    notes(box / "gold", range(20))
    assert main(shlex.split("convert gold --split .8,.2 --output parts --output-format brat")) == 0
    line = "Split by patient and equal text: train 48 notes of 16 patients, dev 12 notes of 4 patients\n"
    assert line in capsys.readouterr().err
    train, dev = (read_corpus(box / "parts" / part) for part in ("train", "dev"))
    for values in (
        [{document.patient for document in part} for part in (train, dev)],
        [{document.text.casefold().replace("  ", " ") for document in part} for part in (train, dev)],
    ):
        assert values[0].isdisjoint(values[1])


def test_a_warning_counts_what_parts_share(box: Path, capsys: pytest.CaptureFixture[str]) -> None:
    notes(box / "a", range(6))
    notes(box / "b", range(5, 9))
    assert main(shlex.split("train a --dev b --model crf --set max_iterations=1 --augment none --output m")) == 0
    assert (
        capsys.readouterr().err.count("warning: Scores are too high: train and dev share 1 patient and 2 texts\n") == 1
    )

"""The box that attacks are carried out in: a trained model, and a note."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from attack import NOTE, SECRET

from crfdeid.cli import main

NAMES = ("Quill", "Orla Marsh", "Abe Vole", "Ines Tarn")


def _lines() -> str:
    """Sixteen annotated notes, one a line of JSON."""
    lines = []
    for number in range(16):
        patient, doctor = NAMES[number % 4], NAMES[number % 3]
        date, phone = f"{number % 12 + 1}/{number + 3}/2031", f"555-{1000 + 37 * number}"
        text = f"Patient {patient} was seen on {date}.\nAttending: Dr. {doctor}, call {phone}. Leg pain.\n"
        values = {
            "PATIENT": (patient, 0),
            "DATE": (date, 0),
            "DOCTOR": (doctor, text.index("Dr.")),
            "PHONE": (phone, 0),
        }
        starts = {label: text.index(value, start) for label, (value, start) in values.items()}
        spans = [
            {"start": start, "end": start + len(values[label][0]), "label": label} for label, start in starts.items()
        ]
        lines.append(json.dumps({"id": str(number), "text": text, "spans": spans}))
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="session")
def _first_box(tmp_path_factory: pytest.TempPathFactory) -> Path:
    box = tmp_path_factory.mktemp("attacks") / "box"
    (box / "notes").mkdir(parents=True)
    (box / "notes" / "note.txt").write_text(NOTE)
    (box / "train.jsonl").write_text(_lines())
    train = ["train", "--model", "crf", str(box / "train.jsonl"), "--dev", str(box / "train.jsonl")]
    assert main([*train, "--output", str(box / "model"), "--set", "max_iterations=30"]) == 0
    return box


@pytest.fixture
def box(_first_box: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """A copy of the box, as the current folder."""
    shutil.copytree(_first_box, tmp_path / "box")
    monkeypatch.chdir(tmp_path / "box")
    monkeypatch.setenv("CRFDEID_SECRET", SECRET)
    capsys.readouterr()
    return tmp_path / "box"

"""Two invented corpora that call their PHI differently, as folders that hold train and test.

from two_corpora import two_corpora
"""

from __future__ import annotations

from pathlib import Path

from invented_notes import DOCTORS, notes

from crfdeid.corpora import write_corpus
from crfdeid.documents import Document, Span


def letter(number: int, prefix: str) -> Document:
    """One invented letter, with the types of ASQ-PHI and one of MEDDOCAN's that is in no category."""
    name, phone = DOCTORS[number % len(DOCTORS)], f"555-01{number % 100:02d}"
    text = f"Please ring {name} on {phone}: the mother asked twice.\n"
    marked = ((name, "NAME"), (phone, "PHONE_NUMBER"), ("mother", "FAMILIARES_SUJETO_ASISTENCIA"))
    return Document(
        f"{prefix}-{number}",
        text,
        tuple(Span(text.index(part), text.index(part) + len(part), label) for part, label in marked),
    )


def two_corpora(path: Path) -> tuple[Path, Path]:
    """The folders ``wards``, whose test documents are called dev, and ``letters``."""
    wards, letters = path / "wards", path / "letters"
    for folder in (wards, letters):
        folder.mkdir(parents=True)
    write_corpus(notes("train", 16), wards / "train.jsonl", format="jsonl")
    write_corpus(notes("dev", 6, start=40), wards / "dev.jsonl", format="jsonl")
    for name, count, start in (("training-set", 16, 0), ("validation", 4, 20), ("test_v2", 5, 31)):
        some = [letter(number, name) for number in range(start, start + count)]
        write_corpus(some, letters / f"{name}.jsonl", format="jsonl")
    return wards, letters

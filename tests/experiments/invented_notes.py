"""Invented notes, as many as a test wants.

from invented_notes import notes
"""

from __future__ import annotations

from crfdeid.documents import Document, Span

DOCTORS = ("Brown", "Huntington", "Abe Quill", "Oda Marsh", "Parkinson", "Ines Vole")
HOSPITALS = ("FIH", "Tawn List Medical Center", "Quill House", "Elm Clinic")


def note(number: int, prefix: str) -> Document:
    """One invented note; every number gives other names and dates."""
    doctor, hospital = DOCTORS[number % len(DOCTORS)], HOSPITALS[number % len(HOSPITALS)]
    date = f"{number % 12 + 1:02d}/{number % 27 + 1:02d}/2031"
    text = f"Attending: Dr. {doctor}\nSeen at {hospital} on {date}.\nBP 120/80, brown sputum.\n"
    spans = [
        Span(text.index(part), text.index(part) + len(part), label)
        for part, label in ((doctor, "DOCTOR"), (hospital, "HOSPITAL"), (date, "DATE"))
    ]
    return Document(f"{prefix}-{number}", text, tuple(spans))


def notes(prefix: str, count: int, *, start: int = 0) -> list[Document]:
    return [note(number, prefix) for number in range(start, start + count)]

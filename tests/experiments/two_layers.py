"""Invented notes with PHI and concepts, and a folder of both.

from two_layers import two_layer_folder
"""

from __future__ import annotations

from pathlib import Path

from crfdeid.corpora import write_corpus
from crfdeid.documents import CONCEPT, Document, Span

NAMES = ("Quill", "Vole", "Oda", "Marsh", "Poe")
DRUGS = ("zinc", "iron", "glycerin", "talc")


def two_layer_note(number: int, prefix: str) -> Document:
    """One invented note, with a doctor and two drugs, the second where nobody looked for concepts."""
    name, drug = NAMES[number % len(NAMES)], DRUGS[number % len(DRUGS)]
    text = f"Dr. {name} gave {drug} today.\nSigned {name}, {drug}.\n"
    places = [(4, name, "DOCTOR"), (text.rindex(name), name, "DOCTOR")]
    drugs = [(text.index(drug), drug, "DRUG"), (text.rindex(drug), drug, "DRUG")]
    phi, concepts = ([Span(at, at + len(word), label) for at, word, label in found] for found in (places, drugs))
    return Document(f"{prefix}-{number}", text, tuple(phi), layers={CONCEPT: concepts})


def two_layer_folder(path: Path) -> Path:
    """train.jsonl, dev.jsonl and test.jsonl with both layers, and unsourced.tsv with the second line of each note."""
    path.mkdir()
    lines = ["document\tstart\tend"]
    for name, count, start in (("train", 12, 0), ("dev", 4, 3), ("test", 5, 1)):
        documents = [two_layer_note(number, name) for number in range(start, start + count)]
        write_corpus(documents, path / f"{name}.jsonl", format="jsonl")
        lines += [f"{d.id}\t{d.text.index('Signed')}\t{len(d.text)}" for d in documents]
    (path / "unsourced.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    return path

"""A tiny representation without training, and a few invented notes to encode with it."""

from __future__ import annotations

import atexit
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from crfdeid.documents import Document, Span
from rnn.embeddings.vectors import SubwordVectors, WordVectors
from rnn.privacy.representation import RepresentationModel
from rnn.privacy.settings import PrivateSettings

PUBLIC_WORDS = ("seen", "by", "on", "Dr", ".", "00", "no", "pain", "stable")
NAMES = ("Quill", "Marsh", "Vole", "Tarn")
"""Of the notes alone: the representation's words are others."""


@cache  # and not made by who imports this: its first one compiles for seconds
def tiny_representation(*, seed: int = 0, deviation: float = 0.1) -> RepresentationModel:
    """A representation with random weights and public vectors, and so little noise that few notes teach a tagger.

    Its matrices have the shapes of those of a tagger with 8 hidden units over it: each shape is compiled once.
    """
    size, dim = 16, 23
    random = np.random.default_rng(seed)
    table = random.normal(size=(len(PUBLIC_WORDS), dim)).astype(np.float32)
    subwords = SubwordVectors(random.normal(size=(50, dim)).astype(np.float32), 3, 4)
    vectors = WordVectors(PUBLIC_WORDS, table, subwords)
    return RepresentationModel.untrained(
        vectors, PrivateSettings(size=size, neighbours=5, deviation=deviation), seed=seed
    )


@cache
def tiny_representation_folder() -> Path:
    """Where one with next to no noise is saved, until the process ends: a few sentences are learned from by heart."""
    place = TemporaryDirectory(prefix="crfdeid-representation-", ignore_cleanup_errors=True)
    atexit.register(place.cleanup)
    tiny_representation(deviation=0.01).save(Path(place.name) / "representation")
    return Path(place.name) / "representation"


def tiny_note(number: int) -> Document:
    """One of any number of notes, with a name and a day that others may have too."""
    name, day = NAMES[number % len(NAMES)], f"{number % 27 + 1}"
    text = f"Seen by Dr {name}\non {day} / 04\nno pain , stable\n"
    spans = []
    for value, label in ((name, "DOCTOR"), (f"{day} / 04", "DATE")):
        start = text.index(value)
        spans.append(Span(start, start + len(value), label))
    return Document(f"note-{number}", text, tuple(spans))


def tiny_notes(count: int, *, first: int = 0) -> list[Document]:
    """Some of these notes."""
    return [tiny_note(number) for number in range(first, first + count)]

"""Pseudonyms are drawn from nobody's seed."""

import numpy as np

from crfdeid.corpora.splits import Split
from crfdeid.documents import Document, Span
from rnn.embeddings.vectors import WordVectors
from rnn.privacy.substitution import pseudonymise

NAMES = ("Doe", "Roe", "Poe", "Moe")
VECTORS = WordVectors(NAMES, np.eye(4, dtype=np.float32))


def test_without_a_seed_nothing_is_drawn_from_one(monkeypatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError

    notes = Split.of(Document(str(i), f"Seen by {NAMES[i % 4]}", (Span(8, 11, "NAME"),)) for i in range(40))
    monkeypatch.setattr("rnn.privacy.system_random.np.random.default_rng", refuse)
    first, again = (pseudonymise(notes, VECTORS, count=4) for _ in range(2))
    assert [one.sentence.words for one in first.sentences] != [one.sentence.words for one in again.sentences]
    assert first.remains.tokens == 40
    assert 0 < first.remains.unchanged < 30
    assert (first.left_out, first.words, first.unknown) == (0, 4, 0)

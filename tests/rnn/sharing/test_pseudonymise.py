"""What the operating system draws for pseudonyms: as likely as the other generators, and from nobody's seed."""

from collections import Counter

import numpy as np

from crfdeid.corpora.splits import Split
from crfdeid.documents import Document, Span
from rnn.embeddings.vectors import WordVectors
from rnn.sharing.pseudonymise import SystemDraws, pseudonymise

NAMES = ("Doe", "Roe", "Poe", "Moe")
VECTORS = WordVectors(NAMES, np.eye(4, dtype=np.float32))


def test_every_number_is_as_likely_and_every_order_holds_all() -> None:
    random = SystemDraws()
    counts = Counter(random.integers(4) for _ in range(4000))
    assert counts.keys() == {0, 1, 2, 3}
    assert all(800 < count < 1200 for count in counts.values())
    orders = {tuple(random.permutation(3)) for _ in range(200)}
    assert len(orders) == 6


def test_without_a_seed_nothing_is_drawn_from_one(monkeypatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError

    notes = Split.of(Document(str(i), f"Seen by {NAMES[i % 4]}", (Span(8, 11, "NAME"),)) for i in range(40))
    monkeypatch.setattr("rnn.sharing.pseudonymise.np.random.default_rng", refuse)
    first, again = (pseudonymise(notes, VECTORS, count=4) for _ in range(2))
    assert [one.sentence.words for one in first.sentences] != [one.sentence.words for one in again.sentences]
    assert first.remains.tokens == 40
    assert 0 < first.remains.unchanged < 30
    assert (first.left_out, first.words, first.unknown) == (0, 4, 0)

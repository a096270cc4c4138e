"""The one-file Elman network of the lessons has the losses of the library's, and learns from text."""

from pathlib import Path

import elman_minimal
import numpy as np
import pytest
from tiny_notes import TRAIN

from crfdeid.corpora.synthetic import generate_notes
from rnn import ElmanSettings, ElmanTagger
from rnn.batching import make_buckets
from rnn.training.loop import shuffled_runs
from rnn.training.schedules import linear_rate
from rnn.training.steps import per_sentence

NAMES = {
    "E": "tables.words",
    "W": "network.layers.0.W",
    "V": "network.layers.0.V",
    "b": "network.layers.0.b",
    "U": "network.U",
    "c": "network.c",
}


def test_its_losses_and_weights_are_the_librarys():
    settings = ElmanSettings(
        hidden=9, embedding_dim=5, window=3, epochs=3, lr=0.2, dropout=0.0, word_dropout=0.0, max_norm=None, min_count=1
    )
    tagger, losses = ElmanTagger(settings, seed=4), []
    tagger.fit(TRAIN, [], on_progress=lambda progress: losses.append(progress.loss))

    processor = tagger.learned.processor
    rows = processor.rows([item.sentence for item in TRAIN], TRAIN)
    examples = [(row.inputs["words"], row.targets["phi"], row.length) for row in rows]
    initial = tagger.initial(processor).params
    params = {name: initial[own] for name, own in NAMES.items()}
    updates = per_sentence()
    numbered = [row._replace(targets={"number": np.full(row.length, i)}) for i, row in enumerate(rows)]
    buckets = make_buckets(numbered, buckets=updates.buckets, cost=updates.bucket_cost)
    for number in range(3):
        order = [
            buckets[b].targets["number"][i, 0]
            for b, run, count in shuffled_runs(buckets, updates.run, seed=4, epoch=number + 1)
            for i in run[:count]
        ]
        assert sorted(order) == list(range(len(TRAIN)))
        params, mean = elman_minimal.epoch(params, examples, order, linear_rate(settings, number))
        assert mean == pytest.approx(losses[number], rel=1e-5)
    for name, own in NAMES.items():
        np.testing.assert_allclose(params[name], tagger.learned.params[own], rtol=2e-4, atol=1e-6)


def test_it_learns_from_text_in_at_most_150_lines(monkeypatch, capsys, quickly_compiled):
    """On a quarter of its notes, three epochs."""
    monkeypatch.setattr(elman_minimal, "EPOCHS", 3)
    monkeypatch.setattr(elman_minimal, "generate_notes", lambda count, seed: generate_notes(count // 4, seed=seed))
    elman_minimal.main()
    lines = capsys.readouterr().out.splitlines()
    first, last = (float(line.split("loss ")[1].split()[0]) for line in (lines[0], lines[-1]))
    assert last < 0.7 * first
    assert len(Path(elman_minimal.__file__).read_text(encoding="utf-8").splitlines()) <= 150

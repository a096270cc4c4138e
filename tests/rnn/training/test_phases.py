"""How updates are cut, and how long a patient schedule goes on."""

from rnn.training.phases import per_sentence


def test_runs_of_long_sentences_are_short():
    run = per_sentence().run
    assert [run(10), run(4096), run(100_000)] == [64, 16, 1]

"""The Jordan network against equation 12 in plain NumPy (paper_equations.py), and its settings."""

import dataclasses

import jax
import numpy as np
import pytest
import window_network_checks as checks
from flax import nnx
from paper_equations import jordan_by_hand, windows_by_hand
from window_network_checks import D, H, K, W, of

import rnn.models.jordan
from rnn import Jordan, JordanSettings, JordanTagger


def make():
    return checks.filled(Jordan(window=W, dim=D, hidden=H, tags=K, rngs=nnx.Rngs(0)))


@pytest.mark.parametrize("unroll", [1, 8])
def test_it_follows_equation_12(unroll, monkeypatch):
    monkeypatch.setattr(rnn.models.jordan, "scan_unroll", lambda: unroll)
    network, vectors = make(), checks.some_vectors()
    expected = jordan_by_hand(
        of(network.W), of(network.V), of(network.b), of(network.U), of(network.c), windows_by_hand(vectors, W)
    )
    np.testing.assert_allclose(jax.nn.softmax(checks.scores_of(network, vectors)), expected, rtol=2e-5, atol=1e-6)


def test_no_output_depends_on_words_beyond_its_window_to_the_right():
    checks.no_output_depends_on_words_beyond_its_window_to_the_right(make())


def test_the_first_word_reaches_the_last_through_the_recurrence():
    checks.the_first_word_reaches_the_last_through_the_recurrence(make())


def test_dropout_is_on_the_hidden_units_before_the_softmax():
    checks.dropout_is_on_the_hidden_units_before_the_softmax(make())


def test_it_holds_parameters_alone():
    checks.it_holds_parameters_alone(make())


def test_the_paper_profile_is_table_3():
    settings = JordanTagger.profiles()["yadav2016"]
    assert (settings.hidden, settings.window) == (150, 9)
    assert (settings.lr, settings.dropout, settings.epochs) == (0.01, 0.5, 25)
    assert (settings.embedding_dim, settings.embedding_range, settings.init_range) == (100, 0.25, 1.0)
    assert (settings.final_lr, settings.word_dropout, settings.decoding) == (1.0, 0.0, "argmax")
    assert settings.max_norm is None


def test_the_default_keeps_the_papers_sizes():
    settings = JordanSettings()
    assert (settings.hidden, settings.window, settings.epochs) == (150, 9, 25)


def test_it_has_one_layer():
    assert "layers" not in {field.name for field in dataclasses.fields(JordanSettings)}

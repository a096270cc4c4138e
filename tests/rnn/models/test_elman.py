"""The Elman network against equations 7 to 11 in plain NumPy (paper_equations.py), and its settings."""

import re

import jax
import numpy as np
import pytest
import window_network_checks as checks
from flax import nnx
from paper_equations import elman_by_hand, windows_by_hand
from tiny_notes import FEW, SMALL
from window_network_checks import D, H, K, W, of

import rnn.models.elman
from crfdeid.errors import SettingError
from crfdeid.registry import load_tagger
from rnn import Elman, ElmanSettings, ElmanTagger

pytestmark = pytest.mark.usefixtures("quickly_compiled")


def make(layers=1):
    return checks.filled(Elman(window=W, dim=D, hidden=H, tags=K, layers=layers, rngs=nnx.Rngs(0)))


@pytest.mark.parametrize("unroll", [1, 8])
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_it_follows_equations_7_to_11(layers, unroll, monkeypatch):
    monkeypatch.setattr(rnn.models.elman, "scan_unroll", lambda: unroll)
    network, vectors = make(layers), checks.some_vectors()
    expected = elman_by_hand(
        [(of(layer.W), of(layer.V), of(layer.b)) for layer in network.layers],
        of(network.U),
        of(network.c),
        windows_by_hand(vectors, W),
    )
    np.testing.assert_allclose(jax.nn.softmax(checks.scores_of(network, vectors)), expected, rtol=2e-5, atol=1e-6)


def test_no_output_depends_on_words_beyond_its_window_to_the_right():
    checks.no_output_depends_on_words_beyond_its_window_to_the_right(make())


def test_the_first_word_reaches_the_last_through_the_recurrence():
    checks.the_first_word_reaches_the_last_through_the_recurrence(make())


def test_dropout_is_on_the_hidden_units_before_the_softmax():
    checks.dropout_is_on_the_hidden_units_before_the_softmax(make(2))


def test_it_holds_parameters_alone():
    checks.it_holds_parameters_alone(make(2))


def test_the_paper_profile_is_table_3():
    settings = ElmanTagger.profiles()["yadav2016"]
    assert (settings.hidden, settings.window, settings.layers) == (100, 11, 1)
    assert (settings.lr, settings.dropout, settings.epochs) == (0.01, 0.5, 25)
    assert (settings.embedding_dim, settings.embedding_range, settings.init_range) == (100, 0.25, 1.0)
    assert (settings.final_lr, settings.word_dropout, settings.decoding) == (1.0, 0.0, "argmax")
    assert settings.max_norm is None


def test_the_default_keeps_the_papers_sizes():
    settings = ElmanSettings()
    assert (settings.hidden, settings.window, settings.layers, settings.epochs) == (100, 11, 1, 25)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("window", 4), ("window", 0), ("hidden", 0), ("hidden", 2.5), ("embedding_dim", -1), ("epochs", 0),
        ("min_count", 0), ("lr", 0.0), ("lr", float("nan")), ("lr", float("inf")), ("lr", 1e300), ("final_lr", -0.1),
        ("final_lr", 1.5), ("dropout", 1.0), ("dropout", -0.1), ("embedding_range", -1.0), ("init_range", 0.0),
        ("word_dropout", -1.0), ("layers", 0), ("max_norm", 0.0), ("decoding", "beam"),
    ],
)  # fmt: skip
def test_a_setting_that_cannot_work_is_refused(name, value):
    with pytest.raises(SettingError, match=f"{name}.*{re.escape(str(value))}"):
        ElmanSettings(**{name: value})


@pytest.mark.slow
def test_deep_networks_train_and_load(tmp_path):
    tagger = ElmanTagger(ElmanSettings(layers=3, **SMALL))
    tagger.fit(FEW, [])
    tagger.save(tmp_path)
    loaded = load_tagger(tmp_path)
    for a, b in zip(tagger.marginals([FEW[0].sentence]), loaded.marginals([FEW[0].sentence]), strict=True):
        np.testing.assert_array_equal(a, b)

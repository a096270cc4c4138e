"""Integrated gradients against the equations in NumPy, and their completeness for every kind of network."""

from functools import cache
from typing import Any

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paper_equations import elman_by_hand, jordan_by_hand, windows_by_hand
from tiny_networks import letters, random_params
from tiny_notes import SMALL, TRAIN

from crfdeid import registry
from crfdeid.crf.decoding import chain_marginals
from crfdeid.explain import explain_prediction
from features.tokens import Sentence
from rnn import Elman, Jordan
from rnn.layers.crf import log_odds

pytestmark = pytest.mark.usefixtures("quickly_compiled")

BILSTM = {"hidden": 6, "char_dim": 4, "char_filters": 5, "context": 1, "feature_min_count": 1}
WORDS = ("Dr", "Quill", "called", "seen", "03", "/", "by", "Zxqv", ".")


@cache
def drawn(name: str, scale: float = 0.7):
    """A tiny network whose weights are all drawn at random, and large enough to bend its answers."""
    own = BILSTM if name == "bilstm-crf" else {}
    tagger: Any = registry.create(name, overrides=registry.select(name, SMALL | own))
    learned = tagger.initial(tagger.processor(TRAIN[:20]))
    tagger.learned = learned._replace(params=random_params(learned.params, scale=scale))
    return tagger


@settings(max_examples=6)
@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8), st.data())
@pytest.mark.parametrize("name", ["elman", "jordan", pytest.param("bilstm-crf", marks=pytest.mark.slow)])
def test_the_shares_of_all_words_are_the_log_odds(name, words, data):
    token = data.draw(st.integers(0, len(words) - 1))
    tag, contrast_tag = data.draw(st.permutations(drawn(name).tags))[:2]
    found = explain_prediction(
        drawn(name), Sentence.from_words(words), token, tag=tag, contrast_tag=contrast_tag, methods=["gradients"]
    )
    assert found.gradients.log_odds == pytest.approx(found.log_odds, rel=1e-3, abs=1e-3)
    assert found.gradients.total == pytest.approx(found.log_odds, rel=0.01, abs=0.005)
    assert [(term.word, term.place) for term in found.gradients.words] == [
        (word, i - token) for i, word in enumerate(words)
    ]


def test_the_shares_are_right_where_a_network_makes_up_its_mind_all_at_once():
    tagger, sentence = drawn("jordan", scale=8.0), Sentence.from_words(WORDS)
    for token in range(len(WORDS)):
        found = explain_prediction(tagger, sentence, token, methods=["gradients"]).gradients
        assert found.total == pytest.approx(found.log_odds, rel=0.01)


@pytest.mark.parametrize(("name", "network"), [("elman", Elman), ("jordan", Jordan)])
def test_a_word_s_share_is_the_integral_of_the_slope_along_its_vector(name, network):
    tagger, words, token, step = drawn(name), ["seen", "by", "Quill", "."], 2, 1e-4
    tag, contrast_tag = tagger.tags.index("B-DOCTOR"), tagger.tags.index("O")
    p = letters(tagger.learned.structure, tagger.learned.params)
    ids = [0, *tagger.learned.processor.vocabulary.ids(words), 0]

    def odds(scales):
        windows = windows_by_hand(p["E"][ids] * np.asarray(scales)[:, None], 3)
        if network is Jordan:
            table = jordan_by_hand(p["W"], p["V"], p["b"], p["U"], p["c"], windows)
        else:
            table = elman_by_hand([(p["W"], p["V"], p["b"])], p["U"], p["c"], windows)
        return np.log(table[token, tag]) - np.log(table[token, contrast_tag])

    found = explain_prediction(
        tagger, Sentence.from_words(words), token, tag="B-DOCTOR", contrast_tag="O", methods=["gradients"]
    ).gradients
    middles = (np.arange(400) + 0.5) / 400  # another rule than theirs, with more points
    for i, term in enumerate(found.words, start=1):
        up, down = (np.eye(len(ids))[i] * sign * step for sign in (1, -1))
        slopes = [(odds(s + up) - odds(s + down)) / (2 * step) for s in middles]
        assert term.value == pytest.approx(np.mean(slopes), rel=0.01, abs=1e-3)
    assert found.baseline == pytest.approx(odds(np.zeros(len(ids))), abs=1e-3)


def test_the_log_odds_of_a_crf_layer_are_those_of_its_marginals():
    random = np.random.default_rng(0)
    emissions, transitions = random.normal(size=(5, 3)).astype("f4"), random.normal(size=(3, 3)).astype("f4")
    table = np.log(chain_marginals(emissions[:4].astype(float), [4], transitions)[0])
    asked = jax.jit(jax.vmap(log_odds, (None, None, None, 0, 0, 0)))
    token, tag, contrast_tag = np.array([0, 2, 3]), np.array([0, 1, 2]), np.array([2, 0, 1])
    found = asked(emissions, transitions, np.int32(4), token, tag, contrast_tag)
    np.testing.assert_allclose(found, table[token, tag] - table[token, contrast_tag], atol=1e-5)


def test_a_network_is_explained_by_occlusion_and_gradients_without_asking():
    found = explain_prediction(drawn("elman"), Sentence.from_words(["Dr", "Quill", "called"]), 1)
    assert found.crf is None
    assert len(found.occlusion) == len(found.gradients.words) == 3

"""What is read off a network's weights, against the weights themselves and against finite differences."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from paper_equations import f, g, windows_by_hand
from tiny_networks import letters, random_params
from tiny_notes import SMALL, TRAIN

from crfdeid import registry
from crfdeid.explain.weights import explain_weights

pytestmark = pytest.mark.usefixtures("quickly_compiled")
SENTENCES = [item.sentence for item in TRAIN[:3]]


@cache
def drawn(name: str, **more: Any) -> Any:
    """A tiny network whose weights are all drawn at random."""
    tagger: Any = registry.create(name, overrides=registry.select(name, {**SMALL, "feature_min_count": 1, **more}))
    learned = tagger.initial(tagger.processor(TRAIN[:20]))
    tagger.learned = learned._replace(params=random_params(learned.params))
    return tagger


@pytest.mark.parametrize("name", ["elman", "jordan"])
def test_each_word_of_a_window_has_its_share_of_the_first_layer_s_weights(name):
    found = {norm.name: norm for norm in explain_weights(drawn(name)).network.norms}
    p = letters(drawn(name).learned.structure, drawn(name).learned.params)
    array = "network.W" if name == "jordan" else "network.layers.0.W"
    width = p["W"].shape[1] // 3
    for place, what in enumerate(("word at -1", "the word", "word at +1")):
        part = p["W"][:, place * width : (place + 1) * width]
        assert found[f"{array}, {what}"].norm == pytest.approx(np.linalg.norm(part))
        assert found[f"{array}, {what}"].typical == pytest.approx(np.sqrt((part**2).mean()))


def test_what_jordan_s_last_tag_adds_is_the_slope_of_the_next_scores():
    tagger = drawn("jordan")
    p = letters(tagger.learned.structure, tagger.learned.params)
    (matrix,) = explain_weights(tagger, sentences=SENTENCES).network.matrices
    slopes = []
    for sentence in SENTENCES:
        ids = [0, *tagger.learned.processor.vocabulary.ids(sentence.words), 0]
        before = np.zeros(len(tagger.tags))
        for window in windows_by_hand(p["E"][ids], 3):

            def scores(posterior, window=window):
                return p["U"] @ f(p["W"] @ window + p["V"] @ posterior + p["b"]) + p["c"]

            steps = np.eye(len(before)) * 1e-5
            slopes.append([(scores(before + step) - scores(before - step)) / 2e-5 for step in steps])
            before = g(scores(before))
    np.testing.assert_allclose(matrix.values, np.mean(slopes, axis=0), atol=1e-4)
    assert matrix.names == tagger.tags
    (at_rest,) = explain_weights(tagger).network.matrices
    rest = f(p["b"]) * (1 - f(p["b"]))
    np.testing.assert_allclose(at_rest.values, ((p["U"] * rest) @ p["V"]).T, atol=1e-6)


def test_elman_s_bound_is_that_of_its_recurrent_weights():
    p = letters(drawn("elman").learned.structure, drawn("elman").learned.params)
    ((said, bound),) = explain_weights(drawn("elman")).network.facts
    assert "hidden layer 1" in said
    assert bound == pytest.approx(np.linalg.svd(p["V"], compute_uv=False)[0] / 4)


@pytest.mark.slow  # to draw its weights
def test_a_bilstm_crf_has_transitions_and_the_sizes_of_what_it_reads_of_a_token():
    tagger = drawn("bilstm-crf", char_dim=4, char_filters=5)
    found = explain_weights(tagger).network
    assert found.matrices[0].names == tagger.tags
    named = {norm.name: norm.shape for norm in found.norms}
    parts = [named[f"network.bilstm.layers.0.W, {what}"] for what in ("words", "casing", "characters", "features")]
    assert sum(columns for _, columns in parts) == named["network.bilstm.layers.0.W"][1]


def test_nearest_words_are_those_of_the_vectors_it_learned_and_hashes_where_they_are_hashed(tmp_path):
    tagger = drawn("elman")
    (found,) = explain_weights(tagger, words=["called"], top=3).network.words
    table = np.asarray(tagger.learned.params["tables.words"])
    vocabulary = tagger.learned.processor.vocabulary
    own = table[vocabulary.ids(["called"])[0]]
    cosines = {w: table[i] @ own / np.linalg.norm(table[i]) / np.linalg.norm(own)
               for w, i in zip(vocabulary.words, vocabulary.ids(vocabulary.words), strict=True)}  # fmt: skip
    expected = sorted(cosines.items(), key=lambda item: -item[1])[1:4]
    assert [word for word, _ in found.near] == [word for word, _ in expected]
    np.testing.assert_allclose([c for _, c in found.near], [c for _, c in expected], atol=1e-5)
    assert explain_weights(tagger, words=["Zxqv"]).network.words[0].near is None
    assert "called" in [item.word for item in explain_weights(tagger).network.words]
    tagger.save(tmp_path, key=bytes(32))
    loaded = registry.load_tagger(tmp_path, key=bytes(32))
    private = explain_weights(loaded, words=["called"])
    assert private.hashed
    assert not {word for word, _ in private.network.words[0].near} & set(vocabulary.words)
    assert explain_weights(loaded).network.words == ()

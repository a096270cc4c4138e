"""The private representation: equation 1 in NumPy, encoding, saving and loading."""

import json
import re

import numpy as np
import pytest
from lstm_equations import bilstm_by_hand

from crfdeid.errors import FormatError, IntegrityError
from features.tokens import Sentence
from rnn.embeddings.lookup import Lookup
from rnn.embeddings.vectors import SubwordVectors, WordVectors
from rnn.privacy.representation import RepresentationModel
from rnn.privacy.settings import PrivateSettings

D, S = 3, 4
WORDS = ("seen", "by", "Quill", "Marsh", "00")
SENTENCES = [Sentence.from_words(text.split()) for text in ("seen by Quill", "Marsh", "by 17 Nobody seen")]


def some_vectors(subwords=None):
    table = np.random.default_rng(5).normal(size=(len(WORDS), D)).astype(np.float32)
    return WordVectors(WORDS, table, subwords)


@pytest.fixture(scope="module")
def model():
    """A model whose weights are all drawn at random."""
    blank = RepresentationModel.untrained(some_vectors(), PrivateSettings(size=S), seed=3)
    random = np.random.default_rng(0)
    weights = {name: random.normal(size=a.shape).astype(np.float32) for name, a in blank.weights.items()}
    return RepresentationModel(blank.settings, blank.seed, blank.vectors, weights)


def by_hand(model, words, normal_in, normal_out):
    """Equation 1 in float64."""
    W, R, b = (model.weights[f"layer.{name}"].astype(float) for name in "WRb")
    noise = {place: np.log1p(np.exp(model.weights[f"{place}_noise.s"].astype(float))) for place in ("input", "output")}
    noisy = model.lookup(words).astype(float) + noise["input"] * normal_in
    return noise["output"] * normal_out + bilstm_by_hand(W, R, b, noisy, np.ones((2, S // 2)))


def test_without_noise_it_is_the_bilstm_of_the_word_vectors(model):
    for sentence, found in zip(SENTENCES, model.encode(SENTENCES, None), strict=True):
        expected = by_hand(model, sentence.words, 0.0, 0.0)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_the_noise_is_that_of_the_inputs_and_of_the_outputs(model):
    """The generator gives the numbers of the inputs, then those of the outputs, and none for padding."""
    sentence = SENTENCES[0]
    (found,) = model.encode([sentence], np.random.default_rng(7))
    random = np.random.default_rng(7)
    normal_in = random.standard_normal((3, D), np.float32)
    normal_out = random.standard_normal((3, S), np.float32)
    np.testing.assert_allclose(found, by_hand(model, sentence.words, normal_in, normal_out), atol=1e-5)


@pytest.mark.parametrize("seed", [None, 7])
def test_with_a_unit_output_a_linear_layer_follows_and_vectors_have_length_1(seed, tmp_path):
    settings = PrivateSettings(size=S, hidden=2, output="unit")
    blank, draw = RepresentationModel.untrained(some_vectors(), settings, seed=3), np.random.default_rng(0)
    weights = {name: draw.normal(size=a.shape).astype(np.float32) for name, a in blank.weights.items()}
    RepresentationModel(settings, 3, blank.vectors, weights).save(tmp_path)
    model, words = RepresentationModel.load(tmp_path), SENTENCES[0].words
    (found,) = model.encode(SENTENCES[:1], None if seed is None else np.random.default_rng(seed))
    random = np.random.default_rng(seed)
    normal = [np.zeros((3, size)) if seed is None else random.standard_normal((3, size), np.float32) for size in (D, S)]
    W, R, b = (weights[f"layer.{name}"].astype(float) for name in "WRb")
    noisy = model.lookup(words).astype(float) + model.deviations[0] * normal[0]
    states = bilstm_by_hand(W, R, b, noisy, np.ones((2, 2)))  # [3, 4]
    expected = states @ weights["W"].T.astype(float) + weights["b"] + model.deviations[1] * normal[1]
    np.testing.assert_allclose(found, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-5)


def test_two_encodings_of_one_sentence_differ_and_one_generator_gives_one(model):
    first, again, other = (model.encode(SENTENCES, np.random.default_rng(seed)) for seed in (1, 1, 2))
    for a, b, c in zip(first, again, other, strict=True):
        np.testing.assert_array_equal(a, b)
        assert not np.isclose(a, c).any()


def test_a_sentence_without_tokens_has_no_vectors(model):
    assert [row.shape for row in model.encode([Sentence(()), SENTENCES[1]], None)] == [(0, S), (1, S)]


def test_only_the_sentence_itself_counts(model):
    """Neither its company in the call nor its note."""
    alone = [model.encode([sentence], None)[0] for sentence in SENTENCES]
    for one, together in zip(alone, model.encode(SENTENCES[::-1], None)[::-1], strict=True):
        np.testing.assert_allclose(one, together, atol=1e-6)


def test_what_is_loaded_is_what_was_saved(model, tmp_path):
    model.save(tmp_path)
    loaded = RepresentationModel.load(tmp_path)
    assert (loaded.digest, loaded.settings, loaded.seed) == (model.digest, model.settings, model.seed)
    random = [np.random.default_rng(1) for _ in range(2)]
    for a, b in zip(loaded.encode(SENTENCES, random[0]), model.encode(SENTENCES, random[1]), strict=True):
        np.testing.assert_array_equal(a, b)


def test_another_weight_is_another_digest(model):
    weights = {**model.weights, "layer.b": model.weights["layer.b"] + 1}
    assert RepresentationModel(model.settings, model.seed, model.vectors, weights).digest != model.digest


@pytest.mark.parametrize("file", ["weights.npz", "model.json"])
def test_a_damaged_file_is_refused(model, tmp_path, file):
    model.save(tmp_path)
    content = bytearray((tmp_path / file).read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / file).write_bytes(bytes(content))
    with pytest.raises((IntegrityError, FormatError), match=re.escape(str(tmp_path))):
        RepresentationModel.load(tmp_path)


def test_weights_of_another_size_than_the_settings_are_refused(model, tmp_path):
    other = RepresentationModel(PrivateSettings(size=S + 2), 0, model.vectors, model.weights)
    other.save(tmp_path)
    assert json.loads((tmp_path / "model.json").read_text())["settings"]["size"] == S + 2
    with pytest.raises(IntegrityError):
        RepresentationModel.load(tmp_path)


def test_a_word_is_read_as_the_vectors_spell_it():
    vectors = WordVectors(("seen", "00", "<initial capital>"), np.eye(3, dtype=np.float32) * 2)
    found = Lookup(vectors)(["Seen", "71", "Quill", "..."])
    np.testing.assert_allclose(found * vectors.table.std(), 2 * np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]]))


def test_an_unknown_word_has_the_vector_of_its_parts():
    parts = SubwordVectors(np.random.default_rng(1).normal(size=(20, D)).astype(np.float32), 2, 3)
    vectors = some_vectors(parts)
    np.testing.assert_allclose(Lookup(vectors)(["Quills"])[0], parts.vector("Quills") / vectors.table.std(), rtol=1e-6)

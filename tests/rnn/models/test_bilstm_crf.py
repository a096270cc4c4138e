"""The BiLSTM-CRF against its equations in plain NumPy, and what its tagger makes of its settings."""

import re
from dataclasses import replace
from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from hypothesis import given, settings
from hypothesis import strategies as st
from lstm_equations import bilstm_by_hand, cnn_by_hand

from crfdeid.documents import LabelledSentence
from crfdeid.errors import SettingError
from features.sentences import split_sentences
from features.tokens import Sentence
from rnn import BilstmCrf, BilstmCrfSettings, BilstmCrfTagger
from rnn.batching import make_batch
from rnn.inputs import CASINGS
from rnn.layers.dropout import dropout_factors, split_key
from rnn.layers.lstm import BiLstm
from rnn.network import inference_scores
from rnn.saving import expected_shapes

pytestmark = pytest.mark.usefixtures("quickly_compiled")

D, C, F, H, K, CONTEXT = 4, 3, 5, 2, 3, 1
SIZES = {"words": (9, D), "characters": (6, C), "features": (7, 2)}
PLACES = 8  # six tokens, padding included, and a word of context on either side


@cache
def network():
    """A network with everything it can have, every parameter drawn at random."""
    whole = BilstmCrf(
        {"dim": D, "casing": True, "char_dim": C, "char_filters": F, "feature_dim": 2},
        {"hidden": H, "layers": 2, "input_dropout": 0.5, "variational_dropout": 0.5},
        tags=K, context=CONTEXT, output_dropout=0.5, rngs=nnx.Rngs(0),
    )  # fmt: skip
    random = np.random.default_rng(0)
    graph, state = nnx.split(whole)
    return nnx.merge(graph, jax.tree.map(lambda a: jnp.asarray(random.normal(size=a.shape), jnp.float32), state))


def some_inputs(length, *, before=0, after=1, places=PLACES):
    """A sentence with words of its note before and after it, and padding in all other places."""
    random = np.random.default_rng(length)
    real = np.zeros(places, bool)
    real[CONTEXT - before : CONTEXT + length + after] = True
    found = {
        "words": random.integers(1, 9, places),
        "casing": random.integers(0, len(CASINGS), places),
        "characters": np.sort(random.integers(0, 6, (places, 4)))[:, ::-1],  # what is no character comes last
        "features": random.integers(0, 7, (places, 3)),
    }
    found["words"][~real] = 0
    return {name: array.astype(np.int32) for name, array in found.items()}


def some_tables():
    random = np.random.default_rng(9)
    return {name: random.normal(size=shape).astype(np.float32) for name, shape in SIZES.items()}


@jax.jit
def found_scores(inputs, length, key):
    vectors = {name: jnp.asarray(table)[inputs[name]] for name, table in some_tables().items()}
    return network().scores(vectors, inputs, length, key)["phi"]


def by_hand(inputs, length, draws):
    """The emissions of the sentence, [T, K], from the words that are there alone."""
    net, tables = network(), some_tables()
    of = {name: np.asarray(param[...], float) for name, param in (("U", net.crf.U), ("c", net.crf.c))}
    cnn = [np.asarray(param[...], float) for param in (net.tokens.characters.W, net.tokens.characters.b)]
    real = inputs["words"] != 0
    spelt = [tables["characters"][row[row > 0]].astype(float) for row in inputs["characters"]]
    parts = [
        tables["words"][inputs["words"]],
        np.eye(len(CASINGS))[inputs["casing"]],
        cnn_by_hand(*cnn, spelt, 3),
        [tables["features"][row[row > 0]].sum(axis=0) for row in inputs["features"]],
    ]
    states = (np.concatenate(parts, axis=1) * draws["input"])[real]
    for n, layer in enumerate(net.bilstm.layers):
        parameters = [np.asarray(param[...], float) for param in (layer.W, layer.R, layer.b)]
        states = bilstm_by_hand(*parameters, states * draws[f"layer {n}"], draws[f"states {n}"])
    first = np.count_nonzero(real[:CONTEXT])
    own = states[first : first + length] * draws["output"][:length]
    return own @ of["U"].T + of["c"]


def some_factors(key):
    """Factors of dropout of a sentence of PLACES - 2 tokens, as the network draws them."""
    net = network()
    layers_key, output_key = split_key(key, 2)
    first, *keys = split_key(layers_key, 1 + 2 * len(net.bilstm.layers))
    found = {
        "input": dropout_factors((PLACES, net.tokens.size), net.bilstm.input_dropout, first),
        "output": dropout_factors((PLACES - 2, 2 * net.bilstm.hidden), net.output_dropout, output_key),
    }
    for n, (of_inputs, of_states) in enumerate(zip(keys[::2], keys[1::2], strict=True)):
        size, rate = net.tokens.size if n == 0 else 2 * net.bilstm.hidden, net.bilstm.variational_dropout
        found[f"layer {n}"] = dropout_factors((size,), rate, of_inputs)
        found[f"states {n}"] = dropout_factors((2, net.bilstm.hidden), rate, of_states)
    return {name: np.asarray(array, float) for name, array in found.items()}


@pytest.mark.parametrize("seed", [None, 5])
@pytest.mark.parametrize(("length", "before", "after"), [(6, 1, 1), (6, 0, 0), (3, 1, 1), (3, 0, 1), (1, 1, 0)])
def test_emissions_follow_the_equations_whatever_is_around_the_sentence(seed, length, before, after):
    """Without a key the equations have no dropout; with one the factors multiply where the paper drops."""
    key = None if seed is None else jax.random.key(seed)
    inputs, factors = some_inputs(length, before=before, after=after), some_factors(key)
    found = found_scores(inputs, np.int32(length), key)
    assert all((array == 1).all() for array in factors.values()) == (seed is None)
    np.testing.assert_allclose(found.emissions[:length], by_hand(inputs, length, factors), atol=2e-5)
    np.testing.assert_array_equal(found.transitions, network().crf.A[...])


def test_more_padding_changes_nothing():
    inputs, longer = some_inputs(3), {name: array.copy() for name, array in some_inputs(3, places=PLACES + 3).items()}
    for name, array in inputs.items():
        longer[name][:PLACES] = array
    longer["words"][PLACES:] = 0
    found = [found_scores(given, np.int32(3), None).emissions[:3] for given in (inputs, longer)]
    np.testing.assert_allclose(*found, rtol=0, atol=1e-6)


def test_it_holds_parameters_alone():
    leaves = jax.tree.leaves(nnx.split(network())[1], is_leaf=lambda x: isinstance(x, nnx.Variable))
    assert {type(leaf) for leaf in leaves} == {nnx.Param}
    assert [type(layer) for layer in network().bilstm.layers] == [BiLstm, BiLstm]


def test_friedrich2019_is_table_1():
    paper = BilstmCrfTagger.profiles()["friedrich2019"]
    assert (paper.layers, paper.hidden) == (2, 128)
    assert (paper.input_dropout, paper.variational_dropout, paper.output_dropout) == (0.1, 0.25, 0.5)
    assert (paper.features, paper.char_dim, paper.context) == ("casing", 0, 0)
    assert (paper.batch, paper.max_norm, paper.average) == (32, 1.0, 0.0)
    assert (paper.lr, paper.final_lr) == (0.002, 1.0)  # that of Keras: the paper gives none


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("hidden", 0), ("layers", 0), ("batch", 0), ("char_filters", 0), ("feature_dim", 0), ("char_dim", -1),
        ("context", -1), ("context", 1.5), ("input_dropout", 1.0), ("variational_dropout", -0.1),
        ("output_dropout", 1.0), ("average", 1.0), ("patience", 0), ("features", "all"), ("lr", 0.0),
    ],
)  # fmt: skip
def test_a_setting_that_cannot_work_is_refused(name, value):
    with pytest.raises(SettingError, match=f"{name}.*{re.escape(str(value))}"):
        BilstmCrfSettings(**{name: value})


NOTE = split_sentences(
    "HISTORY\nSeen by Dr. Marsh. Mr Quill denies pain.\nMRN: 0301 at FIH\nPlan: rest and fluids\nSigned by Dr. Vole"
)
DOCTORS = {"Marsh": "B-DOCTOR", "Vole": "B-DOCTOR"}
ITEMS = [LabelledSentence(s, tuple(DOCTORS.get(word, "O") for word in s.words), "1") for s in NOTE]
TINY = BilstmCrfSettings(
    embedding_dim=4, hidden=3, char_dim=3, char_filters=4, feature_dim=3, feature_min_count=1, min_count=1,
    context=2, epochs=1, batch=4,
)  # fmt: skip


@cache
def tagger():
    found = BilstmCrfTagger(TINY)
    found.fit(ITEMS, [])
    return found


@pytest.mark.parametrize(
    ("changed", "tables"),
    [
        ({}, {"words", "characters", "features"}),
        ({"char_dim": 0}, {"words", "features"}),
        ({"features": "casing"}, {"words", "characters"}),
        ({"features": "none", "char_dim": 0}, {"words"}),
    ],
)
def test_the_tables_are_those_of_the_inputs_that_are_wanted(changed, tables):
    one = BilstmCrfTagger(replace(TINY, **changed))
    processor = one.processor(ITEMS)
    (row, *_) = processor.rows(NOTE)
    structure, shapes = expected_shapes(one, processor)
    assert set(row.inputs) == tables | ({"casing"} if one.settings.features != "none" else set())
    assert {name.removeprefix("tables.") for name in shapes if name.startswith("tables.")} == tables
    batch = make_batch([row], length=8)
    inputs = {name: jax.ShapeDtypeStruct(array.shape[1:], array.dtype) for name, array in batch.inputs.items()}
    found = jax.eval_shape(partial(inference_scores, structure), shapes, inputs, jax.ShapeDtypeStruct((), np.int32))
    assert found["phi"].emissions.shape == (8, 2)


def test_the_network_has_the_dropout_rates_of_the_settings():
    network = tagger().learned.network
    assert (network.bilstm.input_dropout, network.bilstm.variational_dropout, network.output_dropout) == (
        0.1,
        0.25,
        0.5,
    )


def test_the_words_around_a_sentence_are_read():
    alone, within = tagger().marginals([Sentence.from_words(NOTE[1].words), NOTE[1]])
    assert np.abs(alone - within).max() > 1e-4


@settings(max_examples=12)
@given(st.lists(st.sampled_from(range(len(NOTE))), min_size=1, max_size=9), st.integers(0, 8))
def test_company_order_and_padding_change_nothing(order, long):
    """In a batch of few rows or of many, beside a sentence without tokens, and beside a long one."""
    expected = [tagger().marginals([sentence])[0] for sentence in NOTE]
    company = [Sentence(()), Sentence.from_words(["Quill"] * 8)]
    sentences = [*(NOTE[i] for i in order[:long]), *company, *(NOTE[i] for i in order[long:])]
    found = tagger().marginals(sentences)
    for sentence, table in zip(sentences, found, strict=True):
        assert table.shape == (len(sentence.tokens), 2)
        if sentence in NOTE:
            np.testing.assert_allclose(table, expected[NOTE.index(sentence)], rtol=0, atol=1e-6)


def test_with_a_key_context_characters_and_features_give_the_same(tmp_path):
    key = bytes(range(32))
    tagger().save(tmp_path, key=key)
    for a, b in zip(BilstmCrfTagger.load(tmp_path, key=key).marginals(NOTE), tagger().marginals(NOTE), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-6)

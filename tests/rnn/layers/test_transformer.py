"""The transformer against NumPy, and against `transformers` where that is installed."""

import json

import jax
import numpy as np
import pytest
from encoder_equations import ACTIVATIONS, encode
from flax import nnx
from safetensors import safe_open
from tiny_encoders import bert_config, random_arrays, roberta_config, write_encoder

from rnn.layers.dropout import dropout_factors, split_key
from rnn.layers.transformer import TransformerEncoder
from rnn.network import Structure
from rnn.pretrained.hub import PretrainedEncoder, read_encoder, small_folder
from rnn.saving import params_from

pytestmark = pytest.mark.usefixtures("quickly_compiled")
TEXT = [2, 40, 7, 7, 81, 12, 3]
CONFIGS = {
    "bert": bert_config(),
    "roberta": roberta_config(max_position_embeddings=40),
    "tanh": bert_config(hidden_act="gelu_new", num_hidden_layers=1),
    "relu": bert_config(hidden_act="relu", num_attention_heads=1, num_hidden_layers=1, hidden_size=6),
}


def network(encoder: PretrainedEncoder, dropout: float = 0.0) -> tuple[TransformerEncoder, np.ndarray]:
    """An encoder's transformer, and the vectors of its pieces."""
    arrays = encoder.weights()
    vectors = arrays.pop("pieces")
    structure, shapes = Structure.split(
        nnx.eval_shape(lambda: TransformerEncoder(encoder.config, dropout=dropout, rngs=nnx.Rngs(0)))
    )
    arrays = {f"network.{name}": array for name, array in arrays.items()}
    return structure.network(params_from(shapes, arrays.keys(), arrays.__getitem__)), vectors


def states(encoder: PretrainedEncoder, pieces: list[int], *, padding: int = 0) -> np.ndarray:
    """States of the last layer for a text, [L, H], without dropout."""
    transformer, vectors = network(encoder)
    real = np.arange(len(pieces) + padding) < len(pieces)
    read = vectors[pieces + [9] * padding]
    return np.asarray(jax.jit(transformer.__call__)(read, real))[: len(pieces)]


@pytest.mark.parametrize("name", CONFIGS)
def test_states_are_those_of_the_equations(name, tmp_path):
    config = CONFIGS[name]
    found = states(read_encoder(write_encoder(tmp_path, config)), TEXT)
    np.testing.assert_allclose(found, encode(random_arrays(config), config, TEXT), atol=2e-5)


def test_every_activation_has_an_equation():
    assert {config["hidden_act"] for config in CONFIGS.values()} == set(ACTIVATIONS)


def test_padding_changes_nothing_even_beyond_the_last_position(tmp_path):
    encoder = read_encoder(write_encoder(tmp_path, bert_config(max_position_embeddings=len(TEXT))))
    np.testing.assert_allclose(states(encoder, TEXT, padding=5), states(encoder, TEXT), atol=1e-6)


def factors(config: dict, length: int, rate: float, key: jax.Array) -> dict:
    """The factors of dropout that the network draws from a key, as `encode` reads them."""
    heads, size = config["num_attention_heads"], config["hidden_size"]
    first, *layers = split_key(key, 1 + config["num_hidden_layers"])
    found: dict = {"vectors": dropout_factors((length, size), rate, first)}
    for i, one in enumerate(layers):
        attention, attended, fed = split_key(one, 3)
        found[i, "attention"] = dropout_factors((heads, length, length), rate, attention)
        found[i, "attended"] = dropout_factors((length, size), rate, attended)
        found[i, "fed"] = dropout_factors((length, size), rate, fed)
    return {name: np.asarray(array) for name, array in found.items()}


def test_dropout_is_of_vectors_attention_and_both_halves_of_each_layer(tmp_path):
    config, key = bert_config(), jax.random.key(3)
    transformer, vectors = network(read_encoder(write_encoder(tmp_path, config)), dropout=0.4)
    call, real = jax.jit(transformer.__call__), np.ones(len(TEXT), bool)
    keep = factors(config, len(TEXT), 0.4, key)
    expected = encode(random_arrays(config), config, TEXT, keep)
    np.testing.assert_allclose(call(vectors[TEXT], real, key), expected, atol=5e-5)
    for name in keep:  # each of them counts
        without = encode(random_arrays(config), config, TEXT, {**keep, name: np.ones_like(keep[name])})
        assert not np.allclose(without, expected, atol=1e-3)
    np.testing.assert_array_equal(call(vectors[TEXT], real), call(vectors[TEXT], real, None))


@pytest.mark.slow
def test_the_states_of_the_small_encoder_are_those_of_the_equations():
    folder = small_folder()
    if not folder.is_dir():
        pytest.skip("not fetched: python -m rnn.fetch_encoder")
    config, pieces = json.loads((folder / "config.json").read_text()), [101, 2464, 2011, 2852, 21864, 1012, 102]
    with safe_open(folder / "model.safetensors", framework="numpy") as file:
        arrays = {name: file.get_tensor(name) for name in file.keys() if "position_ids" not in name}  # noqa: SIM118
    np.testing.assert_allclose(states(read_encoder(folder), pieces), encode(arrays, config, pieces), atol=1e-4)


@pytest.fixture
def transformers():
    """PyTorch's implementation; the extra "oracles" installs it."""
    return pytest.importorskip("transformers", reason="not installed: pip install -e '.[oracles]'")


@pytest.mark.parametrize("name", ["bert", "roberta"])
def test_states_are_those_of_transformers(name, tmp_path, transformers):
    folder = write_encoder(tmp_path, CONFIGS[name])
    torch = pytest.importorskip("torch")
    model = transformers.AutoModel.from_pretrained(folder).eval()
    with torch.no_grad():
        theirs = model(torch.tensor([TEXT])).last_hidden_state[0].numpy()
    np.testing.assert_allclose(states(read_encoder(folder), TEXT), theirs, atol=1e-4)


def test_the_small_encoder_gives_the_states_of_transformers(transformers):
    folder = small_folder()
    if not folder.is_dir():
        pytest.skip("not fetched: python -m rnn.fetch_encoder")
    encoder, torch = read_encoder(folder), pytest.importorskip("torch")
    words = ["seen", "by", "Dr", "Quillfeather", ",", "who", "denies", "müsli", "😀"]
    opening, closing, _ = encoder.pieces.special
    pieces = [opening, *(p for w in words for p in encoder.pieces(w, spaced=True)), closing]
    model = transformers.AutoModel.from_pretrained(folder).eval()
    with torch.no_grad():
        theirs = model(torch.tensor([pieces])).last_hidden_state[0].numpy()
    np.testing.assert_allclose(states(encoder, pieces), theirs, atol=1e-4)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    assert tokenizer(words, is_split_into_words=True)["input_ids"] == pieces


def test_all_arrays_of_an_encoder_are_read_and_no_others(tmp_path):
    encoder = read_encoder(write_encoder(tmp_path))
    transformer, _ = network(encoder)
    names = {f"network.{name}" for name in encoder.weights()} - {"network.pieces"}
    assert names == Structure.split(transformer)[1].keys()
    assert json.loads((tmp_path / "config.json").read_text())["num_hidden_layers"] == len(transformer.layers)

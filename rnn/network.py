"""Interface of networks to training and prediction: scores of one sentence from vectors and random numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, Protocol

import jax
import jax.numpy as jnp
from flax import nnx
from jax import lax

from rnn.vocab import FIRST_WORD, PAD


class Scores(NamedTuple):
    """Scores of the tags of one annotation layer in a sentence.

    Attributes:
        emissions: score of each tag at each token, [T, K].
        transitions: score of each step from tag to tag in a CRF, [K, K]; None for a softmax at each token.
    """

    emissions: jax.Array
    transitions: jax.Array | None = None


class Draw(NamedTuple):
    """Request of a network for random numbers of one sentence.

    Attributes:
        kind: "keep" for inverted dropout (0 at the dropout rate, else 1 / (1 - rate)); "normal" for standard normal
            numbers; "gumbel" for standard Gumbel numbers.
        shape: shape of the array.
    """

    kind: Literal["keep", "normal", "gumbel"]
    shape: tuple[int, ...]


class Network(Protocol):
    """Network that tags: a `flax.nnx.Module` of `nnx.Param` alone.

    It reads one sentence; training and prediction batch it by `jax.vmap`. All random numbers are arguments. The tables
    of word vectors are outside the network: it names them and receives the rows that a sentence looks up, so that an
    update can touch these rows alone.
    """

    tables: Mapping[str, str]
    """Table -> the input of row indices, such as {"words": "words"}."""

    def draws(self, length: int) -> Mapping[str, Draw]:
        """Random numbers for a sentence padded to ``length`` tokens, by name."""
        ...

    def scores(
        self,
        vectors: Mapping[str, jax.Array],
        inputs: Mapping[str, jax.Array],
        length: jax.Array,
        draws: Mapping[str, jax.Array],
    ) -> dict[str, Scores]:
        """Scores of each annotation layer.

        Args:
            vectors: rows of each table that the sentence looks up, [T + padding, ..., D].
            inputs: the sentence's other arrays from its processor.
            length: number of real tokens.
            draws: the numbers that `draws` asks for; those of `still` for a deterministic result.
        """
        ...


class Weights(NamedTuple):
    """Parameters of N replicates.

    Attributes:
        tables: vectors of words, characters and features, by name, [N, V, D].
        network: an `nnx.State` of arrays [N, ...].
    """

    tables: dict[str, Any]
    network: Any


def still(network: Network, length: int) -> dict[str, jax.Array]:
    """Deterministic inputs in place of random numbers: every dropout factor 1, every noise 0."""
    return {
        name: jnp.ones(draw.shape) if draw.kind == "keep" else jnp.zeros(draw.shape)
        for name, draw in network.draws(length).items()
    }


PHI_TAG_IDS = "decided"
"""Name of the input with the ids of the decided PHI tags, [T], for networks that hide PHI."""

SUBWORD_VECTORS = "given"
"""Name of the input with vectors of unknown words, [T + padding, D], made from their parts.

It belongs to the input "words"; that of "concept words" is "concept given"."""


def embedding_lookup(
    network: Network, tables: Mapping[str, jax.Array], inputs: Mapping[str, jax.Array]
) -> dict[str, jax.Array]:
    """Look up the rows of each table for one or more sentences, [..., D].

    An unknown word has the sum of its casing class's row and its vector in `SUBWORD_VECTORS`, if there is that input.

    Args:
        network: names the tables and their inputs.
        tables: those of one replicate, [V, D] each.
        inputs: those of one sentence, or of several.
    """
    found = {table: tables[table][inputs[name]] for table, name in network.tables.items()}
    for table, name in network.tables.items():
        given = name.removesuffix("words") + SUBWORD_VECTORS
        if name.endswith("words") and given in inputs:
            unknown = (inputs[name] != PAD) & (inputs[name] < FIRST_WORD)
            found[table] = found[table] + jnp.where(unknown[..., None], inputs[given], 0.0)
    return found


def inference_scores(
    graph: nnx.GraphDef[Any],
    weights: Weights,
    inputs: Mapping[str, jax.Array],
    length: jax.Array,
    tokens: int,
) -> dict[str, Scores]:
    """Deterministic scores of one sentence that is padded to ``tokens``."""
    network: Any = nnx.merge(graph, weights.network)
    vectors = embedding_lookup(network, weights.tables, inputs)
    found: dict[str, Scores] = network.scores(vectors, inputs, length, still(network, tokens))
    return found


def flatten_params(weights: Weights) -> dict[str, Any]:
    """Arrays of weights by path: "tables.words", "network.layers.0.W", …"""
    leaves = jax.tree_util.tree_leaves_with_path(weights)
    # Flax appends ".value" to the path of a parameter's array.
    return {
        jax.tree_util.keystr(path, simple=True, separator=".").removesuffix(".value"): leaf for path, leaf in leaves
    }


def side_by_side(function: Callable[..., Any], *arrays: Any) -> Any:
    """Apply `jax.vmap(function)` to pytrees of arrays [N, ...], in full float32 on every device.

    A single replicate is computed without the axis N: with it, XLA generates slower code for a CPU.
    """
    with jax.default_matmul_precision("float32"):  # a GPU would round the factors to fewer bits
        if jax.tree.leaves(arrays)[0].shape[0] > 1:
            return jax.vmap(function)(*arrays)
        alone = jax.tree.map(lambda array: lax.squeeze(jnp.asarray(array), [0]), arrays)
        return jax.tree.map(lambda array: array[None], function(*alone))

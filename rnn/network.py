"""What a network is to training and prediction: scores of one sentence, from vectors and draws that it is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, Protocol

import jax
import jax.numpy as jnp
from flax import nnx
from jax import lax

from rnn.vocab import FIRST_WORD, PAD


class Scores(NamedTuple):
    """What a network says of the tags of one annotation layer in a sentence.

    Attributes:
        emissions: a score for each tag at each token, [T, K].
        transitions: a score for each step from tag to tag, [K, K], where a CRF chooses the tags; None where a softmax
            gives each token's probabilities by itself.
    """

    emissions: jax.Array
    transitions: jax.Array | None = None


class Draw(NamedTuple):
    """Random numbers that a network wants for one sentence.

    Attributes:
        kind: "keep" for factors that are 0 with the rate of dropping and else as much above 1 as keeps the mean at 1;
            "normal" for standard normal numbers; "gumbel" for standard Gumbel numbers.
        shape: of the array.
    """

    kind: Literal["keep", "normal", "gumbel"]
    shape: tuple[int, ...]


class Network(Protocol):
    """A network that tags: a `flax.nnx.Module` of `nnx.Param` alone.

    It sees one sentence; who trains it or asks it runs many at once by `jax.vmap`. All that is random is an argument.
    It does not own the tables of word vectors: it names them, and gets the rows that a sentence looks up, so that an
    update can be kept to these rows.
    """

    tables: Mapping[str, str]
    """Table -> the input whose numbers choose its rows, such as {"words": "words"}."""

    def draws(self, length: int) -> Mapping[str, Draw]:
        """What it wants drawn for a sentence padded to ``length`` tokens, by name."""
        ...

    def scores(
        self,
        vectors: Mapping[str, jax.Array],
        inputs: Mapping[str, jax.Array],
        length: jax.Array,
        draws: Mapping[str, jax.Array],
    ) -> dict[str, Scores]:
        """The scores of each annotation layer that it tags.

        Args:
            vectors: the rows of each table that the sentence looks up, [T + padding, ..., D].
            inputs: the sentence's other arrays, as its processor makes them.
            length: how many of the T tokens are real.
            draws: by name, as `draws` asks for them; neutral ones when nothing is to be random (`still`).
        """
        ...


class Weights(NamedTuple):
    """All that is learned, of N networks side by side.

    Attributes:
        tables: the vectors of words and the like, by name, [N, V, D].
        network: the parameters, an `nnx.State` of arrays [N, ...].
    """

    tables: dict[str, Any]
    network: Any


def still(network: Network, length: int) -> dict[str, jax.Array]:
    """The draws with which nothing is random: every factor 1, every noise 0."""
    return {
        name: jnp.ones(draw.shape) if draw.kind == "keep" else jnp.zeros(draw.shape)
        for name, draw in network.draws(length).items()
    }


PHI_TAG_IDS = "decided"
"""The input that holds the PHI tags' ids, [T], once they are decided: for what reads text in which PHI is hidden."""

SUBWORD_VECTORS = "given"
"""The input that holds a vector for each word, [T + padding, D], for those that have none of their own.

It stands beside "words"; beside an input whose name ends so, "concept words", it is "concept given"."""


def embedding_lookup(
    network: Network, tables: Mapping[str, jax.Array], inputs: Mapping[str, jax.Array]
) -> dict[str, jax.Array]:
    """The rows of each table that a sentence looks up, [..., D].

    Where the inputs give vectors, an unknown word has the sum of its class's row and the vector given for it.

    Args:
        network: whose tables they are.
        tables: of one network, [V, D] each.
        inputs: of one sentence, or of several.
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
    """What a network that is not being trained says of one sentence, padded to ``tokens``."""
    network: Any = nnx.merge(graph, weights.network)
    vectors = embedding_lookup(network, weights.tables, inputs)
    found: dict[str, Scores] = network.scores(vectors, inputs, length, still(network, tokens))
    return found


def flatten_params(weights: Weights) -> dict[str, Any]:
    """Every array of some weights by the name of its place: "tables.words", "network.layers.0.W", …"""
    leaves = jax.tree_util.tree_leaves_with_path(weights)
    # Flax calls the array in a parameter its value: that is no part of the place.
    return {
        jax.tree_util.keystr(path, simple=True, separator=".").removesuffix(".value"): leaf for path, leaf in leaves
    }


def side_by_side(function: Callable[..., Any], *arrays: Any) -> Any:
    """`jax.vmap(function)` on arrays [N, ...] (or pytrees of them), in full float32 on every device.

    A single replicate is computed without the axis N: with it, XLA writes slower code for a CPU.
    """
    with jax.default_matmul_precision("float32"):  # a GPU would round the factors to fewer bits
        if jax.tree.leaves(arrays)[0].shape[0] > 1:
            return jax.vmap(function)(*arrays)
        alone = jax.tree.map(lambda array: lax.squeeze(jnp.asarray(array), [0]), arrays)
        return jax.tree.map(lambda array: array[None], function(*alone))

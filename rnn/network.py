"""Structure and parameters of networks, their tables, initial weights and deterministic scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial, wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

import jax
import jax.numpy as jnp
from flax import nnx

from rnn import gpu
from rnn.interfaces import Arrays, Logits, Network, Params
from rnn.vocab import FIRST_WORD, PAD

_P = ParamSpec("_P")
_R = TypeVar("_R")


class Structure(NamedTuple):
    """All of a network but its numbers: hashable, and so an argument that JAX compiles for.

    Attributes:
        graph: from `nnx.split`.
        tree: structure of the parameters.
        names: name of each parameter, in the order of ``tree``.
    """

    graph: nnx.GraphDef[Any]
    tree: Any
    names: tuple[str, ...]

    @classmethod
    def split(cls, network: Any) -> tuple[Structure, Params]:
        """Split a network into its structure and its parameters."""
        graph, state = nnx.split(network)
        leaves, tree = jax.tree_util.tree_flatten_with_path(state)
        # Flax appends ".value" to the path of a parameter's array.
        paths = [jax.tree_util.keystr(path, simple=True, separator=".").removesuffix(".value") for path, _ in leaves]
        params = {f"network.{path}": leaf for path, (_, leaf) in zip(paths, leaves, strict=True)}
        return cls(graph, tree, tuple(params)), params

    def network(self, params: Mapping[str, Any]) -> Any:
        """Build the `Network` with some parameters."""
        return nnx.merge(self.graph, jax.tree.unflatten(self.tree, [params[name] for name in self.names]))


class TrainedModel(NamedTuple):
    """Network with parameters, initial or trained.

    Attributes:
        processor: processor of its sentences.
        structure: structure of the network.
        params: parameters by name, with the tables.
    """

    processor: Any
    structure: Structure
    params: Params

    @property
    def network(self) -> Any:
        """The network."""
        return self.structure.network(self.params)


def with_tables(tables: Mapping[str, Any], params: Params) -> Params:
    """Add tables by name to the parameters of a network."""
    return {**{f"tables.{name}": table for name, table in tables.items()}, **params}


PHI_TAG_IDS = "decided"
"""Name of the input with the ids of the decided PHI tags, [T], for networks that hide PHI."""

SUBWORD_VECTORS = "given"
"""Name of the input with vectors of unknown words, [T + padding, D], made from their parts.

It belongs to the input "words"; that of "concept words" is "concept given"."""


def embedding_lookup(network: Network, params: Mapping[str, Any], inputs: Arrays) -> dict[str, jax.Array]:
    """Look up the rows of each table for one or more sentences, [..., D].

    An unknown word has the sum of its casing class's row and its vector in `SUBWORD_VECTORS`, if there is that input.

    Args:
        network: names the tables and their inputs.
        params: parameters with the tables, [V, D] each.
        inputs: those of one sentence, or of several.
    """
    rows_of = gpu.rows_of if jax.default_backend() == "gpu" else lambda table, ids: table[ids]
    found = {table: rows_of(params[f"tables.{table}"], inputs[name]) for table, name in network.tables.items()}
    for table, name in network.tables.items():
        made = name.removesuffix("words") + SUBWORD_VECTORS
        if name.endswith("words") and made in inputs:
            unknown = (inputs[name] != PAD) & (inputs[name] < FIRST_WORD)
            found[table] = found[table] + jnp.where(unknown[..., None], inputs[made], 0.0)
    return found


def inference_scores(structure: Structure, params: Params, inputs: Arrays, length: jax.Array) -> Mapping[str, Logits]:
    """Deterministic scores of one sentence."""
    network = structure.network(params)
    return network.scores(embedding_lookup(network, params, inputs), inputs, length)


def full_precision(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Trace a function with products in full float32 on every device; a GPU would round the factors to fewer bits."""

    @wraps(function)
    def precise(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        with jax.default_matmul_precision("float32"):
            return function(*args, **kwargs)

    return precise


_FEW, _MANY = 1 << 17, 1 << 22  # between these sizes, surplus numbers are made


def uniform(key: jax.Array, shape: tuple[int, ...], bound: float | None) -> jax.Array:
    """Initial weights of a matrix [outputs, inputs], uniform in [-bound, bound].

    The default bound is Glorot's, sqrt(6 / (inputs + outputs)), which keeps the variance of signals and gradients about
    the same from layer to layer (Glorot and Bengio 2010, equation 16).

    The numbers are those of `jax.random.uniform`, whose longer results begin with the shorter ones. It is compiled for
    every shape, so the number is rounded up to a power of two to share programs.
    """
    limit = (6.0 / sum(shape)) ** 0.5 if bound is None else bound
    size = math.prod(shape)
    padded = size if size > _MANY else max(_FEW, 1 << (size - 1).bit_length())
    return _first(jax.random.uniform(key, (padded,), minval=-limit, maxval=limit), shape)


@partial(jax.jit, static_argnames="shape")
def _first(numbers: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    return numbers[: math.prod(shape)].reshape(shape)

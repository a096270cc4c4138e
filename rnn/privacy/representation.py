"""The private representation of a sentence: what may be shared in its place (friedrich2019, section 5.2)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from flax import nnx

from crfdeid.errors import UsageError
from crfdeid.serialization import PUBLIC, ModelFiles, pack_arrays
from features.tokens import Sentence
from rnn.batching import predict_batches
from rnn.compile_cache import keep_compiled
from rnn.embeddings.lookup import Lookup
from rnn.embeddings.vectors import WordVectors
from rnn.layers.representation import Representation
from rnn.network import Weights, flatten_params
from rnn.privacy.settings import PrivateSettings

_FILES = ModelFiles("representation", 1, "weights.npz", ("jax", "flax"), PUBLIC)
_VECTORS = "vectors."  # before the names of their arrays among the weights
_PLACE = "network."  # before the names of a module's arrays, in `rnn.network.flatten_params`


@dataclass(frozen=True, eq=False)
class RepresentationModel:
    """A representation with all that it takes to encode text: public word vectors and weights.

    It looks at a sentence alone, never at its note.

    Args:
        settings: what it was trained with.
        seed: what it was trained from.
        vectors: the word vectors, which must be public: they are part of what is handed on.
        weights: its parameters by name, as `parameters` has them.

    Example:
        >>> vectors = WordVectors(("seen", "Doe"), np.eye(2, dtype=np.float32))
        >>> model = RepresentationModel.untrained(vectors, PrivateSettings(size=4), seed=0)
        >>> [row.shape for row in model.encode([Sentence.from_words(["seen", "Doe", "here"])], None)]
        [(3, 4)]
    """

    settings: PrivateSettings
    seed: int
    vectors: WordVectors
    weights: Mapping[str, npt.NDArray[np.float32]]

    @classmethod
    def untrained(cls, vectors: WordVectors, settings: PrivateSettings, *, seed: int) -> Self:
        """One with random weights: what training starts from."""
        network = new_representation(vectors.dim, settings, nnx.Rngs(seed))
        return cls(settings, seed, vectors, parameters(nnx.state(network)))

    @property
    def size(self) -> int:
        """The size of a token's representation, S."""
        return self.settings.size

    @property
    def deviations(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """The standard deviations of the noise of the inputs, [D], and of the outputs, [S]."""
        found = [jax.nn.softplus(self.weights[f"{place}_noise.s"]) for place in ("input", "output")]
        return np.asarray(found[0]), np.asarray(found[1])

    @cached_property
    def lookup(self) -> Lookup:
        """The word vectors as the representation reads them."""
        return Lookup(self.vectors)

    @cached_property
    def digest(self) -> str:
        """A checksum of vectors, weights and settings: what names this model beside what it encoded."""
        whole = hashlib.sha256(repr(self.settings).encode())
        for name, array in sorted(self.arrays().items()):
            whole.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
            whole.update(np.ascontiguousarray(array).tobytes())
        return whole.hexdigest()

    def encode(self, sentences: Sequence[Sentence], random: np.random.Generator | None) -> list[np.ndarray]:
        """For each sentence its representation, [T, S] float32.

        Args:
            sentences: the sentences.
            random: draws the noise, for sentence after sentence of about one length; None for none, as where text is
                tagged.
        """
        keep_compiled()
        found: list[np.ndarray] = [np.zeros((0, self.size), np.float32)] * len(sentences)
        lengths = [len(sentence.tokens) for sentence in sentences]
        running = [(members, self._run(batch)) for members, batch in self._batches(sentences, lengths, random)]
        for members, states in running:  # all are on their way before the first is waited for
            for i, row in zip(members, np.asarray(states), strict=False):
                found[i] = row[: lengths[i]].copy()
        return found

    def _batches(
        self, sentences: Sequence[Sentence], lengths: Sequence[int], random: np.random.Generator | None
    ) -> Iterator[tuple[list[int], tuple[np.ndarray, ...]]]:
        known: dict[int, np.ndarray] = {}  # who attacks encodes one sentence many times over: look it up once
        for members, length, size in predict_batches(lengths):
            real = (
                np.arange(length)[None] < np.array([lengths[i] for i in members] + [0] * (size - len(members)))[:, None]
            )
            vectors = np.zeros((size, length, self.vectors.dim), np.float32)
            normal_in, normal_out = np.zeros_like(vectors), np.zeros((size, length, self.size), np.float32)
            for row, sentence in enumerate(sentences[i] for i in members):
                if id(sentence) not in known:
                    known[id(sentence)] = self.lookup(sentence.words)
                vectors[row, : len(sentence.tokens)] = known[id(sentence)]
            if random is not None:
                for numbers in (normal_in, normal_out):
                    numbers[real] = random.standard_normal((int(real.sum()), numbers.shape[2]), np.float32)
            yield members, (vectors, real, normal_in, normal_out)

    def _run(self, batch: tuple[np.ndarray, ...]) -> jax.Array:
        with jax.default_matmul_precision("float32"):
            return _encode(*self._network, *batch)

    @cached_property
    def _network(self) -> tuple[nnx.GraphDef[Any], Any]:
        graph, state = nnx.split(new_representation(self.vectors.dim, self.settings, nnx.Rngs(0)))
        return graph, _filled(state, self.weights)

    def save(self, folder: Path) -> None:
        """Write ``model.json`` and ``weights.npz``.

        Raises:
            DataError: they cannot be written.
        """
        _FILES.save(folder, pack_arrays(self.arrays()), settings=self.settings, seed=self.seed, key=None)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read a model that `save` wrote.

        Raises:
            DataError: the folder holds no such model, one of another version, or a damaged one.
        """
        saved = _FILES.load(folder, key=None)
        with saved.refusing_damage():
            return cls.read(saved.description, saved.arrays())

    def describe(self) -> dict[str, Any]:
        """All of it but arrays, as JSON data, for `read`: where it is part of another model's files."""
        return {"settings": asdict(self.settings), "seed": self.seed}

    def arrays(self) -> dict[str, np.ndarray]:
        """What `describe` leaves out, as arrays."""
        return {**self.weights, **{_VECTORS + name: array for name, array in self.vectors.arrays().items()}}

    @classmethod
    def read(cls, described: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Self:
        """The model that `describe` and `arrays` gave.

        Raises:
            KeyError, TypeError, ValueError: they are not those of such a model.
        """
        try:
            settings = PrivateSettings(**described["settings"])
        except UsageError as error:  # nobody chose them here: it is damage
            raise ValueError(str(error)) from None
        vectors = {name.removeprefix(_VECTORS): a for name, a in arrays.items() if name.startswith(_VECTORS)}
        weights = {name: array for name, array in arrays.items() if not name.startswith(_VECTORS)}
        model = cls(settings, int(described["seed"]), WordVectors.from_arrays(vectors), weights)
        shapes = nnx.eval_shape(lambda: nnx.state(new_representation(model.vectors.dim, settings, nnx.Rngs(0))))
        _filled(shapes, weights)  # only their shapes: a description that asks for absurd sizes must not be built
        return model


def new_representation(dim: int, settings: PrivateSettings, rngs: nnx.Rngs) -> Representation:
    """A representation of word vectors of a size."""
    return Representation(dim=dim, size=settings.size, deviation=settings.deviation, rngs=rngs)


def parameters(state: Any) -> dict[str, npt.NDArray[np.float32]]:
    """The parameters of a module by the names of their places: "layer.W", "input_noise.s", …"""
    return {name.removeprefix(_PLACE): np.array(leaf) for name, leaf in flatten_params(Weights({}, state)).items()}


def _filled(state: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    """A module's state with given arrays in place of its own (or of their shapes).

    Raises:
        ValueError: they are not those of the module, or hold something other than finite numbers.
    """
    expected = flatten_params(Weights({}, state))
    if {_PLACE + name: array.shape for name, array in arrays.items()} != {n: a.shape for n, a in expected.items()}:
        raise ValueError("other arrays than the network's")
    if not all(array.dtype == np.float32 and np.isfinite(array).all() for array in arrays.values()):
        raise ValueError("weights that are no numbers")
    leaves = [jnp.asarray(arrays[name.removeprefix(_PLACE)]) for name in expected]
    return jax.tree.unflatten(jax.tree.structure(state), leaves)


@partial(jax.jit, static_argnames=("graph",))
def _encode(
    graph: nnx.GraphDef[Any], state: Any, vectors: Any, real: Any, normal_in: Any, normal_out: Any
) -> jax.Array:
    """The representations of B sentences, [B, T, S]."""
    found: jax.Array = jax.vmap(nnx.merge(graph, state))(vectors, real, normal_in, normal_out)
    return found

"""The private representation of sentences, shared instead of their text (friedrich2019, section 5.2)."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Self, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from flax import nnx
from jax import lax

from crfdeid.errors import UsageError
from crfdeid.serialization import PUBLIC, ModelFiles, pack_arrays
from features.tokens import Sentence
from rnn.batching import predict_batches
from rnn.compile_cache import keep_compiled
from rnn.embeddings.lookup import Lookup
from rnn.embeddings.vectors import WordVectors
from rnn.interfaces import Params
from rnn.layers.lstm import BiLstm
from rnn.network import Structure, full_precision, uniform
from rnn.privacy.settings import PrivateSettings
from rnn.saving import params_from

T = TypeVar("T")

_NETWORK_VERSION = 1  # incremented where `Representation` computes other numbers from the same weights
_FILES = ModelFiles("representation", 2, "weights.npz", ("jax", "flax"), PUBLIC, _NETWORK_VERSION)
_VECTORS = "vectors."  # prefix of the names of their arrays among the weights
_IN_FLIGHT = 2  # batches that are dispatched before the first is read: host and device work at the same time
_LEAST_SQUARE = 1e-12
_NETWORK = "network."  # prefix of the names of a module's parameters in `rnn.network.Structure`


class GaussianNoise(nnx.Module):
    """y(t) = x(t) + d * z(t), with z(t) standard normal and d = log(1 + exp(s)).

    The parameter is s, so that a deviation stays above 0 without a bound, and large ones grow as fast as s.

    Args:
        size: dimensions of x(t).
        deviation: initial standard deviation, above 0.

    Reference:
        Friedrich et al. (2019), section 5.2; the paper leaves open how deviations are kept positive.
    """

    def __init__(self, size: int, deviation: float) -> None:
        self.s = nnx.Param(jnp.full(size, np.log(np.expm1(deviation)), jnp.float32))

    @property
    def deviation(self) -> jax.Array:
        """The standard deviation of each dimension."""
        return jax.nn.softplus(self.s[...])

    def __call__(self, inputs: jax.Array, normal: jax.Array) -> jax.Array:
        """The inputs with noise.

        Args:
            inputs: [T, size].
            normal: standard normal numbers, [T, size]; zeros for no noise.
        """
        return inputs + self.deviation[None] * normal


class Representation(nnx.Module):
    """R = N_out + BiLSTM(E + N_in), equation 1; with ``hidden``, y / |y| with y = N_out + W BiLSTM(E + N_in) + b.

    Args:
        dim: size of a word vector, D.
        size: size of a token's representation, S.
        deviation: initial standard deviation of the noise.
        hidden: units of each direction before a linear layer, H; None for no such layer, and S / 2 units.
        rngs: source of the initial weights.

    Reference:
        Friedrich et al. (2019), section 5.2; the linear layer and the length of 1 are of its authors' code.
    """

    def __init__(self, *, dim: int, size: int, deviation: float, hidden: int | None = None, rngs: nnx.Rngs) -> None:
        self.input_noise = GaussianNoise(dim, deviation)
        self.layer = BiLstm(dim, size // 2 if hidden is None else hidden, rngs=rngs)
        self.output_noise = GaussianNoise(size, deviation)
        self.has_unit_length = hidden is not None
        if hidden is not None:
            self.W = nnx.Param(uniform(rngs.params(), (size, 2 * hidden), None))
            self.b = nnx.Param(jnp.zeros(size))

    def __call__(self, vectors: jax.Array, real: jax.Array, normal_in: jax.Array, normal_out: jax.Array) -> jax.Array:
        """Representation of a sentence, [T, S]; undefined at padding.

        Args:
            vectors: vectors of its words, E, [T, D].
            real: True at words, [T] bool.
            normal_in: standard normal numbers for N_in, [T, D]; zeros for none.
            normal_out: for N_out, [T, S].
        """
        keep = jnp.ones((2, self.layer.R[...].shape[1]))
        states = self.layer(self.input_noise(vectors, normal_in), real, keep)  # [T, 2H]
        if not self.has_unit_length:
            return self.output_noise(states, normal_out)
        noisy = self.output_noise(states @ self.W[...].T + self.b[...][None], normal_out)
        # The bound keeps the gradient of padding finite, which is a vector of zeros.
        return noisy * lax.rsqrt(jnp.maximum(jnp.sum(noisy**2, axis=1, keepdims=True), _LEAST_SQUARE))


@partial(jax.custom_vjp, nondiff_argnums=(1,))
def reverse_gradient(inputs: jax.Array, weight: float) -> jax.Array:
    """Return the inputs unchanged; multiply their gradient by ``-weight``.

    Args:
        inputs: an array.
        weight: lambda, 0 or more.

    Reference:
        Ganin et al. (2016), JMLR 17, section 4: R(x) = x, dR/dx = -lambda I.
    """
    return inputs


reverse_gradient.defvjp(lambda inputs, weight: (inputs, None), lambda weight, _, gradient: (-weight * gradient,))


@dataclass(frozen=True, eq=False)
class RepresentationModel:
    """Representation with public word vectors and weights, ready to encode text.

    It reads a sentence alone, never its note.

    Args:
        settings: settings of its training.
        seed: seed of its training.
        vectors: the word vectors, which must be public: they are published with the representation.
        weights: parameters by name: "layer.W", "input_noise.s", …

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
        """Create a representation with random weights."""
        _, params = Structure.split(new_representation(vectors.dim, settings, nnx.Rngs(seed)))
        return cls(settings, seed, vectors, {name.removeprefix(_NETWORK): np.array(a) for name, a in params.items()})

    @property
    def size(self) -> int:
        """Size of a token's representation, S."""
        return self.settings.size

    @property
    def deviations(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Standard deviations of the noise of the inputs, [D], and of the outputs, [S]."""
        found = [jax.nn.softplus(self.weights[f"{place}_noise.s"]) for place in ("input", "output")]
        return np.asarray(found[0]), np.asarray(found[1])

    @cached_property
    def lookup(self) -> Lookup:
        """Lookup of words in the vectors."""
        return Lookup(self.vectors)

    @cached_property
    def digest(self) -> str:
        """Checksum of vectors, weights and settings, which identifies this model in shared files."""
        whole = hashlib.sha256(repr(self.settings).encode())
        for name, array in sorted(self.arrays().items()):
            whole.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
            whole.update(np.ascontiguousarray(array).tobytes())
        return whole.hexdigest()

    def encode(self, sentences: Sequence[Sentence], random: np.random.Generator | None) -> list[np.ndarray]:
        """Encode each sentence, [T, S] float32.

        Args:
            sentences: the sentences.
            random: source of the noise, used for groups of sentences of about one length; None for no noise, as in
                tagging.
        """
        keep_compiled()
        found: list[np.ndarray] = [np.zeros((0, self.size), np.float32)] * len(sentences)
        lengths = [len(sentence.tokens) for sentence in sentences]
        batches = self._batches(sentences, lengths, random)
        running = ((members, _encode(*self._network, *batch)) for members, batch in batches)
        for members, states in _ahead(running, _IN_FLIGHT):
            for i, row in zip(members, np.asarray(states), strict=False):
                found[i] = row[: lengths[i]].copy()
        return found

    def _batches(
        self, sentences: Sequence[Sentence], lengths: Sequence[int], random: np.random.Generator | None
    ) -> Iterator[tuple[list[int], tuple[np.ndarray, ...]]]:
        known: dict[int, np.ndarray] = {}  # attacks encode one sentence many times: look it up once
        longest = 0
        for members, length, size in predict_batches(lengths):
            if length > longest:
                longest = length
                known.clear()
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

    @cached_property
    def _network(self) -> tuple[Structure, Params]:
        structure, shapes = _shapes(self.vectors.dim, self.settings)
        return structure, _params(shapes, self.weights)

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
        """Return JSON data for `read`, for the files of another model."""
        return {"settings": asdict(self.settings), "seed": self.seed}

    def arrays(self) -> dict[str, np.ndarray]:
        """Return arrays for `read`."""
        return {**self.weights, **{_VECTORS + name: array for name, array in self.vectors.arrays().items()}}

    @classmethod
    def read(cls, described: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Self:
        """Restore a model from `describe` and `arrays`.

        Raises:
            KeyError, TypeError, ValueError: the data are not those of a representation.
        """
        try:
            settings = PrivateSettings(**described["settings"])
        except UsageError as error:  # not a choice of the user: the file is damaged
            raise ValueError(str(error)) from None
        vectors = {name.removeprefix(_VECTORS): a for name, a in arrays.items() if name.startswith(_VECTORS)}
        weights = {name: array for name, array in arrays.items() if not name.startswith(_VECTORS)}
        model = cls(settings, int(described["seed"]), WordVectors.from_arrays(vectors), weights)
        # Only their shapes: a description that asks for a network of absurd size must not be built.
        _params(_shapes(model.vectors.dim, settings)[1], weights)
        return model


def _ahead(results: Iterable[T], count: int) -> Iterator[T]:
    """Yield results in order, each after at most ``count`` further ones were asked for."""
    waiting: deque[T] = deque()
    for result in results:
        waiting.append(result)
        if len(waiting) > count:
            yield waiting.popleft()
    yield from waiting


def new_representation(dim: int, settings: PrivateSettings, rngs: nnx.Rngs) -> Representation:
    """Create the layer for word vectors of size ``dim``."""
    hidden = settings.hidden if settings.output == "unit" else None
    return Representation(dim=dim, size=settings.size, deviation=settings.deviation, hidden=hidden, rngs=rngs)


def _shapes(dim: int, settings: PrivateSettings) -> tuple[Structure, Params]:
    """Structure of the layer, and the shapes of its parameters."""
    return Structure.split(nnx.eval_shape(lambda: new_representation(dim, settings, nnx.Rngs(0))))


def _params(shapes: Params, arrays: Mapping[str, np.ndarray]) -> Params:
    return params_from(shapes, [_NETWORK + name for name in arrays], lambda name: arrays[name.removeprefix(_NETWORK)])


@partial(jax.jit, static_argnames=("structure",))
@full_precision
def _encode(
    structure: Structure, params: Params, vectors: Any, real: Any, normal_in: Any, normal_out: Any
) -> jax.Array:
    """Representations of B sentences, [B, T, S]."""
    found: jax.Array = jax.vmap(structure.network(params))(vectors, real, normal_in, normal_out)
    return found

"""Files of network taggers: the processors and weights in them, which training can start from too."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, Self

import jax
import numpy as np
from flax import nnx

from crfdeid.documents import LabelledSentence
from crfdeid.errors import OptionConflictError
from crfdeid.secrets import require_same_key
from crfdeid.serialization import ModelFiles, ModelFolder, pack_arrays
from features.tokens import Sentence
from rnn.batching import Row
from rnn.network import Params, Structure, TrainedModel, with_tables

_FORMAT_VERSION = 3
_WEIGHTS_FILE = "weights.npz"
_PROCESSOR = "processor."  # prefix of its arrays among the weights


class Processor(Protocol):
    """Converts sentences to the rows that a network reads, and results of rows to results of tokens."""

    @property
    def tags(self) -> Mapping[str, tuple[str, ...]]:
        """Tags of each annotation layer."""

    @property
    def key(self) -> bytes | None:
        """Key of hashed words; None for readable words."""

    def rows(self, sentences: Sequence[Sentence], targets: Sequence[LabelledSentence] | None = None) -> list[Row]:
        """Make rows of sentences, in training with the targets of the tagged sentences."""

    def scatter_to_tokens(
        self, rows: Sequence[Row], values: Iterable[np.ndarray], sentences: Sequence[Sentence]
    ) -> list[np.ndarray]:
        """Convert the result of each row, [length, ...], to that of each sentence, [T, ...]."""

    def hashed(self, key: bytes) -> tuple[Processor, Mapping[str, np.ndarray]]:
        """Hash the words; return the new processor and, for each changed table, the old row of each new one.

        Raises:
            UsageError: the words are hashed already, with another key.
        """

    def describe(self) -> dict[str, Any]:
        """Return JSON data for `NetworkTagger.saved_processor`."""

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays for `NetworkTagger.saved_processor`."""


class PublicWords:
    """Mixin of processors whose words are public, so that there is nothing to hash."""

    @property
    def key(self) -> None:
        """None: the words are readable."""

    def hashed(self, key: bytes) -> tuple[Self, dict[str, np.ndarray]]:
        """Return the processor unchanged."""
        return self, {}


def save_tagger(tagger: Any, learned: TrainedModel, folder: Path, key: bytes | None) -> None:
    """Write ``model.json`` and ``weights.npz``; see `rnn.tagger.NetworkTagger.save`."""
    processor = learned.processor
    weights = {name: np.asarray(array) for name, array in sorted(learned.params.items())}
    require_same_key(processor.key, key)
    if key is not None:
        processor, moved = processor.hashed(key)
        for table, old in moved.items():
            name = f"tables.{table}"
            if name in weights:  # a network need not read the words
                weights[name] = weights[name][old]
    weights |= {_PROCESSOR + name: array for name, array in processor.arrays().items()}
    _files(type(tagger)).save(
        folder,
        pack_arrays(weights),
        settings=tagger.settings,
        seed=tagger.seed,
        key=key,
        processor=processor.describe(),
    )


def load_tagger(cls: Any, folder: Path | ModelFolder, key: bytes | None) -> Any:
    """Read a tagger that `save_tagger` wrote; see `rnn.tagger.NetworkTagger.load`."""
    saved = _files(cls).load(folder, key=key)
    tagger = cls(saved.settings(cls.settings_class), seed=saved.seed)
    with saved.refusing_damage():
        arrays = saved.arrays()
        parts = {name.removeprefix(_PROCESSOR): arrays[name] for name in arrays if name.startswith(_PROCESSOR)}
        processor = tagger.saved_processor(saved.description["processor"], parts, saved.key)
        names = [name for name in arrays if not name.startswith(_PROCESSOR)]
        tagger.learned = _model_from(tagger, processor, names, arrays.__getitem__)
    return tagger


def checkpoint(tagger: Any, before: TrainedModel) -> TrainedModel:
    """Copy a trained model for another tagger to start from; see `rnn.tagger.NetworkTagger.init_from`."""
    described = json.loads(json.dumps(before.processor.describe()))
    arrays = {name: np.asarray(array) for name, array in before.params.items()}
    try:
        processor = tagger.saved_processor(described, before.processor.arrays(), before.processor.key)
        return _model_from(tagger, processor, arrays.keys(), arrays.__getitem__)
    except (KeyError, TypeError, ValueError):
        problem = f"with these settings a {tagger.model} has another structure than the trained one"
        raise OptionConflictError(f"{problem}: leave out settings that change the network") from None


def _model_from(
    tagger: Any, processor: Processor, names: Collection[str], read: Callable[[str], np.ndarray]
) -> TrainedModel:
    structure, shapes = expected_shapes(tagger, processor)
    return TrainedModel(processor, structure, params_from(shapes, names, read))


def _files(cls: Any) -> ModelFiles:
    return ModelFiles(cls.model, _FORMAT_VERSION, _WEIGHTS_FILE, ("jax", "flax"), cls.words_are)


def expected_shapes(tagger: Any, processor: Processor) -> tuple[Structure, Params]:
    """Structure of a tagger's network, and the shapes of its parameters.

    No array is made: a damaged description may ask for a network of absurd size.
    """
    structure, params = Structure.split(nnx.eval_shape(lambda: tagger.network(processor, nnx.Rngs(tagger.seed))))
    return structure, with_tables(jax.eval_shape(lambda: tagger.tables(processor, nnx.Rngs(tagger.seed))), params)


def params_from(shapes: Params, names: Collection[str], read: Callable[[str], np.ndarray]) -> Params:
    """Put named arrays on the device as parameters, one at a time to save memory.

    Args:
        shapes: the expected parameters, arrays or their shapes.
        names: names of the arrays.
        read: name -> array.

    Raises:
        ValueError: names, shapes or types differ from the expected ones, or a number is not finite.
    """
    if set(names) != set(shapes):
        raise ValueError("other arrays than the network's")

    def param(name: str) -> jax.Array:
        array = read(name)
        if array.dtype != np.float32 or array.shape != shapes[name].shape or not np.isfinite(array).all():
            raise ValueError("weights that are no numbers, or not as many as the network's")
        return jax.device_put(array, may_alias=False)  # `jnp.asarray` compiles a program for each shape

    return {name: param(name) for name in shapes}


def require_known_tags(processor: Processor, train: Sequence[LabelledSentence]) -> None:
    """Refuse to fine-tune on sentences with tags that a trained network does not know.

    Raises:
        OptionConflictError: there is such a tag.
    """
    for layer, known in processor.tags.items():
        found = {tag for item in train if layer in item.annotated for tag in item.layer(layer)}
        if unknown := sorted(found.difference(known)):
            problem = f"the notes have the tags {', '.join(unknown)}, which the model to fine-tune lacks"
            raise OptionConflictError(f"{problem}: it knows {', '.join(known)}; train on all notes anew")

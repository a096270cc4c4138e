"""Files of network taggers, whose weights training can start from."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Self

import jax
import numpy as np
from flax import nnx

from crfdeid.documents import PHI, LabelledSentence
from crfdeid.errors import OptionConflictError
from crfdeid.secrets import require_same_key
from crfdeid.serialization import ModelFiles, ModelFolder, distinct_names, distinct_tags, pack_arrays
from rnn.embeddings.vectors import SubwordVectors
from rnn.interfaces import Params, Processor
from rnn.network import Structure, TrainedModel, with_tables
from rnn.vocab import Vocabulary

_FORMAT_VERSION = 5
_WEIGHTS_FILE = "weights.npz"
_PROCESSOR = "processor."  # prefix of its arrays among the weights


class PublicWords:
    """Mixin of processors whose words are public, so that there is nothing to hash."""

    @property
    def key(self) -> None:
        """None: the words are readable."""

    def hashed(self, key: bytes) -> tuple[Self, dict[str, np.ndarray]]:
        """Return the processor unchanged."""
        return self, {}


class SavedWords:
    """Base of `rnn.words.WordProcessor`: its data in a file, with words or their hashes."""

    vocabulary: Vocabulary
    tags: Mapping[str, tuple[str, ...]]
    subwords: SubwordVectors | None

    @property
    def key(self) -> bytes | None:
        """Key of hashed words and features; None for readable ones."""
        return self.vocabulary.key

    def hashed(self, key: bytes) -> tuple[Self, dict[str, np.ndarray]]:
        """Hash the words; return the new processor and, for each table, the old row of each new one.

        Raises:
            UsageError: vectors of parts of words cannot be hashed; or the words are hashed already, with another key.
        """
        if self.subwords is not None:
            self.subwords.hashed(key)
        vocabulary, words = self.vocabulary.hashed(key)
        found: Self = replace(self, vocabulary=vocabulary)  # type: ignore[type-var]
        return found, {"words": words}

    def describe(self) -> dict[str, Any]:
        """Return words and tags as JSON data, for `read`."""
        return {
            "tags": {layer: list(tags) for layer, tags in self.tags.items()},
            "words": list(self.vocabulary.words),
            "lower_case": self.vocabulary.lower_case,
        }

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the vectors of parts of words, for `read`."""
        return {} if self.subwords is None else self.subwords.arrays()

    def read(
        self, described: Mapping[str, Any], arrays: Mapping[str, np.ndarray], key: bytes | None, *, layer: str = PHI
    ) -> Self:
        """Restore a processor from `describe` and `arrays`, with this one's settings.

        Args:
            described: JSON data of a saved model.
            arrays: its arrays.
            key: key of hashed words and features; None for readable ones.
            layer: annotation layer that must have tags.

        Raises:
            KeyError: a field is missing.
            TypeError: a field has another type.
            ValueError: a field is not a list of distinct names, or a number is out of range.
        """
        words, lower_case = distinct_names(described["words"]), described["lower_case"]
        if not isinstance(lower_case, bool):
            raise TypeError("lower_case is not true or false")
        tags = {str(layer): distinct_tags(names) for layer, names in dict(described["tags"]).items()}
        if not tags.get(layer):
            raise ValueError("no tags")
        return replace(  # type: ignore[type-var]
            self,
            vocabulary=replace(self.vocabulary, words=words, lower_case=lower_case, key=key),
            tags=tags,
            subwords=SubwordVectors.from_arrays(arrays) if arrays else None,
        )


class SavedTagger:
    """Mixin of `rnn.tagger.NetworkTagger` with its files, and further training from its weights."""

    model: ClassVar[str]
    settings_class: ClassVar[type[Any]]
    words_are: ClassVar[str]
    version: ClassVar[int]
    learned: TrainedModel | None
    trained: Callable[[], TrainedModel]
    saved_processor: Callable[..., Processor]
    settings: Any
    languages: Any
    seed: Any
    _checkpoint: TrainedModel | None

    def save(self, folder: Path, *, key: bytes | None = None) -> None:
        """Write ``model.json`` (settings, tags, vocabulary, checksum) and ``weights.npz``.

        Without a key, the vocabulary holds words of the training notes: the folder is as confidential as the notes.

        Raises:
            UsageError: the words are hashed, and the key is missing or another one.
        """
        learned = self.trained()
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
        self._files().save(
            folder,
            pack_arrays(weights),
            settings=self.settings,
            seed=self.seed,
            key=key,
            languages=self.languages,
            processor=processor.describe(),
        )

    @classmethod
    def load(cls, folder: Path | ModelFolder, *, key: bytes | None = None) -> Self:
        """Read a model that `save` wrote.

        Raises:
            DataError: the folder holds no such model, one of another version, or a damaged one.
            UsageError: the words are hashed, and the key is missing or another one.
        """
        saved = cls._files().load(folder, key=key)
        make: Callable[..., Self] = cls
        tagger = make(saved.settings(cls.settings_class), seed=saved.seed)
        with saved.refusing_damage():
            arrays = saved.arrays()
            parts = {name.removeprefix(_PROCESSOR): arrays[name] for name in arrays if name.startswith(_PROCESSOR)}
            processor = tagger.saved_processor(saved.description["processor"], parts, saved.key)
            names = [name for name in arrays if not name.startswith(_PROCESSOR)]
            tagger.learned = tagger._with(processor, names, arrays.__getitem__)
        return tagger

    def init_from(self, before: Self) -> None:
        """Let `fit` start from another tagger of this model, with its tags, words and features.

        Args:
            before: a trained tagger; it is not changed.

        Raises:
            OptionConflictError: the settings of this tagger make a network of another structure.
        """
        learned = before.trained()
        described = json.loads(json.dumps(learned.processor.describe()))
        arrays = {name: np.asarray(array) for name, array in learned.params.items()}
        try:
            processor = self.saved_processor(described, learned.processor.arrays(), learned.processor.key)
            self._checkpoint = self._with(processor, arrays.keys(), arrays.__getitem__)
        except (KeyError, TypeError, ValueError):
            problem = f"with these settings a {self.model} has another structure than the trained one"
            raise OptionConflictError(f"{problem}: leave out settings that change the network") from None

    def require_structure(self, processor: Any, names: Collection[str]) -> None:
        """Check that a network with arrays of these names can be made for a processor, before it is made.

        Raises:
            ValueError: it cannot.
        """

    def _with(self, processor: Processor, names: Collection[str], read: Callable[[str], np.ndarray]) -> TrainedModel:
        self.require_structure(processor, names)
        structure, shapes = expected_shapes(self, processor)
        return TrainedModel(processor, structure, params_from(shapes, names, read))

    @classmethod
    def _files(cls) -> ModelFiles:
        return ModelFiles(cls.model, _FORMAT_VERSION, _WEIGHTS_FILE, ("jax", "flax"), cls.words_are, cls.version)


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

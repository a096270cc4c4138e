"""Inputs of a token in addition to its word: casing class, characters and hand-made features.

Their vocabularies and their processor convert sentences to ids; `TokenInputs` makes one vector a token of these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from crfdeid.crf.feature_index import FeatureIndex
from crfdeid.documents import PHI, LabelledSentence
from crfdeid.secrets import hash_word, require_same_key
from crfdeid.serialization import distinct_names
from features import FeatureSet
from features.extractor import escape_for_crfsuite
from features.tokens import Sentence
from rnn.network import uniform
from rnn.words import WordProcessor, padded

NO_CHARACTER, UNKNOWN = 0, 1
_FIRST = 2
_MOST_REMEMBERED = 1 << 16  # cached words


@dataclass(frozen=True)
class Characters:
    """Characters with a vector each, and the ids of a word's characters.

    Args:
        known: the characters, in a fixed order.
        most: characters read of a word, C; even. Of a longer word, the first C / 2 and the last C / 2 are read.

    Example:
        >>> Characters(("a", "b"), most=4).ids("abca").tolist()
        [2, 3, 1, 2]
    """

    known: tuple[str, ...]
    most: int = 20

    def __post_init__(self) -> None:
        object.__setattr__(self, "_ids", {character: i + _FIRST for i, character in enumerate(self.known)})
        object.__setattr__(self, "_seen", {})

    @classmethod
    def build(cls, words: Iterable[str], *, min_count: int = 3) -> Characters:
        """Collect the frequent characters, the most frequent first."""
        counts = Counter(character for word in words for character in word)
        known = [character for character, count in counts.items() if count >= min_count]
        return cls(tuple(sorted(known, key=lambda character: (-counts[character], character))))

    def __len__(self) -> int:
        return len(self.known) + _FIRST

    def ids(self, word: str) -> np.ndarray:
        """Ids of a word's characters, padded with 0: [C]."""
        seen: dict[str, np.ndarray] = self._seen  # type: ignore[attr-defined]
        found = seen.get(word)
        if found is None:
            if len(seen) >= _MOST_REMEMBERED:
                seen.clear()
            known: dict[str, int] = self._ids  # type: ignore[attr-defined]
            half = self.most // 2
            read = word if len(word) <= self.most else word[:half] + word[-half:]
            found = seen[word] = np.zeros(self.most, np.int32)
            found[: len(read)] = [known.get(character, UNKNOWN) for character in read]
        return found

    def rows(self, words: Sequence[str]) -> np.ndarray:
        """Ids of the characters of each word, [T, C]."""
        return np.array([self.ids(word) for word in words], np.int32).reshape(len(words), self.most)


CASINGS = ("numeric", "mainly numeric", "all lower", "all upper", "initial upper", "contains digit", "other")
"""Reimers and Gurevych's casing classes (friedrich2019, section 3)."""


def casing(word: str) -> int:
    """Index of a word's casing class in `CASINGS`.

    Example:
        >>> [CASINGS[casing(word)] for word in ("72", "03a4", "mg", "MRI", "McCoy", "xB1", "%")]
        ['numeric', 'mainly numeric', 'all lower', 'all upper', 'initial upper', 'contains digit', 'other']
    """
    digits = sum(map(str.isdigit, word))
    if digits == len(word):
        return 0
    if digits / len(word) > 0.5:
        return 1
    if word.islower():
        return 2
    if word.isupper():
        return 3
    if word[0].isupper():
        return 4
    return 5 if digits else 6


@dataclass(frozen=True)
class Features:
    """Hand-made features of tokens, as ids.

    Args:
        extracted: the set of features.
        names: features with a vector; with a key, their hashes.
        key: key of the hashes; None for readable names.
    """

    extracted: FeatureSet
    names: tuple[str, ...]
    key: bytes | None = None

    @classmethod
    def build(
        cls, extracted: FeatureSet, sentences: Sequence[LabelledSentence], *, min_count: int, min_documents: int = 1
    ) -> Self:
        """Collect the frequent features.

        Args:
            extracted: the set of features.
            sentences: training sentences.
            min_count: smallest number of occurrences.
            min_documents: smallest number of documents.
        """
        counts: Counter[str] = Counter()
        documents: dict[str, set[str]] = {}
        extracted_rows = extracted.extract_all([item.sentence for item in sentences])
        for item, rows in zip(sentences, extracted_rows, strict=True):
            found = [escape_for_crfsuite(name) for row in rows for name in row]
            counts.update(found)
            if min_documents > 1:
                documents.setdefault(item.document, set()).update(found)
        spread = Counter(name for names in documents.values() for name in names)
        frequent = (name for name, count in counts.items() if count >= min_count)
        return cls(
            extracted, tuple(sorted(name for name in frequent if min_documents == 1 or spread[name] >= min_documents))
        )

    @cached_property
    def _index(self) -> FeatureIndex:
        stored = None if self.key is None else partial(hash_word, key=self.key)
        return FeatureIndex(self.extracted, {name: i for i, name in enumerate(self.names)}, stored)

    def hashed(self, key: bytes) -> tuple[Features, np.ndarray]:
        """Hash the names; return the features with sorted hashes and the old id of each new one, [F + 1].

        Raises:
            UsageError: the names are hashed already, with another key.
        """
        require_same_key(self.key, key)
        if self.key is not None:
            return self, np.arange(len(self.names) + 1)
        hashes = [hash_word(name, key) for name in self.names]
        order = np.argsort(hashes)
        return replace(self, names=tuple(hashes[i] for i in order), key=key), np.concatenate([[0], order + 1])

    def rows(self, sentences: Sequence[Sentence], width: int) -> list[np.ndarray]:
        """Ids, from 1, of each token's known features, padded with 0: [T, F] for each sentence.

        F is ``width``, or more if a token has more features. No feature is dropped, since the choice would depend on
        the ids, and so on a key.
        """
        lengths = [len(sentence.tokens) for sentence in sentences]
        matrix = self._index.matrix(sentences)
        starts = np.cumsum([0, *lengths])
        counts = np.diff(matrix.indptr)
        table = np.zeros((starts[-1], max(width, counts.max(initial=0))), np.int32)
        place = np.arange(len(matrix.indices)) - np.repeat(matrix.indptr[:-1], counts)
        table[np.repeat(np.arange(starts[-1]), counts), place] = matrix.indices + 1
        return np.split(table, starts[1:-1]) if len(sentences) else []


_MOST_FEATURES = 10_000  # of a token: a larger width means a damaged file, and would be allocated


@dataclass(frozen=True)
class TokenProcessor(WordProcessor):
    """Converts sentences to rows of word ids and further inputs of the words.

    The further inputs of a row, as far as they are asked for: "casing", [T + 2 margin], "characters" with a further
    axis C, "features" with a further axis F.

    Args:
        note: whether the margin holds the words of the note; else it is padding.
        casing: whether casing classes are an input.
        characters: the known characters; None for no such input.
        features: the hand-made features; None for no such input.
        width: largest number of hand-made features of a training token, F.
    """

    note: bool = False
    casing: bool = False
    characters: Characters | None = None
    features: Features | None = None
    width: int = 0

    def inputs(self, sentences: Sequence[Sentence]) -> Iterator[dict[str, np.ndarray]]:
        """Inputs of each sentence."""
        features = None if self.features is None else self.features.rows(sentences, self.width)
        for i, sentence in enumerate(sentences):
            before, after = sentence.around(self.margin) if self.note else ((), ())
            words, length = (*before, *sentence.words, *after), len(sentence.tokens) + 2 * self.margin
            start = self.margin - len(before)
            found = self.word_inputs(words, length, start)
            if self.casing:
                found["casing"] = padded(np.array([*map(casing, words)], np.int32), length, start)
            if self.characters is not None:
                found["characters"] = padded(self.characters.rows(words), length, start)
            if features is not None:
                found["features"] = padded(features[i], length, self.margin)
            yield found

    def hashed(self, key: bytes) -> tuple[Self, dict[str, np.ndarray]]:
        """Hash words and features; see `WordProcessor.hashed`."""
        found, moved = super().hashed(key)
        if self.features is None:
            return found, moved
        features, old = self.features.hashed(key)
        return replace(found, features=features), {**moved, "features": old}

    def describe(self) -> dict[str, Any]:
        """Return words, tags and names as JSON data, for `read`."""
        return super().describe() | {
            "characters": None if self.characters is None else list(self.characters.known),
            "features": None if self.features is None else list(self.features.names),
            "width": self.width,
        }

    def read(
        self, described: Mapping[str, Any], arrays: Mapping[str, np.ndarray], key: bytes | None, *, layer: str = PHI
    ) -> Self:
        """Restore a processor from `describe` and `arrays`, with this one's settings; see `WordProcessor.read`."""
        characters, features, width = self.characters, self.features, int(described["width"])
        if characters is not None:
            characters = replace(characters, known=distinct_names(described["characters"]))
        if features is not None:
            features = replace(features, names=distinct_names(described["features"]), key=key)
        if not 0 <= width <= _MOST_FEATURES:
            raise ValueError("a number of features that no token has")
        found = super().read(described, arrays, key, layer=layer)
        return replace(found, characters=characters, features=features, width=width)


class CharacterCnn(nnx.Module):
    """Convolution over the characters of a word, then the maximum of each filter (Ma and Hovy 2016, section 2.1).

    Args:
        inputs: size of a character's vector, D.
        filters: number of filters, F.
        width: characters that a filter sees at once; odd.
        rngs: source of the initial weights.
    """

    def __init__(self, inputs: int, filters: int, *, width: int = 3, rngs: nnx.Rngs) -> None:
        self.width = width
        self.W = nnx.Param(uniform(rngs.params(), (filters, width * inputs), None))  # [F, width * D]
        self.b = nnx.Param(jnp.zeros(filters))  # [F]

    def __call__(self, characters: jax.Array, real: jax.Array) -> jax.Array:
        """Vector of each word.

        Args:
            characters: vectors of the words' characters, [T, C, D].
            real: True at characters, [T, C] bool.

        Returns:
            max over the word's characters of ReLU(W window + b), [T, F]; zeros for a word without characters.
        """
        count, half = characters.shape[1], self.width // 2
        padded = jnp.pad(jnp.where(real[:, :, None], characters, 0.0), ((0, 0), (half, half), (0, 0)))
        windows = jnp.concatenate([padded[:, k : k + count] for k in range(self.width)], axis=2)  # [T, C, width * D]
        found = jax.nn.relu(windows @ self.W[...].T + self.b[...][None, None])  # [T, C, F]
        return jnp.max(jnp.where(real[:, :, None], found, 0.0), axis=1)


class TokenInputs(nnx.Module):
    """Concatenates a token's word vector, casing class, character vector and the sum of its feature vectors.

    Args:
        dim: size of a word vector, D.
        casing: whether the one-hot casing class is among the inputs.
        char_dim: size of a character's vector; 0 for no characters.
        char_filters: filters over the characters.
        feature_dim: size of the vector of a hand-made feature; 0 for none.
        rngs: source of the initial weights.
    """

    def __init__(
        self,
        *,
        dim: int,
        casing: bool = True,
        char_dim: int = 0,
        char_filters: int = 0,
        feature_dim: int = 0,
        rngs: nnx.Rngs,
    ) -> None:
        self.dim, self.casing, self.char_filters, self.feature_dim = dim, casing, char_filters, feature_dim
        self.characters = CharacterCnn(char_dim, char_filters, rngs=rngs) if char_dim else None

    @property
    def sizes(self) -> dict[str, int]:
        """Sizes of the inputs that are concatenated, by name."""
        sizes = {
            "words": self.dim,
            "casing": self.casing * len(CASINGS),
            "characters": 0 if self.characters is None else self.char_filters,
            "features": self.feature_dim,
        }
        return {name: size for name, size in sizes.items() if size}

    @property
    def size(self) -> int:
        """Size of a token's row."""
        return sum(self.sizes.values())

    @property
    def tables(self) -> dict[str, str]:
        """Tables of words, and of characters and features if they are inputs; see `rnn.interfaces.Network`."""
        return {name: name for name in self.sizes if name != "casing"}

    def __call__(self, vectors: Mapping[str, jax.Array], inputs: Mapping[str, jax.Array]) -> jax.Array:
        """One row for each of P tokens, [P, size].

        Args:
            vectors: rows of each table, [P, ..., D].
            inputs: the sentence's other arrays from its processor.
        """
        parts = [vectors["words"]]
        if self.casing:
            parts.append(jax.nn.one_hot(inputs["casing"], len(CASINGS)))
        if self.characters is not None:
            parts.append(self.characters(vectors["characters"], inputs["characters"] != NO_CHARACTER))
        if self.feature_dim:
            parts.append(jnp.sum(vectors["features"], axis=1, where=(inputs["features"] > 0)[:, :, None]))
        return jnp.concatenate(parts, axis=1)

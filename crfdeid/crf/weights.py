"""Weights of a CRF: read from CRFsuite's model file, and written to and read from ours.

CRFsuite's own dump prints six digits, so its binary file is parsed. Only a file that CRFsuite has just written is
read; a model from elsewhere never is (`crfdeid.saving`). All numbers are little-endian. A header holds the offsets of
three parts:

- "FEAT": one record per weight: kind (0: attribute and label, 1: label and label), source, destination, weight;
- two "CQDB" tables, the names of the labels and of the attributes, each with a list of offsets by number."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from crfdeid.secrets import hash_word, require_same_key

_HEADER = struct.Struct("<4sI4sI8I")
_CHUNK = struct.Struct("<4sII")
_TABLE = struct.Struct("<4s5I")
_RECORD = np.dtype([("kind", "<u4"), ("source", "<u4"), ("destination", "<u4"), ("weight", "<f8")])
_VERSION = 100
_TRANSITION = 1


class CrfsuiteWeights(NamedTuple):
    """What CRFsuite learned.

    Attributes:
        labels: L names.
        attributes: F names: the feature strings that have a weight.
        state: the weight of each attribute with each label, 0 where there is none: [F, L].
        transitions: the weight of each label followed by each label: [L, L].
    """

    labels: list[str]
    attributes: list[str]
    state: np.ndarray
    transitions: np.ndarray


def read_crfsuite_model(content: bytes) -> CrfsuiteWeights:
    """The weights of a model file.

    Args:
        content: the whole file.

    Raises:
        ValueError: it is no such file, or of a version that this was not written for.
    """
    magic, _, kind, version, _, _, _, features, labels, attributes, _, _ = _HEADER.unpack_from(content)
    if (magic, kind, version) != (b"lCRF", b"FOMC", _VERSION):
        raise ValueError("not a CRFsuite model of the version this was written for")
    _, _, count = _CHUNK.unpack_from(content, features)
    records = np.frombuffer(content, _RECORD, count, features + _CHUNK.size)
    label_names, attribute_names = _names(content, labels), _names(content, attributes)
    state = np.zeros((len(attribute_names), len(label_names)))
    transitions = np.zeros((len(label_names), len(label_names)))
    is_transition = records["kind"] == _TRANSITION
    for weights, chosen in ((transitions, records[is_transition]), (state, records[~is_transition])):
        weights[chosen["source"], chosen["destination"]] = chosen["weight"]
    return CrfsuiteWeights(label_names, attribute_names, state, transitions)


def _names(content: bytes, start: int) -> list[str]:
    """The names of a table, by number. A record is the number, the size of the name with its final NUL, the name."""
    _, _, _, _, count, places = _TABLE.unpack_from(content, start)
    names = []
    for place in np.frombuffer(content, "<u4", count, start + places).tolist():
        _, size = struct.unpack_from("<II", content, start + place)
        name = start + place + 8
        names.append(content[name : name + size - 1].decode())
    return names


def escape_for_crfsuite(text: str) -> str:
    """A text as CRFsuite can hold it: lone surrogates, which have no UTF-8, and NUL, which ends its names, escaped."""
    if "\0" in text:
        text = text.replace("\0", "\\x00")
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()


class CrfWeights(NamedTuple):
    """What a CRF has learned.

    Attributes:
        tags: K, sorted.
        names: the F feature strings that have weights, or their hashes.
        state: their weights: [F, K].
        transitions: the weight of each tag followed by each tag: [K, K].
        key: what the names are hashed with; None where they are as they are.
    """

    tags: tuple[str, ...]
    names: tuple[str, ...]
    state: np.ndarray
    transitions: np.ndarray
    key: bytes | None = None

    @classmethod
    def of_crfsuite(cls, weights: CrfsuiteWeights) -> CrfWeights:
        """The weights as CRFsuite has them, with the tags sorted."""
        order = sorted(range(len(weights.labels)), key=weights.labels.__getitem__)
        tags = [weights.labels[k] for k in order]
        transitions = weights.transitions[np.ix_(order, order)]
        return cls(tuple(tags), tuple(weights.attributes), weights.state[:, order], transitions)

    @classmethod
    def read(cls, tags: Sequence[str], arrays: Mapping[str, np.ndarray], key: bytes | None) -> CrfWeights:
        """The weights of a saved model.

        Raises:
            ValueError: they do not fit together.
            KeyError: some are not there.
        """
        content, ends = arrays["names"].tobytes(), arrays["ends"]
        state, transitions = arrays["state"], arrays["transitions"]
        if ends.ndim != 1 or ends.dtype != np.int64 or (np.diff(ends, prepend=0) < 0).any():
            raise ValueError("the ends of the names are no ascending numbers")
        if int(ends[-1]) != len(content) if len(ends) else content:
            raise ValueError("the names are cut off")
        names = [content[start:end].decode() for start, end in itertools.pairwise([0, *ends.tolist()])]
        if not tags or (state.shape, transitions.shape) != ((len(names), len(tags)), (len(tags), len(tags))):
            raise ValueError("the arrays do not fit together")
        state, transitions = state.astype(float), transitions.astype(float)
        if not (np.isfinite(state).all() and np.isfinite(transitions).all()):
            raise ValueError("weights that are no numbers")
        return cls(tuple(map(str, tags)), tuple(names), state, transitions, key)

    def arrays(self, key: bytes | None) -> dict[str, np.ndarray]:
        """All but the tags as arrays for a file, for `read`.

        Args:
            key: what the feature strings are hashed with; None to store them as they are.

        Raises:
            UsageError: they are hashes already, under another key.
        """
        require_same_key(self.key, key)
        as_they_are = key is None or self.key is not None
        names = self.names if key is None or as_they_are else tuple(hash_word(name, key) for name in self.names)
        # Hashes are sorted: in the order of the features they would tell which were seen first.
        order = np.arange(len(names)) if as_they_are else np.argsort(names)
        encoded = [names[i].encode() for i in order]
        return {
            "names": np.frombuffer(b"".join(encoded), np.uint8),
            "ends": np.cumsum([len(name) for name in encoded], dtype=np.int64),
            "state": self.state[order],
            "transitions": self.transitions,
        }

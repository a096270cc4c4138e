"""Weights of a CRF: read from CRFsuite's model file, and written to and read from a saved model.

CRFsuite's own dump prints six digits, so its binary file is parsed. Only a file that CRFsuite has just written is
parsed; a saved model holds plain arrays. All numbers are little-endian. A header holds the offsets of three parts:

- "FEAT": one record per weight: kind (0: attribute and label, 1: label and label), source, destination, weight;
- two "CQDB" tables, the names of the labels and of the attributes, each with a list of offsets by number.
"""

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


class CrfWeights(NamedTuple):
    """Learned weights of a CRF.

    Attributes:
        tags: K, sorted.
        names: the F feature strings with weights, or their hashes.
        state: weight of each feature with each tag, 0 for pairs without one: [F, K].
        transitions: weight of each tag followed by each tag: [K, K].
        key: key of the hashes; None for plain feature strings.
    """

    tags: tuple[str, ...]
    names: tuple[str, ...]
    state: np.ndarray
    transitions: np.ndarray
    key: bytes | None = None

    @classmethod
    def read(cls, tags: Sequence[str], arrays: Mapping[str, np.ndarray], key: bytes | None) -> CrfWeights:
        """Read the arrays of a saved model.

        Raises:
            ValueError: the arrays do not fit together.
            KeyError: an array is missing.
        """
        content, ends = arrays["names"].tobytes(), arrays["ends"]
        state, transitions = arrays["state"], arrays["transitions"]
        if ends.ndim != 1 or ends.dtype != np.int64 or (np.diff(ends, prepend=0) < 0).any():
            raise ValueError("the ends of the names are not ascending")
        if int(ends[-1]) != len(content) if len(ends) else content:
            raise ValueError("the names are truncated")
        names = [content[start:end].decode() for start, end in itertools.pairwise([0, *ends.tolist()])]
        if not tags or (state.shape, transitions.shape) != ((len(names), len(tags)), (len(tags), len(tags))):
            raise ValueError("the arrays do not fit together")
        state, transitions = state.astype(float), transitions.astype(float)
        if not (np.isfinite(state).all() and np.isfinite(transitions).all()):
            raise ValueError("weights that are not finite")
        return cls(tuple(map(str, tags)), tuple(names), state, transitions, key)

    def arrays(self, key: bytes | None) -> dict[str, np.ndarray]:
        """All but the tags, as arrays for `read`.

        Args:
            key: hash the feature strings with this key; None: store them in the clear.

        Raises:
            UsageError: the names are hashes already, under another key.
        """
        require_same_key(self.key, key)
        unchanged = key is None or self.key is not None
        names = self.names if key is None or unchanged else tuple(hash_word(name, key) for name in self.names)
        # Hashes are sorted: the order of the features would reveal which were seen first.
        order = np.arange(len(names)) if unchanged else np.argsort(names)
        encoded = [names[i].encode() for i in order]
        return {
            "names": np.frombuffer(b"".join(encoded), np.uint8),
            "ends": np.cumsum([len(name) for name in encoded], dtype=np.int64),
            "state": self.state[order],
            "transitions": self.transitions,
        }


def read_crfsuite_model(content: bytes) -> CrfWeights:
    """Read the weights of a CRFsuite model file.

    Args:
        content: the whole file.

    Raises:
        ValueError: the content is no CRFsuite model, or of an unsupported version.
    """
    magic, _, kind, version, _, _, _, features, labels, attributes, _, _ = _HEADER.unpack_from(content)
    if (magic, kind, version) != (b"lCRF", b"FOMC", _VERSION):
        raise ValueError("no CRFsuite model, or of an unsupported version")
    _, _, count = _CHUNK.unpack_from(content, features)
    records = np.frombuffer(content, _RECORD, count, features + _CHUNK.size)
    tags, names = _names(content, labels), _names(content, attributes)
    state, transitions = np.zeros((len(names), len(tags))), np.zeros((len(tags), len(tags)))
    is_transition = records["kind"] == _TRANSITION
    for weights, chosen in ((transitions, records[is_transition]), (state, records[~is_transition])):
        weights[chosen["source"], chosen["destination"]] = chosen["weight"]
    order = sorted(range(len(tags)), key=tags.__getitem__)
    return CrfWeights(tuple(tags[k] for k in order), tuple(names), state[:, order], transitions[np.ix_(order, order)])


def _names(content: bytes, start: int) -> list[str]:
    """The names of a table, by number. A record is the number, the size of the name with its final NUL, the name."""
    _, _, _, _, count, offsets = _TABLE.unpack_from(content, start)
    names = []
    for offset in np.frombuffer(content, "<u4", count, start + offsets).tolist():
        _, size = struct.unpack_from("<II", content, start + offset)
        name = start + offset + 8
        names.append(content[name : name + size - 1].decode())
    return names


def escape_for_crfsuite(text: str) -> str:
    """Escape characters that CRFsuite's names cannot hold: lone surrogates (no UTF-8) and NUL (end of a name)."""
    if "\0" in text:
        text = text.replace("\0", "\\x00")
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()

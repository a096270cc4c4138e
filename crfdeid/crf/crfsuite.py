"""The weights in a model file of CRFsuite, with all their digits (its own dump prints six).

The file is the one that CRFsuite has just written for us; a model that somebody else hands over is never read as one
(`crfdeid.saving`). All numbers are little-endian. A header names the places of three parts:

- "FEAT": one record per weight: kind (0: attribute and label, 1: label and label), source, destination, weight;
- two "CQDB" tables, the names of the labels and of the attributes, each with a list of places by number.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np

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


def read_weights(content: bytes) -> CrfsuiteWeights:
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


def holdable(text: str) -> str:
    """A text as CRFsuite can hold it: lone surrogates, which have no UTF-8, and NUL, which ends its names, escaped."""
    if "\0" in text:
        text = text.replace("\0", "\\x00")
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()

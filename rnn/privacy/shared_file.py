"""The file of shared notes: vectors, casing, tags and lengths of annotated sentences.

The reader does not trust the file, which someone else made: it runs no code of it, allocates no more memory than its
size, and validates all of its content.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from crfdeid.bio import is_tag, tag_spans
from crfdeid.errors import IntegrityError, MismatchError, ReadError
from crfdeid.serialization import distinct_names, pack_arrays
from crfdeid.utils.files import read_bytes, write_stream
from rnn.inputs import CASINGS

# Headers are not parsed by NumPy, which evaluates them and allocates the size that they announce.
_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '(?P<dtype>[<|][a-z]\d)', 'fortran_order': False, "
    rb"'shape': \((?P<shape>\d{1,12}(?:, \d{1,12})?),?\), \} *\n",
    re.DOTALL,
)
_UNREADABLE = (ValueError, RuntimeError, OSError, EOFError, zipfile.BadZipFile)  # errors of reading such a file
_CHECKSUM = "checksum"
_DIGEST_BYTES = 32  # of SHA-256
_MOST_DIMENSIONS = 4096  # of a token's vector
_MOST_NAMES_BYTES = 1 << 20
_MOST_NAME = 200  # characters of a tag


class _InvalidArray(ValueError):
    """Invalid content of a file; its message holds no content and can be shown."""


def _require(holds: bool, problem: str) -> None:
    if not holds:
        raise _InvalidArray(problem)


def _arrays_checksum(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Compute the SHA-256 of arrays with their names and shapes."""
    whole = hashlib.sha256()
    for name in sorted(arrays):
        whole.update(f"{name} {arrays[name].shape}\n".encode())
        whole.update(arrays[name].tobytes())
    return whole.digest()


def _read_arrays(content: bytes) -> dict[str, np.ndarray]:
    """Read the required arrays, and no others, of a file of `numpy.savez` without trust."""
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        members = packed.infolist()
        _require(sorted(f"{name}.npy" for name in _KINDS) == sorted(m.filename for m in members), "other arrays")
        # `savez` does not compress, so no array can exceed the file, whatever its table of contents says.
        plain = all(m.compress_type == zipfile.ZIP_STORED and m.file_size == m.compress_size for m in members)
        _require(plain and sum(m.file_size for m in members) <= len(content), "compressed arrays")
        return {name: _array(packed.read(f"{name}.npy"), *kind) for name, kind in _KINDS.items()}


def _array(content: bytes, kind: str, axes: int) -> np.ndarray:
    """Read one array, whose header must be in NumPy's format and match the number of bytes."""
    header = _HEADER.match(content)
    if header is None or header["dtype"].decode() != kind:
        raise _InvalidArray("an array of another kind")
    shape = tuple(int(size) for size in header["shape"].split(b",") if size.strip())
    numbers, dtype = content[header.end() :], np.dtype(kind)
    _require(len(shape) == axes and math.prod(shape) * dtype.itemsize == len(numbers), "an array of another size")
    return np.frombuffer(numbers, dtype).reshape(shape)


# Type, little-endian, and number of axes of each array.
_KINDS = {
    "vectors": ("<f2", 2),
    "lengths": ("<i4", 1),
    "casing": ("|u1", 1),
    "tags": ("<u2", 1),
    "tag_names": ("|u1", 1),
    "representation": ("|u1", 1),
    "from_system": ("|u1", 1),
    _CHECKSUM: ("|u1", 1),
}


@dataclass(frozen=True, eq=False)
class SharedNotes:
    """S annotated sentences as vectors, concatenated, P tokens in all.

    Vectors have half precision: its rounding is far below the noise, and the lost digits could only reveal how the
    vectors were computed.

    Args:
        vectors: vector of each token, [P, D] float16.
        lengths: tokens of each sentence, [S] int32.
        casing: index of each token's casing class in `rnn.inputs.CASINGS`, [P] uint8.
        tags: index of each token's tag in ``names``, [P] uint16.
        names: the tags.
        representation: digest of the representation that made the vectors, 64 hexadecimal digits.
        from_system: whether the noise came from the operating system; noise from a seed can be removed by guessing it.

    Raises:
        ValueError: an array is invalid; the message holds none of its numbers.
    """

    vectors: npt.NDArray[np.float16]
    lengths: npt.NDArray[np.int32]
    casing: npt.NDArray[np.uint8]
    tags: npt.NDArray[np.uint16]
    names: tuple[str, ...]
    representation: str
    from_system: bool

    def __post_init__(self) -> None:
        _require(self.vectors.ndim == 2 and 1 <= self.vectors.shape[1] <= _MOST_DIMENSIONS, "vectors of an odd size")
        _require(len(self.lengths) > 0 and bool((self.lengths > 0).all()), "a sentence without tokens, or none at all")
        tokens = int(self.lengths.sum(dtype=np.int64))
        of_tokens = (self.vectors, self.casing, self.tags)
        _require(all(len(array) == tokens for array in of_tokens), "arrays of different lengths")
        _require(bool(np.isfinite(self.vectors).all()), "vectors that are no finite numbers")
        _require(int(self.casing.max()) < len(CASINGS), "an unknown casing class")
        _require(int(self.tags.max()) < len(self.names), "a tag without a name")
        _require(all(map(_is_tag, self.names)), "a tag that is none")

    @property
    def size(self) -> int:
        """Size of a token's vector, D."""
        return self.vectors.shape[1]

    @cached_property
    def starts(self) -> npt.NDArray[np.int64]:
        """Index of each sentence's first token, then the number of tokens, [S + 1]."""
        return np.concatenate([[0], np.cumsum(self.lengths, dtype=np.int64)])

    @cached_property
    def sha256(self) -> str:
        """Checksum in the file."""
        return _arrays_checksum(self._arrays()).hex()

    def sentence_tags(self) -> list[list[str]]:
        """Tags of each sentence."""
        found = np.array(self.names, object)[self.tags]
        return [part.tolist() for part in np.split(found, self.starts[1:-1])]

    def statistics(self) -> dict[str, Any]:
        """Counts of sentences, tokens, spans and spans of each type."""
        labels = [span.label for tags in self.sentence_tags() for span in tag_spans(tags)]
        by_type = {label: labels.count(label) for label in sorted(set(labels))}
        return {
            "sentences": len(self.lengths),
            "tokens": len(self.tags),
            "spans": len(labels),
            "spans_by_type": by_type,
        }

    def save(self, path: Path) -> None:
        """Write the file atomically; only its owner can read it.

        Raises:
            DataError: it cannot be written.
        """
        arrays = self._arrays()
        checksum = np.frombuffer(_arrays_checksum(arrays), np.uint8)
        write_stream(path, pack_arrays({**arrays, _CHECKSUM: checksum}))

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a file of `save` without trust.

        The checksum detects damage; it does not authenticate the sender.

        Raises:
            ReadError: the file cannot be read.
            IntegrityError: the file is damaged, or no file of shared notes.
        """
        try:
            content = read_bytes(path)
        except OSError as error:
            raise ReadError(f"cannot be read: {error.strerror}", path=path) from None
        try:
            arrays = _read_arrays(content)
            checksum = arrays.pop(_CHECKSUM).tobytes()
            _require(checksum == _arrays_checksum(arrays), "its checksum is another")
            return cls(
                arrays["vectors"],
                arrays["lengths"],
                arrays["casing"],
                arrays["tags"],
                _names(arrays["tag_names"]),
                _digest(arrays["representation"]),
                _flag(arrays["from_system"]),
            )
        except _UNREADABLE as error:
            problem = error.args[0] if type(error) is _InvalidArray else "it cannot be unpacked"
            raise IntegrityError(
                f"not a file of shared notes, or damaged ({problem}): ask for it anew", path=path
            ) from None

    def _arrays(self) -> dict[str, np.ndarray]:
        own = {
            "vectors": self.vectors,
            "lengths": self.lengths,
            "casing": self.casing,
            "tags": self.tags,
            "tag_names": np.frombuffer(json.dumps(self.names).encode(), np.uint8),
            "representation": np.frombuffer(bytes.fromhex(self.representation), np.uint8),
            "from_system": np.array([self.from_system], np.uint8),
        }
        return {name: np.ascontiguousarray(array, _KINDS[name][0]) for name, array in own.items()}


def read_shared(paths: Sequence[Path], representation: str) -> list[SharedNotes]:
    """Read distinct files that one representation made.

    Args:
        paths: the files.
        representation: digest of the representation.

    Raises:
        DataError: a file cannot be read, another representation made it, or it is repeated.
    """
    found: dict[str, Path] = {}
    shared = []
    for path in paths:
        notes = SharedNotes.load(path)
        if notes.representation != representation:
            problem = "another representation made these vectors: give that one, or ask for vectors made by yours"
            raise MismatchError(problem, path=path)
        if notes.sha256 in found:
            raise MismatchError(f"the same notes as {found[notes.sha256]}: give each file once", path=path)
        found[notes.sha256] = path
        shared.append(notes)
    return shared


def _names(array: np.ndarray) -> tuple[str, ...]:
    _require(len(array) <= _MOST_NAMES_BYTES, "too many tags")
    return distinct_names(json.loads(array.tobytes()))


def _is_tag(name: str) -> bool:
    """Report whether a name is a printable tag, fit for cards and messages."""
    return is_tag(name) and len(name) <= _MOST_NAME and name.isprintable()


def _digest(array: np.ndarray) -> str:
    _require(len(array) == _DIGEST_BYTES, "no digest of a representation")
    return array.tobytes().hex()


def _flag(array: np.ndarray) -> bool:
    _require(array.tolist() in ([0], [1]), "no mark of where its noise came from")
    return bool(array[0])

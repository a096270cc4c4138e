"""Arrays out of a file that anybody may have made: no code of it is run, and no memory is taken beyond its size."""

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
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from crfdeid.bio import OUTSIDE, tag_spans
from crfdeid.errors import IntegrityError, MismatchError, ReadError
from crfdeid.serialization import distinct_names, pack_arrays
from crfdeid.utils.files import read_bytes, write_stream
from rnn.processors.inputs import CASINGS

# Not read by NumPy, which evaluates a header and takes the memory that it asks for.
_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '(?P<dtype>[<|][a-z]\d)', 'fortran_order': False, "
    rb"'shape': \((?P<shape>\d{1,12}(?:, \d{1,12})?),?\), \} *\n",
    re.DOTALL,
)
UNREADABLE = (ValueError, RuntimeError, OSError, EOFError, zipfile.BadZipFile)
"""What reading such a file can raise."""


class Kind(NamedTuple):
    """What an array of the file must be.

    Attributes:
        dtype: its type, little-endian.
        axes: how many axes it has.
    """

    dtype: str
    axes: int


class InvalidArray(ValueError):
    """What in a file cannot be; its message can be shown."""


def require(holds: bool, problem: str) -> None:
    """Refuse what cannot be.

    Raises:
        Foreign: it does not hold.
    """
    if not holds:
        raise InvalidArray(problem)


def arrays_checksum(arrays: Mapping[str, np.ndarray]) -> bytes:
    """The SHA-256 of arrays, their names and their shapes."""
    whole = hashlib.sha256()
    for name in sorted(arrays):
        whole.update(f"{name} {arrays[name].shape}\n".encode())
        whole.update(arrays[name].tobytes())
    return whole.digest()


def read_arrays(content: bytes, kinds: Mapping[str, Kind]) -> dict[str, np.ndarray]:
    """The arrays of a file of `numpy.savez`.

    Args:
        content: the file's, which may be anything.
        kinds: what each array must be; there must be no others.

    Raises:
        Foreign: the file holds something else.
        ValueError, RuntimeError, OSError, EOFError, zipfile.BadZipFile: it is no such file.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        members = packed.infolist()
        require(sorted(f"{name}.npy" for name in kinds) == sorted(m.filename for m in members), "other arrays")
        # `savez` compresses nothing: so nothing gets larger than the file, whatever its table of contents says.
        plain = all(m.compress_type == zipfile.ZIP_STORED and m.file_size == m.compress_size for m in members)
        require(plain and sum(m.file_size for m in members) <= len(content), "compressed arrays")
        return {name: _array(packed.read(f"{name}.npy"), kind) for name, kind in kinds.items()}


def _array(content: bytes, kind: Kind) -> np.ndarray:
    """One array: its header must be as NumPy writes it, and say what the bytes after it are."""
    header = _HEADER.match(content)
    if header is None or header["dtype"].decode() != kind.dtype:
        raise InvalidArray("an array of another kind")
    shape = tuple(int(size) for size in header["shape"].split(b",") if size.strip())
    numbers, dtype = content[header.end() :], np.dtype(kind.dtype)
    require(len(shape) == kind.axes and math.prod(shape) * dtype.itemsize == len(numbers), "an array of another size")
    return np.frombuffer(numbers, dtype).reshape(shape)


_CHECKSUM = "checksum"
_DIGEST_BYTES = 32  # of SHA-256
_MOST_DIMENSIONS = 4096  # of a token's vector
_MOST_NAMES_BYTES = 1 << 20
_MOST_NAME = 200  # characters of a tag


_KINDS = {
    "vectors": Kind("<f2", 2),
    "lengths": Kind("<i4", 1),
    "casing": Kind("|u1", 1),
    "tags": Kind("<u2", 1),
    "tag_names": Kind("|u1", 1),
    "representation": Kind("|u1", 1),
    "from_system": Kind("|u1", 1),
    _CHECKSUM: Kind("|u1", 1),
}


@dataclass(frozen=True, eq=False)
class SharedNotes:
    """Annotated sentences as vectors; S of them, with P tokens in all, one sentence after the other.

    Vectors have half precision: what it rounds away is far below the noise, and could only tell how they were computed.

    Args:
        vectors: of each token, [P, D] float16.
        lengths: tokens of each sentence, [S] int32.
        casing: each token's casing class, its number in `rnn.processors.inputs.CASINGS`, [P] uint8.
        tags: each token's tag, its number in ``names``, [P] uint16.
        names: the tags.
        representation: the digest of the representation that made the vectors, 64 hexadecimal digits.
        from_system: whether the noise in the vectors came from the operating system; else it came from a seed, and
            whoever guesses that can take it off.

    Raises:
        ValueError: an array is not what it should be; the message holds no number of it.
    """

    vectors: npt.NDArray[np.float16]
    lengths: npt.NDArray[np.int32]
    casing: npt.NDArray[np.uint8]
    tags: npt.NDArray[np.uint16]
    names: tuple[str, ...]
    representation: str
    from_system: bool

    def __post_init__(self) -> None:
        require(self.vectors.ndim == 2 and 1 <= self.vectors.shape[1] <= _MOST_DIMENSIONS, "vectors of an odd size")
        require(len(self.lengths) > 0 and bool((self.lengths > 0).all()), "a sentence without tokens, or none at all")
        tokens = int(self.lengths.sum(dtype=np.int64))
        of_tokens = (self.vectors, self.casing, self.tags)
        require(all(len(array) == tokens for array in of_tokens), "arrays of different lengths")
        require(bool(np.isfinite(self.vectors).all()), "vectors that are no finite numbers")
        require(int(self.casing.max()) < len(CASINGS), "an unknown casing class")
        require(int(self.tags.max()) < len(self.names), "a tag without a name")
        require(all(map(_is_tag, self.names)), "a tag that is none")

    @property
    def size(self) -> int:
        """The size of a token's vector, D."""
        return self.vectors.shape[1]

    @cached_property
    def starts(self) -> npt.NDArray[np.int64]:
        """Where each sentence begins among the tokens, and the last one ends, [S + 1]."""
        return np.concatenate([[0], np.cumsum(self.lengths, dtype=np.int64)])

    @cached_property
    def sha256(self) -> str:
        """The checksum in the file."""
        return arrays_checksum(self._arrays()).hex()

    def sentence_tags(self) -> list[list[str]]:
        """The tags of each sentence."""
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
        """Write the file, whole or not at all; only its owner can read it.

        Raises:
            DataError: it cannot be written.
        """
        arrays = self._arrays()
        checksum = np.frombuffer(arrays_checksum(arrays), np.uint8)
        write_stream(path, pack_arrays({**arrays, _CHECKSUM: checksum}))

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a file that `save` wrote: others sent it, so nothing in it is taken on trust.

        No code of it is run, no memory is taken beyond its size, and all that it says is checked. The checksum finds
        damage; who made the file it does not say.

        Raises:
            DataError: it cannot be read, or is no such file.
        """
        try:
            content = read_bytes(path)
        except OSError as error:
            raise ReadError(f"cannot be read: {error.strerror}", path=path) from None
        try:
            arrays = read_arrays(content, _KINDS)
            checksum = arrays.pop(_CHECKSUM).tobytes()
            require(checksum == arrays_checksum(arrays), "its checksum is another")
            return cls(
                arrays["vectors"],
                arrays["lengths"],
                arrays["casing"],
                arrays["tags"],
                _names(arrays["tag_names"]),
                _digest(arrays["representation"]),
                _flag(arrays["from_system"]),
            )
        except UNREADABLE as error:
            problem = error.args[0] if type(error) is InvalidArray else "it cannot be unpacked"
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
        return {name: np.ascontiguousarray(array, _KINDS[name].dtype) for name, array in own.items()}


def read_shared(paths: Sequence[Path], representation: str) -> list[SharedNotes]:
    """Files that one representation made, each with other notes.

    Args:
        paths: the files.
        representation: its digest.

    Raises:
        DataError: one cannot be read, another representation made it, or it is there twice.
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
    require(len(array) <= _MOST_NAMES_BYTES, "too many tags")
    return distinct_names(json.loads(array.tobytes()))


def _is_tag(name: str) -> bool:
    """Whether this is a tag that can be printed: it goes into cards and messages."""
    known = name == OUTSIDE or (name[:2] in ("B-", "I-") and len(name) > 2)
    return known and len(name) <= _MOST_NAME and name.isprintable()


def _digest(array: np.ndarray) -> str:
    require(len(array) == _DIGEST_BYTES, "no digest of a representation")
    return array.tobytes().hex()


def _flag(array: np.ndarray) -> bool:
    require(array.tolist() in ([0], [1]), "no mark of where its noise came from")
    return bool(array[0])

"""Arrays out of a file that anybody may have made: no code of it is run, and no memory is taken beyond its size."""

from __future__ import annotations

import hashlib
import io
import math
import re
import zipfile
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

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


class Foreign(ValueError):
    """What in a file cannot be; its message can be shown."""


def require(holds: bool, problem: str) -> None:
    """Refuse what cannot be.

    Raises:
        Foreign: it does not hold.
    """
    if not holds:
        raise Foreign(problem)


def checksum(arrays: Mapping[str, np.ndarray]) -> bytes:
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
        raise Foreign("an array of another kind")
    shape = tuple(int(size) for size in header["shape"].split(b",") if size.strip())
    numbers, dtype = content[header.end() :], np.dtype(kind.dtype)
    require(len(shape) == kind.axes and math.prod(shape) * dtype.itemsize == len(numbers), "an array of another size")
    return np.frombuffer(numbers, dtype).reshape(shape)

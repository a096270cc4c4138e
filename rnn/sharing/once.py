"""Notes are encoded once: a folder's record of those that were, which does not say what they are.

The record lies in the folder that the shared file is written to, and stays in the house. It holds a keyed hash of the
words of each note. The key does not lie beside it, so that whoever gets the folder as a whole can test no guess.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from crfdeid.documents import Document
from crfdeid.errors import DataError, UsageError
from crfdeid.saving import different_names
from crfdeid.sealed import read_sealed, sealed
from crfdeid.secrets import VARIABLE, derive, hash_word, kept_secret, read_secret
from crfdeid.system.files import write_files

RECORD = Path(".crfdeid") / "encoded.json"
"""The record, below the folder of the shared file."""
_SCHEMA = 1
_KEY_CHECK = "crfdeid encoded notes"
_ABOUT = "Keyed hashes of the notes that were encoded into this folder, so that none is encoded twice. Do not share it."


def record_key(key_file: Path | None) -> bytes:
    """The key of records: of the secret in a file or in the environment, else of one that is kept for the user.

    Raises:
        UsageError: a secret that is too short.
        DataError: the secret cannot be read, or none can be made.
    """
    given = key_file is not None or os.environ.get(VARIABLE, "").strip()
    return derive(read_secret(key_file) if given else kept_secret(), "encoded notes")


@contextmanager
def encoding_once(folder: Path, documents: Iterable[Document], key: bytes) -> Iterator[Callable[[], None]]:
    """Hold a folder while notes are encoded for a file in it.

    Args:
        folder: where to; made if need be.
        documents: the notes.
        key: as of `record_key`.

    Yields:
        What writes them down: to be called just before the file gets its name, so that no file is without its record.
        Where anything goes wrong after that, the record is as it was.

    Raises:
        UsageError: one of the notes was encoded into this folder before.
        DataError: the folder's record is damaged or of another key, so that nobody can say; or another process is
            encoding into this folder.
    """
    path = folder / RECORD
    with _held(path.parent):
        before = _read(path, key)
        hashes = {_hash(document, key) for document in documents}
        again = len(hashes & set(before))
        if again:
            raise UsageError(
                f"{again} of these {len(hashes)} notes were encoded into {folder} before: two encodings of one note "
                "can be averaged, which takes noise off. Send the first. Only where nobody has got it, delete its file "
                f"and {path}, and encode all of them again"
            )
        try:
            yield lambda: _write(path, key, hashes | set(before))
        except BaseException:
            if before:
                _write(path, key, before)
            else:
                path.unlink(missing_ok=True)
            raise


def _hash(document: Document, key: bytes) -> str:
    """Of the note's words alone: other spaces, another name or other annotations make it no other note."""
    return hash_word("\n".join(word for sentence in document.sentences() for word in sentence.words), key)


def _read(path: Path, key: bytes) -> tuple[str, ...]:
    try:
        record = read_sealed(path, "record of encoded notes")
    except FileNotFoundError:
        return ()
    if record.get("schema") != _SCHEMA or record.get("key") != hash_word(_KEY_CHECK, key):
        problem = (
            "a record of encoded notes under another secret, so that nobody can say which they are: give that secret, "
            "or name a file in a new folder"
        )
        raise DataError(problem, path=path)
    try:
        return different_names(record["notes"])
    except (KeyError, ValueError):
        raise DataError("not a record of encoded notes: name a file in a new folder", path=path) from None


def _write(path: Path, key: bytes, hashes: Iterable[str]) -> None:
    fields = {"about": _ABOUT, "schema": _SCHEMA, "key": hash_word(_KEY_CHECK, key), "notes": sorted(hashes)}
    write_files({path: sealed(fields)})


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Keep other processes from encoding into the same folder; the system lets go when this one ends."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError as error:
        raise DataError(f"the folder cannot be used: {error.strerror}", path=folder) from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            problem = "another process is encoding into this folder: wait for it, or name another one"
            raise DataError(problem, path=folder.parent) from None
        yield
    finally:
        os.close(handle)

"""Notes are encoded once: a folder's record of those that were, which does not say what they are.

The record lies in the folder that the shared file is written to, and stays in the house. It holds keyed hashes of the
words of each note, and of each sentence. The key does not lie beside it, so that whoever gets the folder as a whole can
test no guess.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from crfdeid.documents import Document, LabelledSentence
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


@dataclass(frozen=True)
class Record:
    """What was encoded into a folder.

    Args:
        path: the record's file.
        key: as of `record_key`.
        notes: a hash of each note.
        sentences: a hash of each sentence.
    """

    path: Path
    key: bytes
    notes: frozenset[str] = frozenset()
    sentences: frozenset[str] = frozenset()

    @classmethod
    def read(cls, path: Path, key: bytes) -> Self:
        """The record of a folder; an empty one where there is none.

        Raises:
            DataError: it is damaged, or of another key, so that nobody can say what was encoded.
        """
        try:
            fields = read_sealed(path, "record of encoded notes")
        except FileNotFoundError:
            return cls(path, key)
        if fields.get("schema") != _SCHEMA or fields.get("key") != hash_word(_KEY_CHECK, key):
            problem = (
                "a record of encoded notes under another secret, so that nobody can say which they are: give that "
                "secret, or name a file in a new folder"
            )
            raise DataError(problem, path=path)
        try:
            notes, sentences = (frozenset(different_names(fields[name])) for name in ("notes", "sentences"))
        except (KeyError, ValueError):
            raise DataError("not a record of encoded notes: name a file in a new folder", path=path) from None
        return cls(path, key, notes, sentences)

    def new(self, sentences: Iterable[LabelledSentence]) -> list[LabelledSentence]:
        """Those that were not encoded before, in other notes."""
        return [item for item in sentences if self._hash(item.sentence.words) not in self.sentences]

    def again(self, documents: Sequence[Document]) -> int:
        """How many of these notes were encoded before."""
        return len(self.notes & self._notes(documents))

    def add(self, documents: Sequence[Document], sentences: Iterable[LabelledSentence]) -> None:
        """Write these down beside the others."""
        told = self.sentences | {self._hash(item.sentence.words) for item in sentences}
        Record(self.path, self.key, self.notes | self._notes(documents), told).write()

    def write(self) -> None:
        """Write the record as it is; none where nothing was encoded."""
        if not self.notes:
            self.path.unlink(missing_ok=True)
            return
        fields = {
            "about": _ABOUT,
            "schema": _SCHEMA,
            "key": hash_word(_KEY_CHECK, self.key),
            "notes": sorted(self.notes),
            "sentences": sorted(self.sentences),
        }
        write_files({self.path: sealed(fields)})

    def _notes(self, documents: Sequence[Document]) -> set[str]:
        # Words alone: other spaces, another name or other annotations make it no other note.
        return {self._hash(word for part in note.sentences() for word in part.words) for note in documents}

    def _hash(self, words: Iterable[str]) -> str:
        return hash_word("\n".join(words), self.key)


@contextmanager
def encoding_once(folder: Path, documents: Sequence[Document], key: bytes) -> Iterator[Record]:
    """Hold a folder while notes are encoded for a file in it.

    Args:
        folder: where to; made if need be.
        documents: the notes.
        key: as of `record_key`.

    Yields:
        The record. Whoever encodes writes the notes down just before the file gets its name, so that no file is without
        its record; where anything goes wrong after that, the record is put back as it was.

    Raises:
        UsageError: one of the notes was encoded into this folder before.
        DataError: the folder's record is damaged or of another key, so that nobody can say; or another process is
            encoding into this folder.
    """
    path = folder / RECORD
    with _held(path.parent):
        record = Record.read(path, key)
        again = record.again(documents)
        if again:
            raise UsageError(
                f"{again} of these {len(documents)} notes were encoded into {folder} before: two encodings of one note "
                "can be averaged, which takes noise off. Send the first. Only where nobody has got it, delete its file "
                f"and {path}, and encode all of them again"
            )
        try:
            yield record
        except BaseException:
            record.write()
            raise


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

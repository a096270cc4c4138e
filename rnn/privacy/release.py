"""Annotated sentences to what may leave the house: each distinct one once, in random order, with noise that is gone."""

from __future__ import annotations

import fcntl
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np

from crfdeid.bio import OUTSIDE
from crfdeid.corpora.splits import Split
from crfdeid.documents import Document, LabelledSentence
from crfdeid.errors import DataError, EmptyInputError, FormatError, UsageError, WriteError
from crfdeid.secrets import SECRET_VARIABLE, derive, hash_word, read_secret, user_secret
from crfdeid.serialization import distinct_names
from crfdeid.utils.files import write_files
from crfdeid.utils.json import dump_with_checksum, read_with_checksum
from rnn.privacy.representation import RepresentationModel
from rnn.privacy.shared_file import SharedNotes
from rnn.privacy.substitution import shareable
from rnn.privacy.system_random import generator
from rnn.processors.inputs import casing
from rnn.processors.words import tags_of

RECORD = Path(".crfdeid") / "encoded.json"
"""The record, below the folder of the shared file."""
_LEDGER_VERSION = 1
_KEY_CHECK = "crfdeid encoded notes"
_ABOUT = "Keyed hashes of the notes that were encoded into this folder, so that none is encoded twice. Do not share it."


def record_key(key_file: Path | None) -> bytes:
    """The key of records: of the secret in a file or in the environment, else of one that is kept for the user.

    Raises:
        UsageError: a secret that is too short.
        DataError: the secret cannot be read, or none can be made.
    """
    given = key_file is not None or os.environ.get(SECRET_VARIABLE, "").strip()
    return derive(read_secret(key_file) if given else user_secret(), "encoded notes")


@dataclass(frozen=True)
class Ledger:
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
            fields = read_with_checksum(path, "record of encoded notes")
        except FileNotFoundError:
            return cls(path, key)
        if fields.get("schema") != _LEDGER_VERSION or fields.get("key") != hash_word(_KEY_CHECK, key):
            problem = (
                "a record of encoded notes under another secret, so that nobody can say which they are: give that "
                "secret, or name a file in a new folder"
            )
            raise DataError(problem, path=path)
        try:
            notes, sentences = (frozenset(distinct_names(fields[name])) for name in ("notes", "sentences"))
        except (KeyError, ValueError):
            raise FormatError("not a record of encoded notes: name a file in a new folder", path=path) from None
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
        Ledger(self.path, self.key, self.notes | self._notes(documents), told).write()

    def write(self) -> None:
        """Write the record as it is; none where nothing was encoded."""
        if not self.notes:
            self.path.unlink(missing_ok=True)
            return
        fields = {
            "about": _ABOUT,
            "schema": _LEDGER_VERSION,
            "key": hash_word(_KEY_CHECK, self.key),
            "notes": sorted(self.notes),
            "sentences": sorted(self.sentences),
        }
        write_files({self.path: dump_with_checksum(fields)})

    def _notes(self, documents: Sequence[Document]) -> set[str]:
        # Words alone: other spaces, another name or other annotations make it no other note.
        return {self._hash(word for part in note.sentences() for word in part.words) for note in documents}

    def _hash(self, words: Iterable[str]) -> str:
        return hash_word("\n".join(words), self.key)


@contextmanager
def release_ledger(folder: Path, documents: Sequence[Document], key: bytes) -> Iterator[Ledger]:
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
        record = Ledger.read(path, key)
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
        raise WriteError(f"the folder cannot be used: {error.strerror}", path=folder) from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            problem = "another process is encoding into this folder: wait for it, or name another one"
            raise WriteError(problem, path=folder.parent) from None
        yield
    finally:
        os.close(handle)


def encode_notes(
    sentences: Sequence[LabelledSentence], representation: RepresentationModel, *, seed: int | None = None
) -> SharedNotes:
    """Annotated sentences as they can be shared.

    A sentence that stands in several places is encoded once, with the tags that it has most often: its encodings could
    be averaged, and how often it stands there tells which it is.

    Args:
        sentences: tagged sentences; those without tokens are left out.
        representation: makes the vectors.
        seed: what noise and order are drawn from, for tests alone: whoever knows it can take the noise off. None for
            the operating system.

    Raises:
        DataError: there are no tokens, or no PHI, so that nothing can be learned.
        ValueError: the representation's vectors are not finite.
    """
    different = distinct(sentences)
    if not different:
        raise EmptyInputError("the notes hold no tokens at all: give annotated notes")
    names = tags_of(different)
    if not _have_phi(different):
        raise EmptyInputError("the notes hold no PHI at all: give annotated notes")
    random = generator(seed)
    different = [different[i] for i in random.permutation(len(different))]
    vectors = representation.encode([item.sentence for item in different], random)
    number = {tag: k for k, tag in enumerate(names)}
    return SharedNotes(
        np.concatenate(vectors).astype(np.float16),
        np.array([len(item.tags) for item in different], np.int32),
        np.array([casing(word) for item in different for word in item.sentence.words], np.uint8),
        np.array([number[tag] for item in different for tag in item.tags], np.uint16),
        names,
        representation.digest,
        seed is None,
    )


class Written(NamedTuple):
    """What was written for others.

    Attributes:
        shared: the file's content.
        repeated: sentences that were left out since they stand in the notes more than once, or in notes that were
            encoded before.
        left_out: sentences that were left out since no tags express all of their PHI (`shareable`).
    """

    shared: SharedNotes
    repeated: int
    left_out: int


def write_shared(
    notes: Split, representation: RepresentationModel, path: Path, *, key: bytes, seed: int | None = None
) -> Written:
    """Encode annotated notes, once, and write the file that may leave the house.

    Args:
        notes: the notes.
        representation: makes the vectors.
        path: the new file.
        key: of the record beside it (`rnn.privacy.release.record_key`).
        seed: as of `encode_notes`, and so are the errors.

    Raises:
        UsageError: one of the notes was encoded into this folder before.
        DataError: the file or the record cannot be written, or nobody can say what was encoded.
    """
    with release_ledger(path.parent, notes.documents, key) as record:
        sentences = shareable(notes.encoded)
        new = record.new(sentences)
        if len(new) < len(sentences) and not _have_phi(new):
            raise EmptyInputError(
                "all sentences of these notes with PHI were encoded before: there is nothing to share"
            )
        shared = encode_notes(new, representation, seed=seed)
        record.add(notes.documents, new)
        shared.save(path)
    repeated = sum(bool(item.tags) for item in sentences) - len(shared.lengths)
    return Written(shared, repeated, len(notes.sentences) - len(sentences))


def _have_phi(sentences: Iterable[LabelledSentence]) -> bool:
    return any(tag != OUTSIDE for item in sentences for tag in item.tags)


def distinct(sentences: Sequence[LabelledSentence]) -> list[LabelledSentence]:
    """One sentence for all of the same words, with the tags that they have most often; none without tokens."""
    alike: defaultdict[tuple[str, ...], list[LabelledSentence]] = defaultdict(list)
    for item in sentences:
        if item.tags:
            alike[item.sentence.words].append(item)
    found = []
    for items in alike.values():
        usual, _ = Counter(item.tags for item in items).most_common(1)[0]
        found.append(next(item for item in items if item.tags == usual))
    return found

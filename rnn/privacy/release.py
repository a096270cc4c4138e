"""Release of annotated notes as a shared file: deduplicate, shuffle and encode sentences, and each note once.

A ledger of keyed hashes in the file's folder refuses to encode a note twice, since the noise of two encodings could be
averaged out.
"""

from __future__ import annotations

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
from crfdeid.errors import EmptyInputError, FormatError, MismatchError, OutputExistsError, WriteError
from crfdeid.secrets import hash_word
from crfdeid.serialization import distinct_names
from crfdeid.utils.files import locked, make_owner_folder, write_files
from crfdeid.utils.json import dump_with_checksum, read_with_checksum
from rnn.inputs import casing
from rnn.privacy.representation import RepresentationModel
from rnn.privacy.shared_file import SharedNotes
from rnn.privacy.substitution import shareable
from rnn.privacy.system_random import generator
from rnn.words import tags_of

RECORD = Path(".crfdeid") / "encoded.json"
"""Path of the ledger below the folder of the shared file."""
_LEDGER_VERSION = 1
_KEY_CHECK = "crfdeid encoded notes"
_WITHOUT = (
    "if no file of this folder was sent to anyone, delete them and the record, and encode their notes again; else "
    "encode only notes that never were, into a new folder"
)
_RESTORE = f"restore it from a backup. Without one: {_WITHOUT}"
_ABOUT = "Keyed hashes of the notes that were encoded into this folder, so that none is encoded twice. Do not share it."


@dataclass(frozen=True)
class Ledger:
    """Ledger of the notes and sentences that were encoded into a folder, as keyed hashes.

    Args:
        path: path of the ledger.
        key: key of the ledger (`crfdeid.secrets.read_record_key`).
        notes: hash of each note.
        sentences: hash of each sentence.
    """

    path: Path
    key: bytes
    notes: frozenset[str] = frozenset()
    sentences: frozenset[str] = frozenset()

    @classmethod
    def read(cls, path: Path, key: bytes) -> Self:
        """Read the ledger of a folder; an empty one if there is none.

        Raises:
            DataError: the ledger is damaged, or of another key.
        """
        try:
            fields = read_with_checksum(path, "record of encoded notes", remedy=_RESTORE)
        except FileNotFoundError:
            return cls(path, key)
        if fields.get("schema") != _LEDGER_VERSION:
            raise FormatError("a record of encoded notes of another version of crfdeid: use that version", path=path)
        if fields.get("key") != hash_word(_KEY_CHECK, key):
            problem = f"a record of encoded notes with another secret: give that secret. Without it: {_WITHOUT}"
            raise MismatchError(problem, path=path)
        try:
            notes, sentences = (frozenset(distinct_names(fields[name])) for name in ("notes", "sentences"))
        except (KeyError, ValueError):
            raise FormatError(f"not a record of encoded notes: {_RESTORE}", path=path) from None
        return cls(path, key, notes, sentences)

    def new(self, sentences: Iterable[LabelledSentence]) -> list[LabelledSentence]:
        """Select the sentences that were not encoded before."""
        return [item for item in sentences if self._hash(item.sentence.words) not in self.sentences]

    def again(self, documents: Sequence[Document]) -> int:
        """Count the notes that were encoded before."""
        return len(self.notes & self._notes(documents))

    def add(self, documents: Sequence[Document], sentences: Iterable[LabelledSentence]) -> None:
        """Add notes and sentences to the file of the ledger."""
        hashes = self.sentences | {self._hash(item.sentence.words) for item in sentences}
        Ledger(self.path, self.key, self.notes | self._notes(documents), hashes).write()

    def write(self) -> None:
        """Write the ledger; remove an empty one."""
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
        # Words alone: a note with other spaces, another name or other annotations is the same note.
        return {self._hash(word for part in note.sentences() for word in part.words) for note in documents}

    def _hash(self, words: Iterable[str]) -> str:
        return hash_word("\n".join(words), self.key)


@contextmanager
def release_ledger(folder: Path, documents: Sequence[Document], key: bytes) -> Iterator[Ledger]:
    """Lock a folder while notes are encoded for a file in it.

    Args:
        folder: the folder; created if missing.
        documents: the notes.
        key: key of the ledger (`crfdeid.secrets.read_record_key`).

    Yields:
        The ledger. The caller adds the notes just before the file gets its name, so that no file exists without its
        entry; on a later error, the ledger is restored.

    Raises:
        UsageError: one of the notes was encoded into this folder before.
        DataError: the ledger is damaged or of another key, or another process is encoding into this folder.
    """
    path = folder / RECORD
    _make_record_folder(path.parent)
    busy = "another process is encoding into this folder: wait for it, or name another one"
    with locked(path.with_suffix(".lock"), of=folder, busy=busy):
        record = Ledger.read(path, key)
        again = record.again(documents)
        if again:
            raise OutputExistsError(
                f"{again} of these {len(documents)} notes were encoded into {folder} before: two encodings of one note "
                "can be averaged, which removes noise. Send the first. Only if it was not sent to anyone, delete its "
                f"file and {path}, and encode all of them again"
            )
        try:
            yield record
        except BaseException:
            record.write()
            raise


def _make_record_folder(folder: Path) -> None:
    """Make the folder of the ledger; a link could lead into another user's folder."""
    try:
        make_owner_folder(folder)
    except OSError as error:
        raise WriteError(f"the folder cannot be used: {error.strerror}", path=folder) from None
    if folder.is_symlink():
        raise WriteError("a link, which is not followed: remove it", path=folder)


def encode_notes(
    sentences: Sequence[LabelledSentence], representation: RepresentationModel, *, seed: int | None = None
) -> SharedNotes:
    """Deduplicate, shuffle and encode annotated sentences for a shared file.

    A repeated sentence is encoded once, with its most frequent tags: several encodings could be averaged, and its
    frequency could identify it.

    Args:
        sentences: tagged sentences; those without tokens are left out.
        representation: makes the vectors.
        seed: seed of noise and order, for tests alone, since the noise can be removed with it. None for random numbers
            of the operating system.

    Raises:
        EmptyInputError: there are no tokens, or no PHI.
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
    """Shared file, and the sentences that it leaves out.

    Attributes:
        shared: content of the file.
        repeated: number of left-out sentences that are repeated, or were encoded before in other notes.
        left_out: number of left-out sentences in which spans of PHI cross (`shareable`).
    """

    shared: SharedNotes
    repeated: int
    left_out: int


def write_shared(
    notes: Split, representation: RepresentationModel, path: Path, *, key: bytes, seed: int | None = None
) -> Written:
    """Encode annotated notes and write the shared file and its ledger.

    Args:
        notes: the notes.
        representation: makes the vectors.
        path: the new file.
        key: key of the ledger in the same folder (`crfdeid.secrets.read_record_key`).
        seed: see `encode_notes`.

    Raises:
        UsageError: one of the notes was encoded into this folder before.
        DataError: the file or the ledger cannot be read or written; or an error of `encode_notes`.
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
    """Deduplicate sentences by their words, with the most frequent tags; sentences without tokens are left out."""
    alike: defaultdict[tuple[str, ...], list[LabelledSentence]] = defaultdict(list)
    for item in sentences:
        if item.tags:
            alike[item.sentence.words].append(item)
    found = []
    for items in alike.values():
        usual, _ = Counter(item.tags for item in items).most_common(1)[0]
        found.append(next(item for item in items if item.tags == usual))
    return found

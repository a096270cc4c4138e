"""Annotated sentences to what may leave the house: each distinct one once, in random order, with noise that is gone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from crfdeid.bio import OUTSIDE
from crfdeid.corpora.splits import Split
from crfdeid.documents import LabelledSentence
from crfdeid.errors import DataError
from rnn.codecs.casing import casing
from rnn.codecs.words import tags_of
from rnn.sharing.once import encoding_once
from rnn.sharing.pseudonyms import shareable
from rnn.sharing.representation import RepresentationModel
from rnn.sharing.shared import SharedNotes
from rnn.sharing.system_random import generator


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
        raise DataError("the notes hold no tokens at all: give annotated notes")
    names = tags_of(different)
    if not _have_phi(different):
        raise DataError("the notes hold no PHI at all: give annotated notes")
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
        key: of the record beside it (`rnn.sharing.once.record_key`).
        seed: as of `encode_notes`, and so are the errors.

    Raises:
        UsageError: one of the notes was encoded into this folder before.
        DataError: the file or the record cannot be written, or nobody can say what was encoded.
    """
    with encoding_once(path.parent, notes.documents, key) as record:
        sentences = shareable(notes.encoded)
        new = record.new(sentences)
        if len(new) < len(sentences) and not _have_phi(new):
            raise DataError("all sentences of these notes with PHI were encoded before: there is nothing to share")
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

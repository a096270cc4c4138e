"""Division of documents into parts that share no patient and no text, and what given parts share.

Documents of one patient stay in one part, and so do documents with equal texts: in normal form, without regard to case
and white space. Otherwise a model is measured on names that it has learned.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, combinations, pairwise

from crfdeid.corpora.common import squeezed
from crfdeid.documents import Document, text_digest
from features.tokenizer import normal_form

_PATIENT, _TEXT = "patient", "text"


def _keys(document: Document) -> Iterator[tuple[str, str]]:
    """The patient and the text of a document; blank texts are not equal, as they teach nothing."""
    if document.patient is not None:
        yield _PATIENT, document.patient
    folded = squeezed(normal_form(document.text).text.casefold())
    if folded:
        yield _TEXT, text_digest(folded)


def linked(documents: Sequence[Document]) -> list[list[int]]:
    """Indices of the documents that belong together: of one patient, or with equal texts, directly or by others.

    Example:
        >>> notes = [Document("1", "Well."), Document("2", "Ill.", patient="p1"), Document("3", "WELL .", patient="p1")]
        >>> linked([*notes, Document("4", "Worse.")])
        [[0, 1, 2], [3]]
    """
    parents = list(range(len(documents)))

    def root(index: int) -> int:
        while parents[index] != index:
            parents[index] = parents[parents[index]]
            index = parents[index]
        return index

    first: dict[tuple[str, str], int] = {}
    for index, document in enumerate(documents):
        for key in _keys(document):
            one, other = sorted((root(index), root(first.setdefault(key, index))))
            parents[other] = one
    groups: dict[int, list[int]] = {}
    for index in range(len(documents)):
        groups.setdefault(root(index), []).append(index)
    return list(groups.values())


def part_sizes(count: int, shares: Sequence[float]) -> list[int]:
    """Numbers of documents of parts with some shares of them: at least one each, where there are as many.

    Example:
        >>> part_sizes(10, (0.6, 0.2, 0.2)), part_sizes(3, (0.6, 0.2, 0.2)), part_sizes(1, (0.5, 0.5))
        ([6, 2, 2], [1, 1, 1], [0, 1])
    """
    stops = [round(end * count) for end in accumulate(shares)]
    sizes = [stop - start for start, stop in pairwise([0, *stops])]
    for part, size in enumerate(sizes):
        if not size and max(sizes) > 1:
            sizes[sizes.index(max(sizes))] -= 1
            sizes[part] = 1
    return sizes


def divide(documents: Sequence[Document], sizes: Sequence[int], *, seed: int) -> list[list[Document]]:
    """Divide documents at random into parts that share no patient and no text, of about the wanted sizes.

    A group of linked documents goes to the first part with room for it, or the part with most room. Groups larger than
    the smallest part come first. Without linked documents, this is a shuffle that is cut at the sizes.

    Args:
        documents: the documents.
        sizes: wanted number of documents of each part; their sum is the number of documents.
        seed: of the shuffle.

    Returns:
        The parts; one is empty only where its size is 0, or where there are fewer groups than parts.
    """
    order = list(documents)
    random.Random(seed).shuffle(order)
    groups = linked(order)
    least = min(sizes)
    large = sorted((group for group in groups if len(group) > least), key=len, reverse=True)
    room, chosen = list(sizes), [list[list[int]]() for _ in sizes]

    def put(group: list[int], part: int) -> None:
        chosen[part].append(group)
        room[part] -= len(group)

    for group in (*large, *(group for group in groups if len(group) <= least)):
        fitting = (part for part, left in enumerate(room) if left >= len(group))
        put(group, next(fitting, room.index(max(room))))
    for part, size in enumerate(sizes):
        donors = [other for other, some in enumerate(chosen) if len(some) > 1]
        if size and not chosen[part] and donors:
            donor = min(donors, key=room.__getitem__)
            group = min(chosen[donor], key=len)
            chosen[donor].remove(group)
            room[donor] += len(group)
            put(group, part)
    return [[order[index] for group in some for index in group] for some in chosen]


def describe_division(parts: Mapping[str, Sequence[Document]]) -> str:
    """Describe how parts were divided, with the numbers of their patients and notes.

    Example:
        >>> describe_division({"train": [Document("1", "a"), Document("2", "b")], "dev": [Document("3", "c")]})
        'Split by note and equal text, as no patient is known: train 2 notes, dev 1 note'
    """
    patients = {name: len({document.patient for document in part} - {None}) for name, part in parts.items()}
    known = any(patients.values())
    sizes = (
        _counted(len(part), "note") + (f" of {_counted(patients[name], 'patient')}" if known else "")
        for name, part in parts.items()
    )
    each = ", ".join(f"{name} {size}" for name, size in zip(parts, sizes, strict=True))
    nameless = sum(document.patient is None for part in parts.values() for document in part) if known else 0
    more = f"; {_counted(nameless, 'note')} without a patient" if nameless else ""
    by = "patient and equal text" if known else "note and equal text, as no patient is known"
    return f"Split by {by}: {each}{more}"


def describe_overlap(parts: Mapping[str, Sequence[Document]]) -> str | None:
    """Describe the patients and equal texts that parts share; None if they share none.

    Example:
        >>> describe_overlap({"train": [Document("1", "Well.")], "test": [Document("2", "WELL.", patient="p1")]})
        'Scores are too high: train and test share 1 text'
    """
    keys = {name: {key for document in part for key in _keys(document)} for name, part in parts.items()}
    overlaps = []
    for one, other in combinations(parts, 2):
        shared = [kind for kind, _ in keys[one] & keys[other]]
        if shared:
            counts = " and ".join(_counted(shared.count(kind), kind) for kind in (_PATIENT, _TEXT) if kind in shared)
            overlaps.append(f"{one} and {other} share {counts}")
    return f"Scores are too high: {'; '.join(overlaps)}" if overlaps else None


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"

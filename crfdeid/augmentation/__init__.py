"""Data augmentation: copies of training notes in another spelling or layout, or with other values.

A model learns the spelling and layout of its training notes: capitalised names, accents, a field's name before each
value. It misses PHI in notes that are typed in small letters, lose their accents in some system, or have another
layout. Copies of notes teach it these forms. A copy has its note's id and no other note's values, so that counts of
documents per word are unchanged. The same seed makes the same copies for every run and model.

rewrites.py  letters (small, capital, without accents), and surrogates in place of values, for small corpora
perturbations.py  all rewrites by which `crfdeid evaluate --perturb` measures a model, and those for it alone
layout.py    separators, field names, lines, and values in sentences of the language packs; note_fields.py  their parts
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from crfdeid.augmentation.layout import LayoutRewriter
from crfdeid.augmentation.rewrites import (
    REWRITES,
    in_capitals,
    in_small_letters,
    in_small_letters_without_accents,
    with_edits,
    with_other_values,
    with_pieces,
    without_accents,
)
from crfdeid.corpora.splits import Split
from crfdeid.documents import PHI, Document, trim_spans

__all__ = [
    "ALL_COPIES",
    "COPY_KINDS",
    "NO_COPIES",
    "LayoutRewriter",
    "augment_corpus",
    "in_capitals",
    "in_small_letters",
    "in_small_letters_without_accents",
    "parse_copy_kinds",
    "with_edits",
    "with_other_values",
    "with_pieces",
    "without_accents",
]

COPY_KINDS = ("accents", "case", "layout", "values")
"""The kinds of copies: without accents; in small letters and in capitals; in another layout; with other values."""
ALL_COPIES, NO_COPIES = ",".join(COPY_KINDS), "none"
_LAYOUT_EVERY = 2
"""One note in two has a copy in another layout. More copies lengthen training with little effect."""


_MOST_WITH_VALUES, _VALUES_COPIES = 200, 3
"""Notes up to which there are copies with other values, these included, and copies of each note at most."""


def parse_copy_kinds(text: str) -> str:
    """Parse an option's kinds of copies into their fixed order: "accents,case,layout,values", some, or "none".

    Raises:
        ValueError: an unknown kind.

    Example:
        >>> parse_copy_kinds("layout,accents"), parse_copy_kinds("all")
        ('accents,layout', 'accents,case,layout,values')
    """
    names = set(text.split(","))
    if text == NO_COPIES or not names - {*COPY_KINDS, "all"}:
        return ALL_COPIES if "all" in names else ",".join(kind for kind in COPY_KINDS if kind in names) or NO_COPIES
    raise ValueError(
        f"'{text}' is not a kind of copies: give {', '.join(COPY_KINDS)}, several with commas, all, or {NO_COPIES}"
    )


def augment_corpus(train: Split, how: str, *, seed: int = 0) -> Split:
    """Training notes followed by copies of each or some, and of few notes several with other values.

    Args:
        train: the training notes.
        how: the kinds of copies, as `parse_copy_kinds` returns them.
        seed: of all that is drawn.

    Example:
        >>> notes = Split.of([Document("1", "Seen by Dr. Muñoz")])
        >>> [document.text for document in augment_corpus(notes, "accents").documents]
        ['Seen by Dr. Muñoz', 'Seen by Dr. Munoz']
    """
    kinds = set() if how == NO_COPIES else set(how.split(","))
    # A surrogate of a value with a space at its end would join the next word.
    notes = replace(train, documents=tuple(map(trim_spans, train.documents)))
    copies = [
        *_respelt(notes, kinds & {"accents", "case"}, seed),
        *(_laid_out(notes, seed) if "layout" in kinds else ()),
        *(_with_values(notes, seed) if "values" in kinds else ()),
    ]
    added = Split.of(copies)
    return Split(train.documents + added.documents, train.encoded + added.encoded) if copies else train


def _respelt(train: Split, kinds: set[str], seed: int) -> Iterator[Document]:
    rewrites = REWRITES.get(frozenset(kinds), ())
    # An order of its own, so that a note with a copy in another layout gets any kind of spelling.
    for number, document in enumerate(_shuffled(train, f"{seed} spelling") if rewrites else ()):
        yield rewrites[number % len(rewrites)](document)


def _laid_out(train: Split, seed: int) -> Iterator[Document]:
    labels = {span.label for document in train.annotated(PHI).documents for span in document.layer(PHI)}
    rewrite = LayoutRewriter(labels, seed=seed)
    yield from filter(None, map(rewrite, _shuffled(train, seed)[::_LAYOUT_EVERY]))


def _with_values(train: Split, seed: int) -> Iterator[Document]:
    count = min(_VALUES_COPIES, _MOST_WITH_VALUES // max(len(train.documents), 1) - 1)
    for number in range(_VALUES_COPIES * seed, _VALUES_COPIES * seed + count):
        yield from filter(None, (with_other_values(document, number) for document in train.documents))


def _shuffled(train: Split, seed: int | str) -> list[Document]:
    order = list(train.documents)
    random.Random(seed).shuffle(order)
    return order

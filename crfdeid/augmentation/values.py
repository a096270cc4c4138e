"""Copies of notes with other values of PHI: surrogates of the same form, and other marks between them.

From few notes a model learns their names and towns by heart, and the marks that separate an address's parts in them. A
copy has a surrogate of each value that has one, and other marks between the values of a line, so that the model must
use the form of a value and the words around it (mention replacement).

Reference:
    Dai and Adel (2020), "An analysis of simple data augmentation for named entity recognition", section 3.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import replace

from crfdeid.corpora.marked_text import MarkedText, join_parts
from crfdeid.documents import Document, Span, merge
from crfdeid.errors import DataError
from crfdeid.redaction.policy import SURROGATE
from crfdeid.redaction.redact import redact

_BETWEEN_VALUES = re.compile(r"[ .,;:()\-–]{1,4}")
_MARKS = (" ", " ", " ", ". ", ", ", " - ", "; ")
_SHARE_CHANGED = 0.5


def with_other_values(document: Document, number: int) -> Document | None:
    """A copy of a note with surrogates of its values.

    Args:
        document: a note with its PHI.
        number: of the copy; each has other surrogates.

    Returns:
        The copy; None for a note whose tokens came with the data, that has another annotation layer or spans that
        overlap, or whose language has no surrogates.

    Example:
        >>> note = Document("1", "Seen by Dr. Quill of the clinic.", (Span(12, 17, "DOCTOR"),))
        >>> copy = with_other_values(note, 0)
        >>> copy.text.startswith("Seen by Dr. "), "Quill" in copy.text
        (True, False)
    """
    if document.pretokenized is not None or document.layers or len(merge(document.spans)) < len(document.spans):
        return None
    key = f"surrogates of training copy {number}".encode()  # not secret: the copies are never written
    try:
        copy = redact(document, SURROGATE, secret=key, patient=f"{document.id} {number}")
    except DataError:  # a language without surrogates
        return None
    return _joined(document, copy, random.Random(f"{document.id} {number}"))


def _joined(document: Document, copy: Document, draw: random.Random) -> Document:
    """The note with the values of a copy, and other marks between some of the values that only marks separate."""

    def parts() -> Iterator[MarkedText]:
        end = 0
        for span, other in zip(merge(document.spans), copy.spans, strict=True):
            gap, value = document.text[end : span.start], copy.text[other.start : other.end]
            if value == f"[{span.label}]":  # no surrogate
                value = document.text[span.start : span.end]
            if end and _BETWEEN_VALUES.fullmatch(gap) and draw.random() < _SHARE_CHANGED:
                gap = draw.choice(_MARKS)
            yield MarkedText(gap)
            yield MarkedText(value, (Span(0, len(value), span.label),))
            end = span.end
        yield MarkedText(document.text[end:])

    joined = join_parts(parts())
    return replace(document, text=joined.text, spans=joined.spans)

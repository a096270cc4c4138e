"""Record of a redaction: which spans of a note were replaced, by how many characters, and digests of both texts.

A review needs to know what redaction replaced. Computed from the two texts, it would be a guess: a name that was left
can look like a part of a replacement. The record holds offsets, types and lengths, and no text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from crfdeid.documents import Span, text_digest
from crfdeid.errors import MismatchError
from crfdeid.validation import shape_errors

RECORD_SHAPE = {"original": str, "redacted": str, "spans": [list]}
"""Shape of `RedactionRecord.to_dict`; `RedactionRecord.from_dict` checks the spans."""


class ReplacedSpan(NamedTuple):
    """Span of the original text, and the length of the text in its place.

    Attributes:
        start: its first character in the original.
        end: the one after its last.
        label: its type.
        length: number of characters in its place; 0 where it was removed.
    """

    start: int
    end: int
    label: str
    length: int


@dataclass(frozen=True, slots=True)
class RedactionRecord:
    """What redaction did to one text.

    Args:
        original: digest of the original text (`crfdeid.documents.text_digest`).
        redacted: digest of the redacted text.
        spans: by position, without overlaps; also those whose new text is the old one, such as kept ages.
    """

    original: str
    redacted: str
    spans: tuple[ReplacedSpan, ...]

    def replacements(self, original: str, redacted: str) -> list[tuple[Span, str]]:
        """Return each span with the text in its place.

        Args:
            original: the original text.
            redacted: the redacted text.

        Raises:
            MismatchError: a text is not the one of the record.
        """
        for text, digest, which in ((original, self.original, "original"), (redacted, self.redacted, "redacted")):
            if text_digest(text) != digest:
                raise MismatchError(f"the {which} text is not the one that was recorded when it was redacted")
        found, shift = [], 0
        for start, end, label, length in self.spans:
            found.append((Span(start, end, label), redacted[start + shift : start + shift + length]))
            shift += length - (end - start)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON data of `RECORD_SHAPE`."""
        return {"original": self.original, "redacted": self.redacted, "spans": self.spans}

    @classmethod
    def from_dict(cls, data: Any) -> Self | None:
        """Return the record of such data; None if they are none."""
        if any(shape_errors(data, RECORD_SHAPE)):
            return None
        spans = tuple(_spans(data["spans"]))
        return cls(data["original"], data["redacted"], spans) if len(spans) == len(data["spans"]) else None


def _spans(entries: list[Any]) -> Iterator[ReplacedSpan]:
    """Yield spans up to the first entry that cannot be one."""
    before = 0
    for entry in entries:
        match entry:
            case [int(start), int(end), str(label), int(length)] if before <= start < end and length >= 0:
                yield ReplacedSpan(start, end, label, length)
                before = end
            case _:
                return

"""One table of the formats of notes in markup that are read; readers are imported on use."""

from __future__ import annotations

from importlib import import_module

from crfdeid.markup.blocks import MarkupText
from crfdeid.markup.recognise import find_markup, unread

READERS = {name: f"crfdeid.markup.{name}:read_{name}" for name in ("html", "rtf", "hl7")}
"""Format -> its reader, a function from the source to `MarkupText`."""
MARKUP_SUFFIXES = {".html": "html", ".htm": "html", ".rtf": "rtf", ".hl7": "hl7"}
"""Suffix of a file -> its format."""
MARKUP_CHOICES = ("auto", "plain", *READERS)
"""Treatment of texts: recognise markup, read every text as prose, or read every text as one format."""

STRUCTURED_CHOICES = ("refuse", "keep", "blank")
"""Treatment of fields that name the patient and are no text for a model."""


def read_markup(text: str, markup: str = "auto") -> MarkupText | None:
    """Read a text in markup; None for prose.

    Args:
        text: the text.
        markup: one of `MARKUP_CHOICES`.

    Raises:
        MarkupError: the text is in a format that is not read, or violates its format.
    """
    if markup == "plain":
        return None
    if markup == "auto":
        found = find_markup(text)
        if found is None:
            return None
        if found.name not in READERS:
            raise unread(found)
        markup = found.name
    module, _, name = READERS[markup].partition(":")
    reading: MarkupText = getattr(import_module(module), name)(text)
    return reading

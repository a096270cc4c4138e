"""Properties of a document, such as its author: fields that are no text, and what they say about the patient."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from crfdeid.markup.blocks import Edit, Structured, word_sets

_WORDS = word_sets("properties")
_CUES = re.compile(rf"(?:{'|'.join(sorted(_WORDS['cues']))})", re.IGNORECASE)
HAS_TEXT = re.compile(r"[^\W\d_]|[0-9](?:.*?[0-9]){3}", re.DOTALL)
"""A letter or a number; not "%1." of a list."""


@dataclass
class Properties:
    """Structured fields of a document so far."""

    identifiers: dict[tuple[str, str], None] = field(default_factory=dict)  # in order
    fields: dict[str, None] = field(default_factory=dict)
    blank: list[Edit] = field(default_factory=list)

    def add(self, field: str, blank: Edit) -> None:
        """Add a field by its name in messages, with the edit that empties it."""
        self.fields[field] = None
        self.blank.append(blank)

    def search_for(self, name: str, value: str) -> None:
        """Search the narrative for the value of a property, as of `own_identifiers`."""
        self.identifiers.update(dict.fromkeys(own_identifiers(name, value)))

    def done(self) -> Structured:
        """Return the structured part."""
        return Structured(identifiers=tuple(self.identifiers), fields=tuple(self.fields), blank=tuple(self.blank))


def own_identifiers(name: str, value: str) -> list[tuple[str, str]]:
    """Return the identifier in a property of a document: of an author, or of an own property that names the patient.

    Example:
        >>> own_identifiers("Author", "Jane Quill"), own_identifiers("Patient no.", "48-2213")
        ([('name', 'Jane Quill')], [('number', '48-2213')])
    """
    value = value.strip()
    if name.lower() in _WORDS["authors"]:
        is_person = len(value.split()) > 1 and value not in _WORDS["software"]  # no login
        return [("name", value)] if is_person else []
    if not _CUES.search(name) or len(value) < 2 or not HAS_TEXT.search(value):
        return []
    if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T.*)?", value):
        return [("date", value[:10])]
    return [("number" if any(c.isdigit() for c in value) else "name", value)]

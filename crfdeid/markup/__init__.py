"""Notes in markup: RTF, HTML, HL7 and others are recognised, and never redacted as prose by accident.

recognise.py   one table of the formats that are read; the format of a text, by its first characters or the density of
               its codes; `read_markup`
blocks.py      the visible text of a document, with a map to its source, and the way back
html.py, rtf.py, hl7.py, fhir.py   readers: source -> `MarkupText`
nested.py      markup in a field of a message
words.toml     elements, attributes, destinations and fields that the readers treat in one way
"""

from crfdeid.markup.recognise import (
    MARKUP_CHOICES,
    MARKUP_SUFFIXES,
    STRUCTURED_CHOICES,
    Markup,
    find_markup,
    read_markup,
    require_prose,
)

__all__ = [
    "MARKUP_CHOICES",
    "MARKUP_SUFFIXES",
    "STRUCTURED_CHOICES",
    "Markup",
    "find_markup",
    "read_markup",
    "require_prose",
]

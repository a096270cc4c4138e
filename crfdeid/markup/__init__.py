"""Notes in markup: RTF, HTML, HL7 and others are recognised, and never redacted as prose by accident.

recognise.py   one table of the formats that are read; the format of a text, by its first characters or the density of
               its codes; `read_markup`; `unpack` and `pack` of binary files
blocks.py      the visible text of a document, with a map to its source, and the way back
html.py, rtf.py, hl7.py, fhir.py, cda.py, docx.py, pdf.py   readers: source -> `MarkupText`
xml.py, runs.py   tokens of XML; text with character references
package.py     DOCX as one text, and the way back
properties.py   authors and other properties of a document, which are structured fields
standard.py    names of fonts, styles and software, which are no text
nested.py      markup in a field of a message
words.toml     elements, attributes, destinations and fields that the readers treat in one way
"""

from crfdeid.markup.recognise import (
    BINARY_READERS,
    BINARY_SUFFIXES,
    MARKUP_CHOICES,
    MARKUP_SUFFIXES,
    MEDIA_TYPES,
    STRUCTURED_CHOICES,
    Markup,
    find_base64,
    find_markup,
    note_markup,
    pack,
    read_markup,
    require_prose,
    result_name,
    unpack,
)

__all__ = [
    "BINARY_READERS",
    "BINARY_SUFFIXES",
    "MARKUP_CHOICES",
    "MARKUP_SUFFIXES",
    "MEDIA_TYPES",
    "STRUCTURED_CHOICES",
    "Markup",
    "find_base64",
    "find_markup",
    "note_markup",
    "pack",
    "read_markup",
    "require_prose",
    "result_name",
    "unpack",
]

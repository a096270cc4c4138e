"""Names that formats and programs give to fonts, styles and themselves, and that are no text of a note."""

from __future__ import annotations

import re

from crfdeid.markup.blocks import word_sets

_WORDS = word_sets("standard")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_NUMBER = re.compile(r"[0-9]{5}")
_SOFTWARE = re.compile(
    r"(?:LibreOffice|Microsoft (?:Office )?Word|OpenOffice|pandoc)(?:[/ ][0-9.]+)?(?: \((?:Linux|MacOSX|Windows)\)"
    r"|\$\w+ LibreOffice_project/[0-9a-f]+(?:\$Build-[0-9]+)?)?"
)


def is_font(value: str) -> bool:
    """True for the name of a common font."""
    return value in _WORDS["fonts"]


def is_standard(value: str) -> bool:
    """True for a name that software gives to a style, a list or a shape, such as "Heading 2" or "Normal.dotm".

    Example:
        >>> is_standard("Heading 2"), is_standard("Quill")
        (True, False)
    """
    if value in _WORDS["styles"]:
        return True
    words = _WORD.findall(value)
    is_plain = value.isascii() and _NUMBER.search(value) is None
    return is_plain and bool(words) and all(word.lower() in _WORDS["words"] for word in words)


def is_software(value: str) -> bool:
    """True for the name of a program that wrote a document, such as "LibreOffice 7.4.7.2 (Linux)"."""
    return _SOFTWARE.fullmatch(value) is not None

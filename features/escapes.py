"""HTML entities, "<br>" and percent-encoding as the characters that they write, with offsets into the raw text."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from html import unescape
from html.entities import html5

import regex

# An entity, a run of "%41", or "<br>". Numbers of more digits are no code points.
_ESCAPE = regex.compile(
    r"&#(?:[xX]0*+[0-9a-fA-F]{1,6}+|0*+[0-9]{1,7}+(?![0-9]));?|&[A-Za-z][A-Za-z0-9]{1,31}+;?|(?:%[0-9a-fA-F]{2})++"
    r"|<[bB][rR]\s{0,3}/?>"
)
_UTF8 = regex.compile(rb"[\x00-\x7f]|[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}|(?s:.)")
_MIN_ENTITY_NAME = 2
MOST_LEVELS = 4
"""Levels of encoding that are decoded: "&amp;eacute;" has two."""


def decoded_levels(text: str) -> Iterator[tuple[str, Sequence[int]]]:
    """Yield the decoded text of each level of encoding, `MOST_LEVELS` at most, with the offsets in ``text``.

    Example:
        >>> [decoded for decoded, _ in decoded_levels("R&amp;eacute;, 50 %")]
        ['R&eacute;, 50 %', 'Ré, 50 %']
    """
    offsets: Sequence[int] | None = None
    for _ in range(MOST_LEVELS):
        found = decode_escapes(text)
        if found is None:
            return
        text, inner = found
        offsets = inner if offsets is None else array("q", map(offsets.__getitem__, inner))
        yield text, offsets


def decode_escapes(text: str) -> tuple[str, Sequence[int]] | None:
    """Decode one level of HTML entities, "<br>" and percent-encoding.

    Percent-encoded bytes are read as UTF-8, and invalid ones as Latin-1. After a digit, an invalid one is a percentage
    and a word: "98%ad lib".

    Returns:
        The decoded text, and the offset in ``text`` of each of its characters and of its end; None if nothing is
        encoded.

    Example:
        >>> decode_escapes("Qu&iacute;l")
        ('Quíl', array('i', [0, 1, 2, 10, 11]))
        >>> decode_escapes("50 % at 98%ad lib") is None
        True
    """
    if "&" not in text and "%" not in text and "<" not in text:  # most texts
        return None
    parts: list[str] = []
    offsets = array("i" if len(text) < 1 << 31 else "q")
    end = 0
    for start, stop, found in escapes(text):
        parts += text[end:start], found
        offsets.extend(range(end, start))
        offsets.extend([start] * len(found))
        end = stop
    if not parts:
        return None
    parts.append(text[end:])
    offsets.extend(range(end, len(text) + 1))
    return "".join(parts), offsets


def escapes(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and decoded characters of each encoded character of a text."""
    for match in _ESCAPE.finditer(text):
        start, found = match.start(), match.group()
        if found.startswith("%"):
            after_digit = text[start - 1 : start].isdecimal()
            for one in _UTF8.finditer(bytes.fromhex(found.replace("%", ""))):
                begin, start = start, start + 3 * len(one.group())
                if not (after_digit and one.group() > b"\x7f" and len(one.group()) == 1):
                    yield begin, start, _characters(one.group())
        elif found.startswith("<"):
            yield start, match.end(), "\n"
        elif found.startswith("&#"):
            yield start, match.end(), unescape(found)
        else:
            # The longest name counts, as in browsers; some old names need no semicolon.
            for size in range(len(found), _MIN_ENTITY_NAME, -1):
                if found[1:size] in html5:
                    yield start, start + size, html5[found[1:size]]
                    break


def _characters(encoded: bytes) -> str:
    try:
        return encoded.decode("utf-8")
    except UnicodeDecodeError:  # a single byte, or no code point
        return encoded.decode("latin-1")

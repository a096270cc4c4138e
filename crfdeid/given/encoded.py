"""HTML entities and percent-encoded words: decoded text, with the offset of each character in the raw text."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from html import unescape
from html.entities import html5

import regex

from crfdeid.errors import DataError
from features.normal import NormalText

# An entity, or neighbours of "%41". A number of more digits is no character's.
_ENCODED = regex.compile(
    r"&#(?:[xX]0*+[0-9a-fA-F]{1,6}+|0*+[0-9]{1,7}+(?![0-9]));?|&[A-Za-z][A-Za-z0-9]{1,31}+;?|(?:%[0-9a-fA-F]{2})++"
)
_UTF8 = regex.compile(rb"[\x00-\x7f]|[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}|(?s:.)")
_LEAST_NAME = 2
_MOST_LEVELS = 4


def decoded_forms(text: str) -> Iterator[NormalText]:
    """The decoded forms of a text: one where it holds something encoded, two where that was encoded twice, and so on.

    Percent-encoded bytes are read as UTF-8, and invalid ones as Latin-1.

    Raises:
        DataError: the text is encoded too many times over.

    Example:
        >>> [form.text for form in decoded_forms("Qu&iacute;ll, %51uill")]
        ['Quíll, Quill']
        >>> [form.text for form in decoded_forms("R&amp;eacute;, 50 %")]
        ['R&eacute;, 50 %', 'Ré, 50 %']
    """
    offsets: Sequence[int] | None = None
    for _ in range(_MOST_LEVELS):
        found = _decoded(text)
        if found is None:
            return
        text, inner = found
        offsets = inner if offsets is None else array("q", map(offsets.__getitem__, inner))
        yield NormalText(text, offsets)
    left = next((unit for match in _ENCODED.finditer(text) for unit in _units(match)), None)
    if left is not None:
        problem = f"text that is encoded more than {_MOST_LEVELS} times over (&amp;amp;, %2525): decode it"
        raise DataError(problem, offset=left[0] if offsets is None else offsets[left[0]])


def fully_decoded(text: str) -> str:
    """A text decoded as often as it was encoded.

    Raises:
        DataError: the text is encoded too many times over.

    Example:
        >>> fully_decoded("Jos&eacute; %51uill")
        'José Quill'
    """
    return next(reversed([NormalText(text, None), *decoded_forms(text)])).text


def _decoded(text: str) -> tuple[str, Sequence[int]] | None:
    """A text decoded once, and the offsets of its characters; None where nothing in it is encoded."""
    if "&" not in text and "%" not in text:  # nearly every text
        return None
    parts: list[str] = []
    offsets = array("i" if len(text) < 1 << 31 else "q")
    end = 0
    for match in _ENCODED.finditer(text):
        for start, stop, found in _units(match):
            parts += text[end:start], found
            offsets.extend(range(end, start))
            offsets.extend([start] * len(found))
            end = stop
    if not parts:
        return None
    parts.append(text[end:])
    offsets.extend(range(end, len(text) + 1))
    return "".join(parts), offsets


def _units(match: regex.Match[str]) -> Iterator[tuple[int, int, str]]:
    """The encoded pieces of a match: start, end and decoded characters of each."""
    start, found = match.start(), match.group()
    if found.startswith("%"):
        place = start
        for one in _UTF8.finditer(bytes.fromhex(found.replace("%", ""))):
            yield place, (place := place + 3 * len(one.group())), _characters(one.group())
    elif found.startswith("&#"):
        yield start, match.end(), unescape(found)
    else:
        # As browsers do, the longest name counts; some old ones need no semicolon.
        for size in range(len(found), _LEAST_NAME, -1):
            if found[1:size] in html5:
                yield start, start + size, html5[found[1:size]]
                return


def _characters(encoded: bytes) -> str:
    try:
        return encoded.decode("utf-8")
    except UnicodeDecodeError:  # of one byte alone, or no character that there is
        return encoded.decode("latin-1")

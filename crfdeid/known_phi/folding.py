"""A text without case, accents and signs, so that a value is found however it is spelled."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from html import unescape
from html.entities import html5
from typing import Generic, NamedTuple, TypeVar
from unicodedata import decimal, normalize

import regex

from crfdeid.errors import LimitError
from features.normal import CONTROL, NormalText

_MARKS = regex.compile(rf"[\p{{M}}\p{{Cf}}{CONTROL}]*+")
# Scripts that part words by nothing, or join more to a name than is one's name.
_UNPARTED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")
# What may stand inside a word: an apostrophe, or the hyphen at the end of a line.
_WITHIN_A_WORD = regex.compile(r"['’`´]|[-‐]\s*\n\s*")
# What may stand between two words of a value, and between two digits of a number.
_MOST_BETWEEN_WORDS = 20
_MOST_BETWEEN_DIGITS = 3
_KEY = 3

# Letters that Unicode does not take apart, though typists do.
_LETTERS = {"ł": "l", "ø": "o", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe"}

_Value = TypeVar("_Value")


@lru_cache(maxsize=1 << 14)
def _folded(character: str) -> str:
    small = normalize("NFKD", character.casefold())
    return "".join(str(decimal(c)) if c.isdecimal() else _LETTERS.get(c, c) for c in small if c.isalnum())


def fold(text: str) -> str:
    """The letters and digits of a text, in lower case and without accents; digits of any script as 0 to 9.

    Example:
        >>> fold("Señora O'Neill, 48-2213")
        'senoraoneill482213'
    """
    return "".join(map(_folded, text))


class Folded:
    """The letters and digits of a text as `fold` gives them, and where each of them stands.

    Args:
        raw: the text.

    Attributes:
        raw: the text.
        text: what is left of it.
    """

    def __init__(self, raw: str) -> None:
        letters = list(map(_folded, raw))
        self.raw, self.text = raw, "".join(letters)
        # A long note's as a list would take ten times the memory.
        self._places = array("q", (place for place, found in enumerate(letters) for _ in found))

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The characters of the raw text that stand for ``text[start:end]``, with the marks right after them."""
        return self._places[start], self._end(end - 1)

    def gap(self, i: int) -> str:
        """What stands in the raw text between the letters or digits i - 1 and i."""
        return self.raw[self._end(i - 1) : self._places[i]]

    def is_edge(self, i: int) -> bool:
        """Whether a word or a number ends before ``text[i]``.

        As for `features.tokens`, letters and digits do not belong together, and a capital after three letters, two of
        them small, begins a word of its own: "MRN4822137", "QuillPhone".
        """
        if i in (0, len(self.text)):
            return True
        place = self._places[i]
        if place == self._places[i - 1]:
            return False
        if self.text[i].isdigit() != self.text[i - 1].isdigit() or self.gap(i):
            return True
        before = self.raw[max(0, place - 3) : place]
        if not self.raw[place].isascii() and _UNPARTED.search(self.raw, place - 1, place + 1):
            return True
        return self.raw[place].isupper() and len(before) == 3 and before.isalpha() and before[1:].islower()

    def _end(self, i: int) -> int:
        """Where the character of a letter ends, with its marks."""
        return _after_marks(self.raw, self._places[i] + 1)


def _after_marks(raw: str, place: int) -> int:
    if place >= len(raw) or " " <= raw[place] <= "~":
        return place
    found = _MARKS.match(raw, place)
    return found.end() if found else place


class _Phrase(NamedTuple, Generic[_Value]):
    """A value to look for: its letters and digits, where its words begin in them, and what it stands for."""

    text: str
    words: frozenset[int]
    value: _Value


class Phrases(Generic[_Value]):
    """Values of one word or several, found as whole words whatever their case, accents and signs.

    Between two words of a value there may be white space and signs, or nothing; within a word an apostrophe, or a
    hyphen and a line's end.

    Args:
        values: each value, and what it stands for.

    Example:
        >>> phrases = Phrases([("Tawn List Clinic", "HOSPITAL")])
        >>> list(phrases.find(Folded("From TAWN-LIST Clinic, not Tawnlist Clinics.")))
        [(5, 21, 'HOSPITAL')]
    """

    def __init__(self, values: Iterable[tuple[str, _Value]]) -> None:
        self._by_key: dict[str, list[_Phrase[_Value]]] = {}
        for text, value in values:
            folded = Folded(text)
            words = frozenset(i for i in range(1, len(folded.text)) if folded.is_edge(i))
            phrase = _Phrase(folded.text, words, value)
            self._by_key.setdefault(folded.text[:_KEY], []).append(phrase)
        self._sizes = sorted({len(key) for key in self._by_key})

    def find(self, folded: Folded) -> Iterator[tuple[int, int, _Value]]:
        """Where values stand, and which: offsets into the raw text, in no order; they may overlap."""
        for size in self._sizes:
            for start in range(len(folded.text) - size + 1):
                for phrase in self._by_key.get(folded.text[start : start + size], ()):
                    end = start + len(phrase.text)
                    if phrase.text == folded.text[start:end] and _is_whole(folded, start, phrase):
                        yield *folded.span(start, end), phrase.value


def _is_whole(folded: Folded, start: int, phrase: _Phrase[_Value]) -> bool:
    """Whether a value that begins at a letter is no part of a word, and parted only where words are."""
    if not (folded.is_edge(start) and folded.is_edge(start + len(phrase.text))):
        return False
    for i in range(1, len(phrase.text)):
        gap = folded.gap(start + i)
        if gap and not (len(gap) <= _MOST_BETWEEN_WORDS if i in phrase.words else _WITHIN_A_WORD.fullmatch(gap)):
            return False
    return True


def find_number(folded: Folded, number: str) -> Iterator[tuple[int, int]]:
    """Where a number stands, with or without separators and zeros before it.

    Args:
        folded: a text.
        number: what `fold` leaves of the number.

    Example:
        >>> list(find_number(Folded("MRN48-2213-7, not 14822137"), "4822137"))
        [(3, 12)]
    """
    start = folded.text.find(number)
    while start >= 0:
        end = start + len(number)
        first = start
        while not number.startswith("0") and folded.text[first - 1 : first] == "0" and not folded.is_edge(first):
            first -= 1
        is_whole = folded.is_edge(first) and folded.is_edge(end)
        if is_whole and all(len(folded.gap(i)) <= _MOST_BETWEEN_DIGITS for i in range(start + 1, end)):
            yield folded.span(first, end)
        start = folded.text.find(number, start + 1)


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
        raise LimitError(problem, offset=left[0] if offsets is None else offsets[left[0]])


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

"""Text without case, accents and signs, the search for values in it, and decoding of HTML and percent-encoding."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Generic, NamedTuple, TypeVar
from unicodedata import decimal, normalize

import regex

from crfdeid.errors import LimitError
from features.escapes import MOST_LEVELS, decoded_levels, escapes
from features.line_gaps import fold_line_gaps
from features.tokenizer import CONTROL, NormalText

_MARKS = regex.compile(rf"[\p{{M}}\p{{Cf}}{CONTROL}]*+")
# Scripts without spaces between words.
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")
# Inside a word: an apostrophe, or a line end.
_WITHIN_A_WORD = ("", "'", "’", "`", "´")
# Characters at most between two words of a value, and between two digits of a number; a line end is none.
_MOST_BETWEEN_WORDS = 20
_MOST_BETWEEN_DIGITS = 3
_KEY_LENGTH = 3

# Letters without a Unicode decomposition, and what typists write instead.
_LETTERS = {"ł": "l", "ø": "o", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe"}

_Value = TypeVar("_Value")


@lru_cache(maxsize=1 << 14)
def _folded(character: str) -> str:
    small = normalize("NFKD", character.casefold())
    return "".join(str(decimal(c)) if c.isdecimal() else _LETTERS.get(c, c) for c in small if c.isalnum())


def fold_to_alnum(text: str) -> str:
    """Return the letters and digits of a text, in lower case and without accents; digits of any script as 0 to 9.

    Coarser than `crfdeid.redaction.surrogates.words.casefold_accents`, which keeps spaces and signs.

    Example:
        >>> fold_to_alnum("Señora O'Neill, 48-2213")
        'senoraoneill482213'
    """
    return "".join(map(_folded, text))


class FoldedText:
    """Letters and digits of a text (`fold_to_alnum`) with their offsets.

    Args:
        raw: the text.

    Attributes:
        raw: the text.
        text: its letters and digits.
    """

    def __init__(self, raw: str) -> None:
        letters = list(map(_folded, raw))
        self.raw, self.text = raw, "".join(letters)
        # A list would take ten times the memory of a long note.
        self._offsets = array("q", (offset for offset, found in enumerate(letters) for _ in found))

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the raw offsets of ``text[start:end]``, with the marks directly after it."""
        return self._offsets[start], self._end(end - 1)

    def gap(self, i: int) -> str:
        """Return the raw text between the letters or digits i - 1 and i, without line ends (`features.line_gaps`)."""
        if self._offsets[i] == self._offsets[i - 1] + 1:  # nearly always
            return ""
        return fold_line_gaps(self._raw_gap(i))

    def _raw_gap(self, i: int) -> str:
        return self.raw[self._end(i - 1) : self._offsets[i]]

    def is_edge(self, i: int) -> bool:
        """Return True if a word or a number ends before ``text[i]``.

        As in `features.tokens`, a word ends between letters and digits, and before a capital after three letters of
        which two are in lower case: "MRN4822137", "QuillPhone".
        """
        if i in (0, len(self.text)):
            return True
        offset = self._offsets[i]
        if offset == self._offsets[i - 1]:
            return False
        if self.text[i].isdigit() != self.text[i - 1].isdigit() or self._raw_gap(i):
            return True
        before = self.raw[max(0, offset - 3) : offset]
        if not self.raw[offset].isascii() and _UNSPACED.search(self.raw, offset - 1, offset + 1):
            return True
        return self.raw[offset].isupper() and len(before) == 3 and before.isalpha() and before[1:].islower()

    def _end(self, i: int) -> int:
        """Return the raw end of a letter with its marks."""
        return _after_marks(self.raw, self._offsets[i] + 1)


def _after_marks(raw: str, offset: int) -> int:
    if offset >= len(raw) or " " <= raw[offset] <= "~":
        return offset
    found = _MARKS.match(raw, offset)
    return found.end() if found else offset


class _Phrase(NamedTuple, Generic[_Value]):
    """A value to search: its letters and digits, the offsets of its words in them, and the result for a match."""

    text: str
    words: frozenset[int]
    value: _Value


class PhraseMatcher(Generic[_Value]):
    """Search for whole values of one or several words, without regard to case, accents and signs.

    Two words of a value may be separated by white space and signs, or by nothing. A word may contain an apostrophe, or
    a line end, with or without a hyphen.

    Args:
        values: pairs of a value and the result for its occurrences.

    Example:
        >>> phrases = PhraseMatcher([("Tawn List Clinic", "HOSPITAL")])
        >>> list(phrases.find(FoldedText("From TAWN-LIST Clinic, not Tawnlist Clinics.")))
        [(5, 21, 'HOSPITAL')]
    """

    def __init__(self, values: Iterable[tuple[str, _Value]]) -> None:
        # By the first letters, then by length and text.
        self._by_key: dict[str, dict[int, dict[str, list[_Phrase[_Value]]]]] = {}
        for text, value in values:
            folded = FoldedText(text)
            words = frozenset(i for i in range(1, len(folded.text)) if folded.is_edge(i))
            phrase = _Phrase(folded.text, words, value)
            of_key = self._by_key.setdefault(folded.text[:_KEY_LENGTH], {})
            of_key.setdefault(len(folded.text), {}).setdefault(folded.text, []).append(phrase)
        self._sizes = sorted({len(key) for key in self._by_key})

    def find(self, folded: FoldedText) -> Iterator[tuple[int, int, _Value]]:
        """Yield the raw offsets and the result of each occurrence, unordered; they may overlap."""
        for size in self._sizes:
            for start in range(len(folded.text) - size + 1):
                of_key = self._by_key.get(folded.text[start : start + size])
                for length, phrases in of_key.items() if of_key else ():
                    for phrase in phrases.get(folded.text[start : start + length], ()):
                        if _is_whole(folded, start, phrase):
                            yield *folded.span(start, start + length), phrase.value


def _is_whole(folded: FoldedText, start: int, phrase: _Phrase[_Value]) -> bool:
    """Return True if an occurrence is no part of a word, and its gaps are between its words."""
    if not (folded.is_edge(start) and folded.is_edge(start + len(phrase.text))):
        return False
    for i in range(1, len(phrase.text)):
        gap = folded.gap(start + i)
        if not (len(gap) <= _MOST_BETWEEN_WORDS if i in phrase.words else gap in _WITHIN_A_WORD):
            return False
    return True


def find_number(folded: FoldedText, number: str) -> Iterator[tuple[int, int]]:
    """Yield the raw offsets of a number, with or without separators, line ends and leading zeros.

    Args:
        folded: a text.
        number: the number in the form of `fold_to_alnum`.

    Example:
        >>> list(find_number(FoldedText("MRN48-2213-7, not 14822137"), "4822137"))
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


def decoded_forms(text: str) -> Iterator[NormalText]:
    """Yield the decoded forms of a text: one per level of encoding (`features.escapes`).

    Raises:
        LimitError: more than `MOST_LEVELS` levels of encoding.

    Example:
        >>> [form.text for form in decoded_forms("Qu&iacute;ll, %51uill")]
        ['Quíll, Quill']
    """
    offsets: Sequence[int] | None = None
    for decoded, places in decoded_levels(text):
        text, offsets = decoded, places
        yield NormalText(text, offsets)
    left = next(escapes(text), None)
    if left is not None:
        problem = f"text with more than {MOST_LEVELS} levels of encoding (&amp;amp;, %2525): decode it"
        raise LimitError(problem, offset=left[0] if offsets is None else offsets[left[0]])


def fully_decoded(text: str) -> str:
    """Return a text with all levels of encoding decoded.

    Raises:
        LimitError: more than four levels of encoding.

    Example:
        >>> fully_decoded("Jos&eacute; %51uill")
        'José Quill'
    """
    return next(reversed([NormalText(text, None), *decoded_forms(text)])).text

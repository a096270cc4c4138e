"""Normal form of text, and its tokens, both with half-open character offsets into the raw text.

The same note reaches us in many spellings that look alike: accents in one character or two, marks of no width between
letters, spaces of all widths, letters of another alphabet. Models, rules and lists read the normal form, so that no
spelling hides a name:

- composed letters (Unicode's NFC);
- no invisible characters: zero-width marks, soft hyphens, marks of direction, byte order marks, all that
  Unicode calls ignorable by default, and control characters that are no white space, such as NUL;
- a soft hyphen at the end of a line, where it is visible, as "-";
- full-width forms as ASCII; a non-breaking, thin or other Unicode space as a space; line ends and tabs unchanged;
- every hyphen, dash and minus sign as "-", every slash as "/", every apostrophe, prime and grave accent as "'";
- in words that mix alphabets, and only there, Cyrillic and Greek letters that look Latin as those Latin letters.

A token's text is in normal form. Its offsets include the invisible marks inside the token and right after it. In a text
that is in normal form, ``text[token.start:token.end] == token.text``.

The tokens are fine enough for nearly every PHI span to start and end at a token's edge: a token is a run of letters, a
run of digits, or one other visible character ("25yo" -> "25", "yo"; "03/14/72" -> "03", "/", "14", "/", "72"). A run of
letters also ends where words were typed without a space ("SmithPhone" -> "Smith", "Phone"; but "mmHg", "McCoy"), and
each run after 1,024 letters or digits, so that a file that was pasted into a note is no single word of megabytes. White
space is never part of a token.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, chain, groupby
from sys import intern
from typing import NamedTuple

import regex

from features.escapes import decoded_levels

CONTROL = r"\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"
"""Control characters that are no white space, as the inside of a character class of `re`."""


LINE_ENDS = r"\n\r\v\f\x1c-\x1e\x85\u2028\u2029"
"""The characters that end a line for `str.splitlines`, as the inside of a character class of `re`."""


class NormalText(NamedTuple):
    """A text in normal form.

    Attributes:
        text: the normal form.
        offsets: start of each character in the raw text, and then the raw text's length: the characters
            ``text[a:b]`` are ``raw[offsets[a]:offsets[b]]``, with all the marks inside and right after them. None where
            both texts have the same offsets.
    """

    text: str
    offsets: Sequence[int] | None


# One character for one character, so that offsets stay: every space, and ASCII's and a few signs' full-width forms.
_SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_WIDE = {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
_WIDE |= dict(zip("\uffe0\uffe1\uffe2\uffe4\uffe5\uffe6", "¢£¬¦¥₩", strict=True))
# Hyphens, dashes and the minus sign; slashes of fractions and division; apostrophes, and what typists write for them.
_SIGNS = dict.fromkeys("\u058a\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\ufe58\ufe63", "-")
_SIGNS |= dict.fromkeys("\u2044\u2215\u29f8", "/") | dict.fromkeys(
    "\u00b4\u02b9\u02bb\u02bc\u2018\u2019\u201b\u2032", "'"
)
_ONE_FOR_ONE = dict.fromkeys(_SPACES, " ") | _WIDE | _SIGNS
_HAS_ONE_FOR_ONE = re.compile(f"[{''.join(_ONE_FOR_ONE)}]")

# Letters that look like Latin ones in most fonts; letters with accents are looked up without them.
_CYRILLIC = dict(zip("АВЕЅІЈКМНОРСТУХҮԚԜӀаеѕіјкорсухһԁԛԝӏѵ", "ABESIJKMHOPCTYXYQWIaesijkopcyxhdqwlv", strict=True))
_GREEK = dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹͿαικνορυχϲϳ", "ABEZHIKMNOPTYXCJaikvopuxcj", strict=True))
_LATIN = str.maketrans(_CYRILLIC | _GREEK)
_FOREIGN = regex.compile(r"[\p{Script=Cyrillic}\p{Script=Greek}]")
_WORD = regex.compile(r"[\p{L}\p{M}\p{Default_Ignorable_Code_Point}]++")
_LATIN_LETTER = regex.compile(r"\p{Script=Latin}")

_IGNORED = regex.compile(rf"[\p{{Default_Ignorable_Code_Point}}{CONTROL}]")
_CONTROL = re.compile(f"[{CONTROL}]")
_SOFT_HYPHEN = "\u00ad"
# No other soft hyphen is between it and the line end, so that the time is linear.
_SOFT_AT_LINE_END = regex.compile(
    rf"{_SOFT_HYPHEN}(?=[[\p{{Default_Ignorable_Code_Point}}\s]--[{_SOFT_HYPHEN}{LINE_ENDS}]]*+[{LINE_ENDS}])", regex.V1
)
_MARK_OF_NO_WIDTH = "\u200b"
# Python takes quadratic time to put many marks in order, so it is called only after they are in order.
_TO_COMPOSE = regex.compile(r"\p{Default_Ignorable_Code_Point}|\p{M}{30}")
# Characters that are composed with the one before, or left out (\u1160 to \u11ff: the rest of a Korean syllable).
_JOINING = r"\p{M}\p{Default_Ignorable_Code_Point}"
_JOINS = regex.compile(rf"[{_JOINING}\u1160-\u11ff]")
_LONGEST_CACHED_PIECE = 32  # characters with their marks whose normal form is cached
# A character with all of that after it; or, since that is nearly all of a text, ASCII with nothing of that after it.
_PIECE = regex.compile(rf"[\x00-\x7f]+(?![{_JOINING}])|(?s:.)[{_JOINING}\u1160-\u11ff]*+")


def normal_form(text: str) -> NormalText:
    """The normal form of a text. It is its own normal form.

    Example:
        >>> normal_form("Mu\\u0301gica")
        NormalText(text='Múgica', offsets=array('i', [0, 1, 3, 4, 5, 6, 7]))
        >>> normal_form("Quill")
        NormalText(text='Quill', offsets=None)
    """
    if _CONTROL.search(text):
        text = _CONTROL.sub(_MARK_OF_NO_WIDTH, text)  # one for one, and left out below
    text = text.replace("`", "'")
    if text.isascii() or all(map(_is_plain, set(text))):  # nearly every text, recognised at once
        return NormalText(text, None)
    if _SOFT_HYPHEN in text:
        text = _SOFT_AT_LINE_END.sub("-", text)
    text = _HAS_ONE_FOR_ONE.sub(lambda found: _ONE_FOR_ONE[found[0]], text)
    mixed = frozenset(_in_mixed_words(text))
    if not mixed and not _TO_COMPOSE.search(text) and unicodedata.is_normalized("NFC", text):
        return NormalText(text, None)
    parts: list[str] = []
    offsets = array("i" if len(text) < 1 << 31 else "q")  # a tenth of the memory that a list takes
    for piece in _PIECE.finditer(text):
        part, start = piece[0], piece.start()
        if part.isascii():
            parts.append(part)
            offsets.extend(range(start, piece.end()))
        else:
            compose = _compose_cached if len(part) <= _LONGEST_CACHED_PIECE else _compose
            composed, origins = compose(part, latin=start in mixed)
            parts.append(composed)
            offsets.extend(start + origin for origin in origins)
    offsets.append(len(text))
    return NormalText("".join(parts), offsets)


def decoded_form(text: str) -> NormalText:
    """The normal form of a text, with its HTML entities and percent-encoding decoded (`features.escapes`).

    Example:
        >>> decoded_form("Nu&ntilde;ez")
        NormalText(text='Nuñez', offsets=array('i', [0, 1, 2, 10, 11, 12]))
    """
    offsets: Sequence[int] | None = None
    for decoded, places in decoded_levels(text):
        text, offsets = decoded, places
    text, inner = normal_form(text)
    if inner is None or offsets is None:
        return NormalText(text, inner or offsets)
    return NormalText(text, array("q", map(offsets.__getitem__, inner)))


@lru_cache(maxsize=1 << 14)
def _is_plain(character: str) -> bool:
    """True for a character that is in normal form in every context."""
    return character.isascii() or not (
        character in _ONE_FOR_ONE
        or _FOREIGN.match(character)
        or _JOINS.match(character)
        or not unicodedata.is_normalized("NFC", character)
    )


def bare_edges(text: str, start: int, end: int) -> tuple[int, int]:
    """A stretch of text without the white space and ignored marks at its ends; a blank stretch is unchanged.

    Example:
        >>> bare_edges("by \\u200bQuill\\u200b .", 2, 11)
        (4, 9)
    """
    first, last = start, end
    while first < last and _is_blank(text[first]):
        first += 1
    while first < last and _is_blank(text[last - 1]):
        last -= 1
    return (first, last) if first < last else (start, end)


def is_blank(text: str) -> bool:
    """Return True for a text of white space and ignored marks alone.

    Example:
        >>> is_blank(" \\u200b"), is_blank(" Quill")
        (True, False)
    """
    return all(map(_is_blank, text))


def _is_blank(character: str) -> bool:
    return character.isspace() or _is_ignored(character)


def _is_ignored(character: str) -> bool:
    return _IGNORED.match(character) is not None


def _in_mixed_words(text: str) -> Iterator[int]:
    """The places of the letters of words that have both Latin letters and Cyrillic or Greek ones that look Latin."""
    if _FOREIGN.search(text):
        for word in _WORD.finditer(text):
            if not word[0].isascii() and _LATIN_LETTER.search(word[0]):
                letters = unicodedata.normalize("NFD", word[0])
                if letters.translate(_LATIN) != letters:
                    yield from range(*word.span())


def _compose(part: str, *, latin: bool) -> tuple[str, Sequence[int]]:
    """The normal form of a character and the marks after it, and where in them each of its characters begins."""
    origins = array("q", (i for i, character in enumerate(part) if not _is_ignored(character)))
    letters = _decomposed(part[i] for i in origins)
    composed = unicodedata.normalize("NFC", letters.translate(_LATIN) if latin else letters)
    # Mostly fewer characters than before. A few letters always come apart: their marks share the last place.
    return composed, array("q", (origins[min(i, len(origins) - 1)] for i in range(len(composed))))


_compose_cached = lru_cache(maxsize=1 << 12)(_compose)


def _decomposed(characters: Iterable[str]) -> str:
    """Unicode's NFD, in the time of a sort; equal marks share one string, even a million of them."""
    apart = map(intern, chain.from_iterable(unicodedata.normalize("NFD", character) for character in characters))
    runs = groupby(apart, key=lambda character: unicodedata.combining(character) > 0)
    return "".join(chain.from_iterable(sorted(run, key=unicodedata.combining) for _, run in runs))


class Token(NamedTuple):
    """One token: its text in normal form, and its half-open code-point offsets in the document."""

    text: str
    start: int
    end: int


_new = tuple.__new__  # makes a `Token` in half the time of its constructor


# Possessive quantifiers: no part of a matched run is ever tried again, so the time is linear in the text. A word ends
# before a capital that follows two small letters and a third letter. The separators \x1c to \x1f are white space for
# str.splitlines and str.isspace, though not for \s. A run has an end, because what matches a longer one takes 100 bytes
# for each letter, and fails at some millions.
_TOKEN = regex.compile(
    r"\p{L}\p{M}{0,1023}+(?:(?!(?<=\p{L}\p{Ll}\p{Ll})\p{Lu})\p{L}\p{M}{0,1023}+){0,1023}+"
    r"|\p{Nd}{1,1024}+|[^\s\x1c-\x1f]\p{M}{0,1023}+"
)

# Tokens do not reach across white space, so the tokens of a run of text without any are cached in each process:
# most runs of a note have occurred before. The cache is bounded, and leaves long runs out.
_MOST_CACHED_RUNS = 1 << 15
_LONGEST_CACHED_RUN = 32


def tokenize(text: str) -> list[Token]:
    """All tokens of a text, in order.

    Example:
        >>> [token.text for token in tokenize("25yo, seen 3/4.")]
        ['25', 'yo', ',', 'seen', '3', '/', '4', '.']
        >>> tokenize("Dr.\\u00a0Mu\\u0301gica")[-1]
        Token(text='Múgica', start=4, end=11)
    """
    text, offsets = decoded_form(text)
    tokens = normal_tokens(text)
    return tokens if offsets is None else in_raw_text(tokens, offsets)


def normal_tokens(text: str, begin: int = 0, stop: int = sys.maxsize) -> list[Token]:
    """The tokens of a text in normal form, or of a stretch of it between white space, with offsets in the text."""
    tokens = []
    for stretch in text[begin:stop].split():
        start = text.find(stretch, begin)
        begin = start + len(stretch)
        if len(stretch) <= _LONGEST_CACHED_RUN:
            for part, first, last in _PARTS[stretch]:
                tokens.append(_new(Token, (part, start + first, start + last)))
        else:
            tokens += tokens_from(text, start, begin)
    return tokens


def tokens_from(text: str, start: int, stop: int = sys.maxsize) -> Iterator[Token]:
    """The same tokens, one after the other, where none reaches across the ends of the stretch; it may begin at any."""
    return (_new(Token, (match[0], *match.span())) for match in _TOKEN.finditer(text, start, stop))


class _Parts(dict[str, Sequence[tuple[str, int, int]]]):
    """The tokens of stretches of text without white space, with their offsets in them."""

    def __missing__(self, stretch: str) -> Sequence[tuple[str, int, int]]:
        parts = _TOKEN.findall(stretch)  # all of it: only white space is in no token
        ends = [*accumulate(map(len, parts))]
        found = [*zip(parts, [0, *ends], ends, strict=False)]
        if len(self) >= _MOST_CACHED_RUNS:
            self.clear()
        self[stretch] = found
        return found


_PARTS = _Parts()


def in_raw_text(tokens: Sequence[Token], offsets: Sequence[int]) -> list[Token]:
    """The same tokens, with offsets in the raw text."""
    return [_new(Token, (text, offsets[start], offsets[end])) for text, start, end in tokens]

"""Tokens of a text, with half-open character offsets into the raw text.

A token's text is in normal form (`features.normal`). Its offsets point into the raw text and include the invisible
marks inside the token and right after it. In a text that is in normal form,
``text[token.start:token.end] == token.text``.

The tokens are fine enough for nearly every PHI span to start and end at a token's edge: a token is a run of letters, a
run of digits, or one other visible character ("25yo" -> "25", "yo"; "03/14/72" -> "03", "/", "14", "/", "72"). A run of
letters also ends where words were typed without a space ("SmithPhone" -> "Smith", "Phone"; but "mmHg", "McCoy"), and
each run after 1,024 letters or digits, so that a file that was pasted into a note is no single word of megabytes. White
space is never part of a token.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

import regex

from features.normal import normal_form


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
    text, offsets = normal_form(text)
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

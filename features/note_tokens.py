"""The tokens of a note, made of its text when they are asked for: those of a long one are never all in memory."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple, overload

from features.tokenizer import Token, in_raw_text, normal_tokens, tokens_from

# A note is taken apart so many characters at a time, up to the next white space, which no token reaches across, or if
# there is none for as many again, up to where a token ends. Nearly every note is one page, which is read once and kept.
_PAGE_CHARACTERS = 1 << 16
_PAGES_KEPT = 4
_WHITE_SPACE = re.compile(r"\s")


class _Page(NamedTuple):
    """A stretch of a note: its tokens, and where each begins in the text in normal form."""

    tokens: tuple[Token, ...]
    starts: Sequence[int]


class NoteTokens(Sequence[Token]):
    """Every token of a note, in order.

    Args:
        text: the note in normal form (`features.normal`).
        offsets: where each character of it begins in the raw text, then that text's length; None where both texts have
            the same offsets.

    Example:
        >>> tokens = NoteTokens("Seen by Dr. Quill")
        >>> len(tokens), tokens[4].text, [token.text for token in tokens.up_to(2, 12)]
        (5, 'Quill', ['Dr', '.'])
    """

    __slots__ = ("__weakref__", "_cuts", "_firsts", "_kept", "_offsets", "_text")

    def __init__(self, text: str, offsets: Sequence[int] | None = None) -> None:
        self._text, self._offsets = text, offsets
        self._cuts = [0]  # where each page that was read begins in the text, and where the next one does
        self._firsts = [0]  # the number of the first token of each of these
        self._kept: dict[int, _Page] = {}

    def up_to(self, start: int, place: int) -> tuple[Token, ...]:
        """The tokens from the number ``start`` on that begin before a place of the text in normal form, 1 or more."""
        while self._cuts[-1] < place:
            self._page(len(self._cuts) - 1)
        number = bisect_left(self._cuts, place) - 1
        first, page = self._firsts[number], self._kept.get(number) or self._page(number)
        stop = bisect_left(page.starts, place)
        return page.tokens[start - first : stop] if start >= first else self.between(start, first + stop)

    def between(self, start: int, stop: int) -> tuple[Token, ...]:
        """The tokens of the numbers from ``start`` to before ``stop``, as far as there are any; only these are made."""
        while self._firsts[-1] < stop and self._cuts[-1] < len(self._text):
            self._page(len(self._cuts) - 1)
        found: tuple[Token, ...] = ()
        for number in range(bisect_right(self._firsts, start) - 1, len(self._cuts) - 1):
            first = self._firsts[number]
            if first >= stop:
                break
            found += self._page(number).tokens[max(start - first, 0) : stop - first]
        return found

    def __len__(self) -> int:
        while self._cuts[-1] < len(self._text):
            self._page(len(self._cuts) - 1)
        return self._firsts[-1]

    def __iter__(self) -> Iterator[Token]:
        number = 0
        while self._cuts[number] < len(self._text):
            yield from self._page(number).tokens
            number += 1

    @overload
    def __getitem__(self, place: int) -> Token: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Token, ...]: ...
    def __getitem__(self, place: int | slice) -> Token | tuple[Token, ...]:
        chosen = range(len(self))[place]
        if isinstance(chosen, int):
            return self.between(chosen, chosen + 1)[0]
        if chosen.step != 1:
            return tuple(self)[place]
        return self.between(chosen.start, chosen.stop)

    def _page(self, number: int) -> _Page:
        """A page that was read before, or the next one; it is read again where it was not kept."""
        page = self._kept.get(number)
        if page is None:
            start = self._cuts[number]
            found, end = self._read(start)
            raw = found if self._offsets is None else in_raw_text(found, self._offsets)
            page = self._kept[number] = _Page(tuple(raw), [token[1] for token in found])
            if number + 1 == len(self._cuts):
                self._cuts.append(end)
                self._firsts.append(self._firsts[number] + len(found))
            if len(self._kept) > _PAGES_KEPT:
                self._kept.pop(next(iter(self._kept)), None)
        return page

    def _read(self, start: int) -> tuple[list[Token], int]:
        """The tokens of the page that begins at a place of the text in normal form, and where it ends there."""
        text, least, most = self._text, start + _PAGE_CHARACTERS, start + 2 * _PAGE_CHARACTERS
        gap = _WHITE_SPACE.search(text, least, most)
        if gap is None and most < len(text):
            found = []
            for token in tokens_from(text, start):
                found.append(token)
                if token.end >= least:
                    break
            return found, found[-1].end
        end = gap.end() if gap else len(text)
        if start and not text[start - 1].isspace():  # the text before it says how a long word goes on
            return list(tokens_from(text, start, end)), end
        return normal_tokens(text, start, end), end

"""Notes to sentences of tokens: where lines, wrapped prose and full stops end a sentence."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, islice, pairwise
from typing import NamedTuple, overload

import regex

from features.languages import DEFAULT_LANGUAGES, packs, with_defaults
from features.lexicons import lexicons, months_after_stop
from features.tokenizer import Token, decoded_form, in_raw_text, normal_tokens, tokens_from
from features.tokens import Sentence

# A note is tokenised in pages of this many characters, each extended to the next white space, which no token crosses,
# or if none follows within as many again, to the end of a token. Nearly every note is one page, which is cached.
_PAGE_CHARACTERS = 1 << 16
_PAGES_CACHED = 4
_WHITE_SPACE = re.compile(r"\s")


class _Page(NamedTuple):
    """A stretch of a note: its tokens, and where each begins in the text in normal form."""

    tokens: tuple[Token, ...]
    starts: Sequence[int]


class NoteTokens(Sequence[Token]):
    """Every token of a note, in order.

    Args:
        text: the note in normal form (`normal_form`).
        offsets: start of each character in the raw text, then that text's length; None where both texts have
            the same offsets.

    Example:
        >>> tokens = NoteTokens("Seen by Dr. Quill")
        >>> len(tokens), tokens[4].text, [token.text for token in tokens.up_to(2, 12)]
        (5, 'Quill', ['Dr', '.'])
    """

    __slots__ = ("__weakref__", "_cuts", "_firsts", "_offsets", "_pages", "_text")

    def __init__(self, text: str, offsets: Sequence[int] | None = None) -> None:
        self._text, self._offsets = text, offsets
        self._cuts = [0]  # where each page that was read begins in the text, and where the next one does
        self._firsts = [0]  # the number of the first token of each of these
        self._pages: dict[int, _Page] = {}

    @property
    def text(self) -> str:
        """The note in normal form."""
        return self._text

    def in_text(self, offset: int) -> int:
        """Convert an offset of the raw text to that of the text in normal form."""
        return offset if self._offsets is None else bisect_left(self._offsets, offset)

    def gap(self, first: Token, second: Token) -> str:
        """The text between two tokens, in normal form."""
        return self._text[self.in_text(first.end) : self.in_text(second.start)]

    def up_to(self, start: int, stop_offset: int) -> tuple[Token, ...]:
        """The tokens from the number ``start`` on that begin before an offset (from 1) of the text in normal form."""
        first, stop, page = self._place(stop_offset)
        return page.tokens[start - first : stop] if start >= first else self.between(start, first + stop)

    def count_before(self, stop_offset: int) -> int:
        """Return the number of tokens that begin before an offset (from 1) of the text in normal form.

        Example:
            >>> NoteTokens("Seen by Dr. Quill").count_before(9)
            3
        """
        first, stop, _ = self._place(stop_offset)
        return first + stop

    def _place(self, stop_offset: int) -> tuple[int, int, _Page]:
        """The first token of the page with an offset, the count of its tokens before the offset, and the page."""
        while self._cuts[-1] < stop_offset:
            self._page(len(self._cuts) - 1)
        number = bisect_left(self._cuts, stop_offset) - 1
        page = self._pages.get(number) or self._page(number)
        return self._firsts[number], bisect_left(page.starts, stop_offset), page

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
    def __getitem__(self, index: int) -> Token: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Token, ...]: ...
    def __getitem__(self, index: int | slice) -> Token | tuple[Token, ...]:
        chosen = range(len(self))[index]
        if isinstance(chosen, int):
            return self.between(chosen, chosen + 1)[0]
        if chosen.step != 1:
            return tuple(self)[index]
        return self.between(chosen.start, chosen.stop)

    def _page(self, number: int) -> _Page:
        """A page that was read before, or the next one; it is read again where it was not kept."""
        page = self._pages.get(number)
        if page is None:
            start = self._cuts[number]
            found, end = self._read(start)
            raw = found if self._offsets is None else in_raw_text(found, self._offsets)
            page = self._pages[number] = _Page(tuple(raw), [token[1] for token in found])
            if number + 1 == len(self._cuts):
                self._cuts.append(end)
                self._firsts.append(self._firsts[number] + len(found))
            if len(self._pages) > _PAGES_CACHED:
                self._pages.pop(next(iter(self._pages)), None)
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
        if start and not text[start - 1].isspace():  # the text before it decides how a long word continues
            return list(tokens_from(text, start, end)), end
        return normal_tokens(text, start, end), end


_LINES_AT_ONCE = 1 << 16  # characters whose lines are in memory together
# Maximum characters of a sentence, some 5,000 words. Longer ones, such as a file pasted into a note or a text without
# full stops, are divided, at white space if possible.
_LONGEST_SENTENCE = 1 << 15
# A line that continues on the next one: long, and not ended by a mark that closes a sentence or opens a list.
_WRAPPED_LINE_LENGTH = 60
# In a note whose lines were broken at a narrower width, one that the next word would have made too wide.
_NARROWEST, _WIDEST = 24, 100
_LINES_MEASURED = 1000
_CLOSED_LINE = regex.compile(r"[.!?:;]\s*$")
_NEW_ITEM = regex.compile(r"\s*(?:$|[-*•+]\s|\(?\p{Nd}{1,3}[.)]\s|\p{Lu}[^:.]{0,40}:|\t| {4})")

# A heading is a short line in capitals, or any short line that ends with a colon.
_HEADING = regex.compile(r"\s*(?=.{2,60}$)(?:(?P<name>\p{L}[^:]*?)\s*:|(?P<capitals>\p{Lu}[\p{Lu}\s/&,()-]+))\s*$")
_FIELD_LENGTH = 100
_LINE_PREFIX = regex.compile(r"\s*(?P<prefix>\p{L}[^:\n]{0,38}?)\s*:")

# A full stop, exclamation or question mark, closing quotes, white space, and then something that can open a sentence.
_SENTENCE_END = regex.compile(r"[.!?][\"'”’)\]]*+[ \t]++(?=[\"'“‘(\[¿¡]*+\p{Lu})")
_MAY_END = re.compile(r"[.!?][\"'”’)\]]*[ \t]+\S")  # a faster test
_WORD_BEFORE = regex.compile(r"([\p{L}\p{M}]++)/?[ \t]?$")
# The short form of a given name, "Wm." or "Chr.": a capital and no vowel; words such as "Hx." are findings.
_GIVEN_NAME = regex.compile(r"\p{Lu}(?:[b-df-hj-np-tv-wz]{1,3}|ª)")
_LIST_NUMBER = regex.compile(r"\s*\(?\p{Nd}{1,3}$")
_DAY = regex.compile(r"(?<!\p{Nd})\p{Nd}{1,2}$")


class _FullStops(NamedTuple):
    """Full stops of some languages that end no sentence.

    Attributes:
        abbreviations: words before one, in lower case.
        titles: those after which the name can be on the next line.
        before_month: the full stop of a day and its month: "3. März".
    """

    abbreviations: frozenset[str]
    titles: frozenset[str]
    before_month: regex.Pattern[str]

    def keep(self, text: str, begin: int, stop: int) -> bool:
        """True where the full stop at ``stop`` belongs to the word, initial, list number or day before it."""
        word = _WORD_BEFORE.search(text, max(begin, stop - 12), stop)
        if word is None:
            is_day = _DAY.search(text, max(begin, stop - 3), stop) and self.before_month.match(text, stop)
            return bool(is_day) or _LIST_NUMBER.fullmatch(text, begin, stop) is not None
        letters = word[1]
        return letters.lower() in self.abbreviations or len(letters) == 1 or _GIVEN_NAME.fullmatch(letters) is not None

    def close(self, line: str) -> bool:
        """True for a full line that ends its sentence: with a mark that is not an abbreviation's."""
        line = line.rstrip()
        return line.endswith(("!", "?")) or (line.endswith(".") and not self.keep(line, 0, len(line) - 1))

    def follow_title(self, line: str) -> bool:
        """True for a line that ends with a title and its full stop, so that the name is on the next line."""
        line = line.rstrip()
        word = _WORD_BEFORE.search(line, max(0, len(line) - 13), len(line) - 1) if line.endswith(".") else None
        return word is not None and word[1].istitle() and word[1].lower() in self.titles  # "5 mm." is no title


@cache
def _full_stops(languages: tuple[str, ...]) -> _FullStops:
    abbreviations = frozenset[str]().union(
        *(pack.abbreviations for pack in packs(languages)),
        *(map(str.lower, pack.entries("names", "short")) for pack in packs(languages)),
    )
    classes = lexicons(languages)
    months = "|".join(sorted(months_after_stop(languages)))
    before_month = regex.compile(rf"\. (?:{months})(?!\p{{L}})", regex.IGNORECASE)
    return _FullStops(abbreviations, abbreviations & (classes["title"] | classes["honorific"]), before_month)


def split_sentences(text: str, languages: Iterable[str] = DEFAULT_LANGUAGES) -> list[Sentence]:
    """The sentences of a clinical note.

    A line end closes a sentence, because notes consist of fields and lists. The exceptions are hard-wrapped prose: a
    long line without a closing mark that is followed by ordinary text, and in a note with narrower lines, a full line.
    A short line that begins with the name of a field ("Address: ...") is one sentence. Inside other lines, a full stop
    before a capital closes a sentence unless it follows an abbreviation, a single letter or a list number. Sentences of
    more than 32,768 characters are divided.

    Args:
        text: the note.
        languages: codes of the languages of abbreviations, titles and months, in addition to `DEFAULT_LANGUAGES`.

    Example:
        >>> [" ".join(s.words) for s in split_sentences("Seen by Dr. Doe. Stable.\\nPlan: rest")]
        ['Seen by Dr . Doe .', 'Stable .', 'Plan : rest']
    """
    return list(each_sentence(text, languages))


def each_sentence(text: str, languages: Iterable[str] = DEFAULT_LANGUAGES) -> Iterator[Sentence]:
    """The sentences of `split_sentences`, one after the other: those of a long note need not be in memory together."""
    stops = _full_stops(with_defaults(languages))
    text, offsets = decoded_form(text)
    note = NoteTokens(text, offsets)
    line_count = sum(1 for _ in _lines(text))
    begin, heading = 0, ""
    for (start, end), line in _join_wrapped(_lines(text), _wrap_width(_lines(text)), stops):
        heading = _heading_of(text[start:end].strip()) or heading
        named = _LINE_PREFIX.match(text, start, end) if text.find(":", start, end) >= 0 else None
        prefix = named["prefix"] if named else ""
        is_field = prefix and end - start <= _FIELD_LENGTH
        read = start
        for last in _cut(text, start, [end] if is_field else _sentence_ends(text, start, end, stops)):
            tokens = note.up_to(begin, last)
            if tokens:
                sentence = Sentence(tokens, heading, prefix, line, line_count, note, begin)
                if _is_between_words(text, read) and _is_between_words(text, last):
                    # This sets a non-argument of a frozen dataclass. No token holds white space.
                    spaced = " ".join(text[read:last].split())
                    object.__setattr__(sentence, "_spaced", spaced)
                    if offsets is None and len(spaced) == tokens[-1].end - tokens[0].start:
                        object.__setattr__(sentence, "_raw", True)
                yield sentence
            begin, read = begin + len(tokens), last


def _lines(text: str) -> Iterator[str]:
    """The lines of a text with their ends, as `str.splitlines` has them."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + _LINES_AT_ONCE) + 1 or len(text)
        yield from text[start:end].splitlines(keepends=True)
        start = end


def _join_wrapped(lines: Iterable[str], width: int, stops: _FullStops) -> Iterator[tuple[tuple[int, int], int]]:
    """Blocks of lines that hold one run of prose: ((start, end) offsets, number of the first line)."""
    start = end = first = 0
    for number, (line, following) in enumerate(pairwise(chain(lines, [""]))):
        end += len(line)
        length = len(line.rstrip())
        if width and length + 1 + _first_word(following) > width:
            wrapped = not stops.close(line)
        else:
            wrapped = length >= _WRAPPED_LINE_LENGTH and not _CLOSED_LINE.search(line)
        if not wrapped or _NEW_ITEM.match(following):
            if stops.follow_title(line) and following.strip():
                continue
            yield (start, end), first
            start, first = end, number + 1


def _wrap_width(lines: Iterable[str]) -> int:
    """The width at which most lines of a note were broken; 0 for a note whose lines end by themselves.

    Where lines were broken at a width, most are full: the first word of the next line would not have fitted.
    """
    ends = []  # of each line: its length, the length of the next word, and whether that begins with a small letter
    for line, following in pairwise(chain(islice(lines, _LINES_MEASURED), [""])):
        length = len(line.rstrip())
        if length > _WIDEST:
            return 0
        if not following.isspace():
            ends.append((length, _first_word(following), following.lstrip()[:1].islower()))
    width = max((length for length, _, _ in ends), default=0)
    full = [is_small for length, word, is_small in ends[:-1] if length + 1 + word > width]
    # Some of these continue in small letters: lines of a list can have one length too, but begin with capitals.
    is_wrapped = len(full) >= (len(ends) - 1) / 2 and sum(full) >= max(1, len(full) / 4)
    return width if is_wrapped and width >= _NARROWEST else 0


def _first_word(line: str) -> int:
    """The length of a line's first word."""
    return len(line.split(maxsplit=1)[0]) if line and not line.isspace() else 0


def _heading_of(line: str) -> str:
    found = _HEADING.match(line) if line.endswith(":") or line.isupper() else None
    return (found["name"] or found["capitals"]).strip() if found else ""


def _sentence_ends(text: str, start: int, end: int, stops: _FullStops) -> Iterator[int]:
    """End offset of each sentence of a block of lines."""
    begin = start
    for match in _SENTENCE_END.finditer(text, start, end) if _MAY_END.search(text, start, end) else ():
        if text[match.start()] == "." and stops.keep(text, begin, match.start()):
            continue
        yield match.end()
        begin = match.end()
    yield end


def _cut(text: str, begin: int, ends: Iterable[int]) -> Iterator[int]:
    """End offsets of the sentences of a text from an offset; too long sentences have further ends inside.

    A further end is after the last white space in the second half of the maximum length, or at the maximum length. A
    token that begins before it belongs to the sentence that ends there.
    """
    for end in ends:
        while end - begin > _LONGEST_SENTENCE:
            stop = begin + _LONGEST_SENTENCE
            candidates = range(stop, stop - _LONGEST_SENTENCE // 2, -1)
            begin = next((candidate for candidate in candidates if text[candidate - 1].isspace()), stop)
            yield begin
        yield end
        begin = end


def _is_between_words(text: str, offset: int) -> bool:
    return offset in (0, len(text)) or text[offset - 1].isspace()

"""Readings of a sentence for the rules: as it is written, without decoration, and across line ends.

Rules are expressions over running text. Forms, file names and tables write the same values with decoration:
underscores, quotes and brackets around labels, spaces around punctuation, words without a space between them. A reading
is a text without that, and the tokens that its characters belong to.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from features.lexicons import fold_word
from features.line_gaps import hyphenated_gaps
from features.sentences import NoteTokens
from features.tokenizer import Token, normal_tokens
from features.tokens import Sentence


class Reading(NamedTuple):
    """A text made of tokens.

    Attributes:
        text: the text, with one space for any gap.
        ends: end offset of each token in it; that of the token before where a token is left out.
    """

    text: str
    ends: Sequence[int]

    def tokens(self, start: int, end: int) -> range:
        """The tokens of ``text[start:end]``; a space belongs to the token after it.

        Example:
            >>> Reading("on 3/14", [2, 4, 5, 7]).tokens(3, 7)
            range(1, 4)
        """
        return range(bisect_right(self.ends, start), bisect_right(self.ends, end - 1) + 1)


_DECORATION = frozenset('_*"{}[]<~“”«»„')
_NO_SPACE_BEFORE = frozenset(".,;:)")
# Signs of a text that reads otherwise without its decoration. The apostrophe is a quote at the edge of a word. Each
# expression begins with few characters: one for all takes four times as long.
_DECORATED = (
    re.compile(r"[_*\"{}\[\]<>~“”«»„]|^\|"),
    re.compile(r"'(?:(?![^\W\d_])|(?<![^\W\d_].))"),
    re.compile(r"\s(?:[.,;:)@]|[/-]\s|(?<=\d\s)[/-]\d)"),
    re.compile(r"[(@/-]\s(?:(?<=[(@]\s)|(?<=\d[/-]\s)\d|(?<=[^\W\d_]-\s)[^\W\d_])"),
    re.compile(r"[A-ZÀ-ÖØ-Þ](?<=[^\W\d_A-Z][^\W\d_A-Z].)"),
    re.compile(r"\d(?<=[^\W\d_]{3}.)\d{0,3}[/.-]\d"),
)
_LONGEST_TAG = 5  # words
_LEAST_WORD = 3  # letters of a word that is no part of the number after it
_SIGNS = frozenset("-/.:")
_HEXADECIMAL, _GROUP = re.compile("[0-9A-Fa-f]{1,4}"), re.compile("(?=.*[0-9])[0-9A-Fa-f]{1,4}")
# Words of addresses, and the number of words on each side that can be of the same address.
_OF_ADDRESSES = frozenset(("@", "www", "http", "https", "com", "org", "net", "edu", "gov"))
_ADDRESS_TOKENS = 8


def plain_reading(sentence: Sentence) -> Reading | None:
    """The reading of a sentence without decoration; None where it has none.

    Example:
        >>> from features.sentences import split_sentences
        >>> def read(text):
        ...     return plain_reading(split_sentences(text)[0]).text
        >>> read('{"patientMrn": "48-2213"}'), read("Name:___Jane Quill____"), read("( 555 ) 255 - 0134")
        ('patient Mrn: 48-2213', 'Name: Jane Quill', '(555) 255-0134')
    """
    text = sentence.spaced
    return undecorated(sentence.tokens, divide=True) if any(sign.search(text) for sign in _DECORATED) else None


def undecorated(tokens: Sequence[Token], *, divide: bool = False) -> Reading:
    """The reading of tokens without decoration.

    Left out are underscores, quotes, brackets, tags and the like, spaces before punctuation and inside brackets, spaces
    around the signs between two digits, the hyphen and the gap of a word divided at a line end. Words without a space
    between them get one.

    Args:
        tokens: the tokens.
        divide: also divide a number with signs from the word right before it, "DOB03/14/1972".
    """
    words = [token[0] for token in tokens]
    gaps = [False, *(first[2] != second[1] for first, second in pairwise(tokens))]
    near, tags = _near_at(words), _in_tags(words)
    pieces: list[str] = []
    ends: list[int] = []
    size, before, gap, was_spaced = 0, "", False, False
    for i, word in enumerate(words):
        gap = gap or gaps[i] or (divide and _is_glued(words, i))
        after = words[i + 1] if i + 1 < len(words) else ""
        spaced = i + 1 < len(words) and gaps[i + 1]
        if i in tags or _is_decoration(word, before, after, gap=gap, spaced=spaced):
            gap = True
        elif word == "-" and not gap and spaced and before.isalpha() and after.isalpha() and after.islower():
            gaps[i + 1] = False  # "Zaran- dona"
            before = ""
        else:
            around = (was_spaced, gap, spaced)
            joined = not before or _are_joined(pieces, before, word, after, around, in_address=near[i])
            pieces += (word,) if joined else (" ", word)
            size += len(word) + (not joined)
            before, gap, was_spaced = word, False, gap
        ends.append(size)
    return Reading("".join(pieces), ends)


def _is_glued(words: Sequence[str], i: int) -> bool:
    """Return True for a number with signs right after a word: "DOB03/14/1972"."""
    if not (i and words[i].isdecimal() and words[i - 1].isalpha() and len(words[i - 1]) >= _LEAST_WORD):
        return False
    sign, number = (*words[i + 1 : i + 3], "", "")[:2]
    return sign in ("-", "/", ".") and number.isdecimal()


def _in_tags(words: Sequence[str]) -> set[int]:
    """The words of HTML tags without attributes, such as "<b>" and "</td>"."""
    found: set[int] = set()
    for i, word in enumerate(words):
        stop = next((j for j in range(i + 1, min(i + _LONGEST_TAG, len(words))) if words[j] == ">"), 0)
        if word == "<" and "".join(words[i + 1 : stop]).strip("/").isalnum():
            found.update(range(i, stop + 1))
    return found


def _near_at(words: Sequence[str]) -> Sequence[bool]:
    """For each word, whether a word of an address is near."""
    near = [False] * len(words)
    for i, word in enumerate(words):
        if word in _OF_ADDRESSES:
            first, last = max(0, i - _ADDRESS_TOKENS), min(len(words), i + _ADDRESS_TOKENS + 1)
            near[first:last] = [True] * (last - first)
    return near


def _is_decoration(word: str, before: str, after: str, *, gap: bool, spaced: bool) -> bool:
    if word == "'":
        return not (before[-1:].isalpha() and after[:1].isalpha()) or gap or spaced
    if word in (">", "|"):  # the margin of a quotation or table; elsewhere "|" is between a label and its value
        return not before or (word == ">" and gap and spaced)
    return word in _DECORATION


def _are_joined(
    pieces: Sequence[str], before: str, word: str, after: str, gaps: tuple[bool, bool, bool], *, in_address: bool
) -> bool:
    """Return True if no space is between a word and the one before.

    Args:
        pieces: the text so far.
        before: the word before.
        word: the word.
        after: the word after.
        gaps: whether gaps precede the word before, the word, and the word after.
        in_address: whether a sign of an address is near.
    """
    earlier, gap, later = gaps
    if not gap:
        return not (before[0].isalpha() and word[0].isalpha())  # "QuillPhone"
    if word in _NO_SPACE_BEFORE or before == "(" or "@" in (before, word):
        return True
    if before in _SIGNS and len(pieces) > 1:
        return _is_inside(before, pieces[-2], word, spaced=earlier, in_address=in_address)
    return word in _SIGNS and _is_inside(word, before, after or " ", spaced=later, in_address=in_address)


def _is_inside(sign: str, before: str, after: str, *, spaced: bool, in_address: bool) -> bool:
    """Return True for a sign between two words that are one value, with a gap on one side, or on both (``spaced``)."""
    if sign in ("-", "/"):
        return spaced or (before[0].isdigit() and after[0].isdigit())
    short = len(before) == len(after) == 1 or (before[0].isdigit() and after[0].isdigit())
    is_group = sign == ":" and _GROUP.fullmatch(before) and _HEXADECIMAL.fullmatch(after)
    return spaced and (short or in_address or bool(is_group))


class Seam(NamedTuple):
    """The reading of the words around a line end.

    Attributes:
        reading: the last words of a line and the first ones of the next.
        tokens: their tokens.
        first: the number of the first of these tokens in the note.
        split: the index in ``tokens`` of the first one of the next line.
        length: characters of the line before.
    """

    reading: Reading
    tokens: Sequence[Token]
    first: int
    split: int
    length: int


_SEAM_TOKENS = 16  # on each side of a line end
_CUE_TOKENS = 5  # on each side of a line end, in which a value must have a sign of itself
_LONG_LINE = 60  # characters of a line that more often ends because it is full
_CLOSING = frozenset(".!?")
_SHORT = 4  # letters of the longest abbreviation with a full stop that is no end


def seam_at(note: Sequence[Token], place: int, has_cue: Callable[[str], bool]) -> Seam | None:
    """The words around the line end before a token of a note, where a value may reach over it.

    Args:
        note: all tokens of the note; only `NoteTokens` know its lines.
        place: the number of the token.
        has_cue: whether a token can be of a value or announce one.

    Returns:
        None unless one line end precedes the token that closes no sentence, with a cue, digits on both sides, the
        hyphen or slash of a divided value, or a full line before it.
    """
    if not place or not isinstance(note, NoteTokens):
        return None
    near = [token.text for token in note.between(max(0, place - _CUE_TOKENS), place + _CUE_TOKENS)]
    split = min(place, _CUE_TOKENS)
    if split == len(near) or is_closed(near[:split]):
        return None
    last, following = near[split - 1], near[split]
    is_divided = last in ("-", "/") or (last[0].isdigit() and following[0].isdigit())
    if not (is_divided or any(map(has_cue, near)) or _line_length(note, place) >= _LONG_LINE):
        return None
    around = note.between(max(0, place - _SEAM_TOKENS), place + _SEAM_TOKENS)
    split = min(place, _SEAM_TOKENS)
    gaps = [_line_ends(note.gap(one, other)) for one, other in pairwise(around)]
    if gaps[split - 1] != 1:
        return None
    start = max((i + 1 for i, ends in enumerate(gaps[: split - 1]) if ends), default=0)
    stop = min((i + 1 for i, ends in enumerate(gaps[split:], split) if ends), default=len(around))
    length = _line_length(note, place)
    return Seam(undecorated(around[start:stop]), around[start:stop], place - split + start, split - start, length)


def _line_length(note: NoteTokens, place: int) -> int:
    """Characters of a line up to the token before a number."""
    last = note[place - 1]
    return note.in_text(last.end) - note.text.rfind("\n", 0, note.in_text(last.start)) - 1


def is_closed(words: Sequence[str]) -> bool:
    """Return True for words before a line end that end a sentence."""
    before = words[-2] if len(words) > 1 else ""
    return words[-1] in _CLOSING and not (words[-1] == "." and before.isalpha() and len(before) <= _SHORT)


_OPEN = frozenset("-/.,(&")


def may_cross(seam: Seam, first: int, stop: int, *, is_value: bool, given_names: Collection[str]) -> bool:
    """Return True if a value can reach over a line end, or follow it after its cue.

    A value is not continued on the next line if its part on the first line is a value by itself, unless it ends with a
    sign, a word in small letters or a given name, or the line is full. A label with a colon on each line has its value
    on its own line.

    Args:
        seam: the words around the line end.
        first: the value's first token.
        stop: the token after its last.
        is_value: whether the part before the line end is a value by itself.
        given_names: folded given names.
    """
    words = [token.text for token in seam.tokens]
    if first >= seam.split:
        return words[seam.split - 1] != ":" or words[stop : stop + 1] != [":"]
    last = words[seam.split - 1]
    if not is_value or last in _OPEN or last.islower() or seam.length >= _LONG_LINE:
        return True
    return first == seam.split - 1 and fold_word(last) in given_names


def _line_ends(gap: str) -> int:
    return len(f"{gap}.".splitlines()) - 1


class HyphenatedLine(NamedTuple):
    """The two lines around a hyphen at a line end, read as one.

    Attributes:
        sentence: the text, with the hyphen or without it.
        note: all tokens of the note.
        border: characters of the text before the line end.
        before: offset of the text in the note.
        shift: what to add to offsets after the border for those in the note.
        has_sign: whether a hyphen or a space is in the place of the line end.
    """

    sentence: Sentence
    note: NoteTokens
    border: int
    before: int
    shift: int
    has_sign: bool

    def note_tokens(self, first: int, stop: int) -> tuple[int, int] | None:
        """Convert tokens of the text to those of the note; None for those that do not need this reading."""
        start, end = self.sentence.tokens[first].start, self.sentence.tokens[stop - 1].end
        if self.has_sign and not start < self.border < end:
            return None
        start += self.before if start < self.border else self.shift
        end += self.before if end <= self.border else self.shift
        return self.note.count_before(start + 1) - 1, self.note.count_before(end)


_LONGEST_LINE = 300  # characters that are read on each side of a hyphen


def hyphenated_lines(note: NoteTokens) -> Iterator[HyphenatedLine]:
    """Yield the readings across each hyphen at a line end of a note: without the hyphen, with it, with a space."""
    text = note.text
    for gap in hyphenated_gaps(text):
        begin = max(0, gap.start() - _LONGEST_LINE)
        before = text[begin : gap.start()].splitlines()[-1:]
        after = text[gap.end() : gap.end() + _LONGEST_LINE].splitlines()[:1]
        if not (before and after):
            continue
        border = len(before[0])
        for sign in ("", "-", " "):
            tokens = tuple(normal_tokens(before[0] + sign + after[0]))
            shift = gap.end() - border - len(sign)
            sentence = Sentence(tokens, note=note)
            yield HyphenatedLine(sentence, note, border, gap.start() - border, shift, bool(sign))

"""Document consistency: a value that is found once in a note is marked everywhere in it.

A name at the head of a letter is easy to find, the same name in the middle of a sentence is not. Every value that a
model found is therefore searched in the rest of its note:

- a name, of a patient or a doctor: whole, in its parts ("Quill" after "Jane Quill"), and with one typing error (a
  letter wrong, missing or added, or two swapped) in a part of `LEAST_MISSPELT_LENGTH` to `_MOST_MISSPELT_LENGTH`
  letters;
- any other value: whole, if it has at least `_LEAST_VALUE` letters and digits, and a capital or that many digits.

A part of a name must look like a name: it begins with a capital, the note has the word nowhere in lower case, and it is
in no list of words that announce PHI (`features.lexicons`: months, titles, kin, places). Account names such as
"Quill.j@..." are no names. "Brown sputum" is not marked if the note has "brown" too, and "May" never is.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import count, islice
from typing import NamedTuple, TypeVar

import numpy as np
import regex

from crfdeid.documents import Document, Span, merge, tokens_of
from crfdeid.label_schemes import TO_SEVEN
from features.lexicons import word_classes
from features.normal import normal_form
from features.tokenizer import Token

_NAMES = {"PATIENT", "DOCTOR"}
_LEAST_PART = 3
LEAST_MISSPELT_LENGTH = 6
"""Fewest letters of a part of a name that is searched with typing errors."""
_MOST_MISSPELT_LENGTH = 40  # The search takes time and memory in the square of a word's length.
_LEAST_VALUE = 5
_WITHIN_A_NAME = {"", " ", "-", ", ", ","}

# Text after an account name, as in an e-mail address: PHI, but not a name.
_ADDRESS = regex.compile(r"[@＠]|[._．＿]\p{Default_Ignorable_Code_Point}*+\w")

_TOKENS_AT_ONCE = 1 << 14  # bounds the memory of temporary arrays

_Words = tuple[str, ...]
_Key = TypeVar("_Key", bound=Hashable)


class _Values(NamedTuple):
    """Values to search for.

    Attributes:
        whole: the type of each whole value, by its words in lower case.
        written: the whole values with the capitals of the note.
        parts: the type of each part of a name, by the word in lower case.
    """

    whole: Mapping[_Words, str]
    written: frozenset[_Words]
    parts: Mapping[str, str]


class TokenTable:
    """Columns of a note's tokens: word number, start and end, at 8 bytes a token.

    The end of a token follows from its start and the length of its word, unless the note spells the word in another
    form: those ends are listed.

    Args:
        tokens: the first tokens; `add` appends further ones, until a column is read.

    Example:
        >>> table = TokenTable([Token("Dr", 0, 2), Token("Doe", 3, 6), Token("Doe", 8, 11)])
        >>> table.words, table.numbers.tolist(), table.texts(range(0, 2)), [*table.positions([Span(1, 4, "DOCTOR")])]
        (['Dr', 'Doe'], [0, 1, 1], ('Dr', 'Doe'), [range(0, 2)])
    """

    def __init__(self, tokens: Iterable[Token] = ()) -> None:
        self._number_of: dict[str, int] = defaultdict(count().__next__)  # of each word, in order of appearance
        self._lengths = array("i")  # of the words
        self._numbers, self._starts = array("i"), array("i")
        self._ends: dict[int, int] = {}  # of tokens whose length in the note is not that of their word
        self.add(tokens)

    def add(self, tokens: Iterable[Token]) -> None:
        """Append tokens."""
        columns = tuple(zip(*tokens, strict=True))
        if columns:
            texts, starts, ends = columns
            numbers = np.fromiter(map(self._number_of.__getitem__, texts), np.intc, len(texts))
            new = islice(reversed(self._number_of), len(self._number_of) - len(self._lengths))
            self._lengths.extend([*map(len, new)][::-1])
            lengths = np.frombuffer(self._lengths, np.intc)[numbers]
            begun, ended = np.array(starts, np.intc), np.array(ends, np.intc)
            for i in np.flatnonzero(begun + lengths != ended).tolist():
                self._ends[len(self) + i] = ends[i]
            self._numbers.frombytes(numbers.tobytes())
            self._starts.frombytes(begun.tobytes())

    def __len__(self) -> int:
        return len(self._numbers)

    @cached_property
    def words(self) -> list[str]:
        """Distinct words, by number."""
        return list(self._number_of)

    @cached_property
    def numbers(self) -> np.ndarray:
        """Number of each token's word, [N]."""
        return np.frombuffer(self._numbers, np.intc)

    @cached_property
    def starts(self) -> np.ndarray:
        """Start of each token, [N]."""
        return np.frombuffer(self._starts, np.intc)

    def end(self, i: int) -> int:
        """Return the end of a token."""
        return self._ends.get(i) or self._starts[i] + self._lengths[self._numbers[i]]

    @cached_property
    def small(self) -> list[str]:
        """Words in lower case, by number."""
        return [word if word.islower() else word.lower() for word in self.words]

    def texts(self, positions: Sequence[int], *, small: bool = False) -> tuple[str, ...]:
        """Return the words of some tokens, unchanged or in lower case."""
        words, numbers = self.small if small else self.words, self._numbers
        return tuple([words[numbers[i]] for i in positions])

    def where(self, chosen: Sequence[bool]) -> Iterator[int]:
        """Yield the positions of the tokens whose word is chosen, in order.

        Args:
            chosen: True for each chosen word, by number.
        """
        table = np.array(chosen, bool)
        for first in range(0, len(self), _TOKENS_AT_ONCE):
            yield from (np.flatnonzero(table[self.numbers[first : first + _TOKENS_AT_ONCE]]) + first).tolist()

    def positions(self, spans: Sequence[Span]) -> Iterator[range]:
        """Yield, for each span, the positions of the tokens that share a character with it."""
        for first in range(0, len(spans), _TOKENS_AT_ONCE):
            some = spans[first : first + _TOKENS_AT_ONCE]
            starts, ends = (np.array(column, np.intc) for column in list(zip(*some, strict=True))[:2])
            begins, stops = self.starts.searchsorted(starts), self.starts.searchsorted(ends)
            inside = self.starts.searchsorted(starts, side="right") == begins  # no token begins where the span does
            for span, begin, stop, within in zip(some, begins.tolist(), stops.tolist(), inside.tolist(), strict=True):
                # The last token that begins before the span's start may end before it.
                yield range(begin - 1 if within and begin and self.end(begin - 1) > span.start else begin, stop)


def make_consistent(document: Document, tokens: TokenTable | None = None) -> Document:
    """Mark further occurrences of the values that are marked in a document.

    No span is changed or removed, and no added span shares a character with another. The added spans begin and end at
    the edges of tokens and depend only on the document.

    Args:
        document: a note with predicted spans.
        tokens: its tokens; None to tokenise it again.

    Example:
        >>> note = Document("1", "Pt: Jane Quill. Ms. Quill is stable.", (Span(4, 14, "PATIENT"),))
        >>> make_consistent(note).spans[1]
        Span(start=20, end=25, label='PATIENT')
    """
    if not document.spans:
        return document
    tokens = TokenTable(tokens_of(document)) if tokens is None else tokens
    free = bytearray(b"\1") * len(tokens)  # 1 for each token without a span
    small = {word for word in tokens.words if word.islower()}
    values = _values(document, tokens, free, small)
    added = [*_whole(tokens, free, values), *_parts(document.text, tokens, free, values.parts, small)]
    return replace(document, spans=(*document.spans, *added)) if added else document


def _values(document: Document, tokens: TokenTable, free: bytearray, small: set[str]) -> _Values:
    """Return the values of a document's spans; their tokens are no longer free."""
    whole: dict[tuple[_Words, str], int] = {}  # how often a value is found as a type
    parts: dict[tuple[str, str], int] = {}
    written = set()
    for span, positions in zip(document.spans, tokens.positions(document.spans), strict=True):
        free[positions.start : positions.stop] = bytes(len(positions))
        texts, words = tokens.texts(positions), tokens.texts(positions, small=True)
        is_name = TO_SEVEN.get(span.label) in _NAMES
        if is_name:
            for word in words:
                if len(word) >= _LEAST_PART and _looks_like_a_name(word, small):
                    parts[word, span.label] = parts.get((word, span.label), 0) + 1
        if len(texts) > is_name and _is_specific(texts):  # one word of a name is a part
            whole[words, span.label] = whole.get((words, span.label), 0) + 1
            written.add(words if texts == words else texts)  # shares one of two equal tuples
    return _Values(_commonest(whole), frozenset(written), _commonest(parts))


def _commonest(counts: Mapping[tuple[_Key, str], int]) -> dict[_Key, str]:
    """Return the most frequent type of each key, of equals the first in the note."""
    found: dict[_Key, str] = {}
    for (key, label), frequency in counts.items():
        if key not in found or frequency > counts[key, found[key]]:
            found[key] = label
    return found


def _whole(tokens: TokenTable, free: bytearray, values: _Values) -> Iterator[Span]:
    """Yield whole values outside all spans, the longest first; their tokens are no longer free."""
    lengths: dict[str, set[int]] = {}  # of the values, by their first word
    for words in values.whole:
        lengths.setdefault(words[0], set()).add(len(words))
    for i in tokens.where([*map(lengths.__contains__, tokens.small)]):
        for length in sorted(lengths[tokens.texts([i], small=True)[0]], reverse=True):
            stop = i + length
            if stop > len(free) or 0 in free[i:stop]:
                continue
            label = values.whole.get(tokens.texts(range(i, stop), small=True))
            if label is not None and _as_written(tokens.texts(range(i, stop)), values):
                free[i:stop] = bytes(length)
                yield Span(int(tokens.starts[i]), tokens.end(stop - 1), label)
                break


def _as_written(texts: _Words, values: _Values) -> bool:
    """Return True unless an occurrence has lower case instead of the capitals of the value."""
    return texts in values.written or any(text[0].isupper() for text in texts)


def _parts(text: str, tokens: TokenTable, free: bytearray, parts: Mapping[str, str], small: set[str]) -> list[Span]:
    """Return parts of names outside all spans; adjacent parts are one name."""

    def one_name(whole: Span, span: Span) -> bool:
        return normal_form(text[whole.end : span.start]).text in _WITHIN_A_NAME

    return merge(_single_parts(text, tokens, free, parts, small), joins=one_name, label=_type_of_name)


def _single_parts(
    text: str, tokens: TokenTable, free: bytearray, parts: Mapping[str, str], small: set[str]
) -> Iterator[Span]:
    if not parts:
        return
    near = {form: part for part in reversed(list(parts)) if _can_be_misspelt(part) for form in _one_less(part)}
    initials = {part[0] for part in parts}  # an error in the first letter is not searched
    labels = [
        _label_of(written, parts, near, small) if word[0] in initials else None
        for written, word in zip(tokens.words, tokens.small, strict=True)
    ]
    for i in tokens.where([label is not None for label in labels]):
        label, end = labels[tokens.numbers[i]], tokens.end(i)
        if label is not None and free[i] and not _ADDRESS.match(text, end):
            yield Span(int(tokens.starts[i]), end, label)


def _label_of(written: str, parts: Mapping[str, str], near: Mapping[str, str], small: set[str]) -> str | None:
    """Return the type of a word that is part of a name, perhaps with a typing error; else None."""
    if len(written) < _LEAST_PART or not written[0].isupper():
        return None
    word = written.lower()
    label = parts.get(word) or _misspelt(word, parts, near)
    return label if label is not None and _looks_like_a_name(word, small) else None


def _type_of_name(parts: Sequence[Span]) -> str:
    """Return the most frequent type of a name's parts, of equals the last, which is more often the surname's."""
    return Counter(part.label for part in reversed(parts)).most_common(1)[0][0]


def _looks_like_a_name(word: str, small: set[str]) -> bool:
    return word.isalpha() and word not in small and not word_classes(word)


def _is_specific(texts: _Words) -> bool:
    """Return True for a value that identifies by itself: not "family", "Madrid", "9 pm" or "12"."""
    letters_and_digits = "".join(filter(str.isalnum, texts))
    written_so = any(text[0].isupper() for text in texts) or sum(map(str.isdigit, letters_and_digits)) >= _LEAST_VALUE
    return len(letters_and_digits) >= _LEAST_VALUE and written_so and (len(texts) > 1 or not word_classes(texts[0]))


def _misspelt(word: str, parts: Mapping[str, str], near: Mapping[str, str]) -> str | None:
    """Return the type of the part of a name that differs from a word by one typing error."""
    if not LEAST_MISSPELT_LENGTH - 1 <= len(word) <= _MOST_MISSPELT_LENGTH + 1:
        return None
    for form in (word, *_one_less(word)):
        part = form if form in parts and _can_be_misspelt(form) else near.get(form)
        if part is not None and part[0] == word[0] and within_one_edit(word, part):
            return parts[part]
    return None


def _can_be_misspelt(part: str) -> bool:
    return LEAST_MISSPELT_LENGTH <= len(part) <= _MOST_MISSPELT_LENGTH


def _one_less(word: str) -> list[str]:
    """Return the word without each one of its letters."""
    return [word[:i] + word[i + 1 :] for i in range(len(word))]


def within_one_edit(word: str, other: str) -> bool:
    """Return True if one letter is changed, missing or added, or two adjacent ones are swapped (Damerau 1964).

    Example:
        >>> [within_one_edit("quillan", other) for other in ("qulilan", "quilan", "quiller")]
        [True, True, False]
    """
    i = next((k for k, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), min(len(word), len(other)))
    a, b = word[i:], other[i:]
    return a[1:] == b[1:] or a[1:] == b or a == b[1:] or (a[:2] == b[1::-1] and a[2:] == b[2:])

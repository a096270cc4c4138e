"""Document consistency: what is found once in a note is found everywhere in it.

A name at the head of a letter is easy to find, the same name in the middle of a sentence is not. So every value that a
model found is looked for in the rest of its note:

- a name, of a patient or a doctor: whole, in its parts ("Quill" where "Jane Quill" was found), and with one slip of
  the typist (a letter wrong, missing, added, or two swapped) in a part of `LEAST_MISSPELT_LENGTH` to `_MOST_MISSPELT`
  letters;
- any other value: whole, if it has `_LEAST_VALUE` letters and digits or more, and a capital or that many digits.

A part of a name must look like a name where it stands: it begins with a capital, the note has the word nowhere in
small letters, and it is in no list of words that announce PHI (`features.lexicons`: months, titles, kin, places).
Names of accounts ("Quill.j@...") are no names. "Brown sputum" is left alone where a note has "brown" too, and so is
"May", whoever is called so.
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

_AT_ONCE = 1 << 14  # tokens or spans of which there are further numbers in memory


class TokenTable:
    """Tokens, by place: which word each is, where it begins and where it ends. They take 8 bytes each.

    A token ends so many characters after its start as its word has, but for those that are written in another form in
    the note: their ends are listed.

    Args:
        tokens: those that there are so far; `add` takes further ones, until the columns are asked for.

    Example:
        >>> table = TokenTable([Token("Dr", 0, 2), Token("Doe", 3, 6), Token("Doe", 8, 11)])
        >>> table.words, table.numbers.tolist(), table.texts(range(0, 2)), [*table.places([Span(1, 4, "DOCTOR")])]
        (['Dr', 'Doe'], [0, 1, 1], ('Dr', 'Doe'), [range(0, 2)])
    """

    def __init__(self, tokens: Iterable[Token] = ()) -> None:
        self._number_of: dict[str, int] = defaultdict(count().__next__)  # of each word, as they come
        self._lengths = array("i")  # of these words
        self._numbers, self._starts = array("i"), array("i")
        self._ends: dict[int, int] = {}  # of tokens whose word has another length than they have in the note
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
            for place in np.flatnonzero(begun + lengths != ended).tolist():
                self._ends[len(self) + place] = ends[place]
            self._numbers.frombytes(numbers.tobytes())
            self._starts.frombytes(begun.tobytes())

    def __len__(self) -> int:
        return len(self._numbers)

    @cached_property
    def words(self) -> list[str]:
        """The different words, by number."""
        return list(self._number_of)

    @cached_property
    def numbers(self) -> np.ndarray:
        """The number of each token's word, [N]."""
        return np.frombuffer(self._numbers, np.intc)

    @cached_property
    def starts(self) -> np.ndarray:
        """Where each token begins, [N]."""
        return np.frombuffer(self._starts, np.intc)

    def end(self, place: int) -> int:
        """Where a token ends."""
        return self._ends.get(place) or self._starts[place] + self._lengths[self._numbers[place]]

    @cached_property
    def small(self) -> list[str]:
        """The words in small letters, by number."""
        return [word if word.islower() else word.lower() for word in self.words]

    def texts(self, places: Sequence[int], *, small: bool = False) -> tuple[str, ...]:
        """The words of some tokens, as they are or in small letters."""
        words, numbers = self.small if small else self.words, self._numbers
        return tuple([words[numbers[place]] for place in places])

    def where(self, chosen: Sequence[bool]) -> Iterator[int]:
        """The tokens whose word is chosen, in order.

        Args:
            chosen: of each word, by number.
        """
        table = np.array(chosen, bool)
        for first in range(0, len(self), _AT_ONCE):
            yield from (np.flatnonzero(table[self.numbers[first : first + _AT_ONCE]]) + first).tolist()

    def places(self, spans: Sequence[Span]) -> Iterator[range]:
        """For each span the tokens that share a character with it, as `crfdeid.documents.positions_in` has them."""
        for first in range(0, len(spans), _AT_ONCE):
            some = spans[first : first + _AT_ONCE]
            starts, ends = (np.array(column, np.intc) for column in list(zip(*some, strict=True))[:2])
            begins, stops = self.starts.searchsorted(starts), self.starts.searchsorted(ends)
            inside = self.starts.searchsorted(starts, side="right") == begins  # no token begins where the span does
            for span, begin, stop, within in zip(some, begins.tolist(), stops.tolist(), inside.tolist(), strict=True):
                # The last token that begins before the span's start may end before it.
                yield range(begin - 1 if within and begin and self.end(begin - 1) > span.start else begin, stop)


_NAMES = {"PATIENT", "DOCTOR"}
_LEAST_PART = 3
LEAST_MISSPELT_LENGTH = 6
"""So many letters a part of a name has at least, if it is to be found misspelt."""
_MOST_MISSPELT = 40  # Slips are looked for in time and memory that grow with the square of a word's length.
_LEAST_VALUE = 5
_WITHIN_A_NAME = {"", " ", "-", ", ", ","}

# What follows the name of an account, as in an e-mail address; it is PHI, but no name.
_ADDRESS = regex.compile(r"[@＠]|[._．＿]\p{Default_Ignorable_Code_Point}*+\w")

_Words = tuple[str, ...]
_Key = TypeVar("_Key", bound=Hashable)


class _Values(NamedTuple):
    """What to look for.

    Attributes:
        values: the type of each whole value, by its words in lower case.
        written: the whole values as they stand in the note.
        parts: the type of each part of a name, by the word in lower case.
    """

    values: Mapping[_Words, str]
    written: frozenset[_Words]
    parts: Mapping[str, str]


def make_consistent(document: Document, tokens: TokenTable | None = None) -> Document:
    """A document with spans added wherever a value that it has marked stands elsewhere in its text.

    No span is changed or taken away, and none that is added shares a character with another. The new spans begin and
    end at the edges of tokens and depend on nothing but the document.

    Args:
        document: a note with the spans that a model found.
        tokens: its tokens, where they are at hand; else it is taken apart again.

    Example:
        >>> note = Document("1", "Pt: Jane Quill. Ms. Quill is stable.", (Span(4, 14, "PATIENT"),))
        >>> make_consistent(note).spans[1]
        Span(start=20, end=25, label='PATIENT')
    """
    if not document.spans:
        return document
    tokens = TokenTable(tokens_of(document)) if tokens is None else tokens
    free = bytearray(b"\1") * len(tokens)  # of each token: whether no span is there
    small = {word for word in tokens.words if word.islower()}
    known = _values(document, tokens, free, small)
    added = [*_whole(tokens, free, known), *_parts(document.text, tokens, free, known.parts, small)]
    return replace(document, spans=(*document.spans, *added)) if added else document


def _values(document: Document, tokens: TokenTable, free: bytearray, small: set[str]) -> _Values:
    """What the spans of a document say is to be looked for; their tokens are free no more."""
    values: dict[tuple[_Words, str], int] = {}  # how often a value is found as a type
    parts: dict[tuple[str, str], int] = {}
    written = set()
    for span, place in zip(document.spans, tokens.places(document.spans), strict=True):
        free[place.start : place.stop] = bytes(len(place))
        texts, words = tokens.texts(place), tokens.texts(place, small=True)
        is_name = TO_SEVEN.get(span.label) in _NAMES
        if is_name:
            for word in words:
                if len(word) >= _LEAST_PART and _looks_like_a_name(word, small):
                    parts[word, span.label] = parts.get((word, span.label), 0) + 1
        if len(texts) > is_name and _is_specific(texts):  # one word of a name is a part
            values[words, span.label] = values.get((words, span.label), 0) + 1
            written.add(words if texts == words else texts)  # of two that are equal, one
    return _Values(_commonest(values), frozenset(written), _commonest(parts))


def _commonest(counts: Mapping[tuple[_Key, str], int]) -> dict[_Key, str]:
    """The commonest type of each, of equals the first in the note."""
    found: dict[_Key, str] = {}
    for (key, label), seen in counts.items():
        if key not in found or seen > counts[key, found[key]]:
            found[key] = label
    return found


def _whole(tokens: TokenTable, free: bytearray, known: _Values) -> Iterator[Span]:
    """Whole values where no span is yet, the longest first; their tokens are free no more."""
    lengths: dict[str, set[int]] = {}  # of the values that begin with a word
    for words in known.values:
        lengths.setdefault(words[0], set()).add(len(words))
    for i in tokens.where([*map(lengths.__contains__, tokens.small)]):
        for length in sorted(lengths[tokens.texts([i], small=True)[0]], reverse=True):
            stop = i + length
            if stop > len(free) or 0 in free[i:stop]:
                continue
            label = known.values.get(tokens.texts(range(i, stop), small=True))
            if label is not None and _as_written(tokens.texts(range(i, stop)), known):
                free[i:stop] = bytes(length)
                yield Span(int(tokens.starts[i]), tokens.end(stop - 1), label)
                break


def _as_written(texts: _Words, known: _Values) -> bool:
    """Whether a value stands here as it was found, or with more capitals, but not in small letters for capitals."""
    return texts in known.written or any(text[0].isupper() for text in texts)


def _parts(text: str, tokens: TokenTable, free: bytearray, parts: Mapping[str, str], small: set[str]) -> list[Span]:
    """Parts of names where no span is yet; neighbours are one name."""

    def one_name(whole: Span, span: Span) -> bool:
        return normal_form(text[whole.end : span.start]).text in _WITHIN_A_NAME

    return merge(_single_parts(text, tokens, free, parts, small), joins=one_name, label=_type_of_name)


def _single_parts(
    text: str, tokens: TokenTable, free: bytearray, parts: Mapping[str, str], small: set[str]
) -> Iterator[Span]:
    if not parts:
        return
    near = {form: part for part in reversed(list(parts)) if _can_be_misspelt(part) for form in _one_less(part)}
    initials = {part[0] for part in parts}  # a word with another is no slip either
    labels = [
        _label_of(written, parts, near, small) if word[0] in initials else None
        for written, word in zip(tokens.words, tokens.small, strict=True)
    ]
    for i in tokens.where([label is not None for label in labels]):
        label, end = labels[tokens.numbers[i]], tokens.end(i)
        if label is not None and free[i] and not _ADDRESS.match(text, end):
            yield Span(int(tokens.starts[i]), end, label)


def _label_of(written: str, parts: Mapping[str, str], near: Mapping[str, str], small: set[str]) -> str | None:
    """The type of the part of a name that a word is, as it is written or with a slip; None where it is none."""
    if len(written) < _LEAST_PART or not written[0].isupper():
        return None
    word = written.lower()
    label = parts.get(word) or _misspelt(word, parts, near)
    return label if label is not None and _looks_like_a_name(word, small) else None


def _type_of_name(parts: Sequence[Span]) -> str:
    """The type that most parts of a name have, of equals the last's, which is more often the family's."""
    return Counter(part.label for part in reversed(parts)).most_common(1)[0][0]


def _looks_like_a_name(word: str, small: set[str]) -> bool:
    return word.isalpha() and word not in small and not word_classes(word)


def _is_specific(texts: _Words) -> bool:
    """Whether a value says who or where by itself: not "family", "Madrid", "9 pm" or "12"."""
    letters_and_digits = "".join(filter(str.isalnum, texts))
    written_so = any(text[0].isupper() for text in texts) or sum(map(str.isdigit, letters_and_digits)) >= _LEAST_VALUE
    return len(letters_and_digits) >= _LEAST_VALUE and written_so and (len(texts) > 1 or not word_classes(texts[0]))


def _misspelt(word: str, parts: Mapping[str, str], near: Mapping[str, str]) -> str | None:
    """The type of the part of a name that a word is one slip away from."""
    if not LEAST_MISSPELT_LENGTH - 1 <= len(word) <= _MOST_MISSPELT + 1:
        return None
    for form in (word, *_one_less(word)):
        part = form if form in parts and _can_be_misspelt(form) else near.get(form)
        if part is not None and part[0] == word[0] and within_one_edit(word, part):
            return parts[part]
    return None


def _can_be_misspelt(part: str) -> bool:
    return LEAST_MISSPELT_LENGTH <= len(part) <= _MOST_MISSPELT


def _one_less(word: str) -> list[str]:
    """The word with each one of its letters left out."""
    return [word[:i] + word[i + 1 :] for i in range(len(word))]


def within_one_edit(word: str, other: str) -> bool:
    """Whether one letter was changed, left out or added, or two neighbours swapped (Damerau's four slips).

    Example:
        >>> [one_slip("quillan", other) for other in ("qulilan", "quilan", "quiller")]
        [True, True, False]
    """
    i = next((k for k, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), min(len(word), len(other)))
    a, b = word[i:], other[i:]
    return a[1:] == b[1:] or a[1:] == b or a == b[1:] or (a[:2] == b[1::-1] and a[2:] == b[2:])

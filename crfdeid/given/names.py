"""One person's name in all the ways in which it is written: whole, in parts, with initials, misspelt by a letter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import regex

from crfdeid.consistency import LEAST_MISSPELT, one_slip
from crfdeid.given.common_names import is_word
from crfdeid.given.folded import Folded, Phrases, fold
from crfdeid.redaction.persons import NAME_WORD, PARTICLES, TITLES

_LEAST_PART = 2
_LEAST_SMALL = 3  # in small letters, two letters are too few to be a name by themselves
_MOST_INITIALS = 3

_CAPITAL_WITHIN = regex.compile(r"(?<=\p{Ll})(?=\p{Lu})")
# What stands between the words of one name: "Quill, Jane", "jane.quill", "Smith-Jones", "J. Quill".
_WITHIN_A_NAME = regex.compile(r"[\s,_-]{0,4}|\.")
_AFTER_AN_INITIAL = regex.compile(r"\.?[\s,_-]{0,3}")
_ARTICLES = frozenset("aeiouy")


class _Word(NamedTuple):
    """A word of a note that may be of the name.

    Attributes:
        start: its first character's offset.
        end: the offset after its last.
        part: the part of the name that it is, well spelled or not; "" for an initial or a particle.
        sure: whether it is the name's by itself; else its neighbours decide.
        initial: whether it is one initial, or several without a space.
    """

    start: int
    end: int
    part: str
    sure: bool
    initial: bool


class Name:
    """What one person is called.

    Args:
        values: the name as the record has it, or several of its forms ("Jane A. Quill", "QUILL, JANE").

    Example:
        >>> text = "Ms. Sorelby (J. Sorrelby) works; seen by Jo Marsh."
        >>> [text[a:b] for a, b in Name(["Sorrelby, Jane"]).find(text, Folded(text))]
        ['Sorelby', 'J. Sorrelby']
    """

    def __init__(self, values: Iterable[str]) -> None:
        self._parts: set[str] = set()
        self._initials: set[str] = set()
        wholes = []
        for value in values:
            wholes.append((value, None))
            self._add(value)
        self._long = [part for part in self._parts if len(part) >= LEAST_MISSPELT]
        self._whole = Phrases(wholes)

    def _add(self, value: str) -> None:
        for half in value.split(","):
            words = [match.group() for match in NAME_WORD.finditer(half)]
            kept = [word for word in words if word.lower() not in TITLES | PARTICLES]
            if words and words[-1].lower() in PARTICLES:  # "Minh Do": what ends a name is no particle
                kept.append(words[-1])
            for word in kept:
                self._initials.add(fold(word)[:1])
                # "O'Neill" and "MacDonald" are written "O Neill" and "Mac Donald", too.
                pieces = [word, *regex.split("['’]", word), *_CAPITAL_WITHIN.split(word)]
                self._parts.update(part for piece in pieces if len(part := fold(piece)) >= _LEAST_PART)

    def find(self, text: str, folded: Folded) -> Iterator[tuple[int, int]]:
        """Where the name stands in a text, given both as it is and folded; what is found may overlap."""
        for start, end, _ in self._whole.find(folded):
            yield start, end
        chain: list[_Word] = []
        for word in self._words(text):
            if chain and not _is_one_name(text, chain[-1], word):
                yield from _settle(chain)
                chain = []
            chain.append(word)
        yield from _settle(chain)

    def _words(self, text: str) -> Iterator[_Word]:
        for match in NAME_WORD.finditer(text):
            word = match.group()
            found = self._word(word, match.start(), text)
            if found is not None:
                yield found
                continue
            start = match.start()
            pieces = _CAPITAL_WITHIN.split(word)
            for piece in pieces if len(pieces) > 1 else ():
                found = self._word(piece, start, text)
                if found is not None:
                    yield found
                start += len(piece)

    def _word(self, word: str, start: int, text: str) -> _Word | None:
        folded, end = fold(word), start + len(word)
        capital = word[0].isupper()
        part = folded if folded in self._parts else self._misspelt(folded)
        if part:
            sure = capital or (len(folded) >= _LEAST_SMALL and not is_word(folded))
            return _Word(start, end, part, sure, initial=False)
        if self._initials.issuperset(folded) and len(folded) <= (_MOST_INITIALS if word.isupper() else 1):
            sure = word.isupper() or text.startswith(".", end)
            if sure or folded not in _ARTICLES:
                return _Word(start, end, "", sure, initial=True)
        return _Word(start, end, "", sure=False, initial=False) if folded in PARTICLES else None

    def _misspelt(self, word: str) -> str:
        """The part of the name that a word is one slip of the typist away from; "" where there is none."""
        for part in self._long:
            if abs(len(part) - len(word)) <= 1 and one_slip(word, part) and not is_word(word):
                return part
        return ""


def _is_one_name(text: str, word: _Word, following: _Word) -> bool:
    between = text[word.end : following.start]
    return (_AFTER_AN_INITIAL if word.initial else _WITHIN_A_NAME).fullmatch(between) is not None


def _settle(chain: list[_Word]) -> Iterator[tuple[int, int]]:
    """What of a chain of neighbours is the name: two of its parts in whatever case, a part with a capital, initials."""
    parts = [word for word in chain if word.part]
    together = len({word.part for word in parts}) > 1 or (parts and any(w.initial and w.sure for w in chain))
    kept = [i for i, word in enumerate(chain) if word.part and (word.sure or together)]
    if not kept:
        return
    first, last = kept[0], kept[-1]
    while first and chain[first - 1].initial:
        first -= 1
    while last + 1 < len(chain) and chain[last + 1].initial:
        last += 1
    yield chain[first].start, chain[last].end

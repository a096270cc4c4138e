"""One person's name in all the ways in which it is written: whole, in parts, with initials, misspelt by a letter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import regex

from crfdeid.consistency import LEAST_MISSPELT, one_slip
from crfdeid.given.common_names import is_word
from crfdeid.given.folded import Folded, Phrases, fold
from crfdeid.given.placeholders import PLACEHOLDER, is_no_name, why_unsearched
from crfdeid.redaction.persons import NAME_WORD, PARTICLES, TITLES

_LEAST_PART = 2
_LEAST_SMALL = 3  # in small letters, two letters are too few to be a name by themselves
_MOST_INITIALS = 3

_CAPITAL_WITHIN = regex.compile(r"(?<=\p{Ll})(?=\p{Lu})")
# What stands between the words of one name: "Quill, Jane", "jane.quill", "Smith-Jones", "J. Quill".
_WITHIN_A_NAME = regex.compile(r"[\s,_\p{Pd}]{0,4}|\.")
_AFTER_AN_INITIAL = regex.compile(r"\.?[\s,_\p{Pd}]{0,3}")
_ARTICLES = frozenset("aeiouy")

# A word of a name that is written as several: "Mac Donald", "de la Cruz", "Anne-Marie".
_BETWEEN_PIECES = regex.compile(r"\.?[\s_]{0,3}(?:[\p{Pd}\u2212'’`´][\s_]{0,3})?")
_HYPHEN = regex.compile(r"[\p{Pd}\u2212]")
_MOST_PIECES = 4
_LEAST_SPLIT = 5
_LEAST_LAST_PIECE = 3
_ALONE = frozenset("odl")  # single letters that begin a name: "O Neill", "D Angelo", "L Hermite"
# In small letters too they begin a name; other neighbouring words may be no name ("con suelo").
_PREFIXES = "mac mc fitz van von de del dela des di da do dos du d o l le san santa saint st"
_JOINING = """
    a al as at be by con del el en for he if in is it la las lo los me mi my no of on or por se si sin so su te the to
    tu un una up us we y ya
"""
_PREFIX_WORDS, _JOINING_WORDS = frozenset(_PREFIXES.split()), frozenset(_JOINING.split())


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
        joined: set[str] = set()
        wholes = []
        for value in values:
            why = why_unsearched("name", value)
            if why is None:
                wholes.append((value, None))
            for half in value.split(",") if why != PLACEHOLDER else ():
                joined.update(self._add(half))
        self._long = [part for part in self._parts if len(part) >= LEAST_MISSPELT]
        self._parts |= joined
        self._heads = {part[:i] for part in self._parts if len(part) >= _LEAST_SPLIT for i in range(1, len(part))}
        self._whole = Phrases(wholes)

    def _add(self, half: str) -> Iterator[str]:
        """Take the words of a half of a name; yield its neighbouring words joined into one."""
        words = [word for match in NAME_WORD.finditer(half) if not is_no_name(fold(word := match.group()))]
        kept = [word.lower() not in TITLES | PARTICLES for word in words]
        if words and words[-1].lower() in PARTICLES:  # "Minh Do": what ends a name is no particle
            kept[-1] = True
        for word in (word for word, is_part in zip(words, kept, strict=True) if is_part):
            self._initials.add(fold(word)[:1])
            # "O'Neill" and "MacDonald" are written "O Neill" and "Mac Donald", too.
            pieces = [word, *regex.split("['’]", word), *_CAPITAL_WITHIN.split(word)]
            self._parts.update(part for piece in pieces if len(part := fold(piece)) >= _LEAST_PART)
        for last in range(1, len(words)):
            for first in range(max(0, last + 1 - _MOST_PIECES), last if kept[last] else 0):
                together = fold("".join(words[first : last + 1]))
                if len(together) >= _LEAST_SPLIT:
                    yield together

    def find(self, text: str, folded: Folded) -> Iterator[tuple[int, int]]:
        """Where the name stands in a text, given both as it is and folded; what is found may overlap."""
        for start, end, _ in self._whole.find(folded):
            if end - start >= _LEAST_SMALL or not text[start].islower():
                yield start, end
        chain: list[_Word] = []
        for word in self._words(text):
            if chain and not _is_one_name(text, chain[-1], word):
                yield from _settle(chain)
                chain = []
            chain.append(word)
        yield from _settle(chain)

    def _words(self, text: str) -> Iterator[_Word]:
        reached = 0
        for match in NAME_WORD.finditer(text):
            if match.start() < reached:
                continue
            word = match.group()
            found = self._of_pieces(match, text) or self._word(word, match.start(), text)
            if found is not None:
                reached = found.end
                yield found
                continue
            start = match.start()
            pieces = _CAPITAL_WITHIN.split(word)
            for piece in pieces if len(pieces) > 1 else ():
                found = self._word(piece, start, text)
                if found is not None:
                    yield found
                start += len(piece)

    def _of_pieces(self, first: regex.Match[str], text: str) -> _Word | None:
        """The longest part of the name that begins with a word and is written as several; None where there is none."""
        letters, pieces, found, end = fold(first.group()), [first.group()], None, first.end()
        hyphen = False
        while letters in self._heads and len(pieces) < _MOST_PIECES:
            gap = _BETWEEN_PIECES.match(text, end)
            following = gap and gap.end() > end and NAME_WORD.match(text, gap.end())
            if not gap or not following:
                break
            hyphen = hyphen or _HYPHEN.search(gap.group()) is not None
            pieces.append(following.group())
            letters, end = letters + fold(following.group()), following.end()
            if letters in self._parts and _are_pieces(pieces, hyphen=hyphen):
                found = _Word(first.start(), end, letters, sure=True, initial=False)
        return found

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


def _are_pieces(pieces: Sequence[str], *, hyphen: bool) -> bool:
    """True where words that together spell one are its pieces, and no separate words ("con suelo")."""
    small = [fold(piece) for piece in pieces]
    if len(small[-1]) < _LEAST_LAST_PIECE or any(len(one) < 2 and one not in _ALONE for one in small[:-1]):
        return False
    if pieces[-1][0].isupper() or hyphen or small[0] in _PREFIX_WORDS:
        return True
    return not any(one in _JOINING_WORDS or is_word(one) or len(one) < _LEAST_SMALL for one in small)


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

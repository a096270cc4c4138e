"""The names of people in text: their parts, and which of them can be one person's."""

from __future__ import annotations

from typing import NamedTuple

import regex

# A word of a name, with what joins it within ("O'Neill"); the possessive is no part of it.
NAME_WORD = regex.compile(
    r"(?<![\p{L}\p{M}]['’])\p{L}\p{M}*(?:['’]?\p{L}\p{M}*)*?(?=['’]s?(?![\p{L}\p{M}])|(?!['’]?[\p{L}\p{M}]))"
)
_TITLES = """
    dr drs doctor md do phd rn np pa prof professor mr mrs ms miss mx sir madam master jr sr ii iii iv esq
    dra dres doctora sra srta señor señora señorita don doña d dña
"""
_PARTICLES = "de del la las los el of the and y e i von van der den da do dos di du le st san santa"
TITLES = frozenset(_TITLES.split())
PARTICLES = frozenset(_PARTICLES.split())


class PersonName(NamedTuple):
    """The parts of a person's name, in lower case.

    Attributes:
        words: its words of two letters or more, without titles and particles.
        initials: its single letters.
    """

    words: frozenset[str]
    initials: frozenset[str]

    @property
    def letters(self) -> frozenset[str]:
        """Its initials, and what its words begin with."""
        return self.initials | {word[0] for word in self.words}

    def joined(self, other: PersonName) -> PersonName | None:
        """Both names together if they can be one person's, else None.

        They can if the shorter has no word that the longer lacks, and no initial that none of the longer's words and
        initials has: "Quill", "J. Quill" and "Jane Quill", but not "John Quill" and "Jane Quill".
        """
        short, long = sorted((self, other), key=lambda name: (len(name.words), len(name.initials)))
        if short.words <= long.words and short.initials <= long.letters:
            return PersonName(long.words, long.initials | short.initials)
        return None


class PersonClusterer:
    """The people of a note, numbered as they come.

    Names can be one person's only where they share a word, or where one of them has none and they share a letter: an
    initial, or what a word begins with. So a name is held against few people, however many there are.

    Example:
        >>> people = People()
        >>> [people.number(parse_name(name)) for name in ("Quill", "Jane Quill", "Doe", "John Quill", "J. Doe")]
        [1, 1, 2, 3, 2]
    """

    def __init__(self) -> None:
        self._people: list[PersonName] = []
        self._by_word: dict[str, set[int]] = {}
        self._by_letter: dict[str, set[int]] = {}
        self._wordless: dict[str, set[int]] = {}  # by letter, those who had no word when they came

    def number(self, name: PersonName) -> int:
        """The number of the first person that a name can be of, from 1; a fuller name replaces a shorter one."""
        for place in self._alike(name):
            joined = self._people[place].joined(name)
            if joined is not None:
                self._put(place, joined)
                return place + 1
        self._people.append(name)
        self._put(len(self._people) - 1, name)
        return len(self._people)

    def _alike(self, name: PersonName) -> list[int]:
        """The places of all people that a name can be of, and of some others, from the first to the last."""
        found = [self._by_word.get(word, set()) for word in name.words]
        by_letter = self._wordless if name.words else self._by_letter
        found += [by_letter.get(letter, set()) for letter in name.letters]
        return sorted(set[int]().union(*found))

    def _put(self, place: int, name: PersonName) -> None:
        self._people[place] = name
        tables = [(self._by_word, name.words), (self._by_letter, name.letters)]
        for table, keys in [*tables, *([] if name.words else [(self._wordless, name.letters)])]:
            for key in keys:
                table.setdefault(key, set()).add(place)


def parse_name(text: str) -> PersonName | None:
    """The parts of a name; None where there are none.

    Example:
        >>> sorted(parse_name("Dr. J. Quill's").words)
        ['quill']
    """
    found = [match.group().lower() for match in NAME_WORD.finditer(text)]
    words = frozenset(w for w in found if len(w) > 1 and w not in TITLES and w not in PARTICLES)
    initials = frozenset(w for w in found if len(w) == 1)
    return PersonName(words, initials) if words or initials else None

"""Words of persons' names, and the names in a note that can be one person's."""

from __future__ import annotations

from typing import NamedTuple

import regex

# A word of a name, with apostrophes inside ("O'Neill") and without the possessive.
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
    """Parts of a person's name, in lower case.

    Attributes:
        words: words of two letters or more, without titles and particles.
        initials: single letters.
    """

    words: frozenset[str]
    initials: frozenset[str]

    @property
    def letters(self) -> frozenset[str]:
        """Initials, and the first letters of the words."""
        return self.initials | {word[0] for word in self.words}

    def joined(self, other: PersonName) -> PersonName | None:
        """Return the union of two names that can be one person's, else None.

        The longer name must have all words of the shorter, and each initial of it as an initial or first letter:
        "Quill", "J. Quill" and "Jane Quill" can be one person's, "John Quill" and "Jane Quill" cannot.
        """
        short, long = sorted((self, other), key=lambda name: (len(name.words), len(name.initials)))
        if short.words <= long.words and short.initials <= long.letters:
            return PersonName(long.words, long.initials | short.initials)
        return None


class PersonClusterer:
    """People of a note, numbered in order of their first mention.

    Names can be one person's only if they share a word, or if one of them has initials only and they share a letter. So
    each name is compared with few people, even in a long note.

    Example:
        >>> people = PersonClusterer()
        >>> [people.number(parse_name(name)) for name in ("Quill", "Jane Quill", "Doe", "John Quill", "J. Doe")]
        [1, 1, 2, 3, 2]
    """

    def __init__(self) -> None:
        self._people: list[PersonName] = []
        self._by_word: dict[str, set[int]] = {}
        self._by_letter: dict[str, set[int]] = {}
        self._wordless: dict[str, set[int]] = {}  # by letter: people whose first mention had initials only

    def number(self, name: PersonName) -> int:
        """Return the number of the first person who can have a name, from 1; a fuller name replaces a shorter one."""
        for index in self._candidates(name):
            joined = self._people[index].joined(name)
            if joined is not None:
                self._put(index, joined)
                return index + 1
        self._people.append(name)
        self._put(len(self._people) - 1, name)
        return len(self._people)

    def _candidates(self, name: PersonName) -> list[int]:
        """Return the indices of all people who can have a name, and of some others, in order."""
        found = [self._by_word.get(word, set()) for word in name.words]
        by_letter = self._wordless if name.words else self._by_letter
        found += [by_letter.get(letter, set()) for letter in name.letters]
        return sorted(set[int]().union(*found))

    def _put(self, index: int, name: PersonName) -> None:
        self._people[index] = name
        tables = [(self._by_word, name.words), (self._by_letter, name.letters)]
        for table, keys in [*tables, *([] if name.words else [(self._wordless, name.letters)])]:
            for key in keys:
                table.setdefault(key, set()).add(index)


def parse_name(text: str) -> PersonName | None:
    """Return the parts of a name; None for a text without any.

    Example:
        >>> sorted(parse_name("Dr. J. Quill's").words)
        ['quill']
    """
    found = [match.group().lower() for match in NAME_WORD.finditer(text)]
    words = frozenset(w for w in found if len(w) > 1 and w not in TITLES and w not in PARTICLES)
    initials = frozenset(w for w in found if len(w) == 1)
    return PersonName(words, initials) if words or initials else None

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

    def joined(self, other: PersonName) -> PersonName | None:
        """Both names together if they can be one person's, else None.

        They can if the shorter has no word that the longer lacks, and no initial that none of the longer's words and
        initials has: "Quill", "J. Quill" and "Jane Quill", but not "John Quill" and "Jane Quill".
        """
        short, long = sorted((self, other), key=lambda name: (len(name.words), len(name.initials)))
        if short.words <= long.words and short.initials <= long.initials | {word[0] for word in long.words}:
            return PersonName(long.words, long.initials | short.initials)
        return None


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

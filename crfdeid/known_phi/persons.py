"""Words of persons' names, names in a note that can be one person's, and placeholders in the place of a name or value.

Placeholders and short values of a record occur as ordinary words in every note.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import regex

from crfdeid.known_phi.folding import fold_to_alnum
from features.languages import LANGUAGES
from features.lexicons import word_set

# A word of a name, with apostrophes inside ("O'Neill") and without the possessive.
NAME_WORD = regex.compile(
    r"(?<![\p{L}\p{M}]['’])\p{L}\p{M}*(?:['’]?\p{L}\p{M}*)*?(?=['’]s?(?![\p{L}\p{M}])|(?!['’]?[\p{L}\p{M}]))"
)
TITLES = word_set(
    "dr drs doctor md do phd rn np pa prof professor jr sr ii iii iv esq dra dres doctora señorita docteur doktor d"
).union(word for language in LANGUAGES.values() for word in language.words["honorific"] if len(word) > 1)  # "M. Quill"
PARTICLES = word_set("de del la las los el of the and y e i von van der den da do dos di du le st san santa")


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

    Two names can be one person's only if they share an initial or a first letter, so that each name is compared with
    few people.

    Example:
        >>> people = PersonClusterer()
        >>> [people.number(parse_name(name)) for name in ("Quill", "Jane Quill", "Doe", "John Quill", "J. Doe")]
        [1, 1, 2, 3, 2]
    """

    def __init__(self) -> None:
        self._people: list[PersonName] = []
        self._by_letter: defaultdict[str, set[int]] = defaultdict(set)

    def number(self, name: PersonName) -> int:
        """Return the number of the first person who can have a name, from 1; a fuller name replaces a shorter one."""
        candidates = sorted(set[int]().union(*(self._by_letter[letter] for letter in name.letters)))
        index = next((i for i in candidates if self._people[i].joined(name)), len(self._people))
        if index == len(self._people):
            self._people.append(name)
        person = self._people[index] = self._people[index].joined(name) or name
        for letter in person.letters:
            self._by_letter[letter].add(index)
        return index + 1


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


# In the form of `fold_to_alnum`: "N/A", "<NA>" and "n.a." are "na".
_PLACEHOLDER_WORDS = word_set(
    """
    na nan nat nil null none nd sd nc ns nr
    unknown unk undefined unidentified unnamed missing noname nodata noinformation notavailable notapplicable notgiven
    notknown notprovided notrecorded notstated anonymous anon anonymised anonymized deleted redacted removed withheld
    tbd tba placeholder dummy example test tester testing testpatient patienttest
    desconocido desconocida ignorado ignorada noconsta nodisponible noaplica noidentificado noidentificada nosesabe
    sindatos sinnombre sinapellido sinapellidos sinidentificar sininformacion ninguno ninguna nulo nula
    anonimo anonima anonimizado anonimizada borrado eliminado pendiente porconfirmar ficticio ejemplo prueba pruebas
    pacienteprueba pacientedeprueba pruebapaciente
"""
)
# Headings of columns and forms in the place of a name.
_HEADING_WORDS = word_set("name surname firstname lastname patient nombre apellido apellidos paciente")
# A word of a longer name can be a placeholder ("Unknown Quill"); shorter ones are names, too ("Nan", "Na").
_MIN_PLACEHOLDER_WORD = 4
_FILLED = regex.compile(r"x+|0+")

PLACEHOLDER = "placeholder"
"""Reason: the value means a missing one."""

SHORT = "short"
"""Reason: a single letter is searched only next to the rest of its name, and an identifier of fewer than
`MIN_SEARCHED_LENGTH` letters and digits only after a word such as "MRN"."""

MIN_SEARCHED_LENGTH = 4
"""Fewest letters and digits of an identifier that is searched everywhere."""


def is_placeholder(value: str) -> bool:
    """Return True for a value without letters and digits, and for words that mean a missing value.

    Example:
        >>> [is_placeholder(value) for value in ("N/A", " - ", "Desconocido", "Quill")]
        [True, True, True, False]
    """
    folded = fold_to_alnum(value)
    return not folded or folded in _PLACEHOLDER_WORDS


def is_placeholder_word(word: str) -> bool:
    """Return True for a folded word that is a placeholder within a name: "null" in "null Quill"."""
    return len(word) >= _MIN_PLACEHOLDER_WORD and (word in _PLACEHOLDER_WORDS or word in _HEADING_WORDS)


def unsearched_reason(kind: str, value: str) -> str | None:
    """Return the reason that a value of a record is not searched everywhere in its notes, or None.

    Args:
        kind: one of `crfdeid.known_phi.identifiers.IDENTIFIER_KINDS`.
        value: a value that is not empty.

    Returns:
        `PLACEHOLDER`, `SHORT` or None.
    """
    folded = fold_to_alnum(value)
    if is_placeholder(value) or _FILLED.fullmatch(folded):
        return SHORT if kind == "name" and folded == "x" else PLACEHOLDER
    if kind == "name":
        if folded in _HEADING_WORDS or _is_title(value):
            return PLACEHOLDER
        return SHORT if len(folded) == 1 and folded.isascii() and folded.isalpha() else None
    return SHORT if kind != "date" and len(folded) < MIN_SEARCHED_LENGTH else None


def _is_title(name: str) -> bool:
    words = [match.group().lower() for match in NAME_WORD.finditer(name)]
    return bool(words) and TITLES.difference(PARTICLES).issuperset(words)

"""Names of people, hospitals and places: each word that says who or where becomes another one of the same kind."""

from __future__ import annotations

from functools import lru_cache

import regex

from crfdeid.redaction.persons import NAME_WORD, PARTICLES, TITLES
from crfdeid.redaction.surrogates.invented import Invented, invented
from crfdeid.redaction.surrogates.keyed import Keyed
from crfdeid.redaction.surrogates.shapes import scrambled
from features.lexicons import LEXICONS

_KEPT_IN_PLACES = LEXICONS["street"] | LEXICONS["hospital"] | LEXICONS["place"] | PARTICLES
_DIGITS = regex.compile(r"\p{Nd}+[A-Za-z\p{Nd}]*|[A-Za-z]{1,2}\p{Nd}[A-Za-z\p{Nd}]*")


class Words:
    """Surrogates word by word, so that a part of a name gets the part of its surrogate.

    A word's surrogate depends on that word alone: "Quill" is replaced by the same name in "Jane Quill", "QUILL, JANE"
    and "Quill's". Its first letter depends on the word's first letter alone, so initials agree with names.

    Args:
        keyed: where the choices come from.
        locale: of the names.
    """

    def __init__(self, keyed: Keyed, locale: str) -> None:
        self._keyed = keyed
        self._locale = locale
        self._invented = invented(locale)

    def person(self, text: str) -> str:
        """Another name: titles, particles, initials' dots, order, case and the possessive stay.

        A first name that is known as a woman's becomes another woman's, a man's another man's, so that "Ms." and "Mr."
        agree with it; any other word becomes a family name.
        """
        found = NAME_WORD.sub(lambda match: self._part(match.group()), text)
        return found if found.casefold() != text.casefold() else scrambled(text, self._keyed)

    def place(self, text: str, *, country: bool = False) -> str:
        """Another place: words such as "Street" or "North" stay, numbers become numbers of the same form."""
        return self._named(text, self._invented.country if country else self._invented.place)

    def hospital(self, text: str) -> str:
        """Another hospital: words such as "Hospital" or "Center" stay."""
        return self._named(text, self._invented.last)

    def _named(self, text: str, options: tuple[str, ...]) -> str:
        def replaced(match: regex.Match[str]) -> str:
            word = match.group()
            if word.lower() in _KEPT_IN_PLACES and not word.isupper():
                return word
            return self._letters_of(word) if _is_short(word, 4) else self._chosen(word, options)

        numbers = _DIGITS.sub(lambda match: scrambled(match.group(), self._keyed), text)
        found = _OUTSIDE_NUMBERS.sub(replaced, numbers)
        if found.casefold() != text.casefold():
            return found
        every = NAME_WORD.sub(lambda match: self._chosen(match.group(), options), text)
        return every if every.casefold() != text.casefold() else scrambled(text, self._keyed)

    def _part(self, word: str) -> str:
        lower = word.lower()
        if lower in TITLES or (lower in PARTICLES and word == lower):
            return word
        if _is_short(word, 2):
            return self._letters_of(word)
        female, male = _first_names(self._locale)
        known = self._invented
        options = known.male if lower in male else known.female if lower in female else known.last
        return self._chosen(word, options)

    def _chosen(self, word: str, options: tuple[str, ...]) -> str:
        """Another word, with the case of this one."""
        lower = word.lower()
        letter = self._letter(lower[0])
        fitting = [name for name in _by_letter(options).get(letter, options) if name.lower() != lower] or options
        found = self._keyed.choice("word", lower, fitting)
        if word.isupper() and len(word) > 1:
            return found.upper()
        return found.lower() if word.islower() else found

    def _letters_of(self, word: str) -> str:
        """Initials and abbreviations, letter by letter."""
        return "".join(self._letter(c.lower()).upper() if c.isupper() else self._letter(c) for c in word)

    def _letter(self, letter: str) -> str:
        """The initial of the surrogates of names with this initial; another one."""
        others = [other for other in _letters(self._invented) if other != letter]
        return self._keyed.choice("initial", letter, others)


def _is_short(word: str, most: int) -> bool:
    """Whether a word is one letter, or at most so many capitals."""
    return len(word) == 1 or (word.isupper() and len(word) <= most)


# Words that no digit is part of.
_OUTSIDE_NUMBERS = regex.compile(rf"(?<![\p{{L}}\p{{Nd}}]){NAME_WORD.pattern}(?!\p{{Nd}})")


@lru_cache(maxsize=8)
def _first_names(locale: str) -> tuple[frozenset[str], frozenset[str]]:
    """First names of women and of men, in lower case."""
    known = invented(locale)
    female = frozenset(name.lower() for name in known.female)
    return female, frozenset(name.lower() for name in known.male)


@lru_cache(maxsize=64)
def _by_letter(options: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name in options:
        found[name[0].lower()] = (*found.get(name[0].lower(), ()), name)
    return found


@lru_cache(maxsize=8)
def _letters(known: Invented) -> tuple[str, ...]:
    """Letters that first names of both kinds and family names begin with, each with a choice of three at least."""
    by_letter = [_by_letter(options) for options in (known.female, known.male, known.last)]
    letters = sorted(set.intersection(*(set(found) for found in by_letter)))
    rich = tuple(letter for letter in letters if all(len(found[letter]) >= 3 for found in by_letter))
    return rich or tuple(letters)

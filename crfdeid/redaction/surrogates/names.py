"""Names of people: each word of a name becomes another of the same kind."""

from __future__ import annotations

from functools import lru_cache

import regex

from crfdeid.redaction.persons import NAME_WORD, PARTICLES, TITLES
from crfdeid.redaction.surrogates.invented import Invented, invented, sexes
from crfdeid.redaction.surrogates.keyed import Keyed
from crfdeid.redaction.surrogates.letters import cased, fold, folded

_DIGIT = regex.compile(r"\p{N}")
_FEW = 3


class Names:
    """Surrogates of names, word by word, so that a part of a name gets the part of its surrogate.

    A word's surrogate depends on that word alone, without its accents: "Quill" is replaced by the same name in "Jane
    Quill", "QUILL, JANE" and "Quill's". Its first letter depends on the word's first letter alone, so initials agree
    with names.

    Args:
        keyed: where the choices come from.
        locale: of the names.
    """

    def __init__(self, keyed: Keyed, locale: str) -> None:
        self._keyed = keyed
        self._invented = invented(locale)

    def person(self, text: str) -> str | None:
        """Another name: titles, particles, initials' dots, order, case and possessive stay; None with a digit in it.

        A first name of women becomes another one of women, one of men another one of men, so that "Ms." and "Mr." agree
        with it; any other word becomes a family name.
        """
        if _DIGIT.search(text):
            return None
        return str(NAME_WORD.sub(lambda match: self._part(match.group()), text))

    def word(self, word: str) -> str:
        """Another word of a name: a first name of the same sex, or a family name."""
        sex = self._sex(word)
        known = self._invented
        options = known.female if sex == "female" else known.male if sex == "male" else known.last
        return self._chosen(word, (*known.female, *known.male) if sex == "either" else options)

    def initials(self, word: str) -> str:
        """Initials, letter by letter: those of the surrogates of names with these initials."""
        return "".join(self._letter(fold(c)).upper() if c.isupper() else self._letter(fold(c)) for c in word)

    def _part(self, word: str) -> str:
        lower = word.lower()
        if lower in TITLES or (lower in PARTICLES and word == lower):
            return word
        return self.initials(word) if _are_initials(word) else self.word(word)

    def _sex(self, word: str) -> str | None:
        """The sex of a first name; None for a family name, which comes before the first names of other locales."""
        plain = fold(word)
        if plain in folded(self._invented.female):
            return "female"
        if plain in folded(self._invented.male):
            return "male"
        return None if plain in folded(self._invented.last) else sexes().get(plain)

    def _chosen(self, word: str, options: tuple[str, ...]) -> str:
        """Another word, with the case of this one."""
        plain = fold(word)
        fitting = _by_letter(options).get(self._letter(plain[:1]), options)
        others = [name for name in fitting if fold(name) != plain] or [name for name in options if fold(name) != plain]
        return cased(self._keyed.choice("word", plain, others), word)

    def _letter(self, letter: str) -> str:
        """The initial of the surrogates of names with this initial; another one."""
        others = [other for other in _letters(self._invented) if other != letter]
        return self._keyed.choice("initial", letter, others)


def _are_initials(word: str) -> bool:
    """Whether a word is a letter, two capitals, or three that nobody can say."""
    return len(word) == 1 or (
        word.isupper() and (len(word) == 2 or (len(word) == 3 and not set("aeiouy") & {*fold(word)}))
    )


@lru_cache(maxsize=64)
def _by_letter(options: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for name in options:
        found.setdefault(fold(name)[0], []).append(name)
    return {letter: tuple(names) for letter, names in found.items()}


@lru_cache(maxsize=8)
def _letters(known: Invented) -> tuple[str, ...]:
    """Letters that first names of both kinds and family names begin with, each with a choice of three at least."""
    by_letter = [_by_letter(options) for options in (known.female, known.male, known.last)]
    letters = sorted(set.intersection(*(set(found) for found in by_letter)))
    rich = tuple(letter for letter in letters if all(len(found[letter]) >= _FEW for found in by_letter))
    return rich or tuple(letters)

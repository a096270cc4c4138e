"""Names of people: each word of a name becomes another of the same kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import regex

from crfdeid.redaction.persons import NAME_WORD, PARTICLES, TITLES
from crfdeid.redaction.surrogates.invented import invented, sexes
from crfdeid.redaction.surrogates.keyed import Keyed
from crfdeid.redaction.surrogates.letters import cased, fold

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
        self._lists = _lists(locale)

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
        lists = self._lists
        by_sex = {"female": lists.female, "male": lists.male, "either": lists.either, None: lists.last}
        return self._chosen(word, by_sex[self._sex(word)])

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
        if plain in self._lists.female.folded:
            return "female"
        if plain in self._lists.male.folded:
            return "male"
        return None if plain in self._lists.last.folded else sexes().get(plain)

    def _chosen(self, word: str, options: _Names) -> str:
        """Another word, with the case of this one."""
        plain = fold(word)
        fitting = options.by_letter.get(self._letter(plain[:1]), options.all)
        others: Sequence[tuple[str, str]] = fitting
        if plain in options.folded:
            others = [pair for pair in fitting if pair[1] != plain] or [p for p in options.all if p[1] != plain]
        return cased(self._keyed.choice("word", plain, others)[0], word)

    def _letter(self, letter: str) -> str:
        """The initial of the surrogates of names with this initial; another one."""
        others = [other for other in self._lists.letters if other != letter]
        return self._keyed.choice("initial", letter, others)


def _are_initials(word: str) -> bool:
    """Whether a word is a letter, two capitals, or three that nobody can say."""
    return len(word) == 1 or (
        word.isupper() and (len(word) == 2 or (len(word) == 3 and not set("aeiouy") & {*fold(word)}))
    )


class _Names(NamedTuple):
    """Names to choose from, each with its folded form; all of them, and by the first letter of that form."""

    all: tuple[tuple[str, str], ...]
    by_letter: Mapping[str, tuple[tuple[str, str], ...]]
    folded: frozenset[str]

    @classmethod
    def of(cls, names: Iterable[str]) -> _Names:
        """The names in their order."""
        pairs = tuple((name, fold(name)) for name in names)
        by_letter: dict[str, list[tuple[str, str]]] = {}
        for pair in pairs:
            by_letter.setdefault(pair[1][0], []).append(pair)
        return cls(pairs, {k: tuple(found) for k, found in by_letter.items()}, frozenset(plain for _, plain in pairs))


class _Lists(NamedTuple):
    """The names of a locale; and the letters that first names of both kinds and family names begin with, each with a
    choice of three at least.
    """

    female: _Names
    male: _Names
    either: _Names
    last: _Names
    letters: tuple[str, ...]


@lru_cache(maxsize=8)
def _lists(locale: str) -> _Lists:
    known = invented(locale)
    female, male, last = map(_Names.of, (known.female, known.male, known.last))
    every = [names.by_letter for names in (female, male, last)]
    letters = sorted(set.intersection(*map(set, every)))
    rich = tuple(letter for letter in letters if all(len(found[letter]) >= _FEW for found in every))
    return _Lists(female, male, _Names.of((*known.female, *known.male)), last, rich or tuple(letters))

"""Names of people: each word of a name becomes another of the same kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

import regex

from crfdeid.redaction.persons import NAME_WORD, PARTICLES, TITLES
from crfdeid.redaction.surrogates.invented import invented, sexes
from crfdeid.redaction.surrogates.keyed import Keyed
from crfdeid.redaction.surrogates.letters import cased, fold

FAMILY = "family"
"""The role of a family name; the roles of a first name are "female", "male" and "either"."""

_DIGIT = regex.compile(r"\p{N}")
_MARIA = regex.compile(r"(?<!\p{L})M\.?ª\.?")
_FEW = 3
_LONG_WORD = 4  # A shorter one may be part of any account by chance.
# Particles that stay also where a Spanish name has them in capitals ("De La Cruz").
_CAPITAL_PARTICLES = frozenset(["de", "del", "la", "las", "los", "y", "san", "santa"])


class Names:
    """Surrogates of names, word by word, so that a part of a name gets the part of its surrogate.

    A word's surrogate depends on that word and its role alone, without its accents: "Quill" is replaced by the same
    name in "Jane Quill", "QUILL, JANE" and "Quill's". Its first letter depends on the word's first letter alone, so
    initials agree with names.

    Args:
        keyed: where the choices come from.
        locale: of the names.
        roles: what the note says of words, folded: "family", "female", "male" or "either". It comes before the lists.
    """

    def __init__(self, keyed: Keyed, locale: str, roles: Mapping[str, str] = MappingProxyType({})) -> None:
        self._keyed, self._roles = keyed, roles
        self._lists = _lists(locale)
        self._capital_particles = _CAPITAL_PARTICLES if locale.startswith("es") else frozenset[str]()

    def person(self, text: str) -> str | None:
        """Another name: titles, particles, initials' dots, order, case and possessive stay; None with a digit in it.

        A first name of women becomes another one of women, one of men another one of men, so that "Ms." and "Mr." agree
        with it; any other word becomes a family name.
        """
        if _DIGIT.search(text):
            return None
        text = spelled_out(text)
        words = [match.span() for match in NAME_WORD.finditer(text)]
        parts: list[str] = []
        end = 0
        for i, (start, stop) in enumerate(words):
            parts += text[end:start], self._part(text[start:stop], is_last=i + 1 == len(words))
            end = stop
        return "".join([*parts, text[end:]])

    def word(self, word: str) -> str:
        """Another word of a name: a first name of the same sex, or a family name."""
        return self._chosen(word, self._role(word))

    def full_name(self, words: Sequence[str]) -> list[str]:
        """Another name for the words of one: a first name where the first is one of those listed, then family names."""
        begins = len(words) > 1 and self._lists.role(fold(words[0])) not in (None, FAMILY) and fold(words[1]) != "y"
        found: list[str] = []
        for i, word in reversed(list(enumerate(words))):
            if word.lower() in PARTICLES:
                # "Ramón y Cajal", but "Ferrer e Ibáñez".
                before_i = fold(word) == "y" and found and fold(found[-1]).startswith(("i", "hi"))
                found.append(cased("e", word) if before_i else word)
            elif len(word) == 1:
                found.append(self.initials(word))
            else:
                found.append(self._chosen(word, self._role(word) if begins and i == 0 else FAMILY))
        return found[::-1]

    def account(self, text: str) -> str:
        """A family name for an account: of the person whose name it holds, else one that depends on the account."""
        local = fold(text.split("@", maxsplit=1)[0])
        found = [word for word in self._roles if len(word) >= _LONG_WORD and word in local]
        meant = min(found, key=lambda word: (self._roles[word] != FAMILY, -len(word), word), default=None)
        return self._chosen(text, FAMILY) if meant is None else self.word(meant)

    def initials(self, word: str) -> str:
        """Initials, letter by letter: those of the surrogates of names with these initials."""
        return "".join(self._letter(fold(c)).upper() if c.isupper() else self._letter(fold(c)) for c in word)

    def _part(self, word: str, *, is_last: bool) -> str:
        lower = word.lower()
        if lower in TITLES or (lower in PARTICLES and word == lower):
            return word
        if lower in self._capital_particles and not is_last and (word.isupper() or word.istitle()):
            return word
        return self.initials(word) if _are_initials(word) else self.word(word)

    def _role(self, word: str) -> str:
        """The role of a word: a first name of a sex, or a family name, before the first names of other locales."""
        plain = fold(word)
        return self._roles.get(plain) or self._lists.role(plain) or FAMILY

    def _chosen(self, word: str, role: str) -> str:
        """Another word, with the case of this one."""
        lists = self._lists
        options = {"female": lists.female, "male": lists.male, "either": lists.either, FAMILY: lists.last}[role]
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


def spelled_out(text: str) -> str:
    """A name with "María" where it has "Mª" or "M.ª"."""
    return str(_MARIA.sub("MARÍA" if text.replace("ª", "").isupper() else "María", text))


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
    given: Mapping[str, str]
    family: frozenset[str]

    def role(self, plain: str) -> str | None:
        """The role of a folded word by the lists; None where none has it."""
        return self.given.get(plain) or (FAMILY if plain in self.family else sexes().get(plain))


@lru_cache(maxsize=8)
def _lists(locale: str) -> _Lists:
    known = invented(locale)
    female, male, last = map(_Names.of, (known.female, known.male, known.last))
    every = [names.by_letter for names in (female, male, last)]
    letters = sorted(set.intersection(*map(set, every)))
    rich = tuple(letter for letter in letters if all(len(found[letter]) >= _FEW for found in every))
    either = _Names.of((*known.female, *known.male))
    return _Lists(female, male, either, last, rich or tuple(letters), known.given, known.family)

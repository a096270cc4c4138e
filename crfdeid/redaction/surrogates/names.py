"""Surrogates of persons' names: each word becomes another of the same role."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import NamedTuple

import regex

from crfdeid.known_phi.names import NAME_WORD
from crfdeid.redaction.surrogates.choices import Chooser, Options, options_of, words_in
from crfdeid.redaction.surrogates.locales import LocaleLists, given_name_sexes, locale_lists
from crfdeid.redaction.surrogates.name_words import name_words
from crfdeid.redaction.surrogates.words import VOWELS, casefold_accents, splice, with_case_of

FAMILY = "family"
"""Role of a family name; the roles of a first name are "female", "male" and "either"."""

_GIVEN = ("female", "male", "either")
_DIGIT = regex.compile(r"\p{N}")
_FEW = 3
_SHARE = 120  # an initial has at least this part of the family names
LONG_WORD = 4  # a shorter one may be part of an account by chance
_SIBILANTS = tuple("sßxz")
LONGEST_ABBREVIATION = 3
_WORD_BEFORE = regex.compile(r"(?r)(\p{L}+)[\s-]$")  # read from the end


class Names:
    """Surrogates of names, word by word, so that a part of a name gets the part of its surrogate.

    A word's surrogate depends on the word without accents and on its role: "Quill" gets one surrogate in "Jane Quill",
    "QUILL, JANE" and "Quill's". The first letter of the surrogate depends on the word's first letter alone, so that
    initials agree with names.

    Listed names of a role that begin with one letter have distinct surrogates, by a permutation. An unlisted name gets
    one by its hash, which another name of the note may have: then the next free one replaces it, as it does for a
    surrogate that is a word of a name with this word.

    Args:
        keyed: the source of choices.
        locale: language and country of the names.
        roles: roles of casefolded words in the note: "family", "female", "male" or "either". They precede the lists.
        names: names in the note, whose words have distinct surrogates.
    """

    def __init__(
        self,
        keyed: Chooser,
        locale: str,
        roles: Mapping[str, str] = MappingProxyType({}),
        names: Iterable[str] = (),
    ) -> None:
        self._keyed, self._roles = keyed, roles
        self._lists, self._words = _lists(locale), name_words(locale)
        self.conjunctions = self._words.conjunctions
        self._in_note = sorted(set(names))
        self._asked: set[_Word] | None = None  # words of a name, while they are collected
        self._used: dict[str, str] = {}  # casefolded surrogates in the present name -> words

    def person(self, text: str) -> str | None:
        """Return another name, or None for a text with a digit.

        Titles, particles, dots, order, case and possessive stay. A first name becomes one of the same sex, so that it
        agrees with "Ms." and "Mr."; any other word becomes a family name.
        """
        if _DIGIT.search(text):
            return None
        text = self._words.spelled_out(text)
        spans = [match.span() for match in NAME_WORD.finditer(self._words.without_titles(text))]
        last = len(spans) - 1
        self._used = {}
        pieces = [self._piece(text, *span, is_last=i == last) for i, span in enumerate(spans)]
        self._used = {}
        return splice(text, pieces)

    @cached_property
    def _chosen_in_note(self) -> Mapping[_Word, str]:
        """The surrogates of the words in the note's names; none is a word of a name with its word.

        They are distinct but for first names that are always next to other words, since these lists are short.
        """
        asked: dict[str, set[_Word]] = {}
        for name in self._in_note:
            self._asked = asked[name] = set()
            self.person(name)
        self._asked = None
        alone = {one for words in asked.values() if len(words) == 1 for one in words}
        near: dict[_Word, set[_Word]] = {}
        avoided: dict[_Word, set[str]] = {}
        for name, words in asked.items():
            for one in words:
                near.setdefault(one, set()).update(words)
                avoided.setdefault(one, set()).update(words_in(casefold_accents(name)))
        found: dict[_Word, str] = {}
        distinct: set[str] = set()
        # Listed words first: they have distinct surrogates in each note.
        for one in sorted(near, key=lambda one: (not self._is_listed(one), one)):
            is_distinct = one in alone or one.role not in _GIVEN
            taken = avoided[one] | {casefold_accents(found[other]) for other in near[one] if other in found}
            found[one] = self._first_free(one, taken, distinct if is_distinct else ())
            if is_distinct:
                distinct.add(casefold_accents(found[one]))
        return found

    def _is_listed(self, word: _Word) -> bool:
        if word.role in self._words.after:
            return word.plain in options_of(tuple(self._words.after[word.role])).numbers
        return self._lists.is_listed(word)

    def _first_free(self, word: _Word, *taken: Collection[str]) -> str:
        """Return the surrogate of a word, or the next one in its list that no collection has taken."""
        options, begin = self._place(word)
        size = len(options)
        places = (options[i % size] for i in range(begin, begin + size))
        free = (name for name in places if not any(casefold_accents(name) in some for some in taken))
        return next(free, options[begin])

    def _place(self, word: _Word) -> tuple[Options, int]:
        """Return the names of a word's role and the initial of its surrogate, and the index of the surrogate."""
        role, plain = word
        if role in self._words.after:
            options = options_of(tuple(self._words.after[role]))
            return options, self._keyed.place(f"after {role}", plain, options)
        letter = plain[:1]
        initial = self._letter(letter)
        of_role = self._lists.options[role]
        if initial not in of_role:
            return of_role[""], self._keyed.place(role, plain, of_role[""])
        options = of_role[initial]
        before = self._letters[1].get(initial, letter)  # of listed names with this initial
        listed = self._lists.listed[role].get(before, {})
        index = listed.get(plain) if letter == before else None
        size = max(len(options), len(listed))
        if index is None:
            index = self._keyed.unlisted(role, plain, len(listed), size)
        return options, self._keyed.permutation(f"{role} {initial}", size).of(index) % len(options)

    def has(self, word: str) -> bool:
        """Return True for a word of a name in the note."""
        return casefold_accents(word) in self._roles

    def knows(self, word: str) -> bool:
        """Return True for a word of a name in the note or in the lists."""
        return self.has(word) or self._lists.role(casefold_accents(word)) is not None

    def word(self, word: str) -> str:
        """Return another word of the same role: a first name of the same sex, or a family name."""
        return self._chosen(word, self._role(word))

    def full_name(self, words: Sequence[str]) -> list[str]:
        """Return other words for those of one name: family names, after a first name for a listed one."""
        begins = False  # with a first name
        if len(words) > 1 and casefold_accents(words[1]) not in self.conjunctions:
            begins = self._lists.role(casefold_accents(words[0])) not in (None, FAMILY)
        found: list[str] = []
        for i, word in reversed(list(enumerate(words))):
            if word.lower() in self._words.particles:
                # "Ramón y Cajal", but "Ferrer e Ibáñez".
                before_i = bool(found) and casefold_accents(found[-1]).startswith(("i", "hi"))
                other = self.conjunctions.get(casefold_accents(word)) if before_i else None
                found.append(with_case_of(other, word) if other else word)
            elif len(word) == 1:
                found.append(self.initials(word))
            else:
                found.append(self._chosen(word, self._role(word) if begins and i == 0 else FAMILY))
        return found[::-1]

    def account(self, text: str) -> str:
        """Return a family name for an account: of the person whose name it contains, else by the account."""
        local = casefold_accents(text.split("@", maxsplit=1)[0])
        found = [word for word in self._roles if len(word) >= LONG_WORD and word in local]
        meant = min(found, key=lambda word: (self._roles[word] != FAMILY, -len(word), word), default=None)
        return self._chosen(text, FAMILY) if meant is None else self.word(meant)

    def initials(self, word: str) -> str:
        """Return other initials, which agree with the surrogates of names."""
        letters = [self._letter(casefold_accents(c)) for c in word]
        return "".join(new.upper() if c.isupper() else new for c, new in zip(word, letters, strict=True))

    def _piece(self, text: str, start: int, end: int, *, is_last: bool) -> tuple[int, int, str]:
        """Return the replacement of a word of a name: its offsets, which may hold an apostrophe, and the new text."""
        word, following = text[start:end], text[end : end + 1]
        if self._stays(word, following, is_last=is_last):
            return start, end, word
        before = _WORD_BEFORE.search(text, 0, start)
        options = self._words.after.get(before[1].lower(), ()) if before else ()
        if options:  # "von der Heide", "Le Goff"
            base = self._nominative(word) if self._words.has_genitive else None
            found = self._chosen(base or word, before[1].lower() if before else "")
            return start, end, found if base is None else _genitive_of(found)
        if not self._words.has_genitive:
            return start, end, self._part(word, following)
        if following in tuple("'’") and word[-1:].lower() in _SIBILANTS:
            return start, end + 1, _genitive_of(self.word(word))
        nominative = self._nominative(word)
        if nominative is not None:
            return start, end, _genitive_of(self.word(nominative))
        return start, end, self._part(word, following)

    def _nominative(self, word: str) -> str | None:
        """Return "Müller" for "Müllers" if that is a name of the note or of the lists, and "Müllers" is none."""
        plain = casefold_accents(word)
        if not plain.endswith("s") or plain in self._roles:
            return None
        known = plain[:-1] in self._roles or (self._lists.role(plain[:-1]) and not self._lists.role(plain))
        return word[:-1] if known else None

    def _stays(self, word: str, following: str, *, is_last: bool) -> bool:
        """Return True for titles and particles; "Graf" is none in "Herr Graf", "Graf, Jane" and "Graf-Quill"."""
        lower = word.lower()
        if lower in self._words.titles:
            return lower not in self._words.names_too or not (is_last or following in tuple(",-"))
        if lower in self._words.particles and word == lower:
            return True
        return lower in self._words.capital_particles and not is_last and (word.isupper() or word.istitle())

    def _part(self, word: str, following: str) -> str:
        if not self._words.two_family_names and following == "." and len(word) <= LONGEST_ABBREVIATION:
            return self.initials(word[0])  # "Th. Quill"
        return self.initials(word) if _are_initials(word) else self.word(word)

    def _role(self, word: str) -> str:
        """Return the role of a word, in the note or else in the lists."""
        plain = casefold_accents(word)
        return self._roles.get(plain) or self._lists.role(plain) or FAMILY

    def _chosen(self, word: str, role: str) -> str:
        """Return another word of a role, with the case of this one."""
        one = _Word(role, casefold_accents(word))
        if self._asked is not None:
            self._asked.add(one)
            return word
        found = self._chosen_in_note.get(one)
        taken = {*self._keyed.avoided, one.plain, *(new for new, old in self._used.items() if old != one.plain)}
        if found is None or casefold_accents(found) in taken:
            found = self._first_free(one, taken)
        self._used[casefold_accents(found)] = one.plain
        return with_case_of(found, word)

    def _letter(self, letter: str) -> str:
        """Return the initial of the surrogates of names with this initial, which differs from it."""
        if letter in self._letters[0]:
            return self._letters[0][letter]
        others = [one for one in self._lists.letters if (one in VOWELS) is (letter in VOWELS)]
        return self._keyed.choice(
            "initial", letter, others if self._words.same_vowels and others else self._lists.letters
        )

    @cached_property
    def _letters(self) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """The initials of surrogates by those of the names, which are distinct, and the reverse."""
        rich = self._lists.letters
        groups: Sequence[Sequence[str]] = [rich]
        if self._words.same_vowels:
            groups = [[one for one in rich if (one in VOWELS) is vowel] for vowel in (True, False)]
        if min(map(len, groups)) < 2:
            groups = [rich]
        found = {old: new for group in groups for old, new in self._keyed.circle(f"initials {group}", group).items()}
        return found, {new: old for old, new in found.items()}


class _Word(NamedTuple):
    """A word of a name: its role, or the particle before it, and its casefolded form."""

    role: str
    plain: str


def _genitive_of(name: str) -> str:
    """Return "Müllers" for "Müller", and "Weiß'" for "Weiß"."""
    if name[-1:].lower() in _SIBILANTS:
        return f"{name}'"
    return name + ("S" if len(name) > 1 and name.isupper() else "s")


def _are_initials(word: str) -> bool:
    """Return True for one letter, two capitals, or three capitals without a vowel."""
    return len(word) == 1 or (
        word.isupper() and (len(word) == 2 or (len(word) == 3 and not set("aeiouy") & {*casefold_accents(word)}))
    )


class _Lists(NamedTuple):
    """Names of a locale.

    Attributes:
        options: the names to choose from, by role and initial; "" for all.
        letters: the initials that a surrogate can have.
        known: the listed names.
        listed: the listed names with their numbers, casefolded, by role and initial.
    """

    options: Mapping[str, Mapping[str, Options]]
    letters: tuple[str, ...]
    known: LocaleLists
    listed: Mapping[str, Mapping[str, Mapping[str, int]]]

    def role(self, plain: str) -> str | None:
        """Return the role of a casefolded word in the lists, or None."""
        return self.known.given.get(plain) or (FAMILY if plain in self.known.family else given_name_sexes().get(plain))

    def is_listed(self, word: _Word) -> bool:
        """Return True for a listed name of the role."""
        return word.plain in self.listed.get(word.role, {}).get(word.plain[:1], {})


@lru_cache(maxsize=16)
def _lists(locale: str) -> _Lists:
    known = locale_lists(locale)
    names = {"female": known.female, "male": known.male, FAMILY: known.last}
    names["either"] = (*known.female, *known.male)
    options = {role: _by_initial(some) for role, some in names.items()}
    every = [options[role] for role in ("female", "male", FAMILY)]
    letters = sorted(set.intersection(*map(set, every)) - {""})
    few = (_FEW, _FEW, max(_FEW, len(known.last) // _SHARE))
    rich = tuple(
        letter
        for letter in letters
        if all(len(found[letter]) >= least for found, least in zip(every, few, strict=True))
    )
    listed: dict[str, dict[str, list[str]]] = {role: {} for role in names}
    real = {*known.family, *map(casefold_accents, known.last[: known.real_last])}
    for role, plain in [*((sex, plain) for plain, sex in known.given.items()), *((FAMILY, plain) for plain in real)]:
        for kind in (role,) if role == FAMILY else (role, "either"):
            listed[kind].setdefault(plain[:1], []).append(plain)
    numbered = {
        role: {letter: {plain: i for i, plain in enumerate(sorted(some))} for letter, some in letters.items()}
        for role, letters in listed.items()
    }
    return _Lists(options, rich or tuple(letters), known, numbered)


def _by_initial(names: Sequence[str]) -> dict[str, Options]:
    """Return names by the first letter of their casefolded form, and all of them."""
    found: dict[str, list[str]] = {"": list(names)}
    for name in names:
        found.setdefault(casefold_accents.__wrapped__(name)[0], []).append(name)
    return {initial: Options((), some) for initial, some in found.items()}

"""The people of a note: names of many origins, nicknames, titles and kin, and the forms in which a note writes them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import regex

from crfdeid.corpora.synthetic.people import PERSON_FORMS, Person, SplitName, strip_accents, typo
from crfdeid.corpora.templates.tables import Origin, Tables, free_nicknames, origins_of

_PARTICLE = regex.compile(r"^(?:\p{Ll}[\p{L}'’]*[ '’-])+")
_NOT_A_LETTER = regex.compile(r"[^a-z]")
_CHILD_YEARS, _INFANT_YEARS = 16, 1
_SAME_FAMILY, _SAME_ORIGIN, _MIXED, _TYPOS = 0.5, 0.7, 0.12, 0.012
_SECOND_FAMILY_NAME, _OLD_NAMES = 0.2, 0.6
_USUAL_NICKNAME = 0.8
_SHORTENED = 0.5


@dataclass(frozen=True, slots=True)
class Character:
    """Someone in a note.

    Attributes:
        person: the names.
        called: the family name by which the note calls them, where they have two.
        origin: of the names.
        nick: a nickname.
        maiden: a former family name.
        title: "Ms.", "Dr.".
        kin: "daughter", of a relative.
        years: the age in years.
    """

    person: Person
    called: str
    origin: str
    nick: str
    maiden: str
    title: str
    kin: str
    years: int


def _initial(name: str) -> str:
    """The first letter of a name, after particles such as "de la"."""
    return (_PARTICLE.sub("", name) or name)[0].upper()


def _dotted(person: Person, *, middle: bool) -> str:
    return f"{person.first[0]}.{person.middle[0] + '.' if middle else ''}{_initial(person.last)}."


def _german_genitive(name: str) -> str:
    """The name as an owner: "Müllers", and after a sibilant "Fuchs'"."""
    return name + ("'" if name.endswith(("s", "ß", "x", "z")) else "s")


# Forms with several spellings, of which each use draws one.
_DRAWN: Mapping[str, Sequence[Callable[[Person], str]]] = {
    "initials": (
        lambda p: _dotted(p, middle=True),
        lambda p: f"{p.first[0]}{_initial(p.last)}",
        lambda p: f"{p.first[0]}{p.middle[0]}{_initial(p.last)}",
        lambda p: _dotted(p, middle=False),
    ),
    "formal": (PERSON_FORMS["formal"], PERSON_FORMS["formal"], PERSON_FORMS["formal"], lambda p: f"{p.last},{p.first}"),
    "initial": (PERSON_FORMS["initial"], PERSON_FORMS["initial"], lambda p: f"{p.first[0]} {p.last}"),
    "formal_middle": (PERSON_FORMS["formal_middle"], lambda p: f"{p.last}, {p.first} {p.middle[0]}"),
    "tight_caps": (PERSON_FORMS["tight_caps"], lambda p: f"{p.last},{p.first} {p.middle[0]}".upper()),
    "caps": (PERSON_FORMS["caps"], lambda p: f"{p.first} {p.last}".upper()),
}
_FORMS: Mapping[str, Callable[[Person], str]] = {
    **PERSON_FORMS,
    "letters": lambda p: f"{p.first[0]}{p.middle[0]}{_initial(p.last)}".upper(),
    "letters_lower": lambda p: f"{p.first[0]}{_initial(p.last)}".lower(),
    "short": lambda p: f"{p.first} {_initial(p.last)}.",
    "first_genitive": lambda p: _german_genitive(p.first),
    "last_genitive": lambda p: _german_genitive(p.last),
    "last_caps": lambda p: p.last.upper(),
    "first_caps": lambda p: p.first.upper(),
    "first_lower": lambda p: p.first.lower(),
    "last_lower": lambda p: p.last.lower(),
    "spelled": lambda p: "-".join(p.last.replace(" ", "").upper()),
}
_INITIALS = ("initials", "letters", "letters_lower")
_OF_CHARACTER: Mapping[str, Callable[[Character], str]] = {
    "nick": lambda c: c.nick,
    "maiden": lambda c: c.maiden,
    "maiden_caps": lambda c: c.maiden.upper(),
}
FORMS = frozenset((*_FORMS, *_OF_CHARACTER, "typo"))
"""Forms of a name that are PHI."""
WORD_FORMS = ("title", "kin", "sex", "he", "He", "his", "His", "him")
"""Forms of a person that are none."""


def write_name(character: Character, form: str, rng: Random, *, not_initials: Collection[str] = ()) -> str:
    """A name in one of `FORMS`; no initials that notes use as an abbreviation ("MD")."""
    if form in _OF_CHARACTER:
        return _OF_CHARACTER[form](character)
    person = character.person
    if form in ("last", "typo", "last_caps", "last_lower", "last_genitive"):
        person = person._replace(last=character.called)
    if form == "typo":
        return _slip(person.last, rng)
    texts = [write(person) for write in _DRAWN.get(form) or (_FORMS[form],)]
    if form in _INITIALS:
        texts = [text for text in texts if text.replace(".", "").upper() not in not_initials]
    text = rng.choice(texts) if texts else _dotted(person, middle=True)
    return _slip(text, rng) if form in ("first", "last", "full") and rng.random() < _TYPOS else text


def _slip(name: str, rng: Random) -> str:
    return typo(name, rng) if len(name) > 3 else name


def plain(text: str, letters: Mapping[str, str]) -> str:
    """The text in the letters of English: by a table of a language ("ü" as "ue"), then without accents."""
    return strip_accents("".join(letters.get(letter, letter) for letter in text))


def login_parts(person: Person, letters: Mapping[str, str]) -> dict[str, str]:
    """The parts of login names and addresses: first and last name in small letters of English, and initials."""
    names = (plain(name, letters).lower() for name in (person.first, person.last))
    first, last = (_NOT_A_LETTER.sub("", name) or "x" for name in names)
    return {"f": first, "l": last, "fi": first[0], "li": last[0]}


class People:
    """Draws the people of one note.

    Args:
        tables: of the language.
        split: whose names to draw.
        country: of the note.
        rng: the source of all choices.
        unseen_share: the share of names that no other split has, a fraction.
    """

    def __init__(self, tables: Tables, split: SplitName, country: str, rng: Random, *, unseen_share: float) -> None:
        self._tables, self._country, self._rng, self._unseen_share = tables, country, rng, unseen_share
        self._origins = origins_of(tables.language, split)
        self._names = list(self._origins)
        self._shares = [origin.share for origin in self._origins.values()]
        self._plans: Mapping[str, Any] = tables["names"]

    def draw(self, role: str, *, female: bool, years: int) -> Character:
        """Someone new: "patient", "doctor" or another role."""
        return self._character(self._origin(), role, female=female, years=years)

    def draw_relative(self, patient: Character, kin: str, *, is_child: bool) -> Character:
        """Someone close to the patient, half of them with the same family name.

        Args:
            patient: the patient.
            kin: the word for them ("daughter"), or "" for any.
            is_child: whether the patient is a child.
        """
        rng, words = self._rng, self._tables["kin"]
        female = kin in words["female"] if kin in (*words["female"], *words["male"]) else rng.random() < 0.5
        origin = patient.origin if rng.random() < _SAME_ORIGIN else self._origin()
        years = rng.randint(24, 58) if is_child else rng.randint(22, 84)
        found = self._character(origin, "relative", female=female, years=years)
        is_family = rng.random() < _SAME_FAMILY
        word = kin or self._kin(patient, female=female, is_child=is_child)
        if is_family and word not in self._tables["kin"]["other_family"]:
            found = _with_family_of(found, patient)
        return replace(found, kin=word)

    def draw_baby(self, patient: Character) -> Character:
        """A child with the patient's family name."""
        found = self._character(patient.origin, "baby", female=self._rng.random() < 0.5, years=0)
        return _with_family_of(found, patient)

    def family_name(self, *, founder: bool = False) -> str:
        """A family name without spaces, for a street or a hospital; of a founder, one that is old in the country."""
        while True:
            old = founder or self._rng.random() < _OLD_NAMES
            origin = self._rng.choice(self._plans["founders"]) if old else self._origin()
            name = self._draw(self._origins[origin], "family")
            if name.isalpha() and len(name) > 2:
                return name[0].upper() + name[1:]

    def given_name(self) -> str:
        """A given name, for a hospital."""
        return self._draw(self._origins[self._origin()], "female").split()[0]

    def _origin(self) -> str:
        return self._rng.choices(self._names, self._shares)[0]

    def _draw(self, origin: Origin, kind: str) -> str:
        return getattr(origin, kind).draw(self._rng, self._unseen_share).strip()

    def _character(self, origin: str, role: str, *, female: bool, years: int) -> Character:
        rng, names = self._rng, self._origins[origin]
        given = names
        if rng.random() < _MIXED:
            given = self._origins[rng.choice(self._plans["home"])]
        sex = "female" if female else "male"
        first, middle = self._draw(given, sex), self._draw(given, sex)
        last, called = self._family(origin, role)
        if rng.random() < self._plans["accents_lost"]:
            letters = self._tables["letters"]
            first, middle, last, called = (plain(name, letters) for name in (first, middle, last, called))
        person = Person(first, middle, last, female)
        title = self._title(female=female, doctor=role in ("doctor", "author"))
        maiden = self._draw(names, "family")
        return Character(person, called, origin, self._nick(first), maiden, title, "", years)

    def _family(self, origin: str, role: str) -> tuple[str, str]:
        """A family name, and the part of it that a note uses alone."""
        rng, plans = self._rng, self._plans
        name, second = (self._draw(self._origins[origin], "family") for _ in range(2))
        if origin in plans["two_family_names"] or (
            origin in plans["second_family_names"] and rng.random() < _SECOND_FAMILY_NAME
        ):
            both = f"{name} {second}"
            shares = plans["both_share"]
            return both, both if rng.random() < shares.get(role, shares["other"]) else name
        if rng.random() < plans["hyphen_share"] and name.isalpha() and second.isalpha():
            name = f"{name}-{second}"
        return name, name

    def _nick(self, first: str) -> str:
        rng, usual = self._rng, self._tables["nicknames"]
        if first in usual and rng.random() < _USUAL_NICKNAME:
            return str(rng.choice(usual[first]))
        if first.isalpha() and len(first) > 5 and rng.random() < _SHORTENED:
            return first[: rng.choice((3, 4))]
        return rng.choice(free_nicknames(self._tables.language))

    def _title(self, *, female: bool, doctor: bool) -> str:
        titles = self._tables.of_country("titles", self._country)
        if doctor and f"doctor_{'female' if female else 'male'}" in titles:
            return str(self._rng.choice(titles[f"doctor_{'female' if female else 'male'}"]))
        return str(self._rng.choice(titles["female" if female else "male"]))

    def _kin(self, patient: Character, *, female: bool, is_child: bool) -> str:
        kin = self._tables["kin"]
        words = kin[f"{'child' if is_child else 'adult'}_{'female' if female else 'male'}"]
        refused = kin["not_for_female" if patient.person.female else "not_for_male"]
        years = patient.years
        fitting = [
            word for word in words if kin["least_years"].get(word, 0) <= years <= kin["most_years"].get(word, 120)
        ]
        word = self._rng.choice([word for word in fitting if word not in refused])
        for country in self._tables.kin_of(self._country):
            word = self._tables["kin_spelling"].get(country, {}).get(word, word)
        return str(word)


def _with_family_of(character: Character, patient: Character) -> Character:
    person = character.person._replace(last=patient.person.last)
    return replace(character, person=person, called=patient.called)


def sex_word(tables: Tables, years: int, rng: Random, *, female: bool) -> str:
    """A noun for someone of an age: "gentleman", "girl"."""
    stage = "infant" if years < _INFANT_YEARS else "child" if years < _CHILD_YEARS else "adult"
    return str(rng.choice(tables["sexes"][stage][female]))

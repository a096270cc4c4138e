"""The facts of one note, and the values of the slots that state them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from random import Random
from typing import Any

import regex

from crfdeid.corpora.marked_text import FieldValue, MarkedText, render
from crfdeid.corpora.synthetic.people import fill_pattern
from crfdeid.corpora.templates.dates import Dates, without_article
from crfdeid.corpora.templates.people import (
    WORD_FORMS,
    Character,
    People,
    login_parts,
    plain,
    sex_word,
    write_name,
)
from crfdeid.corpora.templates.places import Address, Place, Places, write_place
from crfdeid.corpora.templates.slots import ORGANISATIONS, PERSONS, PLACES, Slot, parse_list, parse_slot
from crfdeid.corpora.templates.syntax import Template, TemplateSet
from crfdeid.corpora.templates.tables import Tables, tables_of
from crfdeid.documents import Span

NO_STOP = "!"
"""After the name of a list: without the full stop of its entry, since the template has a mark there."""
ORIGIN = "origin"
"""The annotation layer of the origins of names."""
UNSEEN_SHARE = 0.6
"""Share of the names and places of dev and test notes that no training note has."""

_ADULT_YEARS = 16
_OLD_YEARS, _OLD_SHARE = 90, 0.25
_STRAY_STREET = 0.3
_MOST_TRIES = 8
_PRIVATE_MAIL = 0.5


class Note:
    """Answers the slots of one note. A slot has the same value wherever the note names it, unless it is a new number.

    Args:
        templates: whose lists the slots may name.
        template: the note's.
        rng: the source of all choices.
        origins: mark the origins of names too, as another annotation layer.
    """

    def __init__(self, templates: TemplateSet, template: Template, rng: Random, *, origins: bool = False) -> None:
        self._tables, self._lists = tables_of(templates.language), templates.lists
        self._template, self._rng, self._origins = template, rng, origins
        country = self._country = template.country or self._tables.country
        self.people = People(self._tables, template.split, country, rng, unseen_share=UNSEEN_SHARE)
        self.places = Places(self._tables, template.split, country, self.people, rng, unseen_share=UNSEEN_SHARE)
        self.dates = Dates(self._tables, country, rng)
        self._years = _draw_age(template.ages, rng)
        self._follows = template.new_persons or not _names_one_patient(template)
        self._subject = ""
        self._characters: dict[str, Character] = {}
        self._institutions: dict[str, Place] = {}
        self._addresses: dict[str, Address] = {}
        self._kept: dict[str, str] = {}
        self._used: dict[str, set[int]] = {}
        self._births: dict[Character, dt.date] = {}
        self._answers = self._answer_table()

    def __call__(self, text: str) -> MarkedText | FieldValue:
        """The value of a slot or an entry of a list."""
        name = text.removesuffix(NO_STOP)
        slot = parse_slot(name)
        if slot is None:
            entry = self._entry(name)
            return entry if name == text else entry.without_full_stop()
        if slot.base in PERSONS:
            return self._person(slot)
        if slot.base in PLACES:
            return self._institution(slot)
        return self._answers[slot.base](slot)

    def _answer_table(self) -> Mapping[str, Callable[[Slot], MarkedText | FieldValue]]:
        dates, places = self.dates, self.places
        words = dict.fromkeys(("he", "He", "his", "His", "him"), self._pronoun)
        return {
            **words,
            **dict.fromkeys(("phone", "mobile", "fax"), self._phone),
            **dict.fromkeys(("pager", "extension"), lambda slot: self._number(slot.base, slot.base, "PHONE")),
            "day": lambda slot: _as_date(dates.write(dates.day(slot.offset), slot.form), slot.form),
            "range": lambda slot: dates.write_range(dates.day(slot.number), dates.day(slot.offset)),
            "dob": lambda slot: _as_date(dates.write(self._birth(self._patient), slot.form), slot.form),
            "holiday": lambda slot: dates.holiday(),
            "age": lambda slot: dates.age(self._patient.years, slot.form),
            "sex": self._sex,
            "time": lambda slot: FieldValue(dates.time()),
            "degree": lambda slot: FieldValue(self._choice("degrees")),
            "town": lambda slot: self._place(slot, "CITY", places.town),
            "country": lambda slot: self._place(slot, "COUNTRY", places.country),
            "county": lambda slot: self._place(slot, "LOCATION-OTHER", places.county),
            "region": self._region,
            "zip": lambda slot: self._place(slot, "ZIP", places.zip),
            "neighbourhood": lambda slot: self._place(slot, "CITY", places.neighbourhood),
            "street": self._street,
            "address": lambda slot: places.write_address(self._address("address"), slot.form),
            "id": self._id,
            "email": lambda slot: self._account("mail", self._anyone(), "EMAIL"),
            "url": lambda slot: self._account("url", self._anyone(), "URL"),
            "handle": lambda slot: self._account("handle", self._patient, "USERNAME"),
        }

    def _choice(self, table: str, *keys: str) -> str:
        return str(self._rng.choice(self._tables.of_country(table, self._country, *keys)))

    # Lists

    def _entry(self, text: str) -> MarkedText:
        """An entry of a list, as long as possible one that the note does not have yet."""
        slot = parse_list(text, self._lists)
        if slot is None:
            raise KeyError(text)
        entries, used = self._lists[slot.base], self._used.setdefault(slot.base, set())
        chosen = self._rng.randrange(len(entries))
        for _ in range(_MOST_TRIES):
            if chosen not in used:
                break
            chosen = self._rng.randrange(len(entries))
        used.add(chosen)
        piece = render(entries[chosen], self, self._rng)
        if slot.form == "caps":
            return piece.upper()
        return piece._replace(text=piece.text[:1].upper() + piece.text[1:]) if slot.form else piece

    # People

    @property
    def _patient(self) -> Character:
        """The patient; in lists of patients, the one whom the note named last."""
        return self._characters.get(self._subject) or self._character("patient")

    def _character(self, key: str) -> Character:
        """Someone of the note, who is drawn at the first mention."""
        if key not in self._characters or (key == "patient" and self._template.new_persons):
            self._characters[key] = self._new_character(key)
        return self._characters[key]

    def _new_character(self, key: str) -> Character:
        """Someone new, as far as possible with names that no one else of the note has."""
        is_kin = key.startswith(("relative", "baby"))
        others = [other for name, other in self._characters.items() if name != key]
        for _ in range(_MOST_TRIES):
            found = self._drawn_character(key)
            names = {found.person.first} if is_kin else {found.person.first, found.called}
            if not any(names & {other.person.first, other.called} for other in others):
                break
        return found

    def _drawn_character(self, key: str) -> Character:
        role, rng, template = key.rstrip("0123456789"), self._rng, self._template
        drawn = rng.random() < 0.5
        female = _named_sex(self._tables, template).get(key, drawn)
        if role == "patient":
            female = template.sex == "female" or (not template.sex and female)
            years = self._years if key == "patient" and not template.new_persons else _draw_age(template.ages, rng)
            return self.people.draw("patient", female=female, years=years)
        if role == "relative":
            kin = _named_kin(self._tables, template).get(key, "")
            is_child = self._years < _ADULT_YEARS
            return self.people.draw_relative(self._patient, kin, is_child=is_child)
        if role == "baby":
            return self.people.draw_baby(self._patient)
        return self.people.draw(role, female=female, years=rng.randint(24, 67))

    def _birth(self, character: Character) -> dt.date:
        """The date of birth of someone."""
        if character not in self._births:
            self._births[character] = self.dates.born(character.years)
        return self._births[character]

    def _anyone(self) -> Character:
        """Someone whom the note names already, or the patient."""
        return self._rng.choice([*self._characters.values()] or [self._patient])

    def _person(self, slot: Slot) -> MarkedText | FieldValue:
        character, form, label = self._character(slot.key), slot.form or "full", PERSONS[slot.base]
        if slot.base == "patient" and self._follows:
            self._subject = slot.key
        rng = self._rng
        if form in WORD_FORMS or form == "age":
            return self._about(character, form)
        if form in ("dob", "phone", "email", "user"):
            return self._of_person(slot, character)
        for other, share in self._tables["names"]["variants"].get(label, {}).get(form, ()):
            if rng.random() < share:
                form = other
        text = write_name(character, form, rng, not_initials=self._tables["names"]["not_initials"])
        layers = {ORIGIN: (Span(0, len(text), character.origin),)} if self._origins else {}
        return MarkedText(text, (Span(0, len(text), label),), layers)

    def _about(self, character: Character, form: str) -> MarkedText | FieldValue:
        """A word about someone that is no name."""
        female = character.person.female
        if form == "age":
            return self.dates.age(character.years, "")
        if form == "sex":
            return FieldValue(sex_word(self._tables, character.years, self._rng, female=female))
        words = {"title": character.title, "kin": character.kin or str(self._tables["kin"]["other"])}
        return FieldValue(words.get(form) or str(self._tables["words"][form][female]))

    def _of_person(self, slot: Slot, character: Character) -> FieldValue:
        """A date of birth, number or account of someone."""
        if slot.form == "dob":
            return FieldValue(self.dates.write(self._birth(character), ""), "DATE")
        if slot.form == "phone":
            return FieldValue(self._keep(f"{slot.key} phone", lambda: self._pattern("mobile")), "PHONE")
        kind, label = ("mail", "EMAIL") if slot.form == "email" else ("user", "USERNAME")
        return self._account(kind, character, label, kept=slot.key)

    def _pronoun(self, slot: Slot) -> FieldValue:
        return FieldValue(str(self._tables["words"][slot.base][self._patient.person.female]))

    def _sex(self, slot: Slot) -> FieldValue:
        patient = self._patient
        if slot.number or slot.offset:
            return FieldValue((slot.number, slot.offset)[patient.person.female])
        if slot.form == "letter":
            return FieldValue(str(self._tables["words"]["sex.letter"][patient.person.female]))
        return FieldValue(sex_word(self._tables, patient.years, self._rng, female=patient.person.female))

    # Places

    def _institution(self, slot: Slot) -> MarkedText | FieldValue:
        place = self._institutions.get(self._place_key(slot))
        if place is None:
            place = self.places.institution(slot.base, slot.form)
            self._institutions[self._place_key(slot)] = place
        if slot.form == "address":
            return self.places.write_address(self._address(slot.key, place.town), "")
        return without_article(write_place(place, slot.form, self._rng), PLACES[slot.base])

    def _place_key(self, slot: Slot) -> str:
        """The institution of a slot: each kind of organisation has numbers of its own."""
        if slot.form in ORGANISATIONS:
            return f"{slot.key}.{slot.form}"
        return next((key for key in self._institutions if key.partition(".")[0] == slot.key), slot.key)

    def _address(self, key: str, town: str | None = None) -> Address:
        if key not in self._addresses:
            self._addresses[key] = self.places.address(town)
        return self._addresses[key]

    def _place(self, slot: Slot, label: str, draw: Callable[[], str]) -> MarkedText:
        text = self._keep(slot.key, draw)
        cased = {"caps": text.upper(), "lower": text.lower()}.get(slot.form, text)
        return without_article(cased, label)

    def _region(self, slot: Slot) -> FieldValue:
        code, name = self.places.other_region()
        return FieldValue(code if slot.form == "code" else name.upper() if slot.form == "caps" else name, "STATE")

    def _street(self, slot: Slot) -> FieldValue:
        if slot.form == "name":
            return FieldValue(self.places.road(), "STREET")
        stray = self._rng.random() < _STRAY_STREET
        text = self.places.street() if stray else self._keep("street", self.places.street)
        return FieldValue(text.upper() if slot.form == "caps" else text, "STREET")

    # Numbers and accounts

    def _keep(self, key: str, draw: Callable[[], str]) -> str:
        if key not in self._kept:
            self._kept[key] = draw()
        return self._kept[key]

    def _pattern(self, table: str, *keys: str) -> str:
        number = fill_pattern(self._choice(table, *keys), self._rng)
        year = str(self.dates.today.year)
        return number.replace("%Y", year).replace("%y", year[2:])

    def _number(self, key: str, table: str, label: str) -> FieldValue:
        return FieldValue(self._pattern(table), label)

    def _phone(self, slot: Slot) -> FieldValue:
        table = "mobile" if slot.base == "mobile" else "phone"
        text = self._keep(slot.key, lambda: self._pattern(table)) if slot.number else self._pattern(table)
        return FieldValue(text, "FAX" if slot.base == "fax" else "PHONE")

    def _id(self, slot: Slot) -> FieldValue:
        types, kind = self._tables["id_types"], slot.form
        if kind in types["kept"]:
            owner = self._patient.person if self._follows else ""
            text = self._keep(f"id {kind} {owner}", lambda: self._pattern("ids", kind))
        else:
            text = self._pattern("ids", kind)
        return FieldValue(text, types.get(kind, types["other"]))

    def _account(self, kind: str, owner: Character, label: str, kept: str = "") -> FieldValue:
        """A login name, or an address of the net or of mail."""

        def draw() -> str:
            rng, accounts = self._rng, self._tables["accounts"]
            letters = self._tables["letters"]
            odd = "".join(filter(str.isalpha, plain(self.places.odd(), letters))).lower()
            hosts = "private_hosts" if rng.random() < _PRIVATE_MAIL else "work_hosts"
            host = self._choice(hosts).format(odd=odd)
            pattern = rng.choice(accounts[kind])
            return str(pattern.format(**login_parts(owner.person, letters), n=rng.randint(1, 99), odd=odd, host=host))

        return FieldValue(self._keep(f"{kept} {kind}", draw) if kept else draw(), label)


@cache
def _word_patterns(words: tuple[str, ...], slots: str) -> tuple[Any, Any]:
    """Some words before and after the name of someone."""
    choice = "|".join(map(regex.escape, words))
    before = rf"(?i)\b({choice}) ?[.,:]? [\"'(]?\{{({slots})\b(?!\.kin)"
    after = rf"(?i)\{{({slots})(?:\.(?!kin)\w+)?\}},? [(\[]*({choice})\b(?!/)"
    return regex.compile(before), regex.compile(after)


def _named(template: Template, words: Mapping[str, Sequence[str]], slots: str) -> Mapping[str, str]:
    """The word that a template has before or after a name, by slot."""
    known = {word.lower(): word for word in (*words["female"], *words["male"])}
    before, after = _word_patterns(tuple(known.values()), slots)
    found: dict[str, str] = {}
    for line in (line.text for section in template.sections for line in section.lines):
        for match in before.finditer(line):
            found.setdefault(match[2], known[match[1].lower()])
        for match in after.finditer(line):
            found.setdefault(match[1], known[match[2].lower()])
    return found


@cache
def _named_kin(tables: Tables, template: Template) -> Mapping[str, str]:
    """The kin of the relatives for whom a template has a word before or after a name: "son {relative2.first}"."""
    return _named(template, tables["kin"], r"relative\d")


@cache
def _named_sex(tables: Tables, template: Template) -> Mapping[str, bool]:
    """Whether people are women, whom a template gives a title or an occupation of one sex: "Sra. {other1.last}"."""
    words = tables["titles_of_sex"]
    found = _named(template, words, r"(?:doctor|staff|other)\d|author")
    return {slot: word in words["female"] for slot, word in found.items()}


@cache
def _names_one_patient(template: Template) -> bool:
    """Whether a template names ``{patient}``, not only several ones by number."""
    return any(regex.search(r"\{patient[.}]", line.text) for part in template.sections for line in part.lines)


def _draw_age(ages: tuple[int, int], rng: Random) -> int:
    """An age in a range; where the range allows it, a quarter are 90 or more."""
    low, high = ages
    return (
        rng.randint(max(low, _OLD_YEARS), high)
        if high > _OLD_YEARS and rng.random() < _OLD_SHARE
        else rng.randint(low, high)
    )


def _as_date(text: str, form: str) -> MarkedText:
    """A date as PHI; a day of the week by itself is none."""
    return MarkedText(text) if form == "weekday" else without_article(text, "DATE")

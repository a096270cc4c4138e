"""What each ``{field}`` stands for in a text of all types: a query, a message, a form, a sentence."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from functools import cache
from random import Random
from typing import Any

from faker import Faker

from crfdeid.corpora.synthetic.data import sections, text_pools
from crfdeid.corpora.synthetic.people import (
    DATE_FORMS,
    DATE_HABITS,
    MONTHS,
    PERSON_FORMS,
    Person,
    draw_person,
    fill_pattern,
)
from crfdeid.corpora.synthetic.templates import TemplatePart, Value, join, labelled, render
from crfdeid.corpora.synthetic.world import World, without_accents

NAME_FORMS: Mapping[str, Callable[[Person], str]] = {
    **PERSON_FORMS,
    "short": lambda person: f"{person.first} {person.last[0]}.",
    "lower": lambda person: f"{person.first} {person.last}".lower(),
}

_LAST_DAY = dt.date(2026, 6, 1)
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def _month(day: dt.date) -> str:
    return MONTHS[day.month - 1]


def _ordinal(day: dt.date) -> str:
    return DATE_FORMS["month_ordinal"](day).split()[1]


_DATE_FORMS: Mapping[str, Callable[[dt.date], str]] = {
    **DATE_FORMS,
    "ordinal_year": lambda d: f"{_month(d)} {_ordinal(d)}, {d.year}",
    "mon_ordinal_year": lambda d: f"{_month(d)[:3]} {_ordinal(d)}, {d.year}",
    "ordinal_bare": lambda d: f"{_month(d)} {_ordinal(d)} {d.year}",
    "dmy": lambda d: f"{d.day} {_month(d)} {d.year}",
    "ordinal_of_year": lambda d: f"{DATE_FORMS['ordinal_of'](d)} {d.year}",
    "dots": lambda d: f"{d.day:02d}.{d.month:02d}.{d.year}",
    "slash_dmy": lambda d: f"{d.day:02d}/{d.month:02d}/{d.year}",
    "dash4": lambda d: f"{d.month:02d}-{d.day:02d}-{d.year}",
    "apostrophe": lambda d: f"{_month(d)[:3]} {d.day}, '{d.year % 100:02d}",
    "weekday": lambda d: f"{_WEEKDAYS[d.weekday()]}, {_month(d)} {d.day}, {d.year}",
    "low": lambda d: f"{_month(d)[:3]} {d.day}".lower(),
    "low_year": lambda d: f"{_month(d)} {d.day} {d.year}".lower(),
}
_GROUPS: Mapping[str, tuple[str, ...]] = {
    **DATE_HABITS,
    "num": (
        "mmddyyyy", "mmddyyyy", "mdyyyy", "mdy2", "mmddyy", "iso", "iso", "dash4", "dots", "slash_dmy", "dash_month",
    ),
    "text": ("ordinal_year", "month_day_year", "ordinal_bare", "dmy", "mon_ordinal_year", "mon_day_year", "weekday"),
    "full": ("ordinal_of_year", "day_month", "apostrophe", "ordinal_year", "month_day_year"),
    "coarse": ("month_year", "month_year", "mon_year2", "month_ordinal", "month_day", "month_of_year"),
    "short": ("md", "mmdd", "month_ordinal", "mon_day", "low", "low_year"),
}  # fmt: skip
_WISHES = ("num", "num", "text", "text", "text", "full", "coarse", "short")


def draw_date(form: str, rng: Random) -> str:
    """A date of the last ten years as it might be written.

    Args:
        form: a form, a group of forms, "born" for a date of birth, or "" for any.
        rng: the source of the day and of its form.
    """
    days = rng.random() ** 2 * 30000 if form == "born" else rng.random() * 4000
    day = _LAST_DAY - dt.timedelta(int(days))
    wish = form if form not in ("", "born") else rng.choice(_WISHES)
    return _DATE_FORMS[rng.choice(_GROUPS.get(wish, (wish,)))](day)


_ACRONYM_SHARE, _FAMOUS_SHARE, _NOTES_SHARE, _BOX_SHARE = 0.12, 0.3, 0.2, 0.04
_ACRONYMS = ("AAA", "AAAA", "AA", "AAMC", "AAH")


class Places:
    """Draws places.

    Args:
        world: the names to draw from.
        faker: makes states, postal codes and flats.
        rng: the source of all other choices.
    """

    def __init__(self, world: World, faker: Faker, rng: Random) -> None:
        self._world, self._faker, self._rng = world, faker, rng

    def street(self) -> str:
        """A street with its number, seldom with a flat; now and then a post-office box."""
        rng, faker, world = self._rng, self._faker, self._world
        if rng.random() < _BOX_SHARE:
            return f"{rng.choice(('P.O. Box', 'PO Box', 'P.O. box'))} {rng.randint(2, 9999)}"
        road, number = rng.choice(world.streets), rng.randint(1, 9999 if rng.random() < 0.4 else 240)
        # An American street begins with its number; those of the Continent end with it.
        foreign = not _is_english(road) and rng.random() < 0.8
        street = f"{road} {number}" if foreign else f"{number} {road}"
        flat = faker.secondary_address()
        return rng.choice((*(street,) * 8, f"{street}, {flat}", f"{street} {flat}", f"{flat}, {street}"))

    def town(self) -> str:
        """A town, most often a real one."""
        world = self._world
        return self._rng.choice(world.cast.towns if self._rng.random() < _NOTES_SHARE else world.towns)

    def country(self) -> str:
        """A country."""
        return self._rng.choice(sections("words.txt")["countries"])

    def address(self) -> TemplatePart:
        """A street and what follows it, each part with its type."""
        rng, faker = self._rng, self._faker
        street, town = labelled(self.street(), "STREET"), labelled(self.town(), "CITY")
        code, zipcode = labelled(faker.state_abbr(), "STATE"), labelled(faker.postcode(), "ZIP")
        gap = rng.choice((", ", ", ", ", ", " ", "\n"))
        tail = rng.choice(
            (
                (town, TemplatePart(", "), code, TemplatePart(" "), zipcode),
                (town, TemplatePart(", "), code, TemplatePart(" "), zipcode),
                (town, TemplatePart(" "), code, TemplatePart(" "), zipcode),
                (town, TemplatePart(", "), labelled(faker.state(), "STATE"), TemplatePart(" "), zipcode),
                (labelled(faker.postcode(), "ZIP"), TemplatePart(" "), town),
                (town, TemplatePart(", "), labelled(self.country(), "COUNTRY")),
                (town,),
            )
        )
        return join((street, TemplatePart(gap), *tail))

    def hospital(self, form: str) -> str:
        """A hospital: a large one that exists, an abbreviation, one of the notes', or one made up.

        Args:
            form: "local" ("the Tawn clinic") or "saint" ("St. Mary's"); "" for any.
        """
        rng, world = self._rng, self._world
        if form:
            pattern = rng.choice(sections("words.txt")[f"{form} hospital forms"])
            return pattern.format(town=self.town(), saint=rng.choice(sections("words.txt")["saints"]))
        if rng.random() < _FAMOUS_SHARE:
            return rng.choice(world.hospitals)
        if rng.random() < _ACRONYM_SHARE:
            return fill_pattern(rng.choice(_ACRONYMS), rng)
        if rng.random() < _NOTES_SHARE:
            hospital = rng.choice(rng.choice((world.cast.hospitals, world.cast.facilities)))
            return rng.choice((hospital.long, hospital.long, hospital.short))
        words = {
            "town": self.town(),
            "state": self._faker.state(),
            "surname": rng.choice(world.last),
            "saint": rng.choice(sections("words.txt")["saints"]),
            "odd": rng.choice(sections("words.txt")["hospital words"]),
        }
        return rng.choice(sections("words.txt")["hospital forms"]).format(**words)


def _is_english(road: str) -> bool:
    """Whether a street's last word is one of English streets."""
    return road.rsplit(maxsplit=1)[-1].lower() in _english_roads()


@cache
def _english_roads() -> frozenset[str]:
    return frozenset(word.lower() for word in sections("words.txt")["english roads"])


# People, by the type of their names; those outside a clinic are filed as patients. Each is one person through a text,
# but for "other", which is somebody new each time.
_ROLES: Mapping[str, str] = {
    **dict.fromkeys(("patient", "kin", "person", "person2", "person3", "other"), "PATIENT"),
    **dict.fromkeys(("doctor", "doctor2"), "DOCTOR"),
}
_FORMS: Mapping[str, tuple[str, ...]] = {
    "PATIENT": ("full", "full", "full", "full", "short", "short", "first", "last", "middle", "initial"),
    "DOCTOR": ("last", "last", "last", "full", "full", "initial", "short"),
}
# Field -> its section of patterns in words.txt or names.txt, and its type.
_PATTERNS: Mapping[str, tuple[str, str]] = {
    "mrn": ("record numbers", "MEDICALRECORD"),
    "healthplan": ("plan numbers", "HEALTHPLAN"),
    "account": ("account numbers", "ACCOUNT"),
    "license": ("licence numbers", "LICENSE"),
    "plate": ("plates", "VEHICLE"),
    "vin": ("vehicle numbers", "VEHICLE"),
    "device": ("device numbers", "DEVICE"),
    "bioid": ("biometric numbers", "BIOID"),
    "idnum": ("other numbers", "IDNUM"),
    "phone": ("telephone numbers", "PHONE"),
    "fax": ("telephone numbers", "FAX"),
    "postcode": ("postcodes", "ZIP"),
}
_CAST_SHARE = 0.35


class TextFields:
    """Answers the fields of one text; its people and numbers are its own, and a role is one person throughout.

    Args:
        world: the names to draw from.
        faker: makes cards, bank accounts and addresses of the net.
        rng: the source of all other choices.
    """

    def __init__(self, world: World, faker: Faker, rng: Random) -> None:
        self._world, self._faker, self._rng = world, faker, rng
        self._people: dict[str, Person] = {}
        self._sex = rng.random() < 0.5
        self._years = rng.choice((rng.randint(1, 17), rng.randint(18, 89), rng.randint(18, 89), rng.randint(40, 89)))
        self._answers = self._answer_table()

    def __call__(self, name: str) -> Value | TemplatePart:
        """The value of a field; ``{=pool}`` is any template of that pool.

        Raises:
            KeyError: a template names a field or pool that does not exist.
        """
        if name.startswith("="):
            return render(self._rng.choice(text_pools()[name[1:]]), self, self._rng)
        key, _, form = name.partition(".")
        if key in _ROLES:
            return self._name(key, form)
        if key in _PATTERNS:
            section, label = _PATTERNS[key]
            return Value(fill_pattern(self._rng.choice(sections("words.txt")[section]), self._rng), label)
        return self._answers[key](form)

    def _answer_table(self) -> dict[str, Callable[[str], Value | TemplatePart]]:
        faker, rng, world = self._faker, self._rng, self._world
        places = Places(world, faker, rng)
        women, men = ("woman", "female", "lady"), ("man", "male", "gentleman")
        return {
            "age": lambda form: Value(str(self._years)),
            "age90": lambda form: Value(str(rng.randint(90, 106)), "AGE"),
            "sex": lambda form: Value(rng.choice(women[:2] if self._sex else men[:2])),
            "mf": lambda form: Value("F" if self._sex else "M"),
            "he": lambda form: Value("she" if self._sex else "he"),
            "his": lambda form: Value("her" if self._sex else "his"),
            "him": lambda form: Value("her" if self._sex else "him"),
            "mr": lambda form: Value(rng.choice(("Mrs.", "Ms.", "Ms", "Miss") if self._sex else ("Mr.", "Mr"))),
            "date": lambda form: Value(draw_date(form, rng), "DATE"),
            "year": lambda form: Value(str(rng.randint(1995, 2026))),
            "email": lambda form: Value(self._email(), "EMAIL"),
            "url": lambda form: Value(self._url(form), "URL"),
            "user": lambda form: Value(faker.user_name(), "USERNAME"),
            "ip": lambda form: Value(faker.ipv6() if rng.random() < 0.15 else faker.ipv4(), "IPADDR"),
            "mac": lambda form: Value(faker.mac_address(), "DEVICE"),
            "ssn": lambda form: Value(self._ssn(), "SSN"),
            "card": lambda form: Value(self._card(), "ACCOUNT"),
            "iban": lambda form: Value(faker.iban(), "ACCOUNT"),
            "zip": lambda form: Value(faker.postcode() + (f"-{rng.randint(1000, 9999)}" * (rng.random() < 0.1)), "ZIP"),
            "street": lambda form: Value(places.street(), "STREET"),
            "city": lambda form: Value(places.town(), "CITY"),
            "state": lambda form: Value(faker.state(), "STATE"),
            "code": lambda form: Value(faker.state_abbr(), "STATE"),
            "country": lambda form: Value(places.country(), "COUNTRY"),
            "address": lambda form: places.address(),
            "org": lambda form: Value(rng.choice(world.organisations), "ORGANIZATION"),
            "hospital": lambda form: Value(places.hospital(form), "HOSPITAL"),
        }

    def _name(self, role: str, form: str) -> Value:
        label, rng = _ROLES[role], self._rng
        if role not in self._people or role == "other":
            self._people[role] = self._person(female=self._sex if role == "patient" else rng.random() < 0.5)
        person = self._people[role]
        return Value(NAME_FORMS[form or rng.choice(_FORMS[label])](person), label)

    def _person(self, *, female: bool) -> Person:
        rng, world = self._rng, self._world
        if rng.random() < _CAST_SHARE:
            return draw_person(world.cast, rng, female=female)
        return Person(rng.choice(world.first), rng.choice(world.first), rng.choice(world.last), female)

    def _email(self) -> str:
        rng, faker = self._rng, self._faker
        person = next(iter(self._people.values()), None)
        if person is None or rng.random() < 0.4:
            return str(rng.choice((faker.email, faker.free_email, faker.company_email))())
        first, last = (without_accents(part).lower().replace(" ", "") for part in (person.first, person.last))
        local = rng.choice((f"{first}.{last}", f"{first[0]}{last}", f"{first}_{last}", f"{last}{rng.randint(1, 99)}"))
        return f"{local}@{faker.free_email_domain() if rng.random() < 0.5 else faker.domain_name()}"

    def _url(self, form: str) -> str:
        rng, faker = self._rng, self._faker
        bare = str(faker.domain_name())
        if form == "domain":
            return bare
        return str(rng.choice((faker.url(), f"www.{bare}", bare, f"https://{bare}/{faker.uri_path()}", faker.uri())))

    def _ssn(self) -> str:
        number = str(self._faker.ssn())
        return self._rng.choice((number, number, number, number.replace("-", " "), number.replace("-", "")))

    def _card(self) -> str:
        number = str(self._faker.credit_card_number())
        if len(number) != 16 or self._rng.random() < 0.5:
            return number
        mark = self._rng.choice((" ", "-"))
        return mark.join(number[i : i + 4] for i in range(0, 16, 4))


def make_faker(seed: int) -> Faker:
    """The source of cards, bank accounts and net addresses, repeatable from its seed."""
    faker: Any = Faker(["en_US"])
    faker.seed_instance(seed)
    return faker

"""What each ``{field}`` stands for in a text of all types: a query, a message, a form, a sentence."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from faker import Faker

from crfdeid.corpora.synthetic.data import sections, text_pools
from crfdeid.corpora.synthetic.people import draw_person
from crfdeid.corpora.synthetic.pieces import Piece, join
from crfdeid.corpora.synthetic.surrogates import DATE_FORMS, DATE_HABITS, PERSON_FORMS, Person, fill_pattern
from crfdeid.corpora.synthetic.templates import Value, labelled, render
from crfdeid.corpora.synthetic.world import World, without_accents

# Who stays the same person through a text, by the type of their names. People outside a clinic are filed as patients.
_ROLES: Mapping[str, str] = {
    **dict.fromkeys(("patient", "kin", "person", "person2", "person3"), "PATIENT"),
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
_ACRONYM_SHARE, _FAMOUS_SHARE, _CAST_SHARE = 0.12, 0.3, 0.35


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

    def __call__(self, name: str) -> Value | Piece:
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

    def _answer_table(self) -> dict[str, Callable[[str], Value | Piece]]:
        faker, rng, world = self._faker, self._rng, self._world
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
            "date": self._date,
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
            "street": lambda form: Value(self._street(), "STREET"),
            "city": lambda form: Value(self._town(), "CITY"),
            "state": lambda form: Value(faker.state(), "STATE"),
            "code": lambda form: Value(faker.state_abbr(), "STATE"),
            "country": lambda form: Value(self._country(), "COUNTRY"),
            "address": lambda form: self._address(),
            "org": lambda form: Value(rng.choice(world.organisations), "ORGANIZATION"),
            "hospital": lambda form: Value(self._hospital(form), "HOSPITAL"),
        }

    def _name(self, role: str, form: str) -> Value:
        label, rng = _ROLES[role], self._rng
        if role not in self._people:
            self._people[role] = self._person(female=self._sex if role == "patient" else rng.random() < 0.5)
        person = self._people[role]
        return Value(_NAMES[form or rng.choice(_FORMS[label])](person), label)

    def _person(self, *, female: bool) -> Person:
        rng, world = self._rng, self._world
        if rng.random() < _CAST_SHARE:
            return draw_person(world.cast, rng, female=female)
        return Person(rng.choice(world.first), rng.choice(world.first), rng.choice(world.last), female)

    def _date(self, form: str) -> Value:
        rng = self._rng
        day = dt.date(2026, 6, 1) - dt.timedelta(
            int(rng.random() ** 2 * 30000 if form == "born" else rng.random() * 4000)
        )
        wish = rng.choice(("num", "num", "text", "text", "text", "full", "coarse", "short"))
        if form and form != "born":
            wish = form
        forms = _DATES.get(wish) or DATE_HABITS.get(wish) or (wish,)
        return Value((_DATE_FORMS.get(name := rng.choice(forms)) or DATE_FORMS[name])(day), "DATE")

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

    def _street(self) -> str:
        rng, faker, world = self._rng, self._faker, self._world
        if rng.random() < 0.04:
            return f"{rng.choice(('P.O. Box', 'PO Box', 'P.O. box'))} {rng.randint(2, 9999)}"
        road, number = rng.choice(world.streets), rng.randint(1, 9999 if rng.random() < 0.4 else 240)
        # An American street begins with its number; those of the Continent end with it.
        foreign = not _is_english(road) and rng.random() < 0.8
        street = f"{road} {number}" if foreign else f"{number} {road}"
        flat = faker.secondary_address()
        return rng.choice((*(street,) * 8, f"{street}, {flat}", f"{street} {flat}", f"{flat}, {street}"))

    def _town(self) -> str:
        world = self._world
        return self._rng.choice(world.cast.towns if self._rng.random() < 0.15 else world.towns)

    def _country(self) -> str:
        return self._rng.choice(sections("words.txt")["countries"])

    def _address(self) -> Piece:
        rng, faker = self._rng, self._faker
        street, town = labelled(self._street(), "STREET"), labelled(self._town(), "CITY")
        code, zipcode = labelled(faker.state_abbr(), "STATE"), labelled(faker.postcode(), "ZIP")
        gap = rng.choice((", ", ", ", ", ", " ", "\n"))
        tail = rng.choice(
            (
                (town, Piece(", "), code, Piece(" "), zipcode),
                (town, Piece(", "), code, Piece(" "), zipcode),
                (town, Piece(" "), code, Piece(" "), zipcode),
                (town, Piece(", "), labelled(faker.state(), "STATE"), Piece(" "), zipcode),
                (labelled(faker.postcode(), "ZIP"), Piece(" "), town),
                (town, Piece(", "), labelled(self._country(), "COUNTRY")),
                (town,),
            )
        )
        return join((street, Piece(gap), *tail))

    def _hospital(self, form: str) -> str:
        rng, world = self._rng, self._world
        if form:
            pattern = rng.choice(sections("words.txt")[f"{form} hospital forms"])
            return pattern.format(town=self._town(), saint=rng.choice(sections("words.txt")["saints"]))
        if rng.random() < _FAMOUS_SHARE:
            return rng.choice(world.hospitals)
        if rng.random() < _ACRONYM_SHARE:
            return fill_pattern(rng.choice(("AAA", "AAAA", "AA", "AAMC", "AAH")), rng).replace("X", "U")
        if rng.random() < 0.2:
            hospital = rng.choice(rng.choice((world.cast.hospitals, world.cast.facilities)))
            return rng.choice((hospital.long, hospital.long, hospital.short))
        words = {
            "town": self._town(),
            "state": self._faker.state(),
            "surname": rng.choice(world.last),
            "saint": rng.choice(sections("words.txt")["saints"]),
            "odd": rng.choice(sections("words.txt")["hospital words"]),
        }
        return rng.choice(sections("words.txt")["hospital forms"]).format(**words)


def _is_english(road: str) -> bool:
    """Whether a street's last word is one of English streets."""
    return road.rsplit(maxsplit=1)[-1].lower() in _ENGLISH_ROADS


_ENGLISH_ROADS = frozenset(word.lower() for word in sections("words.txt")["english roads"])


def _short(person: Person) -> str:
    return f"{person.first} {person.last[0]}."


_NAMES: Mapping[str, Callable[[Person], str]] = {
    **PERSON_FORMS,
    "short": _short,
    "lower": lambda person: f"{person.first} {person.last}".lower(),
    "two": lambda person: f"{person.first} {person.middle} {person.last}",
}
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_DATE_FORMS: Mapping[str, Callable[[dt.date], str]] = {
    "ordinal_year": lambda d: f"{DATE_FORMS['month_ordinal'](d)}, {d.year}",
    "mon_ordinal_year": lambda d: f"{d:%b} {DATE_FORMS['month_ordinal'](d).split()[1]}, {d.year}",
    "ordinal_bare": lambda d: f"{DATE_FORMS['month_ordinal'](d)} {d.year}",
    "dmy": lambda d: f"{d.day} {d:%B} {d.year}",
    "ordinal_of_year": lambda d: f"{DATE_FORMS['ordinal_of'](d)} {d.year}",
    "dots": lambda d: f"{d:%d.%m.%Y}",
    "slash_dmy": lambda d: f"{d:%d/%m/%Y}",
    "dash4": lambda d: f"{d:%m-%d-%Y}",
    "apostrophe": lambda d: f"{d:%b} {d.day}, '{d:%y}",
    "weekday": lambda d: f"{_WEEKDAYS[d.weekday()]}, {d:%B} {d.day}, {d.year}",
    "low": lambda d: f"{d:%b} {d.day}".lower(),
    "low_year": lambda d: f"{d:%B} {d.day} {d.year}".lower(),
}
_DATES: Mapping[str, tuple[str, ...]] = {
    "num": (
        "mmddyyyy",
        "mmddyyyy",
        "mdyyyy",
        "mdy2",
        "mmddyy",
        "iso",
        "iso",
        "dash4",
        "dots",
        "slash_dmy",
        "dash_month",
    ),
    "text": ("ordinal_year", "month_day_year", "ordinal_bare", "dmy", "mon_ordinal_year", "mon_day_year", "weekday"),
    "full": ("ordinal_of_year", "day_month", "apostrophe", "ordinal_year", "month_day_year"),
    "coarse": ("month_year", "month_year", "mon_year2", "month_ordinal", "month_day", "month_of_year"),
    "short": ("md", "mmdd", "month_ordinal", "mon_day", "low", "low_year"),
}


def make_faker(seed: int) -> Faker:
    """The source of cards, bank accounts and net addresses, repeatable from its seed."""
    faker: Any = Faker(["en_US"])
    faker.seed_instance(seed)
    return faker

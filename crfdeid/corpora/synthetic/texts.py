"""Short texts with all types: queries, messages, forms and sentences."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from random import Random
from typing import NamedTuple

from faker import Faker

from crfdeid.corpora.marked_text import FieldValue, MarkedText, join_parts, labelled, render
from crfdeid.corpora.synthetic.data import PoolRange, sections, seeded_faker, tables, text_pools
from crfdeid.corpora.synthetic.people import (
    PERSON_FORMS,
    Person,
    World,
    draw_person,
    fill_pattern,
    strip_accents,
    write_date,
)
from crfdeid.documents import Document

_FORMS = tables("forms.toml")
_LAST_DAY = dt.date(2026, 6, 1)


_DATE_GROUPS: Mapping[str, Sequence[str]] = {**_FORMS["date_groups"]["notes"], **_FORMS["date_groups"]["texts"]}
_DATE_WISHES = ("num", "num", "text", "text", "text", "full", "coarse", "short")


def _draw_date(form: str, rng: Random) -> str:
    """A date of the last ten years as it might be written.

    Args:
        form: a form, a group of forms, "born" for a date of birth, or "" for any.
        rng: the source of the day and of its form.
    """
    days = rng.random() ** 2 * 30000 if form == "born" else rng.random() * 4000
    day = _LAST_DAY - dt.timedelta(int(days))
    wish = form if form not in ("", "born") else rng.choice(_DATE_WISHES)
    return write_date(rng.choice(_DATE_GROUPS.get(wish, (wish,))), day)


_ACRONYM_SHARE, _FAMOUS_SHARE, _NOTES_SHARE, _BOX_SHARE = 0.12, 0.3, 0.2, 0.04
_ACRONYMS = ("AAA", "AAAA", "AA", "AAMC", "AAH")


class PlaceFields:
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

    def address(self) -> MarkedText:
        """A street, town, state and code, each part with its type."""
        rng, faker = self._rng, self._faker
        street, town = labelled(self.street(), "STREET"), labelled(self.town(), "CITY")
        code, zipcode = labelled(faker.state_abbr(), "STATE"), labelled(faker.postcode(), "ZIP")
        gap = rng.choice((", ", ", ", ", ", " ", "\n"))
        tail = rng.choice(
            (
                (town, MarkedText(", "), code, MarkedText(" "), zipcode),
                (town, MarkedText(", "), code, MarkedText(" "), zipcode),
                (town, MarkedText(" "), code, MarkedText(" "), zipcode),
                (town, MarkedText(", "), labelled(faker.state(), "STATE"), MarkedText(" "), zipcode),
                (labelled(faker.postcode(), "ZIP"), MarkedText(" "), town),
                (town, MarkedText(", "), labelled(self.country(), "COUNTRY")),
                (town,),
            )
        )
        return join_parts((street, MarkedText(gap), *tail))

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


@cache
def _is_english(road: str) -> bool:
    """True for a street whose last word is one of English street names."""
    return road.rsplit(maxsplit=1)[-1].lower() in map(str.lower, sections("words.txt")["english roads"])


# People, by the type of their names; those outside a clinic are filed as patients. Each is one person through a text,
# but for "other", which is somebody new each time.
_ROLES: Mapping[str, str] = {
    **dict.fromkeys(("patient", "kin", "person", "person2", "person3", "other"), "PATIENT"),
    **dict.fromkeys(("doctor", "doctor2"), "DOCTOR"),
}
_NAME_FORMS: Mapping[str, Sequence[str]] = _FORMS["names"]["texts"]
_PATTERNS: Mapping[str, tuple[str, str]] = _FORMS["numbers"]["texts"]
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

    def __call__(self, name: str) -> FieldValue | MarkedText:
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
            return FieldValue(fill_pattern(self._rng.choice(sections("words.txt")[section]), self._rng), label)
        return self._answers[key](form)

    def _answer_table(self) -> dict[str, Callable[[str], FieldValue | MarkedText]]:
        faker, rng, world = self._faker, self._rng, self._world
        places = PlaceFields(world, faker, rng)
        women, men = ("woman", "female", "lady"), ("man", "male", "gentleman")
        return {
            "age": lambda form: FieldValue(str(self._years)),
            "age90": lambda form: FieldValue(str(rng.randint(90, 106)), "AGE"),
            "sex": lambda form: FieldValue(rng.choice(women[:2] if self._sex else men[:2])),
            "mf": lambda form: FieldValue("F" if self._sex else "M"),
            "he": lambda form: FieldValue("she" if self._sex else "he"),
            "his": lambda form: FieldValue("her" if self._sex else "his"),
            "him": lambda form: FieldValue("her" if self._sex else "him"),
            "mr": lambda form: FieldValue(rng.choice(("Mrs.", "Ms.", "Ms", "Miss") if self._sex else ("Mr.", "Mr"))),
            "date": lambda form: FieldValue(_draw_date(form, rng), "DATE"),
            "year": lambda form: FieldValue(str(rng.randint(1995, 2026))),
            "email": lambda form: FieldValue(self._email(), "EMAIL"),
            "url": lambda form: FieldValue(self._url(form), "URL"),
            "user": lambda form: FieldValue(faker.user_name(), "USERNAME"),
            "ip": lambda form: FieldValue(faker.ipv6() if rng.random() < 0.15 else faker.ipv4(), "IPADDR"),
            "mac": lambda form: FieldValue(faker.mac_address(), "DEVICE"),
            "ssn": lambda form: FieldValue(self._ssn(), "SSN"),
            "card": lambda form: FieldValue(self._card(), "ACCOUNT"),
            "iban": lambda form: FieldValue(faker.iban(), "ACCOUNT"),
            "zip": lambda form: FieldValue(
                faker.postcode() + (f"-{rng.randint(1000, 9999)}" * (rng.random() < 0.1)), "ZIP"
            ),
            "street": lambda form: FieldValue(places.street(), "STREET"),
            "city": lambda form: FieldValue(places.town(), "CITY"),
            "state": lambda form: FieldValue(faker.state(), "STATE"),
            "code": lambda form: FieldValue(faker.state_abbr(), "STATE"),
            "country": lambda form: FieldValue(places.country(), "COUNTRY"),
            "address": lambda form: places.address(),
            "org": lambda form: FieldValue(rng.choice(world.organisations), "ORGANIZATION"),
            "hospital": lambda form: FieldValue(places.hospital(form), "HOSPITAL"),
        }

    def _name(self, role: str, form: str) -> FieldValue:
        label, rng = _ROLES[role], self._rng
        if role not in self._people or role == "other":
            self._people[role] = self._person(female=self._sex if role == "patient" else rng.random() < 0.5)
        return FieldValue(PERSON_FORMS[form or rng.choice(_NAME_FORMS[label])](self._people[role]), label)

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
        first, last = (strip_accents(part).lower().replace(" ", "") for part in (person.first, person.last))
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
        return self._rng.choice((" ", "-")).join(number[i : i + 4] for i in range(0, 16, 4))


class TextStyle(NamedTuple):
    """A kind of text.

    Attributes:
        weight: among all styles.
        parts: its parts, in order: pools of templates, from each of which some entries are drawn.
        joints: separators of the parts; one is drawn for each text.
        lower: the share of texts in small letters.
    """

    weight: int
    parts: Sequence[PoolRange]
    joints: Sequence[str] = (" ",)
    lower: float = 0.05


STYLES = {name: TextStyle(**style) for name, style in tables("kinds.toml")["texts"].items()}
_CAPITALS_SHARE = 0.015
_COLUMN_GAPS = ("\t", " | ", ",", ", ", ";", "   ")


def draw_texts(count: int, world: World, rng: Random, *, name: str) -> Iterator[Document]:
    """Texts of all styles, as documents ``<name>-<style>-0001`` and on.

    Args:
        count: number of texts.
        world: the names to draw from.
        rng: the source of all choices.
        name: the prefix of the documents' ids.
    """
    styles = list(STYLES)
    shares = [style.weight for style in STYLES.values()]
    faker = seeded_faker("en_US", rng.randrange(1 << 32))
    seen: set[str] = set()
    while len(seen) < count:
        (style,) = rng.choices(styles, shares)
        piece = _draw(style, TextFields(world, faker, rng), rng)
        if piece.text not in seen:
            seen.add(piece.text)
            yield Document(f"{name}-{style}-{len(seen):04d}", piece.text, piece.spans)


def _draw(name: str, fields: TextFields, rng: Random) -> MarkedText:
    style = STYLES[name]
    piece = _table(fields, rng) if name == "table" else _text(style, fields, rng)
    other = piece
    if rng.random() < style.lower:
        other = piece.lower()
    elif rng.random() < _CAPITALS_SHARE:
        other = piece.upper()
    # "ß" and "İ" become two letters in the other case, and offsets would move.
    return other if len(other.text) == len(piece.text) else piece


def _text(style: TextStyle, fields: TextFields, rng: Random) -> MarkedText:
    chosen = [
        template
        for pool, least, most in style.parts
        for template in rng.sample(text_pools()[pool], rng.randint(least, most))
    ]
    return join_parts((_tidy(render(template, fields, rng)) for template in chosen), rng.choice(style.joints))


def _table(fields: TextFields, rng: Random) -> MarkedText:
    """A header and one to three rows, of some of the columns."""
    columns = [entry.split(" | ") for entry in rng.sample(text_pools()["columns"], rng.randint(3, 6))]
    gap = rng.choice(_COLUMN_GAPS)
    rows = range(rng.choice((0, 0, 0, 1)), rng.randint(2, 4))
    return join_parts((join_parts((render(column[row], fields, rng) for column in columns), gap) for row in rows), "\n")


def _tidy(piece: MarkedText) -> MarkedText:
    """Without spaces at its end, where a choice was empty."""
    return MarkedText(piece.text.rstrip(), piece.spans)

"""The places of a note: towns, streets, hospitals, employers and other institutions, from patterns of its country."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import NamedTuple

import regex

from crfdeid.corpora.marked_text import FieldValue, MarkedText, render
from crfdeid.corpora.synthetic.people import SplitName, fill_pattern
from crfdeid.corpora.templates.people import People
from crfdeid.corpora.templates.tables import Tables

_CAPITAL = regex.compile(r"\b\p{Lu}|\b\d+")
_LONG, _SHORT, _ABBREVIATED, _AT_HOME = 0.8, 0.7, 0.75, 0.6
_SHORTEST = 3  # letters of an abbreviation
_ORGANISATION = "organisation"
_ABBREVIATED_KINDS = ("hospital", "clinic", "facility")


class Place(NamedTuple):
    """An institution: its names, its town, and whether notes abbreviate it unasked."""

    long: str
    short: str
    abbr: str
    town: str
    is_abbreviated: bool


class Address(NamedTuple):
    """The parts of an address: street, town, region with its abbreviation, postal code."""

    street: str
    town: str
    region: tuple[str, str]
    zip: str

    def field(self, name: str) -> FieldValue:
        """A part, for a pattern of addresses."""
        code, region = self.region
        values = {
            "street": FieldValue(self.street, "STREET"),
            "town": FieldValue(self.town, "CITY"),
            "code": FieldValue(code, "STATE"),
            "region": FieldValue(region, "STATE"),
            "zip": FieldValue(self.zip, "ZIP"),
        }
        return values[name]


class Places:
    """Draws the places of one note.

    Args:
        tables: of the language.
        split: whose places to draw.
        country: of the note.
        people: for family names in the names of places.
        rng: the source of all choices.
        unseen_share: the share of words that no other split has, a fraction.
    """

    def __init__(
        self, tables: Tables, split: SplitName, country: str, people: People, rng: Random, *, unseen_share: float
    ) -> None:
        self._tables, self._split, self._country = tables, split, country
        self._people, self._rng, self._unseen_share = people, rng, unseen_share
        regions: dict[str, str] = tables.of_country("regions", country)
        self.region: tuple[str, str] = rng.choice(list(regions.items()))
        self._regions = list(regions.items())

    def town(self) -> str:
        """A town."""
        return self._from("town", {})

    def county(self) -> str:
        """A county."""
        return self._from("county", {})

    def road(self) -> str:
        """A street without a number."""
        return self._from("road", {})

    def street(self) -> str:
        """A street with a number."""
        return self._from("street", {})

    def neighbourhood(self) -> str:
        """A part of a town."""
        return self._word(self._named("neighbourhoods"))

    def country(self) -> str:
        """A country; where notes of the language have a field for it, mostly the note's own."""
        home = self._tables["home"].get(self._country)
        return str(home) if home and self._rng.random() < _AT_HOME else self._word("countries")

    def odd(self) -> str:
        """A word of the names of hospitals and houses."""
        return self._word("odd")

    def zip(self) -> str:
        """A postal code."""
        return fill_pattern(self._rng.choice(self._tables.of_country("zip", self._country)), self._rng)

    def other_region(self) -> tuple[str, str]:
        """A region with its abbreviation, mostly the note's own."""
        return self.region if self._rng.random() < 0.8 else self._rng.choice(self._regions)

    def address(self, town: str | None = None) -> Address:
        """A new address."""
        return Address(self._postal_street(), town or self.town(), self.region, self.zip())

    def _postal_street(self) -> str:
        """Where mail arrives: a street, or a box."""
        try:
            return self._from("postal", {})
        except KeyError:
            return self.street()

    def write_address(self, address: Address, form: str) -> MarkedText:
        """An address in one line, or with the form "lines" in several."""
        patterns = self._tables.of_country("addresses", self._country, form or "line")
        return render(self._rng.choice(patterns), address.field, self._rng)

    def institution(self, kind: str, form: str) -> Place:
        """A new institution.

        Args:
            kind: "hospital", "school" ...
            form: of an organisation, its kind: "ems".
        """
        drawn: dict[str, str] = {}
        name = f"{kind}.{form}" if kind == _ORGANISATION and form else kind
        try:
            text = self._from(name, drawn)
        except KeyError:
            text = self._from(kind, drawn)
        long, _, short = text.partition(" | ")
        capitals = "".join(_CAPITAL.findall(long))
        abbr = capitals if len(capitals) > 1 else long[:3].upper()
        is_abbreviated = kind in _ABBREVIATED_KINDS and len(abbr) >= _SHORTEST
        return Place(long, short or long, abbr, drawn.get("town") or self.town(), is_abbreviated)

    def _named(self, name: str) -> str:
        """The name of a word list of the country, or of the next one like it."""
        for one in self._tables.kin_of(self._country):
            if self._tables.has_words(f"{name} {one}"):
                return f"{name} {one}"
        return name

    def _word(self, name: str) -> str:
        return self._tables.word_pool(name, self._split).draw(self._rng, self._unseen_share)

    def _from(self, name: str, drawn: dict[str, str]) -> str:
        """A text from a random pattern; what is drawn for it is kept by its field."""
        own: dict[str, Callable[[], str]] = {
            "town": self.town,
            "town2": self.town,
            "surname": self._people.family_name,
            "surname2": self._people.family_name,
            "founder": lambda: self._people.family_name(founder=True),
            "first": self._people.given_name,
            "county": self.county,
            "road": self.road,
            "street": self.street,
            "region": lambda: self.region[1],
        }

        def field(key: str) -> FieldValue:
            if key not in drawn:
                drawn[key] = own[key]() if key in own else self._word(key)
            return FieldValue(drawn[key])

        pattern = self._rng.choice(self._tables.patterns(name, self._country))
        return render(pattern, field, self._rng).text.strip()


def write_place(place: Place, form: str, rng: Random) -> str:
    """A name of an institution in a form: full, short, abbr, caps, lower; without one, mostly the long name."""
    if form == "short":
        return place.short
    if form == "abbr":
        return place.abbr if rng.random() < _ABBREVIATED and len(place.abbr) >= _SHORTEST else place.short
    if form == "caps":
        return place.long.upper()
    if form == "lower":
        return place.short.lower()
    if rng.random() < _LONG or form == "full":
        return place.long
    return place.short if rng.random() < _SHORT or not place.is_abbreviated else place.abbr

"""Tables of places in the language packs: provinces, states, countries and towns."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from crfdeid.redaction.surrogates.choices import Chooser
from crfdeid.redaction.surrogates.words import (
    DEFAULT_LOCALE,
    casefold_accents,
    own_pack,
    packs_of,
    surrogate_table,
    with_case_of,
)
from features.languages import LANGUAGES

_Names = tuple[str, ...]
_NUMBER = re.compile(r"\((?P<dialled>[0-9]+)\)|(?P<number>\S+)")


class Province(NamedTuple):
    """A province, or a region of another country.

    Attributes:
        number: the two digits that begin its postcodes, after the letters of a foreign country: "CH80".
        dialled: the area code of most of its telephone numbers; "" for none.
        names: its names, the usual one first.
        capitals: the names of its capital, the usual one first.
        towns: the names of each other town.
        further_numbers: further digits that begin its postcodes.
    """

    number: str
    dialled: str
    names: _Names
    capitals: _Names
    towns: tuple[_Names, ...]
    further_numbers: _Names

    @property
    def shares_name(self) -> bool:
        """True if the province and its capital share a name."""
        return self.names[:1] != () and self.names[0] in self.capitals

    @property
    def country(self) -> str:
        """The letters of a foreign country: "CH"."""
        return self.number.rstrip("0123456789")

    @property
    def own_towns(self) -> _Names:
        """The usual names of its towns, the capital first; none in a foreign country."""
        return () if self.country else tuple(names[0] for names in (self.capitals, *self.towns))


class Abroad(NamedTuple):
    """Another country: its `Country.key`, and the names of its states and of its towns, the capital first."""

    country: str
    states: tuple[_Names, ...]
    towns: tuple[_Names, ...]


class State(NamedTuple):
    """A state with an abbreviation: name, letters, and the first and last three digits that begin its postcodes."""

    name: str
    letters: str
    first: int
    last: int


class Country(NamedTuple):
    """A country: its name in the pack of `DEFAULT_LOCALE` or its own, its region, and its names, the usual first."""

    key: str
    region: str
    names: _Names


def _names(text: str) -> _Names:
    return tuple(" ".join(name.split()) for name in text.split(",") if name.strip())


def _named(text: str) -> tuple[_Names, ...]:
    """Return the names of each place of a list, the usual one first."""
    return tuple(tuple(name.split("/")) for name in _names(text))


@lru_cache(maxsize=16)
def provinces(code: str) -> tuple[Province, ...]:
    """Return the provinces of a pack: "10 12 (945)|names|names of the capital|towns" a line.

    Names of the capital are after commas, or else after slashes; other names of a town are after slashes.
    """
    found = []
    for line in surrogate_table(LANGUAGES[code], "places").get("provinces", "").strip().splitlines():
        numbers, names, capital, towns = line.split("|")
        parts = [*_NUMBER.finditer(numbers)]
        number, *further = [part["number"] for part in parts if part["number"]]
        dialled = next((part["dialled"] for part in parts if part["dialled"]), "")
        capitals = _names(capital) if "," in capital else tuple(capital.split("/"))
        found.append(Province(number, dialled, _names(names), capitals, _named(towns), tuple(further)))
    return tuple(found)


def provinces_of(locale: str) -> tuple[Province, ...]:
    """Return the provinces whose numbers begin a locale's postcodes; none for a locale without."""
    pack = own_pack(locale)
    locales = pack.entries("surrogates", "places", "locales") if pack else ()
    return provinces(pack.code) if pack and (not locales or locale in locales) else ()


@lru_cache(maxsize=16)
def communities(code: str) -> tuple[tuple[_Names, ...], ...]:
    """Return the names of a pack's states, or of communities of several provinces, by preposition."""
    listed = surrogate_table(LANGUAGES[code], "places").get("states", "")
    return tuple(map(_named, [listed] if isinstance(listed, str) else listed))


@lru_cache(maxsize=16)
def abroad(code: str) -> tuple[Abroad, ...]:
    """Return the other countries whose places a pack lists: "country|states|towns" a line."""
    lines = surrogate_table(LANGUAGES[code], "places").get("abroad", "").strip().splitlines()
    keys = {country.names[0]: country.key for region in _regions(code) for country in region}
    rows = (line.split("|") for line in lines)
    return tuple(Abroad(keys[country], _named(states), _named(towns)) for country, states, towns in rows)


@lru_cache(maxsize=16)
def lettered_states(code: str) -> tuple[State, ...]:
    """Return the states of a pack that have letters."""
    rows = (name.rsplit(" ", 3) for name in LANGUAGES[code].entries("surrogates", "places", "lettered_states"))
    return tuple(State(name, letters, int(first), int(last)) for name, letters, first, last in rows)


@lru_cache(maxsize=16)
def _regions(code: str) -> tuple[tuple[Country, ...], ...]:
    """Return the countries of a pack by region: "Region: country/other name, country".

    Regions with one name have the same countries in the same order in all packs. A region without a name has that of
    its first country.
    """
    default = (
        {} if code == DEFAULT_LOCALE[:2] else {region[0].region: region for region in _regions(DEFAULT_LOCALE[:2])}
    )
    found = []
    for line in surrogate_table(LANGUAGES[code], "places").get("countries", ()):
        label, _, countries = line.rpartition(": ")
        rows = _named(countries)
        region = " ".join(label.split()) or rows[0][0]
        keys = [country.key for country in default.get(region, ())] or [names[0] for names in rows]
        found.append(tuple(Country(key, region, names) for key, names in zip(keys, rows, strict=True)))
    return tuple(found)


@lru_cache(maxsize=16)
def _countries(locale: str) -> dict[str, tuple[str, Country]]:
    """Return, for each casefolded name, its language and its country; the locale's own language counts first."""
    found: dict[str, tuple[str, Country]] = {}
    for pack in packs_of(locale):
        for country in (country for region in _regions(pack.code) for country in region):
            for name in country.names:
                found.setdefault(casefold_accents(name), (pack.code, country))
    return found


def country_of(text: str, locale: str) -> Country | None:
    """Return the country of a name in a locale's languages, or None."""
    return _countries(locale).get(casefold_accents(text.strip()), ("", None))[1]


def country_of_key(key: str, code: str) -> Country:
    """Return the country of a `Country.key` in a pack."""
    return next(country for region in _regions(code) for country in region if country.key == key)


def home_of(locale: str) -> str:
    """Return the `Country.key` of a locale's country; "" if its pack does not say."""
    pack = packs_of(locale)[0]
    name = surrogate_table(pack, "places").get("homes", {}).get(locale)
    found = name and country_of(name, locale)
    return found.key if found else ""


def country_in_same_region(country: Country, keyed: Chooser, code: str) -> Country | None:
    """Return another country of the region in a pack, or None; those that stay replace none."""
    region = next(found for found in _regions(code) if found[0].region == country.region)
    stay = {*map(casefold_accents, LANGUAGES[code].entries("surrogates", "places", "home"))}
    others = {one.key: one for one in region if casefold_accents(one.names[0]) not in stay}
    if len(others) < 2:
        return None
    return others[keyed.other(f"countries of {country.region}", casefold_accents(country.key), tuple(others))]


def other_country(text: str, keyed: Chooser, locale: str) -> str | None:
    """Return another country of the same region in the same language, or None for no country.

    The country of the locale stays, and its neighbours of the same language: it reveals no more than the language, and
    the surrogates of towns are in it.
    """
    plain = casefold_accents(text.strip())
    home = map(casefold_accents, packs_of(locale)[0].entries("surrogates", "places", "home"))
    code, country = _countries(locale).get(plain, ("", None))
    if plain in home or (country is not None and country.key == home_of(locale)):
        return text
    found = country and country_in_same_region(country, keyed, code)
    if not (found and country):
        return None
    is_usual = plain == casefold_accents(country.names[0])  # the case of "USA" does not apply to names
    return with_case_of(found.names[0], text) if is_usual else found.names[0]

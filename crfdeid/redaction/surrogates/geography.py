"""Surrogates of known places: towns, provinces, states, and their postcodes and area codes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

import regex

from crfdeid.redaction.surrogates.choices import Chooser
from crfdeid.redaction.surrogates.name_words import name_words
from crfdeid.redaction.surrogates.place_tables import (
    Province,
    State,
    abroad,
    communities,
    country_in_same_region,
    country_of,
    country_of_key,
    home_of,
    lettered_states,
    provinces,
    provinces_of,
)
from crfdeid.redaction.surrogates.words import (
    VOWELS,
    casefold_accents,
    packs_anywhere,
    packs_of,
    surrogate_table,
    with_case_of,
)

_FOREIGN_DIGITS = 4  # of a postcode
_SHORTEST_MISSPELT = 6
_LONGEST_SHORT = 4


class KnownPlace(NamedTuple):
    """A known place.

    Attributes:
        kind: "province", "capital", "town" or "community" of the language's countries, "state" or "settlement" abroad.
        where: the number of its province, or the `Country.key` of its country; "" for a community.
        name: its usual name.
    """

    kind: str
    where: str
    name: str


@lru_cache(maxsize=32)
def _known_places(code: str, first: str) -> dict[str, KnownPlace]:
    """Return the places of a language pack by casefolded name; of several with one name, the one in a first country."""
    found: dict[str, KnownPlace] = {}
    for _, kind, where, names in sorted(_listed(code), key=lambda row: row[0] != first):
        for name in names:
            found.setdefault(casefold_accents(name), KnownPlace(kind, where, names[0]))
    return found


def _listed(code: str) -> Iterator[tuple[str, str, str, Sequence[str]]]:
    """Yield the country, kind, province or country, and names of each place of a language pack."""
    for one in provinces(code):
        for kind, places in (("capital", (one.capitals,)), ("province", (one.names,)), ("town", one.towns)):
            yield from ((one.country, kind, one.number, names) for names in places if names)
    yield from (("", "community", "", names) for group in communities(code) for names in group)
    for land in abroad(code):
        for kind, places in (("settlement", land.towns), ("state", land.states)):
            yield from ((land.country, kind, land.country, names) for names in places)


@lru_cache(maxsize=16)
def _misspelt(code: str) -> dict[str, set[str]]:
    """Return, for each name of six letters or more and each form with one letter missing, the possible names."""
    found: dict[str, set[str]] = {}
    for name in _known_places(code, ""):
        if len(name) >= _SHORTEST_MISSPELT:
            for form in _shortened(name):
                found.setdefault(form, set()).add(name)
    return found


def _shortened(name: str) -> set[str]:
    return {name} | {name[:i] + name[i + 1 :] for i in range(len(name))}


def find_place(text: str, code: str, first: str = "") -> KnownPlace | None:
    """Return the known place of a name in a language pack, also with one typing error, or None.

    Args:
        text: the name.
        code: the pack.
        first: the `Country.key` of a country whose places count first.
    """
    places = _known_places(code, first)
    plain = " ".join(casefold_accents(text).replace("’", "'").split())
    if plain in places:
        return places[plain]
    if len(plain) < _SHORTEST_MISSPELT:
        return None
    near = _misspelt(code)
    meant = sorted({name for form in _shortened(plain) for name in near.get(form, ()) if name in places})
    return places[meant[0]] if meant else None


def zip_states(locale: str) -> Sequence[State]:
    """Return the states whose ZIP codes a locale's country has; none for another country."""
    pack, home = packs_of(locale)[0], home_of(locale)
    has_zips = home != "" and surrogate_table(pack, "places").get("zip_codes_of") == home
    return lettered_states(pack.code) if has_zips else ()


class Geography:
    """Surrogates of known places.

    Args:
        keyed: the source of choices.
        locale: language and country; the country stays.
        named: countries in the note, which decide between places of one name, such as "Córdoba" in Argentina.
    """

    def __init__(self, keyed: Chooser, locale: str, named: Iterable[str] = ()) -> None:
        pack = packs_of(locale)[0]
        self._keyed, self._code, self._home = keyed, pack.code, home_of(locale)
        self._countries = {one.country: one for one in abroad(pack.code)}
        self._named = next(
            (found for name in named if (found := country_of(name, locale)) and found.key in self._countries), None
        )
        self._first = self._named.key if self._named else self._home if self._home in self._countries else ""
        self._provinces = provinces_of(locale)
        self._foreign = sorted({one.country for one in self._provinces} - {""}, reverse=True)
        self._home_digits = len(regex.split(r"[^0-9]", pack.postcode_example)[0])
        self._same_vowels = name_words(locale).same_vowels
        self._states = next(filter(None, (lettered_states(one.code) for one in packs_anywhere(locale))), ())
        self._has_zips = bool(zip_states(locale))
        self._digits = surrogate_table(pack, "numbers").get("telephone_digits", 0)
        self._kinds: dict[str, Callable[[KnownPlace], str | None]] = {
            "capital": lambda place: self.town_in(place.where, place.name, is_capital=True),
            "province": lambda place: self._exchanged_provinces[place.where].names[0],
            "town": lambda place: self.town_in(place.where, place.name),
            "community": lambda place: self._other(
                place, next(group for group in communities(self._code) if place.name in {names[0] for names in group})
            ),
            "settlement": self._abroad,
            "state": self._abroad,
        }

    def known(self, text: str) -> KnownPlace | None:
        """Return the known place of a name, also with one typing error, or None."""
        return find_place(text, self._code, self._first)

    def place(self, text: str) -> str | None:
        """Return another place of the same kind, or None for an unknown name."""
        found = self.known(text)
        if found is not None:
            other = self._kinds[found.kind](found)
            is_short = len(text) <= _LONGEST_SHORT and casefold_accents(text) != casefold_accents(found.name)
            # The case of "CDMX" does not apply to names.
            return None if other is None else other if is_short else with_case_of(other, text)
        return self._state(text)

    def town_in(self, province: str, name: str, *, is_capital: bool = False) -> str:
        """Return a town of the province that replaces a province, by the numbers of a postcode, for a town's name."""
        other = self._exchanged_provinces[province]
        towns = [names[0] for names in other.towns]
        fitting = self.with_same_vowel(name, [*([other.capitals[0]] if is_capital or not towns else []), *towns])
        if is_capital:
            return fitting[0] if fitting else other.capitals[0]
        return self._town_of(province, name, fitting or towns or [other.capitals[0]])

    def _town_of(self, province: str, name: str, towns: Sequence[str]) -> str:
        """Return one of some towns for a town of another province; of two known ones not the same, if there are two."""
        own = _town_numbers(self._code).get(province, {})
        plain = casefold_accents(name)
        size = max(len(own), len(towns))
        number = own.get(plain)
        if number is None:
            number = self._keyed.unlisted("town", plain, len(own), size)
        begin = self._keyed.permutation(f"towns of {province} {towns[0]}", size).of(number) % len(towns)
        places = (towns[i % len(towns)] for i in range(begin, begin + len(towns)))
        return next((town for town in places if self._keyed.is_free(town, plain)), towns[begin])

    def with_same_vowel(self, name: str, options: Sequence[str]) -> list[str]:
        """Return the options that begin with a vowel if the name does, or else with none, where "d'" depends on it."""
        vowel = casefold_accents(name[:1]) in VOWELS
        return [one for one in options if not self._same_vowels or (casefold_accents(one[:1]) in VOWELS) is vowel]

    def province_of(self, postcode: str, country: str = "") -> str | None:
        """Return the number of a known province by a postcode, and the letters of its country."""
        digits = len(postcode)
        if not (self._provinces and postcode.isdigit()) or digits not in (self._home_digits, _FOREIGN_DIGITS):
            return None
        begins = [country, ""] if digits == self._home_digits else [country] if country else self._foreign
        known = self._exchanged_provinces
        return next((number for begin in begins if (number := begin + postcode[:2]) in known), None)

    def town_abroad(self, name: str) -> str | None:
        """Return a town for an unknown one if the note names a listed country: a town of that country's surrogate."""
        is_abroad = self._named is not None and self._named.key != self._home
        other = country_in_same_region(self._named, self._keyed, self._code) if self._named and is_abroad else None
        row = self._countries.get(other.key) if other else None
        return row and self._keyed.other("town abroad", casefold_accents(name), tuple(names[0] for names in row.towns))

    def postcode(self, text: str, country: str = "") -> str | None:
        """Return a postcode in the surrogate of its province or state; None unless it has as many digits as one.

        Args:
            text: the postcode.
            country: letters before it, "CH"; such a postcode may have four digits.
        """
        province = self.province_of(text, country)
        if province is not None:
            one = self._exchanged_provinces[province]
            prefix = self._keyed.choice("prefix", text, (one.number, *one.further_numbers)).removeprefix(one.country)
            left = len(text) - len(prefix)
            number = self._keyed.permutation(f"postcodes {text[:-left]}", 10**left).of(int(text[-left:]))
            return f"{prefix}{number:0{left}}"
        is_zip = self._has_zips and len(text) == self._home_digits and text.isascii() and text.isdigit()
        begin = int(text[:3]) if is_zip else -1
        state = next((one for one in self._states if one.first <= begin <= one.last), None)
        if state is None:
            return None
        other = self._exchanged_states[state.name]
        own, new = (100 * (one.last - one.first + 1) for one in (state, other))
        number = self._keyed.permutation(f"zip codes {state.name}", max(own, new)).of(int(text) - 100 * state.first)
        return f"{100 * other.first + number % new:05}"

    def province_number(self, number: str) -> str | None:
        """Return the number of the province that replaces a province, or None for an unknown number."""
        other = self._exchanged_provinces.get(number) if self._provinces else None
        return None if other is None else other.number

    def dialled(self, digits: str) -> str | None:
        """Return the area code of the province that replaces a number's province, or None."""
        own = self._provinces if len(digits) == self._digits else ()
        return next(
            (self._exchanged_provinces[one.number].dialled for one in own if digits.startswith(one.dialled)), None
        )

    @cached_property
    def _exchanged_provinces(self) -> dict[str, Province]:
        """The surrogate of each province in its country.

        Where provinces have area codes, one that shares its name with its capital gets one that does so, too.
        """
        groups: dict[str, list[Province]] = {}
        for one in provinces(self._code):
            groups.setdefault(str(one.shares_name) if one.dialled else one.country, []).append(one)
        found: dict[str, Province] = {}
        for group, alike in groups.items():
            whole = [one for one in alike if one.towns]  # a city without towns around it replaces none
            pairs = [*self._keyed.circle(f"provinces {group}", whole).items()]
            pairs += [(one, self._keyed.choice("province", one.number, whole)) for one in alike if not one.towns]
            found |= {number: other for one, other in pairs for number in (one.number, *one.further_numbers)}
        return found

    @cached_property
    def _exchanged_states(self) -> dict[str, State]:
        return {one.name: other for one, other in self._keyed.circle("states", self._states).items()}

    def _state(self, text: str) -> str | None:
        """Return another state in the same form: "Nevada" and "NV" get one surrogate."""
        for one in self._states:
            if text == one.letters:
                return self._exchanged_states[one.name].letters
            if casefold_accents(text) == casefold_accents(one.name):
                return with_case_of(self._exchanged_states[one.name].name, text)
        return None

    def _abroad(self, place: KnownPlace) -> str | None:
        """Return a town or state of its country's surrogate, a capital for a capital; None if none is known."""
        own = country_of_key(place.where, self._code)
        other = own if place.where == self._home else country_in_same_region(own, self._keyed, self._code)
        old, new = self._countries[place.where], self._countries.get(other.key if other else "")
        if new is None:
            return None
        if place.name == old.towns[0][0] and new != old:
            return new.towns[0][0]
        kind = [(one.states if place.kind == "state" else one.towns) for one in (old, new)]
        if old is new:
            return self._other(place, kind[1])
        names, size = [names[0] for names in kind[0]], max(map(len, kind))
        number = self._keyed.permutation(f"{place.kind} {place.where}", size).of(names.index(place.name))
        return kind[1][number % len(kind[1])][0]

    def _other(self, place: KnownPlace, options: Sequence[Sequence[str]]) -> str:
        plain, names = casefold_accents(place.name), tuple(names[0] for names in options)
        return self._keyed.other(f"{place.kind} {names[0]}", plain, names)


@lru_cache(maxsize=16)
def _town_numbers(code: str) -> Mapping[str, Mapping[str, int]]:
    """Return the numbers of the usual names of the towns in each province of a pack, casefolded."""
    return {
        number: {casefold_accents(names[0]): i for i, names in enumerate(one.towns)}
        for one in provinces(code)
        for number in (one.number, *one.further_numbers)
    }

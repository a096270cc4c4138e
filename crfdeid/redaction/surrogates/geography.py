"""Places by name: a province becomes a province, a capital a capital, a town a town, and postcodes follow.

Each province of Spain becomes one other, and all that lies in it goes there with it: "Úbeda (Jaén), 23400" becomes a
town, the name and a postcode of one other province. States of the USA move in the same way. Towns of the Americas
follow the surrogate of their country.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple, TypeVar

from crfdeid.redaction.surrogates.countries import exchanged, home_of, known_countries
from crfdeid.redaction.surrogates.keyed import Keyed
from crfdeid.redaction.surrogates.letters import cased, fold
from crfdeid.redaction.surrogates.towns import (
    COMMUNITIES,
    Province,
    State,
    abroad,
    provinces,
    states,
)

_SHORTEST_MISSPELT = 6
_LONGEST_SHORT = 4
_TELEPHONE_DIGITS = 9  # of a number in Spain

_Place = TypeVar("_Place")


class Known(NamedTuple):
    """A known place.

    Attributes:
        kind: "province", "capital", "town", "community", or "state", and "settlement" for a town, of another country.
        where: the number of its province, or the English name of its country; "" for a community.
        name: its usual name.
    """

    kind: str
    where: str
    name: str


@lru_cache(maxsize=32)
def known_places(first: str) -> dict[str, Known]:
    """The known places of Spain and the Americas by their folded names; of several, that of the first country."""
    found: dict[str, Known] = {}
    listed = [*_spanish(), *_american()]
    for name, place in sorted(listed, key=lambda pair: _country_of(pair[1]) != first):
        found.setdefault(fold(name), place)
    return found


def _spanish() -> Iterator[tuple[str, Known]]:
    for one in provinces():
        for kind, places in (("capital", (one.capitals,)), ("province", (one.names,)), ("town", one.towns)):
            yield from _by_name(places, kind, one.number)
    yield from _by_name(COMMUNITIES, "community", "")


def _american() -> Iterator[tuple[str, Known]]:
    for one in abroad():
        yield from _by_name(one.towns, "settlement", one.country)
        yield from _by_name(one.states, "state", one.country)


def _by_name(places: Sequence[Sequence[str]], kind: str, where: str) -> Iterator[tuple[str, Known]]:
    for names in places:
        yield from ((name, Known(kind, where, names[0])) for name in names)


def _country_of(place: Known) -> str:
    return place.where if place.kind in ("state", "settlement") else "Spain"


@lru_cache(maxsize=1)
def _misspelt() -> dict[str, set[str]]:
    """Every name of six letters and more with one letter left out or none, and the names that give it."""
    found: dict[str, set[str]] = {}
    for name in known_places("Spain"):
        if len(name) >= _SHORTEST_MISSPELT:
            for form in _shortened(name):
                found.setdefault(form, set()).add(name)
    return found


def _shortened(name: str) -> set[str]:
    return {name} | {name[:i] + name[i + 1 :] for i in range(len(name))}


class Geography:
    """Surrogates of known places.

    Args:
        keyed: where the choices come from.
        locale: of the names; its country stays.
        named: the countries that the note names: "Córdoba" is the one in Argentina where it names Argentina.
    """

    def __init__(self, keyed: Keyed, locale: str, named: Iterable[str] = ()) -> None:
        self._keyed, self._locale, self._home = keyed, locale, home_of(locale) or ""
        listed = {one.country for one in abroad()}
        english = [known_countries()[fold(name)][0].english for name in named if fold(name) in known_countries()]
        self._first = next((country for country in english if country in listed), self._home)
        self._spanish = locale.startswith("es")
        self._countries = {one.country: one for one in abroad()}
        self._kinds: dict[str, Callable[[Known], str | None]] = {
            "capital": lambda place: self._exchanged_provinces[place.where].capitals[0],
            "province": lambda place: self._exchanged_provinces[place.where].names[0],
            "town": lambda place: self._other(place, self._exchanged_provinces[place.where].towns),
            "community": lambda place: self._other(place, COMMUNITIES),
            "settlement": self._abroad,
            "state": self._abroad,
        }

    def known(self, text: str) -> Known | None:
        """The place that a name means, also with one letter wrong; None where it is not known."""
        if not self._spanish:
            return None
        places, plain = known_places(self._first), " ".join(fold(text).replace("’", "'").split())
        if plain in places:
            return places[plain]
        if len(plain) < _SHORTEST_MISSPELT:
            return None
        near = _misspelt()
        meant = sorted({name for form in _shortened(plain) for name in near.get(form, ()) if name in places})
        return places[meant[0]] if meant else None

    def place(self, text: str) -> str | None:
        """Another place of the same kind; None where it is not known."""
        found = self.known(text)
        if found is not None:
            other = self._kinds[found.kind](found)
            is_short = len(text) <= _LONGEST_SHORT  # "CDMX" says nothing of the case of names.
            return None if other is None else other if is_short else cased(other, text)
        return self._state(text)

    def town_abroad(self, name: str) -> str | None:
        """A town for one that is not known, where the note names a country: one of what that country becomes."""
        if self._first == self._home or not self._spanish:
            return None
        row = self._countries.get(exchanged(self._first, self._keyed).english)
        return row and self._keyed.choice("town", fold(name), row.towns)[0]

    def postcode(self, text: str) -> str | None:
        """Another postcode of the place that this one's place becomes; None where it is no postcode of five digits."""
        if len(text) != 5 or not (text.isascii() and text.isdigit()):
            return None
        if self._locale in ("es", "es_ES"):
            begin, rest = self.province_number(text[:2]), 3
        elif self._home == "United States" and (state := _state_of_zip(int(text[:3]))):
            other = self._exchanged_states[state.name]
            begin, rest = f"{other.first + self._keyed.number('zip', text, other.last - other.first + 1):03}", 2
        else:
            return None
        return None if begin is None else f"{begin}{self._keyed.number('postcode', text, 10**rest):0{rest}}"

    def province_number(self, number: str) -> str | None:
        """The number of the province that a province becomes; None where no province has this number."""
        other = self._exchanged_provinces.get(number) if self._locale in ("es", "es_ES") else None
        return None if other is None else other.number

    def dialled(self, digits: str) -> str | None:
        """The first digits of telephone numbers in the surrogate of their province; None for a number outside Spain."""
        if self._locale not in ("es", "es_ES") or len(digits) != _TELEPHONE_DIGITS:
            return None
        return next(
            (self._exchanged_provinces[one.number].dialled for one in provinces() if digits.startswith(one.dialled)),
            None,
        )

    @cached_property
    def _exchanged_provinces(self) -> dict[str, Province]:
        """Each province's surrogate. One that shares its name with its capital becomes one that does so too."""
        found: dict[str, Province] = {}
        for shares in (True, False):
            alike = [one for one in provinces() if one.shares_name is shares]
            whole = [one for one in alike if one.towns]  # Ceuta and Melilla have no towns to choose from.
            found |= {one.number: self._keyed.choice("province", one.number, whole) for one in alike if not one.towns}
            found |= {one.number: other for one, other in self._in_a_circle("provinces", whole)}
        return found

    @cached_property
    def _exchanged_states(self) -> dict[str, State]:
        return {one.name: other for one, other in self._in_a_circle("states", states())}

    def _in_a_circle(self, purpose: str, options: Sequence[_Place]) -> list[tuple[_Place, _Place]]:
        """Each option with the next one of a keyed order, the last with the first: another one for each."""
        order, numbers = list(options), self._keyed.stream(purpose, "")
        for i in range(len(order) - 1, 0, -1):
            j = next(numbers) % (i + 1)
            order[i], order[j] = order[j], order[i]
        return list(zip(order, [*order[1:], order[0]], strict=True))

    def _state(self, text: str) -> str | None:
        """Another state of the USA, written as this one is: "Nevada" and "NV" become one other."""
        for one in states():
            if text == one.letters:
                return self._exchanged_states[one.name].letters
            if fold(text) == fold(one.name):
                return cased(self._exchanged_states[one.name].name, text)
        return None

    def _abroad(self, place: Known) -> str | None:
        """A town or state of the country that its country becomes, a capital for one; None where that has none."""
        country = place.where if place.where == self._home else exchanged(place.where, self._keyed).english
        old, new = self._countries[place.where], self._countries.get(country)
        if new is None:
            return None
        if place.name == old.towns[0][0] and new != old:
            return new.towns[0][0]
        return self._other(place, new.states if place.kind == "state" else new.towns)

    def _other(self, place: Known, options: Sequence[Sequence[str]]) -> str:
        return self._keyed.choice("town", fold(place.name), [names[0] for names in options if names[0] != place.name])


def _state_of_zip(begin: int) -> State | None:
    return next((one for one in states() if one.first <= begin <= one.last), None)

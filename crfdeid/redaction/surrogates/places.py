"""Streets with their numbers, and towns with their postcodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple, TypeVar

import regex

from crfdeid.known_phi.persons import TITLES
from crfdeid.redaction.surrogates.chooser import HmacChooser, casefold_accents, casefold_words, with_case_of
from crfdeid.redaction.surrogates.identifiers import DOORS, other_code
from crfdeid.redaction.surrogates.locales import locale_lists
from crfdeid.redaction.surrogates.names import Names
from crfdeid.redaction.surrogates.place_tables import (
    COMMUNITIES,
    SAINT_WORDS,
    SAINTS,
    STREETS,
    STREETS_OF,
    Province,
    State,
    abroad,
    country_in_same_region,
    home_of,
    known_countries,
    other_country,
    provinces,
    states,
)
from features.lexicons import LEXICONS

_SHORTEST_MISSPELT = 6
_LONGEST_SHORT = 4
_TELEPHONE_DIGITS = 9  # of a number in Spain

_Place = TypeVar("_Place")


class KnownPlace(NamedTuple):
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
def _known_places(first: str) -> dict[str, KnownPlace]:
    """The known places of Spain and the Americas by their folded names; of several, that of the first country."""
    found: dict[str, KnownPlace] = {}
    listed = [*_spanish(), *_american()]
    for name, place in sorted(listed, key=lambda pair: _country_of(pair[1]) != first):
        found.setdefault(casefold_accents(name), place)
    return found


def _spanish() -> Iterator[tuple[str, KnownPlace]]:
    for one in provinces():
        for kind, places in (("capital", (one.capitals,)), ("province", (one.names,)), ("town", one.towns)):
            yield from _by_name(places, kind, one.number)
    yield from _by_name(COMMUNITIES, "community", "")


def _american() -> Iterator[tuple[str, KnownPlace]]:
    for one in abroad():
        yield from _by_name(one.towns, "settlement", one.country)
        yield from _by_name(one.states, "state", one.country)


def _by_name(places: Sequence[Sequence[str]], kind: str, where: str) -> Iterator[tuple[str, KnownPlace]]:
    for names in places:
        yield from ((name, KnownPlace(kind, where, names[0])) for name in names)


def _country_of(place: KnownPlace) -> str:
    return place.where if place.kind in ("state", "settlement") else "Spain"


@lru_cache(maxsize=1)
def _misspelt() -> dict[str, set[str]]:
    """Every name of six letters and more with one letter left out or none, and the names that give it."""
    found: dict[str, set[str]] = {}
    for name in _known_places("Spain"):
        if len(name) >= _SHORTEST_MISSPELT:
            for form in _shortened(name):
                found.setdefault(form, set()).add(name)
    return found


def _shortened(name: str) -> set[str]:
    return {name} | {name[:i] + name[i + 1 :] for i in range(len(name))}


class _Geography:
    """Surrogates of known places.

    Args:
        keyed: where the choices come from.
        locale: of the names; its country stays.
        named: the countries that the note names: "Córdoba" is the one in Argentina where it names Argentina.
    """

    def __init__(self, keyed: HmacChooser, locale: str, named: Iterable[str] = ()) -> None:
        self._keyed, self._locale, self._home = keyed, locale, home_of(locale) or ""
        listed = {one.country for one in abroad()}
        english = [
            known_countries()[casefold_accents(name)][0].english
            for name in named
            if casefold_accents(name) in known_countries()
        ]
        self._first = next((country for country in english if country in listed), self._home)
        self._spanish = locale.startswith("es")
        self._countries = {one.country: one for one in abroad()}
        self._kinds: dict[str, Callable[[KnownPlace], str | None]] = {
            "capital": lambda place: self._exchanged_provinces[place.where].capitals[0],
            "province": lambda place: self._exchanged_provinces[place.where].names[0],
            "town": lambda place: self._other(place, self._exchanged_provinces[place.where].towns),
            "community": lambda place: self._other(place, COMMUNITIES),
            "settlement": self._abroad,
            "state": self._abroad,
        }

    def known(self, text: str) -> KnownPlace | None:
        """The place that a name means, also with one letter wrong; None where it is not known."""
        if not self._spanish:
            return None
        places, plain = _known_places(self._first), " ".join(casefold_accents(text).replace("’", "'").split())
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
            return None if other is None else other if is_short else with_case_of(other, text)
        return self._state(text)

    def town_abroad(self, name: str) -> str | None:
        """A town for one that is not known, where the note names a country: one of what that country becomes."""
        if self._first == self._home or not self._spanish:
            return None
        row = self._countries.get(country_in_same_region(self._first, self._keyed).english)
        return row and self._keyed.choice("town", casefold_accents(name), row.towns)[0]

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
            if casefold_accents(text) == casefold_accents(one.name):
                return with_case_of(self._exchanged_states[one.name].name, text)
        return None

    def _abroad(self, place: KnownPlace) -> str | None:
        """A town or state of the country that its country becomes, a capital for one; None where that has none."""
        country = place.where if place.where == self._home else country_in_same_region(place.where, self._keyed).english
        old, new = self._countries[place.where], self._countries.get(country)
        if new is None:
            return None
        if place.name == old.towns[0][0] and new != old:
            return new.towns[0][0]
        return self._other(place, new.states if place.kind == "state" else new.towns)

    def _other(self, place: KnownPlace, options: Sequence[Sequence[str]]) -> str:
        return self._keyed.choice(
            "town", casefold_accents(place.name), [names[0] for names in options if names[0] != place.name]
        )


def _state_of_zip(begin: int) -> State | None:
    return next((one for one in states() if one.first <= begin <= one.last), None)


ARTICLES = casefold_words(
    ["de", "del", "la", "las", "los", "el", "l", "d", "y", "e", "i", "the", "of", "and", "at", "les", "dels", "en"]
)
"""Small words of places' names, which stand in no abbreviation."""

PIECE = regex.compile(r"(?P<code>\p{L}{0,2}\p{Nd}[\p{L}\p{Nd}ºª°]*)|(?P<word>\p{L}[\p{L}\p{M}]*(?:['’]\p{L}+)*)")
"""A number, with letters or without, or a word."""

# What stays of a street's address, whether in capitals or not.
_STREET = """
    avgda avd ada av avda cl cr cra pje psje pasaje plaça carrer avinguda rambla callejón travessera prolongación
    cuesta esquina entre esq km kilómetro portal planta escalera interior int apto depto puerta bajos ático atico
    entresuelo principal local nave oficina colonia sector manzana mz lote dcho der drcha izqda izda izquierdo
    derecho nº num número s n sn bis p way circle trail pike unit suite fl ste pkwy hwy cir
    correos carrera crta residencial edificio ed contrafrente frente pasealekua kalea
"""
_STREET_WORDS = casefold_words([*LEXICONS["street"], *_STREET.split()]) - ARTICLES
_STREET_TITLES = """
    marqués marquesa conde duque capitán general coronel pintor poeta maestro obispo cardenal fiscal periodista mossèn
    alcalde ingeniero padre fray sor beata infanta reina rey príncipe princesa
"""
_TITLES = TITLES | casefold_words(_STREET_TITLES.split())
BEFORE_NAMES = _TITLES | SAINT_WORDS.keys()
"""Titles, and words for a saint, of the people that streets and hospitals are called after, folded."""

_ANGLO_SAINTS = casefold_words(["san", "santa", "santo", "sant", "st", "saint"])
_REGION_OF = regex.compile(
    r"(?:provincia|comunidad(?: autónoma)?|ciudad|municipio|distrito|estado|isla|villa|barrio|colonia|condado|región|"
    r"province|county|city|state|town|village|district) (?:de|del|of) ",
    regex.IGNORECASE,
)
_TOWN = regex.compile(
    r"(?P<country>(?<!\p{L})E-(?=[0-9]{5}))"
    r"|(?P<code>\p{L}{0,2}\p{Nd}[\p{L}\p{Nd}]*)"
    r"|(?P<name>\p{L}[\p{L}\p{M}]*(?:[ .'’-]+\p{L}[\p{L}\p{M}]*(?!\p{Nd}))*)"
)


class Places:
    """Surrogates of places.

    Args:
        keyed: where the choices come from.
        locale: of the names.
        names: the surrogates of the same patient's names: streets are called after people.
        marked: the towns that the note names: streets and hospitals of their names follow them.
        countries: the countries that the note names.

    Attributes:
        geography: the surrogates of known places.
    """

    def __init__(
        self, keyed: HmacChooser, locale: str, names: Names, marked: Iterable[str] = (), countries: Iterable[str] = ()
    ) -> None:
        self._keyed, self._locale, self._names = keyed, locale, names
        self._towns = locale_lists(locale).town
        self._spanish = locale.startswith("es")
        self._marked = frozenset(map(casefold_accents, marked))
        self.geography = _Geography(keyed, locale, countries)

    def place(self, text: str) -> str:
        """Another street, town or country, whichever each part between commas looks like, with its postcode."""

        def is_street(part: str) -> bool:
            return any(
                match["word"] and casefold_accents(match["word"]) in _STREET_WORDS for match in PIECE.finditer(part)
            )

        parts = regex.split(r"(\s*,\s*)", text)
        return "".join(self.street(part) if is_street(part) else self.town(part) for part in parts)

    def street(self, text: str) -> str:
        """Another street: "Street", "C/", "nº", "s/n" and the like stay, numbers become numbers of the same form."""
        out: list[str] = []
        end = 0
        for run in _runs(text):
            start, stop = run[0].start(), run[-1].end()
            found = self._code(run[0].group()) if run[0]["code"] else self._street_name(text, run)
            out += text[end:start], found
            end = stop
        return "".join([*out, text[end:]])

    def town(self, text: str) -> str:
        """Another town, province or country for each that stands between commas, and postcodes of the same places."""
        whole = self.geography.place(text.strip()) if len(text) > 2 else None
        if whole is not None:
            return text.replace(text.strip(), whole)
        parts = regex.split(r"(\s*[,;()/]\s*)", text)
        return "".join(other_country(part, self._keyed, self._locale) or self._town(part) for part in parts)

    def known(self, name: str) -> str | None:
        """Another country or place for the name of one that is listed or that the note names; None for any other."""
        found = self.geography.place(name) or other_country(name, self._keyed, self._locale)
        return found or (self.town(name) if casefold_accents(name) in self._marked else None)

    def spanish(self, name: str) -> str | None:
        """Another place for the name of one of Spain that no first name or family name is taken for, or of the note."""
        known = self.geography.known(name)
        if known is not None and known.kind in ("capital", "province", "community"):
            return self.geography.place(name)
        return self.town(name) if casefold_accents(name) in self._marked else None

    def saint(self, word: str, name: str) -> str:
        """The name of another saint of the sex that a word tells: "San", "Santa"."""
        sex = SAINT_WORDS[casefold_accents(word)]
        return self.other("saint", name, SAINTS[sex])

    def other(self, purpose: str, text: str, options: Sequence[str]) -> str:
        """Another one of some options, with the case of the text."""
        plain = casefold_accents(text)
        return with_case_of(
            self._keyed.choice(purpose, plain, [name for name in options if casefold_accents(name) != plain]), text
        )

    def _street_name(self, street: str, run: Sequence[regex.Match[str]]) -> str:
        """Another name for the run of words that is one: "de la Marina" becomes "de la Fuente"."""
        texts = [match.group() for match in run]
        begin = next((i for i, word in enumerate(texts) if casefold_accents(word) not in ARTICLES), None)
        if begin is None:
            return " ".join(texts)
        if len(run) == begin + 1 and len(texts[begin]) == 1:
            return " ".join([*texts[:begin], self.other("door", texts[begin], DOORS)])
        if not self._spanish:
            lead = ["de"] if casefold_accents(texts[0]) in ("de", "del", "d") else []
            return " ".join(
                [*lead, *(self._street_word(word) for word in texts if casefold_accents(word) not in ARTICLES)]
            )
        whole, name = street[run[0].start() : run[-1].end()], street[run[begin].start() : run[-1].end()]
        lead_text, rest = whole[: len(whole) - len(name)], texts[begin + 1 :]
        first = street[run[begin].start() : run[begin + 1].start()] if rest else ""  # with what is after it
        other = self.spanish(name) or other_country(name, self._keyed, self._locale)
        if other is None and rest and casefold_accents(texts[begin]) in SAINT_WORDS:
            other = first + self.saint(texts[begin], " ".join(rest))
        elif other is None and rest and casefold_accents(texts[begin]) in _TITLES:
            other = first + " ".join(self._names.full_name(rest))
        return lead_text + other if other is not None else self._called(whole, bool(lead_text) and run[0].start() > 0)

    def _called(self, name: str, after_article: bool) -> str:
        """The name of another street, with an article where this one has one."""
        if not after_article:
            return self.other("street", name, STREETS)
        found = self.other("street", name, STREETS_OF)
        return found if name.isupper() else found[0].lower() + found[1:]

    def _street_word(self, word: str) -> str:
        if casefold_accents(word) in TITLES or casefold_accents(word) in _ANGLO_SAINTS:
            return word
        return self._names.initials(word) if len(word) == 1 else self._names.word(word)

    def _town(self, text: str) -> str:
        """A town, a postcode, or both."""
        said = _REGION_OF.match(text)
        begin = said.end() if said else 0
        return text[:begin] + str(_TOWN.sub(self._town_or_code, text[begin:]))

    def _town_or_code(self, match: regex.Match[str]) -> str:
        name = match.group()
        if match["country"]:
            return name
        if match["code"]:
            return self._code(name)
        known = self.geography.place(name) or self.geography.town_abroad(name)
        if known is not None:
            return known
        if name.isupper() and len(name) <= 3:
            return self._names.initials(name)
        return self.other("town", name, self._towns)

    def _code(self, text: str) -> str:
        return self.geography.postcode(text) or other_code(text, self._keyed)


def _runs(street: str) -> Iterator[list[regex.Match[str]]]:
    """What changes in a street's address: each number by itself, and words side by side that stay in no list."""
    run: list[regex.Match[str]] = []
    last = ""
    for match in PIECE.finditer(street):
        word, before = casefold_accents(match["word"] or ""), last
        last = word
        is_name = (
            word.isalpha()
            and match["word"] not in "ºª"
            and (word not in _STREET_WORDS or (before, word) == ("gran", "via"))
        )
        gap = street[run[-1].end() : match.start()] if run else ""
        after_title = gap[:1] == "." and before in BEFORE_NAMES
        if run and not (is_name and (gap[1:] if after_title else gap).isspace()):
            yield run
            run = []
        if match["code"]:
            yield [match]
        elif is_name:
            run.append(match)
    if run:
        yield run

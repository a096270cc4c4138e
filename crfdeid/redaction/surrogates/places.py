"""Surrogates of streets with their numbers, and of towns, provinces and states with their postcodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from types import MappingProxyType
from typing import NamedTuple

import regex

from crfdeid.redaction.surrogates.choices import Chooser, Options
from crfdeid.redaction.surrogates.identifiers import other_code, other_door
from crfdeid.redaction.surrogates.locales import locale_lists
from crfdeid.redaction.surrogates.names import Names, name_words
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
    other_country,
    provinces,
    provinces_of,
)
from crfdeid.redaction.surrogates.words import (
    VOWELS,
    NameForm,
    casefold_accents,
    classes_of,
    folded_in,
    name_forms,
    packs_anywhere,
    packs_of,
    splice,
    surrogate_entries,
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
        self._has_zips = self._home != "" and surrogate_table(pack, "places").get("zip_codes_of") == self._home
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
        places = _known_places(self._code, self._first)
        plain = " ".join(casefold_accents(text).replace("’", "'").split())
        if plain in places:
            return places[plain]
        if len(plain) < _SHORTEST_MISSPELT:
            return None
        near = _misspelt(self._code)
        meant = sorted({name for form in _shortened(plain) for name in near.get(form, ()) if name in places})
        return places[meant[0]] if meant else None

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


@lru_cache(maxsize=8)
def more_options(locale: str) -> Mapping[str, Options]:
    """Return the names of a pack's streets, saints and institutions, then invented ones."""
    known, pack = locale_lists(locale), packs_of(locale)[0]
    invented, towns = known.last[known.real_last :], known.town[known.real_town :]
    entries = partial(pack.entries, "surrogates")
    of_towns = [f"de {name}" for name in towns]
    articles = surrogate_table(pack, "institutions").get("articles", ())
    return {
        "street": Options(entries("streets", "options"), invented),
        "street of": Options(entries("streets", "options_of"), of_towns),
        "male": Options(entries("saints", "male"), known.male),
        "female": Options(entries("saints", "female"), known.female),
        "virgin": Options(entries("institutions", "virgins"), of_towns),
        "land": Options(entries("institutions", "lands"), of_towns),
        "house": Options(
            entries("institutions", "houses"),
            (f"{article} {name}" for name in invented for end, article in articles if name.endswith(end)),
        ),
    }


@lru_cache(maxsize=128)
def _form_options(locale: str, listed: tuple[str, ...], also: str) -> Options:
    """Return the names for a form of a language pack, and further ones by a template."""
    known = locale_lists(locale)
    names = {
        "family": known.last[known.real_last :],
        "town": known.town[known.real_town :],
        "female": known.female,
        "male": known.male,
    }
    names = {field: some for field, some in names.items() if f"{{{field}}}" in also}
    size = max(map(len, names.values()), default=0)
    more = [also.format(**{field: some[i % len(some)] for field, some in names.items()}) for i in range(size)]
    if name_words(locale).same_vowels:
        more = [name for name in more if not _ELIDED.match(name)]
    return Options(listed, more)


@lru_cache(maxsize=8)
def towns_of(locale: str) -> Mapping[str, Options]:
    """Return the towns of a locale: all, and those that begin with a vowel ("a") and with none ("b")."""
    known = locale_lists(locale)
    real, invented = known.town[: known.real_town], known.town[known.real_town :]
    found = {"": Options(real, invented)}
    for kind, is_vowel in (("a", True), ("b", False)):
        some = [
            [name for name in names if (casefold_accents(name[:1]) in VOWELS) is is_vowel] for names in (real, invented)
        ]
        found[kind] = Options(*some) if any(some) else found[""]
    return found


PIECE = regex.compile(r"(?P<code>\p{L}{0,2}\p{Nd}[\p{L}\p{Nd}ºª°]*)|(?P<word>\p{L}[\p{L}\p{M}]*(?:['’]\p{L}+)*)")
"""A number, perhaps with letters, or a word."""

_CODE_OR_NAME = (
    r"(?P<code>\p{L}{0,2}\p{Nd}[\p{L}\p{Nd}]*)"
    r"|(?P<name>(?<=[0-9]{4}\s?)\p{Lu}{2}(?!\p{L})|\p{L}[\p{L}\p{M}]*(?:[ .'’-]+\p{L}[\p{L}\p{M}]*(?!\p{Nd}))*)"
)
_RANGE = regex.compile(
    r"(?<![0-9])(?P<first>[1-9][0-9]{0,2})(?P<gap>\s?[-–]\s?)(?P<last>[1-9][0-9]{0,2})(?![\p{L}0-9º°])"
)
_FRACTION = regex.compile(r"(?<![0-9/])[1-3]/[2-4](?![0-9/])")
_ELIDED = regex.compile(r"de [aeéèiîoôuyh]", regex.IGNORECASE)
_ROMAN = regex.compile(r"[IVX]+")


class PlaceWords(NamedTuple):
    """Words around the names of a locale's places.

    Attributes:
        articles: casefolded articles and prepositions of names, which abbreviations omit.
        kept: casefolded words of addresses that stay.
        titles: casefolded titles before the names of persons in streets.
        phrases: casefolded pairs of words of which the second does not stay.
        saints: casefolded words for a saint, and their sex.
        kept_in_names: casefolded titles and words for a saint that stay where there is no list of names of streets.
        region_of: expression of what precedes a name: "City of ".
        town: expression of a country's letters, a code, or a name.
        tail: expression of what is left out after a town.
        forms: forms of streets; the last is for any other name. Without forms, adjacent words are a name.
        has_names: whether there is a list of names of streets.
        towns_are_names: whether towns have names that persons have, too, so that a name of one alone shows none.
    """

    articles: frozenset[str]
    kept: frozenset[str]
    titles: frozenset[str]
    phrases: frozenset[str]
    saints: Mapping[str, str]
    kept_in_names: frozenset[str]
    region_of: regex.Pattern[str]
    town: regex.Pattern[str]
    tail: regex.Pattern[str]
    forms: tuple[NameForm, ...]
    has_names: bool
    towns_are_names: bool


@lru_cache(maxsize=16)
def place_words(locale: str) -> PlaceWords:
    """Return the words around the names of a locale's places."""
    packs = packs_of(locale)
    articles = folded_in(locale, "places", "articles")
    streets = {*map(casefold_accents, classes_of(locale)["street"])} | folded_in(locale, "streets", "kept")
    saints = {word: sex for sex in ("male", "female") for word in folded_in(locale, "saints", f"{sex}_words")}
    titles = frozenset(map(casefold_accents, name_words(locale).titles))
    regions = (surrogate_table(pack, "places").get("region_of", "(?!)") for pack in packs_anywhere(locale))
    codes = "|".join(surrogate_entries(locale, "places", "codes")) or "(?!)"
    section = surrogate_table(packs[0], "places")
    forms = name_forms(packs[0].code, "streets", regex.IGNORECASE)
    return PlaceWords(
        articles,
        folded_in(locale, "streets", "kept") if forms else frozenset(streets - articles),
        titles | folded_in(locale, "streets", "titles"),
        folded_in(locale, "streets", "phrases"),
        saints,
        titles | folded_in(locale, "saints", "kept"),
        regex.compile("|".join(regions), regex.IGNORECASE),
        regex.compile(rf"(?P<country>(?<!\p{{L}})(?:{codes})-(?=[0-9]{{4,5}}))|{_CODE_OR_NAME}"),
        regex.compile(rf"(?:{section.get('tail', '(?!)')})$"),
        forms,
        "options" in surrogate_table(packs[0], "streets"),
        section.get("towns_are_names", False),
    )


def town_postcodes(text: str, towns: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return the letters of the country and the postcode before each town in a note.

    Example:
        >>> town_postcodes("54329 Konz, CH-8400 Winterthur", ["Konz", "Winterthur", "Trier"])
        {'konz': ('', '54329'), 'winterthur': ('CH', '8400')}
    """
    found = {}
    for town in dict.fromkeys(towns):
        match = regex.search(
            rf"(?:(?<!\p{{L}})(\p{{Lu}}{{1,2}})-)?(?<![0-9])([0-9]{{4,5}})(?:-[0-9]{{3}}|\s?\p{{Lu}}{{2}})?\s+"
            rf"{regex.escape(town)}",
            text,
        )
        if match:
            found[casefold_accents(town)] = (match[1] or "", match[2])
    return found


class Places:
    """Surrogates of places.

    Args:
        keyed: the source of choices.
        locale: language and country of the names.
        names: surrogates of the same patient's names; streets may be named after persons.
        marked: towns in the note; streets and hospitals named after them follow their surrogates.
        countries: countries in the note.
        postcodes: casefolded towns of the note -> country and postcode before them (`town_postcodes`).

    Attributes:
        geography: surrogates of known places.
    """

    def __init__(
        self,
        keyed: Chooser,
        locale: str,
        names: Names,
        marked: Iterable[str] = (),
        countries: Iterable[str] = (),
        postcodes: Mapping[str, tuple[str, str]] = MappingProxyType({}),
    ) -> None:
        self._keyed, self._locale, self._names, self._postcodes = keyed, locale, names, postcodes
        self._marked = frozenset(map(casefold_accents, marked))
        self.geography = Geography(keyed, locale, countries)
        self.words = place_words(locale)

    def place(self, text: str) -> str:
        """Return another street, town or country for each part between commas, with its postcode."""
        parts = regex.split(r"(\s*,\s*)", text)
        return "".join(self.street(part) if self._is_street(part) else self.town(part) for part in parts)

    def _is_street(self, part: str) -> bool:
        """Return True for a form of streets but the last, which is for any name; without forms, for a word of one."""
        words = {casefold_accents(match["word"]) for match in PIECE.finditer(part) if match["word"]}
        if not self.words.forms:
            return not self.words.kept.isdisjoint(words)
        return any(one.find(part) for one in self.words.forms[:-1]) or (bool(words) and self.words.kept >= words)

    def street(self, text: str) -> str:
        """Return another street: "Street", "C/", "nº", "s/n" and the like stay, numbers keep their form.

        The first form of the language that the text has decides its name; else adjacent words that do not stay are one.
        """
        named = next((found[:1] for one in self.words.forms if (found := self.forms_in(text, [one]))), [])
        pieces = [*named]
        for match in _RANGE.finditer(text):
            if int(match["last"]) > int(match["first"]):
                first = int(other_code(match["first"], self._keyed, self._locale))
                last = first + int(match["last"]) - int(match["first"])
                pieces.append((*match.span(), f"{first}{match['gap']}{last}"))
        done = [*((start, end) for start, end, _ in pieces), *(match.span() for match in _FRACTION.finditer(text))]

        def is_done(match: regex.Match[str]) -> bool:
            return any(start < match.end() and match.start() < end for start, end in done)

        def is_name(pieces: Sequence[regex.Match[str]], i: int, joined: bool) -> bool:
            match, word = pieces[i], casefold_accents(pieces[i]["word"] or "")
            # "straße" after the name of a compound
            in_form = any(end <= match.start() and not text[end : match.start()].strip(" -.") for _, end, _ in named)
            if in_form or is_done(match) or not word.isalpha() or match["word"] in "ºª":
                return False
            pair = f"{casefold_accents(pieces[i - 1].group())} {word}" if i else ""
            return word not in self.words.kept or pair in self.words.phrases

        for run in name_runs(text, is_name, self._continues_street):
            if not run[0]["code"]:
                pieces.append((run[0].start(), run[-1].end(), self._street_name(text, run)))
            elif not is_done(run[0]):
                pieces.append((*run[0].span(), self._code(run[0].group())))
        return splice(text, sorted(pieces))

    def forms_in(self, text: str, forms: Iterable[NameForm]) -> list[tuple[int, int, str]]:
        """Return the offsets of the names in some forms, without overlaps, and what replaces them."""
        found: list[tuple[int, int, str]] = []
        for form in forms:
            for match in form.find(text):
                start, stop = match.span("name")
                if not any(a < stop and start < b for a, b, _ in found):
                    options = _form_options(self._locale, form.options, form.also)
                    found.append((start, stop, self.other("form", match["name"], options)))
        return sorted(found)

    def town(self, text: str) -> str:
        """Return another town, province or country for each part between commas, with its postcode."""
        if self.geography.known(text.strip()) is None:
            text = self.words.tail.sub("", text) or text
        whole = self.geography.place(text.strip()) if len(text) > 2 else None
        if whole is not None:
            return text.replace(text.strip(), whole)
        parts = regex.split(r"(\s*[,;()/]\s*)", text)
        return "".join(other_country(part, self._keyed, self._locale) or self._town(part) for part in parts)

    def known(self, name: str) -> str | None:
        """Return another place or country for one that is listed or in the note, or None."""
        found = self.geography.place(name) or other_country(name, self._keyed, self._locale)
        return found or (self.town(name) if casefold_accents(name) in self._marked else None)

    def sure(self, name: str) -> str | None:
        """Return another place for one in the note, or for a known one that is no common name of persons, or None."""
        known = self.geography.known(name)
        is_sure = not self.words.towns_are_names or (known and known.kind in ("capital", "province", "community"))
        if known is not None and is_sure:
            return self.geography.place(name)
        return self.town(name) if casefold_accents(name) in self._marked else None

    def saint(self, word: str, name: str) -> str:
        """Return the name of another saint of the same sex, which the word before it shows: "San" or "Santa"."""
        sex = self.words.saints[casefold_accents(word)]
        return self.other("saint", name, more_options(self._locale)[sex])

    def other(self, purpose: str, text: str, options: Options | tuple[str, ...]) -> str:
        """Return another one of the options, in the case of the text."""
        return with_case_of(self._keyed.other(purpose, casefold_accents(text), options), text)

    def _continues_street(self, gap: str, pieces: Sequence[regex.Match[str]], i: int) -> bool:
        before = casefold_accents(pieces[i - 1].group())
        after_title = gap[:1] == "." and (before in self.words.titles or before in self.words.saints)
        return (gap[1:] if after_title else gap).isspace()

    def _street_name(self, street: str, run: Sequence[regex.Match[str]]) -> str:
        """Return another name for adjacent words: "de la Marina" becomes "de la Fuente"."""
        texts = [match.group() for match in run]
        begin = next((i for i, word in enumerate(texts) if casefold_accents(word) not in self.words.articles), None)
        if begin is None:
            return street[run[0].start() : run[-1].end()]
        if len(run) == begin + 1 and len(texts[begin]) == 1:
            return street[run[0].start() : run[begin].start()] + other_door(texts[begin], self._keyed)
        if not self.words.has_names:
            changed = ((match.span(), self._street_word(match.group())) for match in run)
            start, end = run[0].start(), run[-1].end()
            return splice(street[start:end], [(a - start, b - start, new) for (a, b), new in changed])
        whole, name = street[run[0].start() : run[-1].end()], street[run[begin].start() : run[-1].end()]
        lead_text, rest = whole[: len(whole) - len(name)], texts[begin + 1 :]
        first = street[run[begin].start() : run[begin + 1].start()] if rest else ""  # with the gap after it
        other = self.sure(name) or other_country(name, self._keyed, self._locale)
        if other is None and rest and casefold_accents(texts[begin]) in self.words.saints:
            other = first + self.saint(texts[begin], " ".join(rest))
        elif other is None and rest and casefold_accents(texts[begin]) in self.words.titles:
            other = first + " ".join(self._names.full_name(rest))
        return lead_text + other if other is not None else self._called(whole, bool(lead_text) and run[0].start() > 0)

    def _called(self, name: str, after_article: bool) -> str:
        """Return the name of another street, with an article if this one has one."""
        if not after_article:
            return self.other("street", name, more_options(self._locale)["street"])
        found = self.other("street", name, more_options(self._locale)["street of"])
        return found if name.isupper() else found[0].lower() + found[1:]

    def _street_word(self, word: str) -> str:
        if casefold_accents(word) in self.words.kept_in_names | self.words.articles or _ROMAN.fullmatch(word):
            return word
        return self._names.initials(word) if len(word) == 1 else self._names.word(word)

    def _town(self, text: str) -> str:
        """Return another town, postcode, or both."""
        region = self.words.region_of.match(text)
        begin = region.end() if region else 0
        return text[:begin] + str(self.words.town.sub(self._town_or_code, text[begin:]))

    def _town_or_code(self, match: regex.Match[str]) -> str:
        name = match.group()
        if match["country"]:
            return name
        if match["code"]:
            before = regex.search(r"\p{Lu}+(?=-$)", match.string[: match.start()])
            return self.geography.postcode(name, before.group() if before else "") or self._code(name)
        known = self.geography.place(name) or self.geography.town_abroad(name)
        if known is not None:
            return known
        if name.isupper() and len(name) <= 3:
            return self._names.initials(name)
        country, postcode = self._postcodes.get(casefold_accents(name), ("", ""))
        province = self.geography.province_of(postcode, country) if not self.words.towns_are_names else None
        if province is not None:
            return with_case_of(self.geography.town_in(province, name), name)
        towns = towns_of(self._locale)
        fits = self.geography.with_same_vowel(name, ("a", "b"))
        return self.other("town", name, towns["".join(fits)] if len(fits) == 1 else towns[""])

    def _code(self, text: str) -> str:
        return self.geography.postcode(text) or other_code(text, self._keyed, self._locale)


def name_runs(
    text: str,
    is_name: Callable[[Sequence[regex.Match[str]], int, bool], bool],
    continues: Callable[[str, Sequence[regex.Match[str]], int], bool],
) -> Iterator[list[regex.Match[str]]]:
    """Yield the replaceable parts of a text: each number, and each run of adjacent words that are names.

    Args:
        text: an address, or the name of an institution.
        is_name: whether a piece of the text (`PIECE`), by index, is a name; with whether it can continue a run.
        continues: whether a gap allows the piece after it, by index, to continue a run.
    """
    pieces = list(PIECE.finditer(text))
    run: list[regex.Match[str]] = []
    for i, match in enumerate(pieces):
        joined = bool(run) and continues(text[run[-1].end() : match.start()], pieces, i)
        named = is_name(pieces, i, joined)
        if run and not (joined and named):
            yield run
            run = []
        if named:
            run.append(match)
        elif match["code"]:
            yield [match]
    if run:
        yield run


def replace_runs(
    text: str,
    runs: Iterable[list[regex.Match[str]]],
    code: Callable[[str], str],
    name: Callable[[str, list[regex.Match[str]]], str],
) -> str:
    """Return a text with its numbers and names (`name_runs`) replaced by two functions."""
    new = ((run, code(run[0].group()) if run[0]["code"] else name(text, run)) for run in runs)
    return splice(text, [(run[0].start(), run[-1].end(), found) for run, found in new])

"""Surrogates of streets with their numbers, and of towns, provinces and states with their postcodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

import regex

from crfdeid.redaction.surrogates.choices import Chooser, Options
from crfdeid.redaction.surrogates.geography import Geography
from crfdeid.redaction.surrogates.identifiers import other_code, other_door
from crfdeid.redaction.surrogates.locales import locale_lists
from crfdeid.redaction.surrogates.name_words import name_words
from crfdeid.redaction.surrogates.names import Names
from crfdeid.redaction.surrogates.place_tables import other_country
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


def pack_options(locale: str, table: str, field: str, also: str) -> Options:
    """Return the names of a list in a pack, and further ones by a template (`NameForm.also`)."""
    return _form_options(locale, packs_of(locale)[0].entries("surrogates", table, field), also)


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
    """Words around the names of a locale's places: fields of "streets", "saints" and "places" of its packs, casefolded.

    Attributes:
        saints: words for a saint, and their sex.
        kept_in_names: titles and words for a saint that stay where there is no list of names of streets.
        town: expression of a country's letters, a code, or a name.
        forms: forms of streets; the last is for any other name.
        has_names: whether there is a list of names of streets.
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
        return self.other("saint", name, pack_options(self._locale, "saints", sex, f"{{{sex}}}"))

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
            return self.other("street", name, pack_options(self._locale, "streets", "options", "{family}"))
        found = self.other("street", name, pack_options(self._locale, "streets", "options_of", "de {town}"))
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

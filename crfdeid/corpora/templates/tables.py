"""Facts of a language by country: tables, lists and patterns of places; and names by origin, dealt to the splits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import regex

from crfdeid.corpora.synthetic.data import sections, text_pools
from crfdeid.corpora.synthetic.people import SplitName, deal, invented_words, strip_accents
from crfdeid.errors import UnknownNameError
from crfdeid.utils.files import read_sections, read_toml

_FOLDER = Path(__file__).parent
LANGUAGES = ("english", "spanish", "german", "french")
_LOCALE = regex.compile(r"[a-z]{2}(_[A-Z]{2})?")
_LATIN_NAME = regex.compile(r"[\p{Latin}'’ .-]{2,30}")
_DEAL_SEED = "names of templates"
_INVENTED = 400
# Lists of places that are dealt to the splits; the others are the same in all.
_DEALT = ("towns", "odd", "streets", "hospitals", "organisations", "neighbourhoods")


class Pool(NamedTuple):
    """Entries that a split may draw from.

    Attributes:
        own: the split's own entries, which no other split has.
        seen: those of training notes; for the training split, the same.
    """

    own: tuple[str, ...]
    seen: tuple[str, ...]

    def draw(self, rng: Random, unseen_share: float) -> str:
        """One entry; of the split's own with a probability."""
        own = self.own and (not self.seen or rng.random() < unseen_share)
        return rng.choice(self.own if own else self.seen)


class Origin(NamedTuple):
    """Names of one origin."""

    female: Pool
    male: Pool
    family: Pool
    share: float


class Tables:
    """Tables of a language.

    A table by country serves the countries that are like it and have none of their own.

    Args:
        language: one of `LANGUAGES`.

    Attributes:
        language: the same.
        country: the country of notes that name none.
        countries: all countries.
        lists: lists for templates, besides those of the language's folder.
        joins: patterns of words that change before a value ("de Amiens"), and what notes write instead ("d'Amiens").
    """

    def __init__(self, language: str) -> None:
        self.language = language
        self._tables = read_toml(_FOLDER / "languages" / f"{language}.toml")
        self.country: str = self._tables["country"]
        self.countries = frozenset((self.country, *self._tables["like"]))
        self._sections = read_sections(_FOLDER / "languages" / f"{language}_places.txt")
        pools = text_pools()
        self.joins = [(regex.compile(before), after) for before, after in self._tables.get("joins", {}).items()]
        self.lists: Mapping[str, tuple[str, ...]] = {name: pools[name] for name in self._tables["shared_lists"]}
        self._words = {name: tuple(_entries(lines)) for name, lines in self._sections.items()}
        self._words |= {name: pools[name] for name in self._tables["shared_places"]}

    def __getitem__(self, table: str) -> Any:
        return self._tables[table]

    def kin_of(self, country: str) -> list[str]:
        """The country and those it is like, nearest first."""
        found = [country]
        while found[-1] in self._tables["like"]:
            found.append(self._tables["like"][found[-1]])
        return found

    def of_country(self, table: str, country: str, *keys: str) -> Any:
        """An entry of a table for a country, or for the next country like it that has one.

        Raises:
            KeyError: none has it.
        """
        for one in self.kin_of(country):
            found = self._tables[table].get(one)
            for key in keys:
                found = None if found is None else found.get(key)
            if found is not None:
                return found
        raise KeyError(f"{table} {country} {' '.join(keys)}")

    def patterns(self, name: str, country: str) -> Sequence[str]:
        """The patterns of a kind of place in a country.

        Raises:
            KeyError: there are none.
        """
        for one in self.kin_of(country):
            if f"{name} {one}" in self._sections:
                return self._sections[f"{name} {one}"]
        raise KeyError(f"{name} {country}")

    def has_words(self, name: str) -> bool:
        """Whether there is a word list or section of this name."""
        return name in self._words

    def words(self, name: str) -> Sequence[str]:
        """The entries of a word list of places."""
        return self._words[name]

    def word_pool(self, name: str, split: SplitName) -> Pool:
        """The entries of a word list of places that a split may draw from."""
        return _word_pool(self.language, name, split)


@cache
def tables_of(language: str) -> Tables:
    """The tables of a language.

    Raises:
        UnknownNameError: there are none.
    """
    if language not in LANGUAGES:
        raise UnknownNameError(f"no templates in '{language}': choose from {', '.join(LANGUAGES)}")
    return Tables(language)


@cache
def _word_pool(language: str, name: str, split: SplitName) -> Pool:
    words = tables_of(language).words(name)
    if not name.startswith(_DEALT):
        return Pool((), tuple(words))
    dealt = deal(words, Random(f"{_DEAL_SEED} {name}"))
    return Pool(dealt[split], dealt["train"])


@cache
def origins_of(language: str, split: SplitName) -> Mapping[str, Origin]:
    """The names of each origin that a split may draw from.

    A name of several origins, or of women, men and families, belongs to one split in all of them.
    """
    owner = _owners(language)

    def pool(names: Sequence[str]) -> Pool:
        train = tuple(name for name in names if owner[_key(name)] == "train")
        own = tuple(name for name in names if owner[_key(name)] == split)
        return Pool(own, train)

    return {
        name: Origin(pool(female), pool(male), pool(family), share)
        for name, (female, male, family, share) in _names(language).items()
    }


def _key(name: str) -> str:
    return strip_accents(name).casefold()


@cache
def _owners(language: str) -> Mapping[str, SplitName]:
    """The split of every name, without accents and in small letters."""
    keys = sorted({_key(name) for lists in _names(language).values() for part in lists[:3] for name in part})
    dealt = deal(keys, Random(_DEAL_SEED))
    # `deal` rounds: a last name may be left over.
    return {**dict.fromkeys(keys, "train"), **{key: split for split, some in dealt.items() for key in some}}


@cache
def _names(language: str) -> Mapping[str, tuple[list[str], list[str], list[str], float]]:
    """Names of women, of men, and family names by origin, with the origin's share."""
    return {
        name: (
            _lists(plan["given"], "female"),
            _lists(plan["given"], "male"),
            _lists(plan["family"], "family"),
            float(plan.get("share", 1)),
        )
        for name, plan in tables_of(language)["origins"].items()
    }


def _lists(sources: Sequence[str], kind: str) -> list[str]:
    """Names from Faker's locales and from sections of names.txt, once each."""
    common = set(sections("words.txt")["common"])  # no Mr. Doctor
    found: dict[str, None] = {}
    for source in sources:
        names = _faker_names(source, kind) if _LOCALE.fullmatch(source) else _own_names(source, kind)
        found |= dict.fromkeys(name for name in names if _LATIN_NAME.fullmatch(name) and name not in common)
    return [name.title() if name.isupper() else name for name in found]


def _faker_names(locale: str, kind: str) -> Sequence[str]:
    """Faker's names of a locale, in Latin letters."""
    provider: Any = import_module(f"faker.providers.person.{locale}").Provider
    plain = ["last_names", "last_romanized_names"] if kind == "family" else [f"first_names_{kind}"]
    for attribute in plain if kind == "family" else [*plain, "first_romanized_names", "first_names"]:
        names = getattr(provider, attribute, ())
        latin = [name for name in names if _LATIN_NAME.fullmatch(name)] if not callable(names) else []
        if len(latin) > 2:
            return latin
    return ()


def _own_names(section: str, kind: str) -> Sequence[str]:
    if section == "invented":
        return list(invented_words(Random(_DEAL_SEED), _INVENTED))
    listed = _name_sections()
    if kind == "family":
        return listed[f"{section} family"]
    return listed.get(f"{section} given, {kind}") or listed[f"{section} given"]


@cache
def _name_sections() -> Mapping[str, tuple[str, ...]]:
    found = read_sections(_FOLDER / "languages" / "names.txt")
    return {name: tuple(_entries(lines)) for name, lines in found.items()}


def free_nicknames(language: str) -> Sequence[str]:
    """Nicknames that come from no name."""
    return _name_sections()[tables_of(language)["names"]["free_nicknames"]]


def _entries(lines: Sequence[str]) -> list[str]:
    return [entry.strip() for entry in " ".join(lines).split(",") if entry.strip()]

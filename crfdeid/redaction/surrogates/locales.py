"""Locales of surrogates: the guess of a note's language, and the names of a language and country.

Names come from a language pack, or from Faker where the pack says so or there is none. Family names and towns are too
few to be distinct, so that invented ones are added (`invention`).
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import regex

from crfdeid.errors import SettingError, UnknownNameError
from crfdeid.redaction.surrogates.invention import composed, distinct, spliced
from crfdeid.redaction.surrogates.place_tables import provinces_of
from crfdeid.redaction.surrogates.words import casefold_accents, own_pack, packs_of, surrogate_table
from features.languages import DEFAULT_LANGUAGES, LANGUAGES, Language

if TYPE_CHECKING:
    from faker import Faker


# Frequent words that prevent wrong guesses of languages without a pack. A word of two languages counts for both.
_WITHOUT_PACK = {"ca": "el la els les de del i amb per que un una és dels al va en pacient anys edat a no"}


@lru_cache(maxsize=8)
def _codes_by_word(packs: tuple[str, ...]) -> Mapping[str, Sequence[str]]:
    """Return the languages of each function word."""
    words: dict[str, Iterable[str]] = {code: text.split() for code, text in _WITHOUT_PACK.items()}
    found: dict[str, list[str]] = {}
    for code, some in (words | {code: LANGUAGES[code].function_words for code in packs}).items():
        for word in some:
            found.setdefault(word, []).append(code)
    return found


_WORD = regex.compile(r"(?<![\p{L}\p{M}]-?)\p{L}[\p{L}\p{M}]*+(?!-\p{L})")  # no part of "Roux-en-Y"


def guess_locale(text: str) -> str | None:
    """Return the locale of a text in a language with a pack, or None if none is clear.

    A pack that is none of `DEFAULT_LANGUAGES` takes no text from one of these that has as many of the words.
    Words show the language and not the country. They are counted, so that equal texts have equal results.

    Example:
        >>> [guess_locale(text) for text in ("Seen by Dr. Quill.", "Vista por la Dra. Quill.", "Quill")]
        ['en_US', 'es_ES', None]
        >>> guess_locale("Gesehen von der Ärztin."), guess_locale("Vue par le docteur Quill.")
        ('de_DE', 'fr_FR')
    """
    codes = _codes_by_word(tuple(LANGUAGES))
    counts = Counter(
        code
        for match in _WORD.finditer(unicodedata.normalize("NFC", text).lower())
        for code in codes.get(match.group(), ())
    )
    most = max(counts.values(), default=0)
    best = {code for code, count in counts.items() if count == most}
    if not best.isdisjoint(DEFAULT_LANGUAGES):
        best -= {*LANGUAGES} - {*DEFAULT_LANGUAGES}
    code = best.pop() if len(best) == 1 else ""
    return LANGUAGES[code].locale if code in LANGUAGES else None


def puts_month_first(locale: str) -> bool:
    """Return True if 3/4 is the 4th of March in a locale."""
    return locale in packs_of(locale)[0].entries("surrogates", "dates", "month_first")


# Samples of a list that Faker composes; without repetitions it is shorter.
_DRAWS = 500
_FEWEST = 20

# Locales of the given names of `given_name_sexes`: notes name people of many countries.
_GIVEN_NAME_LOCALES = (
    *("es_ES", "es_MX", "es_AR", "es_CL", "es_CO", "pt_PT", "pt_BR", "it_IT", "fr_FR"),
    *("en_US", "en_GB", "en_IE", "en_NZ", "de_DE", "nl_NL", "pl_PL", "ro_RO"),
)


class LocaleLists(NamedTuple):
    """Names of a locale; each list is without repetitions, and of single words but for towns.

    Attributes:
        female: first names of women to choose from, without pet names.
        male: first names of men to choose from, without pet names.
        last: family names to choose from, without first names: real ones, then invented ones.
        town: towns to choose from: real ones, then invented ones.
        given: known first names, casefolded, with pet names: "female" or "male".
        family: known family names, casefolded.
        real_last: the number of real names in `last`.
        real_town: the number of real names in `town`.
    """

    female: tuple[str, ...]
    male: tuple[str, ...]
    last: tuple[str, ...]
    town: tuple[str, ...]
    given: Mapping[str, str]
    family: frozenset[str]
    real_last: int
    real_town: int

    @classmethod
    def of(
        cls,
        code: str,
        given: tuple[tuple[str, ...], tuple[str, ...]],
        last: tuple[str, ...],
        town: tuple[str, ...],
        known: tuple[Mapping[str, str], frozenset[str]],
    ) -> LocaleLists:
        """Create the lists of a language from real names, and add invented ones.

        Args:
            code: two letters of the language.
            given: first names of women and of men.
            last: family names.
            town: towns; too few are replaced by family names.
            known: the last two attributes, casefolded.
        """
        town = town if len(town) >= _FEWEST else last
        names = composed(code, "family_endings") or spliced(last, given[1])
        towns = composed(code, "town_endings") or spliced(town)
        taken = {*known[1], *known[0], *given_name_sexes(), *map(casefold_accents, last)}
        towns = distinct(towns, map(casefold_accents, town))
        return cls(*given, last + distinct(names, taken), town + towns, *known, len(last), len(town))


@lru_cache(maxsize=16)
def locale_lists(locale: str) -> LocaleLists:
    """Return the names of a locale: of its language pack, or of the installed version of Faker.

    Raises:
        UnknownNameError: a locale that Faker does not have.
        SettingError: a locale without names in its language, with too few, or not in Latin letters.
    """
    pack = own_pack(locale)
    if pack is None or surrogate_table(pack, "names").get("faker", False):
        return _of_faker(locale, pack)
    given = {
        casefold_accents(name): sex for sex, names in (("male", pack.male), ("female", pack.female)) for name in names
    }
    common = {
        kind: tuple(sorted(_single(pack.entries("surrogates", "names", kind) or names)))
        for kind, names in (("female", pack.female), ("male", pack.male), ("family", pack.family))
    }
    for kind in ("male", "female"):
        given |= {casefold_accents(name): kind for name in common[kind]}
    family = frozenset(map(casefold_accents, (*pack.family, *common["family"])))
    first = (common["female"], common["male"])
    return LocaleLists.of(
        pack.code, first, common["family"], _towns(locale) or tuple(sorted({*pack.towns})), (given, family)
    )


def _of_faker(locale: str, pack: Language | None) -> LocaleLists:
    """Return Faker's names without those that the pack excludes; the pack's given names replace Faker's."""
    from faker import Faker  # noqa: PLC0415
    from faker.config import AVAILABLE_LOCALES  # noqa: PLC0415

    if locale not in AVAILABLE_LOCALES:
        problem = f"unknown locale '{locale}': choose one of Faker's, such as en_US, en_GB, es_ES or de_DE"
        raise UnknownNameError(problem)
    fake = Faker(locale)
    fake.seed_instance(0)
    if not _speaks(fake, "person", locale):
        raise SettingError(f"the locale '{locale}' has no names in its language: choose another, such as en_GB")
    female, male, last = (_names(fake, kind) for kind in ("first_name_female", "first_name_male", "last_name"))
    if not all(unicodedata.name(c, "").startswith("LATIN") for name in (*female, *male, *last) for c in name):
        problem = f"the names of the locale '{locale}' are not in Latin letters: choose another, such as en_GB"
        raise SettingError(problem)
    if min(map(len, (female, male, last))) < _FEWEST:
        raise SettingError(f"the locale '{locale}' has too few names: choose another, such as en_GB or es_ES")
    town = _towns(locale) or (_drawn(fake.city) if _speaks(fake, "address", locale) else ())
    family = frozenset(map(casefold_accents, last))
    sexes = given_name_sexes()
    female, male = (  # without names that the other sex has more often
        tuple(name for name in names if sexes.get(casefold_accents(name), sex) == sex)
        for names, sex in ((female, "female"), (male, "male"))
    )
    sex_of = {casefold_accents(name): sex for names, sex in ((female, "female"), (male, "male")) for name in names}
    if pack is not None:
        entries = partial(pack.entries, "surrogates", "names")
        pet_names = {*entries("pet_names")}
        female, male = (
            tuple(sorted(entries(sex))) or tuple(name for name in names if casefold_accents(name) not in pet_names)
            for sex, names in (("female", female), ("male", male))
        )
    last = _family_names(last, pack)
    return LocaleLists.of(locale.partition("_")[0], (female, male), last, town, (sex_of, family))


def _towns(locale: str) -> tuple[str, ...]:
    """Return the usual names of the towns of a locale's provinces."""
    return tuple(sorted({town for one in provinces_of(locale) for town in one.own_towns}))


def _family_names(names: tuple[str, ...], pack: Language | None) -> tuple[str, ...]:
    """Return the family names of a list, with their accents, without those that the pack excludes."""
    spelled = {casefold_accents(name): name for name in sorted(names, key=str.isascii, reverse=True)}
    section = surrogate_table(pack, "names") if pack else {}
    excluded = {*pack.entries("surrogates", "names", "odd_family_names")} if pack else set[str]()
    if section.get("only_family_names", False):
        excluded |= given_name_sexes().keys()
    found = tuple(sorted(name for plain, name in spelled.items() if plain not in excluded))
    return found if len(found) >= _FEWEST else names


def _speaks(fake: Faker, kind: str, locale: str) -> bool:
    """Return True if Faker has words of a kind in the language, instead of American ones."""
    source = next(type(one).__module__ for one in fake.get_providers() if f".providers.{kind}" in type(one).__module__)
    return source.split(".")[3:4] == [locale] or source.split(".")[-1].split("_")[0] == locale.split("_", maxsplit=1)[0]


def _names(fake: Faker, kind: str) -> tuple[str, ...]:
    """Return the names that Faker lists, or samples if it composes them."""
    lists = next(one for one in fake.get_providers() if ".providers.person" in type(one).__module__)
    listed = _single(getattr(lists, kind.replace("_name", "_names"), ()))
    return listed if len(listed) >= _FEWEST else _drawn(getattr(fake, kind))


def _drawn(draw: Callable[[], str]) -> tuple[str, ...]:
    return _single(draw() for _ in range(_DRAWS))


def _single(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({name for name in names if name.isalpha() and len(name) > 1}))


@lru_cache(maxsize=1)
def given_name_sexes() -> Mapping[str, str]:
    """Return the sex of given names of many countries, casefolded: "female", "male", or "either" if equally frequent.

    Each of Faker's locales has one vote, for the sex with the greater weight. The order of the lists has no influence.
    """
    votes: dict[str, Counter[str]] = {}
    for locale in _GIVEN_NAME_LOCALES:
        lists = import_module(f"faker.providers.person.{locale}").Provider
        weights = {sex: _weights(getattr(lists, f"first_names_{sex}")) for sex in ("female", "male")}
        for sex, names in weights.items():
            other = weights["male" if sex == "female" else "female"]
            for name, weight in names.items():
                votes.setdefault(name, Counter())[sex] += weight > other.get(name, 0)
    return {name: _majority(name, count) for name, count in votes.items()}


def _weights(names: Any) -> dict[str, float]:
    listed = names.items() if isinstance(names, Mapping) else ((name, 1) for name in names)
    return {casefold_accents(name): weight for name, weight in listed if name.isalpha() and len(name) > 2}


def _majority(name: str, count: Counter[str]) -> str:
    if count["female"] != count["male"]:
        return "female" if count["female"] > count["male"] else "male"
    return {"a": "female", "o": "male"}.get(name[-1], "either")

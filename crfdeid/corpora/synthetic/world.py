"""Names from all over the world: people, towns, streets and organisations for the texts of all types, by split.

Faker's lists of many languages, in the Latin alphabet, and those of `people` that the discharge summaries have.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Mapping
from random import Random
from typing import NamedTuple

import regex
from faker import Faker

from crfdeid.corpora.synthetic.data import sections, seeded_faker
from crfdeid.corpora.synthetic.people import Cast, SplitName, deal, make_casts

# Locale -> draws of each kind of name. Faker repeats itself, so fewer come of it.
_LOCALES: Mapping[str, int] = {
    "en_US": 900, "en_GB": 400, "en_CA": 60, "en_IN": 150, "en_PK": 60, "en_NG": 60, "en_KE": 60, "es_ES": 120,
    "es_MX": 120, "es_CO": 40, "pt_BR": 80, "fr_FR": 120, "de_DE": 120, "it_IT": 100, "nl_NL": 80, "sv_SE": 60,
    "no_NO": 50, "da_DK": 50, "fi_FI": 60, "pl_PL": 80, "cs_CZ": 50, "hr_HR": 40, "ro_RO": 50, "hu_HU": 40, "tr_TR": 60,
    "vi_VN": 40, "id_ID": 40, "fil_PH": 50, "yo_NG": 40,
}  # fmt: skip
# Italy's `city` draws from a set, so that another process would have other towns.
_TOWN_LOCALES = ("en_US", "en_GB", "de_DE", "fr_FR", "nl_NL", "sv_SE", "fi_FI", "pl_PL", "en_IN", "es_MX")
_STREET_LOCALES = ("en_US", "en_US", "en_GB", "de_DE", "es_ES", "fr_FR", "it_IT", "nl_NL")
_LATIN_NAME = regex.compile(r"[\p{Latin}'’ .-]{2,30}")
_PLAIN = str.maketrans("øØłŁđĐıßæÆœŒ", "oOlLdDisaAoO")


class World(NamedTuple):
    """Names for the short texts of one split."""

    cast: Cast
    first: tuple[str, ...]
    last: tuple[str, ...]
    towns: tuple[str, ...]
    streets: tuple[str, ...]
    organisations: tuple[str, ...]
    hospitals: tuple[str, ...]


def make_worlds(seed: int) -> dict[SplitName, World]:
    """The lists of the three splits; no entry is in two of them."""
    rng = Random(f"world {seed}")
    fakers = {locale: seeded_faker(locale, seed) for locale in _LOCALES}
    names = sections("words.txt")
    dealt = (  # in the order of the fields of `World`
        deal(_drawn(fakers, lambda faker: faker.first_name(), names["given names"], rng), rng),
        deal(_drawn(fakers, lambda faker: faker.last_name(), names["family names"], rng), rng),
        deal([*names["large towns"], *_towns(fakers)], rng),
        deal([fakers[locale].street_name() for locale in _STREET_LOCALES for _ in range(90)], rng),
        deal([*names["organisations"], *_organisations(fakers)], rng),
        deal(names["hospitals"], rng),
    )
    return {split: World(cast, *(part[split] for part in dealt)) for split, cast in make_casts(seed).items()}


def _drawn(
    fakers: Mapping[str, Faker], draw: Callable[[Faker], str], more: Iterable[str], rng: Random
) -> dict[str, None]:
    """Names of all locales, once each; half of those with accents lose them, as they do in most American systems."""
    found = dict.fromkeys(more)
    for locale, count in _LOCALES.items():
        for name in dict.fromkeys(draw(fakers[locale]) for _ in range(count)):
            if _LATIN_NAME.fullmatch(name) and name not in sections("words.txt")["common"]:  # Mr. Doctor
                found[strip_accents(name) if rng.random() < 0.5 else name] = None
    return found


def strip_accents(text: str) -> str:
    """The text in the letters of English.

    Example:
        >>> strip_accents("Bjørn Peña")
        'Bjorn Pena'
    """
    parts = unicodedata.normalize("NFD", text.translate(_PLAIN))
    return "".join(part for part in parts if not unicodedata.combining(part))


def _towns(fakers: Mapping[str, Faker]) -> list[str]:
    drawn = [fakers[locale].city() for locale in _TOWN_LOCALES for _ in range(60)]
    return [*(town.strip() for town in drawn), *(fakers["en_US"].location_on_land()[2] for _ in range(400))]


def _organisations(fakers: Mapping[str, Faker]) -> list[str]:
    drawn = [fakers[locale].company() for locale in ("en_US", "en_US", "en_GB", "de_DE", "nl_NL") for _ in range(80)]
    return [name for name in drawn if ". " not in name]  # where a sentence might end

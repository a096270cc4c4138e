"""People, hospitals and places in three lists that no two splits share, and the written forms of names and dates.

``train`` holds the names of training notes. ``dev`` and ``test`` hold only names that no training span holds: a note
of those splits draws from its own list with the profile's ``unseen_share`` and else from ``train``.

`Cast` is for discharge summaries. `World` is for the texts of all types, with names of many languages in the Latin
alphabet from Faker's lists.
"""

from __future__ import annotations

import datetime as dt
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Literal, NamedTuple

import regex
from faker import Faker

from crfdeid.corpora.synthetic.data import sections, seeded_faker, tables, template_words
from features.lexicons import ENGLISH_MONTHS, ENGLISH_WEEKDAYS, english_ordinal

_LOCALES = tables("forms.toml")["locales"]
MONTH_NAMES = tuple(map(str.capitalize, ENGLISH_MONTHS))
WEEKDAY_NAMES = tuple(map(str.capitalize, ENGLISH_WEEKDAYS))


class Person(NamedTuple):
    """Someone named in a note."""

    first: str
    middle: str
    last: str
    female: bool


class Hospital(NamedTuple):
    """A hospital, clinic or nursing home and the names it goes by ("Tawn List Medical Center", "Tawn List", "TLMC")."""

    long: str
    short: str
    abbr: str


PERSON_FORMS: Mapping[str, Callable[[Person], str]] = {
    "last": lambda p: p.last,
    "first": lambda p: p.first,
    "full": lambda p: f"{p.first} {p.last}",
    "middle": lambda p: f"{p.first} {p.middle[0]}. {p.last}",
    "three": lambda p: f"{p.first} {p.middle} {p.last}",
    "initial": lambda p: f"{p.first[0]}. {p.last}",
    "initials": lambda p: f"{p.first[0]}. {p.middle[0]}. {p.last}",
    "formal": lambda p: f"{p.last}, {p.first}",
    "formal_middle": lambda p: f"{p.last}, {p.first} {p.middle[0]}.",
    "tight": lambda p: f"{p.last},{p.first} {p.middle[0]}",
    "caps": lambda p: f"{p.first} {p.middle[0]}. {p.last}".upper(),
    "formal_caps": lambda p: f"{p.last}, {p.first}".upper(),
    "tight_caps": lambda p: f"{p.last},{p.first} {p.middle}".upper(),
    "letters": lambda p: f"{p.first[0]}{p.middle[0]}{p.last[0]}",
    "short": lambda p: f"{p.first} {p.last[0]}.",
    "lower": lambda p: f"{p.first} {p.last}".lower(),
}


DATE_FORMS: Mapping[str, str] = tables("forms.toml")["dates"]
"""Templates of `write_date`, by form."""


def write_date(form: str, day: dt.date) -> str:
    """A date in one of `DATE_FORMS`.

    Example:
        >>> write_date("month_ordinal", dt.date(2031, 3, 2))
        'March 2nd'
    """
    return format_date(DATE_FORMS[form], day, MONTH_NAMES, WEEKDAY_NAMES)


def format_date(pattern: str, day: dt.date, months: Sequence[str], weekdays: Sequence[str], **others: dt.date) -> str:
    """A date by a template of str.format, with the names of a language.

    Args:
        pattern: ``d`` is the date, ``month`` and ``weekday`` their names, ``low`` and ``up`` the month in small letters
            and in capitals, ``nth`` the English ending of the day.
        day: the date.
        months: the names of the months.
        weekdays: those of the days, Monday first.
        others: further dates, by their names in the pattern.
    """
    month = months[day.month - 1]
    return pattern.format(
        d=day,
        month=month,
        low=month.lower(),
        up=month.upper(),
        nth=english_ordinal(day.day),
        weekday=weekdays[day.weekday()],
        **others,
    )


def typo(name: str, rng: Random) -> str:
    """The name with one slip of the typist: two letters swapped, one left out, or one doubled.

    Example:
        >>> typo("Marsden", Random(1))
        'Marrsden'
    """
    i = rng.randrange(1, len(name) - 1)
    swapped = name[:i] + name[i + 1] + name[i] + name[i + 2 :]
    slips = (swapped, name[:i] + name[i + 1 :], name[: i + 1] + name[i:])
    return rng.choice([slip for slip in slips if slip != name])


def fill_pattern(pattern: str, rng: Random) -> str:
    """A number from a pattern: ``9`` is any digit, ``1`` a digit above 0, ``A`` a capital, ``a`` a small letter.

    Any other character is literal; ``\\`` quotes the next character.
    """
    ranges = {"9": "0123456789", "1": "123456789", "A": "ABCDEGHJKLMNPRSTVWXZ", "a": "abcdefghjklmnprstvw"}
    marks = regex.findall(r"\\?.", pattern)
    return "".join(rng.choice(ranges[mark]) if mark in ranges else mark[-1] for mark in marks)


SplitName = Literal["train", "dev", "test"]
SPLIT_NAMES: tuple[SplitName, ...] = ("train", "dev", "test")

# How much of every list each split owns, in twentieths.
_SHARES: Mapping[SplitName, int] = {"train": 13, "dev": 2, "test": 5}
_NAME = regex.compile(r"\p{Lu}\p{Ll}{2,14}(?:[-'’]\p{Lu}\p{Ll}{2,10})?")
_CAPITAL = regex.compile(r"\b\p{Lu}|\b[a-z](?=\p{Lu})")


class Cast(NamedTuple):
    """The people, hospitals and places that one split has for itself."""

    surnames: tuple[str, ...]
    female: tuple[str, ...]
    male: tuple[str, ...]
    towns: tuple[str, ...]
    regions: tuple[str, ...]
    doctors: tuple[Person, ...] = ()
    hospitals: tuple[Hospital, ...] = ()
    facilities: tuple[Hospital, ...] = ()


def make_casts(seed: int) -> dict[SplitName, Cast]:
    """The lists of the three splits; no name, town or hospital is in two of them."""
    rng = Random(f"pools {seed}")
    names = sections("names.txt")
    surnames = deal(_surnames(seed, rng), rng, keep_in_train=names["months as surnames"])
    female = deal(_given_names(seed, "female"), rng, keep_in_train=("May", "April", "June"))
    male = deal(_given_names(seed, "male"), rng, keep_in_train=("August",))
    towns = deal(_towns(rng), rng)
    odd = deal(_fresh(names["odd words"]), rng)
    saints = deal(names["saints"], rng)
    regions = deal(names["states and countries"], rng)
    casts: dict[SplitName, Cast] = {}
    used: set[str] = set()
    for split, share in _SHARES.items():
        words = {"town": towns[split], "surname": surnames[split], "odd": odd[split], "saint": saints[split]}
        # Names that are also words are drawn three times as often as others.
        ambiguous = [name for name in surnames[split] if name in names["ambiguous surnames"]]
        cast = Cast((*surnames[split], *ambiguous * 2), female[split], male[split], towns[split], regions[split])
        casts[split] = cast._replace(
            doctors=tuple(draw_person(cast, rng, female=rng.random() < 0.5) for _ in range(12 * share)),
            hospitals=tuple(_hospitals(names["hospital patterns"], words, 4 * share, rng, used)),
            facilities=tuple(_hospitals(names["facility patterns"], words, 2 * share, rng, used)),
        )
    return casts


def draw_person(names: Cast, rng: Random, *, female: bool) -> Person:
    """A new person of one split."""
    first_names = names.female if female else names.male
    return Person(rng.choice(first_names), rng.choice(first_names), rng.choice(names.surnames), female)


def deal(items: Iterable[str], rng: Random, keep_in_train: Sequence[str] = ()) -> dict[SplitName, tuple[str, ...]]:
    """Share out a list so that the splits have nothing in common."""
    cards = [item for item in dict.fromkeys(items) if item not in keep_in_train]
    rng.shuffle(cards)
    dealt: dict[SplitName, tuple[str, ...]] = {}
    start, total = 0, sum(_SHARES.values())
    for split, share in _SHARES.items():
        stop = start + round(len(cards) * share / total)
        dealt[split] = tuple(cards[start:stop]) + (tuple(keep_in_train) if split == "train" else ())
        start = stop
    return dealt


def _fresh(words: Iterable[str]) -> list[str]:
    """The words that the templates do not use themselves."""
    taken = template_words()
    return [word for word in words if not taken & {part.lower() for part in regex.findall(r"\p{L}+", word)}]


def _surnames(seed: int, rng: Random) -> list[str]:
    """Ambiguous names of our own, common ones from Faker in several languages, and invented ones."""
    ambiguous = sections("names.txt")["ambiguous surnames"]
    return [*ambiguous, *_drawn("last_name", _LOCALES["surnames"], seed), *_fresh(invented_words(rng, 250))]


def _given_names(seed: int, sex: Literal["female", "male"]) -> list[str]:
    ambiguous = sections("names.txt")[f"ambiguous given names, {sex}"]
    return [*ambiguous, *_drawn(f"first_name_{sex}", _LOCALES["given_names"], seed)]


def _drawn(kind: str, locales: Mapping[str, int], seed: int) -> Iterator[str]:
    """Faker's names of a kind, a number from each locale, without words of the templates."""
    for locale, count in locales.items():
        draw = getattr(seeded_faker(locale, seed), kind)
        yield from _fresh(name for name in (draw() for _ in range(count)) if _NAME.fullmatch(name))


def _towns(rng: Random) -> list[str]:
    names = sections("names.txt")
    made = [rng.choice(names["town starts"]) + rng.choice(names["town ends"]) for _ in range(140)]
    return [*names["odd towns"], *_fresh(made)]


def invented_words(rng: Random, count: int) -> Iterator[str]:
    """Words that no one has seen, such as "Chaberd" or "Tolk"."""
    starts, middles, ends = (sections("names.txt")[f"syllable {part}"] for part in ("starts", "middles", "ends"))
    for _ in range(count):
        syllables = rng.choice((1, 1, 2, 2, 2))
        word = "".join(rng.choice(starts) + rng.choice(middles) for _ in range(syllables)) + rng.choice(ends)
        if len(word) > 3:
            yield word.capitalize()


def _hospitals(
    patterns: Sequence[str], words: Mapping[str, Sequence[str]], count: int, rng: Random, used: set[str]
) -> Iterator[Hospital]:
    """Hospitals with a long name, a short one and an abbreviation that no other hospital has."""
    made = 0
    while made < count:
        fields = {name: rng.choice(choices) for name, choices in words.items()}
        fields["second"], fields["odd2"] = rng.choice(words["surname"]), rng.choice(words["odd"])
        long, short = rng.choice(patterns).format(**fields).split(" | ")
        abbr = _abbreviation(long, rng)
        if abbr in used or long in used or short in used or abbr.lower() in template_words():
            continue
        used.update((abbr, long, short))
        made += 1
        yield Hospital(long, short, abbr)


def _abbreviation(long: str, rng: Random) -> str:
    """The capitals of the long name; often with a letter more, less or other, as house codes are ("FIH", "WA")."""
    letters = "".join(_CAPITAL.findall(long)).upper() or long[:2].upper()
    extra = rng.choice("ABCDEFGHIKLMNOPRSTVW")
    if len(letters) < 2:
        return letters + extra
    return rng.choice(
        (letters, letters, letters + extra, extra + letters[1:], letters[:2], letters[0] + extra + letters[-1])
    )


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
    fakers = {locale: seeded_faker(locale, seed) for locale in _LOCALES["world"]}
    names = sections("words.txt")
    dealt = (  # in the order of the fields of `World`
        deal(_world_names(fakers, lambda faker: faker.first_name(), names["given names"], rng), rng),
        deal(_world_names(fakers, lambda faker: faker.last_name(), names["family names"], rng), rng),
        deal([*names["large towns"], *_world_towns(fakers)], rng),
        deal([fakers[locale].street_name() for locale in _LOCALES["streets"] for _ in range(90)], rng),
        deal([*names["organisations"], *_organisations(fakers)], rng),
        deal(names["hospitals"], rng),
    )
    return {split: World(cast, *(part[split] for part in dealt)) for split, cast in make_casts(seed).items()}


def _world_names(
    fakers: Mapping[str, Faker], draw: Callable[[Faker], str], more: Iterable[str], rng: Random
) -> dict[str, None]:
    """Names of all locales, once each; half of those with accents lose them, as they do in most American systems."""
    names = dict.fromkeys(more)
    for locale, count in _LOCALES["world"].items():
        for name in dict.fromkeys(draw(fakers[locale]) for _ in range(count)):
            if _LATIN_NAME.fullmatch(name) and name not in sections("words.txt")["common"]:  # Mr. Doctor
                names[strip_accents(name) if rng.random() < 0.5 else name] = None
    return names


def strip_accents(text: str) -> str:
    """The text in the letters of English.

    Example:
        >>> strip_accents("Bjørn Peña")
        'Bjorn Pena'
    """
    parts = unicodedata.normalize("NFD", text.translate(_PLAIN))
    return "".join(part for part in parts if not unicodedata.combining(part))


def _world_towns(fakers: Mapping[str, Faker]) -> list[str]:
    drawn = [fakers[locale].city() for locale in _LOCALES["towns"] for _ in range(60)]
    return [*(town.strip() for town in drawn), *(fakers["en_US"].location_on_land()[2] for _ in range(400))]


def _organisations(fakers: Mapping[str, Faker]) -> list[str]:
    drawn = [fakers[locale].company() for locale in _LOCALES["organisations"] for _ in range(80)]
    return [name for name in drawn if ". " not in name]  # where a sentence might end

"""Who and what there is to name: people, hospitals and places, in three lists that no two splits share.

``train`` holds what training notes draw from. ``dev`` and ``test`` hold only what no training span ever holds: a note
of those splits draws from its own list with the profile's ``unseen_share`` and else from ``train``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Literal, NamedTuple

import regex
from faker import Faker

from crfdeid.corpora.synthetic.data import sections, template_words
from crfdeid.corpora.synthetic.surrogates import Hospital, Person

SplitName = Literal["train", "dev", "test"]

# How much of every list each split owns, in twentieths.
_SHARES: Mapping[SplitName, int] = {"train": 13, "dev": 2, "test": 5}
_LOCALES = {"en_US": 500, "en_GB": 120, "es_MX": 70, "fr_FR": 50, "en_IN": 50, "pl_PL": 40, "it_IT": 40, "vi_VN": 8}
_NAME = regex.compile(r"\p{Lu}\p{Ll}{2,14}(?:[-'’]\p{Lu}\p{Ll}{2,10})?")
_CAPITAL = regex.compile(r"\b\p{Lu}|\b[a-z](?=\p{Lu})")


class Cast(NamedTuple):
    """The people, hospitals and places that one split has for itself."""

    surnames: tuple[str, ...]
    female: tuple[str, ...]
    male: tuple[str, ...]
    towns: tuple[str, ...]
    regions: tuple[str, ...]
    doctors: tuple[Person, ...]
    hospitals: tuple[Hospital, ...]
    facilities: tuple[Hospital, ...]


def make_casts(seed: int) -> dict[SplitName, Cast]:
    """The lists of the three splits; no name, town or hospital is in two of them."""
    rng = Random(f"pools {seed}")
    names = sections("names.txt")
    months = names["months as surnames"]
    surnames = deal(_surnames(seed, rng), rng, keep_in_train=months)
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
        people = _People((*surnames[split], *ambiguous * 2), female[split], male[split])
        casts[split] = Cast(
            surnames=people.surnames,
            female=people.female,
            male=people.male,
            towns=towns[split],
            regions=regions[split],
            doctors=tuple(draw_person(people, rng, female=rng.random() < 0.5) for _ in range(12 * share)),
            hospitals=tuple(_hospitals(names["hospital patterns"], words, 4 * share, rng, used)),
            facilities=tuple(_hospitals(names["facility patterns"], words, 2 * share, rng, used)),
        )
    return casts


class _People(NamedTuple):
    surnames: tuple[str, ...]
    female: tuple[str, ...]
    male: tuple[str, ...]


def draw_person(names: _People | Cast, rng: Random, *, female: bool) -> Person:
    """A new person of one split."""
    given = names.female if female else names.male
    return Person(rng.choice(given), rng.choice(given), rng.choice(names.surnames), female)


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
    found = list(sections("names.txt")["ambiguous surnames"])
    for locale, count in _LOCALES.items():
        # An instance of its own: Faker's shared random state stays untouched.
        faker = Faker(locale)
        faker.seed_instance(seed)
        found += _fresh(name for name in (faker.last_name() for _ in range(count)) if _NAME.fullmatch(name))
    return found + _fresh(_invented_words(rng, 250))


def _given_names(seed: int, sex: Literal["female", "male"]) -> list[str]:
    found = list(sections("names.txt")[f"ambiguous given names, {sex}"])
    for locale, count in {"en_US": 160, "es_MX": 25, "fr_FR": 15, "en_IN": 15}.items():
        faker = Faker(locale)
        faker.seed_instance(seed)
        draw = faker.first_name_female if sex == "female" else faker.first_name_male
        found += _fresh(name for name in (draw() for _ in range(count)) if _NAME.fullmatch(name))
    return found


def _towns(rng: Random) -> list[str]:
    names = sections("names.txt")
    made = [rng.choice(names["town starts"]) + rng.choice(names["town ends"]) for _ in range(140)]
    return [*names["odd towns"], *_fresh(made)]


def _invented_words(rng: Random, count: int) -> Iterator[str]:
    """Words that no one has seen, such as "Chaberd" or "Tolk"."""
    names = sections("names.txt")
    starts, middles, ends = (names[f"syllable {part}"] for part in ("starts", "middles", "ends"))
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

"""What surrogates are chosen from: names, cities, streets and jobs that Faker gives, collected once for each locale."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from crfdeid.errors import UsageError

# Draws from Faker for each list: it repeats itself, so a list is shorter.
_DRAWS = 3000
_FEWEST = 20


class Invented(NamedTuple):
    """Invented names of a locale: each list sorted and without repeats, of single words but for jobs.

    Attributes:
        female: first names of women.
        male: first names of men.
        last: family names.
        place: towns and streets.
        country: countries.
        job: professions.
    """

    female: tuple[str, ...]
    male: tuple[str, ...]
    last: tuple[str, ...]
    place: tuple[str, ...]
    country: tuple[str, ...]
    job: tuple[str, ...]


@lru_cache(maxsize=8)
def invented(locale: str) -> Invented:
    """The invented names of a locale; the same for the same version of Faker.

    Raises:
        UsageError: Faker has no such locale.
    """
    from faker import Faker  # noqa: PLC0415
    from faker.config import AVAILABLE_LOCALES  # noqa: PLC0415

    if locale not in AVAILABLE_LOCALES:
        raise UsageError(f"unknown locale '{locale}': choose one of Faker's, such as en_US, en_GB, es_ES or de_DE")
    fake = Faker(locale)
    fake.seed_instance(0)
    spare = Faker("en_US")  # for what a locale has too little of
    spare.seed_instance(0)

    def draw(name: str, *, single: bool = True) -> tuple[str, ...]:
        found = _drawn(getattr(fake, name), single)
        return found if len(found) >= _FEWEST else tuple(sorted({*found, *_drawn(getattr(spare, name), single)}))

    places = (*draw("city"), *draw("last_name"))  # streets are mostly named after people
    return Invented(
        draw("first_name_female"),
        draw("first_name_male"),
        draw("last_name"),
        tuple(sorted(set(places))),
        draw("country"),
        draw("job", single=False),
    )


def _drawn(draw: Callable[[], str], single: bool) -> tuple[str, ...]:
    found = {draw() for _ in range(_DRAWS)}
    return tuple(sorted(name for name in found if name and (name.isalpha() or not single)))

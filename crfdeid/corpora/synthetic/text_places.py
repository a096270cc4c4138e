"""Streets, towns, addresses and hospitals of the texts of all types."""

from __future__ import annotations

from functools import cache
from random import Random

from faker import Faker

from crfdeid.corpora.synthetic.data import sections
from crfdeid.corpora.synthetic.pieces import Piece, join
from crfdeid.corpora.synthetic.surrogates import fill_pattern
from crfdeid.corpora.synthetic.templates import labelled
from crfdeid.corpora.synthetic.world import World

_ACRONYM_SHARE, _FAMOUS_SHARE, _NOTES_SHARE, _BOX_SHARE = 0.12, 0.3, 0.2, 0.04
_ACRONYMS = ("AAA", "AAAA", "AA", "AAMC", "AAH")


class Places:
    """Draws places.

    Args:
        world: the names to draw from.
        faker: makes states, postal codes and flats.
        rng: the source of all other choices.
    """

    def __init__(self, world: World, faker: Faker, rng: Random) -> None:
        self._world, self._faker, self._rng = world, faker, rng

    def street(self) -> str:
        """A street with its number, seldom with a flat; now and then a post-office box."""
        rng, faker, world = self._rng, self._faker, self._world
        if rng.random() < _BOX_SHARE:
            return f"{rng.choice(('P.O. Box', 'PO Box', 'P.O. box'))} {rng.randint(2, 9999)}"
        road, number = rng.choice(world.streets), rng.randint(1, 9999 if rng.random() < 0.4 else 240)
        # An American street begins with its number; those of the Continent end with it.
        foreign = not _is_english(road) and rng.random() < 0.8
        street = f"{road} {number}" if foreign else f"{number} {road}"
        flat = faker.secondary_address()
        return rng.choice((*(street,) * 8, f"{street}, {flat}", f"{street} {flat}", f"{flat}, {street}"))

    def town(self) -> str:
        """A town, most often a real one."""
        world = self._world
        return self._rng.choice(world.cast.towns if self._rng.random() < _NOTES_SHARE else world.towns)

    def country(self) -> str:
        """A country."""
        return self._rng.choice(sections("words.txt")["countries"])

    def address(self) -> Piece:
        """A street and what follows it, each part with its type."""
        rng, faker = self._rng, self._faker
        street, town = labelled(self.street(), "STREET"), labelled(self.town(), "CITY")
        code, zipcode = labelled(faker.state_abbr(), "STATE"), labelled(faker.postcode(), "ZIP")
        gap = rng.choice((", ", ", ", ", ", " ", "\n"))
        tail = rng.choice(
            (
                (town, Piece(", "), code, Piece(" "), zipcode),
                (town, Piece(", "), code, Piece(" "), zipcode),
                (town, Piece(" "), code, Piece(" "), zipcode),
                (town, Piece(", "), labelled(faker.state(), "STATE"), Piece(" "), zipcode),
                (labelled(faker.postcode(), "ZIP"), Piece(" "), town),
                (town, Piece(", "), labelled(self.country(), "COUNTRY")),
                (town,),
            )
        )
        return join((street, Piece(gap), *tail))

    def hospital(self, form: str) -> str:
        """A hospital: a large one that exists, an abbreviation, one of the notes', or one made up.

        Args:
            form: "local" ("the Tawn clinic") or "saint" ("St. Mary's"); "" for any.
        """
        rng, world = self._rng, self._world
        if form:
            pattern = rng.choice(sections("words.txt")[f"{form} hospital forms"])
            return pattern.format(town=self.town(), saint=rng.choice(sections("words.txt")["saints"]))
        if rng.random() < _FAMOUS_SHARE:
            return rng.choice(world.hospitals)
        if rng.random() < _ACRONYM_SHARE:
            return fill_pattern(rng.choice(_ACRONYMS), rng)
        if rng.random() < _NOTES_SHARE:
            hospital = rng.choice(rng.choice((world.cast.hospitals, world.cast.facilities)))
            return rng.choice((hospital.long, hospital.long, hospital.short))
        words = {
            "town": self.town(),
            "state": self._faker.state(),
            "surname": rng.choice(world.last),
            "saint": rng.choice(sections("words.txt")["saints"]),
            "odd": rng.choice(sections("words.txt")["hospital words"]),
        }
        return rng.choice(sections("words.txt")["hospital forms"]).format(**words)


def _is_english(road: str) -> bool:
    """Whether a street's last word is one of English streets."""
    return road.rsplit(maxsplit=1)[-1].lower() in _english_roads()


@cache
def _english_roads() -> frozenset[str]:
    return frozenset(word.lower() for word in sections("words.txt")["english roads"])

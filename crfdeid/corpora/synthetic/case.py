"""One patient's case: every fact that a note's sentences must agree on."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple, NoReturn, TypeVar

from crfdeid.corpora.synthetic.data import Scenario, scenarios, sections
from crfdeid.corpora.synthetic.people import DATE_HABITS, Cast, Hospital, Person, draw_person, fill_pattern
from crfdeid.corpora.synthetic.templates import render

T = TypeVar("T")
# Facts of the scenario that are worded once for the whole note.
SETTLED_FACTS = ("diagnosis", "complaint", "condition")
_DAYS_A_YEAR = 365.25


class Source(NamedTuple):
    """Where a note's people and places come from.

    Attributes:
        own: what the note's split has for itself.
        seen: what training notes draw from (the same as ``strip_prefix`` for training notes).
        unseen_share: how often ``strip_prefix`` is used, a fraction.
    """

    own: Cast
    seen: Cast
    unseen_share: float

    def pick(self, rng: Random) -> Cast:
        """The list for the next person or place."""
        return self.own if rng.random() < self.unseen_share else self.seen


@dataclass(frozen=True, slots=True)
class Case:
    """The facts of one note.

    ``words`` holds the settled texts of the scenario. ``discharge`` is the last day of the story; on a visit it equals
    ``admit``.
    """

    scenario: Scenario
    patient: Person
    title: str
    relative: Person
    kin: Person
    age_days: int
    born: dt.date
    admit: dt.date
    discharge: dt.date
    hospital: Hospital
    outside: Hospital
    facility: Hospital
    attending: Person
    dictator: Person
    pcp: Person
    surgeon: Person
    consultants: tuple[Person, ...]
    town: str
    street: str
    region: str
    mrn: str
    account: str
    job: str
    typist: str
    words: Mapping[str, str]
    date_habit: str
    short_habit: str


def draw_case(source: Source, rng: Random, *, stay: bool) -> Case:
    """A new case.

    Args:
        source: the people and places to draw from.
        rng: the source of all choices.
        stay: whether the note tells of days in hospital (else of one day).
    """
    scenario = rng.choice(scenarios())
    patterns = sections("names.txt")
    female = scenario.facts["sex"][0] == "female" or (scenario.facts["sex"][0] == "any" and rng.random() < 0.5)
    patient = draw_person(source.pick(rng), rng, female=female)
    hospital_cast = source.pick(rng)
    doctors: list[Person] = []
    while len(doctors) < 8:
        doctors = list(dict.fromkeys([*doctors, _doctor(source, rng)]))
    if rng.random() < 0.05:  # A doctor with the patient's surname: only the context tells them apart.
        doctors[rng.randrange(3)] = doctors[0]._replace(last=patient.last)
    town = rng.choice(source.pick(rng).towns)
    age_days = _age_days(scenario.facts["age"][0], rng)
    admit = dt.date(1988, 1, 1) + dt.timedelta(rng.randrange(24 * 365))
    stay_days = rng.choice((1, 2, 3, 3, 4, 4, 5, 6, 7, 9, 12, 17)) if stay else 0
    return Case(
        scenario=scenario,
        patient=patient,
        title=_title(patient, age_days, rng),
        relative=_relative(source, patient, age_days, rng),
        kin=_relative(source, patient, age_days, rng),
        age_days=age_days,
        born=admit - dt.timedelta(age_days),
        admit=admit,
        discharge=admit + dt.timedelta(stay_days),
        hospital=_often_first(hospital_cast.hospitals, rng),
        outside=rng.choice(source.pick(rng).hospitals),
        facility=rng.choice(source.pick(rng).facilities),
        attending=doctors[0],
        dictator=doctors[rng.choice((0, 1, 1))],
        pcp=doctors[2],
        surgeon=doctors[3],
        consultants=tuple(doctors[4:]),
        town=town,
        street=rng.choice(source.pick(rng).surnames),
        region=rng.choice(source.pick(rng).regions),
        mrn=fill_pattern(rng.choice(patterns["mrn patterns"]), rng),
        account=fill_pattern(rng.choice(patterns["account patterns"]), rng),
        job=fill_pattern(rng.choice(patterns["job patterns"]), rng),
        typist=fill_pattern(rng.choice(patterns["user patterns"]), rng),
        words={key: _settled(rng.choice(scenario.facts[key]), rng) for key in SETTLED_FACTS},
        date_habit=rng.choice(DATE_HABITS["num"]),
        short_habit=rng.choice(DATE_HABITS["short"]),
    )


def _often_first(items: Sequence[T], rng: Random) -> T:
    """One of the items, the early ones more often: in any archive some names recur and many stand once."""
    return items[int(len(items) * rng.random() ** 2)]


def _settled(template: str, rng: Random) -> str:
    """A fact with its choices made; it may hold numbers, but no field and so no PHI."""

    def refuse(name: str) -> NoReturn:
        raise ValueError(f"no field may stand in a fact that is worded once: {name}")

    return render(template, refuse, rng).text


def _doctor(source: Source, rng: Random) -> Person:
    return _often_first(source.pick(rng).doctors, rng)


def _age_days(spec: str, rng: Random) -> int:
    """An age from "58-89" (years) or "0-40 days"."""
    low, high = (int(part) for part in spec.removesuffix(" days").split("-"))
    if spec.endswith("days"):
        return rng.randint(low, high)
    return int(rng.uniform(low, high + 1) * _DAYS_A_YEAR)


def _title(patient: Person, age_days: int, rng: Random) -> str:
    if age_days < 400:
        return "Baby Girl" if patient.female else "Baby Boy"
    return rng.choice(("Mrs.", "Ms.", "Ms.", "Miss")) if patient.female else "Mr."


def _relative(source: Source, patient: Person, age_days: int, rng: Random) -> Person:
    """Someone close: a spouse, or an infant's mother; mostly of the same surname."""
    other = draw_person(source.pick(rng), rng, female=not patient.female if age_days >= 400 else True)
    return other._replace(last=patient.last) if rng.random() < 0.7 else other

"""Facts and concepts of one note, and the values of template fields that state them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import NamedTuple, TypeVar

from crfdeid.corpora.marked_text import FieldValue, MarkedText, expand, join_parts, labelled, render
from crfdeid.corpora.synthetic.data import Facts, scenarios, sections, tables
from crfdeid.corpora.synthetic.people import (
    PERSON_FORMS,
    Cast,
    Hospital,
    Person,
    SplitName,
    deal,
    draw_person,
    fill_pattern,
    typo,
    write_date,
)
from crfdeid.documents import CONCEPT, Span

CONCEPT_TYPES = ("PROBLEM", "TREATMENT", "TEST")
"""The types of concepts, as i2b2 2010 has them."""

_FORMS = tables("forms.toml")
_LISTS: Mapping[str, tuple[str, int]] = _FORMS["terms"]
_CONCEPT_FIELDS = frozenset((*_LISTS, *CONCEPT_TYPES))
"""Fields of templates that are replaced by a concept."""


class TermLists(NamedTuple):
    """Terms for the notes of a split, by list.

    Attributes:
        own: the terms of the split.
        seen: the terms of training notes (the same as ``own`` for training notes).
        unseen_share: the share of terms from ``own``, a fraction.
    """

    own: Mapping[str, tuple[str, ...]]
    seen: Mapping[str, tuple[str, ...]]
    unseen_share: float


def make_vocabularies(seed: int, unseen_share: float) -> dict[SplitName, TermLists]:
    """The terms of each split; no two splits have one of their own in common."""
    rng = Random(f"concepts {seed}")
    dealt = {name: deal(sections("concepts.txt")[name], rng) for name in _LISTS}
    own: dict[SplitName, dict[str, tuple[str, ...]]] = {
        split: {name: parts[split] for name, parts in dealt.items()} for split in ("train", "dev", "test")
    }
    return {split: TermLists(own[split], own["train"], unseen_share) for split in own}


class Terms:
    """Concepts of one note: a few terms of each list, each of which may occur several times.

    Args:
        vocabulary: the terms of the note's split.
        rng: the source of all choices.
    """

    def __init__(self, vocabulary: TermLists, rng: Random) -> None:
        self._rng = rng
        self._chosen = {name: self._choose(vocabulary, name, count) for name, (_, count) in _LISTS.items()}

    def _choose(self, vocabulary: TermLists, name: str, count: int) -> list[str]:
        """Terms with their choices made, so that a note has "left hip fracture" throughout."""
        chosen: list[str] = []
        while len(chosen) < count:
            source = vocabulary.own if self._rng.random() < vocabulary.unseen_share else vocabulary.seen
            term = self._rng.choice(source[name])
            if term not in chosen:
                chosen.append(term)
        return [expand(term, self._rng) for term in chosen]

    def __call__(self, name: str, form: str) -> MarkedText:
        """Return the concept for a field.

        Args:
            name: one of `_CONCEPT_FIELDS`: a list of terms, or a type.
            form: "cap" for a term that begins with a capital, "" for an unchanged one; of a type, the concept itself.
        """
        if name in CONCEPT_TYPES:
            return _marked(form, name)
        terms = self._chosen[name]
        # One that stood last is asked for last: "aspirin was replaced by aspirin" makes no sense.
        term = terms.pop(self._rng.randrange(len(terms) - 1))
        terms.append(term)
        return _marked(term[0].upper() + term[1:] if form == "cap" else term, _LISTS[name][0])


def _marked(text: str, label: str) -> MarkedText:
    return MarkedText(text, layers={CONCEPT: (Span(0, len(text), label),)})


_T = TypeVar("_T")
# Facts of the scenario that are worded once for the whole note.
SETTLED_FACTS = ("diagnosis", "complaint", "condition")
_DAYS_A_YEAR = 365.25
# The share of a note's dates of a kind that have its own form.
_HABIT_SHARES: Mapping[str, float] = {"num": 0.85, "short": 0.75}
_DATE_GROUPS: Mapping[str, Sequence[str]] = _FORMS["date_groups"]["notes"]


class CastSource(NamedTuple):
    """Lists of people and places for a note.

    Attributes:
        own: the list of the note's split.
        seen: the list of training notes (the same as ``own`` for training notes).
        unseen_share: the share of choices from ``own``, a fraction.
    """

    own: Cast
    seen: Cast
    unseen_share: float

    def pick(self, rng: Random) -> Cast:
        """The list for the next person or place."""
        return self.own if rng.random() < self.unseen_share else self.seen


class Case(NamedTuple):
    """The facts of one note, by the fields of templates that state them.

    Attributes:
        facts: the facts of the clinical condition.
        title: the patient's form of address.
        age_days: the patient's age on admission.
        admit: the first day of the story.
        discharge: the last day; on a visit it equals ``admit``.
        patients: the patient and relatives.
        hospitals: hospitals and other institutions.
        doctors: doctors with a role.
        consultants: further doctors.
        places: town, street and region.
        ids: identifying numbers.
        words: settled texts of the scenario.
        habits: the note's own form of dates, "num" and "short".
    """

    facts: Facts
    title: str
    age_days: int
    admit: dt.date
    discharge: dt.date
    patients: Mapping[str, Person]
    hospitals: Mapping[str, Hospital]
    doctors: Mapping[str, Person]
    consultants: tuple[Person, ...]
    places: Mapping[str, str]
    ids: Mapping[str, str]
    words: Mapping[str, str]
    habits: Mapping[str, str]


def draw_case(source: CastSource, rng: Random, *, stay: bool) -> Case:
    """A new case.

    Args:
        source: the people and places to draw from.
        rng: the source of all choices.
        stay: true for a note about days in hospital, false for one day.
    """
    facts = rng.choice(scenarios())
    female = facts["sex"][0] == "female" or (facts["sex"][0] == "any" and rng.random() < 0.5)
    patient = draw_person(source.pick(rng), rng, female=female)
    hospital_cast = source.pick(rng)
    doctors: list[Person] = []
    while len(doctors) < 8:
        doctors = list(dict.fromkeys([*doctors, _often_first(source.pick(rng).doctors, rng)]))
    if rng.random() < 0.05:  # A doctor with the patient's surname: only the context tells them apart.
        doctors[rng.randrange(3)] = doctors[0]._replace(last=patient.last)
    town = rng.choice(source.pick(rng).towns)
    age_days = _age_days(facts["age"][0], rng)
    admit = dt.date(1988, 1, 1) + dt.timedelta(rng.randrange(24 * 365))
    stay_days = rng.choice((1, 2, 3, 3, 4, 4, 5, 6, 7, 9, 12, 17)) if stay else 0
    return Case(
        facts,
        _title(patient, age_days, rng),
        age_days,
        admit,
        admit + dt.timedelta(stay_days),
        {
            "patient": patient,
            "relative": _relative(source, patient, age_days, rng),
            "kin": _relative(source, patient, age_days, rng),
        },
        {
            "hospital": _often_first(hospital_cast.hospitals, rng),
            "outside": rng.choice(source.pick(rng).hospitals),
            "facility": rng.choice(source.pick(rng).facilities),
        },
        {
            "attending": doctors[0],
            "dictator": doctors[rng.choice((0, 1, 1))],
            "pcp": doctors[2],
            "surgeon": doctors[3],
        },
        tuple(doctors[4:]),
        {
            "town": town,
            "street": rng.choice(source.pick(rng).surnames),
            "region": rng.choice(source.pick(rng).regions),
        },
        {
            key: fill_pattern(rng.choice(sections("names.txt")[f"{key} patterns"]), rng)
            for key in ("mrn", "account", "job", "user")
        },
        {key: render(rng.choice(facts[key]), _NO_FIELDS.__getitem__, rng).text for key in SETTLED_FACTS},
        {key: rng.choice(_DATE_GROUPS[key]) for key in _HABIT_SHARES},
    )


def _often_first(items: Sequence[_T], rng: Random) -> _T:
    """One of the items, early ones more often: in any archive a few names recur and many occur once."""
    return items[int(len(items) * rng.random() ** 2)]


_NO_FIELDS: dict[str, FieldValue] = {}
"""Fields of a fact that is worded once: it may hold numbers, but no field and so no PHI."""


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


def _relative(source: CastSource, patient: Person, age_days: int, rng: Random) -> Person:
    """Someone close: a spouse, or an infant's mother; mostly of the same surname."""
    other = draw_person(source.pick(rng), rng, female=not patient.female if age_days >= 400 else True)
    return other._replace(last=patient.last) if rng.random() < 0.7 else other


_TYPO_SHARE = 0.03
_ADULT_DAYS = 16 * 365
_NUMBERS: Mapping[str, tuple[str, str, str]] = _FORMS["numbers"]["notes"]


class Fields:
    """Answers a note's fields from its case; keeps the running date, so that the story goes forward in time.

    Args:
        case: the note's facts.
        rng: the source of all choices.
        doctor: the title of doctors in this note.
        fine: use the types of i2b2 2014 instead of the seven.
        terms: the note's concepts; None for a note whose concepts are not marked.
    """

    def __init__(
        self, case: Case, rng: Random, *, doctor: str = "Dr.", fine: bool = False, terms: Terms | None = None
    ) -> None:
        self._case, self._rng, self._doctor, self._fine, self._terms = case, rng, doctor, fine, terms
        self._now, self._female = case.admit, case.patients["patient"].female
        self._dates: Mapping[str, Callable[[], dt.date]] = {
            "admit": lambda: case.admit,
            "discharge": lambda: case.discharge,
            "visit": lambda: case.discharge,
            "born": lambda: case.admit - dt.timedelta(case.age_days),
            "during": self._next_day,
            "recent": lambda: self._before(3, 60),
            "past": lambda: self._before(90, 5000),
            "future": lambda: case.discharge + dt.timedelta(rng.randint(5, 90)),
            "dictated": lambda: case.discharge + dt.timedelta(rng.choice((0, 0, 1, 2, 5))),
            "transcribed": lambda: case.discharge + dt.timedelta(rng.choice((5, 6, 8))),
        }
        self._answers = self._answer_table()

    def __call__(self, name: str) -> FieldValue | MarkedText:
        """The value of a field.

        Raises:
            KeyError: a template names a field that does not exist.
        """
        key, _, form = name.partition(".")
        if self._terms is not None and key in _CONCEPT_FIELDS:
            return self._terms(key, form)
        value = self._answers[key](key, "" if form == "any" else form)
        return self._refined(key, value) if self._fine else value

    def _refined(self, key: str, value: FieldValue) -> FieldValue | MarkedText:
        """The same text with the types of i2b2 2014; of an address, each part has its own."""
        if value.label == "ID":
            return value._replace(label=_NUMBERS[key][2])
        if value.label != "LOCATION":
            return value
        if key != "address":
            types = {"town": "CITY", "street": "STREET"}
            state = "STATE" if value.text in sections("words.txt")["american states"] else "COUNTRY"
            return value._replace(label=types.get(key, state))
        street, town, rest = value.text.split(", ")
        code, gap, number = rest.partition(" ")
        parts = (labelled(street, "STREET"), labelled(town, "CITY"), labelled(code, "STATE"))
        return join_parts((join_parts(parts, ", "), MarkedText(gap), labelled(number, "ZIP" if number else "")))

    def _answer_table(self) -> dict[str, Callable[[str, str], FieldValue]]:
        """For every field, the function of its name and form that gives its value."""
        case = self._case
        table: dict[str, Callable[[str, str], FieldValue]] = {
            "dr": lambda key, form: FieldValue(self._doctor),
            "mr": lambda key, form: FieldValue(case.title),
            "person": lambda key, form: FieldValue(self._person_words()),
            "age": lambda key, form: FieldValue(str(case.age_days // 365 or f"{case.age_days} days")),
            "consult": lambda key, form: self._name(self._rng.choice(case.consultants), form, "DOCTOR"),
        }
        table |= dict.fromkeys(SETTLED_FACTS, lambda key, form: FieldValue(case.words[key]))
        table |= dict.fromkeys(_FORMS["words"], lambda key, form: FieldValue(self._pronoun(key)))
        table |= dict.fromkeys(self._dates, lambda key, form: FieldValue(self._date(self._dates[key](), form), "DATE"))
        table |= dict.fromkeys(
            case.hospitals, lambda key, form: FieldValue(self._hospital(case.hospitals[key], form), "HOSPITAL")
        )
        table |= dict.fromkeys(_NUMBERS, lambda key, form: self._fresh_number(key))
        table |= dict.fromkeys(case.ids, lambda key, form: FieldValue(case.ids[key], "ID"))
        table |= dict.fromkeys(case.patients, lambda key, form: self._name(case.patients[key], form, "PATIENT"))
        table |= dict.fromkeys(case.doctors, lambda key, form: self._name(case.doctors[key], form, "DOCTOR"))
        table |= dict.fromkeys([*case.places, "address"], lambda key, form: FieldValue(self._place(key), "LOCATION"))
        return table

    def _pronoun(self, key: str) -> str:
        for_child = _FORMS["child_words"] if self._case.age_days < _ADULT_DAYS else {}
        return str({**_FORMS["words"], **for_child}[key][self._female])

    def _fresh_number(self, key: str) -> FieldValue:
        section, label, _ = _NUMBERS[key]
        return FieldValue(fill_pattern(self._rng.choice(sections("names.txt")[section]), self._rng), label)

    def _person_words(self) -> str:
        case, rng = self._case, self._rng
        years = case.age_days // 365
        if years < 1:
            return f"{case.age_days}-day-old {'female' if self._female else 'male'} infant"
        noun = rng.choice(("woman", "female", "lady") if self._female else ("man", "male", "gentleman"))
        age = rng.choice((f"{years}-year-old", f"{years} year old", f"{years} y/o", f"{years} yo", f"{years}-year-old"))
        return f"{age} {noun}"

    def _name(self, person: Person, form: str, label: str) -> FieldValue:
        """A person's name in the form asked for, else in a usual one; now and then with a slip of the typist."""
        rng = self._rng
        if form in ("", "last", "full") and len(person.last) > 5 and rng.random() < _TYPO_SHARE:
            person = person._replace(last=typo(person.last, rng))
        return FieldValue(PERSON_FORMS[form or rng.choice(_FORMS["names"]["notes"][label])](person), label)

    def _hospital(self, hospital: Hospital, form: str) -> str:
        return str(getattr(hospital, form or self._rng.choice(_FORMS["names"]["notes"]["HOSPITAL"])))

    def _place(self, key: str) -> str:
        case, rng = self._case, self._rng
        if key in ("town", "region"):
            return case.places[key]
        names = sections("names.txt")
        street = f"{rng.randint(2, 980)} {case.places['street']} {rng.choice(names['street kinds'])}"
        if key == "street":
            return street
        address = f"{street}, {case.places['town']}, {rng.choice(names['state codes'])}"
        return rng.choice((address, f"{address} 0{rng.randint(1000, 9999)}"))

    def _date(self, date: dt.date, form: str) -> str:
        case, rng = self._case, self._rng
        wish = form or rng.choice(("short", "short", "num", "text"))
        if wish in case.habits and rng.random() < _HABIT_SHARES[wish]:
            return write_date(case.habits[wish], date)
        return write_date(rng.choice(_DATE_GROUPS[wish]) if wish in _DATE_GROUPS else wish, date)

    def _next_day(self) -> dt.date:
        self._now = min(self._now + dt.timedelta(self._rng.choice((0, 1, 1, 2))), self._case.discharge)
        return self._now

    def _before(self, least: int, most: int) -> dt.date:
        """A day before the admission, never before the birth."""
        age = max(self._case.age_days, 1)
        return self._case.admit - dt.timedelta(self._rng.randint(min(least, age), min(most, age)))

"""What each ``{field}`` of a template stands for in one note."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from random import Random

from crfdeid.corpora.synthetic.case import Case
from crfdeid.corpora.synthetic.data import sections
from crfdeid.corpora.synthetic.surrogates import (
    DATE_FORMS,
    DATE_HABITS,
    PERSON_FORMS,
    Hospital,
    Person,
    fill_pattern,
    typo,
)
from crfdeid.corpora.synthetic.templates import Value

# The forms a name takes in running text where the template names none, the usual ones more often.
_DOCTOR_FORMS = ("last", "last", "last", "last", "full", "full", "full", "initial", "middle", "initials")
_PATIENT_FORMS = ("last", "last", "full", "full", "first", "middle")
_HOSPITAL_FORMS = ("long", "long", "short", "short", "abbr", "abbr")
_TYPO_SHARE = 0.03

_PRONOUNS: Mapping[str, tuple[str, str]] = {
    "he": ("he", "she"),
    "him": ("him", "her"),
    "his": ("his", "her"),
    "He": ("He", "She"),
    "His": ("His", "Her"),
    "man": ("man", "woman"),
    "gentleman": ("gentleman", "lady"),
    "male": ("male", "female"),
    "M": ("M", "F"),
    "spouse": ("wife", "husband"),
    "son": ("son", "daughter"),
}

_ADULT_DAYS = 16 * 365
_CHILD_WORDS: Mapping[str, tuple[str, str]] = {
    "gentleman": ("infant", "infant"),
    "spouse": ("mother", "mother"),
    "son": ("grandmother", "grandmother"),
}

_NUMBER_PATTERNS: Mapping[str, tuple[str, str]] = {
    "accession": ("accession patterns", "ID"),
    "job": ("job patterns", "ID"),
    "user": ("user patterns", "ID"),
    "policy": ("policy patterns", "ID"),
    "number": ("mrn patterns", "ID"),
    "phone": ("phone patterns", "PHONE"),
    "pager": ("pager patterns", "PHONE"),
    "extension": ("extension patterns", "PHONE"),
}


class Fields:
    """Answers a note's fields from its case; keeps the running date, so that the story goes forward in time.

    Args:
        case: the note's facts.
        rng: the source of all choices.
        doctor: how this note writes the title.
    """

    def __init__(self, case: Case, rng: Random, *, doctor: str = "Dr.") -> None:
        self._case, self._rng, self._doctor = case, rng, doctor
        self._now = case.admit
        self._places = {"hospital": case.hospital, "outside": case.outside, "facility": case.facility}
        self._dates: Mapping[str, Callable[[], dt.date]] = {
            "admit": lambda: case.admit,
            "discharge": lambda: case.discharge,
            "born": lambda: case.born,
            "during": self._next_day,
            "recent": lambda: self._before(3, 60),
            "past": lambda: self._before(90, 5000),
            "future": lambda: case.discharge + dt.timedelta(rng.randint(5, 90)),
            "dictated": lambda: case.discharge + dt.timedelta(rng.choice((0, 0, 1, 2, 5))),
            "transcribed": lambda: case.discharge + dt.timedelta(rng.choice((5, 6, 8))),
        }

    def __call__(self, name: str) -> Value:
        """The value of a field.

        Raises:
            KeyError: a template names a field that does not exist.
        """
        key, _, form = name.partition(".")
        form = "" if form == "any" else form
        if key in _PRONOUNS:
            words = _CHILD_WORDS if self._case.age_days < _ADULT_DAYS and key in _CHILD_WORDS else _PRONOUNS
            return Value(words[key][self._case.patient.female])
        if key in self._dates:
            return Value(self._date(self._dates[key](), form), "DATE")
        if key in self._places:
            return Value(self._hospital(self._places[key], form), "HOSPITAL")
        if key in _NUMBER_PATTERNS:
            section, label = _NUMBER_PATTERNS[key]
            return Value(fill_pattern(self._rng.choice(sections("names.txt")[section]), self._rng), label)
        if key in ("mrn", "account"):
            return Value(str(getattr(self._case, key)), "ID")
        if key in ("patient", "relative"):
            return Value(self._person(getattr(self._case, key), form, _PATIENT_FORMS), "PATIENT")
        if key in ("attending", "dictator", "pcp", "surgeon"):
            return Value(self._person(getattr(self._case, key), form, _DOCTOR_FORMS), "DOCTOR")
        if key == "consult":
            return Value(self._person(self._rng.choice(self._case.consultants), form, _DOCTOR_FORMS), "DOCTOR")
        if key in ("town", "region", "street", "address"):
            return Value(self._place(key), "LOCATION")
        return self._plain(key)

    def _plain(self, key: str) -> Value:
        """Fields that are no PHI: the title, the age, and the scenario's own texts."""
        case = self._case
        if key == "dr":
            return Value(self._doctor)
        if key == "mr":
            return Value(case.title)
        if key == "person":
            return Value(self._person_words())
        if key == "age":
            return Value(_age_text(case.age_days))
        if key == "diagnosis":
            return Value(case.diagnosis)
        if key == "complaint":
            return Value(case.complaint)
        raise KeyError(f"a template names the unknown field '{key}'")

    def _person_words(self) -> str:
        case, rng = self._case, self._rng
        years = case.age_days // 365
        if years < 1:
            return f"{case.age_days}-day-old {'female' if case.patient.female else 'male'} infant"
        noun = rng.choice(("woman", "female", "lady") if case.patient.female else ("man", "male", "gentleman"))
        age = rng.choice((f"{years}-year-old", f"{years} year old", f"{years} y/o", f"{years} yo", f"{years}-year-old"))
        return f"{age} {noun}"

    def _person(self, person: Person, form: str, usual: tuple[str, ...]) -> str:
        rng = self._rng
        if form in ("", "last", "full") and len(person.last) > 5 and rng.random() < _TYPO_SHARE:
            person = person._replace(last=typo(person.last, rng))
        return PERSON_FORMS[form or rng.choice(usual)](person)

    def _hospital(self, hospital: Hospital, form: str) -> str:
        return str(getattr(hospital, form or self._rng.choice(_HOSPITAL_FORMS)))

    def _place(self, key: str) -> str:
        case, rng = self._case, self._rng
        if key in ("town", "region"):
            return str(getattr(case, key))
        names = sections("names.txt")
        street = f"{rng.randint(2, 980)} {case.street} {rng.choice(names['street kinds'])}"
        if key == "street":
            return street
        code = rng.choice(names["state codes"])
        return rng.choice(
            (f"{street}, {case.town}, {code}", f"{street}, {case.town}, {code} 0{rng.randint(1000, 9999)}")
        )

    def _date(self, date: dt.date, form: str) -> str:
        case, rng = self._case, self._rng
        wish = form or rng.choice(("short", "short", "num", "text"))
        if wish == "num" and rng.random() < 0.85:
            return DATE_FORMS[case.date_habit](date)
        if wish == "short" and rng.random() < 0.75:
            return DATE_FORMS[case.short_habit](date)
        return DATE_FORMS[rng.choice(DATE_HABITS[wish]) if wish in DATE_HABITS else wish](date)

    def _next_day(self) -> dt.date:
        self._now = min(self._now + dt.timedelta(self._rng.choice((0, 1, 1, 2))), self._case.discharge)
        return self._now

    def _before(self, least: int, most: int) -> dt.date:
        """A day before the admission, never before the birth."""
        age = max(self._case.age_days, 1)
        return self._case.admit - dt.timedelta(self._rng.randint(min(least, age), min(most, age)))


def _age_text(age_days: int) -> str:
    years = age_days // 365
    return str(years) if years else f"{age_days} days"

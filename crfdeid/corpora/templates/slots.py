"""The slots of templates: names, forms, and the PHI types of their values."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from typing import NamedTuple

import regex

from crfdeid.corpora.templates.people import FORMS, WORD_FORMS

PERSONS: Mapping[str, str] = {
    **dict.fromkeys(("patient", "relative", "baby", "other"), "PATIENT"),
    **dict.fromkeys(("doctor", "author", "staff"), "DOCTOR"),
}
"""The type of each kind of person."""

PLACES: Mapping[str, str] = {
    **dict.fromkeys(("hospital", "clinic", "facility", "agency", "ward"), "HOSPITAL"),
    **dict.fromkeys(("employer", "school", "church", "pharmacy", "organisation"), "ORGANIZATION"),
}
"""The type of each kind of institution."""

ORGANISATIONS = (
    *("ems", "law", "lab", "charity", "utility", "daycare", "shelter", "housing", "dme"),
    *("funeral", "transport", "jail", "store", "police", "court", "insurer"),
)
"""Kinds of organisations, ``{organisation1.KIND}``."""

_FORMS: Mapping[str, str] = {
    **dict.fromkeys(PERSONS, " ".join((*FORMS, *WORD_FORMS, "email user dob age phone"))),
    **dict.fromkeys(PLACES, " ".join(("full short abbr caps address lower", *ORGANISATIONS))),
    "day": "num short text textshort month_year year month weekday week stamp iso",
    "dob": "num short text textshort month_year year month weekday stamp iso",
    "town": "caps lower",
    "country": "caps lower",
    "region": "code name caps",
    "street": "name caps",
    "address": "lines",
    "age": "words",
    "sex": "letter",
}
_WITHOUT_FORM = (
    "county zip neighbourhood phone mobile fax pager extension email url handle holiday he He his His him degree time"
)
_FORMS_OF = {name: frozenset(forms.split()) for name, forms in _FORMS.items()} | dict.fromkeys(
    _WITHOUT_FORM.split(), frozenset[str]()
)
_NUMBERED = frozenset((*PERSONS, *PLACES, "town", "country", "phone", "mobile", "fax"))
_WITHOUT_NUMBER = frozenset(("patient", "author", "phone", "mobile", "fax", "country", "town", "county", "baby"))
_ID_KINDS = (
    "mrn acct ssn member medicare medicaid accession path nhs hospital chi case npi dea license device policy group "
    "plate driver claim court job document order authorisation badge run employee chart agency interpreter police irb "
    "tax clia code station unos episode band last4 rx certificate lot study passport visa serial vin"
)
ID_KINDS = frozenset(_ID_KINDS.split())
"""Kinds of numbers, ``{id.KIND}``."""

_SLOT = regex.compile(r"(?P<base>[A-Za-z]+?)(?P<number>\d*)(?P<offset>[+-]\d+[dwmy]?)?(?:\.(?P<form>\w+))?")
_BY_SEX = regex.compile(r"sex:(?P<number>[^/{}]*)/(?P<offset>[^/{}]*)")
_RANGE = regex.compile(r"range:(?P<number>[+-]?\d+[dwmy]?),(?P<offset>[+-]?\d+[dwmy]?)")
_NUMBER = regex.compile(r"n:\d+(\.\d+)?-\d+(\.\d+)?")
_LIST = regex.compile(r"(?P<base>[^{}]+?)(?:\.(?P<form>caps|Cap))?")


class Slot(NamedTuple):
    """A slot, such as ``{doctor1.last}``.

    Attributes:
        base: its kind: "doctor"; of a list, its name.
        number: "1"; of a range, the first offset; of a choice by sex, the word for a man.
        offset: of a day, from the note's date: "-3", "+2w"; of a range, the second one; of a choice, that for a woman.
        form: "last", or "".
    """

    base: str
    number: str = ""
    offset: str = ""
    form: str = ""

    @property
    def key(self) -> str:
        """The person, place or number that is the same over a note."""
        return self.base + self.number


@cache
def parse_slot(text: str) -> Slot | None:
    """The slot with a name; None for the name of a list, or of nothing.

    Example:
        >>> parse_slot("relative2.first")
        Slot(base='relative', number='2', offset='', form='first')
    """
    if found := _RANGE.fullmatch(text):
        return Slot("range", found["number"], found["offset"])
    if found := _BY_SEX.fullmatch(text):
        return Slot("sex", found["number"], found["offset"])
    if _NUMBER.fullmatch(text):
        return Slot("n")
    found = _SLOT.fullmatch(text)
    if found is None:
        return None
    slot = Slot(found["base"], found["number"], found["offset"] or "", found["form"] or "")
    return slot if _is_known(slot) else None


def _is_known(slot: Slot) -> bool:
    base, number, offset, form = slot
    if base == "id":
        return form in ID_KINDS and not number + offset
    if base not in _FORMS_OF or (form and form not in _FORMS_OF[base]) or (offset and base != "day"):
        return False
    return base in (_NUMBERED if number else _FORMS_OF.keys() - (_NUMBERED - _WITHOUT_NUMBER))


def parse_list(text: str, lists: Collection[str]) -> Slot | None:
    """The slot of an entry of a list: its name, with ``.caps`` or ``.Cap`` after it; None for an unknown list."""
    found = _LIST.fullmatch(text)
    if found is None or found["base"] not in lists:
        return Slot(text) if text in lists else None
    return Slot(found["base"], form=found["form"] or "")

"""Surrogates by kind of PHI: the table of kinds, the keys, and agreement within a note."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any

from crfdeid.known_phi.patients import patient_name
from crfdeid.label_schemes import surrogate_kind
from crfdeid.redaction.surrogates.calendars import DATE_LIKE
from crfdeid.redaction.surrogates.choices import Chooser, words_in
from crfdeid.redaction.surrogates.dates import DateShift, NoteDates, patient_shift, shift_date
from crfdeid.redaction.surrogates.demographics import generalise_age, preserve_kin, preserve_occupation, preserve_sex
from crfdeid.redaction.surrogates.hospitals import Hospitals
from crfdeid.redaction.surrogates.identifiers import (
    Numbers,
    account_name,
    contact_kind,
    mail_address,
    web_address,
)
from crfdeid.redaction.surrogates.locales import puts_month_first
from crfdeid.redaction.surrogates.names import Names
from crfdeid.redaction.surrogates.place_tables import other_country
from crfdeid.redaction.surrogates.places import Places
from crfdeid.redaction.surrogates.words import casefold_accents
from crfdeid.redaction.values import LONGEST_VALUE
from crfdeid.secrets import surrogate_key

# Kinds whose surrogates have other digits in the same positions, which would turn a date into an invalid one.
_SUBSTITUTING_DIGITS = frozenset({"telephone", "number", "licence", "net", "hospital", "place", "street", "town"})

PRESERVED_KINDS = frozenset({"sex", "kin", "age", "job", "country"})
"""Kinds whose values may be preserved: words of closed lists (`demographics`), and the country of the locale."""

# Groups of kinds in which a value has one surrogate throughout a note.
_INTERCHANGEABLE = (frozenset({"place", "street", "town", "hospital"}), frozenset({"number", "licence", "telephone"}))


class Surrogates:
    """Surrogates of one patient in one note.

    Args:
        key: the patient's key, 32 bytes (`note_key`).
        locale: language and country, as Faker names them.
        month_first: True if 3/4 is the 4th of March in this note; None for the locale's order.
        hospitals: hospitals in the note; their abbreviations follow their surrogates.
        places: towns in the note; hospitals and streets named after them follow their surrogates.
        countries: countries in the note; they decide between towns of one name.
        roles: roles of the words of names in the note (`name_roles`).
        persons: names in the note; their surrogates are distinct.
        dates: dates in the note, from which incomplete dates take what they lack (`NoteDates`).
        postcodes: postcodes before the towns in the note (`town_postcodes`).

    Raises:
        UnknownNameError: a locale that Faker does not have.
        SettingError: a locale without enough names.

    Example:
        >>> ours = Surrogates(note_key(b"a secret of 16 b", "patient 7", ""), "en_US")
        >>> ours.of("Jane Quill", "PATIENT").split()[1] == ours.of("Quill", "PATIENT")
        True
        >>> ours.of("Residual", "PHI")
        '[PHI]'
    """

    def __init__(
        self,
        key: bytes,
        locale: str,
        *,
        month_first: bool | None = None,
        hospitals: Iterable[str] = (),
        places: Iterable[str] = (),
        countries: Iterable[str] = (),
        roles: Mapping[str, str] = MappingProxyType({}),
        persons: Iterable[str] = (),
        dates: Sequence[str] = (),
        postcodes: Mapping[str, tuple[str, str]] = MappingProxyType({}),
    ) -> None:
        keyed = self._keyed = Chooser(key)
        names = Names(keyed, locale, roles, persons)
        where = Places(keyed, locale, names, places, countries, postcodes)
        self._by_month = puts_month_first(locale) if month_first is None else month_first
        self._dates, self._locale = dates, locale
        exchanged = where.geography
        numbers = Numbers(keyed, locale, self._shifted, exchanged.province_number, exchanged.dialled)
        self._by_kind: dict[str, Callable[[str], str | None]] = {
            "person": names.person,
            "hospital": Hospitals(keyed, locale, names, where, hospitals).hospital,
            "place": where.place,
            "street": where.street,
            "town": where.town,
            "country": lambda text: other_country(text, keyed, locale),
            "date": self._shifted,
            "age": lambda text: generalise_age(text, locale),
            "sex": lambda text: preserve_sex(text, locale),
            "kin": lambda text: preserve_kin(text, names.person, locale),
            "job": lambda text: preserve_occupation(text, locale),
            "telephone": numbers.telephone,
            "number": numbers.number,
            "licence": lambda text: numbers.number(text, is_licence=True),
            "mail": lambda text: mail_address(text, keyed, names.account(text)),
            "web": lambda text: web_address(text, keyed, names.word(text)),
            "net": numbers.net_address,
            "account": lambda text: account_name(text, keyed, names.account(text)),
            "none": lambda text: None,
        }

    def _shifted(self, text: str) -> str | None:
        return shift_date(text, self._shift, month_first=self._by_month, locale=self._locale, note=self._note)

    @cached_property
    def _shift(self) -> DateShift:
        return patient_shift(self._keyed)

    @cached_property
    def _note(self) -> NoteDates:
        return NoteDates.of(self._dates, month_first=self._by_month, locale=self._locale)

    def of(self, text: str, label: str, *, like: str | None = None) -> str:
        """Return the surrogate of a value, or its type in brackets if there is no plausible one: [DATE].

        Words that stay, such as "Hospital", are the only ones that it has in common with the value. Only kinds of
        `PRESERVED_KINDS` may return the value itself. A date with another type is shifted like a date, since other
        digits could make it invalid. A value of more than `LONGEST_VALUE` characters has no surrogate.

        Args:
            text: the value in the note.
            label: its type.
            like: the type that decides the surrogate (`consistent_labels`); None for its own.
        """
        kind = surrogate_kind(like or label) if len(text) <= LONGEST_VALUE else "none"
        kind = contact_kind(text) if kind == "contact" else kind
        if kind in _SUBSTITUTING_DIGITS and DATE_LIKE.search(text):
            kind = "date"
        self._keyed.avoided = frozenset(words_in(casefold_accents(text)))
        found = self._by_kind[kind](text)
        if found and (kind in PRESERVED_KINDS or casefold_accents(found) != casefold_accents(text)):
            return found
        name = f"[{label}]"
        return name if casefold_accents(name) != casefold_accents(text) else "*" * len(text)


def consistent_labels(values: Sequence[str], labels: Sequence[str]) -> list[str]:
    """Return the type that decides each value's surrogate: the most frequent of the value's interchangeable types.

    A model may label one value as a town and as a hospital in one note; it gets one surrogate.

    Example:
        >>> consistent_labels(["Tawn", "Tawn", "TAWN", "Tawn"], ["CITY", "HOSPITAL", "CITY", "DOCTOR"])
        ['CITY', 'CITY', 'CITY', 'DOCTOR']
    """
    keys = [
        (next((kinds for kinds in _INTERCHANGEABLE if surrogate_kind(label) in kinds), label), _letters(value))
        for value, label in zip(values, labels, strict=True)
    ]
    counts: dict[Hashable, Counter[str]] = {}
    for key, label in zip(keys, labels, strict=True):
        counts.setdefault(key, Counter())[label] += 1
    return [counts[key].most_common(1)[0][0] for key in keys]


def _letters(value: str) -> str:
    return "".join(filter(str.isalnum, casefold_accents(value)))


def note_key(secret: bytes, patient: Any, text: str) -> bytes:
    """Return the key of a note: that of its patient, whose notes all have the same surrogates.

    The key of a note without a patient is the HMAC of its text.

    Args:
        secret: the key material.
        patient: the patient, read by `crfdeid.known_phi.patients.patient_name`.
        text: the note in normal form.

    Raises:
        FormatError: as of `patient_name`.
    """
    return surrogate_key(secret, patient_name(patient), text)

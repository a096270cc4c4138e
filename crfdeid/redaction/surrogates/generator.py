"""Which surrogate each type of PHI gets, as a table."""

from __future__ import annotations

import hmac
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType

from crfdeid.label_schemes import surrogate_kind
from crfdeid.redaction.surrogates.chooser import HmacChooser, casefold_accents
from crfdeid.redaction.surrogates.dates import DATE_LIKE, DateShift, patient_shift, shift_date, year_shift
from crfdeid.redaction.surrogates.demographics import generalise_age, preserve_kin, preserve_occupation, preserve_sex
from crfdeid.redaction.surrogates.hospitals import Hospitals
from crfdeid.redaction.surrogates.identifiers import (
    account_name,
    mail_address,
    net_address,
    substitute_characters,
    telephone,
    web_address,
)
from crfdeid.redaction.surrogates.locales import puts_month_first
from crfdeid.redaction.surrogates.names import Names
from crfdeid.redaction.surrogates.place_tables import other_country
from crfdeid.redaction.surrogates.places import Places
from crfdeid.secrets import derive

# Kinds whose surrogates have other digits in the same places: a date would become a day that there is not.
_WITH_OTHER_DIGITS = frozenset({"telephone", "number", "licence", "net", "hospital", "place", "street", "town"})

PRESERVED_KINDS = frozenset({"sex", "kin", "age", "job", "country"})
"""Kinds that can stay: words of closed lists (`demographics`), and the locale's country."""

# Kinds of which one value has one surrogate in a note, whichever of the types it has where it stands.
_ALIKE = (frozenset({"place", "street", "town", "hospital"}), frozenset({"number", "licence", "telephone"}))


class Surrogates:
    """The surrogates of one patient, in one note.

    Args:
        key: the patient's, 32 bytes (`patient_key`, `text_key`).
        locale: language and country, as Faker names them.
        month_first: whether 3/4 is the 4th of March in this note; None for the locale's order.
        hospitals: the hospitals that the note names: their abbreviations follow their surrogates.
        places: the towns that the note names: hospitals and streets called after them follow their surrogates.
        countries: the countries that the note names: of towns of one name in several, theirs is meant.
        roles: what the note says of the words of names (`name_roles`).
        dates: the dates of the note: a year alone moves as most of the dates of that year do.

    Raises:
        UsageError: Faker has no such locale, or its names cannot be used.

    Example:
        >>> ours = Surrogates(patient_key(b"a secret of 16 b", "patient 7"), "en_US")
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
        dates: Sequence[str] = (),
    ) -> None:
        keyed = self._keyed = HmacChooser(key)
        names = Names(keyed, locale, roles)
        where = Places(keyed, locale, names, places, countries)
        by_month = self._by_month = puts_month_first(locale) if month_first is None else month_first
        self._dates = dates
        self._ways: dict[str, Callable[[str], str | None]] = {
            "person": names.person,
            "hospital": Hospitals(keyed, locale, names, where, hospitals).hospital,
            "place": where.place,
            "street": where.street,
            "town": where.town,
            "country": lambda text: other_country(text, keyed, locale),
            "date": lambda text: shift_date(text, self._shift, month_first=by_month),
            "age": generalise_age,
            "sex": preserve_sex,
            "kin": lambda text: preserve_kin(text, names.person),
            "job": preserve_occupation,
            "telephone": lambda text: telephone(text, keyed, where.geography.dialled),
            "number": lambda text: substitute_characters(text, keyed, where.geography.province_number),
            "licence": lambda text: substitute_characters(
                text, keyed, where.geography.province_number, is_licence=True
            ),
            "mail": lambda text: mail_address(text, keyed, names.account(text)),
            "web": lambda text: web_address(text, keyed, names.word(text)),
            "net": lambda text: net_address(text, keyed),
            "account": lambda text: account_name(text, keyed, names.account(text)),
            "none": lambda text: None,
        }

    @cached_property
    def _shift(self) -> DateShift:
        shift = patient_shift(self._keyed)
        return shift._replace(years=year_shift(self._dates, shift, month_first=self._by_month))

    def of(self, text: str, label: str, *, like: str | None = None) -> str:
        """The surrogate of a value. Where there is no honest one, the name of its type: [DATE] for "Michaelmas".

        It is never the value itself but for the kinds of `PRESERVED_KINDS`. A date that has another type is moved as dates are:
        with other digits it would be a day that there is not.

        Args:
            text: the value as it stands in the note.
            label: its type.
            like: the type whose surrogate it gets; None for its own (`consistent_labels`).
        """
        kind = surrogate_kind(like or label)
        if kind in _WITH_OTHER_DIGITS and DATE_LIKE.search(text):
            kind = "date"
        found = self._ways[kind](text)
        if found and (kind in PRESERVED_KINDS or casefold_accents(found) != casefold_accents(text)):
            return found
        name = f"[{label}]"
        return name if casefold_accents(name) != casefold_accents(text) else "*" * len(text)


def consistent_labels(values: Sequence[str], labels: Sequence[str]) -> list[str]:
    """The type by which each value of a note gets its surrogate: the most frequent of those that are alike.

    A model may find one value as a town here and as a hospital there. It has one surrogate nevertheless.

    Example:
        >>> agreed_labels(["Tawn", "Tawn", "TAWN", "Tawn"], ["CITY", "HOSPITAL", "CITY", "DOCTOR"])
        ['CITY', 'CITY', 'CITY', 'DOCTOR']
    """
    keys = [
        (next((kinds for kinds in _ALIKE if surrogate_kind(label) in kinds), label), _letters(value))
        for value, label in zip(values, labels, strict=True)
    ]
    counts: dict[Hashable, Counter[str]] = {}
    for key, label in zip(keys, labels, strict=True):
        counts.setdefault(key, Counter())[label] += 1
    return [counts[key].most_common(1)[0][0] for key in keys]


def _letters(value: str) -> str:
    return "".join(filter(str.isalnum, casefold_accents(value)))


def patient_key(secret: bytes, patient: str) -> bytes:
    """The key of a patient who is named: all notes of that patient have the same surrogates."""
    return derive(derive(secret, "surrogates"), patient)


def text_key(secret: bytes, text: str) -> bytes:
    """The key of a note whose patient is not named: the HMAC of its text, wherever it stands."""
    key = derive(secret, "surrogates of a text")
    return hmac.digest(key, text.encode(errors="surrogatepass"), "sha256")

"""Which surrogate each type of PHI gets, as a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import regex

from crfdeid.labels import TO_SEVEN
from crfdeid.redaction.surrogates.dates import moved
from crfdeid.redaction.surrogates.invented import invented
from crfdeid.redaction.surrogates.keyed import Keyed
from crfdeid.redaction.surrogates.shapes import scrambled, scrambled_address
from crfdeid.redaction.surrogates.words import Words
from crfdeid.secrets import derive

_MONTH_FIRST = ("en_US", "en_PH", "fil_PH")  # the rest of the world puts the day first, or the year
_NUMBER = regex.compile(r"(?<![0-9])[0-9]{1,3}(?![0-9])")

# Type -> kind. A type that is not here has the kind of the one of the seven that it belongs to, else "shape".
KINDS: Mapping[str, str] = {
    "PATIENT": "person",
    "DOCTOR": "person",
    "NAME": "person",
    "PERSON": "person",
    "HOSPITAL": "hospital",
    "ORGANIZATION": "hospital",
    "CENTRO_SALUD": "hospital",
    "INSTITUCION": "hospital",
    "LOCATION": "place",
    "COUNTRY": "country",
    "PAIS": "country",
    "PHONE": "shape",
    "ID": "shape",
    "ROOM": "shape",
    "DATE": "date",
    "AGE": "age",
    "EDAD_SUJETO_ASISTENCIA": "age",
    "EMAIL": "address",
    "URL": "address",
    "CORREO_ELECTRONICO": "address",
    "URL_WEB": "address",
    "PROFESSION": "job",
    "PROFESION": "job",
}


class Surrogates:
    """The surrogates of one patient.

    Args:
        secret: the user's; whoever has it can test guesses against surrogates.
        patient: who; another patient's surrogates are unrelated.
        locale: language and country, as Faker names them.

    Raises:
        UsageError: Faker has no such locale.

    Example:
        >>> ours = Surrogates(b"a secret of 16 b", "patient 7")
        >>> ours.of("Jane Quill", "PATIENT").split()[1] == ours.of("Quill", "PATIENT")
        True
    """

    def __init__(self, secret: bytes, patient: str, *, locale: str = "en_US") -> None:
        self._keyed = Keyed(derive(derive(secret, "surrogates"), patient))
        self._words = Words(self._keyed, locale)
        self._locale = locale
        self._ways: dict[str, Callable[[str], str]] = {
            "person": self._words.person,
            "hospital": self._words.hospital,
            "place": self._words.place,
            "country": lambda text: self._words.place(text, country=True),
            "date": lambda text: moved(text, self._keyed, month_first=self._locale in _MONTH_FIRST),
            "age": self._age,
            "address": lambda text: scrambled_address(text, self._keyed),
            "job": self._job,
            "shape": lambda text: scrambled(text, self._keyed),
        }

    def of(self, text: str, label: str) -> str:
        """The surrogate of a value; never the value itself: one without letters and digits becomes asterisks.

        Args:
            text: the value as it stands in the note.
            label: its type.
        """
        kind = KINDS.get(label) or KINDS.get(TO_SEVEN.get(label) or "", "shape")
        found = self._ways[kind](text)
        if found.casefold() != text.casefold():
            return found
        return ("*" if "*" not in text else "#") * len(text)

    def _age(self, text: str) -> str:
        """Ages above 89 become another number from 90 to 99; others move by one number of one to three years."""
        step = self._keyed.number("age", "", 3) + 1

        def other(match: regex.Match[str]) -> str:
            age = int(match.group())
            if age >= 90:
                return str(90 + (age + step) % 10)
            return str(age - step if age > step else age + step)

        found = _NUMBER.sub(other, text)
        return found if found != text else scrambled(text, self._keyed)

    def _job(self, text: str) -> str:
        jobs = [job for job in invented(self._locale).job if job.casefold() != text.casefold()]
        found = self._keyed.choice("job", text.casefold(), jobs).lower()
        return found.capitalize() if text[:1].isupper() else found

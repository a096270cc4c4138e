"""Columns of tables whose values look like identifiers, for a warning where the results have them unchanged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import regex

from crfdeid.io.date_columns import date_in
from crfdeid.known_phi.names import is_placeholder
from features.languages import LANGUAGES, packs

# A name of a column is cut at underscores, spaces and capitals.
_COLUMN_WORD = regex.compile(r"\p{Lu}?\p{Ll}+|\p{Lu}+(?!\p{Ll})")

_MAIL = regex.compile(r"[^\s@]+@[^\s@]+\.[^\s@]+")
_LONG_NUMBER = regex.compile(r"[+(]?\p{L}{0,4}[-.#: ]?\d(?:[-./() ]{0,2}\d){5,24}")
_DECIMAL = regex.compile(r"[-+]?\d+[.,]\d+")
_NAME = regex.compile(r"\p{Lu}[\p{L}\p{M}'’.-]*,?(?: \p{Lu}[\p{L}\p{M}'’.-]*,?){0,4}")
_CODE = regex.compile(r"[\p{L}\d#._:/-]*\d[\p{L}\d#._:/-]*")
_LEAST_SHARE = 0.5
_LONGEST = 60


class IdentifierWatch:
    """Counts, by column, the values that look like identifiers; it keeps no value.

    Example:
        >>> watch = IdentifierWatch()
        >>> for name, value in (("patient_id", 17), ("ward", "East"), ("score", 7.25), ("tel", "5550134")):
        ...     watch.see(name, value)
        >>> watch.names()
        ['patient_id', 'tel']
    """

    def __init__(self) -> None:
        self._values: defaultdict[str, int] = defaultdict(int)
        self._likely: defaultdict[str, int] = defaultdict(int)

    def see(self, name: str, value: Any) -> None:
        """Count the value of a column in one row."""
        if isinstance(value, bool) or not isinstance(value, (str, int, float)) or value != value:  # noqa: PLR0124  NaN
            return
        written = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()
        if written and not is_placeholder(written):
            self._values[name] += 1
            self._likely[name] += len(written) <= _LONGEST and _looks(
                written, map(str.lower, _COLUMN_WORD.findall(name))
            )

    def names(self) -> list[str]:
        """Return the columns of which at least half of the values look like identifiers, as the table has them."""
        return [name for name, count in self._values.items() if self._likely[name] >= _LEAST_SHARE * count]


@lru_cache(maxsize=8)
def _column_words(kind: str, languages: tuple[str, ...]) -> frozenset[str]:
    """Words in the names of columns that hold persons, identifiers or births."""
    return frozenset(word for pack in packs(languages) for word in pack.entries("records", kind))


def _looks(value: str, words: Iterable[str]) -> bool:
    """Return True for a value that identifies by its form, or by its form and the words in its column's name."""
    languages = tuple(LANGUAGES)
    if _MAIL.fullmatch(value):
        return True
    if _DECIMAL.fullmatch(value):
        return False
    if date_in(value) == "sure":
        return not _column_words("birth", languages).isdisjoint(words)
    if _LONG_NUMBER.fullmatch(value):
        return True
    if not _column_words("person", languages).isdisjoint(words) and (_NAME.fullmatch(value) or _CODE.fullmatch(value)):
        return True
    return not _column_words("identifier", languages).isdisjoint(words) and any(map(str.isdigit, value))

"""Numbers of persons and values: one for all spellings of a value, for each type by itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable

from crfdeid.known_phi.names import PersonClusterer, parse_name
from crfdeid.label_schemes import TO_SEVEN, surrogate_kind

_NAMES = ("PATIENT", "DOCTOR")


class Numbering:
    """Numbers of the values of each type, from 1, in the order of their first mention.

    Names that can be one person's have one number, and so have values with the same letters and digits. In dates the
    signs between digits count, too: 1/12 is not 11/2.

    Example:
        >>> numbers = Numbering()
        >>> [numbers.number("ID", value) for value in ("48-22", "48 22", "4823")]
        [1, 1, 2]
    """

    def __init__(self) -> None:
        self._people: defaultdict[str, PersonClusterer] = defaultdict(PersonClusterer)
        self._numbers: defaultdict[str, dict[Hashable, int]] = defaultdict(dict)
        self._last: defaultdict[str, int] = defaultdict(int)

    def number(self, label: str, value: str) -> int:
        """Return the number of a value.

        Args:
            label: its type.
            value: the value on one line (`crfdeid.redaction.values.span_values`).
        """
        found = self._numbers[label].setdefault(self._key(label, value), self._last[label] + 1)
        self._last[label] = max(self._last[label], found)
        return found

    def take(self, label: str, value: str, number: int) -> None:
        """Give a value the number that it has elsewhere; values of equal spelling keep the first one."""
        self._numbers[label].setdefault(self._key(label, value), number)
        self._last[label] = max(self._last[label], number)

    def _key(self, label: str, value: str) -> Hashable:
        """Return what the spellings of a value have in common."""
        name = parse_name(value) if TO_SEVEN.get(label) in _NAMES else None
        if name is not None:
            return self._people[label].number(name)
        between = " " if surrogate_kind(label) == "date" else ""
        letters = "".join(character if character.isalnum() else between for character in value)
        return " ".join(letters.casefold().split()) or value

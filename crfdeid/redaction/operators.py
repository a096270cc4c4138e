"""Operators of redaction, and the choice of one for each type of PHI."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from crfdeid.errors import OptionConflictError, SettingError, UnknownNameError

LABEL, NUMBERED, MASK, REMOVE = "label", "numbered", "mask", "remove"
SURROGATE, HASH, ENCRYPT, KEEP = "surrogate", "hash", "encrypt", "keep"
OPERATORS = (LABEL, NUMBERED, MASK, SURROGATE, REMOVE, HASH, ENCRYPT, KEEP)
"""Operators of `crfdeid.redact`."""


@dataclass(frozen=True)
class Operators:
    """Operator of each type of PHI. Immutable and hashable.

    Args:
        default: operator of the types that `by_type` does not name.
        by_type: type -> operator, a mapping or pairs.

    Raises:
        UnknownNameError: an unknown operator.
        OptionConflictError: "keep" for all types. It also needs an operator for what it must not show.

    Example:
        >>> operators = Operators(by_type={"DATE": "surrogate"})
        >>> operators["DATE"], operators["PATIENT"]
        ('surrogate', 'label')
    """

    default: str = LABEL
    by_type: Mapping[str, str] | Iterable[tuple[str, str]] = ()

    def __post_init__(self) -> None:
        pairs = self.by_type.items() if isinstance(self.by_type, Mapping) else self.by_type
        object.__setattr__(self, "by_type", tuple(sorted(pairs)))
        for name in (self.default, *self._table.values()):
            if name not in OPERATORS:
                raise UnknownNameError(f"unknown operator '{name}': choose from {', '.join(OPERATORS)}")
        if self.default == KEEP:
            raise OptionConflictError("'keep' for all types hides nothing: name the types to keep, such as AGE=keep")

    @classmethod
    def of(cls, operators: Operators | Mapping[str, str] | str) -> Operators:
        """Return operators from the name of one for all types, or from a mapping of types with `LABEL` for the rest.

        Raises:
            UnknownNameError: an unknown operator.
        """
        if isinstance(operators, Operators):
            return operators
        return cls(operators) if isinstance(operators, str) else cls(by_type=operators)

    def __getitem__(self, label: str) -> str:
        return self._table.get(label, self.default)

    @cached_property
    def _table(self) -> Mapping[str, str]:
        return dict(self.by_type)  # the pairs of `__post_init__`

    @property
    def types(self) -> tuple[str, ...]:
        """Types with an operator of their own, sorted."""
        return tuple(self._table)

    def uses(self, *names: str) -> bool:
        """Return True if some type has one of the operators."""
        return not {self.default, *self._table.values()}.isdisjoint(names)

    def require_types(self, known: Collection[str]) -> None:
        """Refuse an operator of a type that cannot occur, such as a misspelt one.

        Args:
            known: the types that PHI can have (`crfdeid.Deidentifier.types`).

        Raises:
            UnknownNameError: there is one.
        """
        for label in self._table:
            if label not in known:
                raise UnknownNameError(
                    f"an operator for the unknown type '{label}': there are {', '.join(sorted(known))}"
                )

    def to_list(self) -> list[str]:
        """Return the list that `parse_operators` reads, the default first.

        Example:
            >>> Operators("mask", {"DATE": "surrogate"}).to_list()
            ['mask', 'DATE=surrogate']
        """
        return [self.default, *(f"{label}={name}" for label, name in self._table.items())]


def parse_operators(texts: Iterable[str]) -> Operators:
    """Parse operators as in ``--operator label --operator DATE=surrogate``.

    Args:
        texts: ``OPERATOR`` for all types (default: label) or ``TYPE=OPERATOR`` for one; each at most once.

    Raises:
        UnknownNameError: an unknown operator.
        SettingError: a text of another form.
        OptionConflictError: two operators for one type or for all.

    Example:
        >>> parse_operators(["DATE=surrogate", "mask"])
        Operators(default='mask', by_type=(('DATE', 'surrogate'),))
    """
    found: dict[str, str] = {}
    for text in texts:
        label, equals, name = text.rpartition("=")
        if equals and not label:
            raise SettingError(f"'{text}' has no type: give OPERATOR or TYPE=OPERATOR, such as DATE=surrogate")
        if label in found:
            of_what = f"the type {label}" if label else "all types"
            raise OptionConflictError(f"two operators for {of_what}, '{found[label]}' and '{name}': give one")
        found[label] = name
    return Operators(found.pop("", LABEL), found)

"""De-identification policy: the operator of each type of PHI, and the settings of finding and replacing PHI."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from crfdeid.errors import OptionConflictError, SettingError, UnknownNameError
from crfdeid.known_phi.lists import CustomLists
from crfdeid.markup import MARKUP_CHOICES, STRUCTURED_CHOICES
from crfdeid.redaction.operators import OPERATORS, Operator, this_year
from crfdeid.secrets import short_digest
from crfdeid.validation import MOST_PROBABLE, Sensitivity, require_choice, require_number, require_sensitivity

SURROGATE_VERSION = 3
"""Version of surrogates: another one writes others for the same secret, so that it resumes no run of this one."""
DATE_ORDERS = ("dmy", "mdy")
"""Day, month, year; and month, day, year."""
POLICY_NAMES = ("safe-harbor", "limited-data-set", "gdpr-pseudonym")
"""Named policies (`crfdeid.redaction.named_policies`)."""
DATE_PRECISIONS = ("year", "month")
"""Least units of generalised dates."""


class UsesOperators:
    """What some operators need together."""

    __slots__ = ()

    @property
    def used(self) -> Collection[Operator]:
        """The operators."""
        raise NotImplementedError

    @property
    def invents(self) -> bool:
        """True if surrogates replace some type."""
        return any(operator.invents for operator in self.used)

    @property
    def keeps(self) -> bool:
        """True if values of some type stay."""
        return any(operator.keeps for operator in self.used)

    @property
    def generalises(self) -> bool:
        """True if values of some type become less exact."""
        return any(operator.generalises for operator in self.used)

    @property
    def shows(self) -> bool:
        """True if values of some type, or parts of them, stay."""
        return any(operator.shows for operator in self.used)

    @property
    def reversible(self) -> bool:
        """True if some values can be restored."""
        return any(operator.reversible for operator in self.used)

    @property
    def needs_secret(self) -> bool:
        """True if some operator uses the secret."""
        return any(operator.needs_secret for operator in self.used)

    @property
    def needs_encryption_key(self) -> bool:
        """True if some operator uses the encryption key."""
        return any(operator.needs_encryption_key for operator in self.used)


@dataclass(frozen=True)
class Operators(UsesOperators):
    """Operator of each type of PHI. Immutable and hashable.

    Args:
        default: operator of the types that `by_type` does not name.
        by_type: type -> operator, a mapping or pairs.
        policy: the named policy that they are of (`crfdeid.redaction.named_policies`); None for none.

    Raises:
        UnknownNameError: an unknown operator.
        OptionConflictError: "keep" for all types. It also needs an operator for what it must not show.

    Example:
        >>> operators = Operators(by_type={"DATE": "surrogate"})
        >>> operators["DATE"], operators["PATIENT"]
        ('surrogate', 'label')
    """

    default: str = "label"
    by_type: Mapping[str, str] | Iterable[tuple[str, str]] = ()
    policy: str | None = None

    def __post_init__(self) -> None:
        pairs = self.by_type.items() if isinstance(self.by_type, Mapping) else self.by_type
        object.__setattr__(self, "by_type", tuple(sorted(pairs)))
        for name in (self.default, *self._table.values()):
            if name not in OPERATORS:
                raise UnknownNameError(f"unknown operator '{name}': choose from {', '.join(OPERATORS)}")
        if OPERATORS[self.default].keeps:
            problem = f"'{self.default}' for all types hides nothing"
            raise OptionConflictError(f"{problem}: name the types to keep, such as AGE={self.default}")

    @classmethod
    def of(cls, operators: Operators | Mapping[str, str] | str) -> Operators:
        """Return operators from the name of one for all types, or from a mapping of types with "label" for the rest.

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

    def of_type(self, label: str) -> Operator:
        """Return the operator of a type."""
        return OPERATORS[self[label]]

    @property
    def used(self) -> Collection[Operator]:
        """The operators of all types."""
        return {OPERATORS[name] for name in (self.default, *self._table.values())}

    def require_types(self, known: Collection[str]) -> None:
        """Refuse an operator of a type that cannot occur, such as a misspelt one; a named policy has all types.

        Args:
            known: the types that PHI can have (`crfdeid.Deidentifier.types`).

        Raises:
            UnknownNameError: there is one.
        """
        for label in () if self.policy else self._table:
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
        Operators(default='mask', by_type=(('DATE', 'surrogate'),), policy=None)
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
    return Operators(found.pop("", "label"), found)


@dataclass(frozen=True, slots=True)
class Policy(UsesOperators):
    """De-identification policy. With the same model and secret, the same policy gives the same results.

    Args:
        operators: the operators that replace PHI, as of `crfdeid.redact`: one name for all types, a mapping of types
            to names, or `crfdeid.redaction.Operators`. None returns the spans only.
        sensitivity: share of the PHI tokens to find, such as 0.997, which takes the threshold that finds it in the
            development notes; "none" for the most probable tags; None for the model's default, which built-in
            models have, and those trained with one as a member.
        max_leak_rate: share of notes that leak at most, such as 0.05, which takes the threshold of the model's claim
            (`crfdeid calibrate`) in place of a sensitivity; None for none.
        consistent: mark a value that is found once wherever it recurs in its note.
        locale: the locale of surrogates, as Faker names it; None to guess it from each note.
        date_order: the order of day and month for surrogates of ambiguous dates: "dmy" or "mdy"; None for the locale's.
        accept_damaged: accept notes in mojibake, with more misses; else they fail.
        lists: lists of what to mark, and what not to mark, in addition to the model's.
        markup: format of the notes (`crfdeid.markup.MARKUP_CHOICES`): "auto" recognises it, and fails what is not read;
            "plain" is prose.
        structured: their fields that name the patient and are no text: "refuse" the note, "keep" or "blank" them.
        date_precision: the least unit of generalised dates: "year" or "month"; None for the year.
        this_year: year of the run, from which the age that a generalised year shows is counted.

    Raises:
        UnknownNameError: an unknown operator, order of dates or locale.
        SettingError: a locale without enough names, a sensitivity that is no fraction, or an unknown markup, precision
            of dates or treatment of structured fields.
        OptionConflictError: a locale without surrogates, an order of dates without surrogates or generalised dates, a
            precision of dates without such, or with a named policy, or a leak rate with a setting that voids it.

    Example:
        >>> Policy(sensitivity=0.997).name
        'label-70491180'
    """

    operators: Operators | Mapping[str, str] | str | None = "label"
    sensitivity: Sensitivity = None
    max_leak_rate: float | None = None
    consistent: bool = True
    locale: str | None = None
    date_order: str | None = None
    accept_damaged: bool = False
    lists: CustomLists | None = None
    markup: str = "auto"
    structured: str = "refuse"
    date_precision: str | None = None
    this_year: int = field(default_factory=this_year)

    def __post_init__(self) -> None:
        if self.operators is not None:
            object.__setattr__(self, "operators", Operators.of(self.operators))
        if self.sensitivity not in (None, MOST_PROBABLE):
            require_sensitivity(self.sensitivity)
        self._require_claimed()
        check_date_order(self.date_order)
        require_choice(self, "markup", MARKUP_CHOICES)
        require_choice(self, "structured", STRUCTURED_CHOICES)
        self._require_dates_of_precision()
        if not (self.invents or self.generalises):
            for what, value in (("locale", self.locale), ("date order", self.date_order)):
                if value is not None:
                    raise OptionConflictError(
                        f"a {what} is for surrogates and generalised values alone: leave it out, or choose 'surrogate'"
                    )
        elif self.locale is not None:
            from crfdeid.redaction.surrogates.locales import locale_lists  # noqa: PLC0415  Faker takes long to import.

            locale_lists(self.locale)

    def _require_dates_of_precision(self) -> None:
        """Refuse a precision of dates where no date is generalised, or the named policy fixes it."""
        if self.date_precision is None:
            return
        require_choice(self, "date_precision", DATE_PRECISIONS)
        if not self.generalises or self.named is not None:
            raise OptionConflictError(
                "a precision of dates is for the operator 'generalise', outside of a named policy: leave it out"
            )

    def _require_claimed(self) -> None:
        """Refuse settings that are not those under which a leak rate was proved, or that hide less."""
        if self.max_leak_rate is None:
            return
        require_number(
            "max_leak_rate", self.max_leak_rate, "a share between 0 and 1, such as 0.05", lambda v: 0 < v < 1
        )
        refused = {
            "a sensitivity": self.sensitivity is not None,
            "no document consistency": not self.consistent,
            "values that are never hidden": self.lists is not None and bool(self.lists.allow),
            "the operators keep and generalise": self.shows,
        }
        for what, applies in refused.items():
            if applies:
                raise OptionConflictError(f"a leak rate was not proved with {what}: leave out one of the two")

    @property
    def operator_table(self) -> Operators | None:
        """The operators by type; None for spans only."""
        return None if self.operators is None else Operators.of(self.operators)

    @property
    def named(self) -> str | None:
        """The named policy that the operators are of; None for none."""
        return None if self.operator_table is None else self.operator_table.policy

    @property
    def used(self) -> Collection[Operator]:
        """The operators; none for spans only."""
        return () if self.operator_table is None else self.operator_table.used

    def settings(self) -> dict[str, Any]:
        """Return the settings that results depend on, as JSON data; for custom lists only their `short_digest`."""
        operators = self.operator_table
        return {
            "operators": None if operators is None else operators.to_list(),
            "sensitivity": self.sensitivity,
            **({} if self.max_leak_rate is None else {"max_leak_rate": self.max_leak_rate}),
            "consistency": self.consistent,
            "locale": self.locale,
            "date_order": self.date_order,
            "accept_damaged": self.accept_damaged,
            "site": None if self.lists is None else short_digest(asdict(self.lists)),
            **({} if self.markup == "auto" else {"markup": self.markup}),
            **({} if self.structured == "refuse" else {"structured": self.structured}),
            **({"surrogates": SURROGATE_VERSION} if self.invents else {}),
            **({} if self.named is None else {"policy": self.named}),
            **(
                {"date_precision": self.date_precision or "year", "this_year": self.this_year}
                if self.generalises
                else {}
            ),
        }

    @property
    def name(self) -> str:
        """Short name that changes with the settings: named policy or default operator, and digits of their digest."""
        content = json.dumps(self.settings(), sort_keys=True).encode()
        what = self.named or ("spans" if self.operator_table is None else self.operator_table.default)
        return f"{what}-{hashlib.sha256(content).hexdigest()[:8]}"


def check_date_order(date_order: str | None) -> None:
    """Check the name of an order of dates; None is valid.

    Raises:
        UnknownNameError: an unknown name.
    """
    if date_order is not None and date_order not in DATE_ORDERS:
        raise UnknownNameError(f"unknown order of dates '{date_order}': choose from {', '.join(DATE_ORDERS)}")

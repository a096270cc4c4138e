"""De-identification policy: settings of finding and replacing PHI, for commands and data frames."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from crfdeid.errors import OptionConflictError
from crfdeid.known_phi.lists import CustomLists
from crfdeid.redaction.operators import HASH, SURROGATE, Operators
from crfdeid.redaction.redact import check_date_order
from crfdeid.secrets import short_digest
from crfdeid.validation import require_sensitivity


@dataclass(frozen=True, slots=True)
class Policy:
    """De-identification policy. With the same model and secret, the same policy gives the same results.

    Args:
        operators: the operators that replace PHI, as of `crfdeid.redact`: one name for all types, a mapping of types
            to names, or `crfdeid.redaction.Operators`. None returns the spans only.
        sensitivity: share of the PHI tokens to find, such as 0.997, which takes the threshold that finds it in the
            development notes; None for the most probable tags.
        consistent: mark a value that is found once wherever it recurs in its note.
        locale: the locale of surrogates, as Faker names it; None to guess it from each note.
        date_order: the order of day and month for surrogates of ambiguous dates: "dmy" or "mdy"; None for the locale's.
        accept_damaged: accept notes in mojibake, with more misses; else they fail.
        site: lists of what to mark, and what not to mark, in addition to the model's.

    Raises:
        UnknownNameError: an unknown operator, order of dates or locale.
        SettingError: a locale without enough names, or a sensitivity that is no fraction.
        OptionConflictError: a locale or order of dates without surrogates.

    Example:
        >>> Policy(sensitivity=0.997).name
        'label-70491180'
    """

    operators: Operators | Mapping[str, str] | str | None = "label"
    sensitivity: float | None = None
    consistent: bool = True
    locale: str | None = None
    date_order: str | None = None
    accept_damaged: bool = False
    site: CustomLists | None = None

    def __post_init__(self) -> None:
        if self.operators is not None:
            object.__setattr__(self, "operators", Operators.of(self.operators))
        if self.sensitivity is not None:
            require_sensitivity(self.sensitivity)
        check_date_order(self.date_order)
        if not self.uses(SURROGATE):
            for what, value in (("locale", self.locale), ("date order", self.date_order)):
                if value is not None:
                    raise OptionConflictError(f"a {what} is for surrogates alone: leave it out, or choose 'surrogate'")
        elif self.locale is not None:
            from crfdeid.redaction.surrogates.locales import locale_lists  # noqa: PLC0415  Faker takes long to import.

            locale_lists(self.locale)

    @property
    def _operators(self) -> Operators | None:
        return None if self.operators is None else Operators.of(self.operators)

    def uses(self, *names: str) -> bool:
        """Return True if some type has one of the operators."""
        return self._operators is not None and self._operators.uses(*names)

    @property
    def needs_secret(self) -> bool:
        """True if results depend on the secret."""
        return self.uses(SURROGATE, HASH)

    def settings(self) -> dict[str, Any]:
        """Return the settings that results depend on, as JSON data; for custom lists only their `short_digest`."""
        return {
            "operators": None if self._operators is None else self._operators.to_list(),
            "sensitivity": self.sensitivity,
            "consistency": self.consistent,
            "locale": self.locale,
            "date_order": self.date_order,
            "accept_damaged": self.accept_damaged,
            "site": None if self.site is None else short_digest(asdict(self.site)),
        }

    @property
    def name(self) -> str:
        """Short name that changes with the settings: the default operator, and eight digits of their digest."""
        content = json.dumps(self.settings(), sort_keys=True).encode()
        what = "spans" if self._operators is None else self._operators.default
        return f"{what}-{hashlib.sha256(content).hexdigest()[:8]}"

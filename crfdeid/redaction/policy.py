"""De-identification policy: settings of finding and replacing PHI, for commands and data frames."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from crfdeid.errors import OptionConflictError
from crfdeid.known_phi.lists import CustomLists
from crfdeid.redaction.redact import check_operator
from crfdeid.secrets import short_digest

SURROGATE = "surrogate"


@dataclass(frozen=True, slots=True)
class Policy:
    """De-identification policy. With the same model and secret, the same policy gives the same results.

    Args:
        how: the operator that replaces PHI (`crfdeid.redact`); None returns the spans only.
        sensitivity: the operating point in per cent, one of the model's card; None for the most probable tags.
        consistent: mark a value that is found once wherever it recurs in its note.
        locale: the locale of surrogates, as Faker names it; None to guess it from each note.
        date_order: the order of day and month for surrogates of ambiguous dates: "dmy" or "mdy"; None for the locale's.
        accept_damaged: accept notes in mojibake, with more misses; else they fail.
        site: lists of what to mark, and what not to mark, in addition to the model's.

    Raises:
        UnknownNameError: an unknown operator, order of dates or locale.
        SettingError: a locale without enough names.
        OptionConflictError: a locale or order of dates without surrogates.

    Example:
        >>> Policy(sensitivity=99.7).name
        'label-206a4b45'
    """

    how: str | None = "label"
    sensitivity: float | None = None
    consistent: bool = True
    locale: str | None = None
    date_order: str | None = None
    accept_damaged: bool = False
    site: CustomLists | None = None

    def __post_init__(self) -> None:
        check_operator(self.how, self.date_order)
        if self.how != SURROGATE:
            for what, value in (("locale", self.locale), ("date order", self.date_order)):
                if value is not None:
                    raise OptionConflictError(f"a {what} is for surrogates alone: leave it out, or choose 'surrogate'")
        elif self.locale is not None:
            from crfdeid.redaction.surrogates.locales import locale_lists  # noqa: PLC0415  Faker takes long to import.

            locale_lists(self.locale)

    def settings(self) -> dict[str, Any]:
        """Return the settings that results depend on, as JSON data; for custom lists only their `short_digest`."""
        return {
            "how": self.how,
            "sensitivity": self.sensitivity,
            "consistency": self.consistent,
            "locale": self.locale,
            "date_order": self.date_order,
            "accept_damaged": self.accept_damaged,
            "site": None if self.site is None else short_digest(asdict(self.site)),
        }

    @property
    def name(self) -> str:
        """Short name that changes with the settings: the operator, and eight digits of their digest."""
        content = json.dumps(self.settings(), sort_keys=True).encode()
        return f"{self.how or 'spans'}-{hashlib.sha256(content).hexdigest()[:8]}"

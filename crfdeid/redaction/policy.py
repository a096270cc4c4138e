"""What is done with each note, whoever does it: the command, or an engine of tables."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from crfdeid.errors import UsageError
from crfdeid.known_phi.lists import CustomLists
from crfdeid.redaction.redact import DATE_ORDERS, HOW
from crfdeid.secrets import short_digest

SURROGATE = "surrogate"


@dataclass(frozen=True, slots=True)
class Policy:
    """How PHI is found and hidden. With the same model and secret, the same policy gives the same results.

    Args:
        how: how PHI is hidden (`crfdeid.redact`); None leaves it and gives the spans.
        sensitivity: the operating point in per cent, one that the model's card has; None takes the most probable tags.
        consistent: whether a name that is found once in a note is found everywhere in it.
        locale: of surrogates, as Faker names it; None guesses it from each note.
        date_order: of day and month for surrogates, where a note's dates do not tell: "dmy" or "mdy"; None takes the
            locale's.
        accept_damaged: whether notes in mojibake are worked on too, with more misses; else they fail.
        site: what is hidden, or left, whatever the model finds, beside what it brings itself.

    Raises:
        UsageError: an unknown way or order of dates, a locale that cannot be used, or what is for surrogates alone
            with another way.

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
        for what, value, known in (("way to redact", self.how, HOW), ("order of dates", self.date_order, DATE_ORDERS)):
            if value is not None and value not in known:
                raise UsageError(f"unknown {what} '{value}': choose from {', '.join(known)}")
        if self.how != SURROGATE:
            for what, value in (("locale", self.locale), ("date order", self.date_order)):
                if value is not None:
                    raise UsageError(f"a {what} is for surrogates alone: leave it out, or choose 'surrogate'")
        elif self.locale is not None:
            from crfdeid.redaction.surrogates.locale_data import locale_lists  # noqa: PLC0415  Faker takes long to import.

            locale_lists(self.locale)

    def settings(self) -> dict[str, Any]:
        """What results depend on, as JSON data; of a site's lists no more than `short_digest` says."""
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
        """A short name that changes with the settings: the way, and eight digits of their digest."""
        content = json.dumps(self.settings(), sort_keys=True).encode()
        return f"{self.how or 'spans'}-{hashlib.sha256(content).hexdigest()[:8]}"

"""Names of patients from the values of a column, for all formats of files alike.

- White space around a name is ignored.
- A whole number has one spelling: 12, 12.0 and the texts "12" and "12.0" are the same patient.
- Null, NaN, an empty text and placeholders ("nan", "null", "n/a", "unknown") name no patient
  (`crfdeid.known_phi.placeholders`).
- Any other difference counts: "012" is not "12", nor is "A1" "a1". A warning reports such values in one input
  (`SimilarPatients`), since it is worse to mix two patients up than to take one for two.
"""

from __future__ import annotations

import logging
import math
import re
from decimal import Decimal
from typing import Any

from crfdeid.documents import lone_surrogate
from crfdeid.known_phi.placeholders import is_placeholder

_WHOLE = re.compile(r"([+-]?[0-9]+)\.0+")
_ZEROS = re.compile(r"(?<![0-9])0+(?=[0-9])")
# Patients whose spelling is stored: their hashes take some 10 MB.
_MOST = 1 << 16
_log = logging.getLogger(__name__)


def patient_name(value: Any) -> str | None:
    """Name of the patient from a column's value; None for a value that names no patient.

    Raises:
        ValueError: neither text nor a number, or a lone surrogate.

    Example:
        >>> patient_name(" 12.0"), patient_name(12.0), patient_name("012"), patient_name(float("nan"))
        ('12', '12', '012', None)
    """
    if value is None:
        return None
    if isinstance(value, (float, Decimal)):
        if math.isnan(value):
            return None
        if math.isinf(value):
            raise ValueError("no number")
        value = f"{value:f}" if value == int(value) else str(value)
    elif isinstance(value, bool) or not isinstance(value, (str, int)):
        raise ValueError("no name")
    name = str(value).strip()
    if lone_surrogate(name) is not None:
        raise ValueError("a lone surrogate")
    whole = _WHOLE.fullmatch(name)
    name = whole[1] if whole else name
    return None if is_placeholder(name) else name


class SimilarPatients:
    """Warns once of patients whose names differ only in capitals, leading zeros, spaces or punctuation."""

    def __init__(self) -> None:
        self._seen: dict[int, int] = {}
        self._warned = False

    def see(self, patient: str, location: str) -> None:
        """Compare a patient's name with the earlier ones.

        Args:
            patient: as of `patient_name`.
            location: file and row, for the warning, which must not hold the name.
        """
        if self._warned:
            return
        folded = hash("".join(filter(str.isalnum, _ZEROS.sub("", patient.casefold()))))
        if folded not in self._seen and len(self._seen) == _MOST:
            return
        if self._seen.setdefault(folded, hash(patient)) != hash(patient):
            self._warned = True
            _log.warning(
                "%s: the patient column has the name of an earlier row, but for capitals, leading zeros, spaces or "
                "punctuation. They count as two patients: where they are one, write them alike",
                location,
            )

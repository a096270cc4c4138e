"""Which values of a column name one patient, for all kinds of files alike.

- White space around a name is no part of it.
- A whole number is the same however it is written: 12, 12.0 and the texts "12" and "12.0".
- Null, NaN, an empty text, and placeholders ("nan", "null", "n/a", "unknown") name nobody
  (`crfdeid.known_phi.placeholders`).
- All else is taken to the letter: "012" is not "12", nor is "A1" "a1". Where such values stand in one input a warning
  says so (`SimilarPatients`), for mixing two patients up is worse than taking one for two.
"""

from __future__ import annotations

import logging
import math
import re
from decimal import Decimal
from typing import Any

from crfdeid.documents import lone_surrogate
from crfdeid.known_phi.placeholders import says_nothing

_WHOLE = re.compile(r"([+-]?[0-9]+)\.0+")
_ZEROS = re.compile(r"(?<![0-9])0+(?=[0-9])")
# Patients whose spelling is kept: their hashes take some 10 MB.
_MOST = 1 << 16
_log = logging.getLogger(__name__)


def patient_name(value: Any) -> str | None:
    """The name of the patient that a value of a column stands for; None where it names nobody.

    Raises:
        ValueError: it is no text and no number, or holds a lone surrogate.

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
    return None if says_nothing(name) else name


class SimilarPatients:
    """Notices patients whose names differ only in capitals, leading zeros, spaces or punctuation, and says so once."""

    def __init__(self) -> None:
        self._seen: dict[int, int] = {}
        self._said = False

    def see(self, patient: str, place: str) -> None:
        """Compare a patient's name with those before.

        Args:
            patient: as of `patient_name`.
            place: where it stands, for the warning: the name itself is nobody's business.
        """
        if self._said:
            return
        folded = hash("".join(filter(str.isalnum, _ZEROS.sub("", patient.casefold()))))
        if folded not in self._seen and len(self._seen) == _MOST:
            return
        if self._seen.setdefault(folded, hash(patient)) != hash(patient):
            self._said = True
            _log.warning(
                "%s: the patient column has the name of an earlier row, but for capitals, leading zeros, spaces or "
                "punctuation. They count as two patients: where they are one, write them alike",
                place,
            )

"""Values of patients that every door must read alike: those that name nobody, and spellings of one patient."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np

NOBODY_TEXTS = (
    *("", " ", "unknown", "UNKNOWN ", "null", "NULL", "NaN", "n/a", "-", "none", "(none)", "#N/A", "?", "Unbekannt"),
    *("inconnu", "desconocido", "no patient", "\u200b", "\u3000", "\xa0-\xa0", "un\u200bknown", "\ufeffnull"),
    *("\uff35\uff2e\uff2b\uff2e\uff2f\uff37\uff2e", "\uff0d", "n\u043ene"),  # full-width; a Cyrillic o
)
NOBODY: tuple[Any, ...] = (*NOBODY_TEXTS, None, float("nan"), Decimal("NaN"), np.float32("nan"))
TWELVE_TEXTS = ("12", "12.0", " 12", "12 ", "\t12", "12.00", "12.", "+12", "\uff11\uff12", "\u200b12", "12\ufeff")
TWELVE: tuple[Any, ...] = (*TWELVE_TEXTS, 12, 12.0, Decimal("12"), Decimal("12.00"), np.int64(12), np.float32(12))
OTHERS = ("012", "1.2", "12a", "A12", "120", "12-0", "1 2")

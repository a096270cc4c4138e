"""A model's card: what it was trained on, how it did on the development notes, and the thresholds chosen there.

It lies beside the model as ``card.json``, holds counts and scores and no text, and names the model it belongs to by
the checksum of its description.

Reference:
    Mitchell et al. (2019), Model cards for model reporting; johnson2020, Table 5, for the operating points.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from crfdeid.errors import DataError, UsageError
from crfdeid.saving import DESCRIPTION, RETRAIN

CARD = "card.json"
_SCHEMA = 1


def write_card(folder: Path, card: dict[str, Any]) -> None:
    """Write a card beside the model it belongs to, which must be there."""
    text = json.dumps({"schema": _SCHEMA, **card, "model_sha256": _checksum(folder)}, indent=1, ensure_ascii=False)
    (folder / CARD).write_text(text + "\n", encoding="utf-8")


def read_card(folder: Path) -> dict[str, Any] | None:
    """The card of the model in a folder; None where it has none, as models of the harness have.

    Raises:
        DataError: it is damaged, or belongs to another model.
    """
    path = folder / CARD
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError):
        raise DataError(f"not a model's card: {RETRAIN}", path=path) from None
    if not (isinstance(card, dict) and card.get("schema") == _SCHEMA):
        raise DataError(f"not a model's card of this version: {RETRAIN}", path=path)
    if card.get("model_sha256") != _checksum(folder):
        raise DataError(f"the card of another model: {RETRAIN}", path=path)
    return card


def threshold_for(folder: Path, sensitivity: float) -> float:
    """The threshold that was chosen on the development notes for a sensitivity.

    Args:
        folder: the model's.
        sensitivity: in per cent.

    Raises:
        UsageError: none was chosen for it.
        DataError: the card is damaged.
    """
    card = read_card(folder)
    if card is None:
        raise UsageError(f"{folder} has no card, so no thresholds: train the model with crfdeid train")
    points = {round(100 * point["required"], 6): point["threshold"] for point in card["operating_points"]}
    if round(sensitivity, 6) not in points:
        known = ", ".join(f"{value:g}" for value in points)
        raise UsageError(f"no threshold was chosen for a sensitivity of {sensitivity:g} %: there are {known}")
    return float(points[round(sensitivity, 6)])


def _checksum(folder: Path) -> str:
    try:
        return sha256((folder / DESCRIPTION).read_bytes()).hexdigest()
    except OSError:
        raise DataError("no such file: this folder holds no saved model", path=folder / DESCRIPTION) from None

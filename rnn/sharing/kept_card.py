"""The card of attacks that a provider keeps beside its representation, tied to it by a checksum."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crfdeid.description import BESIDE, declare, read_description
from crfdeid.errors import DataError
from crfdeid.sealed import RETRAIN, read_sealed, sealed
from crfdeid.system.files import write_files

CARD = BESIDE["attacks"]
_SCHEMA = 1
_WHAT = "card of attacks"


def save_card(folder: Path, card: Mapping[str, Any]) -> None:
    """Write a card beside the representation in a folder, whose description holds its checksum from now on.

    Raises:
        DataError: there is no representation, or the card cannot be written.
    """
    write_files({folder / CARD: sealed({"schema": _SCHEMA, **card})})
    declare(folder, attacks=read_sealed(folder / CARD, _WHAT)["sha256"])


def read_card(folder: Path) -> dict[str, Any] | None:
    """The card beside a representation; None where it has none.

    Raises:
        DataError: it is damaged, missing, or another representation's, or there is no representation.
    """
    expected = read_description(folder).get("attacks")
    if expected is None:
        return None
    try:
        card = read_sealed(folder / CARD, _WHAT)
    except (FileNotFoundError, NotADirectoryError):
        raise DataError(f"the {_WHAT} is missing: {RETRAIN}", path=folder / CARD) from None
    if card["sha256"] != expected or card.get("schema") != _SCHEMA:
        raise DataError(f"the {_WHAT} of another representation: {RETRAIN}", path=folder / CARD)
    return card

"""A model's card: its training data, its scores on the development notes, and the thresholds chosen on them.

The file ``card.json`` in the model's folder holds counts and scores and no text (`crfdeid.model_card.drift` explains
the table of known words). It holds its own checksum, and names the model by the checksum of its description, which in
turn holds that of the weights: one changed bit anywhere in the folder is detected. The description records that there
is a card, so that a missing one is detected too.

Reference:
    Mitchell et al. (2019), Model cards for model reporting; johnson2020, Table 5, for the operating points.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from crfdeid.errors import DataError, UsageError
from crfdeid.known_phi.lists import CustomLists
from crfdeid.model_card.drift import ProfilePart
from crfdeid.serialization import OPTIONAL_FILES, read_description, update_metadata, verify
from crfdeid.utils.files import write_files
from crfdeid.utils.json import RETRAIN, dump_with_checksum, fields_checksum, read_with_checksum
from crfdeid.validation import shape_errors

CARD_FILE = OPTIONAL_FILES["card"]
_LEAST_PPV = 0.5
"""Precision of a threshold below which a warning is logged."""
_CARD_FORMAT_VERSION = 5
_log = logging.getLogger(__name__)


_COUNTS = {"precision": float, "recall": float, "f1": float, "tp": int, "fp": int, "fn": int}
_SCORES = {"micro": _COUNTS, "by_type": {str: _COUNTS}}
_SHARE = {"count": int, "total": int, "low": float, "high": float}  # with the 95 % interval of the fraction
_USE = {
    "entity_strict": _SCORES,
    "token_binary": _SCORES,
    "leaks_by_type": {str: _SHARE},
    "leaking_documents": _SHARE,
}
# The model alone and with document consistency, and the concepts that it found with document consistency.
_MEASURED = {"alone": _USE, "consistent": _USE, "concepts?": {"entity_strict": _SCORES}}
_COST = {
    "sensitivity": float,
    "ppv": float,
    "f1": float,
    "false_negatives_per_1000": float,
    "false_positives_per_1000": float,
    "phi_tokens": int,
    "missed": int,  # of these, the tokens below the threshold
}
_LAYER = {"documents": int, "spans?": int, "unaligned?": int, "spans_by_type?": {str: int}}
_SPLIT = {
    "documents": (int, None),  # unknown for notes shared as vectors
    "sentences": int,
    "tokens": int,
    "spans": int,
    "unaligned": int,
    "layers?": {str: _LAYER},
}
_CARD = {
    "schema": int,
    "trained": str,
    "layers?": [str],
    "hides_phi?": bool,
    "corpus": {
        "name": str,
        "format": str,
        "type_map": str,
        "types": [str],
        "notices": [str],
        "splits": {str: _SPLIT},
    },
    "augment": str,
    "base_model_sha256?": str,  # the digest of the model that training went on from
    "dev": _MEASURED,
    "test?": _MEASURED,
    # Counts on the development notes, and on the test notes if there are any.
    "operating_points": [{**_COST, "required": float, "threshold": float, "test?": _COST}],
    "drift_profile": ProfilePart,
    "model_sha256": str,
}
"""Shape of every card (`crfdeid.validation.shape_errors`); a card may have more."""


def write_card(folder: Path, card: Mapping[str, Any]) -> dict[str, Any]:
    """Write a card into the folder of its model.

    Returns:
        The card, with what ties it to the model.

    Raises:
        DataError: there is no model, or the card cannot be written.
    """
    model = update_metadata(folder, card=CARD_FILE)
    whole = {**card, "schema": _CARD_FORMAT_VERSION, "model_sha256": model["sha256"]}
    write_files({folder / CARD_FILE: dump_with_checksum(whole)})
    return whole | {"sha256": fields_checksum(whole)}


def read_card(folder: Path) -> dict[str, Any] | None:
    """The card of the model in a folder; None where it has none, as models of the harness have.

    Raises:
        DataError: it is damaged or missing, or belongs to another model.
    """
    description, path = read_description(folder), folder / CARD_FILE
    try:
        card = read_with_checksum(path, "model's card")
    except FileNotFoundError:
        if "card" in description:
            raise DataError(f"the model's card is missing: {RETRAIN}", path=path) from None
        return None
    if card.get("schema") != _CARD_FORMAT_VERSION:
        raise DataError(f"not a model's card of this version: {RETRAIN}", path=path)
    if card.get("model_sha256") != description["sha256"]:
        raise DataError(f"the card of another model: {RETRAIN}", path=path)
    problem = _problem(card)
    if problem is not None:
        raise DataError(f"not a model's card: {problem}: {RETRAIN}", path=path)
    return card


def _problem(card: dict[str, Any]) -> str | None:
    """The first thing in a card that cannot be."""
    for problem in shape_errors(card, _CARD):
        return problem
    for number, point in enumerate(card["operating_points"]):
        if not 0 < point["required"] <= 1:
            return f"operating_points.{number}.required is {point['required']}, no share above 0"
        if not 0 <= point["threshold"] <= 1:
            return f"operating_points.{number}.threshold is {point['threshold']}, no probability"
    return None


def model_digest(folder: Path) -> str:
    """The digest that names a model: hexadecimal SHA-256 of all that its folder holds (card, description, weights).

    It is the checksum in the card, or where there is none, in the description; all that it covers is read and compared.

    Raises:
        DataError: the folder holds no model, or a damaged one.
    """
    description, card = verify(folder), read_card(folder)
    digest: str = (description if card is None else card)["sha256"]
    return digest


def threshold_in(card: Mapping[str, Any] | None, sensitivity: float) -> float:
    """The threshold that was chosen on the development notes for a sensitivity.

    Args:
        card: the model's, as `read_card` gives it.
        sensitivity: in per cent.

    Raises:
        UsageError: none was chosen for it, or there is no card.
    """
    return float(_point(card, sensitivity)["threshold"])


def warn_of_low_ppv(card: Mapping[str, Any] | None, sensitivity: float) -> None:
    """Log a warning if most tokens that a threshold hid in the development notes were no PHI.

    Args:
        card: the model's, from `read_card`.
        sensitivity: in per cent.

    Raises:
        UsageError: as `threshold_in`.
    """
    point = _point(card, sensitivity)
    if point["ppv"] < _LEAST_PPV:
        problem = (
            "a sensitivity of %g %% costs much text: of the tokens that it hid in the development notes, %.1f %% were "
            "PHI (PPV). Choose a lower one, or none"
        )
        _log.warning(problem, sensitivity, 100 * point["ppv"])


def _point(card: Mapping[str, Any] | None, sensitivity: float) -> Mapping[str, Any]:
    """The operating point for a sensitivity in per cent."""
    if card is None:
        raise UsageError("the model has no card, so no thresholds: train it with crfdeid train")
    points: dict[float, Mapping[str, Any]] = {round(100 * one["required"], 6): one for one in card["operating_points"]}
    if round(sensitivity, 6) not in points:
        known = ", ".join(f"{value:g}" for value in points)
        raise UsageError(f"no threshold was chosen for a sensitivity of {sensitivity:g} %: there are {known}")
    return points[round(sensitivity, 6)]


LISTS_FILE = OPTIONAL_FILES["site"]
_LISTS_FORMAT_VERSION = 1


def save_lists(folder: Path, site: CustomLists) -> None:
    """Write custom lists into a model's folder, before its card.

    Raises:
        DataError: there is no model, or they cannot be written.
    """
    write_files({folder / LISTS_FILE: dump_with_checksum({"schema": _LISTS_FORMAT_VERSION, **asdict(site)})})
    update_metadata(folder, site=read_with_checksum(folder / LISTS_FILE, _LISTS_NAME)["sha256"])


def read_saved_lists(folder: Path) -> CustomLists:
    """The lists that a model was saved with; empty ones where it has none.

    Raises:
        DataError: they are damaged, missing, or another model's, or there is no model.
    """
    expected = read_description(folder).get("site")
    if expected is None:
        return CustomLists()
    path = folder / LISTS_FILE
    try:
        content = read_with_checksum(path, _LISTS_NAME)
    except (FileNotFoundError, NotADirectoryError):
        raise DataError(f"the model's lists of its site are missing: {RETRAIN}", path=path) from None
    if content["sha256"] != expected or content.get("schema") != _LISTS_FORMAT_VERSION:
        raise DataError(f"the lists of another model's site, or of another version: {RETRAIN}", path=path)
    try:
        return CustomLists.of(content)
    except (DataError, KeyError, TypeError):
        raise DataError(f"not a site's lists: {RETRAIN}", path=path) from None


_LISTS_NAME = "file of a site's lists"

"""A model's card: its training data, its scores on the development notes, and the thresholds chosen on them.

The file ``card.json`` in the model's folder holds counts and scores and no text (`crfdeid.model_card.drift` explains
the table of known words). It holds its own checksum, and names the model by the checksum of its description, which in
turn holds that of the weights: one changed bit anywhere in the folder is detected. The description records that there
is a card, so that a missing one is detected too.

Reference:
    Mitchell et al. (2019), Model cards for model reporting; johnson2020, Table 5, for the operating points.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from crfdeid.errors import DataError
from crfdeid.known_phi.lists import CustomLists
from crfdeid.model_card.drift import DRIFT_PROFILE, is_profile
from crfdeid.serialization import OPTIONAL_FILES, ModelFolder, open_model, update_metadata, verify
from crfdeid.thresholds import LEAK_CLAIM, THRESHOLDS, claim_problem, thresholds_problem
from crfdeid.utils.files import write_files
from crfdeid.utils.json import RETRAIN, dump_with_checksum, fields_checksum, read_with_checksum
from crfdeid.validation import shape_errors

CARD_FILE = OPTIONAL_FILES["card"]
_CARD_FORMAT_VERSION = 7

_COUNTS = {"precision": float, "recall": float, "f1": float, "tp": int, "fp": int, "fn": int}
_SCORES = {"micro": _COUNTS, "by_type": {str: _COUNTS}}
_SHARE = {"count": int, "total": int, "low": float, "high": float}  # with the 95 % interval of the fraction
_USE = {"entity_strict": _SCORES, "token_binary": _SCORES, "leaks_by_type": {str: _SHARE}, "leaking_documents": _SHARE}
# The model alone and with document consistency, and the concepts that it found with document consistency.
_MEASURED = {
    "alone": _USE,
    "consistent": _USE,
    "concepts?": {"entity_strict": _SCORES},
    "members?": [{"model": str, "f1": float, "missed": int}],  # each member of an ensemble, with document consistency
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
    "trained?": str,  # not of a model of the built-in corpus
    "layers?": [str],
    "hides_phi?": bool,
    "corpus": {"name": str, "format": str, "type_map": str, "types": [str], "notices": [str], "splits": {str: _SPLIT}},
    "augment": str,
    "base_model_sha256?": str,  # the digest of the model that training went on from
    "dev": _MEASURED,
    "test?": _MEASURED,
    "thresholds": THRESHOLDS,
    "sensitivity?": float,  # the default, of built-in models
    "threshold?": float,  # the default of a model with a built-in member
    "leak_claim?": LEAK_CLAIM,  # of crfdeid.model_card.calibration
    "drift_profile": DRIFT_PROFILE,
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


def update_card(folder: Path, card: Mapping[str, Any], **parts: Any) -> dict[str, Any]:
    """Write the card of a model anew, with further or other parts; return it.

    Raises:
        DataError: as of `write_card`.
    """
    stored = {name: value for name, value in card.items() if name != "sha256"}  # which `write_card` adds
    return write_card(folder, {**stored, **parts})


def read_card(folder: Path | ModelFolder) -> dict[str, Any] | None:
    """The card of the model in a folder; None where it has none, as models of the harness have.

    Raises:
        DataError: it is damaged or missing, or belongs to another model.
    """
    model = open_model(folder)
    card = _read_part(model, CARD_FILE, "model's card", _CARD_FORMAT_VERSION, expected="card" in model.description)
    if card is None:
        return None
    problem = "of another model" if card.get("model_sha256") != model.description["sha256"] else _problem(card)
    if problem is not None:
        raise DataError(f"not the model's card: {problem}: {RETRAIN}", path=model.path / CARD_FILE)
    return card


def _read_part(model: ModelFolder, file: str, what: str, version: int, *, expected: bool) -> dict[str, Any] | None:
    """A JSON file of a model; None where it is missing and not expected."""
    try:
        content = model.read_json(file, what)
    except (FileNotFoundError, NotADirectoryError):
        if expected:
            raise DataError(f"the {what} is missing: {RETRAIN}", path=model.path / file) from None
        return None
    if content.get("schema") != version:
        raise DataError(f"not a {what} of this version: {RETRAIN}", path=model.path / file)
    return content


def _problem(card: dict[str, Any]) -> str | None:
    """The first thing in a card that cannot be."""
    for problem in shape_errors(card, _CARD):
        return problem
    if not is_profile(card["drift_profile"]):
        return "drift_profile is not of notes"
    if not 0 <= card.get("threshold", 0) <= 1:
        return "threshold is no probability"
    return thresholds_problem(card["thresholds"]) or claim_problem(card.get("leak_claim"))


def model_digest(folder: Path | ModelFolder) -> str:
    """The digest that names a model: hexadecimal SHA-256 of all that its folder holds (card, description, weights).

    It is the checksum in the card, or where there is none, in the description; all that it covers is read and compared.

    Raises:
        DataError: the folder holds no model, or a damaged one.
    """
    model = open_model(folder)
    description, card = verify(model), read_card(model)
    return str((description if card is None else card)["sha256"])


LISTS_FILE = OPTIONAL_FILES["site"]
_LISTS_FORMAT_VERSION = 1


def save_lists(folder: Path, lists: CustomLists) -> None:
    """Write custom lists into a model's folder, before its card.

    Raises:
        DataError: there is no model, or they cannot be written.
    """
    write_files({folder / LISTS_FILE: dump_with_checksum({"schema": _LISTS_FORMAT_VERSION, **asdict(lists)})})
    update_metadata(folder, site=read_with_checksum(folder / LISTS_FILE, _LISTS_NAME)["sha256"])


def read_saved_lists(folder: Path | ModelFolder) -> CustomLists:
    """The lists that a model was saved with; empty ones where it has none.

    Raises:
        DataError: they are damaged, missing, or another model's, or there is no model.
    """
    model = open_model(folder)
    expected = model.description.get("site")
    content = expected and _read_part(model, LISTS_FILE, _LISTS_NAME, _LISTS_FORMAT_VERSION, expected=True)
    if not content:
        return CustomLists()
    try:
        if content["sha256"] == expected:
            return CustomLists.of(content)
    except (DataError, KeyError, TypeError):
        pass
    raise DataError(f"not this model's {_LISTS_NAME}: {RETRAIN}", path=model.path / LISTS_FILE)


_LISTS_NAME = "file of custom lists"

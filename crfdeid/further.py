"""Training that goes on from a saved model, such as one of another hospital: the "reuse" of johnson2020."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crfdeid.errors import UsageError
from crfdeid.models import load_tagger, model_name, require_known, setting_names, tagger_class
from crfdeid.settings import FOLDERS, require_seed
from crfdeid.tagger import GoesOn


def going_on(
    folder: Path, *, seed: int = 0, overrides: Mapping[str, Any] | None = None, key: bytes | None = None
) -> GoesOn:
    """A tagger whose `fit` begins with what a saved network learned.

    It keeps that one's settings, tags, and vocabulary with all vectors: a word that only the new notes have is read as
    an unknown one, and trains the vector of those. Word pieces can spell every word.

    Args:
        folder: the saved model's.
        seed: of the order of the notes and all else that is drawn.
        overrides: settings of training that differ, such as ``{"epochs": 3, "lr": 0.0005}``.
        key: what its words are hashed with, and those of what is trained will be; not needed where they can be read.

    Raises:
        DataError: the folder holds no model, or a damaged one.
        UsageError: the model is no network, its words are hashed and the key is missing or another one, or a setting is
            unknown, refused, or changes the network.

    Example:
        Three more epochs on one's own notes, ``train`` and ``dev`` being tagged sentences::

            tagger = going_on(Path("model/"), overrides={"epochs": 3})
            tagger.fit(train, dev)
    """
    require_seed(seed)
    name, changes = model_name(folder), dict(overrides or {})
    before = load_tagger(folder, key=key)
    if not isinstance(before, GoesOn):
        raise UsageError(f"{folder}: a {name} is always trained from scratch; only networks go on from a trained one")
    require_known(changes, setting_names(name), of=name)
    if named := sorted(FOLDERS.intersection(changes)):
        raise UsageError(f"{named[0]} cannot be changed here: a {name} goes on with the one that it learned with")
    tagger: Any = tagger_class(name)(dataclasses.replace(before.settings, **changes), seed=seed)
    tagger.go_on_from(before)
    going: GoesOn = tagger
    return going

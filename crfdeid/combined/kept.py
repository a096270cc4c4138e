"""Trained parts of models, each kept as it is done, so that a training that was interrupted goes on with them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from crfdeid.models import load_tagger
from crfdeid.system.folders import write_folder
from crfdeid.tagger import Tagger


class Kept:
    """A folder of trained parts.

    Args:
        folder: where to; None to keep nothing. What is kept holds words of the notes that it was trained on. Who names
            the folder sees to it that each has the parts of one training.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def part(self, name: str, train: Callable[[], Tagger]) -> Tagger:
        """A part that was kept, or else the one that is trained now, and kept.

        Args:
            name: of the part, for a folder.
            train: trains it.

        Raises:
            DataError: what was kept is damaged, or it cannot be written.
        """
        if self._folder is None:
            return train()
        place = self._folder / name
        if place.is_dir():
            return load_tagger(place)
        found = train()
        write_folder(place, found.save)
        return found

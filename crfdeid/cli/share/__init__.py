"""`crfdeid share`: annotated notes as noisy vectors without their text. Experimental."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from crfdeid.cli.shell import Argument
from crfdeid.cli.values import file_path

REPRESENTATION = "representation"
"""Name in a representation's files where other folders name a model."""
REPRESENTATION_FOLDER = Argument("representation", file_path, help="Folder of a representation, from its provider.")


def load_representation(folder: Path) -> Any:
    """Load the `rnn.privacy.representation.RepresentationModel` of a folder.

    Raises:
        DataError: there is none, or a damaged one.
    """
    from crfdeid.registry import import_string  # noqa: PLC0415

    return import_string("rnn.privacy.representation:RepresentationModel").load(folder)

"""The option that names the folder of a representation, and its loading."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from crfdeid.cli.shell import file_path

REPRESENTATION = "representation"
"""The kind of its files, where other folders name a model."""


def add_representation(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the folder."""
    text = "the representation's folder, from its provider (crfdeid share train)"
    parser.add_argument("--representation", type=file_path, required=True, metavar="DIR", help=text)


def load_representation(folder: Path) -> Any:
    """The representation in a folder, a `rnn.privacy.representation.RepresentationModel`.

    Raises:
        DataError: there is none, or a damaged one.
    """
    from crfdeid.registry import import_string  # noqa: PLC0415

    return import_string("rnn.privacy.representation:RepresentationModel").load(folder)

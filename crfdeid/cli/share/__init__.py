"""Share annotated notes without their text: make a representation, encode notes with it, and attack it first.

One module per step, each with `add_options` and `run`, as in `crfdeid.cli`.
"""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path
from typing import Any

from crfdeid.cli.shell import file_path

SHARE_STEPS = ("train", "encode", "attack")
REPRESENTATION = "representation"
"""Name in a representation's files where other folders name a model."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the steps of ``crfdeid share``, and the options of each."""
    steps = parser.add_subparsers(dest="step", required=True, metavar="STEP", parser_class=type(parser))
    for name in SHARE_STEPS:
        module = import_module(f"{__name__}.{name}")
        text = (module.__doc__ or "").strip().partition("\n")[0]
        module.add_options(steps.add_parser(name, help=text, description=text))


def run(options: argparse.Namespace) -> int | None:
    """Run the chosen step."""
    code: int | None = import_module(f"{__name__}.{options.step}").run(options)
    return code


def add_representation(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the folder of a representation."""
    text = "the representation's folder, from its provider (crfdeid share train)"
    parser.add_argument("--representation", type=file_path, required=True, metavar="DIR", help=text)


def load_representation(folder: Path) -> Any:
    """Load the `rnn.privacy.representation.RepresentationModel` of a folder.

    Raises:
        DataError: there is none, or a damaged one.
    """
    from crfdeid.registry import import_string  # noqa: PLC0415

    return import_string("rnn.privacy.representation:RepresentationModel").load(folder)

"""Share annotated notes without their text: make a representation, encode notes with it, and attack it first.

One module per step, each with `add_options` and `run`, as in `crfdeid.cli`.
"""

from __future__ import annotations

import argparse
from importlib import import_module

SHARE_STEPS = ("train", "encode", "attack")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The steps of ``crfdeid share``, and the options of each."""
    steps = parser.add_subparsers(dest="step", required=True, metavar="STEP", parser_class=type(parser))
    for name in SHARE_STEPS:
        module = import_module(f"{__name__}.{name}")
        text = (module.__doc__ or "").strip().partition("\n")[0]
        module.add_options(steps.add_parser(name, help=text, description=text))


def run(options: argparse.Namespace) -> int | None:
    """Do the step; the errors are its own."""
    code: int | None = import_module(f"{__name__}.{options.step}").run(options)
    return code

"""A representation on the command line: the option that names its folder, and what `crfdeid inspect` says of it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from crfdeid.cli.shell import file_path

REPRESENTATION = "representation"
"""The kind of its files, where other folders name a model."""
_WHAT = (
    "It turns a sentence into numbers with noise in them, so that annotated notes can be shared without their text: "
    "`crfdeid share encode` does, and `crfdeid train --shared` learns from what came of it."
)
_NOT_ATTACKED = "Nobody has attacked it yet: run `crfdeid share attack` on notes of your own."


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


def render_representation(folder: Path) -> str:
    """What a representation is and what came of the attacks on it, in Markdown.

    Raises:
        DataError: it is damaged, or the figures of the attacks are.
    """
    from crfdeid.cli.share.attacks import render_attacks  # noqa: PLC0415
    from crfdeid.model_card.render import bullet_list, saved_facts  # noqa: PLC0415
    from crfdeid.registry import import_string  # noqa: PLC0415
    from crfdeid.serialization import read_description  # noqa: PLC0415

    model, card = load_representation(folder), import_string("rnn.privacy.attack_card:read_card")(folder)
    vectors, (of_inputs, of_outputs) = model.vectors, (float(place.mean()) for place in model.deviations)
    others = "" if vectors.subwords is None else ", others have those of their parts"
    facts = [
        ("Digest", model.digest),
        ("Size", f"{model.size} numbers a token"),
        (
            "Neighbours",
            f"N = {model.settings.neighbours}: each word of PHI is to be hidden among so many",
        ),
        (
            "Noise",
            f"standard deviation {of_inputs:.3f} of the inputs (the word vectors' own is 1) and {of_outputs:.3f} of "
            "the outputs (which lie between -1 and 1 without it), means over their dimensions",
        ),
        (
            "Vocabulary",
            f"{len(vectors)} words with vectors of size {vectors.dim}{others}; they stand in its files, and its "
            "provider says that they are public",
        ),
        *saved_facts(read_description(folder)),
    ]
    parts = [f"# Private representation: {folder.resolve().name}", _WHAT, bullet_list(facts), "## Attacks"]
    return "\n\n".join([*parts, _NOT_ATTACKED if card is None else render_attacks(card)])

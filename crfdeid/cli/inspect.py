"""Print a model's card in Markdown: what it was trained on, how it did, and whether its vocabulary can be read.

Of a representation's folder (`crfdeid share train`): its sizes, its noise, and what came of the attacks on it.
"""

from __future__ import annotations

import argparse


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of ``crfdeid inspect``."""
    text = (
        "the folder of a model or of a representation; or 'synthetic', the built-in model (a folder of that name: "
        "./synthetic)"
    )
    parser.add_argument("--model", required=True, metavar="DIR", help=text)


def run(options: argparse.Namespace) -> None:
    """Print the card, once all files of the model are known to be whole.

    Raises:
        DataError: the folder holds no model, or a damaged one.
    """
    from crfdeid.cli.share.representation import REPRESENTATION, render_representation  # noqa: PLC0415
    from crfdeid.cli.shell import training_bar  # noqa: PLC0415
    from crfdeid.model_card.card import model_digest, read_card  # noqa: PLC0415
    from crfdeid.model_card.pretrained import find_model  # noqa: PLC0415
    from crfdeid.model_card.render import render_card  # noqa: PLC0415
    from crfdeid.serialization import read_description  # noqa: PLC0415

    with training_bar("training") as step:
        folder = find_model(options.model, on_progress=step)
    if read_description(folder)["model"] == REPRESENTATION:
        print(render_representation(folder))
        return
    model_digest(folder)  # the weights are whole, too
    print(render_card(folder, read_card(folder)))

"""Print a model's card in Markdown: what it was trained on, how it did, and whether its vocabulary can be read."""

from __future__ import annotations

import argparse


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of ``crfdeid inspect``."""
    text = "the model's folder, or 'synthetic', the built-in model (a folder of that name: ./synthetic)"
    parser.add_argument("--model", required=True, metavar="DIR", help=text)


def run(options: argparse.Namespace) -> None:
    """Print the card, once all files of the model are known to be whole.

    Raises:
        DataError: the folder holds no model, or a damaged one.
    """
    from crfdeid.cli.progress import training_bar  # noqa: PLC0415
    from crfdeid.model_card.builtin import find_model  # noqa: PLC0415
    from crfdeid.model_card.card import model_digest, read_card  # noqa: PLC0415
    from crfdeid.model_card.markdown import render_card  # noqa: PLC0415

    with training_bar("training") as step:
        folder = find_model(options.model, on_progress=step)
    model_digest(folder)  # the weights are whole, too
    print(render_card(folder, read_card(folder)))

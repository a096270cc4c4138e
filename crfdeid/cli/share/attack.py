"""Try to get names out of what notes would be shared as: every attack, with its figures beside what chance has."""

from __future__ import annotations

import argparse

from crfdeid.cli.share.attacks import add_effort
from crfdeid.cli.shell import file_path, whole_number
from crfdeid.corpora import FORMATS
from crfdeid.labels import TYPES
from crfdeid.settings import MOST_SEED


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of ``crfdeid share attack``."""
    text = "the representation's folder, from its provider (crfdeid share train)"
    parser.add_argument("--representation", type=file_path, required=True, metavar="DIR", help=text)
    text = "annotated notes: what would be sent, and half of it what an attacker has as text"
    parser.add_argument("--notes", type=file_path, required=True, metavar="PATH", help=text)
    text = "other annotated notes that an attacker has as text; all of --notes are then attacked"
    parser.add_argument("--known", type=file_path, metavar="PATH", help=text)
    text = "the notes' format (default: auto)"
    parser.add_argument("--format", choices=("auto", *FORMATS), default="auto", help=text)
    text = "all types of the notes, the seven of yadav2016, or one type for all PHI (binary) (default: all)"
    parser.add_argument("--types", choices=TYPES, default="all", help=text)
    text = "random seed (default: 0)"
    parser.add_argument("--seed", type=whole_number(0, MOST_SEED), default=0, metavar="N", help=text)
    add_effort(parser)


def run(options: argparse.Namespace) -> None:
    """Make the attacks and print their figures; nothing is written.

    Raises:
        UsageError: options that cannot work.
        DataError: notes or a representation that cannot be read, or too few notes.
    """
    from crfdeid.cli.share.attacks import attack_bar, effort_of, render  # noqa: PLC0415
    from crfdeid.corpora import read_corpus  # noqa: PLC0415
    from crfdeid.corpora.splits import Split  # noqa: PLC0415
    from crfdeid.labels import map_types  # noqa: PLC0415
    from crfdeid.system.on_use import named  # noqa: PLC0415
    from crfdeid.system.threads import one_thread  # noqa: PLC0415

    one_thread()
    representation = named("rnn.sharing.representation:RepresentationModel").load(options.representation)
    paths = [options.notes] if options.known is None else [options.notes, options.known]
    notes, *known = (Split.of(map_types(read_corpus(path, format=options.format), options.types)) for path in paths)
    effort = named("rnn.sharing.attack_card:Effort")(**effort_of(options))
    attack = named("rnn.sharing.attack_card:attack_notes")
    with attack_bar() as step:
        card = attack(representation, notes, *known, effort=effort, seed=options.seed, on_step=step)
    print(render(card))

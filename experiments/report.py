"""Tables, plots and report.html of a finished experiment: ``python -m experiments.report DIR``.

All of it comes from results.json and the other files of its folder, without training, and without JAX unless --explain
names a network; the same folder gives the same bytes. docs/reference/result-files.md describes the report.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

from crfdeid.cli.run import run_click, run_command
from crfdeid.cli.shell import Argument, flag, whole_number
from crfdeid.errors import OptionConflictError
from experiments.core.options import Command, Option

DESCRIPTION = """\
Make the tables, the plots and report.html of a results folder again, from its results.json, predictions and errors.
Nothing is trained."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; the exit codes are those of `run_command`."""
    words = sys.argv[1:] if argv is None else argv
    return run_command(
        lambda: run_click(Command(_report, _PARAMS, description=DESCRIPTION), "python -m experiments.report", words),
        interrupted="start it again, nothing is half-written",
        out_of_memory="the report needs all predictions and errors at once",
    )


def _report(options: SimpleNamespace) -> None:
    # A slow import, after the options are checked.
    from experiments.reporting.files import MOST_PAGES, REPORT_FILES, write_report  # noqa: PLC0415

    if options.explain and options.without_text:
        raise OptionConflictError("--explain makes pages of text: leave it or --without-text out")
    explain = [name for name in (options.explain or "").split(",") if name]
    left_out = write_report(
        options.dir,
        published=options.published,
        with_text=not options.without_text,
        explain=explain,
        most=options.explain_notes or MOST_PAGES,
    )
    if left_out:
        remedy = "documents with the most errors have one; for more, raise --explain-notes"
        print(f"{left_out:,} documents with errors have no page of explanations: {remedy}", file=sys.stderr)
    for name in REPORT_FILES:
        print(options.dir / name)


_PARAMS = (
    Argument("DIR", Path, help="folder of --output of experiments.compare"),
    flag("--published", help="add tables with the scores that papers print of these models next to ours"),
    flag("--without-text", help="leave text and document names out of report.html even where the folder has them"),
    Option(
        "--explain",
        metavar="LIST",
        help="link each error to a page that explains the tags of one or two systems, such as crf,elman; needs their "
        "fitted models and texts in the folder",
    ),
    Option(
        "--explain-notes",
        whole_number(1),
        metavar="N",
        help="with --explain: maximum number of documents with such a page, by number of errors (default: 100)",
    ),
)


if __name__ == "__main__":
    sys.exit(main())

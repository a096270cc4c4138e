"""Measure the agreement of two annotators of the same notes: F of one against the other, and Cohen's kappa."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from crfdeid.cli.arguments import add_corpus_options
from crfdeid.cli.shell import file_path

if TYPE_CHECKING:
    from crfdeid.evaluation.agreement import Agreement


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of ``crfdeid agreement``."""
    for number in ("first", "second"):
        text = f"the notes as the {number} person annotated them"
        parser.add_argument(f"--{number}", type=file_path, required=True, metavar="PATH", help=text)
    add_corpus_options(parser, doing="compare", each="--first and --second")
    text = "new file, NAME.html, for a page to settle what they disagree on; it holds the notes"
    parser.add_argument("--out", type=file_path, metavar="FILE", help=text)
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def run(options: argparse.Namespace) -> None:
    """Print the agreement.

    Raises:
        DataError: notes cannot be read, or differ between the two sides.
    """
    import json  # noqa: PLC0415

    from crfdeid.cli.review import write_page  # noqa: PLC0415
    from crfdeid.corpora import read_corpus  # noqa: PLC0415
    from crfdeid.corpora.common import same_notes  # noqa: PLC0415
    from crfdeid.evaluation.agreement import agreement  # noqa: PLC0415
    from crfdeid.label_schemes import map_types  # noqa: PLC0415
    from crfdeid.review.page import ANNOTATORS, comparison_notes  # noqa: PLC0415

    first, second = (
        map_types(read_corpus(path, format=options.format), options.types) for path in (options.first, options.second)
    )
    other = same_notes(first, second, sides=("--first", "--second"), doing="compare")
    found = agreement(first, other)
    if options.out is not None:
        write_page(options.out, comparison_notes(first, other), ANNOTATORS)
    print(json.dumps(found.to_dict()) if options.json else _render(found))


def _render(found: Agreement) -> str:
    from crfdeid.cli.score_tables import render_table, type_rows  # noqa: PLC0415

    low, high = (100 * end for end in found.f1_interval)
    lines = [
        render_table("second against first, strict", list(type_rows(found.strict))),
        "",
        f"- F (type and both boundaries): {100 * found.strict.micro.f1:.2f} %, 95 % interval {low:.2f} to {high:.2f}",
        f"- F (type and overlap): {100 * found.relaxed.micro.f1:.2f} %",
        f"- Cohen's kappa of tokens: {_shown(found.kappa)} over types, {_shown(found.kappa_phi)} over PHI or not",
        f"- notes annotated alike: {found.notes_alike:,} of {found.notes:,}",
    ]
    return "\n".join(lines)


def _shown(kappa: float | None) -> str:
    return "not defined (all tokens alike)" if kappa is None else f"{kappa:.3f}"

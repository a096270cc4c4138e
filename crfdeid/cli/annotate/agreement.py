"""`crfdeid annotate agreement`: F of one annotator against the other, and Cohen's kappa."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

from crfdeid.cli.corpus_options import FORMAT, TYPES, read_annotated
from crfdeid.cli.options import JSON, OUTPUT, require_new_file
from crfdeid.cli.shell import Argument, command
from crfdeid.cli.values import file_path

if TYPE_CHECKING:
    from crfdeid.evaluation.agreement import Agreement


@command(
    Argument("first", file_path, help="Notes as one person annotated them."),
    Argument("second", file_path, help="The same notes as another person annotated them."),
    FORMAT,
    TYPES,
    OUTPUT.but(required=False, help="New file, NAME.html, for a page to settle the differences; it holds the notes."),
    JSON,
    examples=(
        "crfdeid annotate agreement anna/ bert/",
        "crfdeid annotate agreement anna/ bert/ --output settle.html",
    ),
)
def run(options: SimpleNamespace) -> None:
    """Print the agreement.

    Args:
        options: values of the options.

    Raises:
        DataError: notes cannot be read, or differ between the two sides.
    """
    import json  # noqa: PLC0415

    from crfdeid.cli.review.page import write_page  # noqa: PLC0415
    from crfdeid.corpora.common import same_notes  # noqa: PLC0415
    from crfdeid.evaluation.agreement import agreement as measure  # noqa: PLC0415
    from crfdeid.review.page import ANNOTATORS, comparison_notes  # noqa: PLC0415

    if options.output is not None:
        require_new_file(options.output, {"FIRST": options.first, "SECOND": options.second})
    first, second = (read_annotated(path, options) for path in (options.first, options.second))
    other = same_notes(first, second, sides=("FIRST", "SECOND"), doing="compare")
    found = measure(first, other)
    if options.output is not None:
        write_page(options.output, comparison_notes(first, other), ANNOTATORS)
    print(json.dumps(found.to_dict()) if options.json else _render(found))


def _render(found: Agreement) -> str:
    from crfdeid.cli.evaluate_tables import render_table, type_rows  # noqa: PLC0415

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

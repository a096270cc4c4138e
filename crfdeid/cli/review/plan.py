"""`crfdeid review plan`: the number of redacted notes to read, and a sample of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING

from crfdeid.cli.options import ID_COLUMN, JSON, OUTPUT, SEED, TEXT_COLUMN, require_new_file, require_path
from crfdeid.cli.shell import Argument, Mode, Option, command, flag
from crfdeid.cli.values import file_path, fraction, whole_number
from crfdeid.errors import UsageError

if TYPE_CHECKING:
    from crfdeid.io.records import Columns

_NOTES = Mode("REDACTED notes", lambda options: options.redacted is not None)
_TARGET = Mode("--target-leak-rate", lambda options: options.target_leak_rate is not None)
LEAKING = Option(
    "--leaking",
    whole_number(0),
    default=0,
    metavar="N",
    help="Number of notes read in which PHI is expected.",
)
RECALL = Option(
    "--reviewer-recall",
    fraction,
    default=1.0,
    metavar="FRACTION",
    help="Fraction of the leaking notes that a reader finds, or a lower bound of it.",
)
PLAN = Option("--plan", file_path, metavar="FILE", help="Plan of crfdeid review plan, all of whose notes were read.")


@command(
    Argument("redacted", file_path, required=False, help="Redacted notes to draw from, a file or a folder."),
    Option(
        "--target-leak-rate",
        fraction,
        metavar="FRACTION",
        help="Bound on the share of leaking notes to show, such as 0.01.",
    ),
    Option("--count", whole_number(1), only=(_NOTES,), metavar="N", help="Number of notes to draw."),
    OUTPUT.but(required=False, only=(_NOTES,), help="New file for the plan."),
    LEAKING.but(only=(_TARGET,)),
    RECALL.but(only=(_TARGET,)),
    Option(
        "--corpus-size",
        whole_number(1),
        only=(Mode("a plan without REDACTED notes", lambda options: options.redacted is None),),
        metavar="N",
        help="Number of all redacted notes; default: infinite.",
    ),
    SEED.but(only=(_NOTES,)),
    JSON,
    TEXT_COLUMN.but(only=(_NOTES,), rare=True),
    ID_COLUMN.but(only=(_NOTES,), rare=True),
    Option(
        "--kind-column",
        only=(_NOTES,),
        rare=True,
        metavar="NAME",
        help="Column or key with the kind of a note; kinds are drawn in proportion.",
    ),
    flag("--kind-folders", only=(_NOTES,), rare=True, help="Draw the first-level subfolders in proportion."),
    one_of=("target_leak_rate", "count"),
    details="Without REDACTED notes: a table of the numbers of notes to read for --target-leak-rate.",
    examples=(
        "crfdeid review plan --target-leak-rate 0.01",
        "crfdeid review plan clean/ --count 50 --output plan.json",
    ),
)
def run(options: SimpleNamespace) -> None:
    """Print the number of notes to read; write the plan.

    Args:
        options: values of the options.

    Raises:
        UsageError: an option is invalid.
        DataError: the notes cannot be read.
    """
    if options.redacted is None:
        total = options.corpus_size
        summary = {"corpus_size": total, "notes_to_read": _notes_to_read(options, total, options.leaking)}
        lines = list(_reading_table(options))
    else:
        summary, lines = _draw(options)
    print(json.dumps(summary) if options.json else "\n".join(lines))


def _notes_to_read(options: SimpleNamespace, total: int | None, leaking: int) -> int:
    from crfdeid.review.bounds import notes_to_read  # noqa: PLC0415

    return notes_to_read(options.target_leak_rate, leaking=leaking, recall=options.reviewer_recall, total=total)


def _reading_table(options: SimpleNamespace) -> Iterator[str]:
    """Table of the number of notes to read, by the number found to leak."""
    yield f"To show that at most {100 * options.target_leak_rate:g} % of the notes leak, one-sided at 95 %:"
    yield "\n| found to leak | notes to read |\n| --: | --: |"
    first = options.leaking
    yield f"| {first} | {_notes_to_read(options, options.corpus_size, first):,} |"
    with suppress(UsageError):  # No number of notes is enough for so many.
        for leaking in range(first + 1, first + 4):
            yield f"| {leaking} | {_notes_to_read(options, options.corpus_size, leaking):,} |"


def _draw(options: SimpleNamespace) -> tuple[dict[str, int], list[str]]:
    """Draw the plan and write it; return data and lines to print."""
    from crfdeid.review.plan import draw_plan, list_notes, require_only_notes, write_plan  # noqa: PLC0415

    if options.output is None:
        raise UsageError("REDACTED needs --output: a new file for the plan")
    if options.kind_folders and options.kind_column is not None:
        raise UsageError("--kind-column and --kind-folders exclude each other: leave one out")
    path = require_path(options.redacted)
    require_new_file(options.output, {"REDACTED": path})
    require_only_notes(path)
    listed = list_notes(path, columns_of(options), kinds=options.kind_folders or options.kind_column is not None)
    count = options.count or _notes_to_read(options, len(listed), options.leaking)
    drawn = draw_plan(listed, count, seed=options.seed)
    write_plan(drawn, options.output)
    lines = [
        f"{len(drawn.selected):,} of {drawn.notes:,} notes to read, drawn with the seed {drawn.seed}: {options.output}",
        "Read all of them. After a change of the model, its threshold or the rules, draw another plan with a new seed.",
    ]
    return {"corpus_size": drawn.notes, "notes_to_read": len(drawn.selected), "seed": drawn.seed}, lines


def columns_of(options: SimpleNamespace) -> Columns:
    """Columns of tables of redacted notes: the kind of a note takes the column of its patient."""
    from crfdeid.io.records import Columns  # noqa: PLC0415

    return Columns(options.text_column, options.id_column, getattr(options, "kind_column", None), use_id_key=True)

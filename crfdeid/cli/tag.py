"""Find the PHI in notes and write down where it is, for people to look at or for `crfdeid score`.

A model that finds concepts too writes them beside it.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

FORMATS = ("brat", "jsonl", "i2b2-2014", "conll")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of ``crfdeid tag``."""
    from crfdeid.cli.note_options import add_options as add_common  # noqa: PLC0415

    add_common(parser)
    text = (
        "format to write (default: jsonl); all but jsonl are for .txt files only; with a model that finds concepts too "
        "they are two folders, phi/ and concepts/"
    )
    parser.add_argument("--format", choices=FORMATS, default="jsonl", help=text)


def run(options: argparse.Namespace) -> int:
    """Find the PHI of every note.

    Returns:
        0, or 1 where a note failed.
    """
    from crfdeid.cli import given_options, note_options, note_run  # noqa: PLC0415
    from crfdeid.corpora.jsonl import to_line  # noqa: PLC0415
    from crfdeid.documents import CONCEPT  # noqa: PLC0415
    from crfdeid.errors import UsageError  # noqa: PLC0415
    from crfdeid.models import saved_traits  # noqa: PLC0415
    from crfdeid.notes import tagged  # noqa: PLC0415
    from crfdeid.notes.pipeline import OutputPlan  # noqa: PLC0415
    from crfdeid.notes.records import NoteFile  # noqa: PLC0415
    from crfdeid.system.threads import one_thread  # noqa: PLC0415

    one_thread()
    columns = replace(note_options.columns_of(options), own_id=True)
    secret = note_options.secret_of(options, needed=False)
    work = note_options.redaction(options)
    layers = saved_traits(work.model).layers
    work = replace(work, concepts=CONCEPT in layers)
    settings = {
        "command": "tag",
        "format": options.format,
        **note_options.common_settings(options, work, secret),
        **given_options.settings(columns, work.site),
    }
    if options.input == note_options.STDIN:
        if options.format != "jsonl":
            raise UsageError(f"--format {options.format}: one note from standard input is written as jsonl")
        note_run.write_stdout(to_line(note_run.run_stdin(options, work, settings)))
        return 0

    def targets(file: NoteFile) -> list[str]:
        if options.format != "jsonl" and file.path.suffix.lower() != ".txt":
            raise UsageError(f"--format {options.format} is for .txt files: write {file.name} with --format jsonl")
        return tagged.target_names(file, options.format, layers)

    plan = OutputPlan(targets, lambda _, places: tagged.tag_writer(places, options.format, layers), columns)
    return note_run.run_folder(options, note_run.Task("tagging", work, plan, settings, secret))

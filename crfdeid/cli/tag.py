"""Find the PHI in notes and write its offsets, for people to check or for `crfdeid score`.

With a model that finds concepts too, these are written as well.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

TAG_FORMATS = ("brat", "jsonl", "i2b2-2014", "conll", "label-studio", "doccano", "xmi")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of ``crfdeid tag``."""
    from crfdeid.cli.arguments import add_note_options as add_common  # noqa: PLC0415

    add_common(parser)
    text = (
        "format to write (default: jsonl); all but jsonl, label-studio and doccano are for .txt files only; with a "
        "model that finds concepts too all but jsonl are two folders, phi/ and concepts/"
    )
    parser.add_argument("--format", choices=TAG_FORMATS, default="jsonl", help=text)
    text = (
        "leave out what was found: for notes that people annotate to measure this model, whose marks would sway them; "
        "with --format brat, label-studio, doccano or xmi"
    )
    parser.add_argument("--for-test", action="store_true", help=text)


def run(options: argparse.Namespace) -> int:
    """Find the PHI of every note.

    Returns:
        0, or 1 if a note failed.
    """
    from crfdeid.cli import arguments, note_run  # noqa: PLC0415
    from crfdeid.corpora.jsonl import to_line  # noqa: PLC0415
    from crfdeid.documents import CONCEPT  # noqa: PLC0415
    from crfdeid.errors import UsageError  # noqa: PLC0415
    from crfdeid.io import annotations  # noqa: PLC0415
    from crfdeid.io.records import NoteFile, Writer  # noqa: PLC0415
    from crfdeid.io.runner import OutputPlan  # noqa: PLC0415
    from crfdeid.registry import saved_traits  # noqa: PLC0415
    from crfdeid.utils.process import one_thread  # noqa: PLC0415

    one_thread()
    if options.for_test and options.format not in annotations.BLIND_FORMATS:
        raise UsageError(f"--for-test is for --format {', '.join(annotations.BLIND_FORMATS)}: choose one of these")
    columns = replace(arguments.note_columns(options), use_id_key=True)
    secret = arguments.run_secret(options, needed=False)
    work = arguments.note_task(options, operators=None)
    layers = saved_traits(work.model).layers
    with_completeness = options.format == "label-studio" and not options.for_test
    evidence = work.evidence or (options.format in ("jsonl", "label-studio") and not options.for_test)
    work = replace(work, concepts=CONCEPT in layers, with_completeness=with_completeness, evidence=evidence)
    settings = {
        "command": "tag",
        "format": options.format,
        **({"for_test": True} if options.for_test else {}),
        **arguments.common_settings(options, work, secret),
        **arguments.known_phi_settings(columns),
    }
    if options.input == arguments.STDIN:
        if options.format != "jsonl":
            raise UsageError(f"--format {options.format}: one note from standard input is written as jsonl")
        note_run.write_stdout(to_line(note_run.run_stdin(options, work, settings)))
        return 0

    def targets(file: NoteFile) -> list[str]:
        if options.format not in annotations.MULTI_NOTE_FORMATS and file.path.suffix.lower() != ".txt":
            raise UsageError(f"--format {options.format} is for .txt files: write {file.name} with --format jsonl")
        return annotations.target_names(file, options.format, layers)

    def writer(_: NoteFile, paths: Sequence[Path]) -> Writer:
        model = f"{work.model.path.name} {settings['model'][:12]}"
        return annotations.tag_writer(paths, options.format, layers, model=model, for_test=options.for_test)

    plan = OutputPlan(targets, writer, columns)
    return note_run.run_folder(options, note_run.RunPlan("tagging", work, plan, settings, secret))

"""Write notes again with other text in place of their PHI: labels, asterisks, invented values, or nothing."""

from __future__ import annotations

import argparse
from dataclasses import replace

from crfdeid.cli.shell import file_path


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of ``crfdeid redact``."""
    from crfdeid.cli.arguments import add_note_options as add_common  # noqa: PLC0415
    from crfdeid.redaction.operators import OPERATORS  # noqa: PLC0415
    from crfdeid.redaction.redact import DATE_ORDERS  # noqa: PLC0415

    add_common(parser)
    text = "write [PATIENT], [PATIENT-1], ***, an invented value, nothing or a keyed token in place (default: label)"
    parser.add_argument("--how", choices=sorted({*OPERATORS} - {"encrypt", "keep"}), default="label", help=text)
    text = (
        "with --how surrogate: language and country of the invented values, such as en_GB (default: en_US or es_ES, "
        "whichever language a note is in)"
    )
    parser.add_argument("--locale", help=text)
    text = (
        "with --how surrogate: whether day or month comes first in notes whose dates do not tell (default: as the "
        "locale has it)"
    )
    parser.add_argument("--date-order", choices=DATE_ORDERS, help=text)
    text = "columns (in JSON Lines: keys) that the results are not to have, such as name,birth_date"
    parser.add_argument("--drop-columns", type=_names, default=(), metavar="NAMES", help=text)
    text = (
        "with --how surrogate: columns whose dates are moved by the shift of the note's patient; other columns of "
        "dates would give that shift away, and are refused"
    )
    parser.add_argument("--shift-columns", type=_names, default=(), metavar="NAMES", help=text)
    text = "columns whose values are replaced by keyed hashes, under the secret: the same value has the same hash"
    parser.add_argument("--hash-columns", type=_names, default=(), metavar="NAMES", help=text)
    text = "with --how surrogate: columns that may hold dates in the clear"
    parser.add_argument("--allow-columns", type=_names, default=(), metavar="NAMES", help=text)
    text = (
        "with a model that finds concepts too: a new file, NAME.jsonl, for the redacted notes with their concepts; "
        "offsets are those of the redacted text, and what overlaps hidden text is left out"
    )
    parser.add_argument("--keep-concepts", type=file_path, metavar="FILE", help=text)
    text = (
        "what does the work: this machine, or the workers of Spark, for whom --output is the same path as here, and "
        "--input too, or a URL such as s3://bucket/notes"
    )
    parser.add_argument("--engine", choices=("machine", "spark"), default="machine", help=text)
    text = "with --engine spark: where it is, such as spark://host:7077, yarn, sc://host for Spark Connect, or local[8]"
    parser.add_argument("--master", metavar="URL", help=text)


def _names(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    if not all(names):
        raise argparse.ArgumentTypeError(f"'{text}' is no list of names such as name,birth_date")
    return names


def run(options: argparse.Namespace) -> int:
    """Hide the PHI of every note.

    Returns:
        0, or 1 where a note failed.
    """
    from crfdeid.cli import arguments, note_run, spark_run  # noqa: PLC0415
    from crfdeid.io.annotations import sidecar_plan  # noqa: PLC0415
    from crfdeid.io.date_columns import DateColumns  # noqa: PLC0415
    from crfdeid.io.runner import OutputPlan  # noqa: PLC0415
    from crfdeid.known_phi.patients import warn_unredacted_columns  # noqa: PLC0415
    from crfdeid.utils.process import one_thread  # noqa: PLC0415

    one_thread()
    spark_run.require_fitting(options)
    surrogates, keyed = options.how == "surrogate", options.how in ("surrogate", "hash")
    dates = DateColumns(
        options.shift_columns,
        options.hash_columns,
        options.allow_columns,
        refuse=surrogates,
        date_order=options.date_order,
    )
    dates.require_possible(options.text_column, options.drop_columns)
    secret = arguments.run_secret(options, needed=keyed or bool(options.hash_columns))
    if dates.changed:
        dates = replace(dates, secret=secret)
    columns = replace(arguments.note_columns(options), drop=options.drop_columns, dates=dates)
    work = arguments.note_task(
        options,
        operators=options.how,
        secret=secret if keyed else None,
        locale=options.locale,
        date_order=options.date_order,
        concepts=options.keep_concepts is not None,
    )
    if work.concepts:
        note_run.require_concepts_file(options, work.model)
    settings = {
        "command": "redact",
        "drop_columns": list(options.drop_columns),
        "shift_columns": list(options.shift_columns),
        "hash_columns": list(options.hash_columns),
        "allow_columns": list(options.allow_columns),
        **({"keep_concepts": True} if work.concepts else {}),
        **arguments.common_settings(options, work, secret),
        **arguments.known_phi_settings(columns),
    }
    if options.input == arguments.STDIN:
        document = note_run.run_stdin(options, work, settings)
        if work.concepts:
            note_run.write_concepts(options.keep_concepts, document)
        note_run.write_stdout(document.text)
        return 0
    warn_unredacted_columns(columns.known, columns.needed)
    plan = sidecar_plan(columns) if work.concepts else OutputPlan.of_same_names(columns)
    task = note_run.RunPlan("redacting", work, plan, settings, secret, sidecar=options.keep_concepts)
    engine = spark_run.spark_engine if options.engine == spark_run.SPARK else note_run.local_engine
    return note_run.run_folder(options, task, engine)

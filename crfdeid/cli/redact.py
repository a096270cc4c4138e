"""`crfdeid redact`: notes with other text in place of their PHI."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import SimpleNamespace

from crfdeid.cli import options as shared
from crfdeid.cli.shell import TABLES, Mode, Option, choice, command, file_path, names, whole_number
from crfdeid.errors import UsageError
from crfdeid.redaction.operators import OPERATORS
from crfdeid.redaction.policy import DATE_ORDERS, DATE_PRECISIONS, POLICY_NAMES


def _mode(trait: str) -> Mode:
    """Mode of the operators with a trait, which is true of `Operators` if some type has one of them."""
    names = " or ".join(name for name, operator in OPERATORS.items() if getattr(operator, trait))
    return Mode(f"--operator {names}", lambda options: bool(getattr(shared.operators_of(options), trait)))


_SURROGATES, _ENCRYPTION = _mode("invents"), _mode("needs_encryption_key")
_GENERALISED = _mode("generalises")
_IN_LANGUAGE = Mode(
    "--operator surrogate or generalise",
    lambda options: (found := shared.operators_of(options)).invents or found.generalises,
)
_NUMBERED = Mode("--operator numbered", lambda options: OPERATORS["numbered"] in shared.operators_of(options).used)
_REMEDY = ": leave them out with --drop-columns, or replace their values with --hash-columns"

POLICY_OPTIONS = (
    Option(
        "--operator",
        multiple=True,
        default=("label",),
        metavar="[TYPE=]OPERATOR",
        help=f"Operator that replaces PHI, of all types or of one: {', '.join(OPERATORS)}.",
    ),
    choice(
        "--policy",
        POLICY_NAMES,
        rare=True,
        help="Named policy, which fixes the operator of each type; --operator then names that of redacted types; "
        "default: none.",
    ),
    choice(
        "--date-precision",
        DATE_PRECISIONS,
        only=(_GENERALISED,),
        rare=True,
        help="Least unit of generalised dates; default: the year.",
    ),
    Option(
        "--locale",
        only=(_IN_LANGUAGE,),
        rare=True,
        metavar="LOCALE",
        help="Language and country of surrogates, such as en_GB; default: by the note, such as en_US or de_DE.",
    ),
    choice(
        "--date-order",
        DATE_ORDERS,
        only=(_IN_LANGUAGE,),
        rare=True,
        help="Order of day and month in ambiguous dates; default: that of the locale.",
    ),
    shared.ENCRYPTION_KEY_FILE.but(only=(_ENCRYPTION,), rare=True),
)
"""Replacement of PHI."""


def setting_of_spark(text: str) -> tuple[str, str]:
    """The name and value of an option of Spark: "sep=;"."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise UsageError(f"'{name}' is not an option with a value, such as sep=;")
    return name, value


def _columns(name: str, help: str, *only: Mode) -> Option:
    return Option(name, names, section=TABLES, only=(shared.FILES, *only), default=(), help=help)


_of_spark = partial(Option, only=(shared.SPARK,), rare=True)
SPARK_OPTIONS = (
    Option(
        "--spark",
        only=(shared.FILES,),
        rare=True,
        metavar="MASTER",
        help="Spark that reads, redacts and writes tables: spark://host:7077, yarn, sc://host (Connect) or local[8]; "
        "default: none. NOTES and --output may be URLs such as s3a://bucket/notes, or tables of its catalog.",
    ),
    _of_spark(
        "--spark-format",
        help="Format of NOTES: parquet, csv, json, text, delta, iceberg, orc, avro or another of Spark's; default: by "
        "the suffix.",
    ),
    _of_spark("--output-format", help="Format of the results; default: that of NOTES."),
    _of_spark(
        "--spark-option",
        setting_of_spark,
        multiple=True,
        metavar="KEY=VALUE",
        help="Option of Spark's reader and writer, or a setting of its session (spark.KEY=VALUE).",
    ),
    _of_spark("--partition-by", names, default=(), help="Columns by whose values the results are in folders."),
    _of_spark(
        "--spark-batch",
        whole_number(1),
        default=16_000_000,
        help="Largest number of characters that a worker gets at a time, except for one longer note.",
    ),
)
"""Spark's readers and writers."""


@command(
    *shared.NOTE_OPTIONS,
    *POLICY_OPTIONS,
    shared.STRUCTURED,
    Option(
        "--map",
        file_path,
        only=(shared.PIPED, _NUMBERED),
        rare=True,
        help="JSON file, new or continued, with the values of numbered tokens, for crfdeid reveal. It is PHI.",
    ),
    _columns("--drop-columns", "Columns or keys to leave out, such as name,birth_date."),
    _columns("--shift-columns", "Columns of dates to shift as the dates of the note's patient.", _SURROGATES),
    _columns("--hash-columns", "Columns to replace by keyed hashes, equal for equal values."),
    _columns("--allow-columns", "Columns that stay, with dates next to surrogates or a reader's corrupt records."),
    Option(
        "--keep-concepts",
        file_path,
        only=(shared.LOCAL,),
        rare=True,
        help="New file, NAME.jsonl, for the redacted notes with their concepts, of a model that finds both.",
    ),
    *SPARK_OPTIONS,
    details="Text outside the spans is not changed. A note that fails has no output.",
    examples=(
        "crfdeid redact model/ notes/ --output clean/",
        "crfdeid redact english notes.csv --output clean/ --text-column note --operator numbered",
    ),
)
def run(options: SimpleNamespace) -> int:
    """Redact every note."""
    from crfdeid.cli import note_run  # noqa: PLC0415
    from crfdeid.io.date_columns import DateColumns  # noqa: PLC0415
    from crfdeid.io.records import RAW_LINES  # noqa: PLC0415
    from crfdeid.io.runner import OutputPlan  # noqa: PLC0415
    from crfdeid.io.sources import identifier_columns, note_files  # noqa: PLC0415
    from crfdeid.known_phi.patients import warn_unredacted_columns  # noqa: PLC0415
    from crfdeid.utils.process import one_thread  # noqa: PLC0415

    dates = DateColumns(options.shift_columns, options.hash_columns, options.allow_columns)
    columns = shared.note_columns(options, drop=options.drop_columns, dates=dates, raw_lines=RAW_LINES)
    if options.spark is not None:
        from crfdeid.cli import spark_run  # noqa: PLC0415

        return spark_run.run(options, columns)
    one_thread()
    keys, concepts = shared.run_keys(options), options.keep_concepts is not None
    redactor = shared.read_redactor(
        options, keys=keys, columns=columns, concepts=concepts, evidence=options.report is not None
    )
    if concepts:
        from crfdeid.io import annotations  # noqa: PLC0415  It loads all formats of corpora.

        note_run.require_concepts_file(options, redactor.folder)
    settings = {
        "command": "redact",
        "drop_columns": list(options.drop_columns),
        "shift_columns": list(options.shift_columns),
        "hash_columns": list(options.hash_columns),
        "allow_columns": list(options.allow_columns),
        **({"keep_concepts": True} if concepts else {}),
        **shared.run_settings(options, redactor, keys),
    }
    if options.notes == shared.STDIN:
        from crfdeid.redaction.round_trip import continued_map  # noqa: PLC0415

        with continued_map(options.map) as mapping:
            document = note_run.run_stdin(options, redactor, settings, mapping)
        if concepts:
            annotations.write_concepts(options.keep_concepts, document)
        note_run.write_stdout(document.text)
        return 0
    columns = redactor.keyed_columns()
    others = identifier_columns(note_files(options.notes), columns) if isinstance(options.notes, Path) else []
    warn_unredacted_columns(columns.known, columns.needed, others=others, remedy=_REMEDY)
    plan = annotations.sidecar_plan(columns) if concepts else OutputPlan.of_same_names(columns)
    task = note_run.RunPlan("redacting", redactor, keys, plan, settings, sidecar=options.keep_concepts)
    return note_run.run_folder(options, task)

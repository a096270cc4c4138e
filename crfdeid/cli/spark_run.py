"""`crfdeid redact --spark`: a table that Spark reads, redacts and writes, with as many machines as it has."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

from crfdeid.cli import options as shared
from crfdeid.cli.note_run import read_profile, require_place, say
from crfdeid.errors import OutputExistsError, UsageError
from crfdeid.io.date_columns import DateColumns
from crfdeid.io.run_report import RunTotals, run_summary, summary_lines
from crfdeid.known_phi.patients import PatientFile, read_columns
from crfdeid.model_card.drift import NoteMeasures
from crfdeid.redaction.redactor import Redactor
from crfdeid.secrets import KeyFiles
from crfdeid.utils.files import write_files


def run(options: SimpleNamespace) -> int:
    """Redact the notes of a table.

    Args:
        options: the command's.

    Returns:
        0, or 1 if a note failed.

    Raises:
        UsageError: the options do not fit, or Spark cannot start.
        DataError: Spark gave up.
    """
    from crfdeid.integrations.spark.sessions import started  # noqa: PLC0415
    from crfdeid.integrations.spark.tables import SparkTable, redact_table  # noqa: PLC0415

    if options.output is None:
        raise UsageError("--output is needed: name a folder, a URL or a table for the results")
    if options.report is not None:
        require_place("--report", options.report, apart_from=(), resume=options.resume)
    given = dict(options.spark_option)
    settings = {name: given.pop(name) for name in [*given] if name.startswith("spark.")}
    source = SparkTable.of(str(options.notes), options.spark_format, given)
    # No writer of Spark gives each row a file of its own, so notes in text files become a table with their paths.
    same = "parquet" if source.format == "text" else source.format
    local = isinstance(options.output, Path) and source.name.startswith("file:")
    output = f"file:{options.output.resolve()}" if local else str(options.output)
    target = replace(source, name=output, format=options.output_format or same)
    if Path(target.errors.name.removeprefix("file:")).exists() and not options.resume:
        raise OutputExistsError(f"--output: {target.errors.name} is there already, a table of errors: name another")
    redactor, began = _redactor(options, is_text=source.format == "text"), time.monotonic()
    with started(options.spark, settings) as spark:
        spark.conf.set("spark.sql.execution.arrow.maxBytesPerBatch", options.spark_batch)
        found = redact_table(spark, source, target, redactor, partition_by=options.partition_by, resume=options.resume)
    totals = RunTotals(failures=found["failures"])
    card, drift = read_profile(redactor)
    for text in found["counts"]:
        counts, measures, notes = json.loads(text)
        totals.merge(counts)
        drift.add(NoteMeasures(*measures), notes)
    asked = {
        **{"command": "redact", "input": source.name, "output": target.name},
        **{"model": redactor.pinned().model_sha256, **redactor.policy.settings()},
    }
    summary = run_summary(asked, redactor, card, totals, drift.differences(), time.monotonic() - began)
    if options.report is not None:
        write_files({options.report: json.dumps({"summary": summary}, ensure_ascii=False, indent=1)})
    say("\n".join(summary_lines(summary)))
    if len(found["policies"]) > 1:
        raise UsageError("the workers have several secrets: give all the same one, and redact again")
    if totals.failures:
        say(f"error: {totals.failures} notes failed and have no text in the results: see {target.errors.name}")
    return min(totals.failures, 1)


def _redactor(options: SimpleNamespace, *, is_text: bool) -> Redactor:
    """The redactor for the workers, who read keys and the patients' file themselves."""
    dates = DateColumns(options.shift_columns, options.hash_columns, options.allow_columns)
    columns = replace(shared.note_columns(options), drop=options.drop_columns, dates=dates)
    if columns.people is not None:
        known = () if options.record_columns is None else read_columns(options.record_columns)
        people = PatientFile(options.record_file.resolve(), known, columns.people.digest, columns.people.key)
        columns = replace(columns, people=people)
    if is_text:
        columns = replace(columns, id="path", patient="patient")
    keys = (options.secret_file, getattr(options, "encryption_key_file", None), options.key_file)
    files = KeyFiles(*(None if file is None else file.resolve() for file in keys))
    return shared.read_redactor(options, keys=files, columns=columns)

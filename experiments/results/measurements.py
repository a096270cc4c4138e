"""Measurements: every number of an experiment in one long table, one number a row.

``measurements.csv`` in a results folder has them for other programs, results.json for `experiments.report`:

    import pandas as pd
    rows = pd.read_csv("results/measurements.csv")
    rows.query("kind == 'entity_strict' and measure == 'f1'").pivot_table("value", "category", "system")

A row has the columns of `COLUMNS`: the training (system, seed, fraction of the training documents, point of a sweep),
the documents (dataset and annotation layer, both empty for a number of the training itself), the number's kind, measure
and category (`OVERALL` where it has none), and the value. Scores are fractions. A new measure is one more row: its kind
and name are chosen where it is rows_in, and named again by the table that shows it.

kind                       measure, category
entity_strict and others   precision, recall, f1, tp, fp, fn by type, `MACRO` and `OVERALL` (`crfdeid.evaluation`)
tab                        count, total, low, high by score of the Text Anonymization Benchmark
dev                        f1, strict, on the development documents
errors                     missed, wrong, boundary, spurious, all, by type
causes                     the same by cause
confusions                 the predicted type, by gold type
missed, operating_points   `experiments.transfer`; points by required sensitivity
time                       fit_seconds, predict_seconds, tokens_per_second and others
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from io import StringIO
from typing import Any

COLUMNS = ("system", "seed", "fraction", "point", "dataset", "layer", "kind", "measure", "category", "value")
OVERALL, MACRO = "Overall", "Macro average"
TAB = "tab"
MEASURES = {"recall": "R", "precision": "P", "f1": "F"}
"""Measures of a score, in order, and their letters."""

Row = dict[str, Any]


def measure_rows(kind: str, values: Mapping[str, float | None], category: str = OVERALL) -> Iterator[Row]:
    """A row for each measure of a kind."""
    for measure, value in values.items():
        yield {"kind": kind, "measure": measure, "category": category, "value": value}


def score_rows(scores: Mapping[str, Any]) -> Iterator[Row]:
    """Rows of the scores of `crfdeid.evaluation.evaluate.score_all`."""
    for kind, found in scores.items():
        by_category = found if kind == TAB else {**found["by_type"], MACRO: found["macro"], OVERALL: found["micro"]}
        for category, values in by_category.items():
            ordered = {name: values[name] for name in MEASURES if name in values}
            yield from measure_rows(kind, {**ordered, **values}, category)


def error_rows(errors: Mapping[str, Any]) -> Iterator[Row]:
    """Rows of the counts of `crfdeid.evaluation.summarise_errors`."""
    yield from measure_rows("errors", {"all": sum(errors["categories"].values())})
    for measure, count in errors["categories"].items():
        yield from measure_rows("errors", {measure: count})
        for cause, number in errors["causes"][measure].items():
            yield from measure_rows("causes", {measure: number}, cause)
        for pair in errors["confusions"] if measure == "wrong" else ():
            yield from measure_rows("confusions", {pair["predicted"]: pair["count"]}, pair["gold"])
    for measure, by_type in errors["by_type"].items():
        for label, count in by_type.items():
            yield from measure_rows("errors", {measure: count}, label)


def rows_in(rows: Iterable[Row], *, dataset: str = "", layer: str = "") -> list[Row]:
    """Rows with their dataset and annotation layer, as a run's record has them."""
    return [{"dataset": dataset, "layer": layer, **row} for row in rows]


def point_name(point: Mapping[str, Any]) -> str:
    """A point of a sweep as text: "window=7,hidden=50"."""
    return ",".join(f"{name}={value}" for name, value in point.items())


def table_of(records: Iterable[Mapping[str, Any]]) -> list[Row]:
    """The rows of some runs' records, in all columns."""
    return [
        {
            **{name: record[name] for name in ("system", "seed", "fraction")},
            "point": point_name(record["point"]),
            **row,
        }
        for record in records
        for row in record["measurements"]
    ]


def to_csv(rows: Iterable[Row]) -> str:
    """The table as CSV (RFC 4180); a missing value is empty."""
    stream = StringIO(newline="")
    writer = csv.DictWriter(stream, COLUMNS)
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()

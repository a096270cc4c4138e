"""Selections and summaries of a view's measurements, and the pivot that makes a table's cells of them.

A *system* is a model with its embedding, a *run* one system with one seed; systems may have different numbers of runs.
Scores are fractions in frames, and per cent in cells.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import pandas as pd

from experiments.results.measurements import MEASURES
from experiments.results.view import View

HIPAA_TOKENS = "token_binary_hipaa"
SCORES = {
    "entity_strict": "strict entity (type and both boundaries)",
    "entity_relaxed": "relaxed entity (type and overlap, one-to-one)",
    "token": "token (type)",
    "token_binary": "token (PHI or not)",
    HIPAA_TOKENS: "token (PHI that HIPAA names or not)",
}
SPLIT_NAMES = {"train": "Train", "dev": "Validation", "test": "Test"}
BOUNDARY, MISSED, SPURIOUS = "Boundary", "Missed", "Spurious"
NO_VALUE = "-"


def select(rows: pd.DataFrame, kind: str, *, measure: str | None = None, category: str | None = None) -> pd.DataFrame:
    """Measurements of a kind, and of a measure and a category where they are named."""
    chosen = rows["kind"] == kind
    for column, value in (("measure", measure), ("category", category)):
        if value is not None:
            chosen &= rows[column] == value
    return rows[chosen]


def score_frame(view: View, match: str = "entity_strict", *, part: str = "measurements") -> pd.DataFrame:
    """Measurements of recall, precision and F; none for scores over HIPAA's types where no type maps to them.

    Args:
        view: the scored systems.
        match: kind of the scores.
        part: entry of the view: "measurements", or "fractions".
    """
    rows = select(view[part], match)
    return rows[rows["measure"].isin(list(MEASURES))]


def wide(rows: pd.DataFrame, *keys: str) -> pd.DataFrame:
    """Measurements with a row for each combination of the keys, and a column for each measure, as they appear."""
    index = pd.MultiIndex.from_frame(rows[list(keys)].drop_duplicates())
    return rows.set_index([*keys, "measure"])["value"].unstack().reindex(index)[list(rows["measure"].unique())]


def summary_frame(rows: pd.DataFrame, *keys: str) -> pd.DataFrame:
    """The runs' values by the keys, in order of appearance: runs, mean, sd (of a sample), best, worst."""
    grouped = rows.groupby(list(keys), sort=False)["value"]
    return pd.DataFrame(grouped.agg(runs="count", mean="mean", sd="std", best="max", worst="min"))


def percent(value: float | None, digits: int = 2) -> str:
    """A fraction in per cent, without the sign; `NO_VALUE` for a missing one.

    Example:
        >>> percent(0.89219)
        '89.22'
    """
    # A missing number is NaN, which differs from itself.
    return NO_VALUE if value is None or value != value else f"{100 * value:.{digits}f}"  # noqa: PLR0124


def means(rows: pd.DataFrame, *keys: str) -> Any:
    """Mean of the runs' values by the keys, as text in per cent, with the standard deviation of several runs."""
    summary = summary_frame(rows, *keys)
    texts = [
        percent(mean) + (f" ± {percent(sd)}" if runs > 1 else "")
        for runs, mean, sd in zip(summary["runs"], summary["mean"], summary["sd"], strict=True)
    ]
    return pd.Series(texts, summary.index, dtype=object)


def pivot(texts: pd.Series, rows: Iterable[Hashable] | Mapping[Any, str], columns: Mapping[Any, str]) -> pd.DataFrame:
    """Cells of a table; `NO_VALUE` where there is no text.

    Args:
        texts: by row, and by column in one level or several.
        rows: the rows in order; with their names, where these are others.
        columns: the columns in order, a tuple for several levels -> their names.
    """
    found = texts.unstack(list(range(1, texts.index.nlevels))).reindex(index=list(rows))
    cells = pd.DataFrame({name: found.get(key, NO_VALUE) for key, name in columns.items()}, found.index)
    cells.index = pd.Index(list(rows.values() if isinstance(rows, Mapping) else rows))
    return cells.fillna(NO_VALUE)


def long_form(cells: pd.DataFrame, row: str, column: str) -> pd.DataFrame:
    """A rectangle of values as one fact a row: row, column, value."""
    return cells.rename_axis(row).reset_index().melt(id_vars=row, var_name=column, value_name="value")


def corpus_frame(corpus: Mapping[str, Any]) -> pd.DataFrame:
    """Counts by split (columns): spans of each type, their total, and the sizes of the split."""
    columns = {}
    for split, counts in corpus["splits"].items():
        column = {label: counts["spans_by_type"].get(label, 0) for label in corpus["types"]}
        column |= {"Total": counts["spans"], "Documents": counts["documents"], "Sentences": counts["sentences"]}
        column |= {"Tokens": counts["tokens"], "Spans that fit no tokens": counts["unaligned"]}
        columns[SPLIT_NAMES[split]] = column
    return pd.DataFrame(columns)


def confusion_frame(view: View, system: str) -> pd.DataFrame:
    """Gold type (rows) against predicted type (columns), as means over a system's runs.

    The sum of a row is the number of gold spans of its type, the sum of a column the predictions of its type. With tp,
    fn and fp of the strict score, `BOUNDARY` is the rest of a row after hits, confusions and `MISSED`, and of a column
    after hits, confusions and `SPURIOUS`; an error of one side alone (causes "merged" and "split") is counted on that
    side.
    """
    rows = view["measurements"][view["measurements"]["system"] == system]
    sums = rows.groupby(["kind", "measure", "category"])["value"].sum().to_dict()
    types = [label for label in view["dataset"]["types"] if ("entity_strict", "tp", label) in sums]
    matrix = pd.DataFrame(0.0, index=[*types, BOUNDARY, SPURIOUS], columns=[*types, BOUNDARY, MISSED])
    for (kind, predicted, gold), count in sums.items():
        if kind == "confusions":
            matrix.loc[gold, predicted] = count
    wrong_gold, wrong_predicted = matrix.sum(axis=1), matrix.sum(axis=0)
    for label in types:
        tp, fp, fn = (sums["entity_strict", name, label] for name in ("tp", "fp", "fn"))
        missed, spurious = (sums.get(("errors", name, label), 0) for name in ("missed", "spurious"))
        matrix.loc[label, label] = tp
        matrix.loc[label, MISSED] = missed
        matrix.loc[label, BOUNDARY] = fn - missed - wrong_gold[label]
        matrix.loc[SPURIOUS, label] = spurious
        matrix.loc[BOUNDARY, label] = fp - spurious - wrong_predicted[label]
    return matrix / len(view["systems"][system]["seeds"])


def interval_frame(view: View) -> pd.DataFrame:
    """Bootstrap intervals of F: system, category, f1, low, high."""
    rows = [
        {"system": system, "category": category, **values}
        for system, categories in view["comparison"]["intervals"].items()
        for category, values in categories.items()
    ]
    return pd.DataFrame(rows, columns=["system", "category", "f1", "low", "high"])


def curve_frame(view: View) -> pd.DataFrame:
    """Learning curves: system, seed, step, loss, dev_f1; missing where a model gives none."""
    rows = [
        {"system": run["system"], "seed": run["seed"], **point}
        for run in view["runs"]
        for point in run["learning_curve"]
    ]
    frame = pd.DataFrame(rows, columns=["system", "seed", "step", "loss", "dev_f1"])
    return frame.astype({"loss": float, "dev_f1": float})

"""Selections of a view's measurements, and its other facts as data frames: scores as fractions, nothing rounded.

A *system* is a model with its embedding, a *run* one system with one seed; systems may have different numbers of runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from experiments.results.measurements import MEASURES, OVERALL, TAB, point_name
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
ALL_ERRORS = "All errors"
BOUNDARY, MISSED, SPURIOUS = "Boundary", "Missed", "Spurious"


def corpus_frame(corpus: Mapping[str, Any]) -> pd.DataFrame:
    """Counts by split (columns): spans of each type, their total, and the sizes of the split."""
    columns = {}
    for split, counts in corpus["splits"].items():
        column = {label: counts["spans_by_type"].get(label, 0) for label in corpus["types"]}
        column |= {"Total": counts["spans"], "Documents": counts["documents"], "Sentences": counts["sentences"]}
        column |= {"Tokens": counts["tokens"], "Spans that fit no tokens": counts["unaligned"]}
        columns[SPLIT_NAMES[split]] = column
    return pd.DataFrame(columns)


def settings_frame(systems: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """Settings (rows) of each system (columns); missing for a setting that a system does not have."""
    systems = {name: about["settings"] for name, about in systems.items()}
    names = list(dict.fromkeys(name for own in systems.values() for name in own))
    columns = {system: [own.get(name) for name in names] for system, own in systems.items()}
    return pd.DataFrame(columns, index=names, dtype=object)


def select(rows: pd.DataFrame, kind: str, *, measure: str | None = None, category: str | None = None) -> pd.DataFrame:
    """Measurements of a kind, and of a measure and a category where they are named."""
    chosen = rows["kind"] == kind
    for column, value in (("measure", measure), ("category", category)):
        if value is not None:
            chosen &= rows[column] == value
    return rows[chosen]


def wide(rows: pd.DataFrame, *keys: str) -> pd.DataFrame:
    """Measurements with a row for each combination of the keys, and a column for each measure, as they appear."""
    index = pd.MultiIndex.from_frame(rows[list(keys)].drop_duplicates())
    return rows.set_index([*keys, "measure"])["value"].unstack().reindex(index)[list(rows["measure"].unique())]


def score_frame(view: View, match: str = "entity_strict") -> pd.DataFrame:
    """Every score: system, seed, category (a type, `OVERALL` or `MACRO`), measure, value.

    A run without this kind of score has no rows: scores over HIPAA's types need types that map to them.
    """
    rows = select(view["measurements"], match)
    return rows.loc[rows["measure"].isin(list(MEASURES)), ["system", "seed", "category", "measure", "value"]]


def identifier_frame(view: View) -> pd.DataFrame:
    """Scores of the Text Anonymization Benchmark: system, seed, score (of `TAB_MEASURES`), count, total, value."""
    counts = wide(select(view["measurements"], TAB).rename(columns={"category": "score"}), "system", "seed", "score")
    counts = counts[["count", "total"]].astype(int)
    return counts.assign(value=counts["count"] / counts["total"].clip(lower=1)).reset_index()


def rows_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """A frame's rows, each by the names of its columns."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict(orient="records")]


def summary_frame(frame: pd.DataFrame, *keys: str) -> pd.DataFrame:
    """Summary of the runs' values: the keys, runs, mean, sd (of a sample; missing for one run), best, worst.

    Args:
        frame: one value a row, in "value".
        keys: columns that identify what the runs measure; their order of appearance is preserved.
    """
    grouped = frame.groupby(list(keys), sort=False)["value"]
    summary = grouped.agg(runs="count", mean="mean", sd="std", best="max", worst="min")
    return summary.reset_index()


def fraction_frame(view: View) -> pd.DataFrame:
    """F by amount of training data: system, fraction, documents, sentences, tokens, seed, category, measure, value."""
    rows = select(view["fractions"], "entity_strict")
    rows = rows[rows["measure"].isin(list(MEASURES))]
    rows = rows.merge(pd.DataFrame(view["dataset"]["fractions"]), on="fraction", how="inner")
    order = list(view["systems"])
    rows = rows[rows["system"].isin(order)]
    rows = rows.assign(order=rows["system"].map(order.index)).sort_values(["order", "fraction"], kind="stable")
    names = ["system", "fraction", "documents", "sentences", "tokens", "seed", "category", "measure", "value"]
    return rows[names].reset_index(drop=True)


def sweep_frame(view: View) -> pd.DataFrame:
    """Every run of a sweep: system, point, one column for each setting, seed, value (F on dev), chosen."""
    rows = select(view["sweep"], "dev", measure="f1")
    chosen = {name: point_name(about["chosen"]) for name, about in view["systems"].items() if "chosen" in about}
    settings = {
        name: [view["points"][point].get(name) for point in rows["point"]] for name, _ in view["command"]["sweep"]
    }
    frame = rows[["system", "point"]].assign(**settings, seed=rows["seed"], value=rows["value"])
    return frame.assign(chosen=rows["point"] == rows["system"].map(chosen)).reset_index(drop=True)


def error_frame(view: View) -> pd.DataFrame:
    """Errors: system, seed, category (or `ALL_ERRORS`), cause ("" for all causes), count."""
    rows = view["measurements"]
    rows = rows[
        rows["kind"].isin(["causes", "confusions"]) | ((rows["kind"] == "errors") & (rows["category"] == OVERALL))
    ]
    pairs, whole = rows["kind"] == "confusions", rows["kind"] == "errors"
    cause = rows["category"].mask(whole, "").mask(pairs, rows["category"] + " taken for " + rows["measure"])
    category = rows["measure"].mask(pairs, "wrong").replace("all", ALL_ERRORS)
    frame = rows[["system", "seed"]].assign(category=category, cause=cause, count=rows["value"].astype(int))
    return frame.reset_index(drop=True)


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


def vocabulary_frame(view: View) -> pd.DataFrame:
    """Out-of-vocabulary rates: embedding, kind, words, dim, split, tokens and types (shares)."""
    rows = [
        (name, found["kind"], found["words"], found["dim"], split, rates["tokens"], rates["types"])
        for name, found in view["embeddings"].items()
        for split, rates in found["out_of_vocabulary"].items()
    ]
    return pd.DataFrame(rows, columns=["embedding", "kind", "words", "dim", "split", "tokens", "types"])


def interval_frame(view: View) -> pd.DataFrame:
    """Bootstrap intervals of F: system, category, f1, low, high."""
    rows = [
        (system, category, values["f1"], values["low"], values["high"])
        for system, categories in view["comparison"]["intervals"].items()
        for category, values in categories.items()
    ]
    return pd.DataFrame(rows, columns=["system", "category", "f1", "low", "high"])


def pair_frame(view: View) -> pd.DataFrame:
    """Paired tests: a, b, category, f1_a, f1_b, difference (b - a), low, high, p, p_holm, holds."""
    significance = view["comparison"]
    columns = ["a", "b", "category", "f1_a", "f1_b", "difference", "low", "high", "p", "p_holm"]
    frame = pd.DataFrame([[pair[name] for name in columns] for pair in significance["pairs"]], columns=columns)
    return frame.assign(holds=frame["p_holm"] <= significance["level"])


def curve_frame(view: View) -> pd.DataFrame:
    """Learning curves: system, seed, step, loss, dev_f1; missing where a model gives none."""
    rows = [
        (run["system"], run["seed"], point["step"], point["loss"], point["dev_f1"])
        for run in view["runs"]
        for point in run["learning_curve"]
    ]
    frame = pd.DataFrame(rows, columns=["system", "seed", "step", "loss", "dev_f1"])
    return frame.astype({"loss": float, "dev_f1": float})


def time_frame(view: View) -> pd.DataFrame:
    """Times: system, seed, phase, value (seconds, or tokens a second)."""
    rows = select(view["measurements"], "time")
    rows = rows[rows["measure"].isin(["fit_seconds", "predict_seconds", "tokens_per_second"])]
    return rows[["system", "seed", "measure", "value"]].rename(columns={"measure": "phase"})

"""Views as data frames: one fact a row, scores as fractions, nothing rounded. Tables, plots and CSV start from these.

A *system* is a model with its embedding, a *run* one system with one seed; systems may have different numbers of runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from experiments.results.schema import View

HIPAA_TOKENS, TAB = "token_binary_hipaa", "tab"
SCORES = {
    "entity_strict": "strict entity (type and both boundaries)",
    "entity_relaxed": "relaxed entity (type and overlap, one-to-one)",
    "token": "token (type)",
    "token_binary": "token (PHI or not)",
    HIPAA_TOKENS: "token (PHI that HIPAA names or not)",
}
MEASURES = {"recall": "R", "precision": "P", "f1": "F"}
"""Measures of a score, in order, and their letters."""
SPLIT_NAMES = {"train": "Train", "dev": "Validation", "test": "Test"}
OVERALL, MACRO, ALL_ERRORS = "Overall", "Macro average", "All errors"
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


def score_frame(view: View, match: str = "entity_strict") -> pd.DataFrame:
    """Every score: system, seed, category (a type, `OVERALL` or `MACRO`), measure, value.

    A run without this kind of score has no rows: scores over HIPAA's types need types that map to them.
    """
    rows = [
        (system, run["seed"], *score)
        for system, found in view["systems"].items()
        for run in found["runs"]
        if match in run["scores"]
        for score in _scores_of(run["scores"][match])
    ]
    return pd.DataFrame(rows, columns=["system", "seed", "category", "measure", "value"])


def _scores_of(scores: Mapping[str, Any]) -> list[tuple[str, str, float]]:
    categories = {**scores["by_type"], MACRO: scores["macro"], OVERALL: scores["micro"]}
    return [(category, measure, values[measure]) for category, values in categories.items() for measure in MEASURES]


def identifier_frame(view: View) -> pd.DataFrame:
    """Scores of the Text Anonymization Benchmark: system, seed, score (of `TAB_MEASURES`), count, total, value."""
    rows = [
        (system, run["seed"], score, share["count"], share["total"], share["count"] / max(share["total"], 1))
        for system, found in view["systems"].items()
        for run in found["runs"]
        for score, share in run["scores"].get(TAB, {}).items()
    ]
    return pd.DataFrame(rows, columns=["system", "seed", "score", "count", "total", "value"])


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
    rows = [
        (system, part["fraction"], part["documents"], part["sentences"], part["tokens"], run["seed"], *score)
        for system in view["systems"]
        for part in view["fractions"]
        for run in part["runs"]
        if run["system"] == system
        for score in _scores_of(run["scores"]["entity_strict"])
    ]
    sizes = ["fraction", "documents", "sentences", "tokens"]
    return pd.DataFrame(rows, columns=["system", *sizes, "seed", "category", "measure", "value"])


def sweep_frame(view: View) -> pd.DataFrame:
    """Every run of a sweep: system, one column for each setting, seed, value (F on dev), chosen."""
    names = sweep_names(view)
    rows = [
        (run["system"], *map(run["point"].get, names), run["seed"], run["dev_f1"], chosen == run["point"])
        for run in view["sweep"]
        for chosen in [view["systems"][run["system"]].get("chosen")]
    ]
    return pd.DataFrame(rows, columns=["system", *names, "seed", "value", "chosen"])


def sweep_names(view: View) -> list[str]:
    """Settings of a sweep, in the order of its option."""
    return [name for name, _ in view["command"]["sweep"]]


def error_frame(view: View) -> pd.DataFrame:
    """Errors: system, seed, category (or `ALL_ERRORS`), cause ("" for all causes), count."""
    rows = []
    for system, found in view["systems"].items():
        for run in found["runs"]:
            errors = run["errors"]
            rows.append((system, run["seed"], ALL_ERRORS, "", sum(errors["categories"].values())))
            for category, count in errors["categories"].items():
                rows.append((system, run["seed"], category, "", count))
                causes = dict(errors["causes"][category])
                if category == "wrong":
                    causes |= {f"{c['gold']} taken for {c['predicted']}": c["count"] for c in errors["confusions"]}
                rows += [(system, run["seed"], category, cause, number) for cause, number in causes.items()]
    return pd.DataFrame(rows, columns=["system", "seed", "category", "cause", "count"])


def confusion_frame(view: View, system: str) -> pd.DataFrame:
    """Gold type (rows) against predicted type (columns), as means over a system's runs.

    The sum of a row is the number of gold spans of its type, the sum of a column the predictions of its type. With tp,
    fn and fp of the strict score, `BOUNDARY` is the rest of a row after hits, confusions and `MISSED`, and of a column
    after hits, confusions and `SPURIOUS`; an error of one side alone (causes "merged" and "split") is counted on that
    side.
    """
    runs = view["systems"][system]["runs"]
    found = {label for run in runs for label in run["scores"]["entity_strict"]["by_type"]}
    types = [label for label in view["dataset"]["types"] if label in found]
    first, *others = (_confusions(run, types) for run in runs)
    return sum(others, start=first) / len(runs)


def _confusions(run: Mapping[str, Any], types: Sequence[str]) -> pd.DataFrame:
    """The matrix of one run, in whole numbers."""
    scores, by_type = run["scores"]["entity_strict"]["by_type"], run["errors"]["by_type"]
    matrix = pd.DataFrame(0, index=[*types, BOUNDARY, SPURIOUS], columns=[*types, BOUNDARY, MISSED])
    for pair in run["errors"]["confusions"]:
        matrix.loc[pair["gold"], pair["predicted"]] = pair["count"]
    wrong_gold, wrong_predicted = matrix.sum(axis=1), matrix.sum(axis=0)
    for label in types:
        score, missed, spurious = scores.get(label), *(by_type[c].get(label, 0) for c in ("missed", "spurious"))
        if score is None:
            continue
        matrix.loc[label, label] = score["tp"]
        matrix.loc[label, MISSED] = missed
        matrix.loc[label, BOUNDARY] = score["fn"] - missed - wrong_gold[label]
        matrix.loc[SPURIOUS, label] = spurious
        matrix.loc[BOUNDARY, label] = score["fp"] - spurious - wrong_predicted[label]
    return matrix


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
        (system, run["seed"], point["step"], point["loss"], point["dev_f1"])
        for system, found in view["systems"].items()
        for run in found["runs"]
        for point in run["learning_curve"]
    ]
    frame = pd.DataFrame(rows, columns=["system", "seed", "step", "loss", "dev_f1"])
    return frame.astype({"loss": float, "dev_f1": float})


def time_frame(view: View) -> pd.DataFrame:
    """Times: system, seed, phase, value (seconds, or tokens a second)."""
    phases = ("fit_seconds", "predict_seconds", "tokens_per_second")
    rows = [
        (system, run["seed"], phase, run[phase])
        for system, found in view["systems"].items()
        for run in found["runs"]
        for phase in phases
    ]
    return pd.DataFrame(rows, columns=["system", "seed", "phase", "value"])

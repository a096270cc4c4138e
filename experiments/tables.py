"""The paper's tables from results: data frames first, then cells of text for the terminal and for Markdown.

Everything here works on the dictionary of `experiments.results`, so that tables can be made again from results.json.
Scores are fractions in the frames and per cent with two decimals in the cells.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from tabulate import tabulate

from crfdeid.scoring import CAUSES

Results = Mapping[str, Any]

SCORES = {
    "entity_strict": "strict entity (type and both boundaries)",
    "entity_relaxed": "relaxed entity (type and overlap, one-to-one)",
    "token": "token (type)",
    "token_binary": "token (PHI or not)",
}
# The paper's order of columns in Table 5.
MEASURES = {"recall": "R", "precision": "P", "f1": "F"}
SPLIT_NAMES = {"train": "Train", "dev": "Validation", "test": "Test"}
ERROR_NAMES = {
    "missed": "Missed entity",
    "wrong": "Wrong entity",
    "boundary": "Boundary (the paper's false positives)",
    "spurious": "Spurious",
}
OVERALL, MACRO, ALL_ERRORS = "Overall", "Macro average", "All errors"
TOP_CONFUSIONS = 5
NO_VALUE = "-"


@dataclass(frozen=True)
class Table:
    """A table ready to be shown.

    Args:
        title: what it shows.
        cells: texts and whole numbers; the index is the first column.
        notes: what a reader must know to read it, a sentence each.
    """

    title: str
    cells: pd.DataFrame
    notes: tuple[str, ...] = ()


def corpus_frame(results: Results) -> pd.DataFrame:
    """Counts by split (columns): spans of each type, their total, and the sizes of the split."""
    corpus = results["corpus"]
    columns = {}
    for split, counts in corpus["splits"].items():
        column = {label: counts["spans_by_type"].get(label, 0) for label in corpus["types"]}
        column |= {"Total": counts["spans"], "Documents": counts["documents"], "Sentences": counts["sentences"]}
        column |= {"Tokens": counts["tokens"], "Spans that fit no tokens": counts["unaligned"]}
        columns[SPLIT_NAMES[split]] = column
    return pd.DataFrame(columns)


def settings_frame(results: Results) -> pd.DataFrame:
    """The settings (rows) of each model (columns); missing where a model has no such setting."""
    models = results["settings"]["models"]
    names = list(dict.fromkeys(name for settings in models.values() for name in settings))
    return pd.DataFrame({model: [settings.get(n) for n in names] for model, settings in models.items()}, index=names)


def score_frame(results: Results, match: str) -> pd.DataFrame:
    """Every score in long form: model, seed, category (a type, `OVERALL` or `MACRO`), measure, value (a fraction)."""
    rows = []
    for model, found in results["models"].items():
        for run in found["runs"]:
            scores = run["scores"][match]
            categories = {**scores["by_type"], MACRO: scores["macro"], OVERALL: scores["micro"]}
            for category, values in categories.items():
                rows += [(model, run["seed"], category, measure, values[measure]) for measure in MEASURES]
    return pd.DataFrame(rows, columns=["model", "seed", "category", "measure", "value"])


def error_frame(results: Results) -> pd.DataFrame:
    """Errors in long form: model, seed, category (or `ALL_ERRORS`), cause ("" for all causes), count."""
    rows = []
    for model, found in results["models"].items():
        for run in found["runs"]:
            errors = run["errors"]
            rows.append((model, run["seed"], ALL_ERRORS, "", sum(errors["categories"].values())))
            for category, count in errors["categories"].items():
                rows.append((model, run["seed"], category, "", count))
                causes = dict(errors["causes"][category])
                if category == "wrong":
                    causes |= {f"{c['gold']} taken for {c['predicted']}": c["count"] for c in errors["confusions"]}
                rows += [(model, run["seed"], category, cause, number) for cause, number in causes.items()]
    return pd.DataFrame(rows, columns=["model", "seed", "category", "cause", "count"])


def time_frame(results: Results) -> pd.DataFrame:
    """Times in long form: model, seed, phase, value (seconds, or tokens a second)."""
    phases = ("fit_seconds", "predict_seconds", "tokens_per_second")
    rows = [
        (model, run["seed"], phase, run[phase])
        for model, found in results["models"].items()
        for run in found["runs"]
        for phase in phases
    ]
    return pd.DataFrame(rows, columns=["model", "seed", "phase", "value"])


def corpus_table(results: Results) -> Table:
    """Counts by type and split, in the form of the paper's Table 2."""
    corpus = results["corpus"]
    notes = [f"Corpus: {corpus['name']}, format {corpus['format']}; types: {corpus['type_map']}.", *corpus["notices"]]
    if any(split["unaligned"] for split in corpus["splits"].values()):
        notes.append("Spans that fit no tokens cannot be predicted; each one in the scored split counts as missed.")
    return Table("Corpus: spans of each type", _grouped(corpus_frame(results)), tuple(notes))


def settings_table(results: Results) -> Table:
    """Settings by model, in the form of the paper's Table 3."""
    cells = settings_frame(results).map(_setting)
    cells.index = cells.index.str.replace("_", " ")
    command = results["settings"]["command"]
    note = f"Profile: {command['profile']}; seeds: {', '.join(map(str, command['seeds']))}."
    return Table("Settings", cells, (note,))


def score_table(results: Results, match: str = "entity_strict") -> Table:
    """Recall, precision and F of every model side by side, by type, in the form of the paper's Table 5."""
    frame = score_frame(results, match)
    types = [label for label in [*results["corpus"]["types"], "PHI"] if label in set(frame["category"])]
    cells = _side_by_side(frame, [*types, OVERALL, MACRO])
    notes = (f"Match: {SCORES[match]}. {OVERALL}: all types together (micro average).", *_score_notes(results))
    return Table("Scores by category (recall, precision, F in %)", cells, notes)


def overview_table(results: Results) -> Table:
    """Overall recall, precision and F by every kind of match."""
    frames = []
    for match, name in SCORES.items():
        frame = score_frame(results, match)
        frames.append(frame[frame["category"] == OVERALL].assign(category=name))
    cells = _side_by_side(pd.concat(frames), list(SCORES.values()))
    return Table("Overall scores by kind of match (micro average, %)", cells, _score_notes(results))


def error_table(results: Results) -> Table:
    """Error categories by model, with causes and the most frequent confusions of types (paper, section 4)."""
    models, runs = list(results["models"]), _run_count(results)
    totals = error_frame(results).groupby(["category", "cause", "model"])["count"].sum().to_dict()

    def row(category: str, cause: str) -> list[str]:
        means = (totals.get((category, cause, model), 0) / runs for model in models)
        return [f"{mean:.1f}" if runs > 1 else f"{mean:.0f}" for mean in means]

    rows = {}
    for category, name in ERROR_NAMES.items():
        rows[name] = row(category, "")
        for cause in _shown_causes(results, category):
            rows[f"{name.partition(' (')[0]}: {cause}"] = row(category, cause)
    rows[ALL_ERRORS] = row(ALL_ERRORS, "")
    cells = pd.DataFrame.from_dict(rows, orient="index", columns=models)
    notes = ("One error can have several causes, or none.", *_mean_note(results), *score_notes(results))
    return Table("Errors: entities by category and cause", cells, notes)


def _shown_causes(results: Results, category: str) -> list[str]:
    """The causes that occur, and of the confusions those that are most frequent in all models together."""
    frame = error_frame(results)
    counts = frame[(frame["category"] == category) & (frame["cause"] != "")].groupby("cause")["count"].sum()
    causes = [cause for cause in CAUSES if cause in counts.index]
    return [*causes, *counts.drop(index=causes).nlargest(TOP_CONFUSIONS).index]


def time_table(results: Results) -> Table:
    """Time by phase and model."""
    mean = time_frame(results).pivot_table(index="phase", columns="model", values="value", aggfunc="mean")
    mean = mean[list(results["models"])]
    cells = pd.DataFrame(
        {
            "Training (s)": mean.loc["fit_seconds"].map("{:.1f}".format),
            "Tagging (s)": mean.loc["predict_seconds"].map("{:.1f}".format),
            "Tagging (tokens/s)": mean.loc["tokens_per_second"].map("{:,.0f}".format),
        }
    ).T
    machine = results["environment"]
    notes = [
        f"Device: {machine['device']}; {machine['jobs']} trained at the same time on {machine['cores']} cores.",
        "Tagging includes what a model compiles when it first meets sentences of some length.",
        f"Reading the corpus took {machine['corpus_seconds']:.1f} s, everything {machine['total_seconds']:.1f} s.",
    ]
    return Table("Time", cells, (*notes, *_mean_note(results)))


# What is shown once models are trained, in this order.
SCORE_TABLES = (score_table, overview_table, error_table, time_table)


def score_notes(results: Results) -> tuple[str, ...]:
    """What a reader of any score must know: split, types, repair policy and features."""
    corpus = results["corpus"]
    scored = corpus["splits"][corpus["test"]]
    notes = [
        f"Scored on the {corpus['test']} split of {corpus['name']}: {scored['documents']} documents, "
        f"{scored['spans']} spans; types: {corpus['type_map']}.",
        f"Tags that are not valid IOB2 are read by the policy '{results['settings']['repair']}'.",
    ]
    for model, settings in results["settings"]["models"].items():
        if "pos" in settings:
            pos = settings["pos"]
            said = "no POS and chunk features" if pos == "none" else f"POS and chunk tags by {pos}"
            notes.append(f"{model}: features '{settings['features']}', {said}.")
    return tuple(notes)


def _score_notes(results: Results) -> tuple[str, ...]:
    runs = _run_count(results)
    return (*score_notes(results), *((f"Mean ± standard deviation of {runs} seeds.",) if runs > 1 else ()))


def _mean_note(results: Results) -> tuple[str, ...]:
    runs = _run_count(results)
    return (f"Means of {runs} seeds.",) if runs > 1 else ()


def to_text(table: Table) -> str:
    """The table for a terminal."""
    lines = [table.title, "=" * len(table.title), _tabulate(table.cells, "simple"), *table.notes]
    return "\n".join(lines) + "\n"


def to_markdown(table: Table) -> str:
    """The table as GitHub's Markdown."""
    notes = "\n".join(f"- {note}" for note in table.notes)
    return f"## {table.title}\n\n{_tabulate(table.cells, 'github')}\n\n{notes}\n"


def _tabulate(cells: pd.DataFrame, style: str) -> str:
    alignment = ["left", *["right"] * len(cells.columns)]
    rows = [[name, *row] for name, row in zip(cells.index, cells.to_numpy(), strict=True)]
    headers = ["", *cells.columns]
    return str(tabulate(rows, headers=headers, tablefmt=style, disable_numparse=True, colalign=alignment))


def _grouped(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.map("{:,}".format)


def _setting(value: Any) -> str:
    # A missing number is NaN, which differs from itself.
    if value is None or value != value:  # noqa: PLR0124
        return NO_VALUE
    return ", ".join(map(str, value)) if isinstance(value, Sequence) and not isinstance(value, str) else str(value)


def _side_by_side(frame: pd.DataFrame, categories: Sequence[str]) -> pd.DataFrame:
    """One row a category, three columns a model; mean and standard deviation where there are several seeds."""
    models = list(dict.fromkeys(frame["model"]))
    cell: Callable[[pd.Series], str] = _mean_and_deviation if frame["seed"].nunique() > 1 else _mean
    grouped = frame.groupby(["category", "model", "measure"])["value"].agg(cell)
    rows = {
        category: {
            f"{model} {letter}": grouped.get((category, model, measure), NO_VALUE)
            for model in models
            for measure, letter in MEASURES.items()
        }
        for category in categories
    }
    return pd.DataFrame.from_dict(rows, orient="index")


def _mean(values: pd.Series) -> str:
    return f"{100 * values.mean():.2f}"


def _mean_and_deviation(values: pd.Series) -> str:
    return f"{100 * values.mean():.2f} ± {100 * values.std():.2f}"


def _run_count(results: Results) -> int:
    return max(len(found["runs"]) for found in results["models"].values())

"""Tables of the setting: corpus, settings, sweep, vocabulary and time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from crfdeid.augmentation import NO_COPIES
from experiments.results.schema import Results
from experiments.results.view import View
from experiments.tables.frames import (
    SPLIT_NAMES,
    corpus_frame,
    rows_of,
    settings_frame,
    summary_frame,
    sweep_frame,
    time_frame,
    vocabulary_frame,
)
from experiments.tables.table import MARK, NO_VALUE, Table, long_form, mean_and_deviation, percent, run_notes


def corpus_table(corpus: Mapping[str, Any]) -> Table:
    """Counts by type and split.

    Args:
        corpus: an entry of the ``datasets`` part of results.json.
    """
    notes = [f"Corpus: {corpus['name']}, format {corpus['format']}; types: {corpus['type_map']}.", *corpus["notices"]]
    if any(split["unaligned"] for split in corpus["splits"].values()):
        notes.append("Spans that fit no tokens cannot be predicted; each one in the scored split counts as missed.")
    frame = corpus_frame(corpus)
    data = long_form(frame, "count", "split")
    return Table("Corpus: spans of each type", frame.map("{:,}".format), tuple(notes), data)


def settings_table(results: Results) -> Table:
    """Settings by system."""
    frame = settings_frame(results["systems"])
    cells = frame.map(_setting)
    cells.index = cells.index.str.replace("_", " ")
    command = results["command"]
    notes = [f"Profile: {command['profile']}; seeds: {', '.join(map(str, command['seeds']))}."]
    if (augment := command.get("augment", NO_COPIES)) != NO_COPIES:
        notes.append(f"Trained on rewritten copies of training documents too: {augment}.")
    if (count := command.get("pseudonymise")) is not None:
        notes.append(
            f"Trained on shuffled sentences, each word of PHI one of its {count} nearest, itself among them, "
            f"by vectors of {Path(command['neighbours_from']).name}; what is scored is as it was."
        )
    return Table("Settings", cells, tuple(notes), long_form(frame.map(_setting), "setting", "system"))


def _setting(value: Any) -> str:
    if value is None:
        return NO_VALUE
    return ", ".join(map(str, value)) if isinstance(value, Sequence) and not isinstance(value, str) else str(value)


def sweep_table(view: View) -> Table:
    """Grid of a sweep: one row a point, one column a system, F on dev; the chosen point is marked."""
    frame = sweep_frame(view)
    summary = summary_frame(frame, "system", "point", "chosen")
    texts = {
        (row["point"], row["system"]): mean_and_deviation(row) + (MARK if row["chosen"] else "")
        for row in rows_of(summary)
    }
    systems, points = summary["system"].unique(), summary["point"].unique()
    rows = {
        _point_text(view["points"][point]): [texts.get((point, system), NO_VALUE) for system in systems]
        for point in points
    }
    notes = (
        f"Strict entity F on dev in %, of the epoch that is kept; {MARK}: the highest mean of a system, its choice.",
        "The scored split took no part in the choice.",
    )
    cells = pd.DataFrame.from_dict(rows, orient="index", columns=systems)
    return Table("Sweep: F on dev by setting", cells, notes, frame.drop(columns="point"))


def _point_text(point: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name.replace('_', ' ')} {value:g}" if isinstance(value, float) else f"{name.replace('_', ' ')} {value}"
        for name, value in point.items()
        if value is not None
    )


def vocabulary_table(view: View) -> Table:
    """Share of each split without a vector in an embedding."""
    frame = vocabulary_frame(view)
    rows: dict[str, dict[str, str]] = {}
    for found in rows_of(frame):
        row = rows.setdefault(found["embedding"], {"Words": f"{found['words']:,}", "Dimension": f"{found['dim']}"})
        name = SPLIT_NAMES[found["split"]]
        row |= {f"{name} tokens": percent(found["tokens"]), f"{name} words": percent(found["types"])}
    notes = [
        "Share in % that the embedding has no word for: of all tokens of a split, and of its different words.",
        "Words: how many the embedding has.",
    ]
    for name, facts in view["embeddings"].items():
        if facts["subword_buckets"]:
            notes.append(f"{name} has a vector for every other word too, made of the word's parts.")
        notes += facts["notices"]
    return Table("Out-of-vocabulary rates", pd.DataFrame.from_dict(rows, orient="index"), tuple(notes), frame)


def time_table(view: View) -> Table:
    """Time by phase and system."""
    frame = time_frame(view)
    mean = frame.pivot_table(index="phase", columns="system", values="value", aggfunc="mean")
    mean = mean[list(view["systems"])]
    cells = pd.DataFrame(
        {
            "Training (s)": mean.loc["fit_seconds"].map("{:.1f}".format),
            "Tagging (s)": mean.loc["predict_seconds"].map("{:.1f}".format),
            "Tagging (tokens/s)": mean.loc["tokens_per_second"].map("{:,.0f}".format),
        }
    ).T
    machine = view["environment"]
    notes = [
        f"Device: {machine['device']}; {machine['jobs']} trained at the same time on {machine['cores']} cores.",
        "Tagging includes what a model compiles when it first meets sentences of some length.",
        f"Reading the corpus took {machine['corpus_seconds']:.1f} s, everything {machine['total_seconds']:.1f} s.",
    ]
    if view["embeddings"]:
        taken = (f"{name} {found['fit_seconds']:.1f} s" for name, found in view["embeddings"].items())
        notes.append(f"Training the embeddings comes before, and is not in these times: {', '.join(taken)}.")
    return Table("Time", cells, (*notes, *run_notes(view, "Means of")), frame)

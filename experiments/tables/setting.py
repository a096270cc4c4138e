"""Tables of the setting: corpus, settings, sweep, vocabulary and time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from crfdeid.augmentation import NO_COPIES
from experiments.results.measurements import point_name
from experiments.results.schema import Results
from experiments.results.view import View
from experiments.tables.frames import NO_VALUE, SPLIT_NAMES, corpus_frame, long_form, means, percent, pivot, select
from experiments.tables.table import MARK, Table, run_notes


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
    systems = {name: about["settings"] for name, about in results["systems"].items()}
    names = list(dict.fromkeys(name for own in systems.values() for name in own))
    frame = pd.DataFrame(
        {system: [_setting(own.get(name)) for name in names] for system, own in systems.items()}, names
    )
    cells = frame.set_axis([name.replace("_", " ") for name in names])
    command = results["command"]
    notes = [f"Profile: {command['profile']}; seeds: {', '.join(map(str, command['seeds']))}."]
    if (augment := command.get("augment", NO_COPIES)) != NO_COPIES:
        notes.append(f"Trained on rewritten copies of training documents too: {augment}.")
    if (count := command.get("pseudonymise")) is not None:
        notes.append(
            f"Trained on shuffled sentences, each word of PHI one of its {count} nearest, itself among them, "
            f"by vectors of {Path(command['neighbours_from']).name}; what is scored is as it was."
        )
    return Table("Settings", cells, tuple(notes), long_form(frame, "setting", "system"))


def _setting(value: Any) -> str:
    if value is None:
        return NO_VALUE
    return ", ".join(map(str, value)) if isinstance(value, Sequence) and not isinstance(value, str) else str(value)


def sweep_table(view: View) -> Table:
    """Grid of a sweep: one row a point, one column a system, F on dev; the chosen point is marked."""
    rows = select(view["sweep"], "dev", measure="f1")
    texts = means(rows, "point", "system")
    for system, about in view["systems"].items():
        if "chosen" in about and (point_name(about["chosen"]), system) in texts:
            texts[point_name(about["chosen"]), system] += MARK
    points = {point: _point_text(view["points"][point]) for point in rows["point"].unique()}
    notes = (
        f"Strict entity F on dev in %, of the epoch that is kept; {MARK}: the highest mean of a system, its choice.",
        "The scored split took no part in the choice.",
    )
    cells = pivot(texts, points, {system: system for system in rows["system"].unique()})
    return Table("Sweep: F on dev by setting", cells, notes, rows)


def _point_text(point: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name.replace('_', ' ')} {value:g}" if isinstance(value, float) else f"{name.replace('_', ' ')} {value}"
        for name, value in point.items()
        if value is not None
    )


def vocabulary_table(view: View) -> Table:
    """Share of each split without a vector in an embedding."""
    rows = [
        {
            "embedding": name,
            "kind": facts["kind"],
            "words": facts["words"],
            "dim": facts["dim"],
            "split": split,
            **rates,
        }
        for name, facts in view["embeddings"].items()
        for split, rates in facts["out_of_vocabulary"].items()
    ]
    cells = pd.DataFrame(
        {
            name: {"Words": f"{facts['words']:,}", "Dimension": f"{facts['dim']}"}
            | {
                f"{SPLIT_NAMES[split]} {what}": percent(rates[kind])
                for split, rates in facts["out_of_vocabulary"].items()
                for what, kind in (("tokens", "tokens"), ("words", "types"))
            }
            for name, facts in view["embeddings"].items()
        }
    ).T
    notes = [
        "Share in % that the embedding has no word for: of all tokens of a split, and of its different words.",
        "Words: how many the embedding has.",
    ]
    for name, facts in view["embeddings"].items():
        if facts["subword_buckets"]:
            notes.append(f"{name} has a vector for every other word too, made of the word's parts.")
        notes += facts["notices"]
    return Table("Out-of-vocabulary rates", cells, tuple(notes), pd.DataFrame(rows))


def _devices(view: View) -> str:
    """The device of all trainings, or the systems of each."""
    found: dict[str, list[str]] = {}
    for run in view["runs"]:
        found.setdefault(run.get("device", view["environment"]["device"]), []).append(run["system"])
    if len(found) == 1:
        return next(iter(found))
    return "; ".join(f"{device}: {', '.join(dict.fromkeys(names))}" for device, names in found.items())


def time_table(view: View) -> Table:
    """Time by phase and system."""
    rows = select(view["measurements"], "time")
    found = rows.groupby(["measure", "system"])["value"].mean().unstack()[list(view["systems"])]
    formats = {"Training (s)": "{:.1f}", "Tagging (s)": "{:.1f}", "Tagging (tokens/s)": "{:,.0f}"}
    measures = ("fit_seconds", "predict_seconds", "tokens_per_second")
    cells = pd.DataFrame({n: found.loc[m].map(f.format) for m, (n, f) in zip(measures, formats.items(), strict=True)}).T
    machine = view["environment"]
    notes = [
        f"Device: {_devices(view)}; {machine['jobs']} trained at the same time on {machine['cores']} cores.",
        "Tagging includes what a model compiles when it first meets sentences of some length.",
        f"Reading the corpus took {machine['corpus_seconds']:.1f} s, everything {machine['total_seconds']:.1f} s.",
    ]
    if view["embeddings"]:
        taken = (f"{name} {found['fit_seconds']:.1f} s" for name, found in view["embeddings"].items())
        notes.append(f"Training the embeddings comes before, and is not in these times: {', '.join(taken)}.")
    return Table("Time", cells, (*notes, *run_notes(view, "Means of")), rows[rows["measure"].isin(measures)])

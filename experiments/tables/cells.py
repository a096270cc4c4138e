"""A table, the texts of its cells, and notes that several tables share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from crfdeid.label_schemes import approximate_types
from experiments.results.schema import View
from experiments.tables.frames import HIPAA_TOKENS, MEASURES, OVERALL, rows_of, score_frame, summary_frame

NO_VALUE = "-"
MARK = "*"


@dataclass(frozen=True)
class Table:
    """A table ready to be shown.

    Args:
        title: its subject.
        cells: texts and whole numbers; the index is the first column.
        notes: remarks for its reader, a sentence each.
        data: the same in full precision, one fact a row, with further facts that the cells leave out.
        group: number of neighbouring columns that stay together when a wide table is cut into blocks.
    """

    title: str
    cells: pd.DataFrame
    notes: tuple[str, ...] = ()
    data: pd.DataFrame = field(default_factory=pd.DataFrame)
    group: int = 1


def percent(value: float | None, digits: int = 2) -> str:
    """A fraction in per cent, without the sign; `NO_VALUE` for a missing one.

    Example:
        >>> percent(0.89219)
        '89.22'
    """
    # A missing number is NaN, which differs from itself.
    return NO_VALUE if value is None or value != value else f"{100 * value:.{digits}f}"  # noqa: PLR0124


def mean_and_deviation(summary: Mapping[str, Any]) -> str:
    """A row of `summary_frame` in per cent, with the standard deviation where there are several runs."""
    return percent(summary["mean"]) + (f" ± {percent(summary['sd'])}" if summary["runs"] > 1 else "")


def count(value: float, *, mean: bool) -> str:
    """A number of things, with one decimal for a mean of several runs."""
    return f"{value:,.1f}" if mean else f"{value:,.0f}"


def long_form(cells: pd.DataFrame, row: str, column: str) -> pd.DataFrame:
    """A rectangle of values as one fact a row: row, column, value."""
    return cells.rename_axis(row).reset_index().melt(id_vars=row, var_name=column, value_name="value")


def run_counts(view: View) -> dict[str, int]:
    """Number of runs of each system."""
    return {system: len(found["runs"]) for system, found in view["systems"].items()}


def side_by_side(
    frame: pd.DataFrame, categories: Sequence[str], *, marked: frozenset[tuple[str, str]] = frozenset()
) -> pd.DataFrame:
    """One row a category, three columns a system; mean and standard deviation where a system has several runs.

    Args:
        frame: from `score_frame`.
        categories: the rows, in order.
        marked: each (system, category) whose F gets a `MARK`.
    """
    summary = summary_frame(frame, "system", "category", "measure")
    texts = {(row["system"], row["category"], row["measure"]): mean_and_deviation(row) for row in rows_of(summary)}
    for system, category in marked & {key[:2] for key in texts}:
        texts[system, category, "f1"] += MARK
    systems = list(dict.fromkeys(frame["system"]))
    rows = {
        category: {
            f"{system} {letter}": texts.get((system, category, measure), NO_VALUE)
            for system in systems
            for measure, letter in MEASURES.items()
        }
        for category in categories
    }
    return pd.DataFrame.from_dict(rows, orient="index")


def overall_f(view: View) -> dict[str, dict[str, Any]]:
    """Each system's row of `summary_frame` for the strict F of all types together."""
    frame = score_frame(view)
    frame = frame[(frame["category"] == OVERALL) & (frame["measure"] == "f1")]
    return {row["system"]: row for row in rows_of(summary_frame(frame, "system"))}


def score_notes(view: View) -> tuple[str, ...]:
    """Notes for the reader of any score: split, types, repair policy and features."""
    corpus = view["dataset"]
    scored = corpus["splits"][corpus["test"]]
    notes = [
        f"Scored on the {corpus['test']} split of {corpus['name']}: {scored['documents']} documents, "
        f"{scored['spans']} spans; types: {corpus['type_map']}.",
        f"Tags that are not valid IOB2 are read by the policy '{view['repair']}'.",
    ]
    for system, about in view["systems"].items():
        settings = about["settings"]
        if "pos" in settings:
            pos = settings["pos"]
            pos_text = "no POS and chunk features" if pos == "none" else f"POS and chunk tags by {pos}"
            notes.append(f"{system}: features '{settings['features']}', {pos_text}.")
    return tuple(notes)


def hipaa_notes(view: View) -> tuple[str, ...]:
    """Notes for the reader of scores over HIPAA's types; empty without such scores."""
    if not any(HIPAA_TOKENS in run["scores"] for found in view["systems"].values() for run in found["runs"]):
        return ()
    tokens = "PHI that HIPAA names: token by token, as the 2014 i2b2 challenge cuts and counts them."
    approximate = approximate_types(view["dataset"]["types"])
    if not approximate:
        return (tokens,)
    more = f" and {len(approximate) - 3} more" if len(approximate) > 3 else ""
    return (tokens, f"Approximate: that challenge has no {', '.join(approximate[:3])}{more}.")


def run_notes(view: View, what: str = "Mean ± standard deviation of") -> tuple[str, ...]:
    """Number of runs behind each value, and the systems with fewer, because no seed changes them."""
    counts = run_counts(view)
    most = max(counts.values(), default=1)
    if most == 1:
        return ()
    fewer = [f"{system} ran {_times(runs)}" for system, runs in counts.items() if runs < most]
    once = f"; a model that uses no seed runs once: {', '.join(fewer)}" if fewer else ""
    return (f"{what} {most} seeds{once}.",)


def _times(runs: int) -> str:
    return "once" if runs == 1 else f"{runs} times"


def name_of_test(view: View) -> str:
    """The significance test, and its level.

    Example: "approximate randomisation on documents, 10,000 permutations, Holm-adjusted p ≤ 0.05".
    """
    significance = view["comparison"]
    return (
        f"{significance['test']} on documents, {significance['permutations']:,} permutations, "
        f"Holm-adjusted p ≤ {significance['level']:g}"
    )


def interval_name(view: View) -> str:
    """The kind of interval, such as "95 % bootstrap interval"."""
    return f"{100 * (1 - view['comparison']['level']):g} % bootstrap interval"


def holding(view: View) -> frozenset[tuple[str, str, str]]:
    """Every (system, other system, category) whose F differ by the paired test, in both orders."""
    significance = view["comparison"]
    if not significance:
        return frozenset()
    held = [pair for pair in significance["pairs"] if pair["p_holm"] <= significance["level"]]
    there = {(pair["a"], pair["b"], pair["category"]) for pair in held}
    return frozenset(there | {(b, a, category) for a, b, category in there})

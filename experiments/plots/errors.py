"""Plots of errors: counts by category, and confusions of types."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from numpy.typing import NDArray

from experiments.plots.style import CHARACTER, INK, canvas, finish, heat_map, readable_on
from experiments.results.views import View
from experiments.tables.cells import count, run_counts
from experiments.tables.errors import ERROR_NAMES
from experiments.tables.frames import BOUNDARY, MISSED, SPURIOUS, confusion_frame, error_frame

# Inches: with the name of a type above it, or with the name standing upright.
_WIDEST_CELL, _NARROW_CELL = 1.0, 0.5
# From dark to light, so that they differ without their hues.
_CATEGORY_COLOURS = {"missed": "#0b3c78", "wrong": "#c4520d", "boundary": "#4795da", "spurious": "#909090"}


def error_plot(view: View) -> Figure:
    """The errors of each system in one bar, stacked by category."""
    frame, runs = error_frame(view), run_counts(view)
    totals = frame[frame["cause"] == ""].groupby(["category", "system"])["count"].sum()
    means = {c: np.array([totals[c, system] / runs[system] for system in runs]) for c in _CATEGORY_COLOURS}
    ends = sum(means.values(), start=np.zeros(len(runs)))
    figure, [panel] = canvas(0.7 + 0.36 * len(runs))
    left = np.zeros(len(runs))
    for category, widths in means.items():
        bars = panel.barh(list(runs), widths, left=left, color=_CATEGORY_COLOURS[category], edgecolor="white")
        # A number that would not fit its part of the bar is left to the table.
        panel.bar_label(
            bars,
            [
                text if width > 0.05 * ends.max() else ""
                for text, width in zip(_counts(widths, runs), widths, strict=True)
            ],
            label_type="center",
            color=readable_on(to_rgba(_CATEGORY_COLOURS[category])),
            fontsize=9,
        )
        left += widths
    for at, (text, end) in enumerate(zip(_counts(ends, runs), ends, strict=True)):
        panel.annotate(text, (end, at), (4, 0), textcoords="offset points", va="center", fontsize=9)
    panel.invert_yaxis()
    panel.grid(visible=False, axis="y")
    panel.grid(visible=True, axis="x")
    panel.tick_params(axis="y", length=0)
    panel.margins(x=0.08, y=0.03)
    panel.set_xlabel("entities in error")
    names = {category: name.partition(" (")[0] for category, name in ERROR_NAMES.items()}
    handles = [Patch(facecolor=colour, label=names[category]) for category, colour in _CATEGORY_COLOURS.items()]
    caption = f"Each erroneous entity of the {view['dataset']['test']} split stands in one category"
    caption += "; means over seeds." if max(runs.values()) > 1 else "."
    return finish(figure, "Errors by category", caption, handles)


def _counts(values: NDArray[np.float64], runs: Mapping[str, int]) -> list[str]:
    """One number for each system, with a decimal where it is a mean of several runs."""
    return [count(value, mean=several > 1) for value, several in zip(values, runs.values(), strict=True)]


def confusion_plot(view: View, system: str) -> Figure:
    """Gold types against predicted types of one system, shaded by the share of the row."""
    frame = confusion_frame(view, system)
    counts = frame.to_numpy(dtype=float)
    sums = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, sums, out=np.zeros_like(counts), where=sums > 0)
    shares[-2:] = 0  # No gold type, so no share of it.
    size = len(frame)
    longest = CHARACTER * max(map(len, frame.columns))
    cell = longest + 0.1 if longest < _WIDEST_CELL else _NARROW_CELL
    is_upright = cell == _NARROW_CELL
    figure, [panel] = canvas(0.5 + 0.36 * size + is_upright * longest, width=max(6.5, longest + 0.6 + cell * size))
    mean = run_counts(view)[system] > 1
    # Square roots, so that the few confusions are visible next to the many hits.
    heat_map(panel, frame.map(lambda value: count(value, mean=mean) if value else ""), np.sqrt(shares))
    panel.tick_params(axis="x", rotation=90 if is_upright else 0)
    panel.axhline(size - 2.5, color=INK, linewidth=0.8)
    panel.axvline(size - 2.5, color=INK, linewidth=0.8)
    panel.set_xlabel("predicted type")
    panel.xaxis.set_label_position("top")
    panel.set_ylabel("gold type")
    caption = (
        f"Entities{', means over seeds' if mean else ''}; shade: share of the gold entities of a type. {BOUNDARY}: "
        f"overlap with other boundaries; {MISSED}: touched by no prediction; {SPURIOUS}: touches no gold."
    )
    return finish(figure, f"Confusion of types: {system}", caption)

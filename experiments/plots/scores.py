"""Plots of scores: by type, embedding, amount of training data, epoch, and pair of corpora."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator, PercentFormatter
from numpy.typing import NDArray

from experiments.plots.style import CHARACTER, INK, Look, canvas, finish, heat_map, looks, model_look, readable_on
from experiments.results.measurements import OVERALL
from experiments.results.view import View
from experiments.tables.frames import (
    BOUNDARY,
    MISSED,
    SPURIOUS,
    confusion_frame,
    curve_frame,
    interval_frame,
    score_frame,
    select,
    summary_frame,
)
from experiments.tables.scores import ERROR_NAMES
from experiments.tables.table import count, interval_name, run_counts

_BARS_IN_A_ROW = 80
_AXIS_WIDTH = 8.2  # inches


class Spread(NamedTuple):
    """Ends of the line on each bar (system, category), and their meaning in words."""

    ends: Mapping[tuple[str, str], tuple[float, float]]
    meaning: str


def score_plot(view: View) -> Figure:
    """F of each type, in bars grouped by type, one bar for each system."""
    frame = score_frame(view)
    means: Any = summary_frame(frame[frame["measure"] == "f1"], "system", "category")["mean"].to_dict()
    systems, style = list(view["systems"]), looks(view)
    present = {category for _, category in means}
    categories = [*(label for label in view["dataset"]["types"] if label in present), OVERALL]
    in_a_row = max(1, _BARS_IN_A_ROW // len(systems))
    rows = [categories[at : at + in_a_row] for at in range(0, len(categories), in_a_row)]
    is_tight = max(map(len, categories)) * CHARACTER > _AXIS_WIDTH / len(rows[0])
    figure, axes = canvas((3.4 if is_tight else 2.8) * len(rows), rows=len(rows))
    spread = _spread(view, means)
    for panel, shown in zip(axes, rows, strict=True):
        _bars(panel, shown, means, spread, {system: style[system] for system in systems})
        panel.set_xlim(-0.5, len(rows[0]) - 0.5)
        if is_tight:
            panel.tick_params(axis="x", rotation=30, labelsize=9)
            for label in panel.get_xticklabels():
                label.set(ha="right", rotation_mode="anchor")
    caption = f"Strict entity F on the {view['dataset']['test']} split of {view['dataset']['name']}{spread.meaning}"
    return finish(figure, "F by type of entity", caption, _patches(style))


def _bars(
    panel: Axes,
    categories: Sequence[str],
    means: Mapping[tuple[str, str], float],
    spread: Spread,
    style: Mapping[str, Look],
) -> None:
    width = 0.84 / len(style)
    for number, (system, look) in enumerate(style.items()):
        there = [(at, category) for at, category in enumerate(categories) if (system, category) in means]
        positions = [at + width * (number - (len(style) - 1) / 2) for at, _ in there]
        heights = [means[system, category] for _, category in there]
        panel.bar(positions, heights, width, color=look.colour, hatch=look.hatch, edgecolor="white", linewidth=0.4)
        ends = [
            (position, *spread.ends[system, c])
            for position, (_, c) in zip(positions, there, strict=True)
            if spread.ends
        ]
        if ends:
            panel.vlines(*zip(*ends, strict=True), color=INK, linewidth=0.9)
    panel.set_xticks(range(len(categories)), categories)
    panel.set_ylim(0, 1)
    panel.set_ylabel("F (%)")
    panel.yaxis.set_major_formatter(PercentFormatter(xmax=1, symbol="", decimals=0))
    panel.tick_params(axis="x", length=0)


def _spread(view: View, means: Mapping[tuple[str, str], float]) -> Spread:
    """Bootstrap intervals where there are any, else the standard deviation over seeds, else nothing."""
    ends = {key: (mean, mean) for key, mean in means.items()}
    if view["comparison"]:
        found = interval_frame(view).set_index(["system", "category"])
        ends |= dict(zip(found.index, zip(found["low"], found["high"], strict=True), strict=True))
        return Spread(ends, f"; lines: {interval_name(view)}.")
    if max(run_counts(view).values()) == 1:
        return Spread({}, ".")
    frame = score_frame(view)
    found = summary_frame(frame[frame["measure"] == "f1"], "system", "category").fillna({"sd": 0.0})
    ends |= {key: (mean - sd, mean + sd) for key, mean, sd in zip(found.index, found["mean"], found["sd"], strict=True)}
    return Spread(ends, "; lines: standard deviation over seeds.")


def _patches(style: Mapping[str, Look]) -> list[Patch]:
    return [
        Patch(facecolor=look.colour, hatch=look.hatch, edgecolor="white", label=system)
        for system, look in style.items()
    ]


def embedding_plot(view: View) -> Figure:
    """Overall F of each embedding, one mark a network with its spread; dots for the seeds."""
    frame = select(view["measurements"], "entity_strict", measure="f1", category=OVERALL)
    names = list(view["embeddings"])
    networks: dict[str, dict[str, str]] = {}
    for system, found in view["systems"].items():
        if found["embedding"] is not None:
            networks.setdefault(found["model"], {})[found["embedding"]] = system
    means = {(str(system), OVERALL): mean for system, mean in frame.groupby("system")["value"].mean().items()}
    spread = _spread(view, means)
    figure, [panel] = canvas(3.2, width=6.5)
    for number, (model, systems) in enumerate(networks.items()):
        look = model_look(view, model)
        positions = [names.index(name) + 0.16 * (number - (len(networks) - 1) / 2) for name in systems]
        own = [means[system, OVERALL] for system in systems.values()]
        panel.plot(positions, own, color=look.colour, marker=look.marker, markersize=8, linestyle="none", label=model)
        for position, system in zip(positions, systems.values(), strict=True):
            found = frame[frame["system"] == system]["value"]
            panel.scatter([position + 0.06] * len(found), found, s=10, color=look.colour)
            if spread.ends:
                panel.vlines(position, *spread.ends[system, OVERALL], color=look.colour, linewidth=1.2)
    panel.set_xticks(range(len(names)), [f"{name}\n{view['embeddings'][name]['dim']}" for name in names])
    panel.set_xlim(-0.5, len(names) - 0.5)
    panel.set_xlabel("embedding, and its dimension")
    panel.set_ylabel("overall F (%)")
    panel.yaxis.set_major_formatter(PercentFormatter(xmax=1, symbol=""))
    caption = f"Strict entity F on the {view['dataset']['test']} split; large: mean over seeds, small: one seed"
    caption += f"{spread.meaning} The axis does not begin at 0."
    return finish(figure, "F by embedding", caption, panel.get_legend_handles_labels()[0])


def fraction_plot(view: View) -> Figure:
    """Overall F against the share of the training data, one line a system, with a band from worst to best seed."""
    frame = select(view["fractions"], "entity_strict", measure="f1", category=OVERALL)
    summary = summary_frame(frame, "system", "fraction").reset_index()
    style = looks(view)
    figure, [panel] = canvas(3.4)
    lines = []
    for system in view["systems"]:
        found = summary[summary["system"] == system].sort_values("fraction")
        lines += draw_line(panel, found.rename(columns={"fraction": "x"}), system, style[system])
    ticks = sorted(frame["fraction"].unique())
    sizes = {size["fraction"]: size["documents"] for size in view["dataset"]["fractions"]}
    panel.set_xscale("log")  # Fractions are mostly halved, or divided by ten.
    panel.set_xticks(ticks, [f"{100 * tick:g} %\n{sizes[tick]:,}" for tick in ticks])
    panel.minorticks_off()
    panel.set_xlabel("share of the training data, and its documents")
    panel.set_ylabel("overall F (%)")
    panel.yaxis.set_major_formatter(PercentFormatter(xmax=1, symbol=""))
    caption = f"Strict entity F on the whole {view['dataset']['test']} split; line: mean over seeds, band: from the "
    caption += "worst seed to the best. The axis of F does not begin at 0."
    return finish(figure, "F by amount of training data", caption, lines)


def curve_plot(view: View) -> Figure:
    """Training loss and F on dev against the epoch, in two panels; systems without them are left out."""
    frame, style = curve_frame(view), looks(view)
    figure, [loss, score] = canvas(3.4, columns=2)
    lines = {}
    for panel, measure in ((loss, "loss"), (score, "dev_f1")):
        values = frame.dropna(subset=measure).rename(columns={measure: "value", "step": "x"})
        summary = summary_frame(values, "system", "x").reset_index()
        for system in summary["system"].unique():
            found = summary[summary["system"] == system].sort_values("x")
            [lines[system]] = draw_line(panel, found, system, style[system])
        panel.set_xlabel("epoch")
        panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    loss.set_title("Training loss (nats a token)")
    loss.set_ylim(bottom=0)
    score.set_title("F on dev (%)")
    score.yaxis.set_major_formatter(PercentFormatter(xmax=1, symbol=""))
    left_out = [system for system in view["systems"] if system not in lines]
    caption = "Line: mean over seeds, band: from the lowest seed to the highest. F: strict entity F."
    caption += f" Not shown, for it has no epochs: {', '.join(left_out)}." if left_out else ""
    return finish(figure, "Learning curves", caption, [lines[s] for s in view["systems"] if s in lines])


def draw_line(panel: Axes, found: pd.DataFrame, system: str, look: Look) -> list[Line2D]:
    """One system's mean against "x", with a band from "worst" to "best"."""
    marker = look.marker if len(found) <= 12 else None
    panel.fill_between(found["x"], found["worst"], found["best"], color=look.colour, alpha=0.15, linewidth=0)
    return panel.plot(found["x"], found["mean"], color=look.colour, linestyle=look.dash, marker=marker, label=system)


# Inches: with the name of a type above it, or with the name standing upright.
_WIDEST_CELL, _NARROW_CELL = 1.0, 0.5
# From dark to light, so that they differ without their hues.
_CATEGORY_COLOURS = {"missed": "#0b3c78", "wrong": "#c4520d", "boundary": "#4795da", "spurious": "#909090"}


def error_plot(view: View) -> Figure:
    """The errors of each system in one bar, stacked by category."""
    runs = run_counts(view)
    totals = select(view["measurements"], "errors", category=OVERALL).groupby(["measure", "system"])["value"].sum()
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
    handles = [Patch(facecolor=colour, label=ERROR_NAMES[category]) for category, colour in _CATEGORY_COLOURS.items()]
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
    figure, [panel] = canvas(0.5 + 0.36 * size + is_upright * longest, width=max(7.5, longest + 1.6 + cell * size))
    mean = run_counts(view)[system] > 1
    image = heat_map(panel, frame.map(lambda value: count(value, mean=mean) if value else ""), shares)
    bar = figure.colorbar(image, ax=panel, format=PercentFormatter(xmax=1, symbol="", decimals=0), fraction=0.05)
    bar.set_label("share of the row (%)")
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

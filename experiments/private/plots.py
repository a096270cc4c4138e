"""Plots of the experiment on private training data: Figures 4 and 5, the attacks, and the noise in training."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator, PercentFormatter

from experiments.plots.style import HUES, canvas, finish
from experiments.results.view import View

_TARGET = 0.95  # F, the line of Figure 4


def private_plots(view: View, systems: pd.DataFrame) -> dict[str, Figure]:
    """Every plot that there are data for, by the name of its files, in order.

    Args:
        view: the systems of Table 2.
        systems: all that are not pooled, from `experiments.private.report.described`.
    """
    found = {"figure-4": pseudonyms_plot(systems)} if len(_of_kind(systems, ("pseudonyms",))) else {}
    if _of_kind(systems, ("representation",))["neighbours"].nunique() > 1:
        found["figure-5"] = representations_plot(systems)
    if not history_frame(view).empty:
        found["noise"] = noise_plot(view)
    return found


def pseudonyms_plot(systems: pd.DataFrame) -> Figure:
    """Figure 4: F of taggers that learned from pseudonyms, against the number of neighbours."""
    figure, [panel] = canvas(3.4)
    lines = _lines(panel, systems, ("pseudonyms",), _score(systems))
    panel.axhline(_TARGET, color="#777777", linestyle="--", linewidth=1)
    _label(panel, _score_name(systems), systems, ("pseudonyms",))
    caption = f"Without pseudonyms: {_without(systems)}. Dashed: F of 95 %, the paper's aim."
    return finish(figure, "F by the number of neighbours of pseudonyms", caption, lines)


def representations_plot(systems: pd.DataFrame) -> Figure:
    """Figure 5: F of taggers over representations, and the best fresh adversary, against the number of neighbours."""
    figure, [left, right] = canvas(3.4, columns=2)
    lines = _lines(left, systems, ("representation", "dann"), _score(systems))
    _lines(right, systems, ("representation", "dann"), "fresh accuracy")
    _label(left, _score_name(systems), systems, ("representation", "dann"))
    _label(right, "Accuracy of the best fresh adversary (%)", systems, ("representation", "dann"))
    right.axhline(0.5, color="#777777", linestyle="--", linewidth=1)
    caption = "Left: F. Right: how often adversaries from scratch were right on held-out documents; dashed: chance."
    return finish(figure, "Representations by the number of neighbours", caption, lines)


def noise_plot(view: View) -> Figure:
    """The standard deviations of a representation's noise, epoch by epoch."""
    figure, panels = canvas(3.2, columns=2)
    frame = history_frame(view)
    lines = []
    for number, (system, found) in enumerate(frame.groupby("system", sort=False)):
        colour = HUES[number % len(HUES)][1]
        for panel, name in zip(panels, ("input_deviation", "output_deviation"), strict=True):
            [line] = panel.plot(found["epoch"], found[name], color=colour, label=str(system))
        lines.append(line)
    for panel, title in zip(panels, ("Noise of the inputs", "Noise of the outputs"), strict=True):
        panel.set_title(title)
        panel.set_xlabel("epoch")
        panel.set_ylim(0, 1.1 * panel.dataLim.ymax)
    caption = "Mean standard deviation over the dimensions; the word vectors' own is 1. First seed of each system."
    return finish(figure, "The course of the noise in training", caption, lines)


def _lines(panel: Axes, systems: pd.DataFrame, kinds: Sequence[str], value: str) -> list[Line2D]:
    """A line for each kind and embedding, over the number of neighbours."""
    lines = []
    series = _of_kind(systems, kinds).dropna(subset=value).groupby(["kind", "embedding"], sort=False)
    for number, ((kind, embedding), found) in enumerate(series):
        points = found.sort_values("neighbours")
        [line] = panel.plot(
            points["neighbours"],
            points[value],
            color=HUES[number % len(HUES)][1],
            marker="os^Dv"[number % 5],
            label=f"{kind}, {embedding}",
        )
        lines.append(line)
    return lines


def _label(panel: Axes, title: str, systems: pd.DataFrame, kinds: Sequence[str]) -> None:
    counts = sorted(_of_kind(systems, kinds)["neighbours"].unique())
    panel.set_xscale("log")
    panel.set_xticks(counts, [f"{count:.0f}" for count in counts])
    panel.xaxis.set_minor_locator(NullLocator())
    panel.set_xlabel("neighbours (N)")
    panel.set_title(title)
    panel.yaxis.set_major_formatter(PercentFormatter(xmax=1, symbol=""))


def _score(systems: pd.DataFrame) -> str:
    """The column of the paper's F; strict F where no type is one that HIPAA names."""
    return "entity_strict f1" if systems["token_binary_hipaa f1"].isna().all() else "token_binary_hipaa f1"


def _score_name(systems: pd.DataFrame) -> str:
    return "Strict F (%)" if _score(systems) == "entity_strict f1" else "Binary HIPAA F (%)"


def _without(systems: pd.DataFrame) -> str:
    raw = systems[systems["kind"] == "non-private"]
    found = [f"{100 * f1:.2f} by {name}" for name, f1 in zip(raw["embedding"], raw[_score(systems)], strict=True)]
    return ", ".join(found) or "not measured"


def history_frame(view: View) -> pd.DataFrame:
    """Training of representations: system, epoch, phase, loss, held_out, input_deviation, output_deviation."""
    names = ("phase", "loss", "held_out", "input_deviation", "output_deviation")
    rows = [
        (run["system"], number, *(epoch[name] for name in names))
        for run in view["runs"]
        if run["seed"] == view["systems"][run["system"]]["seeds"][0]
        for number, epoch in enumerate(run.get("history", []), start=1)
    ]
    return pd.DataFrame(rows, columns=["system", "epoch", *names])


def _of_kind(systems: pd.DataFrame, kinds: Sequence[str]) -> pd.DataFrame:
    """Systems of some kinds that have a number of neighbours."""
    return systems[systems["kind"].isin(list(kinds)) & systems["neighbours"].notna()]

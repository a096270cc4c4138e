"""Plots of the experiment on private training data: Figures 4 and 5, the attacks, and the noise in training."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator, PercentFormatter

from experiments.plots.style import HUES, canvas, finish
from experiments.tables.frames import Results
from experiments.tables.private import history_frame, of_kind

Series = tuple[str, str]  # a kind and an embedding

_TARGET = 0.95  # F, the line of Figure 4


def private_plots(results: Results) -> dict[str, Figure]:
    """Every plot that the results have data for, by the name of its files, in order."""
    found = {"figure-4": pseudonyms_plot(results)} if of_kind(results, ("pseudonyms",)) else {}
    if len({system["neighbours"] for system in of_kind(results, ("representation",))}) > 1:
        found["figure-5"] = representations_plot(results)
    if not history_frame(results).empty:
        found["noise"] = noise_plot(results)
    return found


def pseudonyms_plot(results: Results) -> Figure:
    """Figure 4: F of taggers that learned from pseudonyms, against the number of neighbours."""
    figure, [panel] = canvas(3.4)
    lines = _lines(panel, results, ("pseudonyms",), _f1)
    panel.axhline(_TARGET, color="#777777", linestyle="--", linewidth=1)
    _label(panel, _score_name(results), results, ("pseudonyms",))
    caption = f"Without pseudonyms: {_without(results)}. Dashed: F of 95 %, the paper's aim."
    return finish(figure, "F by the number of neighbours of pseudonyms", caption, lines)


def representations_plot(results: Results) -> Figure:
    """Figure 5: F of taggers over representations, and the worst fresh adversary, against the number of neighbours."""
    figure, [left, right] = canvas(3.4, columns=2)
    lines = _lines(left, results, ("representation", "dann"), _f1)
    _lines(right, results, ("representation", "dann"), _accuracy)
    _label(left, _score_name(results), results, ("representation", "dann"))
    _label(right, "Accuracy of the worst fresh adversary (%)", results, ("representation", "dann"))
    right.axhline(0.5, color="#777777", linestyle="--", linewidth=1)
    caption = "Left: F. Right: how often adversaries from scratch were right on held-out documents; dashed: chance."
    return finish(figure, "Representations by the number of neighbours", caption, lines)


def noise_plot(results: Results) -> Figure:
    """The standard deviations of a representation's noise, epoch by epoch."""
    figure, panels = canvas(3.2, columns=2)
    frame = history_frame(results)
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


def _lines(
    panel: Axes, results: Results, kinds: Sequence[str], value: Callable[[Mapping[str, Any]], float | None]
) -> list[Line2D]:
    """A line for each kind and embedding, over the number of neighbours."""
    series: dict[Series, dict[int, float]] = {}
    for system in of_kind(results, kinds):
        found = value(system)
        if found is not None:
            series.setdefault((system["kind"], system["embedding"]), {})[system["neighbours"]] = found
    lines = []
    for number, ((kind, embedding), points) in enumerate(series.items()):
        counts = sorted(points)
        [line] = panel.plot(
            counts,
            [points[count] for count in counts],
            color=HUES[number % len(HUES)][1],
            marker="os^Dv"[number % 5],
            label=f"{kind}, {embedding}",
        )
        lines.append(line)
    return lines


def _label(panel: Axes, title: str, results: Results, kinds: Sequence[str]) -> None:
    counts = sorted({system["neighbours"] for system in of_kind(results, kinds)})
    panel.set_xscale("log")
    panel.set_xticks(counts, [str(count) for count in counts])
    panel.xaxis.set_minor_locator(NullLocator())
    panel.set_xlabel("neighbours (N)")
    panel.set_title(title)
    panel.yaxis.set_major_formatter(PercentFormatter(xmax=1, symbol=""))


def _f1(system: Mapping[str, Any]) -> float | None:
    scores = system["scores"]
    found: float | None = scores["binary_hipaa"]["f1"]
    return scores["entity_strict"]["f1"] if found is None else found


def _score_name(results: Results) -> str:
    has_hipaa = results["systems"][0]["scores"]["binary_hipaa"]["f1"] is not None
    return "Binary HIPAA F (%)" if has_hipaa else "Strict F (%)"


def _accuracy(system: Mapping[str, Any]) -> float | None:
    fresh = system["attacks"]["fresh"]
    return None if fresh is None else fresh["accuracy"]


def _without(results: Results) -> str:
    found = [
        f"{100 * f1:.2f} by {system['embedding']}"
        for system in results["systems"]
        if system["kind"] == "non-private" and (f1 := _f1(system)) is not None
    ]
    return ", ".join(found) or "not measured"

"""Plots of training: loss and F on dev by epoch."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from experiments.plots.scores import draw_line
from experiments.plots.style import canvas, finish, looks
from experiments.tables.frames import Results, curve_frame, summary_frame


def curve_plot(results: Results) -> Figure:
    """The training loss beside F on dev, against the epoch; systems that give neither are left out."""
    frame, style = curve_frame(results), looks(results)
    figure, [loss, score] = canvas(3.4, columns=2)
    lines = {}
    for panel, measure in ((loss, "loss"), (score, "dev_f1")):
        values = frame.dropna(subset=measure).rename(columns={measure: "value", "step": "x"})
        summary = summary_frame(values, "system", "x")
        for system in summary["system"].unique():
            found = summary[summary["system"] == system].sort_values("x")
            [lines[system]] = draw_line(panel, found, system, style[system])
        panel.set_xlabel("epoch")
        panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    loss.set_title("Training loss (nats a token)")
    loss.set_ylim(bottom=0)
    score.set_title("F on dev (%)")
    score.yaxis.set_major_formatter(PercentFormatter(xmax=1, symbol=""))
    left_out = [system for system in results["models"] if system not in lines]
    caption = "Line: mean over seeds, band: from the lowest seed to the highest. F: strict entity F."
    caption += f" Not shown, for it has no epochs: {', '.join(left_out)}." if left_out else ""
    return finish(figure, "Learning curves", caption, [lines[s] for s in results["models"] if s in lines])

"""Plots of scored systems, drawn with matplotlib from a view of the results, then `to_png` or `to_svg`.

style: the look of all plots. scores: the plots. None touches the state of pyplot.
"""

from __future__ import annotations

from matplotlib.figure import Figure

from experiments.plots.scores import confusion_plot, curve_plot, embedding_plot, error_plot, fraction_plot, score_plot
from experiments.plots.style import entitled, house_style, to_png, to_svg
from experiments.results.view import View
from experiments.tables.frames import curve_frame

__all__ = ["comparison_plots", "entitled", "house_style", "to_png", "to_svg"]


def comparison_plots(view: View) -> dict[str, Figure]:
    """Plots of a comparison, by the name of their files, in order."""
    used = {found["embedding"] for found in view["systems"].values()} - {None}
    makers = {
        "scores": (score_plot, True),
        "embeddings": (embedding_plot, len(used) > 1),
        "fractions": (fraction_plot, not view["fractions"].empty),
        "learning-curves": (curve_plot, bool(curve_frame(view)[["loss", "dev_f1"]].notna().to_numpy().any())),
        "errors": (error_plot, True),
    }
    figures = {name: make(view) for name, (make, asked) in makers.items() if asked}
    return figures | {f"confusions-{system}": confusion_plot(view, system) for system in view["systems"]}

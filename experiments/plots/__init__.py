"""Plots of an experiment, drawn with matplotlib (`experiments.reporting.kinds.plots`), then `to_png` or `to_svg`.

style: the look of all plots. scores, errors, private: the plots. None touches the state of pyplot.
"""

from __future__ import annotations

from matplotlib.figure import Figure

from experiments.plots.errors import confusion_plot, error_plot
from experiments.plots.private import private_plots
from experiments.plots.scores import curve_plot, embedding_plot, fraction_plot, score_plot
from experiments.plots.style import entitled, to_png, to_svg
from experiments.tables.frames import Results, curve_frame
from experiments.tables.layers import LAYERS, of_layer

__all__ = ["all_private_plots", "comparison_plots", "layer_plots", "to_png", "to_svg"]


def comparison_plots(results: Results) -> dict[str, Figure]:
    """Plots of a comparison."""
    used = {found["embedding"] for found in results["models"].values()} - {None}
    makers = {
        "scores": (score_plot, True),
        "embeddings": (embedding_plot, len(used) > 1),
        "fractions": (fraction_plot, bool(results["fractions"])),
        "learning-curves": (curve_plot, bool(curve_frame(results)[["loss", "dev_f1"]].notna().to_numpy().any())),
        "errors": (error_plot, True),
    }
    figures = {name: make(results) for name, (make, asked) in makers.items() if asked}
    return figures | {f"confusions-{system}": confusion_plot(results, system) for system in results["models"]}


def all_private_plots(results: Results) -> dict[str, Figure]:
    """Plots of the experiment on private training data."""
    return private_plots(results) | comparison_plots(results)


def layer_plots(results: Results) -> dict[str, Figure]:
    """Plots of each annotation layer that a system was scored in."""
    layers = {layer: of_layer(results, layer) for layer in results["layers"]}
    return {
        f"{layer}-{name}": entitled(figure, LAYERS[layer])
        for layer, seen in layers.items()
        if seen["models"]
        for name, figure in comparison_plots(seen).items()
    }

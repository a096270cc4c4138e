"""Plots of an experiment, drawn with matplotlib: `plots`, then `to_png` or `to_svg`.

style: the look of all plots. scores, errors, private: the plots. None touches the state of pyplot.
"""

from __future__ import annotations

from matplotlib.figure import Figure

from experiments.plots.errors import confusion_plot, error_plot
from experiments.plots.private import private_plots
from experiments.plots.scores import curve_plot, embedding_plot, fraction_plot, score_plot, transfer_plots
from experiments.plots.style import entitled, house_style, to_png, to_svg
from experiments.results.checks import is_joint, is_private, is_transfer
from experiments.tables.frames import Results, curve_frame
from experiments.tables.layers import LAYERS, of_layer

__all__ = ["plots", "to_png", "to_svg"]


def plots(results: Results) -> dict[str, Figure]:
    """Every plot that the results have data for, by the name of its files, in order.

    A figure's label (``figure.get_label()``) describes it in words.

    Args:
        results: the content of results.json.
    """
    if is_joint(results):
        layers = {layer: of_layer(results, layer) for layer in results["layers"]}
        drawn = {layer: plots(seen) for layer, seen in layers.items() if seen["models"]}
        return {
            f"{layer}-{name}": entitled(figure, LAYERS[layer])
            for layer, figures in drawn.items()
            for name, figure in figures.items()
        }
    if is_transfer(results):
        with house_style():
            return transfer_plots(results)
    used = {found["embedding"] for found in results["models"].values()} - {None}
    makers = {
        "scores": (score_plot, True),
        "embeddings": (embedding_plot, len(used) > 1),
        "fractions": (fraction_plot, bool(results["fractions"])),
        "learning-curves": (curve_plot, bool(curve_frame(results)[["loss", "dev_f1"]].notna().to_numpy().any())),
        "errors": (error_plot, True),
    }
    with house_style():
        figures = private_plots(results) if is_private(results) else {}
        figures |= {name: make(results) for name, (make, asked) in makers.items() if asked}
        return figures | {f"confusions-{system}": confusion_plot(results, system) for system in results["models"]}

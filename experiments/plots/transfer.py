"""The plots of the experiment on transfer: Table 4 as heat maps, one figure a model."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from experiments.plots.style import CHARACTER, canvas, finish, heat_map
from experiments.tables.cells import MARK, percent
from experiments.tables.frames import Results
from experiments.tables.transfer import COMPARED, MEASURES, matrix_frame


def transfer_plots(results: Results) -> dict[str, Figure]:
    """A figure for each model, by the name of its files."""
    frame = matrix_frame(results)
    return {f"transfer-{model}": _matrices(results, frame, model) for model in results["matrix"]}


def _matrices(results: Results, frame: pd.DataFrame, model: str) -> Figure:
    """F, sensitivity and PPV of a model by the corpus that it was trained on and tested on, side by side."""
    names = list(results["matrix"][model])
    longest = CHARACTER * max(map(len, names))
    figure, panels = canvas(0.7 + 0.45 * len(names) + longest, columns=len(MEASURES))
    for place, (panel, (measure, title)) in enumerate(zip(panels, MEASURES.items(), strict=True)):
        found = frame[(frame["model"] == model) & (frame["measure"] == measure)]
        table = found.pivot_table(index="trained_on", columns="tested_on", values="value").loc[names, names]
        texts = table.map(lambda value: percent(value, 1))
        for name in names:
            texts.loc[name, name] += MARK
        heat_map(panel, texts, table.to_numpy())
        panel.tick_params(axis="x", rotation=90)
        panel.set_xlabel(f"{title}: tested on")
        panel.xaxis.set_label_position("top")
        if place:
            panel.set_yticklabels([])
        else:
            panel.set_ylabel("trained on")
    caption = f"Tokens, {COMPARED[results['types']]}, in per cent; {MARK}: tested on the corpus it was trained on."
    return finish(figure, f"{model} between corpora", caption)

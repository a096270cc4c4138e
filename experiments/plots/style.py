"""Style of all plots: size, text, and one look for each system.

A plot has its own light background, so that it reads the same on a light and on a dark page. Systems of one model
share a hue and differ by shade. Hues differ in lightness too, and lines also by dashes and markers, so that no reader
depends on telling red from green.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO, StringIO
from itertools import chain, count
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.layout_engine import ConstrainedLayoutEngine
from numpy.typing import NDArray

from experiments.results.view import View

WIDTH = 9.0  # inches
CHARACTER = 0.085  # inches of width, at the size of ticks and legends
_TITLE, _CAPTION_LINE, _LEGEND_LINE = 0.4, 0.15, 0.2  # inches of height
_TITLE_ID = "title"
_CAPTION_CHARACTERS = 16  # an inch
_PNG_DOTS = 150  # an inch

INK, BACKGROUND = "#222222", "#ffffff"
# Dark, middle, light; each has a contrast of at least 3 with the background (WCAG 2.2, 1.4.11).
HUES = (
    ("#3a3a3a", "#6e6e6e", "#909090"),
    ("#0b3c78", "#2474b8", "#4795da"),
    ("#7d3200", "#c4520d", "#df6f27"),
    ("#4b1a66", "#8b45ad", "#bd70d9"),
    ("#0a4d2e", "#1c8554", "#31a06b"),
)
_SHADES = LinearSegmentedColormap.from_list("shades", [BACKGROUND, "#4795da", "#0b3c78"])
_DASHES = ("-", "--", ":", "-.")
_MARKERS = ("o", "s", "^", "D", "v")
_HATCHES = ("", "//", "..", "xx")

_STYLE: dict[Any, Any] = {
    "figure.facecolor": BACKGROUND,
    "savefig.facecolor": BACKGROUND,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlelocation": "left",
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "font.size": 10,
    "font.family": "DejaVu Sans",  # comes with matplotlib, so that every machine draws the same
    "text.color": INK,
    "text.parse_math": False,  # a "$" in a name is a character
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "hatch.linewidth": 0.6,
    "lines.linewidth": 1.6,
    "lines.markersize": 4,
    "svg.hashsalt": "crfdeid",  # or the names inside an SVG are drawn by chance
    "svg.fonttype": "path",
}


class Look(NamedTuple):
    """Look of one system: colour and hatch of a bar, dashes and marker of a line."""

    colour: str
    hatch: str
    dash: str
    marker: str


def looks(view: View) -> dict[str, Look]:
    """Each system's look: the hue of its model, and a shade by its position among the systems of that model."""
    sizes = Counter(found["model"] for found in view["systems"].values())
    models = list(sizes)
    counters = {model: count() for model in models}
    found = {}
    for system, about in view["systems"].items():
        model, number = models.index(about["model"]), next(counters[about["model"]])
        hue = HUES[model % len(HUES)]
        found[system] = Look(
            hue[1 if sizes[about["model"]] == 1 else number % len(hue)],
            _HATCHES[(number // len(hue) + model // len(HUES)) % len(_HATCHES)],
            _DASHES[number % len(_DASHES)],
            _MARKERS[number % len(_MARKERS)],
        )
    return found


def model_look(view: View, model: str) -> Look:
    """Look of a line for all systems of a model."""
    models = list(dict.fromkeys(found["model"] for found in view["systems"].values()))
    number = models.index(model)
    return Look(HUES[number % len(HUES)][1], "", "-", _MARKERS[number % len(_MARKERS)])


@contextmanager
def house_style() -> Iterator[None]:
    """Draw in the style of this module, whatever the user's own settings."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        yield


def canvas(height: float, rows: int = 1, columns: int = 1, *, width: float = WIDTH) -> tuple[Figure, list[Axes]]:
    """An empty figure and its axes, row by row.

    Args:
        height: of the axes and their labels, in inches; `finish` adds title, legend and caption.
        rows: of axes.
        columns: of axes.
        width: in inches.
    """
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(rows, columns, squeeze=False).flat)


def finish(figure: Figure, title: str, caption: str, handles: Sequence[Artist] = ()) -> Figure:
    """Put title, legend and caption around the axes, and fix the layout.

    Title and caption are also the figure's label, for an alternative text.
    """
    figure.set_label(f"{title}. {caption}")
    width, height = figure.get_size_inches()
    # Never cut inside a name.
    lines = textwrap.wrap(caption, int(width * _CAPTION_CHARACTERS), break_long_words=False, break_on_hyphens=False)
    longest = max((len(str(handle.get_label())) for handle in handles), default=0)
    columns = max(1, min(len(handles), int((width - 0.2) / (0.8 + CHARACTER * longest))))
    below_legend = 0.16 + _CAPTION_LINE * len(lines)
    bottom = below_legend + (_LEGEND_LINE * -(-len(handles) // columns) + 0.12 if handles else 0)
    height += bottom + _TITLE
    figure.set_size_inches(width, height)
    figure.text(
        0.1 / width, 1 - 0.1 / height, title, va="top", fontsize=12, fontweight="bold", in_layout=False, gid=_TITLE_ID
    )
    figure.text(0.1 / width, 0.08 / height, "\n".join(lines), va="bottom", fontsize=8, in_layout=False)
    if handles:
        # Matplotlib fills columns first; a reader goes along the rows.
        along = list(chain.from_iterable(handles[at::columns] for at in range(columns)))
        legend = figure.legend(
            handles=along,
            ncols=columns,
            loc="lower center",
            bbox_to_anchor=(0.5, below_legend / height),
            borderaxespad=0.0,
        )
        legend.set_in_layout(False)
    around = (0.05 / width, bottom / height, 1 - 0.15 / width, 1 - (bottom + _TITLE) / height)
    figure.set_layout_engine(engine := ConstrainedLayoutEngine(rect=around))
    for _ in range(2):  # Ticks that the first pass chooses need room in the second.
        engine.execute(figure)  # which drawing would begin with: half the time
    # Otherwise each drawing would move things a little, and a file would depend on earlier drawings.
    figure.set_layout_engine("none")
    for panel in figure.axes:  # The solver's last digits depend on the addresses of its objects.
        panel.set_position(np.round(panel.get_position().bounds, 6).tolist())
    return figure


def entitled(figure: Figure, first: str) -> Figure:
    """A finished figure with something before its title, and before its label."""
    figure.set_label(f"{first}: {figure.get_label()}")
    (title,) = (text for text in figure.texts if text.get_gid() == _TITLE_ID)
    title.set_text(f"{first}: {title.get_text()}")
    return figure


def heat_map(panel: Axes, texts: pd.DataFrame, shades: NDArray[np.float64]) -> AxesImage:
    """A grid of texts, each on a shade, with the names of its columns above it; returns the shades, for a colour bar.

    Args:
        panel: the axes to draw on.
        texts: of each cell, "" for none.
        shades: of each cell, from 0 (light) to 1 (dark).
    """
    colours = _SHADES(shades)
    image = panel.imshow(shades, cmap=_SHADES, vmin=0, vmax=1, aspect="auto")
    for (row, column), text in np.ndenumerate(texts.to_numpy()):
        if text:
            colour = readable_on(colours[row, column].tolist())
            panel.text(column, row, text, ha="center", va="center", color=colour, fontsize=9)
    panel.set_xticks(range(texts.shape[1]), texts.columns)
    panel.set_yticks(range(texts.shape[0]), texts.index)
    panel.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    panel.grid(visible=False)
    return image


def readable_on(colour: Sequence[float]) -> str:
    """Black or white, whichever has the higher contrast with a colour (red, green, blue and opacity, 0 to 1)."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour[:3]]
    luminance = sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return "black" if luminance > 0.179 else "white"  # where both contrasts are 4.6 to 1


def to_png(figure: Figure) -> bytes:
    """The figure as a PNG file: the same bytes for the same figure."""
    stream = BytesIO()
    with house_style():
        figure.savefig(stream, format="png", dpi=_PNG_DOTS, metadata={"Software": None})
    return stream.getvalue()


def to_svg(figure: Figure) -> str:
    """The figure as an SVG file: the same text for the same figure."""
    stream = StringIO()
    with house_style():
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    return stream.getvalue()

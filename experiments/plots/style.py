"""How every plot looks: size, text, and one look for each system that all plots share.

A plot carries its own light background, so that it reads the same on a light and on a dark page. Systems of one model
share a hue and differ by shade; the hues differ in lightness too, and lines also by dashes and markers, so that nothing
hangs on telling red from green.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO, StringIO
from itertools import count
from typing import Any, NamedTuple

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.tables.frames import Results

WIDTH = 9.0  # inches
_PNG_DOTS = 150  # an inch

INK, BACKGROUND = "#222222", "#ffffff"
# Middle, dark, light; each has a contrast of at least 3 with the background (WCAG 2.2, 1.4.11).
HUES = (
    ("#6e6e6e", "#3a3a3a", "#909090"),
    ("#2474b8", "#0b3c78", "#4795da"),
    ("#c4520d", "#7d3200", "#df6f27"),
    ("#8b45ad", "#4b1a66", "#bd70d9"),
    ("#1c8554", "#0a4d2e", "#31a06b"),
)
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
    """How one system is drawn: colour and hatch of a bar, and dashes and marker of a line."""

    colour: str
    hatch: str
    dash: str
    marker: str


def looks(results: Results) -> dict[str, Look]:
    """Each system's look: the hue by its model, the rest by its place among the systems of that model."""
    models = list(dict.fromkeys(found["model"] for found in results["models"].values()))
    places = {model: count() for model in models}
    found = {}
    for system, about in results["models"].items():
        number, place = models.index(about["model"]), next(places[about["model"]])
        hue = HUES[number % len(HUES)]
        found[system] = Look(
            hue[place % len(hue)],
            _HATCHES[(place // len(hue) + number // len(HUES)) % len(_HATCHES)],
            _DASHES[place % len(_DASHES)],
            _MARKERS[number % len(_MARKERS)],
        )
    return found


@contextmanager
def style() -> Iterator[None]:
    """Draw in the style of this module, whatever the user's own settings are."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        yield


def canvas(height: float, rows: int = 1, columns: int = 1, *, width: float = WIDTH) -> tuple[Figure, list[Axes]]:
    """An empty figure and its axes, row by row.

    Args:
        height: in inches.
        rows: of axes.
        columns: of axes.
        width: in inches.
    """
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(rows, columns, squeeze=False).flat)


def finish(figure: Figure, title: str, caption: str, handles: Sequence[Artist] = ()) -> Figure:
    """Put title, legend and caption around the axes, and fix the layout.

    The title is also the figure's label, for an alternative text.
    """
    figure.set_label(f"{title}. {caption}")
    width = figure.get_figwidth()
    figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold")
    if handles:
        figure.legend(handles=list(handles), loc="outside lower center", ncols=max(1, int(width / 1.8)))
    figure.supxlabel(_wrapped(caption, int(width * 15)), x=0.01, ha="left", fontsize=8)
    figure.draw_without_rendering()
    # Or every drawing would move things a little, and a file would depend on what was drawn before it.
    figure.set_layout_engine("none")
    return figure


def _wrapped(text: str, width: int) -> str:
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + len(word) >= width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "\n".join(lines)


def to_png(figure: Figure) -> bytes:
    """The figure as a PNG file: the same bytes for the same figure."""
    stream = BytesIO()
    with style():
        figure.savefig(stream, format="png", dpi=_PNG_DOTS, metadata={"Software": None})
    return stream.getvalue()


def to_svg(figure: Figure) -> str:
    """The figure as an SVG file: the same text for the same figure."""
    stream = StringIO()
    with style():
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    return stream.getvalue()

"""Plots hold the data of the view, keep apart what they write, and are the same bytes each time."""

from __future__ import annotations

import hashlib
import statistics
import subprocess
import sys
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
import matplotlib.colors
import numpy as np
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.figure import Figure
from PIL import Image
from samples import GOLD, SYSTEMS, TYPES, as_view, rich_view

from experiments.plots import comparison_plots, style, to_png, to_svg
from experiments.plots.scores import curve_plot, error_plot, score_plot
from experiments.plots.style import house_style


def plots(view: dict[str, Any]) -> dict[str, Figure]:
    with house_style():
        return comparison_plots(as_view(view))


@pytest.fixture(scope="module")
def view() -> dict[str, Any]:
    return rich_view()


@pytest.fixture(scope="module")
def figures(view: dict[str, Any]) -> dict[str, Figure]:
    return plots(view)


def strict_f1(view: dict[str, Any], system: str, category: str) -> list[float]:
    scores = [run["scores"]["entity_strict"] for run in view["systems"][system]["runs"]]
    return [(found["micro"] if category == "Overall" else found["by_type"][category])["f1"] for found in scores]


def without_extras(view: dict[str, Any]) -> dict[str, Any]:
    systems = {name: found | {"embedding": None} for name, found in view["systems"].items()}
    return view | {"systems": systems, "embeddings": {}, "fractions": [], "sweep": [], "comparison": None}


def bars_of(figure: Figure) -> list[float]:
    return [bar.get_height() for axes in figure.axes for bar in axes.patches]


def test_every_plot_by_the_name_of_its_file(figures: dict[str, Figure]) -> None:
    first = ["scores", "embeddings", "fractions", "learning-curves", "errors"]
    assert list(figures) == [*first, *(f"confusions-{system}" for system in SYSTEMS)]


def test_what_the_results_have_nothing_for_is_not_drawn() -> None:
    found = plots(without_extras(rich_view(systems=("crf",))))
    assert list(found) == ["scores", "errors", "confusions-crf"]


def test_figure_2_has_one_bar_a_system_and_type_as_high_as_its_f(
    view: dict[str, Any], figures: dict[str, Figure]
) -> None:
    [axes] = figures["scores"].axes
    categories = [*TYPES, "Overall"]
    expected = [statistics.mean(strict_f1(view, s, category)) for s in SYSTEMS for category in categories]
    assert bars_of(figures["scores"]) == pytest.approx(expected)
    assert [label.get_text() for label in axes.get_xticklabels()] == categories
    assert axes.get_ylabel() == "F (%)"
    assert axes.get_ylim() == (0, 1)
    [legend] = figures["scores"].legends
    assert {text.get_text() for text in legend.get_texts()} == set(SYSTEMS)


def lines_of(figure: Figure) -> list[tuple[float, float]]:
    segments = [path for axes in figure.axes for found in axes.collections for path in found.get_segments()]
    return [(segment[0][1], segment[1][1]) for segment in segments]


def test_lines_on_the_bars_are_the_bootstrap_intervals(view: dict[str, Any], figures: dict[str, Figure]) -> None:
    intervals = view["comparison"]["intervals"]
    expected = [(intervals[s][c]["low"], intervals[s][c]["high"]) for s in SYSTEMS for c in (*TYPES, "Overall")]
    assert np.array(lines_of(figures["scores"])) == pytest.approx(np.array(expected))
    assert "95 % bootstrap interval" in figures["scores"].get_label()


def test_without_intervals_the_lines_are_the_deviation_over_seeds() -> None:
    view = without_extras(rich_view(systems=("crf", "jordan-cbow")))
    with house_style():
        figure = score_plot(as_view(view))
    runs = strict_f1(view, "jordan-cbow", "Overall")
    low, high = lines_of(figure)[-1]
    assert (high - low) / 2 == pytest.approx(statistics.stdev(runs))
    assert (high + low) / 2 == pytest.approx(statistics.mean(runs))
    assert "standard deviation over seeds" in figure.get_label()


def test_with_one_run_and_no_intervals_there_are_no_lines() -> None:
    with house_style():
        figure = score_plot(as_view(without_extras(rich_view(systems=SYSTEMS[:2], seeds=(0,)))))
    assert not figure.axes[0].collections


def test_many_types_go_into_several_rows() -> None:
    view = without_extras(rich_view(systems=SYSTEMS[:3], seeds=(0,)))
    names = [f"A_RATHER_LONG_TYPE_{number}" for number in range(40)]
    view["dataset"]["types"] = names
    for found in view["systems"].values():
        by_type = found["runs"][0]["scores"]["entity_strict"]["by_type"]
        found["runs"][0]["scores"]["entity_strict"]["by_type"] = dict.fromkeys(names, by_type["DATE"])
    with house_style():
        figure = score_plot(as_view(view))
    assert [len(axes.patches) for axes in figure.axes] == [3 * 26, 3 * 15]
    assert_nothing_overlaps(figure)


def test_embeddings_show_each_seed_and_the_mean(view: dict[str, Any], figures: dict[str, Figure]) -> None:
    [axes] = figures["embeddings"].axes
    assert [line.get_label() for line in axes.lines] == ["elman", "jordan"]
    expected = [statistics.mean(strict_f1(view, f"jordan-{name}", "Overall")) for name in ("random", "rnnlm", "cbow")]
    assert axes.lines[1].get_ydata() == pytest.approx(expected)
    assert {line.get_linestyle() for line in axes.lines} == {"None"}  # the kinds have no order
    intervals = [found.get_segments()[0][:, 1] for found in axes.collections if isinstance(found, LineCollection)]
    ends = [view["comparison"]["intervals"][system]["Overall"] for system in SYSTEMS[1:]]
    assert np.array(intervals) == pytest.approx(np.array([[found["low"], found["high"]] for found in ends]))
    dots = (found for found in axes.collections if isinstance(found, PathCollection))
    seeds = sorted(dot for found in dots for dot in found.get_offsets()[:, 1])
    assert seeds == pytest.approx(sorted(f for s in SYSTEMS[1:] for f in strict_f1(view, s, "Overall")))
    assert [label.get_text() for label in axes.get_xticklabels()] == ["random\n100", "rnnlm\n80", "cbow\n300"]


def test_f_against_training_data(view: dict[str, Any], figures: dict[str, Figure]) -> None:
    [axes] = figures["fractions"].axes
    lines = {line.get_label(): line for line in axes.lines}
    assert list(lines) == list(SYSTEMS)
    means = [
        statistics.mean(
            run["scores"]["entity_strict"]["micro"]["f1"] for run in part["runs"] if run["system"] == "elman-rnnlm"
        )
        for part in view["fractions"]
    ]
    assert lines["elman-rnnlm"].get_xdata() == pytest.approx([0.1, 0.25, 0.5, 1.0])
    assert lines["elman-rnnlm"].get_ydata() == pytest.approx(means)
    labels = [label.get_text() for label in axes.get_xticklabels()]
    assert labels == ["10 %\n50", "25 %\n125", "50 %\n250", "100 %\n500"]


def test_learning_curves_have_loss_beside_f_and_leave_out_who_has_neither(
    view: dict[str, Any], figures: dict[str, Figure]
) -> None:
    loss, score = figures["learning-curves"].axes
    for axes, measure in ((loss, "loss"), (score, "dev_f1")):
        assert [line.get_label() for line in axes.lines] == list(SYSTEMS[1:])
        curves = [run["learning_curve"] for run in view["systems"]["elman-random"]["runs"]]
        means = [statistics.mean(point[measure] for point in points) for points in zip(*curves, strict=True)]
        assert axes.lines[0].get_ydata() == pytest.approx(means)
        lowest = min(point[measure] for point in (curve[0] for curve in curves))
        assert min(y for x, y in axes.collections[0].get_paths()[0].vertices if x == 1) == pytest.approx(lowest)
        assert axes.get_xlabel() == "epoch"
    assert "no epochs: crf" in figures["learning-curves"].get_label()


def test_a_loss_that_overflowed_leaves_a_gap_and_no_failure() -> None:
    view = rich_view(systems=("elman-random",), seeds=(0,))
    [run] = view["systems"]["elman-random"]["runs"]
    run["learning_curve"][3]["loss"] = None
    with house_style():
        loss, score = curve_plot(as_view(view)).axes
    assert list(loss.lines[0].get_xdata()) == [1, 2, 3, 5, 6, 7, 8, 9, 10]
    assert len(score.lines[0].get_xdata()) == 10


def test_error_bars_are_stacked_to_the_number_of_errors(view: dict[str, Any], figures: dict[str, Figure]) -> None:
    [axes] = figures["errors"].axes
    widths = np.array([bar.get_width() for bar in axes.patches]).reshape(4, len(SYSTEMS))
    for at, system in enumerate(SYSTEMS):
        counts = [run["errors"]["categories"] for run in view["systems"][system]["runs"]]
        means = [statistics.mean(found[c] for found in counts) for c in ("missed", "wrong", "boundary", "spurious")]
        assert widths[:, at] == pytest.approx(means)
        last = axes.patches[3 * len(SYSTEMS) + at]
        assert last.get_x() + last.get_width() == pytest.approx(sum(means))
    assert axes.get_xlabel() == "entities in error"


def test_a_system_without_errors_is_drawn() -> None:
    view = rich_view(systems=("crf",))
    view["systems"]["crf"]["runs"][0]["errors"] |= {
        "categories": dict.fromkeys(("missed", "wrong", "boundary", "spurious"), 0),
        "causes": {category: {} for category in ("missed", "wrong", "boundary", "spurious")},
        "confusions": [],
    }
    with house_style():
        [axes] = error_plot(as_view(view)).axes
    assert [bar.get_width() for bar in axes.patches] == [0] * 4


def test_the_confusion_matrix_writes_every_count_that_is_not_0(figures: dict[str, Figure]) -> None:
    axes, bar = figures["confusions-crf"].axes
    cells = {tuple(text.get_position()): text.get_text() for text in axes.texts}
    names = [*TYPES, "Boundary"]
    assert [label.get_text() for label in axes.get_xticklabels()] == [*names, "Missed"]
    assert [label.get_text() for label in axes.get_yticklabels()] == [*names, "Spurious"]
    for row, label in enumerate(TYPES):
        assert sum(int(text) for (_, y), text in cells.items() if y == row) == GOLD[label]
        shades = axes.images[0].get_array()[row]
        counts = [int(cells.get((column, row), 0)) for column in range(len(shades))]
        assert np.array(shades) == pytest.approx(np.array(counts) / GOLD[label])
    assert bar.get_ylabel() == "share of the row (%)" and bar.get_ylim() == (0, 1)
    assert "0" not in cells.values()


def assert_nothing_overlaps(figure: Figure) -> None:
    """No two texts lie on each other, and none is cut off."""
    figure.draw_without_rendering()
    texts = [*figure.texts, *(text for legend in figure.legends for text in legend.get_texts())]
    for axes in figure.axes:
        labels = [
            tick.label1 if tick.label1.get_visible() else tick.label2
            for axis in (axes.xaxis, axes.yaxis)
            for tick in axis.get_major_ticks()
            if min(axis.get_view_interval()) <= tick.get_loc() <= max(axis.get_view_interval())  # or it is not drawn
        ]
        upright = [label for label in labels if label.get_rotation() % 90 == 0]  # a slanted one fills no box
        texts += [*upright, *axes.texts, axes.xaxis.label, axes.yaxis.label, axes.title, axes._left_title]
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts if text.get_text() and text.get_visible()]
    for at, (name, box) in enumerate(boxes):
        assert min(box.x0, box.y0) >= 0, name
        assert box.x1 <= figure.bbox.x1, name
        assert box.y1 <= figure.bbox.y1, name
        for other, other_box in boxes[at + 1 :]:
            assert not box.shrunk(0.98, 0.98).overlaps(other_box.shrunk(0.98, 0.98)), (name, other)


def test_texts_lie_apart_and_whole(figures: dict[str, Figure]) -> None:
    for figure in figures.values():
        assert_nothing_overlaps(figure)


def test_long_names_of_nine_systems_stay_readable() -> None:
    view = rich_view()
    for embedding in ("random", "rnnlm"):
        view["systems"][f"bilstm-{embedding}"] = view["systems"][f"elman-{embedding}"] | {"model": "bilstm"}
    long = {name: name.replace("rnnlm", "vectors.of.6B.words_$lower$.300d") for name in view["systems"]}
    view["systems"] = {long[name]: found for name, found in view["systems"].items()}
    with house_style():
        figures = [
            score_plot(as_view(view | {"comparison": None})),
            curve_plot(as_view(view)),
            error_plot(as_view(view)),
        ]
    assert len(bars_of(figures[0])) == 9 * 8
    for figure in figures:
        assert_nothing_overlaps(figure)


def test_every_look_is_another_and_stands_out_from_the_page() -> None:
    about = {f"{model}-{e}": {"model": model} for model in ("crf", "elman", "jordan", "x", "y") for e in range(4)}
    looks = style.looks({"systems": about})
    assert len(set(looks.values())) == len(looks)
    for look in looks.values():
        assert contrast(look.colour, style.BACKGROUND) >= 3


def contrast(one: str, other: str) -> float:
    """The contrast ratio of WCAG 2.2."""

    def luminance(colour: str) -> float:
        parts = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in matplotlib.colors.to_rgb(colour)]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("colour", [*(shade for hue in style.HUES for shade in hue), "#ffffff", "#000000", "#777777"])
def test_numbers_on_a_colour_can_be_read(colour: str) -> None:
    assert contrast(style.readable_on(matplotlib.colors.to_rgba(colour)), colour) >= 4.5


@pytest.mark.slow
def test_the_same_results_give_the_same_bytes() -> None:
    one, again = (plots(rich_view(systems=("elman-random",), seeds=(0, 1))) for _ in range(2))
    svg = {name: to_svg(figure) for name, figure in one.items()}
    png = {name: to_png(figure) for name, figure in one.items()}
    assert {name: to_png(figure) for name, figure in again.items()} == png  # in another order than before
    assert {name: to_svg(figure) for name, figure in again.items()} == svg


@pytest.mark.slow
def test_another_process_gives_the_same_bytes() -> None:
    code = (
        "import hashlib, sys; sys.path.insert(0, sys.argv[1]); from samples import as_view, rich_view\n"
        "from experiments.plots import comparison_plots, house_style, to_png, to_svg\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
        "with house_style(): found = comparison_plots(as_view(rich_view(systems=('crf',))))['scores']\n"
        "print(hashlib.sha256(to_png(found) + to_svg(found).encode()).hexdigest())"
    )
    command = [sys.executable, "-c", code, str(Path(__file__).parents[1])]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    here = plots(rich_view(systems=("crf",)))["scores"]
    assert told == hashlib.sha256(to_png(here) + to_svg(here).encode()).hexdigest()


def test_the_users_own_settings_change_nothing() -> None:
    view = rich_view(systems=("crf",))
    expected = plots(view)["errors"]
    with mpl.rc_context({"font.size": 30, "axes.facecolor": "red", "savefig.dpi": 10, "svg.fonttype": "none"}):
        figure = plots(view)["errors"]
        assert to_png(figure) == to_png(expected)
        assert to_svg(figure) == to_svg(expected)
        assert mpl.rcParams["font.size"] == 30


def test_files_tell_no_time_and_no_program(figures: dict[str, Figure]) -> None:
    svg = to_svg(figures["scores"])
    assert "<dc:date>" not in svg
    assert "Matplotlib" not in svg
    assert ElementTree.fromstring(svg).tag == "{http://www.w3.org/2000/svg}svg"
    with Image.open(BytesIO(to_png(figures["scores"]))) as picture:
        assert picture.format == "PNG"
        assert not {"Software", "Creation Time"} & set(picture.info)
        assert picture.width == 1350

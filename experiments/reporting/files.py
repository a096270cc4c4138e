"""Files of a finished experiment: tables, plots, report.html and explanations, all from results.json and its folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from crfdeid.errors import OptionConflictError, SettingError, UnknownNameError
from crfdeid.explain import explain_document
from crfdeid.explain.page import ModelView, text_page
from crfdeid.pipeline import Deidentifier
from crfdeid.registry import load_tagger
from crfdeid.utils.files import write_files
from experiments.core.experiment import Report, load_experiment
from experiments.plots import house_style, to_png, to_svg
from experiments.reporting.error_browser import EXPLANATIONS, page_name
from experiments.reporting.page import Picture, report_html
from experiments.results.folder import Folder
from experiments.results.schema import is_plain, is_synthetic
from experiments.tables import settings_table, to_csv, to_latex, to_markdown

MOST_SYSTEMS = 2
MOST_PAGES = 100  # each is a whole document with all of its words explained, some 100 kB
_WARNING = "It quotes a note, and words of the notes that the models were trained on. Keep it as safe as the notes."


REPORT_FILES = ("tables.md", "tables", "plots", "report.html")


def write_report(
    path: Path, *, published: bool, with_text: bool = True, explain: Sequence[str] = (), most: int = MOST_PAGES
) -> int:
    """Write tables.md, tables/, plots/ and report.html into a results folder, each readable by its owner alone.

    Tables, plots and explanations of an earlier call that this one does not make are removed.

    Args:
        path: the folder, with results.json, predictions and errors.
        published: set scores that papers print of these models against ours.
        with_text: show text where the folder has texts.
        explain: one or two systems whose errors link to explanations; empty for no explanations.
        most: maximum number of documents with a page of explanations; those with the most errors come first.

    Returns:
        Number of documents with errors that have no page of explanations, where ``explain`` names systems.

    Raises:
        UsageError: these systems cannot be explained (`explanation_pages`).
        DataError: not a results folder, or one that is damaged or of another version; or a file cannot be written.
    """
    folder = Folder(path)
    results = folder.results()
    asked = explain and with_text
    pages, left_out = explanation_pages(folder, results, explain, most=most) if asked else ({}, 0)
    contents = _contents(folder, results, published=published, with_text=with_text, explained=pages) | pages
    write_files({path / name: content for name, content in contents.items()})
    _remove_others(path, contents)
    return left_out


def _contents(
    folder: Folder, results: Mapping[str, Any], *, published: bool, with_text: bool, explained: Collection[str]
) -> dict[str, str | bytes]:
    """Content of every file by its name in the folder, the report last."""
    experiment = load_experiment(results["experiment"])
    report = experiment.report(results, published=published)
    tables = {**experiment.corpus_tables(results), "settings": settings_table(results), **report.tables}
    texts = folder.texts() if with_text else None
    if texts is not None:
        tables |= report.text_tables(texts, folder.gold(), folder.predictions)
    found: dict[str, str | bytes] = {"tables.md": "\n".join(map(to_markdown, tables.values()))}
    for name, table in tables.items():
        found[f"tables/{name}.md"] = to_markdown(table)
        found[f"tables/{name}.tex"] = to_latex(table, name)
        found[f"tables/{name}.csv"] = to_csv(table)
    figures = draw(report)
    pictures = {name: Picture(str(figure.get_label()), to_svg(figure)) for name, figure in figures.items()}
    found |= {f"plots/{name}.svg": picture.svg for name, picture in pictures.items()}
    found |= {f"plots/{name}.png": to_png(figure) for name, figure in figures.items()}
    page = report_html(folder, results, report, tables, pictures, with_text=with_text, explained=explained)
    found["report.html"] = page
    return found


def draw(report: Report) -> dict[str, Figure]:
    """Draw every plot that there are data for, by name; a figure's label describes it in words."""
    with house_style():
        return report.plots()


def _remove_others(path: Path, written: Collection[str]) -> None:
    endings_of = {"tables": (".md", ".tex", ".csv"), "plots": (".png", ".svg"), EXPLANATIONS: (".html",)}
    for name, endings in endings_of.items():
        for file in sorted((path / name).glob("*")):
            if file.suffix in endings and f"{name}/{file.name}" not in written:
                file.unlink()


def explanation_pages(
    folder: Folder, results: Mapping[str, Any], systems: Sequence[str], *, most: int = MOST_PAGES
) -> tuple[dict[str, str], int]:
    """Pages of the documents in which one of some systems has an error, by the page's name in the folder.

    The models are those of each system's first seed, without document consistency, as in the error counts.

    Args:
        folder: of the experiment, with texts and fitted models.
        results: the content of results.json.
        systems: one or two of its systems.
        most: maximum number of pages; documents with the most errors come first.

    Returns:
        The pages, and the number of documents with errors that have none.

    Raises:
        UsageError: an unknown system, or the folder has no model of it, or no texts.
        DataError: a file is missing or damaged.
    """
    texts = folder.texts()
    if texts is None:
        raise OptionConflictError(
            "--explain shows text, and this folder has none: run the experiment with --include-text"
        )
    if len(systems) > MOST_SYSTEMS:
        raise SettingError(f"--explain names {len(systems)} systems: at most {MOST_SYSTEMS} can be compared")
    seeds = {system: _first_seed(results, system) for system in systems}
    models = {s: Deidentifier(_tagger(folder.path, s, seed), consistent=False) for s, seed in seeds.items()}
    wrong = Counter(error.document_id for system, seed in seeds.items() for error in folder.errors(system, seed))
    shown = {name for name, _ in wrong.most_common(most)}
    synthetic = is_synthetic(results)
    pages = {}
    for number, name in enumerate(folder.gold(), start=1):
        if name in shown:
            views = [ModelView(s, model, explain_document(model, texts[name])) for s, model in models.items()]
            pages[page_name(number)] = text_page(views, warning=_WARNING, synthetic=synthetic)
    return pages, len(wrong) - len(shown)


def _first_seed(results: Mapping[str, Any], system: str) -> int:
    if system not in results["systems"]:
        known = ", ".join(results["systems"])
        raise UnknownNameError(f"--explain: no system '{system}' in these results: choose from {known}")
    return next(run["seed"] for run in results["runs"] if run["system"] == system and is_plain(run))


def _tagger(path: Path, system: str, seed: int) -> Any:
    folder = path / "models" / system / str(seed)
    if not folder.is_dir():
        raise UnknownNameError(
            f"--explain: {folder} does not exist: keep the fitted models in the folder of their results"
        )
    return load_tagger(folder)

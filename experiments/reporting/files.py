"""Files of a finished experiment: tables, plots and report.html, all from results.json and its folder."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from crfdeid.utils.files import write_files
from experiments.plots import to_png, to_svg
from experiments.reporting.explanations import FOLDER as EXPLANATIONS
from experiments.reporting.explanations import MOST_PAGES, explanation_pages
from experiments.reporting.kinds import plots, report_kind, result_tables, setup_tables
from experiments.reporting.page import Picture, report_html
from experiments.results.folder import Folder
from experiments.tables import to_csv, to_latex, to_markdown

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
        UsageError: these systems cannot be explained (`experiments.reporting.explanations`).
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
    tables = setup_tables(results) | result_tables(results, published=published)
    texts = folder.texts() if with_text else None
    if texts is not None:
        tables |= report_kind(results).text_tables(results, texts, folder)
    found: dict[str, str | bytes] = {"tables.md": "\n".join(map(to_markdown, tables.values()))}
    for name, table in tables.items():
        found[f"tables/{name}.md"] = to_markdown(table)
        found[f"tables/{name}.tex"] = to_latex(table, name)
        found[f"tables/{name}.csv"] = to_csv(table)
    figures = plots(results)
    pictures = {name: Picture(str(figure.get_label()), to_svg(figure)) for name, figure in figures.items()}
    found |= {f"plots/{name}.svg": picture.svg for name, picture in pictures.items()}
    found |= {f"plots/{name}.png": to_png(figure) for name, figure in figures.items()}
    page = report_html(folder, results, tables, pictures, with_text=with_text, explained=explained)
    found["report.html"] = page
    return found


def _remove_others(path: Path, written: Collection[str]) -> None:
    endings_of = {"tables": (".md", ".tex", ".csv"), "plots": (".png", ".svg"), EXPLANATIONS: (".html",)}
    for name, endings in endings_of.items():
        for file in sorted((path / name).glob("*")):
            if file.suffix in endings and f"{name}/{file.name}" not in written:
                file.unlink()

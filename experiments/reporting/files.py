"""Files of a finished experiment: tables, plots, report.html and explanations, all from results.json and its folder.

report.html is rendered from templates/report.html, .css and .js.
"""

from __future__ import annotations

import base64
import json
import re
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup
from matplotlib.figure import Figure

from crfdeid.errors import OptionConflictError, SettingError, UnknownNameError
from crfdeid.explain import explain_document
from crfdeid.explain.page import ModelView, text_page
from crfdeid.pipeline import Deidentifier
from crfdeid.registry import load_tagger
from crfdeid.utils.files import write_files
from crfdeid.utils.html import render_page
from experiments.core.experiment import Report, load_experiment
from experiments.plots import house_style, to_png, to_svg
from experiments.reporting.error_browser import EXPLANATIONS, browsed, page_name
from experiments.reporting.findings import cautions, probability, ranking
from experiments.results.folder import Folder
from experiments.results.schema import LAYERS, Results, is_plain, is_synthetic
from experiments.tables import Table, settings_table, to_csv, to_latex, to_markdown
from experiments.tables.frames import percent

_MOST_SYSTEMS = 2
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
    if len(systems) > _MOST_SYSTEMS:
        raise SettingError(f"--explain names {len(systems)} systems: at most {_MOST_SYSTEMS} can be compared")
    seeds, models = {}, {}
    for system in systems:
        if system not in results["systems"]:
            known = ", ".join(results["systems"])
            raise UnknownNameError(f"--explain: no system '{system}' in these results: choose from {known}")
        seeds[system] = next(run["seed"] for run in results["runs"] if run["system"] == system and is_plain(run))
        path = folder.path / "models" / system / str(seeds[system])
        if not path.is_dir():
            raise UnknownNameError(
                f"--explain: {path} does not exist: keep the fitted models in the folder of their results"
            )
        models[system] = Deidentifier(load_tagger(path), consistent=False)
    wrong = Counter(error.document_id for system, seed in seeds.items() for error in folder.errors(system, seed))
    shown = {name for name, _ in wrong.most_common(most)}
    synthetic = is_synthetic(results)
    pages = {}
    for number, name in enumerate(folder.gold(), start=1):
        if name in shown:
            views = [ModelView(s, model, explain_document(model, texts[name])) for s, model in models.items()]
            pages[page_name(number)] = text_page(views, warning=_WARNING, synthetic=synthetic)
    return pages, len(wrong) - len(shown)


class Picture(NamedTuple):
    """A plot: its description and its SVG."""

    title: str
    svg: str

    @property
    def address(self) -> str:
        """Data URL of the image; its styles and ids cannot clash with the page's."""
        return f"data:image/svg+xml;base64,{base64.b64encode(self.svg.encode('utf-8')).decode('ascii')}"


def report_html(
    folder: Folder,
    results: Results,
    report: Report,
    tables: Mapping[str, Table],
    pictures: Mapping[str, Picture],
    *,
    with_text: bool,
    explained: Collection[str] = (),
) -> str:
    """The report as one self-contained page that loads nothing.

    Args:
        folder: for predictions, errors, and texts if it has them.
        results: the content of results.json.
        report: the findings, and the views for the error browser.
        tables: the tables to show, by name.
        pictures: the plots to show, by name.
        with_text: show text where the folder has texts.
        explained: the pages of explanations in the folder (`explanation_pages`).

    Raises:
        DataError: a file is missing or damaged, or the files do not belong together.
    """
    texts = folder.texts() if with_text else None
    layer, seen = next((layer, seen) for layer, seen in report.views.items() if seen["systems"])
    neighbours = None if texts is None else folder.neighbours()
    filters: dict[str, Callable[..., str]] = {"percent": percent, "probability": probability, "breakable": breakable}
    return render_page(
        files("experiments") / "templates",
        "report",
        filters=filters,
        title=report.heading,
        text="none" if texts is None else "invented" if is_synthetic(results) else "real",
        sections=_sections(pictures, neighbours),
        sentences=report.findings,
        layer=LAYERS[layer],
        standings=ranking(seen) if report.ranks else [],
        cautions=[*cautions(results), *report.cautions],
        tables=[_table_part(name, table) for name, table in tables.items()],
        pictures={_identifier(name): picture for name, picture in pictures.items()},
        neighbours=neighbours,
        provenance=provenance(results),
        browser=browsed(folder, results, report.views, texts, explained),
    )


def provenance(results: Results) -> list[tuple[str, str]]:
    """Facts needed to repeat the experiment: (name, value)."""
    environment = results["environment"]
    packages = (f"{name} {version}" for name, version in environment["packages"].items())
    return [
        ("Command", command_line(results["command"], results["experiment"])),
        ("Commit", environment.get("commit") or "not known"),
        *(fact for dataset in results["datasets"].values() for fact in _facts(dataset)),
        ("Seeds", ", ".join(map(str, results["command"]["seeds"]))),
        ("Invalid tags", f"read by the policy '{results['repair']}'"),
        ("Device", f"{environment['device']}, {environment['cores']} cores"),
        ("Python", f"{environment['python']} on {environment['platform']}"),
        ("Packages", ", ".join(packages)),
    ]


def _facts(dataset: Mapping[str, Any]) -> list[tuple[str, str]]:
    counts = (f"{name} {split['documents']:,}" for name, split in dataset["splits"].items())
    return [
        ("Corpus", f"{dataset['name']}, format {dataset['format']}, types {dataset['type_map']}"),
        ("Documents", ", ".join(counts)),
        ("Corpus hash (SHA-256)", dataset["sha256"]),
    ]


def command_line(command: Mapping[str, Any], experiment: str) -> str:
    """The command with the options of an experiment; unset options are left out.

    Args:
        command: the options.
        experiment: the name of its module in `experiments`.

    Example:
        >>> command = {"models": ["crf", "elman"], "seeds": [3], "train": None, "sweep": [["window", [7, 9]]]}
        >>> command_line(command, "compare")
        'python -m experiments.compare --models crf,elman --seeds 3, --sweep window=7,9'
    """
    words = ["python", "-m", f"experiments.{experiment}"]
    for name, value in command.items():
        if value is None or value is False or (value == [] and name not in _BARE):
            continue
        words.append(f"--{name.replace('_', '-')}")
        if name == "sweep":
            words += [f"{setting}={','.join(map(_written, values))}" for setting, values in value]
        elif name in ("set", "tagger"):
            words += map(_pair, value)
        elif name == "pooling":
            words += [",".join(map(_pair, point)) for point in value]
        elif name in ("unlabelled", "corpora"):
            words += value
        elif value == []:
            continue
        elif isinstance(value, list):
            # One seed alone would be read as a number of seeds.
            words.append(",".join(map(str, value)) + ("," if name == "seeds" and len(value) == 1 else ""))
        elif value is not True:
            words.append(str(value))
    return shlex.join(words)


_BARE = ("figure_5", "pooling")
"""Options that have a meaning without a value."""


def _pair(pair: Sequence[Any]) -> str:
    """A setting and its value in the syntax of ``--set``."""
    name, value = pair
    return f"{name}={_written(value)}"


def _written(value: Any) -> str:
    """A setting's value in the syntax of `crfdeid.cli.shell.json_value`; the items of a list with commas."""
    if isinstance(value, list):
        return ",".join(map(_written, value))
    return value if isinstance(value, str) else json.dumps(value)


def _sections(pictures: Mapping[str, Picture], neighbours: object) -> list[tuple[str, str]]:
    """Parts of the page for its navigation: id and name."""
    found = [("summary", "Summary")]
    found += [("plots", "Plots")] if pictures else []
    found += [("tables", "Tables"), ("errors", "Errors")]
    found += [("neighbours", "Nearest words")] if neighbours else []
    return [*found, ("provenance", "Settings and provenance")]


def _table_part(name: str, table: Table) -> dict[str, Any]:
    """A table, for the template."""
    cells = table.cells.map(str)
    rows = [(str(label), row.tolist()) for label, row in zip(cells.index, cells.to_numpy(), strict=True)]
    shown = {"title": table.title, "columns": [*map(str, cells)], "rows": rows, "notes": table.notes}
    return {"identifier": _identifier(name), **shown}


def _identifier(name: str) -> str:
    """A name as an id in the page: names of files of word vectors can have any character."""
    return re.sub(r"[^\w.-]", "-", name)


def breakable(name: str) -> Markup:
    """A name as markup that may wrap after its underscores.

    Example:
        >>> str(breakable("ID_SUJETO <b>"))
        'ID_<wbr>SUJETO &lt;b&gt;'
    """
    return Markup("_<wbr>").join(name.split("_"))

"""report.html: its data, and its rendering (templates/report.html, .css and .js)."""

from __future__ import annotations

import base64
import json
import re
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

from markupsafe import Markup

from crfdeid.utils.html import render_page
from experiments.core.experiment import Report
from experiments.reporting.error_browser import browsed
from experiments.reporting.findings import cautions, probability, ranking
from experiments.results.folder import Folder
from experiments.results.schema import LAYERS, Results, is_synthetic
from experiments.tables import Table
from experiments.tables.table import percent


class TablePart(NamedTuple):
    """A table, for the template."""

    identifier: str
    title: str
    columns: list[str]
    rows: list[tuple[str, list[str]]]
    notes: tuple[str, ...]


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
        explained: the pages of explanations in the folder (`experiments.reporting.files`).

    Raises:
        DataError: a file is missing or damaged, or the files do not belong together.
    """
    texts = folder.texts() if with_text else None
    layer, seen = next((layer, seen) for layer, seen in report.views.items() if seen["systems"])
    neighbours = None if texts is None else folder.neighbours()
    return _render(
        title=report.heading,
        text=_kind_of_text(results, texts),
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
    """A setting's value in the syntax of `crfdeid.cli.values.json_value`; the items of a list with commas."""
    if isinstance(value, list):
        return ",".join(map(_written, value))
    return value if isinstance(value, str) else json.dumps(value)


def _kind_of_text(results: Results, texts: Mapping[str, str] | None) -> str:
    if texts is None:
        return "none"
    return "invented" if is_synthetic(results) else "real"


def _sections(pictures: Mapping[str, Picture], neighbours: object) -> list[tuple[str, str]]:
    """Parts of the page for its navigation: id and name."""
    found = [("summary", "Summary")]
    found += [("plots", "Plots")] if pictures else []
    found += [("tables", "Tables"), ("errors", "Errors")]
    found += [("neighbours", "Nearest words")] if neighbours else []
    return [*found, ("provenance", "Settings and provenance")]


def _table_part(name: str, table: Table) -> TablePart:
    cells = table.cells
    rows = [(str(label), [str(cell) for cell in row]) for label, row in zip(cells.index, cells.to_numpy(), strict=True)]
    return TablePart(_identifier(name), table.title, [str(column) for column in cells.columns], rows, table.notes)


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


def _render(**parts: Any) -> str:
    filters: dict[str, Callable[..., str]] = {
        "percent": percent,
        "probability": probability,
        "breakable": breakable,
    }
    return render_page(files("experiments") / "templates", "report", filters=filters, **parts)

"""Tables, plots and report.html of a finished experiment: ``python -m experiments.report DIR``.

Everything is made from results.json and the files beside it, without training and without JAX; the same folder gives
the same bytes. What the report shows: docs/report.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from crfdeid.cli.shell import Parser, run_command
from crfdeid.corpora.files import write_files
from crfdeid.errors import DataError
from experiments.results.folder import Folder

DESCRIPTION = """\
Make the tables, the plots and report.html of a results folder again, from its results.json, predictions and errors.
Nothing is trained."""
FILES = ("tables.md", "tables", "plots", "report.html")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; the exit codes are those of `run_command`."""
    return run_command(
        lambda: _report(_parser().parse_args(argv)),
        interrupted="start it again, nothing is half-written",
        out_of_memory="the report needs all predictions and errors at once",
    )


def _report(options: argparse.Namespace) -> None:
    write_report(options.folder, published=options.published, with_text=not options.without_text)
    for name in FILES:
        print(options.folder / name)


def _parser() -> Parser:
    parser = Parser(prog="python -m experiments.report", description=DESCRIPTION, allow_abbrev=False)
    parser.add_argument("folder", type=Path, metavar="DIR", help="what --out of experiments.compare named")
    text = "show the scores that papers print of these models beside ours, in tables of their own"
    parser.add_argument("--published", action="store_true", help=text)
    text = "leave text and document names out of report.html even where the folder has them"
    parser.add_argument("--without-text", action="store_true", help=text)
    return parser


def write_report(path: Path, *, published: bool, with_text: bool = True) -> None:
    """Write tables.md, tables/, plots/ and report.html into a results folder, each readable by its owner alone.

    Tables and plots of an earlier call that this one does not make are removed.

    Args:
        path: the folder, with results.json, predictions and errors.
        published: whether the scores that papers print of these models stand beside ours.
        with_text: whether the report shows text where the folder has texts.

    Raises:
        DataError: not a results folder, or one that is damaged or of another version; or a file cannot be written.
    """
    folder = Folder(path)
    results = folder.results()
    try:
        contents = _contents(folder, results, published=published, with_text=with_text)
    except (AttributeError, LookupError, TypeError) as problem:  # What a damaged results.json runs into.
        what = f"damaged ({type(problem).__name__}: {problem}): run experiments.compare again"
        raise DataError(what, path=folder.results_file) from problem
    write_files({path / name: content for name, content in contents.items()})
    _remove_others(path, contents)


def _contents(
    folder: Folder, results: Mapping[str, Any], *, published: bool, with_text: bool
) -> dict[str, str | bytes]:
    """Every file by its name in the folder, the report last."""
    # They take long to import: a wrong option is answered at once.
    from experiments.plots import plots, to_png, to_svg  # noqa: PLC0415
    from experiments.reporting.page import Picture, report_html  # noqa: PLC0415
    from experiments.tables import result_tables, setup_tables, to_csv, to_latex, to_markdown  # noqa: PLC0415

    tables = setup_tables(results) | result_tables(results, published=published)
    found: dict[str, str | bytes] = {"tables.md": "\n".join(map(to_markdown, tables.values()))}
    for name, table in tables.items():
        found[f"tables/{name}.md"] = to_markdown(table)
        found[f"tables/{name}.tex"] = to_latex(table, name)
        found[f"tables/{name}.csv"] = to_csv(table)
    figures = plots(results)
    pictures = {name: Picture(str(figure.get_label()), to_svg(figure)) for name, figure in figures.items()}
    found |= {f"plots/{name}.svg": picture.svg for name, picture in pictures.items()}
    found |= {f"plots/{name}.png": to_png(figure) for name, figure in figures.items()}
    found["report.html"] = report_html(folder, results, tables, pictures, with_text=with_text)
    return found


def _remove_others(path: Path, written: Collection[str]) -> None:
    for name, endings in {"tables": (".md", ".tex", ".csv"), "plots": (".png", ".svg")}.items():
        for file in sorted((path / name).glob("*")):
            if file.suffix in endings and f"{name}/{file.name}" not in written:
                file.unlink()


if __name__ == "__main__":
    sys.exit(main())

"""A table as text: for the terminal, Markdown, LaTeX and CSV.

Every format is the same bytes for the same table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pandas as pd
from tabulate import tabulate

from experiments.tables.cells import MARK, Table

# Three systems with mean and deviation, as wide as the paper's Table 5 gets.
TERMINAL_WIDTH = 160
# What a page takes at \footnotesize, in characters.
LATEX_WIDTH = 100

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "±": r"$\pm$",
    "≤": r"$\leq$",
    "×": r"$\times$",
}


def to_text(table: Table, *, width: int = TERMINAL_WIDTH) -> str:
    """The table for a terminal; one that is too wide is cut into blocks of columns, one under the other.

    Args:
        table: the table.
        width: the most characters of a line; a block has at least one group of columns, however wide.
    """
    blocks = (_tabulate(block, "simple") for block in _blocks(table, width))
    lines = [table.title, "=" * len(table.title), "\n\n".join(blocks), *table.notes]
    return "\n".join(lines) + "\n"


def to_markdown(table: Table) -> str:
    """The table as GitHub's Markdown."""
    cells = table.cells.map(_markdown).rename(index=_markdown, columns=_markdown)
    notes = "".join(f"- {_markdown(note)}\n" for note in table.notes)
    return f"## {_markdown(table.title)}\n\n{_tabulate(cells, 'github')}\n" + (f"\n{notes}" if notes else "")


def to_latex(table: Table, name: str) -> str:
    r"""The table as a LaTeX float with rules by booktabs: ``\input`` it in a document with ``\usepackage{booktabs}``.

    A table that is too wide is cut into blocks of columns, one under the other; notes stand below, in small print.

    Args:
        table: the table.
        name: what its label ends in: ``\ref{tab:name}``.
    """
    lines = [
        "% \\usepackage{booktabs} \\usepackage[T1]{fontenc} \\usepackage[utf8]{inputenc}",
        r"\begin{table}[htbp]",
        r"\centering\footnotesize",
        rf"\caption{{{_latex(table.title)}}}",
        rf"\label{{tab:{re.sub('[^A-Za-z0-9.:-]', '-', name)}}}",
        "\n\\medskip\n\n".join("\n".join(_tabular(block)) for block in _blocks(table, LATEX_WIDTH)),
    ]
    if table.notes:
        lines += ["", r"\medskip", rf"\parbox{{\linewidth}}{{\scriptsize {' '.join(map(_latex, table.notes))}}}"]
    return "\n".join([*lines, r"\end{table}", ""])


def to_csv(table: Table) -> str:
    """The table's numbers in full precision, one fact a row, by RFC 4180: commas, CRLF, quotes where needed."""
    return table.data.to_csv(index=False, lineterminator="\r\n")


def _tabular(cells: pd.DataFrame) -> Iterator[str]:
    yield rf"\begin{{tabular}}{{l{'r' * len(cells.columns)}}}"
    yield r"\toprule"
    yield _latex_row(["", *cells.columns])
    yield r"\midrule"
    for label, row in zip(cells.index, cells.to_numpy(), strict=True):
        yield _latex_row([label, *row])
    yield r"\bottomrule"
    yield r"\end{tabular}"


def _latex_row(cells: list[object]) -> str:
    # A row that begins with "[" or "*" would be an argument of the \\ before it.
    first, *others = (_latex(str(cell)) for cell in cells)
    return " & ".join([f"{{}}{first}" if first[:1] in ("[", "*") else first, *others]) + r" \\"


def _latex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)


def _markdown(text: object) -> str:
    return re.sub(r"([\\|<`\[\]])", r"\\\1", str(text))


def _blocks(table: Table, width: int) -> Iterator[pd.DataFrame]:
    """The table's columns in blocks that fit a width, cut between groups only."""
    cells, group = table.cells, table.group
    widths = [max(map(len, map(str, [name, *cells[name]]))) + 2 for name in cells.columns]
    index_width = max((len(str(label)) for label in cells.index), default=0)
    start, used = 0, index_width
    for at in range(0, len(widths), group):
        needed = sum(widths[at : at + group])
        if at > start and used + needed > width:
            yield cells.iloc[:, start:at]
            start, used = at, index_width
        used += needed
    yield cells.iloc[:, start:]


def _tabulate(cells: pd.DataFrame, style: str) -> str:
    alignment = ["left", *["right"] * len(cells.columns)]
    columns = [_aligned([str(cell) for cell in cells.iloc[:, at]]) for at in range(len(cells.columns))]
    rows = [list(row) for row in zip(map(str, cells.index), *columns, strict=True)]
    text = tabulate(
        rows,
        headers=["", *cells.columns],
        tablefmt=style,
        disable_numparse=True,
        colalign=alignment,
        preserve_whitespace=True,
    )
    return "\n".join(line.rstrip() for line in text.splitlines())


def _aligned(column: list[str]) -> list[str]:
    """The cells with room for a mark wherever one has it, so that the digits stand below each other."""
    if not any(cell.endswith(MARK) for cell in column):
        return column
    return [cell if cell.endswith(MARK) else f"{cell} " for cell in column]

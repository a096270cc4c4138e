"""A table as text: for the terminal, Markdown, LaTeX and CSV.

Every format is the same bytes for the same table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import pandas as pd
from tabulate import MIN_PADDING, tabulate

from experiments.tables.cells import MARK, Table

# Three systems, each with the mean and deviation of three measures.
TERMINAL_WIDTH = 160
# Width of a page at \footnotesize, in characters.
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
    """The table for a terminal; a wide one is cut into blocks of columns, one under the other.

    Args:
        table: the table.
        width: maximum number of characters of a line; a block has at least one group of columns, however wide.
    """
    widths = [
        max(len(name) + MIN_PADDING, *map(len, column)) + len("  ")
        for name, column in zip(table.cells.columns, _columns(table.cells), strict=True)
    ]
    blocks = (_tabulate(block, "simple") for block in _blocks(table, width, widths))
    lines = [table.title, "=" * len(table.title), "\n\n".join(blocks), *table.notes]
    return "\n".join(lines) + "\n"


def to_markdown(table: Table) -> str:
    """The table as GitHub's Markdown."""
    cells = table.cells.map(_markdown).rename(index=_markdown, columns=_markdown)
    notes = "".join(f"- {_markdown(note)}\n" for note in table.notes)
    return f"## {_markdown(table.title)}\n\n{_tabulate(cells, 'github')}\n" + (f"\n{notes}" if notes else "")


def to_latex(table: Table, name: str) -> str:
    r"""The table as a LaTeX float with rules by booktabs: ``\input`` it in a document with ``\usepackage{booktabs}``.

    A wide table is cut into blocks of columns, one under the other; notes follow in small print.

    Args:
        table: the table.
        name: end of its label: ``\ref{tab:name}``.
    """
    heads = [_split(name, table.group)[1] for name in table.cells.columns]
    widths = [
        max(map(len, [head, *column])) + len("  ") for head, column in zip(heads, _columns(table.cells), strict=True)
    ]
    blocks = _blocks(table, LATEX_WIDTH, widths)
    lines = [
        "% \\usepackage{booktabs} \\usepackage[T1]{fontenc} \\usepackage[utf8]{inputenc}",
        r"\begin{table}[htbp]",
        r"\centering\footnotesize",
        rf"\caption{{{_latex(table.title)}}}",
        rf"\label{{tab:{re.sub('[^A-Za-z0-9.:-]', '-', name)}}}",
        "\n\\medskip\n\n".join("\n".join(_tabular(block, table.group)) for block in blocks),
    ]
    if table.notes:
        lines += ["", r"\medskip", rf"\parbox{{\linewidth}}{{\scriptsize {' '.join(map(_latex, table.notes))}}}"]
    return "\n".join([*lines, r"\end{table}", ""])


def to_csv(table: Table) -> str:
    """The table's numbers in full precision, one fact a row, by RFC 4180: commas, CRLF, quotes where needed."""
    return table.data.to_csv(index=False, lineterminator="\r\n")


def _tabular(cells: pd.DataFrame, group: int) -> Iterator[str]:
    heads = [_split(name, group) for name in cells.columns]
    yield rf"\begin{{tabular}}{{l{'r' * len(cells.columns)}}}"
    yield r"\toprule"
    if group > 1:
        names = [heads[at][0] for at in range(0, len(heads), group)]
        yield "".join(rf" & \multicolumn{{{group}}}{{c}}{{{_latex(name)}}}" for name in names) + r" \\"
        starts = range(2, 2 + len(heads), group)
        yield " ".join(rf"\cmidrule(lr){{{start}-{start + group - 1}}}" for start in starts)
    yield _latex_row(["", *(head for _, head in heads)])
    yield r"\midrule"
    for label, row in zip(cells.index, cells.to_numpy(), strict=True):
        yield _latex_row([label, *row])
    yield r"\bottomrule"
    yield r"\end{tabular}"


def _split(name: str, group: int) -> tuple[str, str]:
    """The name that a group of columns shares, such as a system's, and the rest, such as "F"."""
    shared, _, rest = name.rpartition(" ") if group > 1 else ("", "", name)
    return shared, rest


def _latex_row(cells: list[object]) -> str:
    # A row that begins with "[" or "*" would be an argument of the \\ before it.
    first, *others = (_latex(str(cell)) for cell in cells)
    return " & ".join([f"{{}}{first}" if first[:1] in ("[", "*") else first, *others]) + r" \\"


def _latex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)


def _markdown(text: object) -> str:
    return re.sub(r"([\\|<`\[\]])", r"\\\1", str(text))


def _blocks(table: Table, width: int, widths: Sequence[int]) -> Iterator[pd.DataFrame]:
    """The table's columns in blocks that fit a width, cut between groups only.

    Args:
        table: the table.
        width: in characters.
        widths: of each column, with the space before it.
    """
    cells, group = table.cells, table.group
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
    text = tabulate(
        list(zip(map(str, cells.index), *_columns(cells), strict=True)),
        headers=["", *cells.columns],
        tablefmt=style,
        disable_numparse=True,
        colalign=["left", *["right"] * len(cells.columns)],
        preserve_whitespace=True,
    )
    return "\n".join(line.rstrip() for line in text.splitlines())


def _columns(cells: pd.DataFrame) -> list[list[str]]:
    return [_aligned([str(cell) for cell in cells.iloc[:, at]]) for at in range(len(cells.columns))]


def _aligned(column: list[str]) -> list[str]:
    """Cells with room for a mark in every row if one has it, so that digits are aligned."""
    if not any(cell.endswith(MARK) for cell in column):
        return column
    return [cell if cell.endswith(MARK) else f"{cell} " for cell in column]

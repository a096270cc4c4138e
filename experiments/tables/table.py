"""A table: the texts of its cells, notes that several tables share, and its text for the terminal and for files.

Every format is the same bytes for the same table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pandas as pd
from tabulate import LATEX_ESCAPE_RULES, MIN_PADDING, tabulate

from crfdeid.label_schemes import approximate_types
from experiments.results.view import View
from experiments.tables.frames import HIPAA_TOKENS

MARK = "*"
_VARIED = (
    "Each seed draws its own training and development documents where there are test documents, rewritten copies, "
    "pseudonyms, trained word vectors and order of batches (--vary-all)."
)
_SHARED = (
    "Seeds share splits, rewritten copies, pseudonyms, trained word vectors, and the order of batches by length: "
    "whole new experiments would vary more."
)


@dataclass(frozen=True)
class Table:
    """A table ready to be shown.

    Args:
        title: its subject.
        cells: texts and whole numbers; the index is the first column.
        notes: remarks for its reader, a sentence each.
        data: the same in full precision: the measurements that the cells are a pivot of, or other facts, one a row.
        group: number of neighbouring columns that stay together when a wide table is cut into blocks.
    """

    title: str
    cells: pd.DataFrame
    notes: tuple[str, ...] = ()
    data: pd.DataFrame = field(default_factory=pd.DataFrame)
    group: int = 1


def count(value: float, *, mean: bool) -> str:
    """A number of things, with one decimal for a mean of several runs."""
    return f"{value:,.1f}" if mean else f"{value:,.0f}"


def run_counts(view: View) -> dict[str, int]:
    """Number of runs of each system."""
    return {system: len(found["seeds"]) for system, found in view["systems"].items()}


def score_notes(view: View) -> tuple[str, ...]:
    """Notes for the reader of any score: split, types, repair policy and features."""
    corpus = view["dataset"]
    scored = corpus["splits"][corpus["test"]]
    notes = [
        f"Scored on the {corpus['test']} split of {corpus['name']}: {scored['documents']} documents, "
        f"{scored['spans']} spans; types: {corpus['type_map']}.",
        f"Tags that are not valid IOB2 are read by the policy '{view['repair']}'.",
    ]
    for system, about in view["systems"].items():
        settings = about["settings"]
        if "pos" in settings:
            pos = settings["pos"]
            pos_text = "no POS and chunk features" if pos == "none" else f"POS and chunk tags by {pos}"
            notes.append(f"{system}: features '{settings['features']}', {pos_text}.")
    return tuple(notes)


def hipaa_notes(view: View) -> tuple[str, ...]:
    """Notes for the reader of scores over HIPAA's types; empty without such scores."""
    if not (view["measurements"]["kind"] == HIPAA_TOKENS).any():
        return ()
    tokens = "PHI that HIPAA names: token by token, as the 2014 i2b2 challenge cuts and counts them."
    approximate = approximate_types(view["dataset"]["types"])
    if not approximate:
        return (tokens,)
    more = f" and {len(approximate) - 3} more" if len(approximate) > 3 else ""
    return (tokens, f"Approximate: that challenge has no {', '.join(approximate[:3])}{more}.")


def run_notes(view: View, what: str = "Mean ± standard deviation of") -> tuple[str, ...]:
    """Number of runs behind each value, and the systems with fewer, because no seed changes them."""
    counts = run_counts(view)
    most = max(counts.values(), default=1)
    if most == 1:
        return ()
    fewer = [
        f"{system} ran {'once' if runs == 1 else f'{runs} times'}" for system, runs in counts.items() if runs < most
    ]
    once = f"; a model that uses no seed runs once: {', '.join(fewer)}" if fewer else ""
    return (f"{what} {most} seeds{once}.", _VARIED if view["command"].get("vary_all") else _SHARED)


def name_of_test(view: View) -> str:
    """The significance test, and its level.

    Example: "approximate randomisation on documents, 10,000 permutations, Holm-adjusted p ≤ 0.05".
    """
    significance = view["comparison"]
    return (
        f"{significance['test']} on documents, {significance['permutations']:,} permutations, "
        f"Holm-adjusted p ≤ {significance['level']:g}"
    )


def interval_name(view: View) -> str:
    """The kind of interval, such as "95 % bootstrap interval on documents"."""
    seeds = " and seeds" if max(run_counts(view).values(), default=1) > 1 else ""
    return f"{100 * (1 - view['comparison']['level']):g} % bootstrap interval on documents{seeds}"


def holding(view: View) -> frozenset[tuple[str, str, str]]:
    """Every (system, other system, category) whose F differ by the paired test, in both orders."""
    significance = view["comparison"]
    if not significance:
        return frozenset()
    held = [pair for pair in significance["pairs"] if pair["p_holm"] <= significance["level"]]
    there = {(pair["a"], pair["b"], pair["category"]) for pair in held}
    return frozenset(there | {(b, a, category) for a, b, category in there})


_TERMINAL_WIDTH = 160  # three systems, each with the mean and deviation of three measures
_LATEX_WIDTH = 100  # characters of a page at \footnotesize

_LATEX = str.maketrans(
    {**LATEX_ESCAPE_RULES, "|": r"\textbar{}", '"': r"\textquotedbl{}", "±": r"$\pm$", "≤": r"$\leq$", "×": r"$\times$"}
)


def to_text(table: Table, *, width: int = _TERMINAL_WIDTH) -> str:
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
    blocks = _blocks(table, _LATEX_WIDTH, widths)
    lines = [
        "% \\usepackage{booktabs} \\usepackage[T1]{fontenc} \\usepackage[utf8]{inputenc}",
        r"\begin{table}[htbp]",
        r"\centering\footnotesize",
        rf"\caption{{{table.title.translate(_LATEX)}}}",
        rf"\label{{tab:{re.sub('[^A-Za-z0-9.:-]', '-', name)}}}",
        "\n\\medskip\n\n".join(_tabular(block, table.group) for block in blocks),
    ]
    if table.notes:
        lines += ["", r"\medskip", rf"\parbox{{\linewidth}}{{\scriptsize {' '.join(table.notes).translate(_LATEX)}}}"]
    return "\n".join([*lines, r"\end{table}", ""])


def to_csv(table: Table) -> str:
    """The table's numbers in full precision, one fact a row, by RFC 4180: commas, CRLF, quotes where needed."""
    return table.data.to_csv(index=False, lineterminator="\r\n")


def _tabular(cells: pd.DataFrame, group: int) -> str:
    """The tabular of a block; columns of a group have their shared name above them."""
    heads = [_split(name, group) for name in cells.columns]
    text = _tabulate(cells.set_axis([head for _, head in heads], axis=1), "latex_booktabs")
    text = re.sub(r"[|\"±≤×]", lambda found: found[0].translate(_LATEX), text)  # tabulate escapes the others
    # A row that begins with "[" or "*" would be an argument of the \\ before it.
    lines = [re.sub(r"^(?=[\[*])", "{}", " ".join(line.split())) for line in text.splitlines()]
    if group > 1:
        names = [heads[at][0].translate(_LATEX) for at in range(0, len(heads), group)]
        starts = range(2, 2 + len(heads), group)
        above = "".join(rf" & \multicolumn{{{group}}}{{c}}{{{name}}}" for name in names) + r" \\"
        lines[2:2] = [above, " ".join(rf"\cmidrule(lr){{{start}-{start + group - 1}}}" for start in starts)]
    return "\n".join(lines)


def _split(name: str, group: int) -> tuple[str, str]:
    """The name that a group of columns shares, such as a system's, and the rest, such as "F"."""
    shared, _, rest = name.rpartition(" ") if group > 1 else ("", "", name)
    return shared, rest


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

"""What johnson2020 prints, beside ours (`experiments.papers.johnson2020`), for ``--published``."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from experiments.papers import johnson2020
from experiments.papers.johnson2020 import Row
from experiments.tables.cells import NO_VALUE, Table


def with_printed_models(table: Table) -> Table:
    """Table 2, ours first."""
    rows = {
        f"{name} (2020)": [*_texts(multi_class), *_texts(binary)]
        for name, (multi_class, binary) in johnson2020.TABLE_2.items()
    }
    printed = pd.DataFrame.from_dict(rows, orient="index", columns=table.cells.columns)
    notes = (*table.notes, johnson2020.WARNING, *johnson2020.NOTES_2)
    return replace(table, cells=pd.concat([table.cells, printed]), notes=notes)


def with_printed_categories(table: Table) -> Table:
    """Table 3: the rows of the paper's models below ours."""
    names = ("BERT base (2020)", "Dernoncourt et al. (2020)")
    rows = {}
    for category, (n, *printed) in johnson2020.TABLE_3.items():
        row = {"n": f"{n:,}"}
        for name, scores in zip(names, printed, strict=True):
            row |= {f"{name} {letter}": text for letter, text in zip(("P", "R", "F1"), _texts(scores), strict=True)}
        rows[f"i2b2 2014: {category}"] = row
    cells = pd.concat([table.cells, pd.DataFrame.from_dict(rows, orient="index")]).fillna(NO_VALUE)
    return replace(table, cells=cells, notes=(*table.notes, johnson2020.WARNING, *johnson2020.NOTES_3))


def printed_matrix(measure: str, name: str) -> Table:
    """A block of Table 4."""
    rows = [[f"{value:.2f}" for value in row] for row in johnson2020.TABLE_4[measure]]
    cells = pd.DataFrame(rows, list(johnson2020.CORPORA), list(johnson2020.CORPORA))
    notes = (
        "BERT base. Rows: trained on; columns: tested on.",
        johnson2020.WARNING,
        *johnson2020.NOTES_4,
    )
    return Table(f"Published: {name} by corpus in % (Table 4 of johnson2020)", cells, notes, cells)


def printed_points() -> Table:
    """Table 5."""
    names = ("PPV", "F1", "FN/1000", "FP/1000")
    rows = {f"{required:g}": [f"{value:g}" for value in row] for required, row in johnson2020.TABLE_5.items()}
    cells = pd.DataFrame.from_dict(rows, orient="index", columns=list(names))
    notes = ("BERT base, i2b2 2014.", johnson2020.WARNING, *johnson2020.NOTES_5)
    return Table("Published: operating points (Table 5 of johnson2020)", cells, notes, cells)


def _texts(row: Row | None) -> list[str]:
    return [NO_VALUE] * 3 if row is None else [f"{value:.2f}" for value in row]
